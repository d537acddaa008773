#include "kernels/linear/matmul_plan.h"

#include <algorithm>
#include <cstring>

#include "kernels/core/cpu_isa.h"
#include "kernels/core/float_copy.h"
#include "kernels/core/grain.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/linear/panel_blocks.h"
#include "kernels/linear/panel_gemm.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/context_threads.h"
#include "runtime/io/file.h"
#include "runtime/memory.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

// The work of a piece of a matmul.
constexpr int64_t kSmallProduct = int64_t{128} * 128 * 128;
// Matmuls with less work than this stay in one piece; others have at least two.
constexpr int64_t kTinyProduct = kSmallProduct / 4;
// The same for matmuls of few rows, which read the right matrix once and wait for the memory.
constexpr int64_t kSmallReading = kSmallProduct / 16;
// A block of rows should still be in the second-level cache when it is computed, but it is not cut
// to fewer rows than kCachedRows.
constexpr int64_t kBlockBytes = int64_t{512} << 10;
constexpr int64_t kCachedRows = 128;
// The minimum number of rows of a block if columns could be cut instead.
constexpr int64_t kLeastRows = 64;
// The minimum number of columns of a block of columns, for consumers that process it row by row.
constexpr int64_t kManyColumns = 256;
// The limit for an operand that several blocks read repeatedly.
constexpr int64_t kSharedBytes = int64_t{1} << 20;

// The offset of the operand's matrix for each matrix of the result's batch.
std::vector<int64_t> BatchOffsets(llvm::ArrayRef<int64_t> operand_batch,
                                  llvm::ArrayRef<int64_t> batch, int64_t matrix_elements) {
  int64_t count = 1;
  for (const int64_t size : batch) count *= size;
  std::vector<int64_t> offsets(static_cast<size_t>(count));
  const StridedView view = BroadcastView(operand_batch, batch);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = view.sizes.size(); d-- > 0;) {
      offset += rest % view.sizes[d] * view.strides[d];
      rest /= view.sizes[d];
    }
    offsets[static_cast<size_t>(i)] = offset * matrix_elements;
  }
  return offsets;
}

}  // namespace

llvm::Expected<std::shared_ptr<const MatmulPlan>> MatmulPlan::Make(const PrepareContext& context,
                                                                   bool transpose_a,
                                                                   bool transpose_b) {
  auto plan = std::make_shared<MatmulPlan>();
  if (llvm::Error error = plan->ReadShapes(context, transpose_a, transpose_b)) return error;
  if (plan->c_elements_ == 0 || plan->shape_.k == 0) return plan;
  const GemmShape& shape = plan->shape_;
  if (plan->SuitsPanels(context)) {
    if (llvm::Error error = plan->PreparePanels(context)) return error;
    plan->LayOutWorkspace(context.device());
    return plan;
  }
  llvm::Expected<bool> few_rows = plan->PrepareFewRows(context);
  if (!few_rows) return few_rows.takeError();
  if (*few_rows) {
    plan->LayOutWorkspace(context.device());
    return plan;
  }
  plan->CutIntoTasks();
  const bool is_tiny = shape.m * shape.n * shape.k <= plan->TinyWork();
  const bool reads_b_once = shape.m == 1 && shape.b_column == 1 && !context.is_constant(1);
  llvm::Error error = plan->compute_dtype_ != DType::kF32 || is_tiny || reads_b_once
                          ? plan->PreparePlain(context)
                          : plan->PrepareDnnl(context);
  if (error) return error;
  plan->LayOutWorkspace(context.device());
  return plan;
}

int64_t MatmulPlan::TinyWork() const {
  // Preparing oneDNN's packed operands takes longer than the multiplication of small matrices.
  if (shape_.n % 8 == 0) return a_offsets_.size() > 1 ? 1 << 16 : 4096;
  return NarrowGemm(compute_dtype_, shape_.n) != nullptr ? 4096 : 512;
}

llvm::Error MatmulPlan::ReadShapes(const PrepareContext& context, bool transpose_a,
                                   bool transpose_b) {
  dtype_ = context.inputs()[0].dtype;
  compute_dtype_ = dtype_ == DType::kF16 || dtype_ == DType::kBF16 ? DType::kF32 : dtype_;
  element_size_ = DTypeSize(compute_dtype_);
  words_ = ChooseWords(context);
  Sizes a = context.inputs()[0].sizes;
  Sizes b = context.inputs()[1].sizes;
  a_elements_ = context.inputs()[0].num_elements();
  b_elements_ = context.inputs()[1].num_elements();
  c_elements_ = context.outputs()[0].num_elements();
  const bool vector_a = a.size() == 1;
  const bool vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  Sizes batch = context.outputs()[0].sizes;
  if (!vector_a) batch.pop_back();
  if (!vector_b) batch.pop_back();

  const int64_t a_rows = a[a.size() - 2], a_columns = a[a.size() - 1];
  const int64_t b_rows = b[b.size() - 2], b_columns = b[b.size() - 1];
  GemmShape& s = shape_;
  s.m = transpose_a ? a_columns : a_rows;
  s.k = transpose_a ? a_rows : a_columns;
  s.n = transpose_b ? b_rows : b_columns;
  s.a_row = transpose_a ? 1 : a_columns;
  s.a_column = transpose_a ? a_columns : 1;
  s.b_row = transpose_b ? 1 : b_columns;
  s.b_column = transpose_b ? b_columns : 1;
  s.c_row = s.n;
  // Whether operands are rounded does not depend on the number of rows.
  if (dtype_ == DType::kF32 && (transpose_a || s.n < PanelColumns())) words_ = WordKind::kFloat;
  if (c_elements_ == 0 || s.k == 0) return llvm::Error::success();
  if (!transpose_a && b_elements_ == b_rows * b_columns) {
    // All matrices of the left batch have the same right matrix: they are one tall matrix.
    s.m = c_elements_ / s.n;
    a_offsets_ = b_offsets_ = {0};
    return llvm::Error::success();
  }
  const auto a_batch = llvm::ArrayRef<int64_t>(a).drop_back(2);
  const auto b_batch = llvm::ArrayRef<int64_t>(b).drop_back(2);
  // For tiny matrices, the offsets take more memory than the elements.
  const int64_t matrices = c_elements_ / (s.m * s.n);
  auto counted = CountHostMemory(SaturatingProduct({matrices, 2 * sizeof(int64_t)}),
                                 "the offsets of the matrices of a batch");
  if (!counted) return counted.takeError();
  counted_ = std::move(*counted);
  a_offsets_ = BatchOffsets(a_batch, batch, a_rows * a_columns);
  b_offsets_ = BatchOffsets(b_batch, batch, b_rows * b_columns);
  return llvm::Error::success();
}

void MatmulPlan::CutIntoTasks() {
  const GemmShape& s = shape_;
  const int64_t batch = static_cast<int64_t>(a_offsets_.size());
  const int64_t work = s.m * s.n * s.k;
  const int64_t target = batch >= kMaxPieces || work < kTinyProduct
                             ? 1
                             : std::clamp<int64_t>(work / kSmallProduct, 2, kMaxPieces);
  // If the right matrix stays in the second-level cache of all blocks, rows are cut even if there
  // are more columns, because the rows of a block are contiguous.
  const bool fits_cache = s.k * s.n * element_size_ <= kSharedBytes;
  const bool cuts_many_rows = s.m < s.n && s.m >= 2 * kLeastRows && fits_cache;
  const bool cuts_rows = s.m >= s.n || cuts_many_rows;
  const int64_t length = cuts_rows ? s.m : s.n;
  const int64_t least = cuts_many_rows            ? kLeastRows
                        : cuts_rows               ? 16
                        : s.n >= 4 * kManyColumns ? kManyColumns
                                                  : kManyColumns / 2;
  const int64_t multiple = cuts_rows ? 16 : 64;
  // An even number of pieces suits most numbers of threads.
  const int64_t even = target == 1 ? 1 : RoundUp(target, 2);
  const int64_t pieces = std::min(even, std::max<int64_t>(1, length / least));
  int64_t block = pieces == 1 ? length : RoundUp(DivideUp(length, pieces), multiple);
  if (cuts_rows) {
    const int64_t in_cache = std::max(kCachedRows, kBlockBytes / (s.n * element_size_) / 16 * 16);
    block = std::min(block, in_cache);
  }
  const int64_t groups = std::clamp<int64_t>(batch * work / (kTinyProduct / 2), 1, kMaxPieces);
  cuts_rows ? CutInto(block, s.n, groups) : CutInto(s.m, block, groups);
}

void MatmulPlan::CutInto(int64_t block_rows, int64_t block_columns, int64_t groups) {
  block_rows_ = block_rows;
  block_columns_ = std::min(block_columns, shape_.n);
  column_blocks_ = DivideUp(shape_.n, block_columns_);
  blocks_ = DivideUp(shape_.m, block_rows_) * column_blocks_;
  groups_ = std::min(static_cast<int64_t>(a_offsets_.size()) * blocks_, groups);
}

GemmShape MatmulPlan::BlockShape(int64_t block) const {
  GemmShape shape = shape_;
  shape.m = std::min(block_rows_, shape_.m - block / column_blocks_ * block_rows_);
  shape.n = std::min(block_columns_, shape_.n - block % column_blocks_ * block_columns_);
  return shape;
}

bool MatmulPlan::RoundsFloats() const {
  return dtype_ == DType::kF32 && words_ != WordKind::kFloat && a_offsets_.size() == 1;
}

bool MatmulPlan::ExceedsCache() const { return shape_.k * shape_.n * element_size_ > kSharedBytes; }

llvm::Expected<bool> MatmulPlan::PrepareFewRows(const PrepareContext& context) {
  const GemmShape& s = shape_;
  const bool is_large = ExceedsCache() || RoundsFloats();
  if (compute_dtype_ != DType::kF32 || a_offsets_.size() != 1 || s.m > kFewRows ||
      (!is_large && s.m > 1) || (s.a_column != 1 && s.a_row != 1)) {
    return false;
  }
  // More rows of dot products would not be computed as fast as b is read.
  constexpr int64_t kRowsOfDots = 2;
  // A panel of fewer columns would consist of zeros for the most part.
  if (context.is_constant(1) && s.n >= PanelColumns()) {
    if (llvm::Error error = PackIntoPanels(context)) return error;
    ReadByColumns();
    plain_ = PanelsGemm(words_);
  } else if (is_large && dtype_ == DType::kF32 && s.b_row == 1 && s.a_column == 1 &&
             s.m <= kRowsOfDots) {
    plain_ = FewRowsTurnedGemm();
  } else {
    return false;
  }
  // Reading a row of the right matrix takes as long as multiplying it by this number of rows.
  constexpr int64_t kRowsOfReading = 8;
  constexpr int64_t kPiecesOfThread = 4;
  const int64_t work = std::max(s.m, kRowsOfReading) * s.n * s.k;
  const int64_t threads = ThreadsOf(context.device());
  const int64_t most = threads == 1 ? 1 : std::min(kPiecesOfThread * threads, kMaxPieces);
  const int64_t pieces = std::clamp<int64_t>(work / kSmallReading, 1, most);
  CutInto(s.m, RoundUp(DivideUp(s.n, pieces), PanelColumns()), kMaxPieces);
  return true;
}

bool MatmulPlan::SuitsPanels(const PrepareContext& context) const {
  const GemmShape& s = shape_;
  // Processors with AVX only have a kernel in oneDNN. Rows are not packed for few columns, which
  // makes the kernel slower than oneDNN's.
  if (compute_dtype_ != DType::kF32 || CurrentIsa() == Isa::kBaseline || !context.is_constant(1) ||
      a_offsets_.size() != 1 || s.a_column != 1) {
    return false;
  }
  const bool has_columns = words_ == WordKind::kBf16Pairs || RoundsFloats()
                               ? s.n >= PanelColumns()
                               : PanelScratchBytes(s.m, s.n) > 0;
  if (!has_columns) return false;
  const bool is_wide = CurrentIsa() == Isa::kAvx512 && ExceedsCache();
  const int64_t few_rows = is_wide ? PanelRows() : kFewRows;
  return s.m > few_rows && (RoundsFloats() || s.m * s.n * s.k > TinyWork());
}

llvm::Error MatmulPlan::PreparePanels(const PrepareContext& context) {
  const GemmShape& s = shape_;
  if (llvm::Error error = PackIntoPanels(context)) return error;
  uses_panels_ = true;
  PanelWork work;
  work.rows = s.m;
  work.columns = s.n;
  work.depth = s.k;
  work.threads = ThreadsOf(context.device());
  work.block_bytes = kBlockBytes;
  work.least_rows = kCachedRows;
  const PanelBlocks blocks = CutIntoPanelBlocks(work);
  CutInto(blocks.rows, blocks.columns, blocks.groups);
  const int64_t pointers = RoundUp(block_rows_, PanelRows()) * static_cast<int64_t>(sizeof(float*));
  pointer_bytes_ = RoundUp(pointers, 64);
  scratch_bytes_ = pointer_bytes_ + PanelScratchBytes(block_rows_, block_columns_, words_);
  return llvm::Error::success();
}

void MatmulPlan::RunPanels(const GemmShape& shape, const float* a, const float* b, float* c,
                           void* scratch, const RegisterEpilogue& epilogue) const {
  const float** rows = static_cast<const float**>(scratch);
  for (int64_t i = 0; i < shape.m; ++i) rows[i] = a + i * shape.a_row;
  PanelGemm gemm;
  gemm.rows = shape.m;
  gemm.columns = shape.n;
  gemm.run_length = shape.k;
  gemm.runs_of_a = rows;
  gemm.words = words_;
  gemm.b = b;
  gemm.c = c;
  gemm.c_row = shape.c_row;
  gemm.epilogue = epilogue;
  if (PanelScratchBytes(shape.m, shape.n, words_) > 0)
    gemm.scratch = reinterpret_cast<float*>(static_cast<char*>(scratch) + pointer_bytes_);
  RunPanelGemm(gemm);
}

/// Packs all of the weight, some rows or columns at a time, so that a weight in a file is not in
/// memory twice.
static llvm::Error PackPanelsInParts(const GemmShape& whole, const Tensor& weight, WordKind words,
                                     float* to) {
  constexpr int64_t kPartBytes = int64_t{8} << 20;
  const bool by_rows = whole.b_row >= whole.b_column;
  const int64_t count = by_rows ? whole.k : whole.n;
  const int64_t stride = std::max<int64_t>(by_rows ? whole.b_row : whole.b_column, 1);
  const int64_t inner =
      by_rows ? (whole.n - 1) * whole.b_column + 1 : (whole.k - 1) * whole.b_row + 1;
  const int64_t element_size = DTypeSize(weight.dtype());
  const int64_t panel_rows = WordsOf(words, whole.k);
  const int64_t step = RoundUp(std::max<int64_t>(kPartBytes / (stride * element_size), 1),
                               by_rows ? ElementsOf(words) : PanelColumns());
  for (int64_t begin = 0; begin < count; begin += step) {
    const int64_t length = std::min(step, count - begin);
    GemmShape part = whole;
    (by_rows ? part.k : part.n) = length;
    const int64_t first = begin * stride, elements = (length - 1) * stride + inner;
    auto floats = AsFloats(weight, first, elements);
    if (!floats) return floats.takeError();
    const int64_t to_begin = by_rows ? WordsOf(words, begin) * PanelColumns() : begin * panel_rows;
    PackPanels(part, static_cast<const float*>(floats->get()), words, to + to_begin, panel_rows);
    ReleaseFilePages(weight, first * element_size, elements * element_size);
  }
  return llvm::Error::success();
}

llvm::Error MatmulPlan::PackIntoPanels(const PrepareContext& context) {
  const GemmShape& s = shape_;
  auto pack = [&](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
    const int64_t words = RoundUp(s.n, PanelColumns()) * WordsOf(words_, s.k);
    llvm::Expected<std::shared_ptr<void>> packed = AllocateAligned(words * sizeof(float));
    if (!packed) return packed.takeError();
    float* const to = static_cast<float*>(packed->get());
    if (llvm::Error error = PackPanelsInParts(s, weight, words_, to)) return error;
    return std::shared_ptr<const void>(std::move(*packed));
  };
  // A column and a row have the same strides.
  const std::string layout =
      llvm::formatv("{0}-{1}-{2}-{3}-{4}", words_ == WordKind::kFloat ? "panels" : "bf16-panels",
                    PanelColumns(), s.n, s.b_row, s.b_column)
          .str();
  auto packed = context.Pack(1, layout, pack);
  if (!packed) return packed.takeError();
  packed_b_ = std::move(*packed);
  reads_b_ = false;
  // The offset of a column, which is the first of a panel.
  shape_.b_column = WordsOf(words_, s.k);
  shape_.b_row = PanelColumns();
  return llvm::Error::success();
}

void MatmulPlan::ReadByColumns() {
  stored_ = shape_;
  shape_.k = WordsOf(words_, stored_.k);
  a_depth_ = words_ == WordKind::kBf16Weights ? 2 * shape_.k : shape_.k;
  const bool is_by_columns = stored_.m == 1 ? stored_.a_column == 1 : stored_.a_row == 1;
  if (is_by_columns && words_ != WordKind::kBf16Pairs && a_depth_ == stored_.k) return;
  StridedView view;
  view.sizes = {stored_.k, stored_.m};
  view.strides = {stored_.a_column, stored_.a_row};
  view.Collapse();
  order_a_ = StridedCopy(view, element_size_);
  orders_a_ = true;
  shape_.a_row = 1;
  shape_.a_column = shape_.m;
}

void MatmulPlan::OrderLeft(const char* a, char* to, CPUContext& context) const {
  const int64_t m = stored_.m, k = stored_.k;
  float* const ordered = reinterpret_cast<float*>(to);
  if (words_ != WordKind::kBf16Pairs) {
    order_a_.Run(a, to, context);
    std::fill(ordered + k * m, ordered + a_depth_ * m, 0.0f);
    return;
  }
  const float* const from = reinterpret_cast<const float*>(a);
  if (m == 1 && stored_.a_column == 1) return ToBf16Pairs(from, k, ordered);
  context.ParallelFor(shape_.k, 1 + kGrainMoves / m, [&](int64_t begin, int64_t end) {
    float rows[2][kFewRows];
    for (int64_t word = begin; word < end; ++word) {
      const int64_t count = std::min<int64_t>(2, k - 2 * word);
      for (int64_t i = 0; i < count; ++i) {
        const float* column = from + (2 * word + i) * stored_.a_column;
        for (int64_t row = 0; row < m; ++row) rows[i][row] = column[row * stored_.a_row];
      }
      ToBf16PairsOfRows(rows[0], count == 2 ? rows[1] : nullptr, m, ordered + word * m);
    }
  });
}

void MatmulPlan::ChoosePlain() {
  // A block of columns has another number of them.
  plain_ = column_blocks_ == 1 ? NarrowGemm(compute_dtype_, shape_.n) : nullptr;
  // oneDNN has no f64.
  const bool uses_blocks = compute_dtype_ == DType::kF64 || shape_.n % 8 == 0;
  if (plain_ == nullptr && uses_blocks) plain_ = BlockGemm(compute_dtype_, shape_);
  if (plain_ == nullptr || shape_.m == 1) plain_ = PlainGemm(compute_dtype_);
}

llvm::Error MatmulPlan::PreparePlain(const PrepareContext& context) {
  if (shape_.b_column == 1 || shape_.n == 1) {
    shape_.b_column = 1;
    ChoosePlain();
    return llvm::Error::success();
  }
  // The unpacked [n, k], read as [k, n]; all matrices of the batch.
  const int64_t matrices = b_elements_ / (shape_.n * shape_.k);
  StridedView view;
  view.sizes = {matrices, shape_.k, shape_.n};
  view.strides = {shape_.n * shape_.k, 1, shape_.b_column};
  view.Collapse();
  order_b_ = StridedCopy(view, element_size_);
  orders_b_ = true;
  shape_.b_row = shape_.n;
  shape_.b_column = 1;
  ChoosePlain();
  if (!context.is_constant(1)) return llvm::Error::success();
  auto pack = [&](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
    llvm::Expected<std::shared_ptr<void>> ordered = AllocateAligned(b_elements_ * element_size_);
    if (!ordered) return ordered.takeError();
    std::shared_ptr<const void> source(weight.raw(), [](const void*) {});
    if (compute_dtype_ != dtype_) {
      auto floats = AsFloats(weight);
      if (!floats) return floats.takeError();
      source = std::move(*floats);
    }
    CPUContext one_thread(1);
    order_b_.Run(source.get(), ordered->get(), one_thread);
    return std::shared_ptr<const void>(std::move(*ordered));
  };
  const std::string layout = llvm::formatv("row-major-{0}-{1}", shape_.k, shape_.n).str();
  auto packed = context.Pack(1, layout, pack);
  if (!packed) return packed.takeError();
  packed_b_ = std::move(*packed);
  reads_b_ = false;
  return llvm::Error::success();
}

llvm::Error MatmulPlan::PrepareDnnl(const PrepareContext& context) {
  const bool packs = b_elements_ == shape_.k * shape_.n && context.is_constant(1);
  dnnl_by_block_ = packs && column_blocks_ > 1;
  const bool has_tail =
      BlockShape(blocks_ - 1).m != BlockShape(0).m || BlockShape(blocks_ - 1).n != BlockShape(0).n;
  const int64_t count = dnnl_by_block_ ? blocks_ : has_tail ? 2 : 1;
  reads_b_ = false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t block = dnnl_by_block_ ? i : i == 0 ? 0 : blocks_ - 1;
    auto gemm = DnnlGemm::Create(BlockShape(block), packs);
    if (!gemm) return gemm.takeError();
    scratch_bytes_ = std::max(scratch_bytes_, RoundUp((*gemm)->scratch_bytes(), 64));
    if ((*gemm)->packed_layout().empty()) {
      reads_b_ = true;
    } else {
      const int64_t first = dnnl_by_block_ ? block * block_columns_ * shape_.b_column : 0;
      auto pack = [&](const Tensor& weight) -> llvm::Expected<std::shared_ptr<const void>> {
        auto floats = AsFloats(weight);
        if (!floats) return floats.takeError();
        return (*gemm)->Pack(static_cast<const float*>(floats->get()) + first);
      };
      // The layout identifies neither the strides and sizes of the weight nor which part of it is
      // packed.
      const std::string layout = llvm::formatv("{0}-{1}-{2}-{3}-{4}", (*gemm)->packed_layout(),
                                               shape_.n, shape_.b_row, shape_.b_column, first)
                                     .str();
      auto packed = context.Pack(1, layout, pack);
      if (!packed) return packed.takeError();
      (*gemm)->SetPacked(std::move(*packed));
    }
    dnnl_.push_back(std::move(*gemm));
  }
  return llvm::Error::success();
}

void MatmulPlan::LayOutWorkspace(const DeviceContext& device) {
  areas_ = ScratchAreas(device, groups_);
  auto take = [&](int64_t bytes) {
    const int64_t at = workspace_bytes_;
    workspace_bytes_ += RoundUp(bytes, 64);
    return at;
  };
  if (compute_dtype_ != dtype_) {
    a_at_ = take(a_elements_ * element_size_);
    c_at_ = take(c_elements_ * element_size_);
    if (reads_b_) b_at_ = take(b_elements_ * element_size_);
  }
  if (orders_a_) ordered_a_at_ = take(shape_.m * a_depth_ * element_size_);
  if (orders_b_ && packed_b_ == nullptr) ordered_b_at_ = take(b_elements_ * element_size_);
  scratch_at_ = take(scratch_bytes_ * areas_);
}

void MatmulPlan::Run(const Tensor& a, const Tensor& b, void* c, void* workspace_raw,
                     CPUContext& context, const RegisterEpilogue& epilogue,
                     llvm::function_ref<void(const OutputPiece&)> then) const {
  if (a_offsets_.empty()) {
    std::memset(c, 0, static_cast<size_t>(c_elements_ * DTypeSize(dtype_)));
    if (then) then({0, 1, c_elements_, c_elements_});
    return;
  }
  char* workspace = static_cast<char*>(workspace_raw);
  const char* left = static_cast<const char*>(a.raw());
  const char* right = static_cast<const char*>(b.raw());
  char* result = static_cast<char*>(c);
  if (a_at_ >= 0) {
    Convert(dtype_, left, compute_dtype_, workspace + a_at_, a_elements_, context);
    left = workspace + a_at_;
    result = workspace + c_at_;
  }
  if (orders_a_) {
    OrderLeft(left, workspace + ordered_a_at_, context);
    left = workspace + ordered_a_at_;
  }
  if (b_at_ >= 0) {
    Convert(dtype_, right, compute_dtype_, workspace + b_at_, b_elements_, context);
    right = workspace + b_at_;
  }
  if (packed_b_ != nullptr) {
    right = static_cast<const char*>(packed_b_.get());
  } else if (orders_b_) {
    order_b_.Run(right, workspace + ordered_b_at_, context);
    right = workspace + ordered_b_at_;
  }
  const int64_t tasks = static_cast<int64_t>(a_offsets_.size()) * blocks_;
  ParallelForAreas(context, groups_, areas_, [&](int64_t group, int64_t area) {
    void* scratch = workspace + scratch_at_ + area * scratch_bytes_;
    const int64_t last = tasks * (group + 1) / groups_;
    if (plain_ != nullptr && blocks_ == 1 && !then)
      return RunMatrices(tasks * group / groups_, last, left, right, result);
    for (int64_t task = tasks * group / groups_; task < last; ++task) {
      const OutputPiece piece = RunTask(task, left, right, result, scratch, epilogue);
      if (then && c_at_ < 0) then(piece);
    }
  });
  if (c_at_ < 0) return;
  Convert(compute_dtype_, result, dtype_, c, c_elements_, context);
  if (then) then({0, 1, c_elements_, c_elements_});
}

void MatmulPlan::RunMatrices(int64_t begin, int64_t end, const char* a, const char* b,
                             char* c) const {
  const int64_t elements = shape_.m * shape_.n;
  for (int64_t i = begin; i < end; ++i) {
    plain_(shape_, a + a_offsets_[static_cast<size_t>(i)] * element_size_,
           b + b_offsets_[static_cast<size_t>(i)] * element_size_,
           c + i * elements * element_size_);
  }
}

OutputPiece MatmulPlan::RunTask(int64_t task, const char* a, const char* b, char* c, void* scratch,
                                const RegisterEpilogue& epilogue) const {
  const int64_t matrix = task / blocks_;
  const int64_t block = task % blocks_;
  const int64_t row = block / column_blocks_ * block_rows_;
  const int64_t column = block % column_blocks_ * block_columns_;
  const int64_t a_at = a_offsets_[static_cast<size_t>(matrix)] + row * shape_.a_row;
  const int64_t b_at = b_offsets_[static_cast<size_t>(matrix)] + column * shape_.b_column;
  const int64_t c_at = matrix * shape_.m * shape_.n + row * shape_.c_row + column;
  const char* left = a + a_at * element_size_;
  // Null if it is packed and not kept.
  const char* right = b == nullptr ? nullptr : b + b_at * element_size_;
  char* result = c + c_at * element_size_;
  const GemmShape shape = BlockShape(block);
  const OutputPiece piece = {c_at, shape.m, shape.n, shape.c_row};
  if (plain_ != nullptr) {
    plain_(shape, left, right, result);
    return piece;
  }
  if (uses_panels_) {
    RegisterEpilogue of_block = epilogue;
    if (epilogue.bias != nullptr) of_block.bias += column;
    RunPanels(shape, reinterpret_cast<const float*>(left), reinterpret_cast<const float*>(right),
              reinterpret_cast<float*>(result), scratch, of_block);
    return piece;
  }
  const bool is_tail = block == blocks_ - 1;
  const DnnlGemm& gemm = dnnl_by_block_ ? *dnnl_[static_cast<size_t>(block)]
                         : is_tail      ? *dnnl_.back()
                                        : *dnnl_.front();
  gemm.Run(reinterpret_cast<const float*>(left), reinterpret_cast<const float*>(right),
           reinterpret_cast<float*>(result), scratch);
  return piece;
}

}  // namespace pdl
