// The gradients of attention by their definition, with values for all pairs of a query and a key.
#ifndef PDL_KERNELS_ATTENTION_ATTENTION_FORMULA_H_
#define PDL_KERNELS_ATTENTION_ATTENTION_FORMULA_H_

#include "pdl/op/gradient.h"

namespace pdl {

/// The operands of `attention`, and those that `attention_gradient` adds to them. `past` is null
/// where it is omitted, and so is `mask`.
struct AttentionOperands {
  Value *q, *k, *v;
  Value *lse, *dy, *shift;
  Value *past, *mask;
};

/// Emits the formulas of the gradients of attention, in f64 if q is f64, else in f32:
///
///   p  = exp(scale * q k^T + mask - lse)   the probabilities, 0 where a query sees no key
///   ds = p * (dy v^T - shift)              the gradients of the scores
///
/// Heads that share a head of keys are laid out as more rows of that head, so that no key is
/// copied. After an error all results are null, as those of GradientContext::Call are.
class AttentionFormula {
 public:
  /// `g.attributes()` must have the attributes of attention.
  AttentionFormula(GradientContext& g, const AttentionOperands& operands);

  /// ds, [..., H, T, S].
  Value* ScoreGradients() const { return ds_; }
  /// The gradients of q, k and v: scale * ds k, scale * ds^T q and p^T dy, with their types.
  Value* QueryGradients();
  Value* KeyGradients();
  Value* ValueGradients();

 private:
  Value* Widen(Value* value);
  /// [..., H, T, X] as [..., G, H / G * T, X].
  Value* Fold(Value* value);
  Value* Reshape(Value* value, Shape dims);
  /// [..., H, T] as [..., H, T, 1].
  Value* Column(Value* rows);
  /// a b^T for each query and key, [..., H, T, S].
  Value* Product(Value* a, Value* b);
  /// a^T b summed over all queries of a head of keys, cast to the type of `like`.
  Value* SumOverQueries(Value* a, Value* b, Value* like);
  /// The scores minus lse; -inf where a query does not see a key.
  Value* LogProbabilities();
  Value* Scaled(Value* value);

  GradientContext& g_;
  AttentionOperands operands_;
  DType wide_;
  Shape scores_;  // [..., H, T, S]
  Dim sharing_;   // heads of queries for each head of keys
  Value* q_;      // operands in the wide dtype
  Value* k_;
  Value* v_;
  Value* dy_;
  Value* p_;
  Value* ds_;
};

}  // namespace pdl

#endif  // PDL_KERNELS_ATTENTION_ATTENTION_FORMULA_H_
