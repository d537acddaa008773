// Plans for running a batched matmul, made when its sizes are known.
#ifndef PDL_KERNELS_LINEAR_MATMUL_PLAN_H_
#define PDL_KERNELS_LINEAR_MATMUL_PLAN_H_

#include <memory>
#include <vector>

#include "kernels/core/strided_copy.h"
#include "kernels/linear/gemm.h"
#include "pdl/op/operator.h"
#include "pdl/op/tile.h"

namespace pdl {

/// Cuts the matmul into tasks such that the result is the same for any number of threads. A task is
/// a block of some rows and columns of one matrix of the batch.
class MatmulPlan : public CallState {
 public:
  /// The sizes in `context` must match.
  static llvm::Expected<std::shared_ptr<const MatmulPlan>> Make(const PrepareContext& context,
                                                                bool transpose_a, bool transpose_b);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Whether Run reads the right operand, not only its packed forms.
  bool reads_b() const { return reads_b_; }
  /// See Preparation::has_register_epilogue.
  bool has_register_epilogue() const { return uses_panels_ && dtype_ == DType::kF32; }
  /// See Preparation::matmul_precision.
  DType precision() const { return PrecisionOf(words_); }
  /// Calls `then` with each piece of c after it is computed, on the thread that computed it; `then`
  /// may overwrite the piece.
  void Run(const Tensor& a, const Tensor& b, void* c, void* workspace, CPUContext& context,
           const RegisterEpilogue& epilogue = {},
           llvm::function_ref<void(const OutputPiece&)> then = nullptr) const;

 private:
  llvm::Error ReadShapes(const PrepareContext& context, bool transpose_a, bool transpose_b);
  void CutIntoTasks();
  /// Sets the rows and columns of a block, and at most this many groups of tasks.
  void CutInto(int64_t block_rows, int64_t block_columns, int64_t groups);
  /// Whether f32 weights are packed as bf16; then they are always multiplied in panels.
  bool RoundsFloats() const;
  /// Whether the right matrix does not stay in the second-level cache.
  bool ExceedsCache() const;
  /// Returns whether it is a matmul of few rows by a large matrix; then it is prepared.
  llvm::Expected<bool> PrepareFewRows(const PrepareContext& context);
  /// Whether RunPanelGemm is the fastest way.
  bool SuitsPanels(const PrepareContext& context) const;
  llvm::Error PreparePanels(const PrepareContext& context);
  llvm::Error PackIntoPanels(const PrepareContext& context);
  void ReadByColumns();
  /// Writes the left operand for PanelsGemm, by columns.
  void OrderLeft(const char* a, char* to, CPUContext& context) const;
  /// The most multiplications of a matmul that our own loops compute faster than oneDNN.
  int64_t TinyWork() const;
  /// Sets plain_ to the fastest function for the matmul of a task.
  void ChoosePlain();
  llvm::Error PreparePlain(const PrepareContext& context);
  llvm::Error PrepareDnnl(const PrepareContext& context);
  void LayOutWorkspace(const DeviceContext& device);
  /// The matmul of one task: one block of one matrix of the batch.
  GemmShape BlockShape(int64_t block) const;
  /// All matrices [begin, end), each of which is one task of plain_.
  void RunMatrices(int64_t begin, int64_t end, const char* a, const char* b, char* c) const;
  /// Returns the part of c that it computed.
  OutputPiece RunTask(int64_t task, const char* a, const char* b, char* c, void* scratch,
                      const RegisterEpilogue& epilogue) const;
  void RunPanels(const GemmShape& shape, const float* a, const float* b, float* c, void* scratch,
                 const RegisterEpilogue& epilogue) const;

  DType dtype_ = DType::kF32;          // of the operands
  DType compute_dtype_ = DType::kF32;  // f16/bf16 are multiplied as f32
  int64_t element_size_ = 4;           // of compute_dtype_
  int64_t a_elements_ = 0, b_elements_ = 0, c_elements_ = 0;

  GemmShape shape_;  // of one matrix of the batch
  /// The offsets of the operands of each matrix of the batch, in elements.
  std::vector<int64_t> a_offsets_, b_offsets_;
  std::shared_ptr<void> counted_;  // reservation against the memory limit
  int64_t block_rows_ = 0, block_columns_ = 0;
  int64_t column_blocks_ = 1;
  int64_t blocks_ = 1;  // of rows and columns
  int64_t groups_ = 1;  // of tasks
  int64_t areas_ = 1;   // of scratch memory

  GemmFunction plain_ = nullptr;
  bool uses_panels_ = false;
  WordKind words_ = WordKind::kFloat;  // of panels
  /// One for each block if each block has its own packed weight, else one for complete blocks and
  /// one for a smaller last block.
  std::vector<std::unique_ptr<DnnlGemm>> dnnl_;
  bool dnnl_by_block_ = false;
  bool reads_b_ = true;
  /// A constant right operand, in panels or in row-major order.
  std::shared_ptr<const void> packed_b_;
  /// Each run copies the right operand in row-major order, unless it is packed.
  bool orders_b_ = false;
  StridedCopy order_b_;
  /// Each run copies the left operand by columns, or makes its words.
  bool orders_a_ = false;
  StridedCopy order_a_;
  /// The left operand as it is stored, and the depth of its copy.
  GemmShape stored_;
  int64_t a_depth_ = 0;

  // Offsets into the workspace, in bytes; -1 if unused.
  int64_t a_at_ = -1, b_at_ = -1, c_at_ = -1, ordered_a_at_ = -1, ordered_b_at_ = -1;
  int64_t pointer_bytes_ = 0;  // at the begin of the scratch memory, of rows for RunPanels
  int64_t scratch_at_ = 0;
  int64_t scratch_bytes_ = 0;  // of one area
  int64_t workspace_bytes_ = 0;
};

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_MATMUL_PLAN_H_
