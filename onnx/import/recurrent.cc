// Recurrent networks: one matmul of the inputs of all steps, then a loop over the steps.
#include <cmath>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "onnx/import/layers.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"

namespace pdl {
namespace {

/// The activation of a gate.
struct Activation {
  std::string op;
  bool has_alpha = false, has_beta = false;
  double alpha = 0, beta = 0;
};

/// nullopt for names that ONNX does not have. The defaults are those of the operator of that name.
std::optional<Activation> FindActivation(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Activation>>(name)
      .CaseLower("tanh", Activation{"tanh"})
      .CaseLower("sigmoid", Activation{"sigmoid"})
      .CaseLower("relu", Activation{"relu"})
      .CaseLower("softsign", Activation{"softsign"})
      .CaseLower("softplus", Activation{"softplus"})
      .CaseLower("elu", Activation{"elu", true, false, 1})
      .CaseLower("leakyrelu", Activation{"leaky_relu", true, false, 0.01})
      .CaseLower("thresholdedrelu", Activation{"thresholded_relu", true, false, 1})
      .CaseLower("hardsigmoid", Activation{"hard_sigmoid", true, true, 0.2, 0.5})
      .CaseLower("affine", Activation{"affine", true, true, 1, 0})
      .CaseLower("scaledtanh", Activation{"scaled_tanh", true, true, 1, 1})
      .Default(std::nullopt);
}

/// Rows `first` to `first + count` of matrix `index`, or elements of that vector.
Constant RowsOf(const Constant& all, int64_t index, int64_t first, int64_t count) {
  llvm::SmallVector<int64_t, 2> sizes(all.sizes().drop_front());
  const int64_t rows = sizes[0];
  sizes[0] = count;
  const int64_t row_bytes = (sizes.size() > 1 ? sizes[1] : 1) * DTypeSize(all.dtype());
  const char* bytes = static_cast<const char*>(all.data()) + (index * rows + first) * row_bytes;
  return Constant(all.dtype(), sizes, std::shared_ptr<const void>(all.bytes(), bytes));
}

/// The parts that all kinds of recurrent nodes share.
class Recurrent {
 public:
  Recurrent(Node& n, int64_t gates) : n_(n), gates_(gates) {}
  void Convert();

 private:
  bool ReadActivations();
  bool ReadInputs();
  /// Applies an activation after `clip`; the third one, of a cell, is not clipped.
  Value* Activate(size_t which, Value* x);
  /// The part for the current direction, of `count` gates from `first` on. If the tensor is a
  /// parameter, the part becomes a new parameter named after `name`.
  Value* Part(Value* all, int64_t first, int64_t count, llvm::StringRef name);
  /// The same transposed, for the matmul with a step's state.
  Value* Weights(int64_t first, int64_t count, llvm::StringRef name);
  /// Names a parameter after the first output of the node.
  std::string NameFor(llvm::StringRef what) const {
    std::string name;
    for (const std::string& output : n_.proto().output())
      if (name.empty()) name = output;
    if (directions_ > 1) name += direction_ == 0 ? "/forward" : "/backward";
    return name + "/" + what.str();
  }
  /// The bias that is added to the gates before the loop.
  Value* Bias();
  Value* FirstState(Value* all);
  std::vector<Value*> Direction();
  std::vector<Value*> Split(Value* gates, llvm::ArrayRef<llvm::StringRef> names);
  Value* Named(Value* value, llvm::StringRef name) {
    if (value != nullptr) n_.importer().SuggestName(value, name);
    return value;
  }
  std::vector<Value*> StepRnn(llvm::ArrayRef<Value*> given);
  std::vector<Value*> StepGru(llvm::ArrayRef<Value*> given);
  std::vector<Value*> StepLstm(llvm::ArrayRef<Value*> given);
  bool IsLstm() const { return n_.op_type() == "LSTM"; }
  /// Whether the reset gate of a GRU multiplies the matmul, with the bias of the new gate, instead
  /// of the state.
  bool ResetsProduct() const {
    return n_.op_type() == "GRU" && n_.Int("linear_before_reset", 0) != 0;
  }

  Node& n_;
  int64_t gates_;
  int64_t size_ = 0;
  int64_t directions_ = 1, direction_ = 0;
  bool by_batch_ = false;
  double clip_ = 0;
  std::vector<Activation> activations_;
  Value *x_ = nullptr, *w_ = nullptr, *r_ = nullptr, *b_ = nullptr, *lengths_ = nullptr;
  Value *first_h_ = nullptr, *first_c_ = nullptr, *peepholes_ = nullptr;
  // For the steps of the current direction.
  Value *weights_ = nullptr, *new_weights_ = nullptr, *new_bias_ = nullptr;
  Value *peephole_i_ = nullptr, *peephole_o_ = nullptr, *peephole_f_ = nullptr;
};

bool Recurrent::ReadActivations() {
  const auto* given = n_.Attribute("activations");
  std::vector<std::string> usual = {"Tanh"};
  if (n_.op_type() == "GRU") usual = {"Sigmoid", "Tanh"};
  if (IsLstm()) usual = {"Sigmoid", "Tanh", "Tanh"};
  std::vector<std::string> names;
  for (int64_t i = 0; i < directions_; ++i) names.insert(names.end(), usual.begin(), usual.end());
  if (given != nullptr && given->strings_size() > 0) {
    if (static_cast<size_t>(given->strings_size()) != names.size()) {
      n_.Fail("{0} activations", given->strings_size());
      return false;
    }
    names.assign(given->strings().begin(), given->strings().end());
  }
  // Each activation takes the next number if it has that parameter.
  const std::vector<double> alphas = n_.Floats("activation_alpha");
  const std::vector<double> betas = n_.Floats("activation_beta");
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    std::optional<Activation> activation = FindActivation(name);
    if (!activation) {
      n_.Unsupported("activation '{0}'", name);
      return false;
    }
    if (activation->has_alpha && alpha < alphas.size()) activation->alpha = alphas[alpha++];
    if (activation->has_beta && beta < betas.size()) activation->beta = betas[beta++];
    activations_.push_back(std::move(*activation));
  }
  return true;
}

Value* Recurrent::Activate(size_t which, Value* x) {
  const size_t each = activations_.size() / static_cast<size_t>(directions_);
  const Activation& a = activations_[static_cast<size_t>(direction_) * each + which];
  if (clip_ > 0 && which < 2) x = n_.Call("clip", {x}, {{"low", -clip_}, {"high", clip_}});
  if (a.op == "affine") return n_.Add(n_.Mul(x, n_.Scalar(a.alpha, x)), n_.Scalar(a.beta, x));
  if (a.op == "scaled_tanh")
    return n_.Mul(n_.Call("tanh", {n_.Mul(x, n_.Scalar(a.beta, x))}), n_.Scalar(a.alpha, x));
  if (a.has_beta) return n_.Call(a.op, {x}, {{"alpha", a.alpha}, {"beta", a.beta}});
  if (a.has_alpha) return n_.Call(a.op, {x}, {{"alpha", a.alpha}});
  return n_.Call(a.op, {x});
}

Value* Recurrent::Part(Value* all, int64_t first, int64_t count, llvm::StringRef name) {
  if (all == nullptr) return nullptr;
  if (const Constant* constant = n_.importer().FindConstant(all))
    return n_.Parameter(RowsOf(*constant, direction_, first * size_, count * size_), NameFor(name));
  Value* part = n_.Call("gather", {all, n_.Scalar(static_cast<double>(direction_), DType::kI64)});
  if (part == nullptr || part->type().dims[0].is_constant(count * size_)) return part;
  return n_.Call("slice", {part},
                 {{"axes", std::vector<int64_t>{0}},
                  {"starts", Shape{first * size_}},
                  {"stops", Shape{(first + count) * size_}}});
}

Value* Recurrent::Weights(int64_t first, int64_t count, llvm::StringRef name) {
  if (const Constant* constant = n_.importer().FindConstant(r_)) {
    return n_.Parameter(Transposed(RowsOf(*constant, direction_, first * size_, count * size_)),
                        NameFor(name));
  }
  return n_.Transpose(Part(r_, first, count, name), {1, 0});
}

Value* Recurrent::Bias() {
  if (b_ == nullptr) return nullptr;
  const Constant* constant = n_.importer().FindConstant(b_);
  const int64_t inside = ResetsProduct() ? 1 : 0;
  if (constant != nullptr && constant->dtype() == DType::kF32) {
    const Constant of_x = RowsOf(*constant, direction_, 0, gates_ * size_);
    const Constant of_h = RowsOf(*constant, direction_, gates_ * size_, gates_ * size_);
    std::vector<float> sums(of_x.values<float>());
    for (size_t i = 0; i < static_cast<size_t>((gates_ - inside) * size_); ++i)
      sums[i] += of_h.values<float>()[i];
    return n_.Parameter(Constant::Copy(DType::kF32, of_x.sizes(), sums.data()), NameFor("b"));
  }
  Value* sums =
      n_.Add(Part(b_, 0, gates_ - inside, "b_x"), Part(b_, gates_, gates_ - inside, "b_h"));
  if (inside == 0) return sums;
  return n_.Call("concat", {sums, Part(b_, gates_ - inside, inside, "b_x_new")});
}

Value* Recurrent::FirstState(Value* all) {
  if (all == nullptr) {
    const Shape& dims = x_->type().dims;
    return n_.Filled({dims[by_batch_ ? 0 : 1], size_}, 0, x_->type().dtype);
  }
  const int64_t axis = by_batch_ ? 1 : 0;
  if (directions_ == 1) return n_.Call("squeeze", {all}, {{"axes", std::vector<int64_t>{axis}}});
  return n_.Call("gather", {all, n_.Scalar(static_cast<double>(direction_), DType::kI64)},
                 {{"axis", axis}});
}

std::vector<Value*> Recurrent::Split(Value* gates, llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<Value*> parts =
      n_.CallAll("split", {gates}, {{"parts", static_cast<int64_t>(names.size())}, {"axis", 1}});
  for (size_t i = 0; i < parts.size(); ++i) Named(parts[i], names[i]);
  parts.resize(names.size());
  return parts;
}

std::vector<Value*> Recurrent::StepRnn(llvm::ArrayRef<Value*> given) {
  Value* h = Activate(0, n_.Add(given[0], n_.Call("matmul", {given[1], weights_})));
  Named(h, "hidden");
  return {h, h};
}

std::vector<Value*> Recurrent::StepLstm(llvm::ArrayRef<Value*> given) {
  Value* before = given[2];
  Value* sums = n_.Add(given[0], n_.Call("matmul", {given[1], weights_}));
  const std::vector<Value*> parts = Split(Named(sums, "sums"), {"i", "o", "f", "g"});
  auto look = [&](Value* gate, Value* peephole, Value* cell) {
    return peephole == nullptr ? gate : n_.Add(gate, n_.Mul(peephole, cell));
  };
  Value* i = Activate(0, look(parts[0], peephole_i_, before));
  Value* f = n_.Int("input_forget", 0) != 0 ? n_.Sub(n_.Scalar(1, i), i)
                                            : Activate(0, look(parts[2], peephole_f_, before));
  Value* cell = n_.Add(n_.Mul(f, before), n_.Mul(i, Activate(1, parts[3])));
  Value* o = Activate(0, look(parts[1], peephole_o_, Named(cell, "cell")));
  Value* h = Named(n_.Mul(o, Activate(2, cell)), "hidden");
  return {h, cell, h};
}

std::vector<Value*> Recurrent::StepGru(llvm::ArrayRef<Value*> given) {
  Value* h = given[1];
  Value *z = nullptr, *r = nullptr, *next = nullptr;
  if (ResetsProduct()) {
    const std::vector<Value*> of_x = Split(given[0], {"z_x", "r_x", "n_x"});
    Value* product = Named(n_.Call("matmul", {h, weights_}), "parts");
    const std::vector<Value*> of_h = Split(product, {"z_h", "r_h", "n_h"});
    z = Activate(0, n_.Add(of_x[0], of_h[0]));
    r = Activate(0, n_.Add(of_x[1], of_h[1]));
    Value* part = new_bias_ == nullptr ? of_h[2] : n_.Add(of_h[2], new_bias_);
    next = n_.Add(of_x[2], n_.Mul(r, part));
  } else {
    const std::vector<Value*> of_x =
        n_.CallAll("split", {given[0]}, {{"sizes", Shape{2 * size_, size_}}, {"axis", 1}});
    if (of_x.empty()) return {};
    const std::vector<Value*> both =
        Split(Activate(0, n_.Add(of_x[0], n_.Call("matmul", {h, weights_}))), {"z", "r"});
    z = both[0];
    r = both[1];
    next = n_.Add(of_x[1], n_.Call("matmul", {n_.Mul(r, h), new_weights_}));
  }
  next = Named(Activate(1, next), "n");
  h = Named(n_.Add(n_.Mul(n_.Sub(n_.Scalar(1, z), z), next), n_.Mul(z, h)), "hidden");
  return {h, h};
}

/// The outputs of all steps, and the last carried values.
std::vector<Value*> Recurrent::Direction() {
  const bool is_gru = n_.op_type() == "GRU";
  const int64_t at_once = is_gru && !ResetsProduct() ? 2 : gates_;
  weights_ = Weights(0, at_once, "w_h");
  if (at_once < gates_) new_weights_ = Weights(at_once, 1, "w_new");
  if (ResetsProduct()) new_bias_ = Part(b_, 2 * gates_ - 1, 1, "b_new");
  peephole_i_ = Part(peepholes_, 0, 1, "p_i");
  peephole_o_ = Part(peepholes_, 1, 1, "p_o");
  peephole_f_ = Part(peepholes_, 2, 1, "p_f");
  Value* gates = n_.Call("matmul", {x_, Part(w_, 0, gates_, "w_x")}, {{"transpose_b", true}});
  if (Value* bias = Bias()) gates = n_.Add(gates, bias);
  Node::Loop loop;
  loop.xs = {Named(gates, "gates")};
  loop.init = {FirstState(first_h_)};
  loop.names = {"gates", "h"};
  if (IsLstm()) {
    loop.init.push_back(FirstState(first_c_));
    loop.names.push_back("c");
  }
  loop.lengths = lengths_;
  loop.axis = by_batch_ ? 1 : 0;
  loop.reverse = direction_ == 1 || n_.String("direction", "forward") == "reverse";
  return n_.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    return IsLstm() ? StepLstm(given) : is_gru ? StepGru(given) : StepRnn(given);
  });
}

bool Recurrent::ReadInputs() {
  x_ = n_.In(0);
  w_ = n_.In(1);
  r_ = n_.In(2);
  b_ = n_.OptionalIn(3);
  lengths_ = n_.Cast(n_.OptionalIn(4), DType::kI64);
  first_h_ = n_.OptionalIn(5);
  first_c_ = IsLstm() ? n_.OptionalIn(6) : nullptr;
  peepholes_ = IsLstm() ? n_.OptionalIn(7) : nullptr;
  if (n_.failed()) return false;
  for (const Value* value : {x_, w_, r_, first_h_, first_c_})
    if (value != nullptr && value->type().rank() != 3) n_.Fail("3 dims are required");
  if (n_.failed()) return false;
  const Dim& size = r_->type().dims[2];
  if (!size.is_constant()) {
    n_.Unsupported("a state of unknown width");
    return false;
  }
  size_ = size.constant();
  auto check = [&](const Value* value, llvm::StringRef name, llvm::ArrayRef<Dim> dims) {
    if (value == nullptr) return;
    bool fits = value->type().rank() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      const Dim& dim = value->type().dims[i];
      fits = dim == dims[i] || !dim.is_constant() || !dims[i].is_constant();
    }
    if (!fits)
      n_.Fail("{0} must be {1}, got {2}", name, Type(x_->type().dtype, Shape(dims)).ToString(),
              value->type().ToString());
  };
  check(w_, "W", {directions_, gates_ * size_, x_->type().dims[2]});
  check(r_, "R", {directions_, gates_ * size_, size_});
  check(b_, "B", {directions_, 2 * gates_ * size_});
  check(peepholes_, "P", {directions_, 3 * size_});
  return !n_.failed();
}

void Recurrent::Convert() {
  directions_ = n_.String("direction", "forward") == "bidirectional" ? 2 : 1;
  by_batch_ = n_.Int("layout", 0) != 0;
  clip_ = n_.Float("clip", 0);
  if (!ReadInputs() || !ReadActivations()) return;
  std::vector<Value*> ys, last_h, last_c;
  for (direction_ = 0; direction_ < directions_; ++direction_) {
    const std::vector<Value*> results = Direction();
    if (n_.failed()) return;
    ys.push_back(results[0]);
    last_h.push_back(results[1]);
    if (IsLstm()) last_c.push_back(results[2]);
    constexpr llvm::StringLiteral kNames[] = {"y", "last", "cell"};
    for (size_t i = 0; i < results.size(); ++i) Named(results[i], kNames[i]);
  }
  auto stack = [&](const std::vector<Value*>& all, int64_t axis) {
    if (all.size() > 1) return n_.Call("stack", all, {{"axis", axis}});
    return n_.Call("unsqueeze", {all[0]}, {{"axes", std::vector<int64_t>{axis}}});
  };
  if (n_.IsUsed(0)) n_.Out(0, stack(ys, by_batch_ ? 2 : 1));
  if (n_.IsUsed(1)) n_.Out(1, stack(last_h, by_batch_ ? 1 : 0));
  if (IsLstm() && n_.IsUsed(2)) n_.Out(2, stack(last_c, by_batch_ ? 1 : 0));
}

void ConvertRnn(Node& n) { Recurrent(n, 1).Convert(); }
void ConvertGru(Node& n) { Recurrent(n, 3).Convert(); }
void ConvertLstm(Node& n) { Recurrent(n, 4).Convert(); }

// A loop whose state decays and is corrected, updated and read in each step.
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
  const Dim width = Dim::FloorDiv(q->type().dims[2], q_heads);
  const Dim value_width = Dim::FloorDiv(v->type().dims[2], k_heads);
  if (!width.is_constant()) return n.Unsupported("heads of unknown width");
  double scale = n.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(width.constant()));
  const std::string rule = n.String("update_rule", "gated_delta");
  auto split = [&](Value* x, const Dim& heads, const Dim& last) {
    return n.Reshape(n.Cast(x, DType::kF32), {batch, steps, heads, last});
  };
  Node::Loop loop;
  loop.axis = 1;
  loop.names = {"q", "k", "v"};
  loop.xs = {split(q, q_heads, width), split(k, k_heads, width), split(v, k_heads, value_width)};
  const bool decays = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  for (const auto& [is_there, index, name] :
       {std::tuple(decays, 4u, "decay"), std::tuple(corrects, 5u, "beta")}) {
    if (!is_there) continue;
    Value* part = n.In(index);
    if (part == nullptr) return;
    if (part->type().rank() != 3) return n.Fail("{0} dims, not 3", part->type().rank());
    const Dim& last = part->type().dims[2];
    loop.xs.push_back(index == 4 ? split(part, k_heads, Dim::FloorDiv(last, k_heads))
                                 : split(part, last, 1));
    loop.names.emplace_back(name);
  }
  loop.names.emplace_back("state");
  Value* past = n.OptionalIn(3);
  const DType state_dtype = past == nullptr ? dtype : past->type().dtype;
  loop.init = {past == nullptr ? n.Filled({batch, k_heads, width, value_width}, 0, DType::kF32)
                               : n.Cast(past, DType::kF32)};
  const std::vector<Value*> results = n.Scan(loop, [&](llvm::ArrayRef<Value*> given) {
    auto as_rows = [&](Value* x) {
      return n.Call("unsqueeze", {x}, {{"axes", std::vector<int64_t>{2}}});
    };
    auto as_columns = [&](Value* x) {
      return n.Call("unsqueeze", {x}, {{"axes", std::vector<int64_t>{3}}});
    };
    Value* key = given[1];
    Value* value = given[2];
    Value* state = given.back();
    if (decays) state = n.Mul(state, as_columns(n.Call("exp", {given[3]})));
    if (corrects) {
      Value* held = n.Call("squeeze", {n.Call("matmul", {as_rows(key), state})},
                           {{"axes", std::vector<int64_t>{2}}});
      value = n.Mul(given[decays ? 4 : 3], n.Sub(value, held));
    }
    state = n.Add(state, n.Mul(as_columns(key), as_rows(value)));
    Value* query = n.Reshape(given[0], {batch, k_heads, q_heads / k_heads, width});
    Value* read = n.Call("matmul", {query, state});
    read = n.Reshape(n.Mul(read, n.Scalar(scale, read)), {batch, q_heads * value_width});
    return std::vector<Value*>{state, read};
  });
  if (n.failed()) return;
  n.Out(0, n.Cast(results[0], dtype));
  n.Out(1, n.Cast(results[1], state_dtype));
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
