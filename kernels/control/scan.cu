#include "kernels/control/scan_loop.h"
#include "kernels/cuda/cuda_launch.h"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

/// Rows of `words` words each; row i of the dense operand is row rows[i] + shift of the other one.
template <class Word, bool kGather>
__global__ void __launch_bounds__(kBlockThreads)
    MoveRowsKernel(Word* to, const Word* from, const long long* rows, long long shift,
                   long long count, long long words) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count * words; i += step) {
    const long long row = i / words;
    const long long apart = (rows[row] + shift) * words + (i - row * words);
    if (kGather) {
      to[i] = from[apart];
    } else {
      to[apart] = from[i];
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(kBlockThreads)
    CopyPiecesKernel(Word* to, long long to_stride, const Word* from, long long from_stride,
                     long long count, long long words) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count * words; i += step) {
    const long long piece = i / words;
    const long long word = i - piece * words;
    to[piece * to_stride + word] = from[piece * from_stride + word];
  }
}

/// Calls visit(Word()) with the widest word type whose size divides all of these.
template <typename Visit>
llvm::Error VisitWords(uint64_t bits, Visit&& visit) {
  if (bits % 8 == 0) return visit(0ull);
  if (bits % 4 == 0) return visit(0u);
  if (bits % 2 == 0) return visit(static_cast<unsigned short>(0));
  return visit(static_cast<unsigned char>(0));
}

class CUDARowMover final : public RowMover {
 public:
  CUDARowMover(CUDAContext& context, const char* name) : context_(context), name_(name) {}

  llvm::Error Gather(void* to, const void* from, const int64_t* rows, int64_t shift, int64_t count,
                     int64_t row_bytes) override {
    return MoveRows<true>(to, from, rows, shift, count, row_bytes);
  }
  llvm::Error Scatter(void* to, const void* from, const int64_t* rows, int64_t shift, int64_t count,
                      int64_t row_bytes) override {
    return MoveRows<false>(to, from, rows, shift, count, row_bytes);
  }
  llvm::Error CopyPieces(void* to, int64_t to_stride, const void* from, int64_t from_stride,
                         int64_t count, int64_t bytes) override {
    if (count == 0 || bytes == 0) return llvm::Error::success();
    if (count == 1) return context_.CopyWithin(to, from, bytes);
    const uint64_t bits = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                          static_cast<uint64_t>(to_stride | from_stride | bytes);
    return VisitWords(bits, [&](auto word) {
      using Word = decltype(word);
      constexpr int64_t kSize = sizeof(Word);
      return Launch(context_, name_, &CopyPiecesKernel<Word>,
                    GridFor(context_, count * (bytes / kSize)), dim3(kBlockThreads),
                    static_cast<Word*>(to), to_stride / kSize, static_cast<const Word*>(from),
                    from_stride / kSize, count, bytes / kSize);
    });
  }
  llvm::Error Clear(void* to, int64_t bytes) override {
    CurrentDevice current(context_.device());
    return ToError(cudaMemsetAsync(to, 0, static_cast<size_t>(bytes), context_.stream()), name_,
                   context_.device());
  }

 private:
  template <bool kGather>
  llvm::Error MoveRows(void* to, const void* from, const int64_t* rows, int64_t shift,
                       int64_t count, int64_t row_bytes) {
    if (count == 0 || row_bytes == 0) return llvm::Error::success();
    const uint64_t bits = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                          static_cast<uint64_t>(row_bytes);
    return VisitWords(bits, [&](auto word) {
      using Word = decltype(word);
      constexpr int64_t kSize = sizeof(Word);
      return Launch(context_, name_, &MoveRowsKernel<Word, kGather>,
                    GridFor(context_, count * (row_bytes / kSize)), dim3(kBlockThreads),
                    static_cast<Word*>(to), static_cast<const Word*>(from),
                    reinterpret_cast<const long long*>(rows), shift, count, row_bytes / kSize);
    });
  }

  CUDAContext& context_;
  const char* name_;
};

/// The loop itself is shared with the CPU: it launches the steps one after another.
class BlockScanOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    return loop_.Prepare(arguments(), context);
  }
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    CUDARowMover mover(context, type().c_str());
    return loop_.Run(inputs, outputs, context, mover);
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader&) override {
    return loop_.Initialize(arguments());
  }

 private:
  ScanLoop loop_;
};

}  // namespace

void AddScanKernels(OpRegistry& registry) {
  registry.AddKernel("scan", DeviceKind::kCUDA, &CreateKernel<BlockScanOp>);
  registry.AddKernel("segment_scan", DeviceKind::kCUDA, &CreateKernel<BlockScanOp>);
  registry.AddKernel("while_loop", DeviceKind::kCUDA, &CreateKernel<BlockScanOp>);
}

}  // namespace pdl::cuda
