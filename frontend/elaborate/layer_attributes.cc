#include "frontend/elaborate/layer_attributes.h"

#include "frontend/elaborate/attribute_checker.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

bool LayerAttributes::BindLayerAttributes(const ast::LayerStatement* layer,
                                          const LayerArguments& arguments) {
  bool ok = true;
  for (const ast::Parameter& parameter : layer->parameters) {
    if (parameter.type->is_tensor()) continue;
    const auto* given = llvm::find_if(arguments.named, [&](const LayerArgument& argument) {
      return argument.name.text == parameter.name.text;
    });
    if (given != arguments.named.end() && NamesFlag(*layer, parameter, *given, arguments)) {
      ok = false;
      continue;
    }
    ok &=
        BindLayerAttribute(parameter, given == arguments.named.end() ? nullptr : given, arguments);
  }
  return ok;
}

bool LayerAttributes::NamesFlag(const ast::LayerStatement& layer, const ast::Parameter& parameter,
                                const LayerArgument& given, const LayerArguments& arguments) {
  const auto* text = given.datum.get<llvm::StringRef>();
  const ast::TypeTerm& term = parameter.type->terms.front();
  if (text == nullptr || term.name.text == "string" || term.name.text == "function") return false;
  const bool is_flag = llvm::any_of(layer.parameters, [&](const ast::Parameter& other) {
    return other.name.text == *text && other.type->terms.front().name.text == "bool";
  });
  if (!is_flag) return false;
  names_.Assign(parameter.name.text, Datum());
  const LayerAttribute attribute{parameter, &given, arguments, given.datum, given.range};
  RejectAttribute(attribute, at_.file->Text(parameter.type->range),
                  "\"" + text->str() + "\"; write " + text->str() + "=true");
  return true;
}

bool LayerAttributes::BindLayerAttribute(const ast::Parameter& parameter,
                                         const LayerArgument* given,
                                         const LayerArguments& arguments) {
  const llvm::StringRef name = parameter.name.text;
  const ast::TypeTerm& term = parameter.type->terms.front();
  std::optional<Datum> datum;
  LayerAttribute attribute{parameter, given, arguments, {}, {}};
  if (given != nullptr) {
    datum = given->datum;
    attribute.range = given->range;
  } else if (parameter.default_value != nullptr) {
    datum = functions_.EvaluateFor(parameter.type, parameter.default_value);
    attribute.range = parameter.default_value->range;
  } else if (term.may_be_none) {
    datum = Datum::NoneValue();
  }
  names_.Assign(name, Datum());
  if (!datum) {
    Diagnostic& diagnostic =
        report_.CallerError(Code::kMissingAttribute, at_.frame->place,
                            "'" + at_.frame->callee + "' needs the attribute '" + name +
                                "': " + at_.file->Text(parameter.type->range));
    // After a repeatable input all positional arguments belong to it.
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
      attributes_.DeclareAttribute(parameter.name, parameter.doc, parameter.type);
  if (!decl) return false;
  const llvm::StringRef callee = at_.frame->callee;
  std::optional<Datum> checked;
  if (given != nullptr && at_.frame->caller != nullptr) {
    const PlaceScope caller(&at_, at_.frame->caller, arguments.file);
    checked = attributes_.CheckAttribute(*decl, attribute.datum, attribute.range, callee);
  } else {
    checked = attributes_.CheckAttribute(*decl, attribute.datum, attribute.range, callee);
  }
  if (!checked) return false;
  at_.Observe(parameter.name.range, *checked);
  names_.Assign(name, std::move(*checked));
  return true;
}

bool LayerAttributes::RejectAttribute(const LayerAttribute& attribute, const llvm::Twine& expected,
                                      const std::string& got) {
  // An error in an argument is located in the caller.
  TextFrame* const here = at_.frame;
  const bool is_given = attribute.given != nullptr && here->caller != nullptr;
  const PlaceScope place(&at_, is_given ? here->caller : here,
                         is_given ? attribute.arguments.file : at_.file);
  report_.Error(Code::kAttributeType, attribute.range,
                "attribute '" + attribute.parameter.name.text +
                    (here->callee.empty() ? llvm::Twine("'") : "' of '" + here->callee + "'") +
                    " must be " + expected + ", got " + got);
  return false;
}

bool LayerAttributes::BindFunctions(const LayerAttribute& attribute) {
  const llvm::StringRef name = attribute.parameter.name.text;
  const Datum& datum = attribute.datum;
  auto as_function = [&](const Datum& item, std::string path) -> Datum {
    if (const auto* function = item.get<Datum::FunctionValue>())
      return Datum(functions_.MakeInstance(*function, std::move(path)));
    if (item.is<Datum::None>()) {
      static const FunctionPtr& identity = *new FunctionPtr(std::make_shared<const Function>());
      return Datum(identity);
    }
    return Datum();
  };
  if (!attribute.parameter.type->terms.front().is_list) {
    const Datum function = as_function(datum, at_.frame->FullName(name));
    if (function.is_poison()) return RejectAttribute(attribute, "a function", datum.Phrase());
    names_.Assign(name, function);
    return true;
  }
  auto reject = [&] { return RejectAttribute(attribute, "a list of functions", datum.Phrase()); };
  if (datum.list() == nullptr) return reject();
  std::vector<Datum> items;
  for (const Datum& item : *datum.list()) {
    items.push_back(
        as_function(item, at_.frame->FullName(name) + "." + std::to_string(items.size())));
    if (items.back().is_poison()) return reject();
  }
  names_.Assign(name, Datum(std::move(items)));
  return true;
}

// The number of operands of the layer's repeatable input.
size_t LayerAttributes::CountRepeated(const LayerArguments& arguments) const {
  size_t count = arguments.operands.size();
  if (at_.frame->active.empty() || at_.frame->arguments != nullptr) return count;
  const auto* layer = static_cast<const ast::LayerStatement*>(at_.frame->active.back());
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

bool LayerAttributes::BindRecords(const LayerAttribute& attribute) {
  const llvm::StringRef name = attribute.parameter.name.text;
  const ast::TypeTerm& term = attribute.parameter.type->terms.front();
  const Datum& datum = attribute.datum;
  if (!term.is_list) {
    if (!datum.is<Datum::Record>() && !(term.may_be_none && datum.is<Datum::None>()))
      return RejectAttribute(attribute, "a record such as {weight_decay=1e-4}", datum.Phrase());
    names_.Assign(name, datum);
    return true;
  }
  // One record per item of the repeatable input; a single record applies to all.
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
    return RejectAttribute(attribute, "a record such as {weight_decay=1e-4}, or a list of them",
                           datum.Phrase());
  }
  if (records.size() != std::max<size_t>(items, 1)) {
    return RejectAttribute(attribute, "a record for each of " + llvm::Twine(items) + " inputs",
                           "a list of " + std::to_string(records.size()));
  }
  names_.Assign(name, Datum(std::move(records)));
  return true;
}

}  // namespace pdl
