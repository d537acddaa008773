#include "runtime/fused_layout.h"

#include <algorithm>

namespace pdl {
namespace {

/// Shorter rows are not processed individually.
constexpr int64_t kShortRow = 256;

/// The strides of an input along the result's dims, in elements; 0 where it is broadcast.
llvm::SmallVector<int64_t, 6> BroadcastStrides(const Sizes& input, const Sizes& result) {
  llvm::SmallVector<int64_t, 6> strides(result.size(), 0);
  size_t offset = result.size() - input.size();
  int64_t stride = 1;
  for (size_t axis = input.size(); axis-- > 0;) {
    if (input[axis] != 1) strides[offset + axis] = stride;
    stride *= input[axis];
  }
  return strides;
}

/// Expansion pays off for short rows, and for longer ones if it is done once and several rows fit.
void ChooseExpansion(FusedLayout* layout) {
  int64_t count = 0, largest = 1;
  bool once = true;
  for (const FusedInput& access : layout->inputs) {
    if (access.kind != FusedInput::Kind::kBroadcast) continue;
    ++count;
    largest = std::max(largest, access.element_size);
    once &= IsOneRow(access);
  }
  layout->expanded_bytes = kExpandedBytes / count / kLineBytes * kLineBytes;
  layout->expanded_tile = std::min(kMaxFusedTile, layout->expanded_bytes / largest);
  layout->expands =
      layout->length < kShortRow || (once && layout->length * 2 <= layout->expanded_tile);
}

}  // namespace

std::shared_ptr<FusedLayout> MakeFusedLayout(llvm::ArrayRef<OperandType> inputs,
                                             const std::vector<bool>& is_in_tiles,
                                             const OperandType& result) {
  auto layout = std::make_shared<FusedLayout>();
  layout->total = result.num_elements();
  llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4> strides;
  for (size_t i = 0; i < inputs.size(); ++i) {
    strides.push_back(is_in_tiles[i] ? BroadcastStrides(inputs[i].sizes, result.sizes)
                                     : llvm::SmallVector<int64_t, 6>(result.sizes.size(), 0));
  }

  // Merge adjacent dims with uniform strides in all inputs; drop dims of size 1.
  llvm::SmallVector<int64_t, 6> dims;
  llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4> merged(inputs.size());
  for (size_t axis = 0; axis < result.sizes.size(); ++axis) {
    int64_t size = result.sizes[axis];
    if (size == 1) continue;
    bool merges = !dims.empty();
    for (size_t i = 0; i < inputs.size() && merges; ++i)
      merges = merged[i].back() == strides[i][axis] * size;
    if (merges) {
      dims.back() *= size;
      for (size_t i = 0; i < inputs.size(); ++i) merged[i].back() = strides[i][axis];
    } else {
      dims.push_back(size);
      for (size_t i = 0; i < inputs.size(); ++i) merged[i].push_back(strides[i][axis]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (auto& m : merged) m.push_back(0);
  }
  layout->length = dims.back();
  layout->outer.assign(dims.begin(), dims.end() - 1);
  for (int64_t size : layout->outer) layout->rows *= size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    FusedInput access;
    access.element_size = DTypeSize(inputs[i].dtype);
    access.inner_stride = merged[i].back();
    access.outer_strides.assign(merged[i].begin(), merged[i].end() - 1);
    if (layout->total == 1) {
      access.kind = FusedInput::Kind::kDense;
    } else if (inputs[i].num_elements() == 1 || !is_in_tiles[i]) {
      access.kind = FusedInput::Kind::kScalar;
    } else if (inputs[i].num_elements() == layout->total) {
      access.kind = FusedInput::Kind::kDense;
    } else {
      access.kind = FusedInput::Kind::kBroadcast;
      layout->flat = false;
    }
    layout->inputs.push_back(std::move(access));
  }
  if (layout->flat) {
    layout->length = layout->total;
    layout->rows = 1;
    layout->outer.clear();
  } else {
    ChooseExpansion(layout.get());
  }
  return layout;
}

}  // namespace pdl
