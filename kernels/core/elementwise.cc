#include "kernels/core/elementwise.h"
#include "kernels/core/grain.h"
#include "pdl/op/error.h"
#include "runtime/stream.h"

#include <algorithm>

namespace pdl {
namespace {

// Shorter runs do not pay for a call each.
constexpr int64_t kShortestRun = 16;
// Elements of a tile whose operands are gathered or whose result is streamed.
constexpr int64_t kTile = 512;
constexpr int64_t kLargestElement = 8;

// Drops dims of size 1, and merges adjacent dims that all views can traverse as one.
void CollapseTogether(llvm::MutableArrayRef<StridedView> views) {
  const size_t rank = views[0].sizes.size();
  size_t kept = 0;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = views[0].sizes[d];
    if (size == 1) continue;
    const bool joins = kept > 0 && llvm::all_of(views, [&](const StridedView& view) {
                         return view.strides[kept - 1] == view.strides[d] * size;
                       });
    for (StridedView& view : views) {
      view.sizes[joins ? kept - 1 : kept] = joins ? view.sizes[kept - 1] * size : size;
      view.strides[joins ? kept - 1 : kept] = view.strides[d];
    }
    if (!joins) ++kept;
  }
  for (StridedView& view : views) {
    view.sizes.resize(kept);
    view.strides.resize(kept);
  }
}

}  // namespace

ElementwiseState::ElementwiseState(const Tile& tile, llvm::ArrayRef<OperandType> inputs,
                                   const OperandType& output)
    : num_inputs_(static_cast<unsigned>(inputs.size())),
      function_(tile.dense),
      num_elements_(output.num_elements()),
      tile_(tile),
      output_size_(DTypeSize(output.dtype)) {
  exceeds_cache_ = ExceedsCache(num_elements_ * output_size_);
  for (unsigned i = 0; i < num_inputs_; ++i) {
    input_sizes_[i] = DTypeSize(inputs[i].dtype);
    StridedView& view = views_[i];
    view.sizes.assign(output.sizes.begin(), output.sizes.end());
    view.strides.assign(output.sizes.size(), 0);
    const auto strides = RowMajorStrides(inputs[i].sizes);
    const size_t missing = output.sizes.size() - inputs[i].sizes.size();
    for (size_t d = 0; d < strides.size(); ++d) {
      if (inputs[i].sizes[d] != 1) view.strides[missing + d] = strides[d];
    }
  }
  if (num_elements_ == 0) {
    one_call_ = true;
    return;
  }
  CollapseTogether({views_.data(), num_inputs_});
  const size_t rank = views_[0].sizes.size();
  run_length_ = rank == 0 ? 1 : views_[0].sizes[rank - 1];

  // Within a run each operand is dense or a single element; a tile function takes at most one of
  // the latter.
  int scalar = -1, scalars = 0;
  for (unsigned i = 0; i < num_inputs_; ++i) {
    dense_[i] = rank == 0 || views_[i].strides[rank - 1] == 1;
    if (dense_[i]) continue;
    scalar = static_cast<int>(i);
    ++scalars;
  }
  const bool has_form = scalars == 0 || (scalars == 1 && tile.scalar[scalar]);
  if (has_form && (rank <= 1 || run_length_ >= kShortestRun)) {
    if (scalars == 1) function_ = tile.scalar[scalar];
    walk_ = rank <= 1 ? Walk::kWhole : Walk::kRuns;
    one_call_ = rank <= 1 && num_elements_ <= kGrainMoves;
    if (rank > 1) segments_ = (run_length_ + kGrainMoves - 1) / kGrainMoves;
    return;
  }
  walk_ = Walk::kGather;
  for (unsigned i = 0; i < num_inputs_; ++i) {
    views_[i].Collapse();
    dense_[i] = views_[i].sizes.size() == 1 && views_[i].strides[0] == 1;
  }
}

void ElementwiseState::RunPieces(const void* const* inputs, void* output,
                                 CPUContext& context) const {
  Pointers pointers{};
  bool in_place = false;
  for (unsigned i = 0; i < num_inputs_; ++i) {
    pointers[i] = static_cast<const char*>(inputs[i]);
    in_place |= inputs[i] == output;
  }
  char* out = static_cast<char*>(output);
  switch (walk_) {
    case Walk::kWhole: {
      const bool stream = exceeds_cache_ && !in_place;
      context.ParallelFor(num_elements_, kGrainMoves, [&](int64_t begin, int64_t end) {
        RunWhole(pointers, out, begin, end, stream);
      });
      return;
    }
    case Walk::kRuns: {
      const int64_t grain = std::max<int64_t>(1, kGrainMoves / run_length_);
      context.ParallelFor(num_elements_ / run_length_ * segments_, grain,
                          [&](int64_t begin, int64_t end) { RunRuns(pointers, out, begin, end); });
      return;
    }
    case Walk::kGather:
      context.ParallelFor(num_elements_, kGrainMoves, [&](int64_t begin, int64_t end) {
        RunGather(pointers, out, begin, end);
      });
      return;
  }
}

void ElementwiseState::RunWhole(const Pointers& inputs, char* output, int64_t begin, int64_t end,
                                bool stream) const {
  alignas(64) char buffer[kTile * kLargestElement];
  if (stream && function_ == tile_.dense && tile_.stream != nullptr &&
      reinterpret_cast<uintptr_t>(output + begin * output_size_) % 64 == 0) {
    const void* pointers[kMaxElementwiseInputs];
    for (unsigned i = 0; i < num_inputs_; ++i) pointers[i] = inputs[i] + begin * input_sizes_[i];
    tile_.stream(pointers, output + begin * output_size_, end - begin, tile_.parameters);
    StreamFence();
    return;
  }
  const int64_t step = stream ? kTile : end - begin;
  for (; begin < end; begin += step) {
    const int64_t n = std::min(step, end - begin);
    const void* pointers[kMaxElementwiseInputs];
    for (unsigned i = 0; i < num_inputs_; ++i) {
      pointers[i] = inputs[i] + (dense_[i] ? begin * input_sizes_[i] : 0);
    }
    char* out = output + begin * output_size_;
    function_(pointers, stream ? buffer : out, n, tile_.parameters);
    if (stream) StreamCopy(out, buffer, n * output_size_);
  }
  if (stream) StreamFence();
}

void ElementwiseState::RunRuns(const Pointers& inputs, char* output, int64_t begin,
                               int64_t end) const {
  const llvm::ArrayRef<int64_t> sizes = views_[0].sizes;
  const int outer = static_cast<int>(sizes.size()) - 1;
  llvm::SmallVector<int64_t, 16> index(outer);
  std::array<int64_t, kMaxElementwiseInputs> offsets{};  // of the current run, in elements
  int64_t run = begin / segments_;
  int64_t segment = begin % segments_;
  int64_t rest = run;
  for (int d = outer - 1; d >= 0; --d) {
    index[d] = rest % sizes[d];
    rest /= sizes[d];
    for (unsigned i = 0; i < num_inputs_; ++i) offsets[i] += index[d] * views_[i].strides[d];
  }
  for (; begin < end; ++begin) {
    const int64_t first = segment * kGrainMoves;
    const int64_t n = segments_ == 1 ? run_length_ : std::min(kGrainMoves, run_length_ - first);
    const void* pointers[kMaxElementwiseInputs];
    for (unsigned i = 0; i < num_inputs_; ++i) {
      pointers[i] = inputs[i] + (offsets[i] + (dense_[i] ? first : 0)) * input_sizes_[i];
    }
    function_(pointers, output + (run * run_length_ + first) * output_size_, n, tile_.parameters);
    if (++segment < segments_) continue;
    segment = 0;
    ++run;
    for (int d = outer - 1; d >= 0; --d) {
      for (unsigned i = 0; i < num_inputs_; ++i) offsets[i] += views_[i].strides[d];
      if (++index[d] < sizes[d]) break;
      for (unsigned i = 0; i < num_inputs_; ++i) offsets[i] -= index[d] * views_[i].strides[d];
      index[d] = 0;
    }
  }
}

void ElementwiseState::RunGather(const Pointers& inputs, char* output, int64_t begin,
                                 int64_t end) const {
  alignas(64) char buffers[kMaxElementwiseInputs][kTile * kLargestElement];
  for (; begin < end; begin += kTile) {
    const int64_t n = std::min(kTile, end - begin);
    const void* pointers[kMaxElementwiseInputs];
    for (unsigned i = 0; i < num_inputs_; ++i) {
      if (dense_[i]) {
        pointers[i] = inputs[i] + begin * input_sizes_[i];
        continue;
      }
      CopyElements(views_[i], inputs[i], buffers[i], input_sizes_[i], begin, begin + n);
      pointers[i] = buffers[i];
    }
    function_(pointers, output + begin * output_size_, n, tile_.parameters);
  }
}

/// Whether each size, counted from the end, is that of the result or 1.
static bool Broadcasts(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> result) {
  if (sizes.size() > result.size()) return false;
  for (const auto& [size, of_result] : llvm::zip(sizes, result.take_back(sizes.size())))
    if (size != 1 && size != of_result) return false;
  return true;
}

llvm::Expected<std::shared_ptr<CallState>> PrepareElementwise(const Tile& tile,
                                                              llvm::ArrayRef<OperandType> inputs,
                                                              const OperandType& output) {
  if (tile.dense == nullptr) {
    std::string types;
    for (const OperandType& input : inputs)
      types += (types.empty() ? "" : ", ") + TensorTypeToString(input.dtype, input.sizes);
    return MakeUserError(Code::kOperatorUse,
                         "it has no kernel for elements of {0} and a result {1}", types,
                         TensorTypeToString(output.dtype, output.sizes));
  }
  for (const OperandType& input : inputs)
    if (!Broadcasts(input.sizes, output.sizes))
      return MakeUserError(Code::kOperatorUse,
                           "an operand {0} does not broadcast to the result {1}",
                           TensorTypeToString(input.dtype, input.sizes),
                           TensorTypeToString(output.dtype, output.sizes));
  return std::make_shared<ElementwiseState>(tile, inputs, output);
}

void RunElementwise(const CallState& state, llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
                    CPUContext& context) {
  static_cast<const ElementwiseState&>(state).Run(inputs, output, context);
}

}  // namespace pdl
