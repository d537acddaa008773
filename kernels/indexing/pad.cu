#include <cstring>
#include <memory>

#include "kernels/core/index_map.h"
#include "kernels/cuda/cuda_launch.h"
#include "kernels/indexing/make_axis_maps.h"
#include "pdl/op/half.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// The axes of the result, innermost first.
struct MapWalk {
  int rank = 0;
  long long num_elements = 0;
  long long sizes[kMaxAxes];
  long long strides[kMaxAxes];  // of the input
  AxisMap axes[kMaxAxes];
};

template <class Bits>
__global__ void __launch_bounds__(kBlockThreads)
    MapKernel(const __grid_constant__ MapWalk walk, Bits fill, const Bits* x, Bits* y) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < walk.num_elements; i += step) {
    long long rest = i, offset = 0;
    bool is_filled = false;
    for (int axis = 0; axis < walk.rank; ++axis) {
      const long long size = walk.sizes[axis];
      // 32-bit division is faster.
      const long long quotient =
          rest <= 0xffffffffll && size <= 0xffffffffll
              ? static_cast<long long>(static_cast<unsigned>(rest) / static_cast<unsigned>(size))
              : rest / size;
      const long long position = walk.axes[axis].SourceOf(rest - quotient * size);
      is_filled |= position < 0;
      offset += position * walk.strides[axis];
      rest = quotient;
    }
    y[i] = is_filled ? fill : x[offset];
  }
}

struct MapState : CallState {
  MapWalk walk;
  unsigned long long fill = 0;
};

/// The bytes of a number converted to an element.
unsigned long long ElementBits(DType dtype, double value) {
  const auto bits_of = [](auto element) {
    unsigned long long bits = 0;
    std::memcpy(&bits, &element, sizeof(element));
    return bits;
  };
  switch (dtype) {
    case DType::kF16:
      return float16(static_cast<float>(value)).bits;
    case DType::kBF16:
      return bfloat16(static_cast<float>(value)).bits;
    case DType::kF32:
      return bits_of(static_cast<float>(value));
    case DType::kF64:
      return bits_of(value);
    case DType::kI8:
      return bits_of(static_cast<signed char>(value));
    case DType::kU8:
      return bits_of(static_cast<unsigned char>(value));
    case DType::kI32:
      return bits_of(static_cast<int>(value));
    case DType::kI64:
      return bits_of(static_cast<long long>(value));
    default:
      return value != 0 ? 1 : 0;
  }
}

using MapFunction = llvm::Expected<AxisMaps> (*)(const AttributeReader&, const PrepareContext&);

template <MapFunction kMaps>
class MapOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const DType dtype = context.inputs()[0].dtype;
    if (auto error = RequireDType(AnyElement(), dtype, *this)) return error;
    auto maps = kMaps(attributes(), context);
    if (!maps) return maps.takeError();
    Preparation preparation;
    if (maps->is_identity()) preparation.aliases.push_back({0, 0});
    maps->Collapse();
    if (maps->axes.size() > kMaxAxes)
      return MakeUserError(Code::kRank,
                           "at most {0} axes may remain after merging on cuda, got {1}", kMaxAxes,
                           maps->axes.size());
    auto state = std::make_shared<MapState>();
    MapWalk& walk = state->walk;
    walk.num_elements = context.outputs()[0].num_elements();
    walk.rank = static_cast<int>(maps->axes.size());
    const Sizes strides = DenseStrides(maps->from);
    for (size_t axis = 0; axis < maps->axes.size(); ++axis) {
      const size_t from = maps->axes.size() - 1 - axis;
      walk.sizes[axis] = maps->to[from];
      walk.strides[axis] = strides[from];
      walk.axes[axis] = maps->axes[from];
    }
    if (attributes().Find("value") != nullptr)
      state->fill = ElementBits(dtype, attributes().Float("value"));
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    const MapState& state = *context.state<MapState>();
    if (state.walk.num_elements == 0) return llvm::Error::success();
    return VisitBits(outputs[0]->dtype(), [&](auto zero) {
      using Bits = decltype(zero);
      return Launch(context, type().c_str(), &MapKernel<Bits>,
                    GridFor(context, state.walk.num_elements), dim3(kBlockThreads), state.walk,
                    static_cast<Bits>(state.fill), static_cast<const Bits*>(inputs[0]->raw()),
                    static_cast<Bits*>(outputs[0]->raw()));
    });
  }
};

}  // namespace

void AddPadKernels(OpRegistry& registry) {
  registry.AddKernel("pad", DeviceKind::kCUDA, &CreateKernel<MapOp<&PadMaps>>);
  registry.AddKernel("flip", DeviceKind::kCUDA, &CreateKernel<MapOp<&FlipMaps>>);
  registry.AddKernel("roll", DeviceKind::kCUDA, &CreateKernel<MapOp<&RollMaps>>);
  registry.AddKernel("tile", DeviceKind::kCUDA, &CreateKernel<MapOp<&TileMaps>>);
}

}  // namespace pdl::cuda
