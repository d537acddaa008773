#include "kernels/core/formula_gradient.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"

namespace pdl {

void DifferentiateFormula(GradientContext& g, ResultFormula formula) {
  const BlockId block = g.op().block();
  const size_t first = g.graph().block(block).ops.size();
  const std::vector<Value*> results = formula(g);
  std::vector<Value*> outputs, cotangents, inputs;
  for (unsigned i = 0; i < results.size(); ++i) {
    if (g.output_gradient(i) == nullptr) continue;
    // An emitted call has failed; TakeError reports it.
    if (results[i] == nullptr) return;
    outputs.push_back(results[i]);
    cotangents.push_back(g.output_gradient(i));
  }
  // A value that is passed several times gets its complete gradient at its first index.
  std::vector<unsigned> indices;
  for (unsigned i = 0; i < g.num_inputs(); ++i) {
    if (!IsFloat(g.input(i)->type().dtype) || llvm::is_contained(inputs, g.input(i))) continue;
    inputs.push_back(g.input(i));
    indices.push_back(i);
  }
  const std::vector<Op*> calls =
      llvm::ArrayRef<Op*>(g.graph().block(block).ops).drop_front(first).vec();
  llvm::Expected<std::vector<Value*>> gradients =
      Differentiate(g.graph(), g.registry(), {block, outputs, cotangents, inputs, calls});
  if (!gradients) return g.Fail(llvm::toString(gradients.takeError()));
  for (auto [index, gradient] : llvm::zip_equal(indices, *gradients))
    g.SetInputGradient(index, gradient);
}

}  // namespace pdl
