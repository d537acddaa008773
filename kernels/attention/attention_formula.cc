#include "kernels/attention/attention_formula.h"

#include <limits>

#include "kernels/attention/attention_inference.h"

namespace pdl {

AttentionFormula::AttentionFormula(GradientContext& g, const AttentionOperands& operands)
    : g_(g), operands_(operands), wide_(LseDType(operands.q->type().dtype)) {
  const Shape &q = operands.q->type().dims, &k = operands.k->type().dims;
  const size_t rank = q.size();
  scores_ = q;
  scores_.back() = k[rank - 2];
  const bool has_groups = rank > 2 && q[rank - 3] != k[rank - 3];
  sharing_ = has_groups ? Dim::FloorDiv(q[rank - 3], k[rank - 3]) : Dim(1);
  q_ = Widen(operands.q);
  k_ = Widen(operands.k);
  v_ = Widen(operands.v);
  dy_ = Widen(operands.dy);
  p_ = g.Call("exp", {LogProbabilities()});
  ds_ = g.Mul(p_, g.Sub(Product(dy_, v_), Column(operands.shift)));
}

Value* AttentionFormula::QueryGradients() {
  Value* dq = Reshape(g_.Call("matmul", {Fold(ds_), k_}), operands_.q->type().dims);
  return g_.Call("cast", {Scaled(dq)}, {{"to", operands_.q->type().dtype}});
}

Value* AttentionFormula::KeyGradients() { return SumOverQueries(Scaled(ds_), q_, operands_.k); }

Value* AttentionFormula::ValueGradients() { return SumOverQueries(p_, dy_, operands_.v); }

Value* AttentionFormula::Widen(Value* value) {
  if (value == nullptr || value->type().dtype == wide_) return value;
  return g_.Call("cast", {value}, {{"to", wide_}});
}

Value* AttentionFormula::Reshape(Value* value, Shape dims) {
  if (value == nullptr || value->type().dims == dims) return value;
  return g_.Call("reshape", {value}, {{"dims", std::move(dims)}});
}

Value* AttentionFormula::Fold(Value* value) {
  if (value == nullptr || sharing_.is_constant(1)) return value;
  Shape dims = value->type().dims;
  const size_t rank = dims.size();
  dims[rank - 3] = operands_.k->type().dims[rank - 3];
  dims[rank - 2] = sharing_ * dims[rank - 2];
  return Reshape(value, std::move(dims));
}

Value* AttentionFormula::Column(Value* rows) {
  return g_.Call("unsqueeze", {rows}, {{"axes", std::vector<int64_t>{-1}}});
}

Value* AttentionFormula::Product(Value* a, Value* b) {
  return Reshape(g_.Call("matmul", {Fold(a), b}, {{"transpose_b", true}}), scores_);
}

Value* AttentionFormula::SumOverQueries(Value* a, Value* b, Value* like) {
  Value* sum = g_.Call("matmul", {Fold(a), Fold(b)}, {{"transpose_a", true}});
  return g_.Call("cast", {Reshape(sum, like->type().dims)}, {{"to", like->type().dtype}});
}

Value* AttentionFormula::Scaled(Value* value) {
  const bool has_scale = g_.attributes().Has("scale");
  const Shape depth = {operands_.q->type().dims.back()};
  Value* scale = has_scale
                     ? g_.Scalar(g_.attributes().Float("scale"), value)
                     : g_.Call("rsqrt", {g_.Call("size", {}, {{"dims", depth}, {"dtype", wide_}})});
  return g_.Mul(value, scale);
}

Value* AttentionFormula::LogProbabilities() {
  Value* mask = operands_.mask;
  const bool is_added = mask != nullptr && IsFloat(mask->type().dtype);
  Value* s = Scaled(Product(q_, k_));
  if (is_added) s = g_.Add(s, Widen(mask));
  s = g_.Sub(s, Column(operands_.lse));
  if (s == nullptr) return nullptr;
  // Before the exponential, whose derivative is then 0, too.
  const double kNever = -std::numeric_limits<double>::infinity();
  const auto keep_where = [&](Value* condition) {
    s = g_.Call("where", {condition, s, g_.Scalar(kNever, s)});
  };
  if (mask != nullptr && !is_added) keep_where(mask);
  if (g_.attributes().Bool("causal")) {
    const size_t rank = scores_.size();
    const auto range_to = [&](const Dim& stop) {
      return g_.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{stop}}});
    };
    Value* rows = range_to(scores_[rank - 2]);
    if (operands_.past != nullptr)
      rows = g_.Add(rows, g_.Call("cast", {operands_.past}, {{"to", DType::kI64}}));
    keep_where(g_.Call("less_equal", {range_to(scores_.back()), Column(rows)}));
  }
  // A row that attends to no key has no probabilities.
  keep_where(Column(g_.Call("greater", {operands_.lse, g_.Scalar(kNever, operands_.lse)})));
  return s;
}

}  // namespace pdl
