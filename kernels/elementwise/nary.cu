#include "kernels/elementwise/binary.cuh"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

// --- add_n --------------------------------------------------------------------------------------

/// Adds the first two operands, then each of the others to the output.
struct AddNState : CallState {
  std::vector<BinaryWalk> walks;
};

class AddNOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    const Sizes& to = context.outputs()[0].sizes;
    if (auto error = RequireDType(Numbers(), inputs[0].dtype, *this)) return error;
    Preparation preparation;
    if (inputs.size() == 1) {
      preparation.aliases.push_back({0, 0});
      return preparation;
    }
    auto state = std::make_shared<AddNState>();
    for (size_t i = 1; i < inputs.size(); ++i) {
      auto walk = MakeBinaryWalk(i == 1 ? inputs[0].sizes : to, inputs[i].sizes, to);
      if (!walk) return walk.takeError();
      state->walks.push_back(*walk);
    }
    // The operands of later steps are still needed when the first step writes.
    for (unsigned i = 0; i < 2 && inputs.size() == 2; ++i) {
      if (inputs[i].sizes == to) preparation.in_place.push_back({0, i});
    }
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    void* y = outputs[0]->raw();
    if (inputs.size() == 1) {
      if (inputs[0]->raw() == y) return llvm::Error::success();
      return context.CopyWithin(y, inputs[0]->raw(), inputs[0]->num_bytes());
    }
    const auto& walks = context.state<AddNState>()->walks;
    return VisitDType(Numbers(), inputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      for (size_t i = 1; i < inputs.size(); ++i) {
        if (auto error = LaunchBinary<T, T>(context, type().c_str(), Add(), walks[i - 1],
                                            i == 1 ? inputs[0]->raw() : y, inputs[i]->raw(), y))
          return error;
      }
      return llvm::Error::success();
    });
  }
};

// --- where --------------------------------------------------------------------------------------

/// Selection moves bytes: Bits has the size of an element.
template <class Bits>
__global__ void __launch_bounds__(kBlockThreads)
    WhereKernel(const __grid_constant__ IndexMap<3> map, const bool* condition, const Bits* x,
                const Bits* y, Bits* z) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < map.num_elements; i += step) {
    const Offsets<3> offset = map.At(i);
    z[i] = condition[offset.at[0]] ? x[offset.at[1]] : y[offset.at[2]];
  }
}

struct WhereState : CallState {
  IndexMap<3> map;
};

class WhereOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& output = context.outputs()[0];
    if (auto error = RequireDType(AnyElement(), output.dtype, *this)) return error;
    Sizes strides[3];
    for (unsigned k = 0; k < 3; ++k)
      strides[k] = BroadcastStrides(context.inputs()[k].sizes, output.sizes);
    auto map = MakeIndexMap<3>(output.sizes, {strides[0], strides[1], strides[2]});
    if (!map) return map.takeError();
    auto state = std::make_shared<WhereState>();
    state->map = *map;
    Preparation preparation;
    preparation.state = std::move(state);
    for (unsigned k = 0; k < 3; ++k) {
      const OperandType& input = context.inputs()[k];
      if (input.sizes == output.sizes && DTypeSize(input.dtype) == DTypeSize(output.dtype))
        preparation.in_place.push_back({0, k});
    }
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const IndexMap<3>& map = context.state<WhereState>()->map;
    if (map.num_elements == 0) return llvm::Error::success();
    const auto launch = [&](auto zero) {
      using Bits = decltype(zero);
      return Launch(context, type().c_str(), &WhereKernel<Bits>, GridFor(context, map.num_elements),
                    dim3(kBlockThreads), map, static_cast<const bool*>(inputs[0]->raw()),
                    static_cast<const Bits*>(inputs[1]->raw()),
                    static_cast<const Bits*>(inputs[2]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    };
    switch (DTypeSize(outputs[0]->dtype())) {
      case 1:
        return launch(static_cast<unsigned char>(0));
      case 2:
        return launch(static_cast<unsigned short>(0));
      case 4:
        return launch(0u);
      default:
        return launch(0ull);
    }
  }
};

}  // namespace

void AddNaryKernels(OpRegistry& registry) {
  registry.AddKernel("add_n", DeviceKind::kCUDA, &CreateKernel<AddNOp>);
  registry.AddKernel("where", DeviceKind::kCUDA, &CreateKernel<WhereOp>);
}

}  // namespace pdl::cuda
