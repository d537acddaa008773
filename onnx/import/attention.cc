// Attention in its variants, and rotary embeddings.
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

constexpr double kInfinity = HUGE_VAL;

/// Reshapes [B, T, H * D] to [B, H, T, D].
Value* SplitHeads(Node& n, Value* x, int64_t heads) {
  if (x == nullptr) return nullptr;
  const Shape& dims = x->type().dims;
  if (heads < 1 || dims.size() != 3) {
    n.Fail("{0} heads of {1}", heads, x->type().ToString());
    return nullptr;
  }
  return n.Transpose(n.Reshape(x, {dims[0], dims[1], heads, Dim::FloorDiv(dims[2], heads)}),
                     {0, 2, 1, 3});
}

/// Reshapes [B, H, T, D] to [B, T, H * D].
Value* JoinHeads(Node& n, Value* x) {
  if (x == nullptr) return nullptr;
  const Shape dims = x->type().dims;
  return n.Reshape(n.Transpose(x, {0, 2, 1, 3}), {dims[0], dims[2], dims[1] * dims[3]});
}

Value* RangeOf(Node& n, const Dim& count, llvm::ArrayRef<Dim> dims) {
  return n.Reshape(n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{count}}}), dims);
}

struct Heads {
  Value *q = nullptr, *k = nullptr, *v = nullptr;
  Dim past = 0;
};

/// The attention mask: bools, or numbers to add to the scores; null if nothing is masked.
Value* Mask(Node& n, const Heads& heads) {
  const Dim keys = heads.k->type().dims[2];
  Value* mask = n.OptionalIn(3);
  if (mask != nullptr && mask->type().rank() > 0) {
    // Keys after the end of the mask are masked.
    const Dim have = mask->type().dims.back();
    if (have != keys && !have.is_constant(1)) {
      mask = n.Call("pad", {mask},
                    {{"before", Shape{0}},
                     {"after", Shape{keys - have}},
                     {"axes", std::vector<int64_t>{-1}},
                     {"value", mask->type().dtype == DType::kBool ? 0.0 : -kInfinity}});
    }
  }
  if (Value* lengths = n.OptionalIn(6)) {
    Value* kept = n.Call(
        "less", {RangeOf(n, keys, {1, 1, 1, keys}),
                 n.Reshape(n.Cast(lengths, DType::kI64), {heads.q->type().dims[0], 1, 1, 1})});
    if (mask == nullptr) {
      mask = kept;
    } else if (mask->type().dtype == DType::kBool) {
      mask = n.Call("logical_and", {mask, kept});
    } else {
      mask = n.Call("where", {kept, mask, n.Scalar(-kInfinity, mask)});
    }
  }
  if (mask != nullptr && mask->type().dtype != DType::kBool)
    mask = n.Cast(mask, heads.q->type().dtype);
  return mask;
}

/// Repeats each head of k or v for the heads of q that share it.
Value* RepeatHeads(Node& n, Value* x, const Dim& share) {
  const Shape dims = x->type().dims;
  Value* apart = n.Reshape(x, {dims[0], dims[1], 1, dims[2], dims[3]});
  Value* all =
      n.Call("broadcast_to", {apart}, {{"dims", Shape{dims[0], dims[1], share, dims[2], dims[3]}}});
  return n.Reshape(all, {dims[0], dims[1] * share, dims[2], dims[3]});
}

/// Emits attention as separate calls, if an intermediate value is an output or the scores are
/// capped.
void SpelledOut(Node& n, const Heads& heads, double scale, Value** y, Value** scores_out) {
  const Shape q_dims = heads.q->type().dims, k_dims = heads.k->type().dims;
  Value* k = heads.k;
  Value* v = heads.v;
  if (q_dims[1] != k_dims[1]) {
    const Dim share = Dim::FloorDiv(q_dims[1], k_dims[1]);
    k = RepeatHeads(n, k, share);
    v = RepeatHeads(n, v, share);
  }
  Value* root = n.Scalar(std::sqrt(scale), heads.q);
  Value* scores = n.Call("matmul", {n.Mul(heads.q, root), n.Mul(k, root)}, {{"transpose_b", true}});
  const int64_t mode = n.Int("qk_matmul_output_mode", 0);
  const double cap = n.Float("softcap", 0);
  if (cap > 0) {
    Value* bound = n.Scalar(cap, scores);
    scores = n.Mul(n.Call("tanh", {n.Div(scores, bound)}), bound);
  }
  if (mode <= 1) *scores_out = scores;
  if (Value* mask = Mask(n, heads)) {
    if (mask->type().dtype == DType::kBool) {
      scores = n.Call("where", {mask, scores, n.Scalar(-kInfinity, scores)});
    } else {
      scores = n.Add(scores, mask);
    }
  }
  if (n.Int("is_causal", 0) != 0) {
    const Dim rows = q_dims[2], keys = k_dims[2];
    Value* last = RangeOf(n, rows, {rows, 1});
    if (!heads.past.is_constant(0)) last = n.Add(last, n.Reshape(n.SizeValue({heads.past}), {}));
    Value* seen = n.Call("less_equal", {RangeOf(n, keys, {1, keys}), last});
    scores = n.Call("where", {seen, scores, n.Scalar(-kInfinity, scores)});
  }
  if (mode == 2) *scores_out = scores;
  Value* weights = n.Call("softmax", {scores});
  if (mode == 3) *scores_out = weights;
  *y = n.Call("matmul", {weights, v});
}

void ConvertAttention(Node& n) {
  Heads heads;
  heads.q = n.In(0);
  heads.k = n.In(1);
  heads.v = n.In(2);
  if (n.failed()) return;
  const bool is_joined = heads.q->type().rank() == 3;
  if (is_joined) {
    const int64_t q_heads = n.Int("q_num_heads", 0), k_heads = n.Int("kv_num_heads", 0);
    heads.q = SplitHeads(n, heads.q, q_heads);
    heads.k = SplitHeads(n, heads.k, k_heads);
    heads.v = SplitHeads(n, heads.v, k_heads);
  }
  if (n.failed()) return;
  for (const Value* part : {heads.q, heads.k, heads.v})
    if (part->type().rank() != 4) return n.Fail("{0} dims, not 3 or 4", part->type().rank());
  if (Value* past = n.OptionalIn(4)) {
    if (past->type().rank() != 4) return n.Fail("the past has {0} dims", past->type().rank());
    heads.past = past->type().dims[2];
    heads.k = n.Call("concat", {past, heads.k}, {{"axis", int64_t{2}}});
  }
  if (Value* past = n.OptionalIn(5))
    heads.v = n.Call("concat", {past, heads.v}, {{"axis", int64_t{2}}});
  if (n.failed()) return;
  n.Out(1, heads.k);
  n.Out(2, heads.v);
  double scale = n.Float("scale", 0);
  if (!n.HasAttribute("scale")) {
    const Dim width = heads.q->type().dims[3];
    if (!width.is_constant()) return n.Unsupported("heads of unknown width");
    scale = 1 / std::sqrt(static_cast<double>(width.constant()));
  }
  Value* y = nullptr;
  if (n.IsUsed(3) || n.Float("softcap", 0) > 0) {
    Value* scores = nullptr;
    SpelledOut(n, heads, scale, &y, &scores);
    n.Out(3, scores);
  } else {
    const bool is_causal = n.Int("is_causal", 0) != 0;
    std::vector<Value*> operands = {heads.q, heads.k, heads.v};
    Value* mask = Mask(n, heads);
    // The optional inputs are in order, so a mask requires the past.
    if (mask != nullptr || (is_causal && !heads.past.is_constant(0)))
      operands.push_back(n.Reshape(n.SizeValue({heads.past}), {}));
    if (mask != nullptr) operands.push_back(mask);
    std::vector<NamedAttribute> attributes = {{"causal", is_causal}};
    if (n.HasAttribute("scale")) attributes.push_back({"scale", scale});
    y = n.Call("attention", operands, attributes);
  }
  n.Out(0, is_joined ? JoinHeads(n, y) : y);
}

/// Applies a graph attribute to a value; returns the value if the node has no such attribute.
Value* Modified(Node& n, llvm::StringRef graph, Value* value) {
  const auto* attribute = n.Attribute(graph);
  if (attribute == nullptr || value == nullptr) return value;
  if (attribute->g().input_size() != 1) {
    n.Unsupported("{0} of {1} inputs", graph, attribute->g().input_size());
    return nullptr;
  }
  llvm::Expected<std::vector<Value*>> results =
      n.importer().ImportSubgraph(attribute->g(), n.scope(), {value});
  if (!results) {
    n.Take(results.takeError());
    return nullptr;
  }
  if (results->size() != 1) n.Fail("{0} returns {1} values", graph, results->size());
  return n.failed() ? nullptr : (*results)[0];
}

// Attention whose scores and probabilities are modified by graphs.
void ConvertFlexAttention(Node& n) {
  Value* q = n.In(0);
  Value* k = n.In(1);
  Value* v = n.In(2);
  if (n.failed()) return;
  for (const Value* part : {q, k, v}) {
    if (part->type().rank() != 4) return n.Fail("{0} dims, not 4", part->type().rank());
    if (!IsFloat(part->type().dtype))
      return n.Fail("{0}, not floats", DTypeName(part->type().dtype));
  }
  const Dim heads = q->type().dims[1], groups = k->type().dims[1];
  if (heads != groups) {
    k = RepeatHeads(n, k, Dim::FloorDiv(heads, groups));
    v = RepeatHeads(n, v, Dim::FloorDiv(heads, groups));
    if (n.failed()) return;
  }
  const Dim& width = q->type().dims[3];
  if (!n.HasAttribute("scale") && !width.is_constant())
    return n.Unsupported("heads of unknown width");
  const double scale = n.HasAttribute("scale")
                           ? n.Float("scale", 1)
                           : 1 / std::sqrt(static_cast<double>(width.constant()));
  const DType dtype = v->type().dtype;
  DType wide = DTypeSize(dtype) < 4 ? DType::kF32 : dtype;
  wide = n.TypeAttribute("softmax_precision", wide);
  Value* root = n.Scalar(std::sqrt(scale), q);
  Value* scores = n.Call("matmul", {n.Mul(q, root), n.Mul(k, root)}, {{"transpose_b", true}});
  scores = Modified(n, "score_mod", n.Cast(scores, wide));
  Value* weights = Modified(n, "prob_mod", n.Call("softmax", {scores}));
  n.Out(n.Cast(n.Call("matmul", {weights, n.Cast(v, wide)}), dtype));
}

// Rotates pairs of elements by angles whose cosines and sines are given.
void ConvertRotaryEmbedding(Node& n) {
  Value* x = n.In(0);
  Value* cosines = n.In(1);
  Value* sines = n.In(2);
  if (n.failed()) return;
  const bool is_joined = x->type().rank() == 3;
  if (is_joined) x = SplitHeads(n, x, n.Int("num_heads", 0));
  if (n.failed()) return;
  const Shape dims = x->type().dims;  // [B, H, T, D]
  if (dims.size() != 4) return n.Fail("{0} dims, not 3 or 4", dims.size());
  if (Value* positions = n.OptionalIn(3)) {
    cosines = n.Call("gather", {cosines, positions});
    sines = n.Call("gather", {sines, positions});
  }
  if (n.failed()) return;
  if (cosines->type().rank() != 3 || sines->type() != cosines->type())
    return n.Fail("cosines of {0}, sines of {1}", cosines->type().ToString(),
                  sines->type().ToString());
  const Dim half = cosines->type().dims.back();
  const Shape spread = {cosines->type().dims[0], 1, dims[2], half};
  cosines = n.Reshape(cosines, spread);
  sines = n.Reshape(sines, spread);
  auto part = [&](Value* of, const Dim& from, const Dim& to, int64_t step) {
    return n.Call("slice", {of},
                  {{"axes", std::vector<int64_t>{3}},
                   {"starts", Shape{from}},
                   {"stops", Shape{to}},
                   {"steps", std::vector<int64_t>{step}}});
  };
  const Dim width = half * 2;
  const bool is_whole = width == dims[3];
  const bool interleaved = n.Int("interleaved", 0) != 0;
  Value* a = interleaved ? part(x, 0, width - 1, 2) : part(x, 0, half, 1);
  Value* b = interleaved ? part(x, 1, width, 2) : part(x, half, width, 1);
  Value* real = n.Sub(n.Mul(cosines, a), n.Mul(sines, b));
  Value* imaginary = n.Add(n.Mul(sines, a), n.Mul(cosines, b));
  Value* rotated = interleaved
                       ? n.Reshape(n.Call("stack", {real, imaginary}, {{"axis", int64_t{-1}}}),
                                   {dims[0], dims[1], dims[2], width})
                       : n.Call("concat", {real, imaginary}, {{"axis", int64_t{3}}});
  if (!is_whole)
    rotated = n.Call("concat", {rotated, part(x, width, dims[3], 1)}, {{"axis", int64_t{3}}});
  n.Out(is_joined ? JoinHeads(n, rotated) : rotated);
}

// A causal depthwise convolution over a state of previous elements, which is updated.
void ConvertCausalConvWithState(Node& n) {
  Value* x = n.In(0);
  Value* w = n.In(1);
  if (n.failed()) return;
  if (x->type().rank() != 3 || w->type().rank() != 3)
    return n.Fail("both operands must have 3 dims");
  const Shape dims = x->type().dims;
  const Dim before = w->type().dims[2] - 1;
  Value* past = n.OptionalIn(3);
  if (past == nullptr) past = n.Filled({dims[0], dims[1], before}, 0, x->type().dtype);
  Value* whole = n.Call("concat", {past, x}, {{"axis", int64_t{2}}});
  if (n.failed()) return;
  if (!dims[1].is_constant()) return n.Unsupported("an unknown number of channels");
  std::vector<Value*> operands = {whole, w};
  if (Value* bias = n.OptionalIn(2)) operands.push_back(bias);
  Value* y = n.Call("conv1d", operands, {{"groups", dims[1].constant()}});
  if (n.String("activation", "none") != "none") y = n.Call("silu", {y});
  n.Out(0, y);
  n.Out(1, n.Call("slice", {whole},
                  {{"axes", std::vector<int64_t>{2}},
                   {"starts", Shape{dims[2]}},
                   {"stops", Shape{dims[2] + before}}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> AttentionRules() {
  static const OnnxRule kRules[] = {{"Attention", ConvertAttention},
                                    {"RotaryEmbedding", ConvertRotaryEmbedding},
                                    {"FlexAttention", ConvertFlexAttention, 1, "ai.onnx.preview"},
                                    {"CausalConvWithState", ConvertCausalConvWithState}};
  return kRules;
}

}  // namespace pdl
