#include "frontend/elaborate/calls.h"

#include "frontend/elaborate/argument_binder.h"
#include "frontend/elaborate/builtins.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/gradients.h"
#include "frontend/elaborate/layer_argument_reader.h"
#include "frontend/elaborate/layer_calls.h"
#include "frontend/elaborate/name_table.h"

namespace pdl {

CallResults Calls::EvaluateCall(const ast::CallExpr* expr, const Operand* piped, Targets targets) {
  if (const auto* callee = llvm::dyn_cast<ast::NameExpr>(expr->callee);
      callee != nullptr && callee->name == "grad") {
    return gradients_.EvaluateGrad(expr, piped, targets);
  }
  if (std::optional<Datum> builtin = builtins_.EvaluateBuiltin(expr, piped)) {
    CallResults results;
    if (!builtin->is_poison()) results.all.push_back({"", std::move(*builtin), expr->range});
    return results;
  }
  const Callee callee = callees_.ResolveCallee(expr->callee);
  if (callee.function != nullptr) return functions_.Apply(callee.function, expr, piped, targets);
  if (callee.is_network()) {
    LayerArguments arguments;
    argument_reader_.ReadLayerArguments(callee, expr, piped, &arguments);
    const std::string path = names_.TakePath(
        callee.name.rsplit('.').second.empty() ? callee.name : callee.name.rsplit('.').second,
        !targets.empty());
    return layers_.CallLayer(callee, arguments, path, at_.frame->is_instance, at_.frame->active,
                             targets);
  }
  if (callee.op == nullptr) {
    // The arguments may contain errors of their own. A call may be a function here.
    for (const ast::Argument& argument : expr->arguments) {
      const bool may_be_function = argument.is_named() && llvm::isa<ast::CallExpr>(argument.value);
      if (argument.value->kind != ast::ExprKind::kRecord && !may_be_function)
        expressions_.Evaluate(argument.value);
    }
    return {};
  }
  Call call;
  call.def = callee.op;
  call.place = expr->callee->range;
  binder_.BindArguments(expr, piped, &call);
  return emitter_.ResultsOf(emitter_.Emit(call, targets));
}

CallResults Calls::EvaluatePipe(const ast::ChainExpr* chain, Targets targets) {
  Operand piped{expressions_.Evaluate(chain->operands[0]), chain->operands[0]->range};
  CallResults results;
  for (size_t i = 1; i < chain->operands.size(); ++i) {
    if (i > 1) piped.datum = expressions_.UseFirst(results, piped.range);
    const auto* stage = llvm::cast<ast::CallExpr>(chain->operands[i]);
    const bool is_last = i + 1 == chain->operands.size();
    results = EvaluateCall(stage, &piped, is_last ? targets : Targets());
    piped.range = Span(chain->operands[0]->range, stage->range);
  }
  return results;
}

}  // namespace pdl
