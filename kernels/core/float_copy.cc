#include "kernels/core/float_copy.h"

#include "kernels/core/grain.h"
#include "kernels/core/tile_dispatch.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

struct Identity {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};

TileFunction Conversion(DType from, DType to) {
  static const Identity identity;
  if (from == DType::kF16) return MakeUnaryTile<float, float16>(&identity).dense;
  if (from == DType::kBF16) return MakeUnaryTile<float, bfloat16>(&identity).dense;
  if (to == DType::kF16) return MakeUnaryTile<float16, float>(&identity).dense;
  return MakeUnaryTile<bfloat16, float>(&identity).dense;
}

}  // namespace

void Convert(DType from, const void* in, DType to, void* out, int64_t n, CPUContext& context) {
  const TileFunction convert = Conversion(from, to);
  context.ParallelFor(n, kGrainMoves, [&](int64_t begin, int64_t end) {
    const void* source = static_cast<const char*>(in) + begin * DTypeSize(from);
    convert(&source, static_cast<char*>(out) + begin * DTypeSize(to), end - begin, nullptr);
  });
}

llvm::Expected<std::shared_ptr<void>> AllocateAligned(int64_t bytes) {
  return AllocateHostMemory(bytes, MemoryFill::kNone, "a packed weight");
}

llvm::Expected<std::shared_ptr<const void>> AsFloats(const Tensor& tensor) {
  return AsFloats(tensor, 0, tensor.num_elements());
}

llvm::Expected<std::shared_ptr<const void>> AsFloats(const Tensor& tensor, int64_t first,
                                                     int64_t n) {
  const void* in = static_cast<const char*>(tensor.raw()) + first * DTypeSize(tensor.dtype());
  if (tensor.dtype() == DType::kF32) return std::shared_ptr<const void>(in, [](const void*) {});
  llvm::Expected<std::shared_ptr<void>> floats = AllocateAligned(n * 4);
  if (!floats) return floats.takeError();
  Conversion(tensor.dtype(), DType::kF32)(&in, floats->get(), n, nullptr);
  return std::shared_ptr<const void>(std::move(*floats));
}

}  // namespace pdl
