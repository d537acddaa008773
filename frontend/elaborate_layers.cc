// Layers, and files called like layers: each call is expanded where it stands.
#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/attribute_reader.h"

namespace pdl {

std::string Elaborator::TakeWay(llvm::StringRef own, bool is_outermost) {
  const std::string& base = frame_->base;
  const bool is_own = base.empty();
  const std::string name = is_own ? own.str() : base;
  const std::string tail = is_own || is_outermost ? "" : "." + own.str();
  std::string way;
  unsigned n = 0;
  do {
    const std::string suffix = ++n == 1 ? "" : "_" + std::to_string(n);
    way = tail.empty() ? name + suffix + frame_->counts : name + frame_->counts + tail + suffix;
  } while (!frame_->taken.insert(way).second);
  way = FullName(way);
  frame_->ways[name].push_back(way);
  return way;
}

const ast::Parameter* Elaborator::FindParameter(const Callee& callee, llvm::StringRef name) {
  if (callee.layer == nullptr) return nullptr;
  for (const ast::Parameter& parameter : callee.layer->parameters)
    if (parameter.name.text == name) return &parameter;
  return nullptr;
}

void Elaborator::ReadLayerArguments(const Callee& callee, const ast::CallExpr* expr,
                                    const Operand* piped, LayerArguments* arguments) {
  arguments->file = file_;
  arguments->place = expr->callee->range;
  if (piped != nullptr) arguments->operands.push_back(*piped);
  // What a file that is called declares under this name.
  auto type_of = [&](llvm::StringRef name) -> const ast::Type* {
    if (const ast::Parameter* parameter = FindParameter(callee, name)) return parameter->type;
    if (callee.layer != nullptr) return nullptr;
    for (const ast::Statement* statement : callee.module->ast->statements) {
      const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement);
      const auto* input = llvm::dyn_cast<ast::InputStatement>(statement);
      if (attr != nullptr && attr->name.text == name) return attr->type;
      if (input != nullptr && input->name.text == name) return input->type;
    }
    return nullptr;
  };
  for (const ast::Argument& argument : expr->arguments) {
    if (!argument.is_named()) {
      const Datum datum = Evaluate(argument.value);
      const auto* items = datum.list();
      if (argument.is_spread && items != nullptr) {
        if (!SpendItems(items->size(), argument.value->range)) return;
        for (const Datum& item : *items)
          arguments->operands.push_back({item, argument.value->range});
        continue;
      }
      if (argument.is_spread && !datum.is_poison()) {
        Error(Code::kOperandKind, argument.value->range,
              "'...' spreads a list, got " + datum.Phrase());
        arguments->is_poison = true;
      }
      arguments->operands.push_back({datum, argument.value->range});
      continue;
    }
    const llvm::StringRef name = argument.name.text;
    for (const LayerArgument& given : arguments->named) {
      if (given.name.text != name) continue;
      Error(Code::kRedefined, argument.name.range, "'" + name + "' is given twice");
      arguments->is_poison = true;
    }
    if (const ast::Type* type = type_of(name)) {
      arguments->named.push_back(
          {argument.name, EvaluateFor(type, argument.value), argument.value->range});
      arguments->is_poison |= arguments->named.back().datum.holds_poison();
      continue;
    }
    if (in_minimize_ && name == "clip_norm") {
      AttributeDecl decl;
      decl.name = name.str();
      decl.kind = AttributeKind::kFloat;
      decl.lower = Bound{0, true};
      const std::optional<Datum> value =
          CheckAttribute(decl, Evaluate(argument.value), argument.value->range, file_, "minimize");
      arguments->is_poison |= !value;
      if (value) arguments->clip_norm = value->number();
      continue;
    }
    if (in_minimize_ && name == "lazy") {
      AttributeDecl decl;
      decl.name = name.str();
      decl.kind = AttributeKind::kBool;
      const std::optional<Datum> value =
          CheckAttribute(decl, Evaluate(argument.value), argument.value->range, file_, "minimize");
      arguments->is_poison |= !value;
      if (value) arguments->lazy = *value->get<bool>();
      continue;
    }
    if (name == "training" || name == "recompute") {
      const Datum datum = Evaluate(argument.value);
      const auto* value = datum.get<bool>();
      if (value == nullptr || (name == "training" && *value)) {
        if (!datum.is_poison()) {
          Error(Code::kAttributeType, argument.value->range,
                name == "training" ? "a layer is held in inference mode by training=false"
                                   : "recompute is true or false");
        }
        arguments->is_poison = true;
      } else if (name == "training") {
        arguments->training_off = true;
      } else {
        arguments->recompute = *value;
      }
      continue;
    }
    std::vector<llvm::StringRef> known;
    if (in_minimize_) known.insert(known.end(), {"clip_norm", "lazy"});
    if (callee.layer != nullptr) {
      for (const ast::Parameter& parameter : callee.layer->parameters)
        known.push_back(parameter.name.text);
    } else {
      for (const ast::Statement* statement : callee.module->ast->statements) {
        if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement))
          known.push_back(attr->name.text);
        if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement))
          known.push_back(input->name.text);
      }
    }
    known.insert(known.end(), {"training", "recompute"});
    Error(Code::kUnknownAttribute, argument.name.range,
          "'" + callee.name + "' has no attribute or input '" + name + "'" +
              DidYouMeanOrTakes(name, known));
    Evaluate(argument.value);
    arguments->is_poison = true;
  }
  for (const Operand& operand : arguments->operands)
    arguments->is_poison |= operand.datum.holds_poison();
}

Diagnostic& Elaborator::CallerError(Code code, SourceRange place, const llvm::Twine& message) {
  TextFrame* const here = frame_;
  const std::shared_ptr<const SourceFile> file = file_;
  frame_ = here->caller;
  file_ = here->caller_file;
  Diagnostic& diagnostic = Error(code, place, message);
  frame_ = here;
  file_ = file;
  return diagnostic;
}

Elaborator::Results Elaborator::CallLayer(const Callee& callee, const LayerArguments& arguments,
                                          llvm::StringRef path, bool is_instance,
                                          llvm::ArrayRef<const void*> active, Targets targets) {
  Results results;
  spoiled_ways_.insert(path);
  if (arguments.is_poison) return results;
  const void* const identity =
      callee.layer != nullptr ? static_cast<const void*>(callee.layer) : callee.module;
  if (llvm::is_contained(active, identity)) {
    Error(Code::kRecursion, arguments.place,
          "'" + callee.name + "' calls itself" +
              (active.back() == identity ? "" : ", through other layers"));
    return results;
  }
  const CompileLimits& limits = request_.limits;
  if (depth_ >= limits.layer_depth) {
    Error(Code::kNestingTooDeep, arguments.place,
          "layers nested deeper than " + llvm::Twine(limits.layer_depth));
    return results;
  }
  if (!SpendLayerCall(arguments.place)) return results;
  TextFrame frame;
  frame.module = callee.module;
  frame.path = path.str() + ".";
  frame.caller = frame_;
  frame.caller_file = file_;
  frame.place = arguments.place;
  frame.callee = callee.name;
  frame.origin = LocationAt(arguments.place.begin);
  frame.training_off = frame_->training_off || arguments.training_off;
  frame.recompute = frame_->recompute;
  if (frame.recompute == 0 && arguments.recompute) frame.recompute = ++recomputed_;
  frame.is_instance = is_instance;
  frame.active.assign(active.begin(), active.end());
  frame.active.push_back(identity);
  frame.result_names = targets;
  if (callee.module->file_index == UINT32_MAX)
    callee.module->file_index = graph_.AddFile(callee.module->file->name());
  const bool was_in_block = std::exchange(in_block_, false);
  const size_t errors = diagnostics_->num_errors();
  {
    FrameScope scope(this, &frame);
    llvm::ArrayRef<const ast::Statement*> statements;
    bool ok = true;
    if (callee.layer != nullptr) {
      ok = BindLayer(callee.layer, arguments);
      statements = callee.layer->body.statements;
    } else {
      frame.arguments = &arguments;
      statements = callee.module->ast->statements;
    }
    for (const ast::Statement* statement : statements) {
      if (!ok || frame.returned) break;
      Elaborate(statement);
    }
    ok &= !frame.refused;
    if (ok && frame.arguments != nullptr && frame.next_operand < arguments.operands.size()) {
      CallerError(Code::kOperandCount, arguments.operands[frame.next_operand].range,
                  "'" + callee.name + "' has " + llvm::Twine(frame.next_operand) + " inputs, got " +
                      llvm::Twine(arguments.operands.size()));
      ok = false;
    }
    if (ok && frame.results.empty() && diagnostics_->num_errors() == errors) {
      CallerError(Code::kNoResult, arguments.place,
                  "'" + callee.name + "' " +
                      (callee.layer != nullptr ? "returns nothing" : "has no output"));
    }
    if (!ok) frame.results.clear();
    if (!frame.missing_input.empty() && diagnostics_->num_errors() == errors) {
      for (TextFrame::Result& result : frame.results) {
        if (result.datum.holds_poison())
          result.missing = "input '" + frame.missing_input + "' of '" + callee.name.str() + "'";
      }
    }
  }
  in_block_ = was_in_block;
  const bool is_whole =
      !frame.results.empty() && llvm::none_of(frame.results, [](const TextFrame::Result& result) {
        return result.datum.holds_poison();
      });
  if (is_whole) spoiled_ways_.erase(path);
  results.all.append(std::make_move_iterator(frame.results.begin()),
                     std::make_move_iterator(frame.results.end()));
  return results;
}

// ---------------------------------------------------------------------------------------------
// What a layer is given

bool Elaborator::BindLayer(const ast::LayerStatement* layer, const LayerArguments& arguments) {
  if (!BindLayerAttributes(layer, arguments)) return false;
  if (!BindLayerInputs(layer, arguments)) return false;
  return CheckCallerKeeps(layer->where);
}

bool Elaborator::BindLayerAttributes(const ast::LayerStatement* layer,
                                     const LayerArguments& arguments) {
  bool ok = true;
  for (const ast::Parameter& parameter : layer->parameters) {
    if (parameter.type->is_tensor()) continue;
    const auto* given = llvm::find_if(arguments.named, [&](const LayerArgument& argument) {
      return argument.name.text == parameter.name.text;
    });
    ok &=
        BindLayerAttribute(parameter, given == arguments.named.end() ? nullptr : given, arguments);
  }
  return ok;
}

bool Elaborator::BindLayerAttribute(const ast::Parameter& parameter, const LayerArgument* given,
                                    const LayerArguments& arguments) {
  const llvm::StringRef name = parameter.name.text;
  const ast::TypeTerm& term = parameter.type->terms.front();
  std::optional<Datum> datum;
  LayerAttribute attribute{parameter, given, arguments, {}, {}};
  if (given != nullptr) {
    datum = given->datum;
    attribute.range = given->range;
  } else if (parameter.default_value != nullptr) {
    datum = EvaluateFor(parameter.type, parameter.default_value);
    attribute.range = parameter.default_value->range;
  } else if (term.may_be_none) {
    datum = Datum::NoneValue();
  }
  Assign(name, Datum());
  if (!datum) {
    Diagnostic& diagnostic = CallerError(Code::kMissingAttribute, frame_->place,
                                         "'" + frame_->callee + "' needs the attribute '" + name +
                                             "': " + file_->Text(parameter.type->range));
    // Behind a repeatable input everything by position is one more of it.
    const auto* number = llvm::find_if(arguments.operands, [](const Operand& operand) {
      return operand.datum.number().has_value();
    });
    if (number != arguments.operands.end()) {
      const llvm::StringRef text = arguments.file->Text(number->range);
      diagnostic.Note("by position " + text.str() +
                      " is an input; an attribute has its name: " + name.str() + "=" + text.str());
    }
    return false;
  }
  if (datum->holds_poison()) return false;
  attribute.datum = std::move(*datum);
  if (term.name.text == "function") return BindFunctions(attribute);
  if (term.name.text == "parameter") return BindRecords(attribute);

  const std::optional<AttributeDecl> decl =
      DeclareAttribute(parameter.name, parameter.doc, parameter.type);
  if (!decl) return false;
  TextFrame* const here = frame_;
  std::optional<Datum> checked;
  if (given != nullptr && frame_->caller != nullptr) {
    frame_ = here->caller;
    checked = CheckAttribute(*decl, attribute.datum, attribute.range, arguments.file, here->callee);
    frame_ = here;
  } else {
    checked = CheckAttribute(*decl, attribute.datum, attribute.range, file_, frame_->callee);
  }
  if (!checked) return false;
  Assign(name, std::move(*checked));
  return true;
}

bool Elaborator::RefuseAttribute(const LayerAttribute& attribute, const llvm::Twine& wanted,
                                 const std::string& got) {
  // A mistake in what is given is the caller's.
  TextFrame* const here = frame_;
  const std::shared_ptr<const SourceFile> file = file_;
  if (attribute.given != nullptr && here->caller != nullptr) {
    frame_ = here->caller;
    file_ = attribute.arguments.file;
  }
  Error(Code::kAttributeType, attribute.range,
        "attribute '" + attribute.parameter.name.text +
            (here->callee.empty() ? llvm::Twine("'") : "' of '" + here->callee + "'") +
            " must be " + wanted + ", got " + got);
  frame_ = here;
  file_ = file;
  return false;
}

bool Elaborator::BindFunctions(const LayerAttribute& attribute) {
  const llvm::StringRef name = attribute.parameter.name.text;
  const Datum& datum = attribute.datum;
  auto as_function = [&](const Datum& item, std::string path) -> Datum {
    if (const auto* function = item.get<Datum::FunctionValue>())
      return Datum(MakeInstance(*function, std::move(path)));
    if (item.is<Datum::None>()) {
      static const FunctionPtr identity = std::make_shared<const Function>();
      return Datum(identity);
    }
    return Datum();
  };
  if (!attribute.parameter.type->terms.front().is_list) {
    const Datum function = as_function(datum, FullName(name));
    if (function.is_poison()) return RefuseAttribute(attribute, "a function", datum.Phrase());
    Assign(name, function);
    return true;
  }
  auto refuse = [&] { return RefuseAttribute(attribute, "a list of functions", datum.Phrase()); };
  if (datum.list() == nullptr) return refuse();
  std::vector<Datum> items;
  for (const Datum& item : *datum.list()) {
    items.push_back(as_function(item, FullName(name) + "." + std::to_string(items.size())));
    if (items.back().is_poison()) return refuse();
  }
  Assign(name, Datum(std::move(items)));
  return true;
}

// How many values the repeatable input of the layer is given.
size_t Elaborator::CountRepeated(const LayerArguments& arguments) const {
  size_t count = arguments.operands.size();
  if (frame_->active.empty() || frame_->arguments != nullptr) return count;
  const auto* layer = static_cast<const ast::LayerStatement*>(frame_->active.back());
  if (layer == nullptr) return count;
  for (const ast::Parameter& other : layer->parameters) {
    if (!other.type->is_tensor()) continue;
    if (!other.is_repeatable && count > 0) --count;
    if (!other.is_repeatable) continue;
    for (const LayerArgument& argument : arguments.named) {
      if (argument.name.text != other.name.text) continue;
      count += argument.datum.list() != nullptr ? argument.datum.list()->size() : 1;
    }
  }
  return count;
}

bool Elaborator::BindRecords(const LayerAttribute& attribute) {
  const llvm::StringRef name = attribute.parameter.name.text;
  const ast::TypeTerm& term = attribute.parameter.type->terms.front();
  const Datum& datum = attribute.datum;
  if (!term.is_list) {
    if (!datum.is<Datum::Record>() && !(term.may_be_none && datum.is<Datum::None>()))
      return RefuseAttribute(attribute, "a record such as {weight_decay=1e-4}", datum.Phrase());
    Assign(name, datum);
    return true;
  }
  // One for each item of the repeatable input; one record counts for all.
  const size_t items = CountRepeated(attribute.arguments);
  std::vector<Datum> records;
  if (datum.is<Datum::Record>()) {
    records.assign(std::max<size_t>(items, 1), datum);
  } else if (datum.list() != nullptr) {
    records = *datum.list();
  }
  const bool all_records =
      llvm::all_of(records, [](const Datum& item) { return item.is<Datum::Record>(); });
  if (!all_records || records.empty()) {
    return RefuseAttribute(attribute, "a record such as {weight_decay=1e-4}, or a list of them",
                           datum.Phrase());
  }
  if (records.size() != std::max<size_t>(items, 1)) {
    return RefuseAttribute(attribute, "a record for each of " + llvm::Twine(items) + " inputs",
                           "a list of " + std::to_string(records.size()));
  }
  Assign(name, Datum(std::move(records)));
  return true;
}

bool Elaborator::CheckCallerKeeps(llvm::ArrayRef<const ast::Expr*> where) {
  bool ok = true;
  for (const ast::Expr* condition : where) {
    std::vector<DimCheck> checks;
    bool failed = false;
    if (!ReadCondition(condition, &checks, &failed)) continue;
    const llvm::StringRef text = file_->Text(condition->range);
    auto complain = [&](const std::string& note) {
      ok = false;
      Diagnostic& diagnostic =
          CallerError(Code::kConstraint, frame_->place, "'" + frame_->callee + "' wants " + text);
      if (!note.empty()) diagnostic.Note(note);
      diagnostic.NoteAt(file_, condition->range, "declared here");
    };
    if (failed) {
      // What the names in it are.
      std::vector<std::string> facts;
      llvm::SmallVector<const ast::Expr*, 8> pending = {condition};
      llvm::StringSet<> seen;
      while (!pending.empty()) {
        const ast::Expr* next = pending.pop_back_val();
        if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(next)) {
          for (const ast::Expr* operand : llvm::reverse(chain->operands))
            pending.push_back(operand);
        } else if (const auto* inner = llvm::dyn_cast<ast::ParenthesisExpr>(next)) {
          pending.push_back(inner->inner);
        } else if (const auto* name = llvm::dyn_cast<ast::NameExpr>(next)) {
          const std::optional<Dim> value = EvaluateSize(name).dim();
          if (value && seen.insert(name->name).second)
            facts.push_back(name->name.str() + " is " + value->ToString());
        }
      }
      complain(llvm::join(facts, ", "));
      continue;
    }
    // What can be broken by sizes that the inputs may have is a mistake; what nobody can decide is
    // checked when the sizes are known.
    std::optional<Counterexample> example;
    for (const DimCheck& check : checks) {
      if (std::optional<Counterexample> found = known_.Refute(check)) example = std::move(found);
    }
    if (example) {
      complain("for example " + example->ToString());
      continue;
    }
    for (DimCheck& check : checks) {
      check.message = "'" + frame_->callee.str() + "' wants " + text.str();
      AddConstraint(std::move(check), frame_->origin);
    }
  }
  return ok;
}

void Elaborator::AddConstraint(DimCheck check, LocationId location) {
  // In memory it is as much as many statements.
  constexpr uint64_t kSteps = 100;
  if (IsRepeated() && !Spend(kSteps, {})) return;
  known_.Add(check);
  graph_.AddConstraint({std::move(check), location});
}

// ---------------------------------------------------------------------------------------------

void Elaborator::ElaborateInstance(const ast::LayerInstanceStatement* statement) {
  const llvm::StringRef name = statement->name.text;
  frame_->base = name.str();
  const Datum datum = ReadFunction(statement->value);
  if (datum.is<Datum::None>()) {
    Error(Code::kOperandKind, statement->value->range, "wanted a layer, got none");
  }
  const auto* function = datum.get<Datum::FunctionValue>();
  if (function == nullptr) {
    frame_->instances[name] = nullptr;
    return;
  }
  FunctionPtr instance = *function;
  if (instance->path.empty() && instance->callee.is_network()) {
    instance = MakeInstance(instance, TakeWay(name, /*is_outermost=*/true));
  }
  frame_->instances[name] = std::move(instance);
}

}  // namespace pdl
