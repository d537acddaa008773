#include "frontend/editor/facts.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

/// The number of different types that are kept for one position.
constexpr size_t kMaxTypes = 4;
/// Further calls at one position, in loops, are not looked at.
constexpr uint32_t kMaxSeen = 256;

}  // namespace

bool Facts::IsRecorded(const Position& at) const {
  if (at.frame == nullptr || at.frame->module->is_standard) return false;
  return !tests_only_ || at.frame->in_test;
}

void Facts::OnName(const Position& at, SourceRange range, const Datum& value, bool is_size) {
  if (!IsRecorded(at) || value.holds_poison()) return;
  NameFact& fact = names_[KeyOf(*at.file, range)];
  fact.is_size |= is_size;
  const Value* tensor = value.tensor();
  if (tensor == nullptr) {
    if (fact.constant.empty() && fact.types.empty()) fact.constant = value.Phrase();
    return;
  }
  if (llvm::is_contained(fact.types, tensor->type())) return;
  if (fact.types.size() == kMaxTypes) {
    fact.has_more = true;
    return;
  }
  fact.types.push_back(tensor->type());
  if (tensor->kind() == ValueKind::kResult || fact.location != kUnknownLocation) return;
  fact.location = tensor->location();
  fact.variable = tensor->name();
}

CallFact* Facts::AddCall(const Position& at, SourceRange callee) {
  if (!IsRecorded(at)) return nullptr;
  CallFact& fact = calls_[KeyOf(*at.file, callee)];
  if (fact.types.size() == kMaxTypes || ++fact.seen > kMaxSeen) return nullptr;
  return &fact;
}

void Facts::AddTypes(CallFact* fact, CallFact::Types types) {
  if (llvm::is_contained(fact->types, types)) return;
  fact->types.push_back(std::move(types));
  fact->has_more = fact->types.size() == kMaxTypes;
}

void Facts::OnCall(const Position& at, SourceRange callee, const Op& op) {
  CallFact* fact = AddCall(at, callee);
  // At the call of a layer, operators convert its arguments.
  if (fact == nullptr || (fact->op == nullptr && !fact->types.empty())) return;
  if (fact->op != nullptr && fact->op != &op.def()) return;
  if (fact->op == nullptr) fact->attributes = op.attribute_values().vec();
  fact->op = &op.def();
  CallFact::Types types;
  for (const Value* operand : op.operands()) types.operands.push_back(operand->type().ToString());
  const OpSignature& signature = op.def().signature;
  for (const auto& [index, result] : llvm::enumerate(op.results()))
    types.results.emplace_back(signature.output(index).name, result->type().ToString());
  AddTypes(fact, std::move(types));
}

void Facts::OnLayerCall(const Position& at, const LayerArguments& arguments,
                        llvm::ArrayRef<CallResult> results) {
  if (results.empty()) return;
  CallFact* fact = AddCall(at, arguments.place);
  if (fact == nullptr) return;
  if (fact->op != nullptr) *fact = CallFact();
  CallFact::Types types;
  auto describe = [](const Datum& datum) {
    return datum.tensor() != nullptr ? datum.tensor()->type().ToString() : datum.Phrase();
  };
  for (const Operand& operand : arguments.operands)
    types.operands.push_back(describe(operand.datum));
  for (const CallResult& result : results)
    types.results.emplace_back(result.name, describe(result.datum));
  AddTypes(fact, std::move(types));
}

const NameFact* Facts::FindName(const SourceFile& file, SourceRange range) const {
  const auto found = names_.find(KeyOf(file, range));
  return found == names_.end() ? nullptr : &found->second;
}

const CallFact* Facts::FindCall(const SourceFile& file, SourceRange callee) const {
  const auto found = calls_.find(KeyOf(file, callee));
  return found == calls_.end() ? nullptr : &found->second;
}

void Facts::Add(const Facts& other) {
  for (const auto& entry : other.names_) names_.insert(entry);
  for (const auto& entry : other.calls_) calls_.insert(entry);
}

}  // namespace pdl
