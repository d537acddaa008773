#include "frontend/elaborate/name_expressions.h"

#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/training_values.h"
#include "frontend/elaborate/type_reader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {

/// The constant or dtype with that name in Python, NumPy and PyTorch, or an empty string.
static llvm::StringRef ConstantNamed(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("True", "true")
      .Case("False", "false")
      .Case("None", "none")
      .Default(DTypeNamed(name));
}

Datum NameExpressions::EvaluateName(const ast::NameExpr* name) {
  auto found = at_.frame->scope.find(name->name);
  const bool is_symbol_first = at_.frame->dims_first && (found == at_.frame->scope.end() ||
                                                         found->second.tensor() != nullptr);
  auto symbol = at_.frame->symbols.find(name->name);
  const bool is_symbol = symbol != at_.frame->symbols.end();
  if (is_symbol && (is_symbol_first || found == at_.frame->scope.end())) {
    at_.Observe(name->range, symbol->second.value, /*is_size=*/true);
    return symbol->second.value;
  }
  if (std::optional<Datum> member = MemberOfLayer(name)) return *std::move(member);
  if (found != at_.frame->scope.end()) {
    if (at_.optimizer != nullptr && at_.frame->caller == nullptr)
      training_values_.NoteOptimizerName(name->range, found->second);
    at_.Observe(name->range, found->second);
    return found->second;
  }
  if (std::optional<DType> dtype = DTypeFromName(name->name)) return Datum(*dtype);
  if (name->name == "training") return training_values_.EvaluateTraining(name->range);
  if (name->name == "step") return training_values_.EvaluateStep();
  if (at_.frame->dims_first && graph_.IsDataSymbol(name->name))
    return Datum(Dim::Symbol(name->name));
  ReportUnknownName(name);
  // Reports each name once.
  names_.Assign(name->name, Datum::Undefined());
  return Datum();
}

std::optional<Datum> NameExpressions::MemberOfLayer(const ast::NameExpr* name) {
  if (at_.member == nullptr || at_.member->frame != at_.frame) return std::nullopt;
  const FunctionPtr layer = copies_.InstanceNamed(name->name);
  if (layer == nullptr) return std::nullopt;
  Value* value = graph_.FindValue(layer->path + "." + at_.member->name);
  if (value != nullptr && value->kind() == ValueKind::kParameter) return Datum(value);
  if (value != nullptr && value->kind() == ValueKind::kState)
    return Datum(names_.CurrentState(value));
  report_.Error(Code::kUnknownName, name->range,
                "'" + name->name + "' has no parameter '" + at_.member->name + "', which '" +
                    at_.member->layer + "' has");
  return Datum();
}

// `~T` among dims: a ragged dim of a known type, or one that depends on data.
Datum NameExpressions::EvaluateRagged(const ast::RaggedExpr* ragged) {
  const std::string name = "~" + ragged->symbol.text.str();
  if (!at_.frame->dims_first) {
    report_.Error(Code::kUnknownSize, ragged->range,
                  "'" + name + "' may only appear among dims, as in [N, " + name + ", 4]");
    return Datum();
  }
  if (!at_.frame->symbols.contains(name) && graph_.IsDataSymbol(name))
    return Datum(Dim::Symbol(name));
  const Dim* rows = types_.ReadRaggedDim(ragged->symbol, ragged->range, /*introduces=*/false);
  return rows == nullptr ? Datum() : Datum(*rows);
}

void NameExpressions::ReportUnknownName(const ast::NameExpr* name) {
  if (at_.frame->module->broken_names.contains(name->name)) return;
  if (auto found = at_.frame->one_sided.find(name->name); found != at_.frame->one_sided.end()) {
    report_
        .Error(Code::kCondition, name->range,
               "'" + name->name + "' is only set in one branch of an 'if'")
        .NoteAt(
            at_.file, found->second,
            "whether this holds is only known when the network runs, so a name is set before it "
            "or in both branches");
    return;
  }
  if (const std::optional<uint32_t> line = report_.LineThatDefines(name->name)) {
    const bool is_here = *line == at_.file->LineOf(name->range.begin);
    report_.Error(Code::kUnknownName, name->range,
                  "'" + name->name + "' is used before it is defined" +
                      (is_here ? "" : ", on line " + std::to_string(*line)));
    return;
  }
  if (at_.frame->symbols.contains(("~" + name->name).str())) {
    report_.Error(Code::kUnknownName, name->range,
                  "'~" + name->name +
                      "' is not one size: each row has its own; sequence_length returns them");
    return;
  }
  const Callee callee = callees_.FindCallee(name->name);
  const bool is_called = callee.op != nullptr || callee.is_network() || callee.function != nullptr;
  std::string hint;
  if (is_called && !at_.frame->dims_first) {
    hint = std::string("; it is ") + (callee.op != nullptr ? "an operator: " : "a layer: ") +
           name->name.str() + "(...)";
  } else if (const llvm::StringRef constant = ConstantNamed(name->name); !constant.empty()) {
    hint = report_.Suggest(name->name, constant);
  } else if (report_.MaySuggest(at_.frame->scope.size() + at_.frame->symbols.size())) {
    std::vector<llvm::StringRef> known;
    for (const auto& entry : at_.frame->scope) known.push_back(entry.first());
    for (const auto& entry : at_.frame->symbols) known.push_back(entry.first());
    llvm::sort(known);  // a StringMap is unordered
    hint = report_.DidYouMean(name->name, known);
  }
  if (at_.frame->dims_first) {
    report_.Error(Code::kUnknownName, name->range,
                  "no symbol or constant is called '" + name->name + "'" + hint);
  } else {
    report_.Error(Code::kUnknownName, name->range,
                  "no value is called '" + name->name + "'" + hint);
  }
}

}  // namespace pdl
