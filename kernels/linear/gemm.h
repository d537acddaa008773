// Products of two matrices, run by the calling thread alone.
#ifndef PDL_KERNELS_LINEAR_GEMM_H_
#define PDL_KERNELS_LINEAR_GEMM_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "llvm/Support/Error.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// c[m, n] = a[m, k] * b[k, n]. Element (i, j) of a lies at a[i * a_row + j * a_column], and so on;
/// the rows of c are dense.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_column = 0;
  int64_t b_row = 0, b_column = 0;
  int64_t c_row = 0;
};

/// Adds up k in ascending order in the element type (integers wrap around), so that any part of c
/// comes out the same whether it is computed alone or not. Wants b_column = 1.
using GemmFunction = void (*)(const GemmShape& shape, const void* a, const void* b, void* c);

/// Null for the halves and for bool.
GemmFunction PlainGemm(DType dtype);

/// A float product by oneDNN, prepared for one shape; many threads may run one at once.
class DnnlGemm {
 public:
  /// `pack_b`: the right matrix is the same in every run and may be brought into a better layout.
  static llvm::Expected<std::unique_ptr<DnnlGemm>> Create(const GemmShape& shape, bool pack_b);
  ~DnnlGemm();

  /// A name for the layout of the right matrix, equal for equal layouts; empty where it is the one
  /// that the shape describes.
  const std::string& packed_layout() const { return packed_layout_; }
  llvm::Expected<std::shared_ptr<const void>> Pack(const float* b) const;
  /// From now on every run takes this right matrix, in packed_layout().
  void SetPacked(std::shared_ptr<const void> packed);

  /// Scratch memory that a run needs.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  void Run(const float* a, const float* b, float* c, void* scratch) const;

 private:
  struct Impl;
  struct Slot;
  DnnlGemm();

  std::unique_ptr<Impl> impl_;
  std::string packed_layout_;
  int64_t scratch_bytes_ = 0;
  std::shared_ptr<const void> packed_;
};

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_GEMM_H_
