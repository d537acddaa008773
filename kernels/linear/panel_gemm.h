// f32 matmuls whose right operand is packed into panels of columns, and whose left rows may be
// scattered in memory, as the windows of convolutions are.
#ifndef PDL_KERNELS_LINEAR_PANEL_GEMM_H_
#define PDL_KERNELS_LINEAR_PANEL_GEMM_H_

#include <cstdint>

#include "kernels/linear/panel_words.h"
#include "pdl/op/tile.h"

namespace pdl {

/// c[rows, columns] = a * b, with an epilogue, in the calling thread. A row of a consists of `runs`
/// runs of `run_length` contiguous elements. Rows are computed in blocks of PanelRows(); block t
/// reads run r of its row i at runs_of_a[(t * runs + r) * PanelRows() + i] + a_offset. The last
/// block may have fewer rows; its other pointers are not read.
struct PanelGemm {
  int64_t rows = 0, columns = 0;
  int64_t runs = 1, run_length = 0;
  const float* const* runs_of_a = nullptr;
  int64_t a_offset = 0;
  /// How a is packed, and b is.
  WordKind words = WordKind::kFloat;
  /// Packed in panels of PanelColumns() columns, each with runs * WordsOf(words, run_length) rows
  /// of words; see gemm.h.
  const float* b = nullptr;
  float* c = nullptr;
  int64_t c_row = 0;  // elements between rows of c
  /// PanelScratchBytes of memory; null if that is 0.
  float* scratch = nullptr;
  RegisterEpilogue epilogue = {};
};

/// The order of the sums depends on `runs` and `run_length` only, so any part of c has the same
/// bits whether it is computed separately, with or without scratch memory, or not.
void RunPanelGemm(const PanelGemm& gemm);
/// The number of rows of c that are computed together.
int64_t PanelRows();
/// The memory that a matmul of this size needs for packed rows of a, which are read faster than
/// rows that are far apart. For floats, 0 for few columns, for which packing takes too long.
int64_t PanelScratchBytes(int64_t rows, int64_t columns, WordKind words = WordKind::kFloat);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_PANEL_GEMM_H_
