#include "frontend/elaborate/layer_calls.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/layer_attributes.h"
#include "frontend/elaborate/layer_conditions.h"
#include "frontend/elaborate/layer_inputs.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/statements.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool LayerCalls::MayCall(const Callee& callee, const void* identity, SourceRange place,
                         llvm::ArrayRef<const void*> active) {
  if (llvm::is_contained(active, identity)) {
    report_.Error(Code::kRecursion, place,
                  "'" + callee.name + "' calls itself" +
                      (active.back() == identity ? "" : ", through other layers"));
    return false;
  }
  const CompileLimits& limits = request_.limits;
  if (at_.depth >= limits.layer_depth) {
    report_.Error(Code::kNestingTooDeep, place,
                  "layers nested deeper than " + llvm::Twine(limits.layer_depth));
    return false;
  }
  return budget_.SpendLayerCall(place);
}

CallResults LayerCalls::CallLayer(const Callee& callee, const LayerArguments& arguments,
                                  llvm::StringRef path, bool is_instance,
                                  llvm::ArrayRef<const void*> active, Targets targets) {
  CallResults results;
  values_.incomplete_paths.insert(path);
  if (arguments.is_poison) return results;
  const void* const identity =
      callee.layer != nullptr ? static_cast<const void*>(callee.layer) : callee.module;
  if (!MayCall(callee, identity, arguments.place, active)) return results;
  TextFrame frame;
  frame.module = callee.module;
  frame.path = path.str() + ".";
  frame.caller = at_.frame;
  frame.caller_file = at_.file;
  frame.place = arguments.place;
  frame.callee = callee.name;
  frame.origin = at_.AddLocation(graph_, arguments.place.begin);
  frame.training_off = at_.frame->training_off || arguments.training_off;
  frame.recompute = at_.frame->recompute;
  if (frame.recompute == 0 && arguments.recompute) frame.recompute = ++values_.recomputed;
  frame.is_instance = is_instance;
  frame.given_parameters = at_.frame->given_parameters;
  std::optional<ParameterValues> given;
  if (arguments.params != nullptr) {
    if (at_.IsRepeated() && !budget_.Spend(graph_.parameters().size() / 8, arguments.place))
      return results;
    given = given_parameters_.Begin(*arguments.params, callee.name, path);
    if (!given) return results;
    frame.given_parameters = &*given;
  }
  frame.active.assign(active.begin(), active.end());
  frame.active.push_back(identity);
  frame.result_names = targets;
  if (callee.module->file_index == UINT32_MAX) {
    const std::shared_ptr<const SourceFile>& file = callee.module->file;
    callee.module->file_index = graph_.AddFile(file->name(), SourceFile::TextOf(file));
  }
  Expand(callee, arguments, &frame);
  if (given && !frame.results.empty() && !given_parameters_.End(*given)) frame.results.clear();
  const bool is_whole =
      !frame.results.empty() && llvm::none_of(frame.results, [](const CallResult& result) {
        return result.datum.holds_poison();
      });
  if (is_whole) values_.incomplete_paths.erase(path);
  if (at_.observer != nullptr) at_.observer->OnLayerCall(at_, arguments, frame.results);
  results.all.append(std::make_move_iterator(frame.results.begin()),
                     std::make_move_iterator(frame.results.end()));
  return results;
}

void LayerCalls::Expand(const Callee& callee, const LayerArguments& arguments, TextFrame* frame) {
  const size_t errors = report_.diagnostics().num_errors();
  const FrameScope scope(&at_, frame);
  llvm::ArrayRef<const ast::Statement*> statements;
  bool ok = true;
  if (callee.layer != nullptr) {
    ok = BindLayer(callee.layer, arguments);
    statements = callee.layer->body.statements;
  } else {
    frame->arguments = &arguments;
    statements = callee.module->ast->statements;
  }
  ok &= budget_.Spend(names_.ReserveVariables(statements) / 8, arguments.place);
  for (const ast::Statement* statement : statements) {
    if (!ok || frame->returned) break;
    statements_.Elaborate(statement);
  }
  ok &= !frame->assert_failed;
  if (ok && frame->arguments != nullptr && frame->next_operand < arguments.operands.size()) {
    report_.CallerError(Code::kOperandCount, arguments.operands[frame->next_operand].range,
                        "'" + callee.name + "' has " + llvm::Twine(frame->next_operand) +
                            " inputs, got " + llvm::Twine(arguments.operands.size()));
    ok = false;
  }
  if (ok && frame->results.empty() && report_.diagnostics().num_errors() == errors) {
    report_.CallerError(
        Code::kNoResult, arguments.place,
        "'" + callee.name + "' " + (callee.layer != nullptr ? "returns nothing" : "has no output"));
  }
  if (!ok) frame->results.clear();
  if (frame->missing_input.empty() || report_.diagnostics().num_errors() != errors) return;
  for (CallResult& result : frame->results) {
    if (result.datum.holds_poison())
      result.missing = "input '" + frame->missing_input + "' of '" + callee.name.str() + "'";
  }
}

bool LayerCalls::BindLayer(const ast::LayerStatement* layer, const LayerArguments& arguments) {
  if (!layer_attributes_.BindLayerAttributes(layer, arguments)) return false;
  if (!layer_inputs_.BindLayerInputs(layer, arguments)) return false;
  return layer_conditions_.CheckCallerKeeps(layer->where);
}

}  // namespace pdl
