#include "frontend/elaborate/reporter.h"

#include <new>

#include "frontend/elaborate/foreign_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

namespace {

// The statement that defines a name, also in nested blocks.
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

// The range of the attribute, its item or the first operand that the error names, or else of the
// call.
SourceRange PlaceOf(const CallError& e, const Call& call) {
  if (e.attribute.empty()) {
    const bool has_operand = !e.inputs.empty() && e.inputs[0] < call.operands.size();
    return has_operand ? call.operands[e.inputs[0]].range : call.place;
  }
  for (size_t i = call.attributes.size(); i-- > 0;) {
    if (call.attributes[i].name != e.attribute) continue;
    const AttributePlace& place = call.places[i];
    const auto* list = llvm::dyn_cast_if_present<ast::ListExpr>(place.expr);
    if (e.element && list != nullptr && *e.element < list->items.size())
      return list->items[*e.element].value->range;
    if (e.element && *e.element < place.elements.size()) return place.elements[*e.element];
    return e.code() == Code::kUnknownAttribute && place.name != SourceRange() ? place.name
                                                                              : place.value;
  }
  return call.place;
}

}  // namespace

bool Reporter::IsNew(SourceRange place, const llvm::Twine& message) {
  // Calls of a layer may have different errors at one position, but rarely many.
  constexpr size_t kShown = 4;
  ReportedErrors::AtPlace& at = reported_.places[{at_.file.get(), place.begin}];
  if (at.is_closed || at.messages.size() >= kShown) return false;
  for (const TextFrame* frame = at_.frame; frame != nullptr && !at.messages.empty();
       frame = frame->caller)
    if (!frame->loops.empty()) return false;
  const std::string text = message.str();
  // There are not always suggestions.
  const llvm::StringRef fixed = llvm::StringRef(text).split("; did you mean").first;
  if (llvm::is_contained(at.messages, fixed)) return false;
  at.messages.push_back(fixed.str());
  return true;
}

bool Reporter::IsFirst(SourceRange place) {
  ReportedErrors::AtPlace& at = reported_.places[{at_.file.get(), place.begin}];
  return !std::exchange(at.is_closed, true) && at.messages.empty();
}

Diagnostic& Reporter::Error(Code code, SourceRange range, const llvm::Twine& message) {
  const bool repeats = at_.frame != nullptr && (at_.IsRepeated() || at_.frame->is_default);
  if (reported_.stopped || (repeats && !IsNew(range, message))) {
    silent_ = Diagnostic();
    silent_.file = at_.file;
    silent_.primary = range;
    return silent_;
  }
  Diagnostic& diagnostic = diagnostics_->Error(code, at_.file, range, message.str());
  AddSuggestion(&diagnostic);
  unsigned shown = 0;
  for (const TextFrame* frame = at_.frame; frame != nullptr && frame->caller != nullptr;
       frame = frame->caller) {
    // Of a long call stack only the beginning and the end are shown.
    if (++shown > 4 && frame->caller->caller != nullptr) continue;
    diagnostic.NoteAt(frame->caller_file, frame->place,
                      "in this call of '" + frame->callee.str() + "'");
  }
  return diagnostic;
}

void Reporter::AddSuggestion(Diagnostic* diagnostic) {
  if (!suggested_) return;
  const auto [name, instead] = *std::exchange(suggested_, std::nullopt);
  const llvm::StringRef written = diagnostic->file->Text(diagnostic->primary);
  if (written == name) {
    diagnostic->suggestion = {diagnostic->primary, instead};
  } else if (written == "\"" + name + "\"") {
    diagnostic->suggestion = {diagnostic->primary, "\"" + instead + "\""};
  }
}

Diagnostic& Reporter::CallerError(Code code, SourceRange place, const llvm::Twine& message) {
  const PlaceScope caller(&at_, at_.frame->caller, at_.frame->caller_file);
  return Error(code, place, message);
}

Datum Reporter::Catch(Diagnostics* errors, llvm::function_ref<Datum()> evaluate) {
  Diagnostics* const outer = std::exchange(diagnostics_, errors);
  const Datum datum = evaluate();
  diagnostics_ = outer;
  reported_.stopped = false;
  return datum;
}

void Reporter::NotYet(SourceRange range, const llvm::Twine& what) {
  Error(Code::kNotSupported, range, what + " not part of this version yet");
}

// Adds the replacement that the message proposes: a name of an attribute, or one of its choices.
static void SuggestForAttribute(const CallError& error, const OpSignature& signature,
                                SourceRange range, Diagnostic* diagnostic) {
  if (diagnostic->file == nullptr) return;
  llvm::StringRef written = diagnostic->file->Text(range);
  std::vector<llvm::StringRef> known;
  if (error.code() == Code::kUnknownAttribute && written == error.attribute) {
    for (const AttributeDecl& decl : signature.attributes) known.push_back(decl.name);
    const llvm::StringRef near = NearestName(written, known);
    if (!near.empty()) diagnostic->suggestion = {range, near.str()};
  }
  const int index = signature.FindAttribute(error.attribute);
  const bool is_string = written.consume_front("\"") && written.consume_back("\"");
  if (error.code() != Code::kAttributeChoice || index < 0 || !is_string) return;
  for (const std::string& choice : signature.attributes[static_cast<size_t>(index)].choices)
    known.push_back(choice);
  const llvm::StringRef near = NearestName(written, known);
  if (!near.empty()) diagnostic->suggestion = {range, "\"" + near.str() + "\""};
}

// The dtype of both operands once one of them is cast: that of numbers rather than bools, of floats
// rather than integers, or else the larger one. nullopt if neither is preferable.
static std::optional<DType> CommonDType(DType a, DType b) {
  auto rank = [](DType dtype) { return IsFloat(dtype) ? 2 : dtype == DType::kBool ? 0 : 1; };
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  if (DTypeSize(a) == DTypeSize(b)) return std::nullopt;
  return DTypeSize(a) > DTypeSize(b) ? a : b;
}

// For dtypes that differ or are not accepted: a cast of an operand, if one is preferable.
static void SuggestCast(const CallError& error, const Call& call, Diagnostic* diagnostic) {
  if (diagnostic->file == nullptr || error.inputs.empty()) return;
  llvm::SmallVector<const Operand*, 2> operands;
  for (unsigned input : error.inputs) {
    if (input >= call.operands.size() || call.operands[input].datum.tensor() == nullptr) return;
    operands.push_back(&call.operands[input]);
  }
  auto dtype_of = [](const Operand* operand) { return operand->datum.tensor()->type().dtype; };
  const Operand* operand = operands.front();
  std::optional<DType> dtype;
  if (error.code() == Code::kDTypeMismatch && operands.size() == 2) {
    dtype = CommonDType(dtype_of(operands[0]), dtype_of(operands[1]));
    if (dtype == dtype_of(operand)) operand = operands[1];
  } else if (error.code() == Code::kOperandDType && call.counts.empty() &&
             error.inputs[0] < call.def->signature.inputs.size()) {
    const DTypeSet accepted = call.def->signature.inputs[error.inputs[0]].dtypes;
    const bool is_integer = kIntegers.Contains(dtype_of(operand));
    if (is_integer && !accepted.Intersects(kIntegers) && accepted.Contains(DType::kF32))
      dtype = DType::kF32;
    if (is_integer && accepted == DTypeSet(DType::kI64)) dtype = DType::kI64;
  }
  if (!dtype) return;
  const llvm::StringRef written = diagnostic->file->Text(operand->range);
  diagnostic->Suggest(operand->range,
                      ("cast(" + written + ", to=" + DTypeName(*dtype) + ")").str());
}

void Reporter::ReportCallError(llvm::Error error, const Call& call, llvm::StringRef note) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const CallError& e) {
        const std::string message = e.is_whole ? e.text() : call.def->name() + ": " + e.text();
        const SourceRange range = PlaceOf(e, call);
        // The attributes of a function may be written elsewhere.
        const bool is_elsewhere = call.attribute_file != nullptr &&
                                  call.attribute_file != at_.file && range != call.place;
        Diagnostic& diagnostic = [&]() -> Diagnostic& {
          const PlaceScope place(&at_, at_.frame, is_elsewhere ? call.attribute_file : at_.file);
          return Error(e.code(), range, message);
        }();
        if (is_elsewhere) diagnostic.NoteAt(at_.file, call.place, "in this call");
        if (!e.attribute.empty()) SuggestForAttribute(e, call.def->signature, range, &diagnostic);
        // In a layer, the dtypes may be those of this call only.
        if (!is_elsewhere && at_.frame->caller == nullptr) SuggestCast(e, call, &diagnostic);
        NoteOnSurplus(e, call, &diagnostic);
        for (size_t i = 0; i < e.inputs.size(); ++i) {
          if (e.inputs[i] >= call.operands.size()) continue;
          const Operand& operand = call.operands[e.inputs[i]];
          if (i > 0 && !is_elsewhere) diagnostic.Underline(operand.range);
          diagnostic.Note(NoteOnOperand(operand));
        }
        if (!note.empty()) diagnostic.Note(note.str());
      },
      [&](const llvm::ErrorInfoBase& e) { Error(Code::kShapeMismatch, call.place, e.message()); });
}

void Reporter::ReportFileError(llvm::Error error, SourceRange range) {
  llvm::handleAllErrors(
      std::move(error), [&](const UserError& e) { Error(e.code(), range, e.text()); },
      [](const DeviceError&) { throw std::bad_alloc(); },
      [&](const llvm::ErrorInfoBase& e) { Error(Code::kBadFile, range, e.message()); });
}

void Reporter::NoteOnSurplus(const CallError& error, const Call& call, Diagnostic* diagnostic) {
  const OpSignature& signature = call.def->signature;
  const bool is_surplus = call.operands.size() > signature.MaxOperands();
  if (!is_surplus || signature.attributes.empty()) return;
  if (error.code() == Code::kOperandCount)
    diagnostic->Note("attributes are given by name: " + signature.attributes[0].name + "=…");
  if (error.code() != Code::kMissingAttribute) return;
  const auto is_missing = [&](const AttributeDecl& decl) {
    return decl.required() && llvm::none_of(call.attributes, [&](const NamedAttribute& given) {
             return given.name == decl.name;
           });
  };
  const auto missing = llvm::find_if(signature.attributes, is_missing);
  const SourceRange range = call.operands[signature.MaxOperands()].range;
  diagnostic->Underline(range);
  diagnostic->Note("attributes are given by name: " + missing->name + "=" +
                   at_.file->Text(range).str());
}

std::string Reporter::NoteOnOperand(const Operand& operand) {
  llvm::StringRef text = at_.file->Text(operand.range);
  std::string subject = text.size() <= 40 && !text.contains('\n') ? text.str() : "operand";
  Value* tensor = operand.datum.tensor();
  if (tensor == nullptr) return subject + ": a constant";
  subject += ": " + tensor->type().ToString();
  // For an operand that is computed here, its line adds no information.
  const bool is_name = llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!is_name || tensor->location() == kUnknownLocation) return subject;
  // The statement of this file or layer that leads to the value: of a layer's result, the call.
  const auto locations = graph_.locations();
  const Location* location = &locations[tensor->location()];
  while (location->origin != at_.frame->origin && location->origin != kUnknownLocation)
    location = &locations[location->origin];
  const std::string line = std::to_string(location->line);
  if (location->file == at_.frame->module->file_index) return subject + ", from line " + line;
  return subject + ", from " + graph_.files()[location->file] + ":" + line;
}

void Reporter::NoteLoops(Diagnostic* diagnostic, bool leave_out_innermost) {
  constexpr unsigned kShown = 4;
  unsigned shown = 0;
  for (const TextFrame* frame = at_.frame; frame != nullptr; frame = frame->caller) {
    llvm::ArrayRef<TextFrame::OpenLoop> loops = frame->loops;
    if (frame == at_.frame && leave_out_innermost && !loops.empty()) loops = loops.drop_back();
    for (const TextFrame::OpenLoop& loop : llvm::reverse(loops)) {
      if (++shown > kShown) return;
      diagnostic->NoteAt(frame->module->file, loop.over,
                         "in iteration " + std::to_string(loop.round + 1) + " of " +
                             std::to_string(loop.rounds) + " of this loop");
    }
  }
}

void Reporter::NoteAtLocation(Diagnostic* diagnostic, LocationId id, std::string text) {
  if (id == kUnknownLocation) return;
  const Location& location = graph_.locations()[id];
  for (const Module& module : files_.modules) {
    if (module.file_index != location.file || location.line > module.file->num_lines()) continue;
    // Columns count characters.
    const llvm::StringRef line = module.file->Line(location.line);
    size_t offset = 0;
    for (uint32_t column = 1; column < location.column && offset < line.size(); ++column) {
      do {
        ++offset;
      } while (offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0) == 0x80);
    }
    const auto begin = module.file->LineBegin(location.line) + static_cast<uint32_t>(offset);
    const size_t length = line.drop_front(offset)
                              .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
                              .size();
    diagnostic->NoteAt(module.file,
                       {begin, begin + static_cast<uint32_t>(std::max<size_t>(length, 1))},
                       std::move(text));
    return;
  }
}

std::string Reporter::DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  if (!SpendSuggestions(candidates.size())) return "";
  if (const ForeignName* known = FindForeignName(name, candidates)) {
    return known->text.empty() ? Suggest(name, known->here) : "; write " + known->text.str();
  }
  const llvm::StringRef near = NearestName(name, candidates);
  return near.empty() ? "" : Suggest(name, near);
}

std::string Reporter::Suggest(llvm::StringRef name, llvm::StringRef instead) {
  suggested_ = {name.str(), instead.str()};
  return "; did you mean '" + instead.str() + "'?";
}

std::string Reporter::DidYouMeanOrList(llvm::StringRef name,
                                       llvm::ArrayRef<llvm::StringRef> candidates,
                                       llvm::StringRef verb) {
  std::string near = DidYouMean(name, candidates);
  if (!near.empty() || candidates.empty()) return near;
  constexpr size_t kShown = 8;
  const size_t shown = candidates.size() > kShown ? kShown : candidates.size() - 1;
  const std::string rest = candidates.size() > kShown
                               ? std::to_string(candidates.size() - kShown) + " more"
                               : candidates.back().str();
  const std::string start = ("; it " + verb + " ").str();
  if (shown == 0) return start + rest;
  return start + llvm::join(candidates.take_front(shown), ", ") + " and " + rest;
}

std::optional<uint32_t> Reporter::LineThatDefines(llvm::StringRef name) {
  if (at_.frame->caller != nullptr || !SpendSuggestions(ast_.statements.size()))
    return std::nullopt;
  const ast::Statement* statement = FindDefinition(ast_.statements, name);
  if (statement == nullptr) return std::nullopt;
  return at_.file->LineOf(statement->range.begin);
}

}  // namespace pdl
