#include "frontend/elaborate/callee_table.h"

#include <algorithm>

#include "frontend/elaborate/foreign_names.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {

namespace {

// An example of the statement that the user probably meant by calling its keyword.
static llvm::StringRef ExampleOfStatement(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Case("attr", "attr width: int = 256")
      .Case("input", "input x: f32[N, 784]")
      .Case("output", "output y")
      .Case("param", "param w: f32[784, 10] = xavier_uniform()")
      .Case("state", "state count: i64[] = zeros()")
      .Case("update", "update count = count + 1")
      .Default("");
}

}  // namespace

const OpDef* CalleeTable::FindOperator(llvm::StringRef name) {
  auto [entry, is_new] = operators_.try_emplace(name, nullptr);
  if (is_new) entry->second = request_.registry->Find(name);
  return entry->second;
}

Callee CalleeTable::FindCallee(llvm::StringRef name) {
  Callee callee;
  callee.name = name;
  if (name.contains('.')) {
    const auto [net, layer] = name.split('.');
    auto named = at_.frame->module->named.find(net);
    if (named == at_.frame->module->named.end() || named->second == nullptr) return callee;
    auto found = named->second->layers.find(layer);
    if (found == named->second->layers.end()) return callee;
    callee.layer = found->second;
    callee.module = named->second;
    return callee;
  }
  // The tables that are asked one after the other have the same hash function.
  const uint32_t hash = llvm::StringMapImpl::hash(name);
  if (auto found = at_.frame->instances.find(name, hash); found != at_.frame->instances.end()) {
    callee.function = found->second;
    return callee;
  }
  if (auto found = at_.frame->scope.find(name, hash); found != at_.frame->scope.end()) {
    if (const auto* function = found->second.get<Datum::FunctionValue>()) {
      callee.function = *function;
      return callee;
    }
  }
  Module* module = at_.frame->module;
  if (auto found = module->layers.find(name, hash); found != module->layers.end()) {
    callee.layer = found->second;
    callee.module = module;
  } else if (auto named = module->named.find(name, hash); named != module->named.end()) {
    callee.module = named->second;
  } else if (auto imported = module->imported.find(name, hash);
             imported != module->imported.end()) {
    callee.module = imported->second;
    callee.layer = imported->second->layers.lookup(name);
  } else if (auto standard = files_.standard_layers.find(name, hash);
             standard != files_.standard_layers.end()) {
    callee.module = standard->second;
    callee.layer = standard->second->layers.lookup(name);
  } else {
    callee.op = FindOperator(name);
  }
  return callee;
}

bool CalleeTable::IsBroken(llvm::StringRef name) const {
  if (at_.frame->module->lacks_import) return true;
  if (at_.frame->module->broken_names.contains(name)) return true;
  if (auto found = at_.frame->module->named.find(name.split('.').first);
      found != at_.frame->module->named.end() && found->second == nullptr) {
    return true;
  }
  if (auto found = at_.frame->scope.find(name); found != at_.frame->scope.end())
    return found->second.is_poison();
  auto instance = at_.frame->instances.find(name);
  return instance != at_.frame->instances.end() && instance->second == nullptr;
}

std::vector<llvm::StringRef> CalleeTable::CalleeNames() {
  if (global_names_.empty()) {
    global_names_ = {"dims", "dtype", "grad", "len", "params"};
    for (const OpDef* def : request_.registry->All()) global_names_.push_back(def->signature.name);
    for (const auto& entry : files_.standard_layers) global_names_.push_back(entry.first());
    llvm::sort(global_names_);
  }
  // Listing the names takes as long as comparing one with them.
  if (!report_.SpendSuggestions(global_names_.size())) return {};
  std::vector<llvm::StringRef> known = global_names_;
  for (const auto& entry : at_.frame->module->layers) known.push_back(entry.first());
  for (const auto& entry : at_.frame->module->imported) known.push_back(entry.first());
  for (const auto& entry : at_.frame->module->named) known.push_back(entry.first());
  for (const auto& entry : at_.frame->instances) known.push_back(entry.first());
  // Most names are in order already, and an error may be reported in each iteration of a loop.
  const auto local = known.begin() + static_cast<std::ptrdiff_t>(global_names_.size());
  std::sort(local, known.end());
  std::inplace_merge(known.begin(), local, known.end());
  return known;
}

std::string CalleeTable::HintOfFile(llvm::StringRef layer) {
  const auto& files = at_.frame->module->named;
  if (!report_.SpendSuggestions(files.size())) return "";
  llvm::StringRef first;  // a StringMap is unordered
  for (const auto& entry : files)
    if (entry.second != nullptr && entry.second->layers.contains(layer) &&
        (first.empty() || entry.first() < first))
      first = entry.first();
  return first.empty() ? "" : report_.Suggest(layer, (first + "." + layer).str());
}

void CalleeTable::ReportMethod(const ast::NameExpr* net, const ast::MemberExpr* member) {
  const llvm::StringRef name = member->member.text;
  const auto value = at_.frame->scope.find(net->name);
  if (value == at_.frame->scope.end() || value->second.tensor() == nullptr) {
    if (IsBroken(net->name)) return;
    report_.Error(Code::kUnknownOperator, net->range,
                  "no file is imported as '" + net->name +
                      "', and only a file has layers after '.'" +
                      report_.DidYouMean(name, CalleeNames()));
    return;
  }
  std::string instead = WithoutMember(net->name, name);
  if (instead.empty()) {
    const Callee called = FindCallee(name);
    const ForeignName* foreign = FindForeignName(name, CalleeNames());
    const bool is_known = called.op != nullptr || called.layer != nullptr;
    if (is_known || foreign != nullptr)
      instead = (llvm::Twine(is_known ? name : foreign->here) + "(" + net->name + ")").str();
  }
  report_.Error(Code::kUnknownOperator, member->range,
                "'" + net->name + "' is a tensor and has no methods" +
                    (instead.empty() ? "" : ": " + instead));
}

Callee CalleeTable::ResolveCallee(const ast::Expr* expr) {
  const auto* name = llvm::dyn_cast<ast::NameExpr>(expr);
  const auto* member = llvm::dyn_cast<ast::MemberExpr>(expr);
  const auto* net = member == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(member->base);
  if (name == nullptr && net == nullptr) {
    const std::string hint =
        member == nullptr ? "" : report_.DidYouMean(member->member.text, CalleeNames());
    report_.Error(Code::kOperandKind, expr->range,
                  "the callee here is not the name of an operator" + hint);
    return {};
  }
  Callee callee;
  if (net != nullptr) {
    auto named = at_.frame->module->named.find(net->name);
    if (named == at_.frame->module->named.end()) {
      ReportMethod(net, member);
      return {};
    }
    if (named->second == nullptr) return {};  // the failed import was reported
    callee = FindCallee(names_.Save(net->name + "." + member->member.text));
    if (callee.is_network() || named->second->broken_names.contains(member->member.text)) {
      return callee;
    }
    std::vector<llvm::StringRef> known;
    for (const auto& entry : named->second->layers) known.push_back(entry.first());
    llvm::sort(known);
    report_.Error(Code::kUnknownOperator, member->member.range,
                  "'" + named->second->file->name() + "' has no layer '" + member->member.text +
                      "'" + report_.DidYouMean(member->member.text, known));
    return {};
  }
  callee = FindCallee(name->name);
  if (callee.op != nullptr && at_.frame->module->broken_names.contains(name->name)) return {};
  if (callee.op != nullptr || callee.is_network() || callee.function != nullptr) return callee;
  if (!names_.CheckLayer(name->name, name->range) || IsBroken(name->name)) return {};
  if (const llvm::StringRef example = ExampleOfStatement(name->name); !example.empty()) {
    report_.Error(Code::kUnknownOperator, name->range,
                  "'" + name->name + "' begins a statement and is not called: " + example);
    return {};
  }
  std::string hint = HintOfFile(name->name);
  if (hint.empty()) hint = report_.DidYouMean(name->name, CalleeNames());
  report_.Error(Code::kUnknownOperator, name->range,
                "no operator or layer is called '" + name->name + "'" + hint);
  return {};
}

}  // namespace pdl
