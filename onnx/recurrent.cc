// Recurrent networks, step after step.
#include <algorithm>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "onnx/node.h"
#include "onnx/rules.h"

namespace pdl {
namespace {

/// Steps that are written one after another.
constexpr int64_t kMaxSteps = 256;

/// A recurrent node: what all kinds have in common.
class Recurrent {
 public:
  Recurrent(Node& n, int64_t gates) : n_(n), gates_(gates) {}
  void Convert();

 private:
  struct Weights {
    Value *w = nullptr, *r = nullptr, *b_x = nullptr, *b_r = nullptr, *peephole = nullptr;
  };
  bool ReadActivations();
  Value* Activate(size_t which, Value* x);
  /// Rows of the gates from `first`, of `count` gates.
  Value* Gates(Value* x, int64_t first, int64_t count = 1);
  Value* OfDirection(Value* x, int64_t direction);
  void Step(const Weights& weights, Value* x, Value** h, Value** c);
  void StepLstm(const Weights& weights, Value* x, Value** h, Value** c);
  void StepGru(const Weights& weights, Value* x, Value** h);
  /// What of a row's value is kept: that of a step behind its end is what was before.
  Value* Keep(Value* running, Value* next, Value* before) {
    return running == nullptr ? next : n_.Call("where", {running, next, before});
  }
  bool IsLstm() const { return n_.op_type() == "LSTM"; }

  Node& n_;
  int64_t gates_;
  int64_t size_ = 0;
  size_t direction_ = 0;
  std::vector<std::string> activations_;
};

bool Recurrent::ReadActivations() {
  const auto* given = n_.Attribute("activations");
  const int64_t directions = n_.String("direction", "forward") == "bidirectional" ? 2 : 1;
  std::vector<std::string> usual = {"Tanh"};
  if (n_.op_type() == "GRU") usual = {"Sigmoid", "Tanh"};
  if (IsLstm()) usual = {"Sigmoid", "Tanh", "Tanh"};
  for (int64_t i = 0; i < directions; ++i)
    activations_.insert(activations_.end(), usual.begin(), usual.end());
  if (given != nullptr && given->strings_size() > 0) {
    if (static_cast<size_t>(given->strings_size()) != activations_.size()) {
      n_.Fail("{0} activations", given->strings_size());
      return false;
    }
    activations_.assign(given->strings().begin(), given->strings().end());
  }
  for (const std::string& name : activations_) {
    if (!llvm::is_contained({"tanh", "sigmoid", "relu", "softsign", "softplus"},
                            llvm::StringRef(name).lower())) {
      n_.Unsupported("activation '{0}'", name);
      return false;
    }
  }
  return true;
}

Value* Recurrent::Activate(size_t which, Value* x) {
  const size_t each = n_.op_type() == "RNN" ? 1 : n_.op_type() == "GRU" ? 2 : 3;
  return n_.Call(llvm::StringRef(activations_[direction_ * each + which]).lower(), {x});
}

Value* Recurrent::Gates(Value* x, int64_t first, int64_t count) {
  const int64_t axis = x == nullptr ? 0 : static_cast<int64_t>(x->type().rank()) - 1;
  return n_.Call("slice", {x},
                 {{"axes", std::vector<int64_t>{axis}},
                  {"starts", Shape{first * size_}},
                  {"stops", Shape{(first + count) * size_}}});
}

Value* Recurrent::OfDirection(Value* x, int64_t direction) {
  if (x == nullptr) return nullptr;
  return n_.Call("gather", {x, n_.Scalar(static_cast<double>(direction), DType::kI64)});
}

void Recurrent::StepLstm(const Weights& weights, Value* x, Value** h, Value** c) {
  Value* sums = n_.Add(x, n_.Call("matmul", {*h, weights.r}, {{"transpose_b", true}}));
  if (weights.b_r != nullptr) sums = n_.Add(sums, weights.b_r);
  Value* i = Gates(sums, 0);
  Value* o = Gates(sums, 1);
  Value* f = Gates(sums, 2);
  if (weights.peephole != nullptr) {
    i = n_.Add(i, n_.Mul(Gates(weights.peephole, 0), *c));
    f = n_.Add(f, n_.Mul(Gates(weights.peephole, 2), *c));
  }
  i = Activate(0, i);
  f = n_.Int("input_forget", 0) != 0 ? n_.Sub(n_.Scalar(1, i), i) : Activate(0, f);
  *c = n_.Add(n_.Mul(f, *c), n_.Mul(i, Activate(1, Gates(sums, 3))));
  if (weights.peephole != nullptr) o = n_.Add(o, n_.Mul(Gates(weights.peephole, 1), *c));
  *h = n_.Mul(Activate(0, o), Activate(2, *c));
}

void Recurrent::StepGru(const Weights& weights, Value* x, Value** h) {
  auto product = [&](Value* state, int64_t first, int64_t count) {
    Value* rows = n_.Call("slice", {weights.r},
                          {{"axes", std::vector<int64_t>{0}},
                           {"starts", Shape{first * size_}},
                           {"stops", Shape{(first + count) * size_}}});
    Value* sums = n_.Call("matmul", {state, rows}, {{"transpose_b", true}});
    return weights.b_r == nullptr ? sums : n_.Add(sums, Gates(weights.b_r, first, count));
  };
  Value* both = Activate(0, n_.Add(Gates(x, 0, 2), product(*h, 0, 2)));
  Value* z = Gates(both, 0);
  Value* r = Gates(both, 1);
  Value* next = n_.Int("linear_before_reset", 0) != 0 ? n_.Mul(r, product(*h, 2, 1))
                                                      : product(n_.Mul(r, *h), 2, 1);
  next = Activate(1, n_.Add(Gates(x, 2), next));
  *h = n_.Add(n_.Mul(n_.Sub(n_.Scalar(1, z), z), next), n_.Mul(z, *h));
}

void Recurrent::Step(const Weights& weights, Value* x, Value** h, Value** c) {
  if (IsLstm()) return StepLstm(weights, x, h, c);
  if (n_.op_type() == "GRU") return StepGru(weights, x, h);
  Value* sums = n_.Add(x, n_.Call("matmul", {*h, weights.r}, {{"transpose_b", true}}));
  *h = Activate(0, weights.b_r == nullptr ? sums : n_.Add(sums, weights.b_r));
}

void Recurrent::Convert() {
  Value* x = n_.In(0);
  Value* all_w = n_.In(1);
  Value* all_r = n_.In(2);
  if (n_.failed() || !ReadActivations()) return;
  if (n_.HasAttribute("clip")) return n_.Unsupported("clip");
  if (x->type().rank() != 3 || all_r->type().rank() != 3) return n_.Fail("3 dims are wanted");
  const bool by_batch = n_.Int("layout", 0) != 0;
  if (by_batch) x = n_.Transpose(x, {1, 0, 2});
  const Dim steps = x->type().dims[0], batch = x->type().dims[1];
  if (!steps.is_constant() || steps.constant() > kMaxSteps)
    return n_.Unsupported("sequences of an unknown length, or of more than {0} steps", kMaxSteps);
  const Dim size = all_r->type().dims[2];
  if (!size.is_constant()) return n_.Unsupported("a state of unknown width");
  size_ = size.constant();
  const std::string direction = n_.String("direction", "forward");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  Value* all_b = n_.OptionalIn(3);
  Value* lengths = n_.OptionalIn(4);
  Value* first_h = n_.OptionalIn(5);
  Value* first_c = IsLstm() ? n_.OptionalIn(6) : nullptr;
  Value* all_p = IsLstm() ? n_.OptionalIn(7) : nullptr;
  if (n_.failed()) return;
  auto by_direction = [&](Value* state) {
    return state != nullptr && by_batch ? n_.Transpose(state, {1, 0, 2}) : state;
  };
  first_h = by_direction(first_h);
  first_c = by_direction(first_c);
  std::vector<std::vector<Value*>> ys(static_cast<size_t>(directions));
  std::vector<Value*> last_h, last_c;
  for (int64_t d = 0; d < directions; ++d) {
    direction_ = static_cast<size_t>(d);
    const bool is_reverse = direction == "reverse" || d == 1;
    Weights weights;
    weights.w = OfDirection(all_w, d);
    weights.r = OfDirection(all_r, d);
    weights.peephole = OfDirection(all_p, d);
    if (Value* both = OfDirection(all_b, d)) {
      weights.b_x = Gates(both, 0, gates_);
      weights.b_r = Gates(both, gates_, gates_);
    }
    // All steps at once; what is left depends on the step before.
    Value* sums = n_.Call("matmul", {x, weights.w}, {{"transpose_b", true}});
    if (weights.b_x != nullptr) sums = n_.Add(sums, weights.b_x);
    const DType dtype = x->type().dtype;
    Value* h = first_h ? OfDirection(first_h, d) : n_.Filled({batch, size}, 0, dtype);
    Value* c = nullptr;
    if (IsLstm()) c = first_c ? OfDirection(first_c, d) : n_.Filled({batch, size}, 0, dtype);
    auto& y = ys[static_cast<size_t>(d)];
    for (int64_t i = 0; i < steps.constant() && !n_.failed(); ++i) {
      const int64_t at = is_reverse ? steps.constant() - 1 - i : i;
      Value* step = n_.Scalar(static_cast<double>(at), DType::kI64);
      Value* before_h = h;
      Value* before_c = c;
      Step(weights, n_.Call("gather", {sums, step}), &h, &c);
      Value* running = nullptr;
      if (lengths != nullptr) {
        running = n_.Call("less", {step, n_.Reshape(n_.Cast(lengths, DType::kI64), {batch, 1})});
      }
      Value* made = h;
      if (running != nullptr) made = n_.Call("where", {running, h, n_.Scalar(0, h)});
      h = Keep(running, h, before_h);
      if (IsLstm()) c = Keep(running, c, before_c);
      y.push_back(made);
    }
    if (is_reverse) std::reverse(y.begin(), y.end());
    last_h.push_back(h);
    last_c.push_back(c);
  }
  if (n_.failed()) return;
  if (n_.Wants(0)) {
    std::vector<Value*> by_way;
    for (const auto& y : ys) {
      if (y.empty()) return n_.Unsupported("sequences without steps");
      by_way.push_back(n_.Call("stack", y));
    }
    Value* all = n_.Call("stack", by_way, {{"axis", int64_t{1}}});  // [T, directions, N, size]
    n_.Out(0, by_batch ? n_.Transpose(all, {2, 0, 1, 3}) : all);
  }
  auto state = [&](unsigned output, const std::vector<Value*>& last) {
    if (!n_.Wants(output)) return;
    Value* all = n_.Call("stack", last);
    n_.Out(output, by_batch ? n_.Transpose(all, {1, 0, 2}) : all);
  };
  state(1, last_h);
  if (IsLstm()) state(2, last_c);
}

void ConvertRnn(Node& n) { Recurrent(n, 1).Convert(); }
void ConvertGru(Node& n) { Recurrent(n, 3).Convert(); }
void ConvertLstm(Node& n) { Recurrent(n, 4).Convert(); }

// A state that each step decays, corrects, writes to and reads from.
void ConvertLinearAttention(Node& n) {
  Value* q = n.In(0);
  Value* k = n.In(1);
  Value* v = n.In(2);
  if (n.failed()) return;
  const int64_t q_heads = n.Int("q_num_heads", 0), k_heads = n.Int("kv_num_heads", 0);
  if (q_heads < 1 || k_heads < 1 || q_heads % k_heads != 0) return n.Fail("heads that do not fit");
  for (const Value* part : {q, k, v})
    if (part->type().rank() != 3) return n.Fail("{0} dims, not 3", part->type().rank());
  const DType dtype = q->type().dtype;
  const Dim batch = q->type().dims[0], steps = q->type().dims[1];
  if (!steps.is_constant() || steps.constant() > kMaxSteps)
    return n.Unsupported("sequences of an unknown length, or of more than {0} steps", kMaxSteps);
  const Dim width = Dim::FloorDiv(q->type().dims[2], q_heads);
  const Dim value_width = Dim::FloorDiv(v->type().dims[2], k_heads);
  if (!width.is_constant()) return n.Unsupported("heads of unknown width");
  double scale = n.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(width.constant()));
  const std::string rule = n.String("update_rule", "gated_delta");
  auto split = [&](Value* x, const Dim& heads, const Dim& last) {
    return n.Reshape(n.Cast(x, DType::kF32), {batch, steps, heads, last});
  };
  q = split(q, q_heads, width);
  k = split(k, k_heads, width);
  v = split(v, k_heads, value_width);
  Value* decay = rule == "gated" || rule == "gated_delta" ? n.In(4) : nullptr;
  Value* beta = rule == "delta" || rule == "gated_delta" ? n.In(5) : nullptr;
  if (n.failed()) return;
  for (const Value* part : {decay, beta})
    if (part != nullptr && part->type().rank() != 3)
      return n.Fail("{0} dims, not 3", part->type().rank());
  if (decay != nullptr)
    decay = split(decay, k_heads, Dim::FloorDiv(decay->type().dims[2], k_heads));
  if (beta != nullptr) beta = split(beta, beta->type().dims[2], 1);
  Value* past = n.OptionalIn(3);
  const DType state_dtype = past == nullptr ? dtype : past->type().dtype;
  Value* state = past == nullptr ? n.Filled({batch, k_heads, width, value_width}, 0, DType::kF32)
                                 : n.Cast(past, DType::kF32);
  std::vector<Value*> reads;
  for (int64_t t = 0; t < steps.constant() && !n.failed(); ++t) {
    auto at = [&](Value* x) {  // [B, H, ...] of this step
      return n.Call("gather", {x, n.Scalar(static_cast<double>(t), DType::kI64)},
                    {{"axis", int64_t{1}}});
    };
    auto as_rows = [&](Value* x) {
      return n.Call("unsqueeze", {x}, {{"axes", std::vector<int64_t>{2}}});
    };
    auto as_columns = [&](Value* x) {
      return n.Call("unsqueeze", {x}, {{"axes", std::vector<int64_t>{3}}});
    };
    Value* key = at(k);
    Value* value = at(v);
    if (decay != nullptr) state = n.Mul(state, as_columns(n.Call("exp", {at(decay)})));
    if (beta != nullptr) {
      Value* held = n.Call("squeeze", {n.Call("matmul", {as_rows(key), state})},
                           {{"axes", std::vector<int64_t>{2}}});
      value = n.Mul(at(beta), n.Sub(value, held));
    }
    state = n.Add(state, n.Mul(as_columns(key), as_rows(value)));
    Value* query = n.Reshape(at(q), {batch, k_heads, q_heads / k_heads, width});
    Value* read = n.Call("matmul", {query, state});
    reads.push_back(n.Reshape(n.Mul(read, n.Scalar(scale, read)), {batch, q_heads * value_width}));
  }
  if (reads.empty()) return n.Unsupported("sequences without steps");
  n.Out(0, n.Cast(n.Call("stack", reads, {{"axis", int64_t{1}}}), dtype));
  n.Out(1, n.Cast(state, state_dtype));
}

}  // namespace

llvm::ArrayRef<OnnxRule> RecurrentRules() {
  static const OnnxRule kRules[] = {{"RNN", ConvertRnn},
                                    {"GRU", ConvertGru},
                                    {"LSTM", ConvertLstm},
                                    {"LinearAttention", ConvertLinearAttention}};
  return kRules;
}

}  // namespace pdl
