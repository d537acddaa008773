#include "frontend/elaborate/members.h"

#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/foreign_names.h"
#include "frontend/elaborate/given_parameters.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

using ast::Operator;

// `lstm(x).last`: a result of a call by its name; `hidden.w`: a parameter by its path.
Datum Members::EvaluateMember(const ast::MemberExpr* member, Targets targets) {
  if (std::optional<Datum> found = FindByPath(member)) {
    at_.Observe(member->member.range, *found);
    return *found;
  }
  const ast::Expr* base = member->base;
  while (const auto* parenthesis = llvm::dyn_cast<ast::ParenthesisExpr>(base)) {
    base = parenthesis->inner;
  }
  const auto* chain = llvm::dyn_cast<ast::ChainExpr>(base);
  const bool is_pipe = chain != nullptr && chain->operators[0].op == Operator::kPipe;
  const auto* call = llvm::dyn_cast<ast::CallExpr>(is_pipe ? chain->operands.back() : base);
  const llvm::StringRef member_name = member->member.text;
  if (call == nullptr) {
    ReportMember(member, base);
    return Datum();
  }
  // The name being assigned is the name of the selected result.
  const Callee callee = callees_.FindCallee(at_.file->Text(call->callee->range));
  const int index = callee.op == nullptr ? -1 : callee.op->signature.FindOutput(member_name);
  llvm::SmallVector<std::string, 4> names;
  if (targets.size() == 1) {
    if (index > 0) names.append(static_cast<size_t>(index), "_");
    names.push_back(targets[0]);
  }
  const CallResults results = expressions_.EvaluateResults(base, names);
  if (results.is_poison()) return Datum();
  std::vector<llvm::StringRef> known;
  for (const CallResult& result : results.all) {
    if (result.name == member_name) {
      at_.Observe(member->member.range, result.datum);
      return expressions_.Use(result, member->member.range);
    }
    known.push_back(result.name);
  }
  report_.Error(Code::kUnknownName, member->member.range,
                "'" + at_.file->Text(call->callee->range) + "' has no result '" + member_name +
                    "'" + report_.DidYouMean(member_name, known));
  return Datum();
}

void Members::ReportMember(const ast::MemberExpr* member, const ast::Expr* base) {
  const llvm::StringRef member_name = member->member.text;
  const llvm::StringRef text = at_.file->Text(base->range);
  const auto* name = llvm::dyn_cast<ast::NameExpr>(base);
  const TextFrame::Results* results = nullptr;
  if (name != nullptr) {
    const auto found = at_.frame->results_of.find(name->name);
    if (found != at_.frame->results_of.end()) results = &found->second;
  }
  if (results != nullptr && llvm::is_contained(results->names, member_name)) {
    report_
        .Error(Code::kOperandKind, member->member.range,
               "'" + text + "' is only the first result of '" + results->callee + "'")
        .Note(NoteOnResults(*results, text, member_name));
    return;
  }
  const bool is_path = name != nullptr && (at_.frame->call_paths.contains(name->name) ||
                                           at_.frame->instances.contains(name->name));
  if (is_path && parameter_names_.IsIncomplete(text)) return;
  const bool has_value = !is_path || at_.frame->scope.contains(name->name);
  const Datum datum = has_value ? expressions_.Evaluate(base) : Datum();
  if (has_value && datum.holds_poison()) return;
  const std::string instead = datum.tensor() == nullptr ? "" : WithoutMember(text, member_name);
  if (!instead.empty()) {
    report_.Error(Code::kOperandKind, member->member.range,
                  "a tensor has no member '" + member_name + "': write " + instead);
    return;
  }
  const std::vector<std::string> names = parameter_names_.NamesBelow(text);
  if (is_path || !names.empty()) {
    std::vector<llvm::StringRef> known(names.begin(), names.end());
    if (results != nullptr) llvm::append_range(known, results->names);
    report_.Error(Code::kUnknownName, member->member.range,
                  "'" + text + "' has no parameter " + (results != nullptr ? "or result " : "") +
                      "'" + member_name + "'" + report_.DidYouMeanOrHas(member_name, known));
    return;
  }
  Diagnostic& diagnostic = report_.Error(
      Code::kOperandKind, member->member.range,
      "a name after '.' is a result of a call, and '" + text + "' is " + datum.Phrase());
  if (results != nullptr) {
    diagnostic.Note(NoteOnResults(*results, text, results->names[1]));
  } else {
    NoteResults(datum, &diagnostic);
  }
}

std::string Members::NoteOnResults(const TextFrame::Results& results, llvm::StringRef first,
                                   llvm::StringRef result) {
  std::string targets = first.str();
  for (const std::string& name : llvm::ArrayRef(results.names).drop_front()) {
    targets += name == result ? ", " + name : ", _";
    if (name == result) break;
  }
  const std::string call = results.callee.str() + "(...)";
  return targets + " = " + call + ", or " + call + "." + result.str();
}

std::optional<Datum> Members::FindByPath(const ast::MemberExpr* member) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  const ast::Expr* expr = member;
  while (const auto* inner = llvm::dyn_cast<ast::MemberExpr>(expr)) {
    parts.push_back(inner->member.text);
    expr = inner->base;
  }
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  if (name == nullptr) return std::nullopt;
  std::string path = name->name.str();
  for (llvm::StringRef part : llvm::reverse(parts)) path += "." + part.str();
  auto found = at_.frame->scope.find(path);  // a name assigned in flat source
  if (found != at_.frame->scope.end()) return found->second;
  Value* value = graph_.FindValue(at_.frame->FullName(path));
  if (value == nullptr) return std::nullopt;
  if (value->kind() == ValueKind::kState) return Datum(names_.CurrentState(value));
  if (value->kind() == ValueKind::kParameter) return Datum(given_parameters_.Replace(value));
  return std::nullopt;  // an intermediate value of a layer
}

// Notes that a name refers to the first of several results of its call, and how to access the
// others.
void Members::NoteResults(const Datum& datum, Diagnostic* diagnostic) {
  const Value* tensor = datum.tensor();
  const Op* call = tensor == nullptr ? nullptr : tensor->producer();
  if (call == nullptr || call->results().size() < 2) return;
  const OpSignature& signature = call->def().signature;
  std::vector<std::string> names;
  for (size_t i = 0; i < call->results().size(); ++i)
    names.push_back(signature.output(static_cast<unsigned>(i)).name);
  diagnostic->Note("its call gives more than one result: " + llvm::join(names, ", ") + " = " +
                   signature.name + "(...), or " + signature.name + "(...)." + names[1]);
}

}  // namespace pdl
