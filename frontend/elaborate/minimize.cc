#include "frontend/elaborate/minimize.h"

#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/gradients.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/training_step.h"
#include "frontend/format/format_tokens.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"

namespace pdl {

namespace {

/// The range of the parameters, or else of the loss.
SourceRange PlaceOfParameters(const ast::MinimizeStatement* statement) {
  return statement->over != nullptr ? statement->over->range : statement->loss->range;
}

}  // namespace

bool Minimize::ReadLoss(const ast::MinimizeStatement* statement, GraphTraining* training) {
  const Datum datum = expressions_.Evaluate(statement->loss);
  Value* loss = datum.tensor();
  training->loss = loss;
  if (datum.holds_poison()) return false;
  if (loss != nullptr && loss->type().is_scalar() && IsFloat(loss->type().dtype)) return true;
  Diagnostic& diagnostic =
      report_.Error(Code::kBadMinimize, statement->loss->range,
                    "a loss is a floating-point scalar, got " +
                        (loss == nullptr ? datum.Phrase() : loss->type().ToString()));
  if (loss != nullptr && IsFloat(loss->type().dtype))
    diagnostic.Note("mean(" + at_.file->Text(statement->loss->range).str() + ") is one");
  return false;
}

bool Minimize::ReadTrained(const ast::MinimizeStatement* statement, bool ok,
                           GraphTraining* training) {
  const SourceRange place = PlaceOfParameters(statement);
  std::vector<Value*> parameters;
  if (statement->over != nullptr) {
    ok &= parameter_names_.ReadParameters(statement->over, &parameters);
  } else {
    parameters.assign(graph_.parameters().begin(), graph_.parameters().end());
  }
  for (Value* parameter : parameters)
    if (parameter->variable().trainable) training->parameters.push_back(parameter);
  // The layers that have them may have failed.
  if (training->parameters.empty() && report_.diagnostics().has_errors()) ok = false;
  if (ok && training->parameters.empty()) {
    const std::string where =
        statement->over != nullptr ? " of '" + at_.file->Text(place).str() + "'" : "";
    report_.Error(Code::kBadMinimize, place,
                  "there is nothing to learn: no parameter" + where + " is trainable");
    ok = false;
  }
  for (const GraphTraining& other : graph_.trainings()) {
    const auto shared = llvm::find_if(training->parameters, [&](const Value* parameter) {
      return llvm::is_contained(other.parameters, parameter);
    });
    if (!ok || shared == training->parameters.end()) continue;
    Diagnostic& diagnostic =
        report_.Error(Code::kBadMinimize, place,
                      "'" + (*shared)->name() + "' is already trained by another minimize");
    report_.NoteAtLocation(&diagnostic, other.location, "here");
    ok = false;
  }
  return ok;
}

bool Minimize::CheckOptimizer(const Datum& with, SourceRange place) {
  if (with.is_poison()) return false;
  const auto* optimizer = with.get<Datum::FunctionValue>();
  size_t tensors = 0;
  if (optimizer != nullptr && (*optimizer)->callee.layer != nullptr) {
    for (const ast::Parameter& parameter : (*optimizer)->callee.layer->parameters) {
      tensors += parameter.type->is_tensor() && parameter.default_value == nullptr &&
                 !parameter.is_repeatable;
    }
  }
  if (tensors == 2) return true;
  report_.Error(Code::kBadMinimize, place,
                "an optimizer is a layer of a parameter and its gradient, such as adam(lr=0.001)");
  return false;
}

bool Minimize::ReadEvery(const ast::Expr* expr, GraphTraining* training) {
  const Datum every = expressions_.Evaluate(expr);
  const auto* number = every.get<int64_t>();
  if (number != nullptr && *number >= 1 && *number <= INT32_MAX) {
    training->every = static_cast<uint32_t>(*number);
    return true;
  }
  if (!every.holds_poison()) {
    report_.Error(Code::kBadMinimize, expr->range,
                  "'every' counts steps: an int of at least 1, got " + every.Phrase());
  }
  return false;
}

void Minimize::ElaborateMinimize(const ast::MinimizeStatement* statement) {
  at_.frame->base = "loss";
  GraphTraining training;
  bool ok = ReadLoss(statement, &training);
  training.location = at_.AddLocation(graph_, statement->range.begin);
  ok = ReadTrained(statement, ok, &training);
  OptimizerNames names;
  const Datum with = ReadOptimizer(statement->with, &names);
  ok &= CheckOptimizer(with, statement->with->range);
  training.optimizer = OptimizerText(statement->with->range, names);
  if (statement->every != nullptr) ok &= ReadEvery(statement->every, &training);
  if (!ok || !CheckReached(statement, &training)) return;
  if (request_.training_step)
    training_step_.ElaborateStep(statement, **with.get<Datum::FunctionValue>(), &training);
  graph_.AddTraining(std::move(training));
}

Datum Minimize::ReadOptimizer(const ast::Expr* expr, OptimizerNames* names) {
  const size_t num_ops = graph_.ops().size();
  Value* const training = training_.training;
  at_.optimizer = names;
  Datum optimizer = functions_.ReadFunction(expr);
  at_.optimizer = nullptr;
  if (request_.training_step) return optimizer;
  // The computation of a learning rate only belongs to training.
  llvm::DenseSet<const Op*> added;
  for (const Op* op : graph_.ops().drop_front(num_ops)) added.insert(op);
  graph_.EraseOps({}, [&](const Op& op) { return added.contains(&op); });
  training_.training = training;
  return optimizer;
}

std::string Minimize::OptimizerText(SourceRange range, const OptimizerNames& names) const {
  std::string text;
  uint32_t from = range.begin;
  for (const auto& [begin, name] : names) {
    text += at_.file->Text({from, begin});
    text += name.second;
    from = name.first.end;
  }
  return OneLine(text + at_.file->Text({from, range.end}).str());
}

bool Minimize::CheckReached(const ast::MinimizeStatement* statement, GraphTraining* training) {
  const GradientFlow flow = FindGradientFlow(graph_, training->loss, training->parameters);
  const bool is_said = statement->over != nullptr;
  const SourceRange place = is_said ? statement->over->range : statement->loss->range;
  const std::string over = is_said ? "'" + at_.file->Text(place).str() + "'" : "any parameter";
  if (!gradients_.CheckFlow(flow, place, at_.file->Text(statement->loss->range), over))
    return false;
  // Parameters that the loss does not depend on are not trained.
  std::vector<Value*> reached;
  for (auto [parameter, reaches] : llvm::zip_equal(training->parameters, flow.reaches))
    if (reaches) reached.push_back(parameter);
  training->parameters = std::move(reached);
  return true;
}

}  // namespace pdl
