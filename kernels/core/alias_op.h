#ifndef PDL_KERNELS_CORE_ALIAS_OP_H_
#define PDL_KERNELS_CORE_ALIAS_OP_H_

#include "pdl/op/operator.h"

namespace pdl {

/// Returns the elements of its operand in the same order, with the dims of the result. Does nothing
/// if the Plan lets the result share the operand's memory.
template <class Context>
class AliasOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext&) const override {
    Preparation preparation;
    preparation.aliases.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (inputs[0]->raw() == outputs[0]->raw()) return llvm::Error::success();
    return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ALIAS_OP_H_
