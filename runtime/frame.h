#ifndef PDL_RUNTIME_FRAME_H_
#define PDL_RUNTIME_FRAME_H_

#include <memory>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/device_context.h"
#include "pdl/scope.h"
#include "pdl/tensor.h"
#include "runtime/binding.h"

namespace pdl {

/// What one run writes: the arena, the tensors over it, its own handle to the device. Used by one run
/// at a time, then given back to its Binding's pool.
class Frame {
 public:
  static llvm::Expected<std::unique_ptr<Frame>> Make(const Binding& binding,
                                                     DeviceContext& context);

  Tensor& tensor(SlotId slot) { return tensors_[slot]; }
  /// Points a slot, and every slot that shares its memory, at `data`.
  void SetData(SlotId slot, void* data);
  /// Runs all steps. An Error names the call.
  llvm::Error Run(const Graph& graph, RandomState random);
  DeviceContext& context() { return *context_; }

  /// The Variables that the last run found for a Scope, so that the next one need not look them up.
  struct Resolved {
    const Scope* scope = nullptr;
    uint64_t version = 0;
    std::vector<const Variable*> inputs, parameters;
    std::vector<Variable*> states, outputs;
  };
  Resolved resolved;

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

  const Binding& binding_;
  std::unique_ptr<DeviceContext> context_;
  std::shared_ptr<void> arena_;
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor*> outputs_;
  std::vector<Call> calls_;
  /// Slots that share the memory of another one, by that one.
  std::vector<std::pair<SlotId, SlotId>> sharers_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_FRAME_H_
