// Normalization.
#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

void ConvertBatchNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  if (n.Int("spatial", 1) == 0) return n.Unsupported("spatial 0");
  const double eps = n.Float("epsilon", 1e-5);
  Value* gamma = n.In(1);
  Value* beta = n.In(2);
  Value* mean = n.In(3);
  Value* variance = n.In(4);
  const bool trains = n.opset() >= 14 ? n.Int("training_mode", 0) != 0 : n.IsUsed(1);
  const DType dtype = x->type().dtype;
  if (trains) {
    const double kept = n.Float("momentum", 0.9);
    std::vector<Value*> both = n.CallAll("moments", {x}, {{"keep", std::vector<int64_t>{1}}});
    if (both.size() != 2 || mean == nullptr || variance == nullptr) return;
    auto running = [&](Value* old, Value* now) {
      return n.Add(n.Mul(old, n.Scalar(kept, old)),
                   n.Mul(n.Cast(now, old->type().dtype), n.Scalar(1 - kept, old)));
    };
    n.Out(1, running(mean, both[0]));
    n.Out(2, running(variance, both[1]));
    mean = both[0];
    variance = both[1];
  }
  n.Out(n.Call(
      "normalize",
      {x, n.Cast(mean, dtype), n.Cast(variance, dtype), n.Cast(gamma, dtype), n.Cast(beta, dtype)},
      {{"eps", eps}}));
}

/// Computes in the dtype of `stash_type`, f32 by default.
DType StashType(Node& n, const Value* x) {
  const DType expected = n.Int("stash_type", 1) == 1 ? DType::kF32 : x->type().dtype;
  return DTypeSize(expected) > DTypeSize(x->type().dtype) ? expected : x->type().dtype;
}

void ConvertLayerNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const DType dtype = x->type().dtype;
  const unsigned axis = n.Axis(n.Int("axis", -1), x->type().rank());
  const double eps = n.Float("epsilon", 1e-5);
  Value* wide = n.Cast(x, StashType(n, x));
  if (n.failed()) return;
  Value* y = n.Cast(
      n.Call("standardize", {wide}, {{"axis", static_cast<int64_t>(axis)}, {"eps", eps}}), dtype);
  y = n.Mul(y, n.In(1));
  if (Value* bias = n.OptionalIn(2)) y = n.Add(y, bias);
  n.Out(0, y);
  if (!n.IsUsed(1) && !n.IsUsed(2)) return;
  std::vector<int64_t> axes;
  for (unsigned i = axis; i < x->type().rank(); ++i) axes.push_back(i);
  const std::vector<NamedAttribute> over = {{"axes", axes}, {"keep", true}};
  n.Out(1, n.Call("mean", {wide}, over));
  if (!n.IsUsed(2)) return;
  Value* variance = n.Call("variance", {wide}, over);
  n.Out(2, n.Call("rsqrt", {n.Add(variance, n.Scalar(eps, variance))}));
}

void ConvertRMSNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned axis = n.Axis(n.Int("axis", -1), x->type().rank());
  std::vector<int64_t> axes;
  for (unsigned i = axis; i < x->type().rank(); ++i) axes.push_back(i);
  Value* wide = n.Cast(x, StashType(n, x));
  Value* square = n.Call("mean", {n.Call("square", {wide})}, {{"axes", axes}, {"keep", true}});
  Value* eps = n.Scalar(n.Float("epsilon", 1e-5), square);
  Value* y = n.Mul(wide, n.Call("rsqrt", {n.Add(square, eps)}));
  n.Out(n.Mul(n.Cast(y, x->type().dtype), n.In(1)));
}

/// Reshapes gamma or beta, with one number for each channel, to [C, 1, ...].
Value* ForChannels(Node& n, Value* line, unsigned rank) {
  if (line == nullptr) return nullptr;
  if (line->type().rank() != 1) {
    n.Fail("one number for each channel is required");
    return nullptr;
  }
  Shape dims = {line->type().dims[0]};
  while (dims.size() < rank - 1) dims.emplace_back(1);
  return n.Reshape(line, dims);
}

void ConvertInstanceNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  if (rank < 3) return n.Fail("{0} dims", rank);
  Value* y = n.Call("standardize", {x}, {{"axis", int64_t{2}}, {"eps", n.Float("epsilon", 1e-5)}});
  Value* gamma = n.In(1);
  Value* beta = n.In(2);
  n.Out(n.Add(n.Mul(y, ForChannels(n, gamma, rank)), ForChannels(n, beta, rank)));
}

void ConvertGroupNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const Shape dims = x->type().dims;
  const unsigned rank = x->type().rank();
  const int64_t groups = n.Int("num_groups", 1);
  if (rank < 3) return n.Fail("{0} dims", rank);
  if (groups < 1) return n.Fail("{0} groups", groups);
  Shape split = {dims[0], groups, Dim::FloorDiv(dims[1], groups)};
  split.append(dims.begin() + 2, dims.end());
  const DType dtype = x->type().dtype;
  Value* parts = n.Reshape(n.Cast(x, StashType(n, x)), split);
  Value* y =
      n.Call("standardize", {parts}, {{"axis", int64_t{2}}, {"eps", n.Float("epsilon", 1e-5)}});
  Value* gamma = n.In(1);
  Value* beta = n.In(2);
  if (n.opset() < 21) {
    // One number for each group.
    auto for_groups = [&](Value* line) { return ForChannels(n, line, rank + 1); };
    y = n.Add(n.Mul(n.Cast(y, dtype), for_groups(gamma)), for_groups(beta));
    return n.Out(n.Reshape(y, dims));
  }
  y = n.Cast(n.Reshape(y, dims), dtype);
  n.Out(n.Add(n.Mul(y, ForChannels(n, gamma, rank)), ForChannels(n, beta, rank)));
}

void ConvertLRN(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  if (rank < 3) return n.Fail("{0} dims", rank);
  const int64_t size = n.Int("size", 1);
  if (size < 1) return n.Fail("size {0}", size);
  const double alpha = n.Float("alpha", 1e-4), beta = n.Float("beta", 0.75);
  // The sum over adjacent channels: windows over a plane whose rows are the channels.
  const Shape& dims = x->type().dims;
  const llvm::ArrayRef<Dim> all(dims);
  Value* square =
      n.Reshape(n.Call("square", {x}), {dims[0], Dim(1), dims[1], NumElements(all.drop_front(2))});
  const int64_t before = (size - 1) / 2;
  Value* sum = n.Call("avg_pool", {square},
                      {{"kernel", Shape{size, 1}},
                       {"stride", Shape{1, 1}},
                       {"pad", Shape{before, size - 1 - before, 0, 0}},
                       {"divisor", int64_t{1}}});
  Value* scale = n.Add(n.Mul(n.Reshape(sum, dims), n.Scalar(alpha / static_cast<double>(size), x)),
                       n.Scalar(n.Float("bias", 1), x));
  n.Out(n.Div(x, n.Call("pow", {scale, n.Scalar(beta, x)})));
}

void ConvertMeanVarianceNormalization(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  std::vector<int64_t> axes = n.Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const std::vector<NamedAttribute> over = {{"axes", axes}, {"keep", true}};
  Value* centred = n.Sub(x, n.Call("mean", {x}, over));
  Value* deviation = n.Call("sqrt", {n.Call("mean", {n.Call("square", {centred})}, over)});
  n.Out(n.Div(centred, n.Add(deviation, n.Scalar(1e-9, x))));
}

}  // namespace

llvm::ArrayRef<OnnxRule> NormalizationRules() {
  static const OnnxRule kRules[] = {
      {"BatchNormalization", ConvertBatchNormalization},
      {"LayerNormalization", ConvertLayerNormalization},
      {"RMSNormalization", ConvertRMSNormalization},
      {"InstanceNormalization", ConvertInstanceNormalization},
      {"GroupNormalization", ConvertGroupNormalization},
      {"LRN", ConvertLRN},
      {"MeanVarianceNormalization", ConvertMeanVarianceNormalization}};
  return kRules;
}

}  // namespace pdl
