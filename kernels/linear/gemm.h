// Matmul of two matrices, run on the calling thread only.
#ifndef PDL_KERNELS_LINEAR_GEMM_H_
#define PDL_KERNELS_LINEAR_GEMM_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/linear/panel_words.h"
#include "llvm/Support/Error.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// c[m, n] = a[m, k] * b[k, n]. Element (i, j) of a is at a[i * a_row + j * a_column], and so on;
/// the rows of c are dense.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_column = 0;
  int64_t b_row = 0, b_column = 0;
  int64_t c_row = 0;
};

/// Accumulates over k in ascending order in the element type (integers wrap around), so that any
/// part of c has the same bits whether it is computed separately or not. Requires b_column = 1.
using GemmFunction = void (*)(const GemmShape& shape, const void* a, const void* b, void* c);

/// Returns null for f16, bf16 and bool.
GemmFunction PlainGemm(DType dtype);
/// The same results as PlainGemm, for this number of columns; null if there is no such function.
GemmFunction NarrowGemm(DType dtype, int64_t columns);
/// For f32 and f64 with b_column = 1, a_row or a_column = 1, and at least two rows of a; else null.
/// With fused multiply-adds where the processor has them, and partial sums over 128 steps, so that
/// any part of c has the same bits whether it is computed separately or not.
GemmFunction BlockGemm(DType dtype, const GemmShape& shape);

/// The largest number of rows of a for the functions below, which read b once from memory.
inline constexpr int64_t kFewRows = 16;
/// For f32, a_column = 1 and b_row = 1: elements are dot products of rows of a and of a transposed
/// b.
GemmFunction FewRowsTurnedGemm();
/// For f32, one row or a_row = 1, and b packed in panels of PanelColumns() columns: columns j and
/// j + 1 of a panel are adjacent, rows follow one another, and panel p begins at b[p * columns *
/// k]. With pairs, the shape's k is the number of words of b; a has as many words (kBf16Pairs), or
/// two elements for each of them (kBf16Weights), by columns.
GemmFunction PanelsGemm(WordKind words);
int64_t PanelColumns();
/// Packs b; the last panel is filled up with zeros. A panel of `to` has `panel_rows` rows of words,
/// of which those of the first k elements are written: b may be a part of the rows of a larger
/// matrix.
void PackPanels(const GemmShape& shape, const float* b, WordKind words, float* to,
                int64_t panel_rows);

/// An f32 matmul by oneDNN, prepared for one shape; many threads may run it at the same time.
class DnnlGemm {
 public:
  /// `pack_b`: the right matrix is the same in every run and may be packed into a better layout.
  static llvm::Expected<std::unique_ptr<DnnlGemm>> Create(const GemmShape& shape, bool pack_b);
  ~DnnlGemm();

  /// A name for the layout of the right matrix, equal for equal layouts; empty if it is the one
  /// that the shape describes.
  const std::string& packed_layout() const { return packed_layout_; }
  llvm::Expected<std::shared_ptr<const void>> Pack(const float* b) const;
  /// Sets the right matrix, in packed_layout(), for all later runs.
  void SetPacked(std::shared_ptr<const void> packed);

  /// The scratch memory that a run needs.
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
