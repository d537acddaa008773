#include "frontend/elaborator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {

Elaborator::Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics)
    : request_(request),
      ast_(ast),
      diagnostics_(diagnostics),
      file_(ast.file),
      steps_{request.limits.steps, "take", "steps to compile"},
      calls_{request.limits.calls, "make", "calls of operators"},
      layer_calls_{request.limits.layer_calls, "make", "calls of layers"} {}

Graph Elaborator::Run() {
  Module* main = AddModule(ast_, "", /*is_standard=*/false);
  TextFrame frame;
  frame.module = main;
  frame_ = &frame;
  main->file_index = graph_.AddFile(main->file->name());
  CollectNames(ast_.statements);
  AddStandardLayers();
  EnterModule(main);
  llvm::StringMap<SourceRange> tests;
  for (const ast::Statement* statement : ast_.statements) {
    Elaborate(statement);
    const auto* test = llvm::dyn_cast<ast::TestStatement>(statement);
    if (test == nullptr) continue;
    auto [entry, is_new] = tests.try_emplace(test->name.value, test->name.range);
    if (is_new) continue;
    Error(Code::kRedefined, test->name.range, "there is a test of this name already")
        .Note("first on line " + std::to_string(file_->LineOf(entry->second.begin)));
  }
  if (request_.training_step && !graph_.trainings().empty()) CountStep();
  ElaborateLoads();
  CheckSymbolsSolvable();
  CheckOutputNames();
  CheckSettingsUsed();
  for (const auto& entry : frame.scope) {
    const Value* value = entry.second.tensor();
    names_.emplace_back(entry.first().str(), value == nullptr ? "" : value->name());
  }
  frame_ = nullptr;
  return std::move(graph_);
}

// ---------------------------------------------------------------------------------------------
// Mistakes

Diagnostic& Elaborator::Error(Code code, SourceRange range, const llvm::Twine& message) {
  // Text that is elaborated more than once has its error once.
  const bool repeats = frame_ != nullptr && (IsRepeated() || frame_->is_default);
  if (stopped_ || (repeats && !reported_.insert({file_.get(), range.begin}).second)) {
    silent_ = Diagnostic();
    return silent_;
  }
  Diagnostic& diagnostic = diagnostics_->Error(code, file_, range, message.str());
  unsigned shown = 0;
  for (const TextFrame* frame = frame_; frame != nullptr && frame->caller != nullptr;
       frame = frame->caller) {
    // Of a long way the beginning and the end tell most.
    if (++shown > 4 && frame->caller->caller != nullptr) continue;
    diagnostic.NoteAt(frame->caller_file, frame->place,
                      "in this call of '" + frame->callee.str() + "'");
  }
  return diagnostic;
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

std::string Elaborator::DidYouMeanOrTakes(llvm::StringRef name,
                                          llvm::ArrayRef<llvm::StringRef> candidates) {
  std::string near = DidYouMean(name, candidates);
  if (!near.empty() || candidates.empty()) return near;
  constexpr size_t kShown = 8;
  const size_t shown = candidates.size() > kShown ? kShown : candidates.size() - 1;
  const std::string rest = candidates.size() > kShown
                               ? std::to_string(candidates.size() - kShown) + " more"
                               : candidates.back().str();
  if (shown == 0) return "; it takes " + rest;
  return "; it takes " + llvm::join(candidates.take_front(shown), ", ") + " and " + rest;
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
        const std::shared_ptr<const SourceFile> here = file_;
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
        // The attributes of a function may be written elsewhere.
        const bool is_elsewhere =
            call.attribute_file != nullptr && call.attribute_file != file_ && range != call.place;
        if (is_elsewhere) file_ = call.attribute_file;
        Diagnostic& diagnostic = Error(e.code(), range, message);
        file_ = here;
        if (is_elsewhere) diagnostic.NoteAt(file_, call.place, "in this call");
        const OpSignature& signature = call.def->signature;
        if (e.code() == Code::kOperandCount && call.operands.size() > signature.MaxOperands() &&
            !signature.attributes.empty()) {
          diagnostic.Note("attributes are given by name: " + signature.attributes[0].name + "=…");
        }
        for (size_t i = 0; i < e.inputs.size(); ++i) {
          if (e.inputs[i] >= call.operands.size()) continue;
          const Operand& operand = call.operands[e.inputs[i]];
          if (i > 0 && !is_elsewhere) diagnostic.Underline(operand.range);
          diagnostic.Note(NoteOnOperand(operand));
        }
      },
      [&](const llvm::ErrorInfoBase& e) { Error(Code::kShapeMismatch, call.place, e.message()); });
}

LocationId Elaborator::LocationAt(uint32_t offset) {
  const SourcePosition position = frame_->module->cursor.At(offset);
  Location location;
  location.file = frame_->module->file_index;
  location.line = position.line;
  location.column = position.column;
  location.origin = frame_->origin;
  return graph_.AddLocation(location);
}

// ---------------------------------------------------------------------------------------------
// Names

void Elaborator::CollectNames(llvm::ArrayRef<const ast::Statement*> statements) {
  auto reserve = [&](const ast::Identifier& name) { graph_.ReserveName(name.text); };
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      llvm::for_each(s->targets, reserve);
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      CollectNames(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) CollectNames(branch.block.statements);
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

namespace {

// The statement that gives a name its first value, in blocks too.
const ast::Statement* FindDefinition(llvm::ArrayRef<const ast::Statement*> statements,
                                     llvm::StringRef name) {
  auto is_it = [&](const ast::Identifier& defined) { return defined.text == name; };
  for (const ast::Statement* statement : statements) {
    bool found = false;
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      found = llvm::any_of(s->targets, is_it);
    } else if (const auto* s = llvm::dyn_cast<ast::InputStatement>(statement)) {
      found = is_it(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      found = is_it(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::AttrStatement>(statement)) {
      found = is_it(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      if (llvm::any_of(s->names, is_it)) return statement;
      if (const ast::Statement* inner = FindDefinition(s->body.statements, name)) return inner;
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) {
        if (const ast::Statement* inner = FindDefinition(branch.block.statements, name))
          return inner;
      }
    }
    if (found) return statement;
  }
  return nullptr;
}

}  // namespace

std::optional<uint32_t> Elaborator::LineThatDefines(llvm::StringRef name) {
  if (frame_->caller != nullptr || ast_.statements.size() > suggestion_budget_) return std::nullopt;
  suggestion_budget_ -= ast_.statements.size();
  const ast::Statement* statement = FindDefinition(ast_.statements, name);
  if (statement == nullptr) return std::nullopt;
  return file_->LineOf(statement->range.begin);
}

void Elaborator::Assign(llvm::StringRef name, Datum datum) {
  if (journal_ != nullptr && journal_->frame == frame_) {
    auto [entry, is_first] = journal_->names.insert({name, std::nullopt});
    auto found = frame_->scope.find(name);
    if (is_first && found != frame_->scope.end()) entry->second = found->second;
  }
  frame_->scope[name] = std::move(datum);
}

llvm::SmallVector<std::string, 1> Elaborator::FullNames(Names names) const {
  llvm::SmallVector<std::string, 1> full;
  for (const ast::Identifier& name : names)
    full.push_back(name.text == "_" ? std::string("_") : FullName(name.text));
  return full;
}

void Elaborator::Poison(Names names) {
  for (const ast::Identifier& name : names) Assign(name.text, Datum());
}

void Elaborator::PoisonUndefined(Names names) {
  for (const ast::Identifier& name : names) {
    const auto found = frame_->scope.find(name.text);
    const bool is_free = found == frame_->scope.end() || found->second.is_undefined();
    Assign(name.text, is_free ? Datum::Undefined() : Datum());
  }
}

void Elaborator::PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements) {
  for (const ast::Statement* statement : statements) {
    if (const auto* s = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      PoisonUndefined(s->targets);
    } else if (const auto* s = llvm::dyn_cast<ast::VariableStatement>(statement)) {
      PoisonUndefined(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
      PoisonUndefined(s->name);
    } else if (const auto* s = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
      frame_->instances[s->name.text] = nullptr;
    } else if (const auto* s = llvm::dyn_cast<ast::ForStatement>(statement)) {
      PoisonUndefined(s->names);
      PoisonAssigned(s->body.statements);
    } else if (const auto* s = llvm::dyn_cast<ast::IfStatement>(statement)) {
      for (const ast::Branch& branch : s->branches) PoisonAssigned(branch.block.statements);
    }
  }
}

bool Elaborator::Declare(const ast::Identifier& name) {
  auto [entry, is_new] = frame_->declared.try_emplace(name.text, name.range);
  auto found = frame_->scope.find(name.text);
  const bool is_free = found == frame_->scope.end() || found->second.is_undefined();
  if (is_new && is_free) return true;
  // The same statement again, in a loop.
  if (!is_new && entry->second == name.range && !frame_->counts.empty()) return true;
  Diagnostic& diagnostic =
      Error(Code::kRedefined, name.range, "'" + name.text + "' is defined already");
  const auto assigned = frame_->assigned.find(name.text);
  const SourceRange* first = !is_new                              ? &entry->second
                             : assigned != frame_->assigned.end() ? &assigned->second
                                                                  : nullptr;
  if (first != nullptr)
    diagnostic.Note("first on line " + std::to_string(file_->LineOf(first->begin)));
  return false;
}

}  // namespace pdl
