// Export of indexing and of sorting.
#include <limits>
#include <numeric>

#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// The dtype in which ONNX Runtime scatters and sorts: f32 for bf16, i32 for small integers.
DType MovedDType(DType dtype) { return ComputeDType(dtype); }

Exported Gather(ExportCall& c) {
  return c.Node("Gather", {c.In(0), c.In(1)}, {{"axis", c.Axis("axis", c.type(0).rank())}});
}

Exported GatherNd(ExportCall& c) {
  return c.Node("GatherND", {c.In(0), c.In(1, DType::kI64)},
                {{"batch_dims", c.attributes().Int("batch_dims")}});
}

/// Dims other than the axis are broadcast.
Exported TakeAlongAxis(ExportCall& c) {
  const unsigned rank = c.type(0).rank();
  const int64_t axis = c.Axis("axis", rank);
  const Shape& result = c.result().dims;
  const DType dtype = RepeatedDType(c.dtype());
  std::string operands[2] = {c.In(0, dtype), c.In(1)};
  for (unsigned i = 0; i < 2; ++i) {
    Shape expected(result.begin(), result.end());
    expected[static_cast<size_t>(axis)] = c.type(i).dims[static_cast<size_t>(axis)];
    if (expected == c.type(i).dims) continue;
    llvm::Expected<std::string> sizes = c.Sizes(expected);
    if (!sizes) return sizes.takeError();
    operands[i] = c.Node("Expand", {operands[i], *sizes});
  }
  return c.Out(c.Node("GatherElements", {operands[0], operands[1]}, {{"axis", axis}}), dtype);
}

std::string Reduction(ExportCall& c) { return c.attributes().String("reduction").str(); }

Exported Scatter(ExportCall& c) {
  const DType dtype = Reduction(c) == "none" ? MovedDType(c.dtype()) : WideDType(c.dtype());
  return c.Out(c.Node("ScatterElements", {c.In(0, dtype), c.In(1), c.In(2, dtype)},
                      {{"axis", c.Axis("axis", c.type(0).rank())}, {"reduction", Reduction(c)}}),
               dtype);
}

Exported ScatterNd(ExportCall& c) {
  if (c.attributes().Int("batch_dims") != 0) return c.Reject("ScatterND has no batch_dims");
  const DType dtype = Reduction(c) == "none" ? MovedDType(c.dtype()) : WideDType(c.dtype());
  return c.Out(c.Node("ScatterND", {c.In(0, dtype), c.In(1, DType::kI64), c.In(2, dtype)},
                      {{"reduction", Reduction(c)}}),
               dtype);
}

/// Along the first axis this is ScatterND with indices [..., 1].
Exported ScatterAdd(ExportCall& c) {
  const DType dtype = WideDType(c.dtype());
  const unsigned rank = c.type(0).rank(), indices = c.type(1).rank();
  const int64_t axis = c.Axis("axis", rank);
  const auto to_front = [&](int64_t total, int64_t from, int64_t count) {
    std::vector<int64_t> perm(static_cast<size_t>(count));
    std::iota(perm.begin(), perm.end(), from);
    for (int64_t i = 0; i < total; ++i)
      if (i < from || i >= from + count) perm.push_back(i);
    return perm;
  };
  const std::vector<int64_t> perm = to_front(rank, axis, 1);
  std::vector<int64_t> back(rank);
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const std::string x = c.Transpose(c.In(0, dtype), perm);
  const std::string updates =
      c.Transpose(c.In(2, dtype), to_front(c.type(2).rank(), axis, indices));
  const std::string positions = c.Unsqueeze(c.In(1, DType::kI64), {int64_t{indices}});
  const std::string y =
      c.Node("ScatterND", {x, positions, updates}, {{"reduction", std::string("add")}});
  return c.Out(c.Transpose(y, back), dtype);
}

/// Concatenates the elements before the value, the value, and the elements after it.
Exported Write(ExportCall& c) {
  const unsigned rank = c.type(0).rank();
  const int64_t axis = c.Axis("axis", rank);
  const Dim &size = c.type(0).dims[static_cast<size_t>(axis)],
            &count = c.type(1).dims[static_cast<size_t>(axis)];
  llvm::Expected<std::string> whole = c.Number(size, DType::kI64);
  if (!whole) return whole.takeError();
  llvm::Expected<std::string> part = c.Number(count, DType::kI64);
  if (!part) return part.takeError();
  const std::string zero = c.Scalar(0, DType::kI64), given = c.In(2, DType::kI64);
  const std::string is_from_end = c.Node("Less", {given, zero});
  const std::string at = c.Node("Where", {is_from_end, c.Node("Add", {given, *whole}), given});
  // Each position takes its element from the new value, if that reaches it, and otherwise from x,
  // which follows it.
  const std::string positions = c.Node("Range", {zero, *whole, c.Scalar(1, DType::kI64)});
  const std::string offsets = c.Node("Sub", {positions, at});
  const std::string is_written =
      c.Node("And", {c.Node("GreaterOrEqual", {offsets, zero}), c.Node("Less", {offsets, *part})});
  const std::string sources =
      c.Node("Where", {is_written, offsets, c.Node("Add", {positions, *part})});
  const std::string both = c.Node("Concat", {c.In(1), c.In(0)}, {{"axis", axis}});
  return c.Node("Gather", {both, sources}, {{"axis", axis}});
}

Exported OneHot(ExportCall& c) {
  llvm::Expected<std::string> depth = c.Number(c.result().dims.back(), DType::kI64);
  if (!depth) return depth.takeError();
  const DType own = c.dtype();
  const DType dtype = own == DType::kI64 ? own : DType::kF32;
  const float numbers[] = {0, 1};
  const int64_t integers[] = {0, 1};
  const std::string values =
      c.Constant(dtype == DType::kF32 ? Constant::Copy(dtype, {2}, numbers)
                                      : Constant::Copy(dtype, {2}, integers));
  const std::string indices = c.In(0, DType::kI64);
  if (!c.type(0).is_scalar()) return c.Out(c.Node("OneHot", {indices, *depth, values}), dtype);
  const std::string rows = c.Node("OneHot", {c.Unsqueeze(indices, {0}), *depth, values});
  return c.Out(c.Squeeze(rows, {0}), dtype);
}

llvm::Expected<std::vector<std::string>> Largest(ExportCall& c, const Dim& count, int64_t axis,
                                                 bool largest) {
  const DType dtype = MovedDType(c.type(0).dtype);
  llvm::Expected<std::string> k = c.Size(count);
  if (!k) return k.takeError();
  std::vector<std::string> names =
      c.Nodes("TopK", {c.In(0, dtype), *k},
              {{"axis", axis}, {"largest", int64_t{largest}}, {"sorted", int64_t{1}}}, 2);
  if (c.type(0).dtype != dtype) names[0] = c.Cast(names[0], c.type(0).dtype);
  return names;
}

Exported TopK(ExportCall& c) {
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  llvm::Expected<std::vector<std::string>> names =
      Largest(c, c.result().dims[static_cast<size_t>(axis)], axis, c.attributes().Bool("largest"));
  if (!names) return names.takeError();
  return *names;
}

Exported Sort(ExportCall& c) {
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  llvm::Expected<std::vector<std::string>> names = Largest(
      c, c.type(0).dims[static_cast<size_t>(axis)], axis, c.attributes().Bool("descending"));
  if (!names) return names.takeError();
  if (c.op().type() == "argsort") return (*names)[1];
  return *names;
}

Exported Nonzero(ExportCall& c) {
  const DType dtype = c.type(0).dtype == DType::kBool ? DType::kBool : MovedDType(c.type(0).dtype);
  const std::string positions = c.Transpose(c.Node("NonZero", {c.In(0, dtype)}), {1, 0});
  if (c.type(0).rank() > 0) return positions;
  // The index of a scalar is empty.
  return c.Node("Slice", {positions, c.Ints({0}), c.Ints({0}), c.Ints({1})});
}

Exported Unique(ExportCall& c) {
  const DType own = MovedDType(c.type(0).dtype);
  const DType dtype = own == DType::kI32 ? DType::kI64 : own;
  const std::vector<std::string> names =
      c.Nodes("Unique", {c.In(0, dtype)}, {{"sorted", int64_t{c.attributes().Bool("sorted")}}}, 4);
  return std::vector<std::string>{c.Out(names[0], dtype), names[2], names[3], names[1]};
}

/// Reverses the first `lengths` steps of each row of [N, T, ...], or all steps.
Exported SequenceReverse(ExportCall& c) {
  const DType dtype = MovedDType(c.dtype());
  const std::string x = c.In(0, dtype);
  const Dim& steps = c.type(0).dims[1];
  if (c.num_inputs() == 1) {
    constexpr int64_t kBeforeBegin = std::numeric_limits<int64_t>::min();
    return c.Out(
        c.Node("Slice", {x, c.Ints({-1}), c.Ints({kBeforeBegin}), c.Ints({1}), c.Ints({-1})}),
        dtype);
  }
  llvm::Expected<std::string> most = c.Number(steps, DType::kI64);
  if (!most) return most.takeError();
  const std::string lengths =
      c.Node("Max", {c.Node("Min", {c.In(1), *most}), c.Scalar(0, DType::kI64)});
  return c.Out(c.Node("ReverseSequence", {x, lengths},
                      {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}),
               dtype);
}

constexpr ExportRule kIndexRules[] = {
    {"gather", Gather},
    {"gather_nd", GatherNd},
    {"take_along_axis", TakeAlongAxis},
    {"scatter", Scatter},
    {"scatter_nd", ScatterNd},
    {"scatter_add", ScatterAdd},
    {"write", Write},
    {"one_hot", OneHot},
    {"topk", TopK},
    {"sort", Sort},
    {"argsort", Sort},
    {"nonzero", Nonzero},
    {"unique", Unique},
    {"sequence_reverse", SequenceReverse},
};

}  // namespace

llvm::ArrayRef<ExportRule> IndexExportRules() { return kIndexRules; }

}  // namespace pdl
