// Indexing with tensors: gather, scatter and related operators.
#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertGather(Node& n) {
  Value* x = n.In(0);
  n.Out(n.Call("gather", {x, n.In(1)}, {{"axis", n.Int("axis", 0)}}));
}

void ConvertArrayFeatureExtractor(Node& n) {
  Value* x = n.In(0);
  Value* at = n.In(1);
  if (x == nullptr || at == nullptr) return;
  if (x->type().rank() == 1) x = n.Reshape(x, {1, x->type().dims[0]});
  n.Out(n.Call("gather", {x, n.Reshape(at, {NumElements(at->type().dims)})},
               {{"axis", int64_t{-1}}}));
}

void ConvertGatherElements(Node& n) {
  Value* x = n.In(0);
  Value* at = n.In(1);
  if (x == nullptr || at == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", 0), x->type().rank());
  if (x->type().rank() != at->type().rank()) return n.Fail("the ranks differ");
  // Except along the axis, the indices may cover only a part of x.
  std::vector<int64_t> axes;
  Shape starts, stops;
  for (unsigned d = 0; d < x->type().rank(); ++d) {
    if (d == axis || at->type().dims[d] == x->type().dims[d]) continue;
    axes.push_back(d);
    starts.emplace_back(0);
    stops.push_back(at->type().dims[d]);
  }
  if (!axes.empty())
    x = n.Call("slice", {x}, {{"axes", axes}, {"starts", starts}, {"stops", stops}});
  n.Out(n.Call("take_along_axis", {x, at}, {{"axis", static_cast<int64_t>(axis)}}));
}

void ConvertGatherND(Node& n) {
  Value* x = n.In(0);
  n.Out(n.Call("gather_nd", {x, n.In(1)}, {{"batch_dims", n.Int("batch_dims", 0)}}));
}

void ConvertScatterElements(Node& n) {
  Value* x = n.In(0);
  n.Out(n.Call("scatter", {x, n.In(1), n.In(2)},
               {{"axis", n.Int("axis", 0)}, {"reduction", n.String("reduction", "none")}}));
}

void ConvertScatterND(Node& n) {
  Value* x = n.In(0);
  n.Out(
      n.Call("scatter_nd", {x, n.In(1), n.In(2)}, {{"reduction", n.String("reduction", "none")}}));
}

void ConvertOneHot(Node& n) {
  Value* positions = n.In(0);
  const Dim depth = n.SizeIn(1);
  Value* values = n.In(2);
  if (positions == nullptr || values == nullptr || n.failed()) return;
  const unsigned rank = positions->type().rank();
  const unsigned axis = n.Axis(n.Int("axis", -1), rank + 1);
  Value* hot = n.Call("one_hot", {n.Cast(positions, DType::kI64)}, {{"depth", Shape{depth}}});
  if (axis != rank) {
    std::vector<int64_t> perm;
    for (unsigned i = 0; i < rank; ++i) perm.push_back(i);
    perm.insert(perm.begin() + axis, rank);
    hot = n.Transpose(hot, perm);
  }
  auto one = [&](int64_t at) {
    return n.Call("gather", {values, n.Scalar(static_cast<double>(at), DType::kI64)});
  };
  n.Out(n.Call("where", {n.Cast(hot, DType::kBool), one(1), one(0)}));
}

// Reverses the first elements of each row.
void ConvertReverseSequence(Node& n) {
  Value* x = n.In(0);
  Value* lengths = n.In(1);
  if (x == nullptr || lengths == nullptr) return;
  const unsigned rank = x->type().rank();
  const unsigned time = n.Axis(n.Int("time_axis", 0), rank);
  const unsigned batch = n.Axis(n.Int("batch_axis", 1), rank);
  if (n.failed()) return;
  auto along = [&](Value* line, unsigned axis) {
    Shape dims(rank, Dim(1));
    dims[axis] = x->type().dims[axis];
    return n.Reshape(line, dims);
  };
  Value* step = along(
      n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{x->type().dims[time]}}}), time);
  Value* length = along(n.Cast(lengths, DType::kI64), batch);
  Value* reversed = n.Sub(n.Sub(length, n.Scalar(1, length)), step);
  Value* at = n.Call("where", {n.Call("less", {step, length}), reversed, step});
  if (at == nullptr) return;
  n.Out(n.Call("take_along_axis", {x, at}, {{"axis", static_cast<int64_t>(time)}}));
}

void ConvertCompress(Node& n) {
  Value* x = n.In(0);
  Value* condition = n.In(1);
  if (x == nullptr || condition == nullptr) return;
  unsigned axis = 0;
  if (n.HasAttribute("axis")) {
    axis = n.Axis(n.Int("axis", 0), x->type().rank());
  } else {
    x = n.Reshape(x, {NumElements(x->type().dims)});
  }
  Value* positions = n.Call("nonzero", {condition});
  if (positions == nullptr) return;
  n.Out(n.Call("gather", {x, n.Reshape(positions, {positions->type().dims[0]})},
               {{"axis", static_cast<int64_t>(axis)}}));
}

// Writes rows of each batch from an index of its own on.
void ConvertTensorScatter(Node& n) {
  Value* past = n.In(0);
  Value* update = n.In(1);
  if (past == nullptr || update == nullptr) return;
  const unsigned rank = past->type().rank();
  const unsigned axis = n.Axis(n.Int("axis", -2), rank);
  if (n.failed() || rank != update->type().rank()) return;
  const Dim size = past->type().dims[axis];
  const Dim count = update->type().dims[axis];
  Shape line(rank, Dim(1));
  line[axis] = count;
  Value* at = n.Reshape(n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{count}}}), line);
  if (Value* start = n.OptionalIn(2)) {
    Shape rows(rank, Dim(1));
    rows[0] = past->type().dims[0];
    at = n.Add(at, n.Reshape(n.Cast(start, DType::kI64), rows));
  }
  if (n.String("mode", "linear") == "circular")
    at = n.Call("mod", {at, n.Reshape(n.SizeValue({size}), {})});
  at = n.Call("broadcast_to", {at}, {{"dims", update->type().dims}});
  n.Out(n.Call("scatter", {past, at, update}, {{"axis", static_cast<int64_t>(axis)}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> IndexRules() {
  static const OnnxRule kRules[] = {
      {"Gather", ConvertGather},
      {"GatherElements", ConvertGatherElements},
      {"GatherND", ConvertGatherND},
      {"ScatterElements", ConvertScatterElements},
      {"Scatter", ConvertScatterElements},
      {"ScatterND", ConvertScatterND},
      {"OneHot", ConvertOneHot},
      {"ReverseSequence", ConvertReverseSequence},
      {"Compress", ConvertCompress},
      {"TensorScatter", ConvertTensorScatter},
      {"ArrayFeatureExtractor", ConvertArrayFeatureExtractor, 1, "ai.onnx.ml"}};
  return kRules;
}

}  // namespace pdl
