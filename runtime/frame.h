#ifndef PDL_RUNTIME_FRAME_H_
#define PDL_RUNTIME_FRAME_H_

#include <atomic>
#include <memory>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"
#include "runtime/arena_pool.h"
#include "runtime/binding.h"

namespace pdl {

/// What one run writes: the arena, the tensors over it, its own handle to the device. Used by one
/// run at a time, then given back to its Binding's pool.
class Frame {
 public:
  /// `arena`: at least as large as the binding wants, where somebody has it already.
  static llvm::Expected<std::unique_ptr<Frame>> Make(const Binding& binding, DeviceContext& context,
                                                     std::shared_ptr<void> arena = nullptr);
  /// Over an arena of the pool, which the Frame has taken. On a device whose runs may still go on
  /// when they are given back, over one of its own.
  static llvm::Expected<std::unique_ptr<Frame>> Make(const Binding& binding, DeviceContext& context,
                                                     ArenaPool& arenas);
  ~Frame();

  /// False where another run uses the arena.
  bool TakeArena() { return !shared_ || (has_arena_ = shared_->TryTake()); }
  void GiveBackArena();

  Tensor& tensor(SlotId slot) { return tensors_[slot]; }
  /// Points a slot, and every slot that shares its memory, at `data`.
  void SetData(SlotId slot, void* data);
  /// Runs all steps but those that store, until `cancel` (may be null) becomes true. An Error names
  /// the call. `profile`: see RunOptions::profile; may be null.
  llvm::Error Run(RandomState random, const std::atomic<bool>* cancel,
                  RunProfile* profile = nullptr);
  /// After Run: the steps that store.
  llvm::Error RunStoring(RunProfile* profile);
  /// Runs all steps, looking at what each gives: see RunOptions::is_observed.
  llvm::Error RunObserved(RandomState random, const RunOptions& run);
  DeviceContext& context() { return *context_; }
  const Placement& placement(SlotId slot) const { return binding_.placements[slot]; }

 private:
  struct Call {
    const OperatorBase* op;
    const CallState* state;
    void* workspace;
    uint32_t first_input, num_inputs;
    uint32_t first_output, num_outputs;
    uint32_t step;
  };
  explicit Frame(const Binding& binding) : binding_(binding) {}
  llvm::Error RunCall(const Call& call, const std::atomic<bool>* cancel);
  llvm::Error RunProfiled(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel,
                          RunProfile& profile);

  const Binding& binding_;
  std::unique_ptr<DeviceContext> context_;
  std::shared_ptr<void> arena_;
  std::shared_ptr<SharedArena> shared_;  // null where arena_ is this Frame's alone
  bool has_arena_ = false;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor*> outputs_;
  std::vector<Call> calls_;
  size_t first_storing_ = 0;  // among calls_
  /// Slots that share the memory of another one, by that one.
  std::vector<std::pair<SlotId, SlotId>> sharers_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_FRAME_H_
