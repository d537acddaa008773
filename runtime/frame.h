#ifndef PDL_RUNTIME_FRAME_H_
#define PDL_RUNTIME_FRAME_H_

#include <atomic>
#include <memory>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/call_description.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"
#include "runtime/arena_pool.h"
#include "runtime/binding.h"

namespace pdl {

/// The mutable state of one run: the arena, the tensors in it, and a separate handle to the device.
/// Used by one run at a time, then returned to its Binding's pool.
class Frame {
 public:
  /// `arena` may be shared memory of at least the size that the binding needs.
  static llvm::Expected<std::unique_ptr<Frame>> Make(const Binding& binding, DeviceContext& context,
                                                     std::shared_ptr<void> arena = nullptr);
  /// Uses an arena of the pool, which the Frame has taken. On a device whose runs may still be
  /// executing when frames are returned, allocates a separate one.
  static llvm::Expected<std::unique_ptr<Frame>> Make(const Binding& binding, DeviceContext& context,
                                                     ArenaPool& arenas);
  ~Frame();

  /// Returns false if another run uses the arena.
  bool TakeArena() { return !shared_ || (has_arena_ = shared_->TryTake()); }
  void GiveBackArena();

  Tensor& tensor(SlotId slot) { return tensors_[slot]; }
  /// Points a slot, and all slots that share its memory, to `data`.
  void SetData(SlotId slot, void* data);
  /// Runs all steps except in-place state updates, until `cancel` (may be null) becomes true: then
  /// no further step begins, nor a further piece of a parallel one (see RunCancellable). An Error
  /// names the call. `profile`: see RunOptions::profile; may be null. If `see` is not
  /// null, calls it with each output after the last step that writes to it; on the CPU, only with
  /// outputs that are in place.
  llvm::Error Run(RandomState random, const std::atomic<bool>* cancel,
                  RunProfile* profile = nullptr,
                  llvm::function_ref<llvm::Error(unsigned)> see = nullptr);
  /// Runs the in-place state updates, after Run.
  llvm::Error RunStoring(RunProfile* profile);
  /// Runs all steps and observes their results: see RunOptions::is_observed.
  llvm::Error RunObserved(RandomState random, const RunOptions& run);
  DeviceContext& context() { return *context_; }
  const Placement& placement(SlotId slot) const { return binding_.placements[slot]; }
  /// Whether steps write to the output's own tensor, on the CPU; otherwise it is copied there after
  /// the last step.
  bool IsInPlace(unsigned output) const;

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
  llvm::ArrayRef<const Tensor*> InputsOf(const Call& call) const {
    return {inputs_.data() + call.first_input, call.num_inputs};
  }
  llvm::MutableArrayRef<Tensor*> OutputsOf(const Call& call) {
    return {outputs_.data() + call.first_output, call.num_outputs};
  }
  void FindCompleteOutputs();
  llvm::Error RunCall(const Call& call, const std::atomic<bool>* cancel);
  llvm::Error RunCalls(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel,
                       RunProfile* profile);
  llvm::Error RunEachObserved(RandomState random, const RunOptions& run);
  /// The same as the loop over RunCall, and records each call for the active Trace.
  llvm::Error RunTraced(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel);
  llvm::Error RunProfiled(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel,
                          RunProfile& profile);

  const Binding& binding_;
  std::unique_ptr<DeviceContext> context_;
  std::shared_ptr<void> arena_;
  std::shared_ptr<SharedArena> shared_;  // null if the arena_ is not shared
  bool has_arena_ = false;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor*> outputs_;
  std::vector<Call> calls_;
  size_t first_storing_ = 0;  // index into calls_
  /// The outputs that are shown early, each with the last step that writes to it, in the order of
  /// these steps; empty before a run shows them.
  struct CompleteOutput {
    uint32_t step;
    unsigned output;
  };
  std::vector<CompleteOutput> complete_;
  /// Of each step, its number in the Trace that it was last described to.
  std::vector<uint32_t> trace_numbers_;
  uint64_t described_trace_ = 0;
  /// Of each step, for profiles; empty before the first one.
  std::vector<CallDescription> descriptions_;
  /// Pairs of a slot that owns memory and another one that shares it.
  std::vector<std::pair<SlotId, SlotId>> sharers_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_FRAME_H_
