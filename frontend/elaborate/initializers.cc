#include "frontend/elaborate/initializers.h"

#include "frontend/elaborate/argument_binder.h"
#include "frontend/elaborate/call_emitter.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"

namespace pdl {

FunctionPtr Initializers::FunctionFor(const ast::VariableStatement* statement,
                                      const FunctionPtr& init) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(statement->initial);
  FunctionPtr function = init;
  if (function == nullptr) {
    if (call == nullptr) {
      report_.Error(Code::kBadInitializer, statement->initial->range,
                    "expected an initializer such as zeros(), normal(std=0.02) or "
                    "load(\"file.safetensors\", \"name\")");
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
                                   const FunctionPtr& init, VariableInfo* info) {
  const auto* call = llvm::dyn_cast<ast::CallExpr>(statement->initial);
  const auto* name = call == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(call->callee);
  if (init == nullptr && name != nullptr && name->name == "load") return ReadLoad(call, type, info);
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

// load("file.safetensors", "name")
bool Initializers::ReadLoad(const ast::CallExpr* load, const Type& type, VariableInfo* info) {
  const llvm::ArrayRef<ast::Argument> arguments = load->arguments;
  const auto text = [&](size_t i) -> const ast::StringExpr* {
    if (i >= arguments.size() || arguments[i].is_named() || arguments[i].is_spread) return nullptr;
    return llvm::dyn_cast<ast::StringExpr>(arguments[i].value);
  };
  if (arguments.size() != 2 || text(0) == nullptr || text(1) == nullptr) {
    report_.Error(Code::kBadInitializer, load->range,
                  "load takes two strings: load(\"file.safetensors\", \"name\")");
    return false;
  }
  info->weight =
      WeightRef{at_.frame->module->folder + text(0)->value.str(), text(1)->value.str(), ""};
  if (!request_.find_weight) return true;
  llvm::Expected<WeightInfo> found = request_.find_weight(info->weight->file, info->weight->tensor);
  if (!found) {
    llvm::handleAllErrors(
        found.takeError(),
        [&](const UserError& e) {
          const bool is_name = e.code() == Code::kWeightMismatch;
          // A file that cannot be read is one error, however many tensors it should contain.
          if (!is_name && !reported_.unreadable_files.insert(text(0)->value).second) return;
          report_.Error(e.code(), text(is_name ? 1 : 0)->range, e.text());
        },
        [&](const llvm::ErrorInfoBase& e) {
          report_.Error(Code::kBadFile, text(0)->range, e.message());
        });
    return false;
  }
  Type loaded(found->dtype, Shape(found->sizes.begin(), found->sizes.end()));
  if (loaded.dtype != type.dtype || loaded.dims != type.dims) {
    report_.Error(Code::kWeightMismatch, text(1)->range,
                  "'" + text(1)->value + "' in \"" + text(0)->value + "\" is " + loaded.ToString() +
                      ", declared " + type.ToString());
    return false;
  }
  info->weight->sha256 = std::move(found->sha256);
  return true;
}

}  // namespace pdl
