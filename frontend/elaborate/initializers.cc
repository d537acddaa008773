#include "frontend/elaborate/initializers.h"

#include "frontend/elaborate/argument_binder.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/layer_copies.h"
#include "frontend/elaborate/load_calls.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "ir/names.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"

namespace pdl {

FunctionPtr Initializers::FunctionFor(const ast::VariableStatement* statement,
                                      const FunctionPtr& init) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(statement->initial);
  FunctionPtr function = init;
  if (function == nullptr) {
    if (call == nullptr) {
      Diagnostic& diagnostic =
          report_.Error(Code::kBadInitializer, statement->initial->range,
                        "expected an initializer such as zeros(), normal(std=0.02) or "
                        "load(\"file.safetensors\", \"name\")");
      const auto* name = llvm::dyn_cast<ast::NameExpr>(statement->initial);
      const auto found =
          name == nullptr ? at_.frame->scope.end() : at_.frame->scope.find(name->name);
      if (found != at_.frame->scope.end() && found->second.is<Datum::FunctionValue>())
        diagnostic.Note(("a function is written as a call: " + name->name + "()").str());
      return nullptr;
    }
    const Datum datum = functions_.FunctionOf(call);
    if (datum.is_poison()) return nullptr;
    if (const auto* given = datum.get<Datum::FunctionValue>()) function = *given;
  }
  if (function != nullptr && function->callee.op != nullptr &&
      function->callee.op->signature.inputs.empty())
    return function;
  const SourceRange range = call == nullptr ? statement->initial->range : call->callee->range;
  report_.Error(Code::kBadInitializer, range,
                "'" + (function == nullptr ? at_.file->Text(range) : function->callee.name) +
                    "' is not an initializer: " +
                    (function != nullptr && function->callee.is_network() ? "it is a layer"
                                                                          : "it takes inputs"));
  return nullptr;
}

bool Initializers::Complete(const Type& type, SourceRange type_range, Call* initializer) {
  const OpSignature& signature = initializer->def->signature;
  // The dims and the dtype come from the declared type.
  auto give = [&](const AttributeDecl& decl, AttributeValue value) {
    if (llvm::any_of(initializer->attributes,
                     [&](const NamedAttribute& given) { return given.name == decl.name; })) {
      return;
    }
    initializer->attributes.push_back({decl.name, std::move(value)});
    initializer->places.push_back({{}, type_range, nullptr, {}});
  };
  for (const AttributeDecl& decl : signature.attributes) {
    if (decl.is_list) continue;
    if (decl.kind == AttributeKind::kShape && decl.name == sugar::kDims) give(decl, type.dims);
    if (decl.kind == AttributeKind::kDType) give(decl, type.dtype);
  }
  // Literals get that dtype.
  for (auto [given, place] : llvm::zip_equal(initializer->attributes, initializer->places)) {
    if (place.literal.is_poison()) continue;
    const AttributeDecl& decl = signature.attributes[signature.FindAttribute(given.name)];
    llvm::Expected<AttributeValue> value =
        ToAttribute(place.literal, decl, binder_.LiteralDType(decl, *initializer));
    if (value) {
      given.value = std::move(*value);
    } else {
      report_.Error(Code::kAttributeType, place.value,
                    "attribute '" + decl.name + "' of '" + initializer->def->name() + "' " +
                        llvm::toString(value.takeError()));
      return false;
    }
  }
  return true;
}

bool Initializers::ReadInitializer(const ast::VariableStatement* statement, const Type& type,
                                   const ParameterRecord& given, VariableInfo* info) {
  if (given.load) return ReadLoad(*given.load, type, info);
  const FunctionPtr& init = given.init;
  if (init == nullptr && LoadCalls::IsLoad(statement->initial)) {
    const std::optional<LoadCall> load =
        load_calls_.ReadCall(llvm::cast<ast::CallExpr>(statement->initial));
    return load && ReadLoad(*load, type, info);
  }
  if (const ast::CallExpr* copy = LayerCopies::AsCopy(statement->initial);
      copy != nullptr && init == nullptr)
    return ReadCopy(statement, copy, type, info);
  const FunctionPtr function = FunctionFor(statement, init);
  if (function == nullptr) return false;
  Call initializer = function->call;
  if (initializer.attribute_file == at_.file) initializer.attribute_file = nullptr;
  if (init != nullptr) initializer.place = statement->initial->range;
  if (!Complete(type, statement->type->range, &initializer)) return false;
  initializer.block = graph_.AddBlock();
  at_.frame->base = statement->name.text.str();
  Op* op = emitter_.Emit(initializer, {});
  if (op == nullptr) return false;
  const Type& made = op->result()->type();
  if (made.dtype != type.dtype || made.dims != type.dims) {
    report_.Error(Code::kBadInitializer, statement->initial->range,
                  "the initializer makes " + made.ToString() + ", declared " + type.ToString());
    return false;
  }
  graph_.SetBlockOutputs(initializer.block, {op->result()});
  info->initializer = initializer.block;
  return true;
}

bool Initializers::ReadCopy(const ast::VariableStatement* statement, const ast::CallExpr* copy,
                            const Type& type, VariableInfo* info) {
  const llvm::StringRef name = statement->name.text;
  if (statement->kind == ast::StatementKind::kParam) {
    report_.Error(Code::kBadInitializer, copy->callee->range,
                  "a copy is a state: state " + name + " = copy(...)");
    return false;
  }
  const std::optional<LayerCopies::Source> source = copies_.ReadSource(copy);
  if (!source) return false;
  if (source->layer != nullptr) {
    report_.Error(
        Code::kBadType, statement->type->range,
        "the copy of a layer has no type: state " + name + " = copy(" + source->name + ")");
    return false;
  }
  if (!IsCopyable(source->value->type(), type)) {
    report_.Error(Code::kBadInitializer, copy->range,
                  "'" + source->name + "' is " + source->value->type().ToString() + ", declared " +
                      type.ToString());
    return false;
  }
  info->copy_of = source->value->name();
  return true;
}

bool Initializers::ReadLoad(const LoadCall& load, const Type& type, VariableInfo* info) {
  info->weight = load.weight;
  if (!request_.open_weights) return true;
  // A record may come from another file.
  const PlaceScope place(&at_, at_.frame, load.text);
  WeightRef& weight = *info->weight;
  llvm::Expected<const WeightListing*> listing = request_.open_weights(weight.file);
  if (!listing) {
    // A file that cannot be read is one error, however many tensors it should contain.
    if (reported_.unreadable_files.insert(weight.file).second)
      report_.ReportFileError(listing.takeError(), load.file);
    else
      llvm::consumeError(listing.takeError());
    return false;
  }
  const WeightEntry* entry = (*listing)->Find(weight.tensor);
  if (entry == nullptr) {
    std::vector<llvm::StringRef> names;
    for (const WeightEntry& each : (*listing)->entries) names.push_back(each.name);
    report_.Error(Code::kWeightMismatch, load.tensor,
                  "\"" + weight.file + "\" has no tensor '" + weight.tensor + "'" +
                      DidYouMean(weight.tensor, names));
    return false;
  }
  if (!FitsWeight(type, weight, entry->dtype, entry->sizes)) {
    const Type stored(entry->dtype, Shape(entry->sizes.begin(), entry->sizes.end()));
    WeightRef other = weight;
    other.cast = true;
    const bool can_cast = FitsWeight(type, other, entry->dtype, entry->sizes);
    other.transpose = !other.transpose;
    const bool can_transpose = FitsWeight(type, other, entry->dtype, entry->sizes);
    report_.Error(Code::kWeightMismatch, load.tensor,
                  "'" + weight.tensor + "' in \"" + load.name_in_text + "\" is " +
                      stored.ToString() + ", declared " + type.ToString() +
                      (can_cast        ? "; to convert it: cast=true"
                       : can_transpose ? weight.transpose ? "; it fits without transpose=true"
                                                          : "; to transpose it: transpose=true"
                                       : ""));
    return false;
  }
  if (!IsWeightName(entry->file)) {
    report_.Error(Code::kWeightMismatch, load.file,
                  "the name of the file that has '" + weight.tensor +
                      "' is empty or has a control character");
    return false;
  }
  weight.file = entry->file;
  weight.cast = entry->dtype != type.dtype;
  return true;
}

}  // namespace pdl
