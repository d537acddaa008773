// Makes the AxisMaps of pad, flip, roll and tile from their attributes, for both devices.
#ifndef PDL_KERNELS_INDEXING_MAKE_AXIS_MAPS_H_
#define PDL_KERNELS_INDEXING_MAKE_AXIS_MAPS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/indexing/axis_map.cuh"
#include "llvm/ADT/SmallVector.h"
#include "pdl/op/operator.h"

namespace pdl {

/// A map for each axis of the result. `from` and `to` are the sizes of input and result, made equal
/// in rank by inserting ones or merging axes.
struct AxisMaps {
  Sizes from, to;
  llvm::SmallVector<AxisMap, 4> axes;

  /// Whether the axis is copied unchanged.
  bool is_identity(size_t axis) const {
    const AxisMap& map = axes[axis];
    return from[axis] == to[axis] && map.start == 0 && map.shift == 0 && map.size == from[axis] &&
           (map.rule != AxisRule::kFlip || map.size <= 1);
  }
  bool is_identity() const {
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (!is_identity(axis)) return false;
    }
    return true;
  }

  /// Merges adjacent axes that are copied unchanged.
  void Collapse() {
    size_t kept = 0;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (kept > 0 && is_identity(kept - 1) && is_identity(axis)) {
        from[kept - 1] = to[kept - 1] = axes[kept - 1].size = from[kept - 1] * from[axis];
        axes[kept - 1].rule = AxisRule::kFill;
        continue;
      }
      from[kept] = from[axis];
      to[kept] = to[axis];
      axes[kept] = axes[axis];
      ++kept;
    }
    from.resize(kept);
    to.resize(kept);
    axes.resize(kept);
  }
};

namespace detail {

inline AxisMaps IdentityMaps(llvm::ArrayRef<int64_t> sizes) {
  AxisMaps maps;
  maps.from.assign(sizes.begin(), sizes.end());
  maps.to = maps.from;
  for (const int64_t size : sizes) maps.axes.push_back({AxisRule::kFill, 0, size, 0});
  return maps;
}

/// The axis of entry i of the attribute `axes`; axis i if it is not given.
inline size_t AxisOf(const AttributeReader& attributes, size_t i, size_t rank) {
  if (!attributes.Has("axes")) return i;
  const int64_t axis = attributes.Ints("axes")[i];
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

}  // namespace detail

inline llvm::Expected<AxisMaps> PadMaps(const AttributeReader& attributes,
                                        const PrepareContext& context) {
  AxisMaps maps = detail::IdentityMaps(context.inputs()[0].sizes);
  const llvm::StringRef mode = attributes.String("mode");
  const AxisRule rule = mode == "reflect" ? AxisRule::kReflect
                        : mode == "edge"  ? AxisRule::kEdge
                        : mode == "wrap"  ? AxisRule::kWrap
                                          : AxisRule::kFill;
  const Shape& before = attributes.Dims("before");
  const Shape& after = attributes.Dims("after");
  for (size_t i = 0; i < before.size(); ++i) {
    auto front = context.Evaluate(before[i]);
    if (!front) return front.takeError();
    auto back = context.Evaluate(after[i]);
    if (!back) return back.takeError();
    const size_t axis = detail::AxisOf(attributes, i, maps.from.size());
    AxisMap& map = maps.axes[axis];
    map.rule = rule;
    map.start = std::max<int64_t>(-*front, 0);
    map.size = maps.from[axis] - map.start - std::max<int64_t>(-*back, 0);
    map.shift = std::max<int64_t>(*front, 0);
    maps.to[axis] = context.outputs()[0].sizes[axis];
  }
  return maps;
}

inline llvm::Expected<AxisMaps> FlipMaps(const AttributeReader& attributes,
                                         const PrepareContext& context) {
  AxisMaps maps = detail::IdentityMaps(context.inputs()[0].sizes);
  const size_t count = attributes.Has("axes") ? attributes.Ints("axes").size() : maps.axes.size();
  for (size_t i = 0; i < count; ++i) {
    maps.axes[detail::AxisOf(attributes, i, maps.axes.size())].rule = AxisRule::kFlip;
  }
  return maps;
}

inline llvm::Expected<AxisMaps> RollMaps(const AttributeReader& attributes,
                                         const PrepareContext& context) {
  const OperandType& x = context.inputs()[0];
  AxisMaps maps = attributes.Has("axes") ? detail::IdentityMaps(x.sizes)
                                         : detail::IdentityMaps({x.num_elements()});
  const Shape& shifts = attributes.Dims("shifts");
  for (size_t i = 0; i < shifts.size(); ++i) {
    auto shift = context.Evaluate(shifts[i]);
    if (!shift) return shift.takeError();
    AxisMap& map = maps.axes[detail::AxisOf(attributes, i, maps.axes.size())];
    map.rule = AxisRule::kWrap;
    if (map.size > 0) map.shift = (*shift % map.size + map.size) % map.size;
  }
  return maps;
}

inline llvm::Expected<AxisMaps> TileMaps(const AttributeReader&, const PrepareContext& context) {
  const Sizes& to = context.outputs()[0].sizes;
  Sizes from = context.inputs()[0].sizes;
  from.insert(from.begin(), to.size() - from.size(), 1);
  AxisMaps maps = detail::IdentityMaps(from);
  maps.to = to;
  for (AxisMap& map : maps.axes) map.rule = AxisRule::kWrap;
  return maps;
}

}  // namespace pdl

#endif  // PDL_KERNELS_INDEXING_MAKE_AXIS_MAPS_H_
