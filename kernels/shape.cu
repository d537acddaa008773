#include <memory>
#include <vector>

#include "kernels/cuda_copy.h"
#include "kernels/cuda_ops.h"
#include "pdl/operator.h"

namespace pdl::cuda {
namespace {

class ReshapeOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext&) const override {
    Preparation preparation;
    preparation.aliases.push_back({0, 0});
    return preparation;
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
  }
};

struct CopyState : CallState {
  /// One for each input.
  std::vector<StridedCopy> copies;
};

/// An operator that copies each input to a place of its own in the output.
class CopyingOp : public Operator<CUDAContext> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const auto& copies = context.state<CopyState>()->copies;
    for (size_t i = 0; i < copies.size(); ++i) {
      if (auto error = copies[i].Run(context, type().c_str(), inputs[i]->raw(), outputs[0]->raw()))
        return error;
    }
    return llvm::Error::success();
  }
};

class TransposeOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const OperandType& output = context.outputs()[0];
    const Sizes input_strides = DenseStrides(input.sizes);
    Sizes from;
    for (size_t i = 0; i < input.sizes.size(); ++i)
      from.push_back(input_strides[SourceAxis(i, input.sizes.size())]);
    const Sizes to = DenseStrides(output.sizes);
    auto copy = StridedCopy::Create(output.sizes, {from, 0}, {to, 0}, DTypeSize(input.dtype));
    if (!copy) return copy.takeError();

    Preparation preparation;
    if (copy->is_whole()) preparation.aliases.push_back({0, 0});
    auto state = std::make_shared<CopyState>();
    state->copies.push_back(*copy);
    preparation.state = std::move(state);
    return preparation;
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if (attributes.Has("perm")) return attributes.GetArray("perm", &permutation_);
    return llvm::Error::success();
  }

 private:
  /// The input's axis that becomes axis i; all are reversed where the call names none.
  size_t SourceAxis(size_t i, size_t rank) const {
    if (permutation_.empty()) return rank - 1 - i;
    const int64_t axis = permutation_[i];
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  }
  llvm::SmallVector<int64_t, 6> permutation_;
};

class ConcatOp : public CopyingOp {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& output = context.outputs()[0];
    const int64_t rank = static_cast<int64_t>(output.sizes.size());
    const int64_t given = attributes().Int("axis");
    const size_t axis = static_cast<size_t>(given < 0 ? given + rank : given);
    const Sizes to = DenseStrides(output.sizes);
    auto state = std::make_shared<CopyState>();
    int64_t offset = 0;
    for (const OperandType& input : context.inputs()) {
      const Sizes from = DenseStrides(input.sizes);
      auto copy =
          StridedCopy::Create(input.sizes, {from, 0}, {to, offset}, DTypeSize(output.dtype));
      if (!copy) return copy.takeError();
      state->copies.push_back(*copy);
      offset += input.sizes[axis] * to[axis];
    }
    Preparation preparation;
    if (context.inputs().size() == 1) preparation.aliases.push_back({0, 0});
    preparation.state = std::move(state);
    return preparation;
  }
};

}  // namespace

void AddShapeKernels(OpRegistry& registry) {
  registry.AddKernel("reshape", DeviceKind::kCUDA, &CreateKernel<ReshapeOp>);
  registry.AddKernel("transpose", DeviceKind::kCUDA, &CreateKernel<TransposeOp>);
  registry.AddKernel("concat", DeviceKind::kCUDA, &CreateKernel<ConcatOp>);
}

}  // namespace pdl::cuda
