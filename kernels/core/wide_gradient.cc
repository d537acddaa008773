#include "kernels/core/wide_gradient.h"

#include "llvm/ADT/DenseMap.h"

namespace pdl {
namespace {

// The values of a forward call, cast to the wide dtype.
class WideValues : public GradientContext::Source {
 public:
  explicit WideValues(GradientContext& g) : g_(g) {}

  Value* Get(Value* value) override {
    auto [found, is_new] = wide_.try_emplace(value, nullptr);
    if (is_new) found->second = Widen(g_, Own(value));
    return found->second;
  }

 private:
  // The value that a rule that is not widened gets for `value`.
  Value* Own(Value* value) {
    for (unsigned i = 0; i < g_.num_inputs(); ++i)
      if (g_.op().operands()[i] == value) return g_.input(i);
    for (unsigned i = 0; i < g_.op().results().size(); ++i)
      if (g_.op().result(i) == value) return g_.output(i);
    return value;
  }

  GradientContext& g_;
  llvm::DenseMap<Value*, Value*> wide_;
};

}  // namespace

Value* CastTo(GradientContext& g, Value* value, DType dtype) {
  if (value == nullptr || value->type().dtype == dtype) return value;
  return g.Call("cast", {value}, {{"to", dtype}});
}

void EmitWide(GradientContext& g, GradientFunction rule) {
  const DType dtype = g.op().result()->type().dtype;
  if (WideDType(dtype) == dtype) return rule(g);
  WideValues values(g);
  llvm::SmallVector<Value*, 2> output_gradients;
  for (unsigned i = 0; i < g.op().results().size(); ++i)
    output_gradients.push_back(Widen(g, g.output_gradient(i)));
  GradientContext wide(g.graph(), g.registry(), g.op(), output_gradients, &values);
  rule(wide);
  if (llvm::Error error = wide.TakeError()) return g.Fail(llvm::toString(std::move(error)));
  for (unsigned i = 0; i < g.num_inputs(); ++i) {
    if (Value* gradient = wide.input_gradients()[i])
      g.SetInputGradient(i, CastTo(g, gradient, g.op().operands()[i]->type().dtype));
  }
}

}  // namespace pdl
