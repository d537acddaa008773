#include "frontend/elaborator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {

Elaborator::Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics)
    : request_(request), ast_(ast), diagnostics_(diagnostics), file_(ast.file), cursor_(*ast.file) {
  file_index_ = graph_.AddFile(ast.file->name());
}

Graph Elaborator::Run() {
  CollectNames(ast_.statements);
  for (const ast::Statement* statement : ast_.statements) Elaborate(statement);
  CheckSymbolsSolvable();
  CheckSettingsUsed();
  return std::move(graph_);
}

// ---------------------------------------------------------------------------------------------
// Mistakes

Diagnostic& Elaborator::Error(Code code, SourceRange range, const llvm::Twine& message) {
  return diagnostics_->Error(code, file_, range, message.str());
}

void Elaborator::NotYet(SourceRange range, const llvm::Twine& what) {
  Error(Code::kNotSupported, range, what + " not part of this version yet");
}

std::string Elaborator::DidYouMean(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates) {
  if (candidates.size() > suggestion_budget_) return "";
  suggestion_budget_ -= candidates.size();
  const llvm::StringRef near = NearestName(name, candidates);
  return near.empty() ? "" : "; did you mean '" + near.str() + "'?";
}

std::string Elaborator::NoteOnOperand(const Operand& operand) {
  llvm::StringRef text = file_->Text(operand.range);
  std::string subject = text.size() <= 40 && !text.contains('\n') ? text.str() : "operand";
  Value* tensor = operand.datum.tensor();
  if (tensor == nullptr) return subject + ": a constant";
  subject += ": " + tensor->type().ToString();
  // An operand that is computed right here says nothing by its line.
  const bool is_name = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!is_name || tensor->location() == kUnknownLocation) return subject;
  const Location& location = graph_.locations()[tensor->location()];
  return subject + ", from line " + std::to_string(location.line);
}

void Elaborator::ReportCallError(llvm::Error error, const Call& call) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const CallError& e) {
        const std::string message = e.is_whole ? e.text() : call.def->name() + ": " + e.text();
        SourceRange range = call.place;
        if (!e.attribute.empty()) {
          for (size_t i = call.attributes.size(); i-- > 0;) {
            if (call.attributes[i].name != e.attribute) continue;
            const AttributePlace& place = call.places[i];
            range = e.code() == Code::kUnknownAttribute && place.name != SourceRange()
                        ? place.name
                        : place.value;
            const auto* list =
                place.expr == nullptr ? nullptr : llvm::dyn_cast<ast::ListExpr>(place.expr);
            if (e.element && list != nullptr && *e.element < list->items.size()) {
              range = list->items[*e.element].value->range;
            } else if (e.element && *e.element < place.elements.size()) {
              range = place.elements[*e.element];
            }
            break;
          }
        } else if (!e.inputs.empty() && e.inputs[0] < call.operands.size()) {
          range = call.operands[e.inputs[0]].range;
        }
        Diagnostic& diagnostic = Error(e.code(), range, message);
        const OpSignature& signature = call.def->signature;
        if (e.code() == Code::kOperandCount && call.operands.size() > signature.MaxOperands() &&
            !signature.attributes.empty()) {
          diagnostic.Note("attributes are given by name: " + signature.attributes[0].name + "=…");
        }
        for (size_t i = 0; i < e.inputs.size(); ++i) {
          if (e.inputs[i] >= call.operands.size()) continue;
          const Operand& operand = call.operands[e.inputs[i]];
          if (i > 0) diagnostic.Underline(operand.range);
          diagnostic.Note(NoteOnOperand(operand));
        }
      },
      [&](const llvm::ErrorInfoBase& e) { Error(Code::kShapeMismatch, call.place, e.message()); });
}

LocationId Elaborator::LocationAt(uint32_t offset) {
  const SourcePosition position = cursor_.At(offset);
  Location location;
  location.file = file_index_;
  location.line = position.line;
  location.column = position.column;
  return graph_.AddLocation(location);
}

// ---------------------------------------------------------------------------------------------
// Names

void Elaborator::CollectNames(llvm::ArrayRef<const ast::Statement*> statements) {
  auto reserve = [&](const ast::Identifier& name) { graph_.ReserveName(name.text); };
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      llvm::for_each(s->targets, reserve);
    } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
      reserve(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      reserve(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::OutputStatement>(statement)) {
      for (const ast::Argument& binding : s->bindings) {
        if (binding.is_named()) reserve(binding.name);
      }
    } else if (const auto* s = llvm::dyn_cast<ast::BrokenStatement>(statement)) {
      llvm::for_each(s->names, reserve);
    }
  }
}

std::optional<uint32_t> Elaborator::LineThatDefines(llvm::StringRef name) {
  if (ast_.statements.size() > suggestion_budget_) return std::nullopt;
  suggestion_budget_ -= ast_.statements.size();
  auto is_it = [&](const ast::Identifier& defined) { return defined.text == name; };
  for (const ast::Statement* statement : ast_.statements) {
    const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement);
    const auto* input = llvm::dyn_cast<ast::InputStatement>(statement);
    const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement);
    const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement);
    if ((assign != nullptr && llvm::any_of(assign->targets, is_it)) ||
        (input != nullptr && is_it(input->name)) ||
        (variable != nullptr && is_it(variable->name)) || (attr != nullptr && is_it(attr->name))) {
      return file_->LineOf(statement->range.begin);
    }
  }
  return std::nullopt;
}

void Elaborator::Poison(Targets names) {
  for (const ast::Identifier& name : names) scope_[name.text] = Datum();
}

void Elaborator::PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements) {
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      Poison(s->targets);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      Poison(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
      Poison(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      unsupported_layers_.insert(s->name.text);
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      Poison(s->names);
      PoisonAssigned(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) PoisonAssigned(branch.block.statements);
    }
  }
}

bool Elaborator::Declare(const ast::Identifier& name) {
  auto [entry, is_new] = declared_.try_emplace(name.text, name.range);
  auto found = scope_.find(name.text);
  const bool is_free = found == scope_.end() || found->second.is_poison();
  if (is_new && is_free && graph_.FindValue(name.text) == nullptr) return true;
  Diagnostic& diagnostic =
      Error(Code::kRedefined, name.range, "'" + name.text + "' is defined already");
  if (!is_new) {
    diagnostic.Note("first on line " + std::to_string(file_->LineOf(entry->second.begin)));
  }
  return false;
}

}  // namespace pdl
