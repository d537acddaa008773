// Export of operators that move elements, and of reshapes.
#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

Exported Reshape(ExportCall& c) {
  llvm::Expected<std::string> y = c.Reshape(c.In(0), c.type(0).dims, c.result().dims);
  if (!y) return y.takeError();
  return *y;
}

Exported Squeeze(ExportCall& c) {
  std::vector<int64_t> axes = c.Axes("axes", c.type(0).rank());
  if (!c.attributes().Has("axes"))
    llvm::erase_if(axes, [&](int64_t axis) {
      return !c.type(0).dims[static_cast<size_t>(axis)].is_constant(1);
    });
  return c.Squeeze(c.In(0), axes);
}

Exported Unsqueeze(ExportCall& c) {
  return c.Unsqueeze(c.In(0), c.Axes("axes", c.result().rank()));
}

Exported BroadcastTo(ExportCall& c) {
  llvm::Expected<std::string> sizes = c.Sizes(c.result().dims);
  if (!sizes) return sizes.takeError();
  const DType dtype = RepeatedDType(c.dtype());
  return c.Out(c.Node("Expand", {c.In(0, dtype), *sizes}), dtype);
}

Exported Transpose(ExportCall& c) {
  std::vector<int64_t> perm = c.Axes("perm", c.type(0).rank());
  if (!c.attributes().Has("perm")) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.Transpose(c.In(0), perm);
}

Exported Concat(ExportCall& c) {
  std::vector<std::string> parts;
  for (unsigned i = 0; i < c.num_inputs(); ++i) parts.push_back(c.In(i));
  return c.Node("Concat", parts, {{"axis", c.Axis("axis", c.result().rank())}});
}

Exported Stack(ExportCall& c) {
  const int64_t axis = c.Axis("axis", c.result().rank());
  std::vector<std::string> parts;
  for (unsigned i = 0; i < c.num_inputs(); ++i) parts.push_back(c.Unsqueeze(c.In(i), {axis}));
  return c.Node("Concat", parts, {{"axis", axis}});
}

Exported Split(ExportCall& c) {
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  Shape sizes;
  for (const Value* result : c.op().results())
    sizes.push_back(result->type().dims[static_cast<size_t>(axis)]);
  llvm::Expected<std::string> split = c.Sizes(sizes);
  if (!split) return split.takeError();
  return c.Nodes("Split", {c.In(0), *split}, {{"axis", axis}}, static_cast<unsigned>(sizes.size()));
}

Exported Slice(ExportCall& c) {
  const std::vector<int64_t> axes = c.Axes("axes", c.type(0).rank());
  llvm::Expected<std::string> starts = c.Sizes(c.attributes().Dims("starts"));
  if (!starts) return starts.takeError();
  llvm::Expected<std::string> stops = c.Sizes(c.attributes().Dims("stops"));
  if (!stops) return stops.takeError();
  std::vector<std::string> inputs = {c.In(0), *starts, *stops, c.Ints(axes)};
  if (c.attributes().Has("steps") && !c.attributes().Ints("steps").empty())
    inputs.push_back(c.Ints(c.attributes().Ints("steps")));
  return c.Node("Slice", inputs);
}

Exported Flip(ExportCall& c) {
  const std::vector<int64_t> axes = c.Axes("axes", c.type(0).rank());
  if (axes.empty()) return c.In(0);
  const std::vector<int64_t> last(axes.size(), -1), before(axes.size(), INT64_MIN + 1);
  return c.Node("Slice", {c.In(0), c.Ints(last), c.Ints(before), c.Ints(axes), c.Ints(last)});
}

/// The elements from `at` on, followed by those before it.
std::string Rotate(ExportCall& c, const std::string& x, const std::string& at, int64_t axis) {
  const std::string axes = c.Ints({axis});
  const std::string back = c.Node("Slice", {x, at, c.Ints({INT64_MAX}), axes});
  const std::string front = c.Node("Slice", {x, c.Ints({0}), at, axes});
  return c.Node("Concat", {back, front}, {{"axis", axis}});
}

Exported Roll(ExportCall& c) {
  const Shape& shifts = c.attributes().Dims("shifts");
  std::string x = c.In(0);
  const bool is_flat = !c.attributes().Has("axes");
  Shape dims(c.type(0).dims.begin(), c.type(0).dims.end());
  if (is_flat) {
    dims = {NumElements(c.type(0).dims)};
    x = c.Node("Reshape", {x, c.Ints({-1})});
  }
  const std::vector<int64_t> axes =
      is_flat ? std::vector<int64_t>{0} : c.Axes("axes", c.type(0).rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& size = dims[static_cast<size_t>(axes[i])];
    if (size.is_constant(0)) continue;
    // An empty dim can be cut anywhere.
    llvm::Expected<std::string> at = c.Size(
        Dim::Mod(Dim(0) - shifts[std::min<size_t>(i, shifts.size() - 1)], Dim::Max(size, 1)));
    if (!at) return at.takeError();
    x = Rotate(c, x, *at, axes[i]);
  }
  if (!is_flat) return x;
  llvm::Expected<std::string> y = c.Reshape(x, dims, c.result().dims);
  if (!y) return y.takeError();
  return *y;
}

Exported Tile(ExportCall& c) {
  const Shape& repeats = c.attributes().Dims("repeats");
  const unsigned rank = c.result().rank();
  Shape all(rank - repeats.size(), Dim(1));
  all.append(repeats.begin(), repeats.end());
  std::vector<int64_t> front(rank - c.type(0).rank());
  std::iota(front.begin(), front.end(), 0);
  llvm::Expected<std::string> counts = c.Sizes(all);
  if (!counts) return counts.takeError();
  const DType dtype = RepeatedDType(c.dtype());
  return c.Out(c.Node("Tile", {c.Unsqueeze(c.In(0, dtype), front), *counts}), dtype);
}

/// The positions of the elements of an axis after mode "reflect" of Pad.
std::vector<int64_t> ReflectedPositions(int64_t size, int64_t before, int64_t after) {
  std::vector<int64_t> positions;
  // Positions repeat after walking to the last one and back.
  const int64_t period = std::max<int64_t>(2 * size - 2, 1);
  for (int64_t i = -before; i < size + after; ++i) {
    const int64_t at = (i % period + period) % period;
    positions.push_back(std::min(at, period - at));
  }
  return positions;
}

/// Adds elements in mode "reflect" to the axes that have fewer elements than are added, where ONNX
/// Runtime rejects Pad; their counts in `added`, first those before each axis, become 0. Only if
/// sizes are known.
std::string ReflectSmallAxes(ExportCall& c, std::string x, llvm::ArrayRef<int64_t> axes,
                             llvm::ArrayRef<Dim> sizes, Shape* added) {
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim &before = (*added)[i], &after = (*added)[axes.size() + i];
    if (!sizes[i].is_constant() || !before.is_constant() || !after.is_constant()) continue;
    const int64_t size = sizes[i].constant();
    if (size == 0 || std::max(before.constant(), after.constant()) < size) continue;
    const std::string positions =
        c.Ints(ReflectedPositions(size, before.constant(), after.constant()));
    x = c.Node("Gather", {x, positions}, {{"axis", axes[i]}});
    before = after = Dim(0);
  }
  return x;
}

/// Removes elements first, then adds others.
Exported Pad(ExportCall& c) {
  const unsigned rank = c.type(0).rank();
  const std::vector<int64_t> axes = c.Axes("axes", rank);
  const Shape &before = c.attributes().Dims("before"), &after = c.attributes().Dims("after");
  const auto at = [](const Shape& counts, size_t i) { return counts[counts.size() == 1 ? 0 : i]; };
  Shape added, starts, stops, sizes;
  bool takes_off = false;
  for (const Shape* counts : {&before, &after}) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim count = at(*counts, i);
      const bool is_never_negative = count.ProvablyAtLeast(0);
      takes_off |= !is_never_negative;
      added.push_back(is_never_negative ? count : Dim::Max(count, 0));
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    starts.push_back(Dim(0) - Dim::Min(at(before, i), 0));
    stops.push_back(c.type(0).dims[static_cast<size_t>(axes[i])] + Dim::Min(at(after, i), 0));
    sizes.push_back(stops[i] - starts[i]);
  }
  std::string x = c.In(0);
  if (takes_off) {
    llvm::Expected<std::string> from = c.Sizes(starts);
    if (!from) return from.takeError();
    llvm::Expected<std::string> to = c.Sizes(stops);
    if (!to) return to.takeError();
    x = c.Node("Slice", {x, *from, *to, c.Ints(axes)});
  }
  const std::string mode = c.attributes().String("mode").str();
  if (mode == "reflect") x = ReflectSmallAxes(c, std::move(x), axes, sizes, &added);
  llvm::Expected<std::string> pads = c.Sizes(added);
  if (!pads) return pads.takeError();
  // Bools are padded as numbers.
  const DType dtype = c.dtype() == DType::kBool ? DType::kU8 : RepeatedDType(c.dtype());
  if (dtype != c.dtype()) x = c.Cast(x, dtype);
  std::string value;
  if (mode == "constant") value = c.Scalar(c.attributes().Float("value"), dtype);
  return c.Out(c.Node("Pad", {x, *pads, value, c.Ints(axes)}, {{"mode", mode}}), dtype);
}

Exported Triangle(ExportCall& c) {
  // ONNX Runtime supports f32, f64, i64 and bool.
  const DType own = c.dtype();
  const bool is_known =
      own == DType::kF32 || own == DType::kF64 || own == DType::kI64 || own == DType::kBool;
  const DType dtype = is_known ? own : IsFloat(own) ? DType::kF32 : DType::kI64;
  const std::string k = c.Integer(c.attributes().Int("k"));
  return c.Out(c.Node("Trilu", {c.In(0, dtype), k}, {{"upper", int64_t{c.op().type() == "triu"}}}),
               dtype);
}

/// A bool matrix of these sizes that is true on the diagonal column - row == k.
llvm::Expected<std::string> IsOnDiagonal(ExportCall& c, const Dim& rows, const Dim& columns,
                                         int64_t k) {
  const auto indices = [&](const Dim& size) -> llvm::Expected<std::string> {
    llvm::Expected<std::string> count = c.Number(size, DType::kI64);
    if (!count) return count.takeError();
    return c.Node("Range", {c.Scalar(0, DType::kI64), *count, c.Scalar(1, DType::kI64)});
  };
  llvm::Expected<std::string> row = indices(rows);
  if (!row) return row.takeError();
  llvm::Expected<std::string> column = indices(columns);
  if (!column) return column.takeError();
  const std::string diagonal = c.Node("Add", {c.Unsqueeze(*row, {1}), c.Integer(k)});
  return c.Node("Equal", {diagonal, *column});
}

Exported Eye(ExportCall& c) {
  const Shape& dims = c.attributes().Dims("dims");
  const size_t rank = dims.size();
  llvm::Expected<std::string> diagonal =
      IsOnDiagonal(c, dims[rank - 2], dims[rank - 1], c.attributes().Int("k"));
  if (!diagonal) return diagonal.takeError();
  const DType dtype = rank == 2 ? c.dtype() : RepeatedDType(c.dtype());
  const std::string ones = c.Cast(*diagonal, dtype);
  if (rank == 2) return ones;
  llvm::Expected<std::string> sizes = c.Sizes(dims);
  if (!sizes) return sizes.takeError();
  return c.Out(c.Node("Expand", {ones, *sizes}), dtype);
}

/// The rows of x, shifted by k, on the diagonal, and 0 elsewhere.
Exported Diag(ExportCall& c) {
  const Shape& dims = c.result().dims;
  const size_t rank = dims.size();
  const int64_t k = c.attributes().Int("k");
  llvm::Expected<std::string> diagonal = IsOnDiagonal(c, dims[rank - 2], dims[rank - 1], k);
  if (!diagonal) return diagonal.takeError();
  const DType own = c.dtype();
  const DType dtype = own == DType::kBool ? DType::kU8
                      : own == DType::kI8 ? DType::kI32
                                          : RepeatedDType(own);
  std::string x = c.In(0, dtype);
  // Column j of the result has element j - k on the diagonal if k is positive, else element j.
  if (k > 0) x = c.Node("Pad", {x, c.Ints({k, 0}), c.Scalar(0, dtype), c.Ints({-1})});
  if (k < 0) x = c.Node("Pad", {x, c.Ints({0, -k}), c.Scalar(0, dtype), c.Ints({-1})});
  const std::string rows = c.Unsqueeze(x, {static_cast<int64_t>(rank) - 2});
  return c.Out(c.Node("Where", {*diagonal, rows, c.Scalar(0, dtype)}), dtype);
}

/// Gathers rows of the flat matrix: the elements of the diagonal are M + 1 apart.
Exported Diagonal(ExportCall& c) {
  const Shape& dims = c.type(0).dims;
  const size_t rank = dims.size();
  const int64_t k = c.attributes().Int("k");
  const Dim &columns = dims[rank - 1], &length = c.result().dims[rank - 2];
  Shape flat(dims.begin(), dims.end() - 2);
  flat.push_back(dims[rank - 2] * columns);
  llvm::Expected<std::string> x = c.Reshape(c.In(0), dims, flat);
  if (!x) return x.takeError();
  llvm::Expected<std::string> count = c.Number(length, DType::kI64);
  if (!count) return count.takeError();
  llvm::Expected<std::string> step = c.Number(columns + 1, DType::kI64);
  if (!step) return step.takeError();
  llvm::Expected<std::string> first = c.Number(k >= 0 ? Dim(k) : columns * Dim(-k), DType::kI64);
  if (!first) return first.takeError();
  const std::string indices =
      c.Node("Range", {c.Scalar(0, DType::kI64), *count, c.Scalar(1, DType::kI64)});
  const std::string at = c.Node("Add", {c.Node("Mul", {indices, *step}), *first});
  return c.Node("Gather", {*x, at}, {{"axis", static_cast<int64_t>(rank) - 2}});
}

/// Moves blocks of [N, C, S...] in either direction: a reshape, a transposition and a reshape.
Exported Blocks(ExportCall& c) {
  const bool to_space = c.op().type() == "depth_to_space";
  const Shape& small = to_space ? c.type(0).dims : c.result().dims;
  const Shape& large = to_space ? c.result().dims : c.type(0).dims;
  const size_t spatial = small.size() - 2;
  const int64_t block = c.attributes().Int("block");
  const bool is_dcr = c.attributes().String("mode") == "dcr";
  const auto n = static_cast<int64_t>(spatial);
  // Small: N, then C and the positions in a block in the order of the mode, then S...
  Shape apart = {small[0]};
  const int64_t channel = is_dcr ? 1 + n : 1, first_offset = is_dcr ? 1 : 2;
  if (!is_dcr) apart.push_back(large[1]);
  apart.append(spatial, Dim(block));
  if (is_dcr) apart.push_back(large[1]);
  apart.append(small.begin() + 2, small.end());
  // Large: N, C, then each S with the position in a block.
  std::vector<int64_t> perm = {0, channel};
  Shape joined = {large[0], large[1]};
  for (int64_t i = 0; i < n; ++i) {
    perm.push_back(2 + n + i);
    perm.push_back(first_offset + i);
    joined.push_back(small[static_cast<size_t>(2 + i)]);
    joined.push_back(Dim(block));
  }
  if (!to_space) {
    std::vector<int64_t> back(perm.size());
    for (size_t i = 0; i < perm.size(); ++i)
      back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    perm = back;
    std::swap(apart, joined);
  }
  llvm::Expected<std::string> parts = c.Reshape(c.In(0), c.type(0).dims, apart);
  if (!parts) return parts.takeError();
  llvm::Expected<std::string> y = c.Reshape(c.Transpose(*parts, perm), joined, c.result().dims);
  if (!y) return y.takeError();
  return *y;
}

constexpr ExportRule kShapeRules[] = {
    {"reshape", Reshape},
    {"flatten", Reshape},
    {"squeeze", Squeeze},
    {"unsqueeze", Unsqueeze},
    {"broadcast_to", BroadcastTo},
    {"transpose", Transpose},
    {"concat", Concat},
    {"stack", Stack},
    {"split", Split},
    {"slice", Slice},
    {"flip", Flip},
    {"roll", Roll},
    {"tile", Tile},
    {"pad", Pad},
    {"tril", Triangle},
    {"triu", Triangle},
    {"eye", Eye},
    {"diag", Diag},
    {"diagonal", Diagonal},
    {"depth_to_space", Blocks},
    {"space_to_depth", Blocks},
};

}  // namespace

llvm::ArrayRef<ExportRule> ShapeExportRules() { return kShapeRules; }

}  // namespace pdl
