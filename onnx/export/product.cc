// Export of matmuls, and of operators built from them.
#include <cmath>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "onnx/export/call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// Transposes the last two axes.
std::string SwapLastAxes(ExportCall& c, const std::string& x, unsigned rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return c.Transpose(x, perm);
}

Exported MatMul(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  std::string a = c.In(0, dtype), b = c.In(1, dtype);
  if (c.attributes().Bool("transpose_a")) a = SwapLastAxes(c, a, c.type(0).rank());
  if (c.attributes().Bool("transpose_b")) b = SwapLastAxes(c, b, c.type(1).rank());
  // ONNX Runtime joins a transpose with a matmul by a vector, whose result is then wrong.
  const bool is_vector = c.type(0).rank() > 1 && c.type(1).rank() == 1;
  if (is_vector) b = c.Unsqueeze(b, {1});
  std::string y = c.Node("MatMul", {a, b});
  if (is_vector) y = c.Squeeze(y, {-1});
  return c.Out(y, dtype);
}

/// Whether the axes that the `...` of each operand stands for have the same sizes.
bool EllipsesAgree(ExportCall& c) {
  llvm::SmallVector<llvm::StringRef, 4> terms;
  c.attributes().String("equation").split("->").first.split(terms, ',');
  std::optional<Shape> dims;
  for (unsigned i = 0; i < c.num_inputs() && i < terms.size(); ++i) {
    const auto [front, back] = terms[i].split("...");
    if (front.size() == terms[i].size()) continue;
    const auto labels = [](llvm::StringRef text) {
      return static_cast<size_t>(llvm::count_if(text, [](char ch) { return ch != ' '; }));
    };
    const llvm::ArrayRef<Dim> all = c.type(i).dims;
    const llvm::ArrayRef<Dim> own = all.drop_front(labels(front)).drop_back(labels(back));
    if (dims && !(*dims == own)) return false;
    dims = Shape(own.begin(), own.end());
  }
  return true;
}

Exported Einsum(ExportCall& c) {
  if (!EllipsesAgree(c)) return c.Reject("the ellipsis of Einsum does not broadcast");
  const DType dtype = ComputeDType(c.dtype());
  std::vector<std::string> operands;
  for (unsigned i = 0; i < c.num_inputs(); ++i) operands.push_back(c.In(i, dtype));
  return c.Out(c.Node("Einsum", operands, {{"equation", c.attributes().String("equation").str()}}),
               dtype);
}

/// Repeats each head of [..., G, S, D], to get H heads.
llvm::Expected<std::string> RepeatHeads(ExportCall& c, const std::string& x, const Type& type,
                                        const Dim& heads) {
  const size_t rank = type.dims.size();
  if (rank < 3 || type.dims[rank - 3] == heads) return x;
  const Dim& groups = type.dims[rank - 3];
  Shape wide(type.dims.begin(), type.dims.end());
  wide.insert(wide.end() - 2, Dim::FloorDiv(heads, groups));
  Shape joined(type.dims.begin(), type.dims.end());
  joined[rank - 3] = heads;
  llvm::Expected<std::string> sizes = c.Sizes(wide);
  if (!sizes) return sizes.takeError();
  const std::string repeated =
      c.Node("Expand", {c.Unsqueeze(x, {static_cast<int64_t>(rank) - 2}), *sizes});
  return c.Reshape(repeated, wide, joined);
}

/// A bool mask [T, S]: query i attends to key j if j <= past + i.
llvm::Expected<std::string> Causal(ExportCall& c, const Dim& queries, const Dim& keys) {
  const DType i64 = DType::kI64;
  const auto range_of = [&](const Dim& size) -> llvm::Expected<std::string> {
    llvm::Expected<std::string> count = c.Number(size, i64);
    if (!count) return count.takeError();
    return c.Node("Range", {c.Scalar(0, i64), *count, c.Scalar(1, i64)});
  };
  llvm::Expected<std::string> rows = range_of(queries);
  if (!rows) return rows.takeError();
  llvm::Expected<std::string> columns = range_of(keys);
  if (!columns) return columns.takeError();
  std::string last = *rows;
  if (const auto past = c.Find("past")) last = c.Node("Add", {last, c.In(*past, i64)});
  return c.Node("LessOrEqual", {*columns, c.Unsqueeze(last, {1})});
}

Exported Attention(ExportCall& c) {
  // The logarithms of sums are f32 if the operands are f16.
  const bool has_sums = c.exporter().IsUsed(c.op().result(1));
  const DType dtype = ComputeDType(has_sums ? c.result(1).dtype : c.type(0).dtype);
  const Type &q = c.type(0), &k = c.type(1), &v = c.type(2);
  const unsigned rank = q.rank();
  const Dim heads = rank < 3 ? Dim(1) : q.dims[rank - 3];
  llvm::Expected<std::string> keys = RepeatHeads(c, c.In(1, dtype), k, heads);
  if (!keys) return keys.takeError();
  llvm::Expected<std::string> values = RepeatHeads(c, c.In(2, dtype), v, heads);
  if (!values) return values.takeError();
  std::string scale;
  if (c.attributes().Has("scale")) {
    scale = c.Scalar(c.attributes().Float("scale"), dtype);
  } else {
    llvm::Expected<std::string> width = c.Number(q.dims[rank - 1], dtype);
    if (!width) return width.takeError();
    scale = c.Node("Reciprocal", {c.Node("Sqrt", {*width})});
  }
  std::string scores = c.Node("MatMul", {c.In(0, dtype), SwapLastAxes(c, *keys, rank)});
  scores = c.Node("Mul", {scores, scale});
  const std::string least = c.Scalar(-INFINITY, dtype);
  bool hides = false;
  if (const auto mask = c.Find("mask")) {
    hides = c.type(*mask).dtype == DType::kBool;
    scores = hides ? c.Node("Where", {c.In(*mask), scores, least})
                   : c.Node("Add", {scores, c.In(*mask, dtype)});
  }
  if (c.attributes().Bool("causal")) {
    hides = true;
    llvm::Expected<std::string> seen = Causal(c, q.dims[rank - 2], k.dims[rank - 2]);
    if (!seen) return seen.takeError();
    scores = c.Node("Where", {*seen, scores, least});
  }
  std::string parts = c.Node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  // If all keys of a query are masked, its softmax is nan.
  if (hides) parts = c.Node("Where", {c.Node("IsNaN", {parts}), c.Scalar(0, dtype), parts});
  const std::string y = c.Out(c.Node("MatMul", {parts, *values}), dtype);
  if (!has_sums) return y;
  const std::string lse = c.Reduce("ReduceLogSumExp", scores, {int64_t{rank} - 1}, false);
  return std::vector<std::string>{y, c.Out(lse, dtype, 1)};
}

/// Rotates pair i of a row by position * base ** (-2 i / width).
Exported RotaryEmbedding(ExportCall& c) {
  const DType dtype = ComputeDType(c.dtype());
  const Type& x = c.type(0);
  const unsigned rank = x.rank();
  if (!x.dims[rank - 1].is_constant()) return c.Reject("the size of a row must be known");
  const int64_t size = x.dims[rank - 1].constant();
  const int64_t width = c.attributes().Has("width") ? c.attributes().Int("width") : size;
  const bool is_interleaved = c.attributes().Bool("interleaved");
  const int64_t half = width / 2;
  std::vector<double> speeds;
  for (int64_t i = 0; i < half; ++i)
    speeds.push_back(std::pow(c.attributes().Float("base"),
                              -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  const std::string positions =
      c.Unsqueeze(c.In(1, DType::kF64), {static_cast<int64_t>(c.type(1).rank())});
  const std::string speed = c.Constant(Constant::Copy(DType::kF64, {half}, speeds.data()));
  std::string angle = c.Node("Mul", {positions, speed});
  // In f32, an angle of 100,000 would be rounded by 0.004.
  const DType angle_dtype = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  if (angle_dtype != DType::kF64) {
    angle = c.Node("Mod", {angle, c.Scalar(2 * M_PI, DType::kF64)}, {{"fmod", int64_t{1}}});
    angle = c.Cast(angle, angle_dtype);
  }
  std::string cos = c.Node("Cos", {angle}), sin = c.Node("Sin", {angle});
  if (dtype != angle_dtype) {
    cos = c.Cast(cos, dtype);
    sin = c.Cast(sin, dtype);
  }
  const std::string axes = c.Ints({static_cast<int64_t>(rank) - 1});
  const std::string all = c.In(0, dtype);
  const auto part = [&](int64_t from, int64_t to, int64_t step) {
    return c.Node("Slice", {all, c.Ints({from}), c.Ints({to}), axes, c.Ints({step})});
  };
  const std::string a = is_interleaved ? part(0, width, 2) : part(0, half, 1);
  const std::string b = is_interleaved ? part(1, width, 2) : part(half, width, 1);
  const std::string first = c.Node("Sub", {c.Node("Mul", {a, cos}), c.Node("Mul", {b, sin})});
  const std::string second = c.Node("Add", {c.Node("Mul", {b, cos}), c.Node("Mul", {a, sin})});
  std::string y;
  if (is_interleaved) {
    const std::vector<int64_t> last = {static_cast<int64_t>(rank)};
    const std::string pairs = c.Node(
        "Concat", {c.Unsqueeze(first, last), c.Unsqueeze(second, last)}, {{"axis", int64_t{-1}}});
    Shape from(x.dims.begin(), x.dims.end()), to(x.dims.begin(), x.dims.end());
    to[rank - 1] = Dim(width);
    from[rank - 1] = Dim(half);
    from.push_back(Dim(2));
    llvm::Expected<std::string> joined = c.Reshape(pairs, from, to);
    if (!joined) return joined.takeError();
    y = *joined;
  } else {
    y = c.Node("Concat", {first, second}, {{"axis", int64_t{-1}}});
  }
  if (width < size) y = c.Node("Concat", {y, part(width, size, 1)}, {{"axis", int64_t{-1}}});
  return c.Out(y, dtype);
}

constexpr ExportRule kProductRules[] = {
    {"matmul", MatMul},
    {"einsum", Einsum},
    {"attention", Attention},
    {"rotary_embedding", RotaryEmbedding},
};

}  // namespace

llvm::ArrayRef<ExportRule> ProductExportRules() { return kProductRules; }

}  // namespace pdl
