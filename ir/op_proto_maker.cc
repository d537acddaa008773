#include "pdl/op/op_proto_maker.h"

#include <set>

#include "ir/names.h"
#include "ir/operator_code.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"
#include "pdl/op/inference.h"

namespace pdl {
namespace {

/// Checks a declaration for contradictions, of which it keeps the first.
class DeclarationCheck {
 public:
  explicit DeclarationCheck(const OpDef& def) : def_(def), signature_(def.signature) {}

  llvm::Error Run() {
    Require(!signature_.comment.empty(), "it has no comment");
    Require(!signature_.outputs.empty(), "it has no output");
    CheckInputs();
    CheckAttributes();
    CheckOutputs();
    CheckProperties();
    CheckDefaults();
    Require(def_.infer != nullptr, "it has no type inference");
    Require(!def_.body || (signature_.BlockAttribute() >= 0 && signature_.has_counts()),
            "it has a rule for a block, but no Block attribute or no counted inputs");
    Require(def_.gradient_order <= kMaxGradientOrder,
            llvm::Twine("its gradient has order ") + llvm::Twine(def_.gradient_order) +
                ", more than " + llvm::Twine(kMaxGradientOrder));
    if (fault_.empty()) return llvm::Error::success();
    return MakeUserError(Code::kOperatorUse,
                         "the declaration of operator '{0}' is inconsistent: {1}", signature_.name,
                         fault_);
  }

 private:
  void Require(bool holds, const llvm::Twine& fault) {
    if (!holds && fault_.empty()) fault_ = fault.str();
  }

  void TakeName(const std::string& name) {
    Require(IsIdentifier(name), llvm::Twine("'") + name +
                                    "' is not a name of the language: letters, digits and '_', and "
                                    "not a reserved word");
    Require(names_.insert(name).second,
            llvm::Twine("two declarations have the name '") + name + "'");
  }

  void CheckInputs() {
    bool optional_before = false;
    for (const InputDecl& input : signature_.inputs) {
      TakeName(input.name);
      if (!input.count.empty()) {
        Require(signature_.BlockAttribute() >= 0,
                llvm::Twine("'") + input.name + "' is counted, but there is no Block attribute");
        const int count = signature_.FindAttribute(input.count);
        Require(count >= 0 && signature_.attributes[static_cast<size_t>(count)].counted,
                llvm::Twine("'") + input.name + "' has a count that is not a counted attribute");
      } else {
        Require(!(signature_.has_counts() && input.repeatable),
                llvm::Twine("'") + input.name +
                    "' is repeatable without a count, but another input has one");
        Require(!input.repeatable || &input == &signature_.inputs.back(),
                llvm::Twine("'") + input.name + "' is repeatable but not the last input");
      }
      Require(!optional_before || input.optional,
              llvm::Twine("'") + input.name + "' is required after an optional input");
      optional_before = input.optional;
    }
  }

  void CheckAttributes() {
    const bool is_ragged = !signature_.inputs.empty() && signature_.inputs[0].ragged_levels > 0;
    for (const AttributeDecl& decl : signature_.attributes) {
      TakeName(decl.name);
      CheckAttribute(decl);
      const bool is_named_axis = decl.name == "axis" || decl.name == "axes";
      Require(!is_named_axis || decl.is_axis || !is_ragged,
              llvm::Twine("'") + decl.name + "' of a ragged input is not declared as an Axis()");
    }
  }

  void CheckAttribute(const AttributeDecl& decl) {
    const bool is_number = decl.kind == AttributeKind::kInt || decl.kind == AttributeKind::kFloat;
    Require(is_number || (!decl.lower && !decl.upper),
            llvm::Twine("a range on '") + decl.name + "', which is not a number");
    Require(decl.choices.empty() || decl.kind == AttributeKind::kString ||
                decl.kind == AttributeKind::kShape,
            llvm::Twine("choices for '") + decl.name + "', which is neither a string nor a shape");
    Require(!decl.lower || !decl.upper || Compare(decl.lower->value, decl.upper->value) <= 0,
            llvm::Twine("the range of '") + decl.name + "' is empty");
    Require(!decl.is_axis || decl.kind == AttributeKind::kInt,
            llvm::Twine("'") + decl.name + "' is an Axis() but not an int");
    Require(!decl.comment.empty(), llvm::Twine("'") + decl.name + "' has no comment");
    Require(!decl.counted || (decl.kind == AttributeKind::kInt && !decl.is_list),
            llvm::Twine("'") + decl.name + "' is counted but not an int");
    if (decl.dtype_from.empty()) return;
    const int other = signature_.FindAttribute(decl.dtype_from);
    Require(other >= 0 &&
                signature_.attributes[static_cast<size_t>(other)].kind == AttributeKind::kDType,
            llvm::Twine("'") + decl.name +
                "' takes its dtype from something other than a dtype attribute");
  }

  void CheckOutputs() {
    std::set<std::string> names;
    const auto has_attribute = [&](llvm::StringRef name, AttributeKind kind) {
      const int attribute = signature_.FindAttribute(name);
      return attribute >= 0 && signature_.attributes[static_cast<size_t>(attribute)].kind == kind;
    };
    for (const OutputDecl& output : signature_.outputs) {
      Require(IsIdentifier(output.name),
              llvm::Twine("output '") + output.name + "' has no name of the language");
      Require(names.insert(output.name).second,
              llvm::Twine("two outputs have the name '") + output.name + "'");
      Require(!output.dtype || output.dtype_of.empty(),
              llvm::Twine("output '") + output.name + "' has two dtypes");
      Require(output.dtype_of.empty() || signature_.FindInput(output.dtype_of) >= 0 ||
                  has_attribute(output.dtype_of, AttributeKind::kDType),
              llvm::Twine("output '") + output.name + "' has the dtype of '" + output.dtype_of +
                  "', which is neither an input nor a dtype attribute");
      Require(output.dims_of.empty() || signature_.FindInput(output.dims_of) >= 0 ||
                  has_attribute(output.dims_of, AttributeKind::kShape),
              llvm::Twine("output '") + output.name + "' has the dims of '" + output.dims_of +
                  "', which is neither an input nor a shape attribute");
    }
    for (const std::string& name : signature_.results_from) {
      const int found = signature_.FindAttribute(name);
      Require(found >= 0,
              llvm::Twine("'") + name + "', which sets the number of results, is not an attribute");
      if (found < 0) continue;
      const AttributeDecl& count = signature_.attributes[static_cast<size_t>(found)];
      // A body may have no results.
      Require(count.kind != AttributeKind::kInt || count.is_list ||
                  signature_.BlockAttribute() >= 0 ||
                  (count.lower && Compare(count.lower->value, int64_t{0}) >= 0 &&
                   !count.Admits(int64_t{0})),
              llvm::Twine("'") + name + "', which sets the number of results, may be 0");
    }
  }

  void CheckProperties() {
    const OpProperties& properties = signature_.properties;
    Require(properties.reduced_precision != ReducedPrecision::kFollow || properties.moves_elements,
            "it follows its operands to f16, but does more than move elements");
    Require(!properties.elementwise || signature_.outputs.size() == 1,
            "it is elementwise but has more than one output");
    const bool has_one_input = signature_.inputs.size() == 1 && !signature_.inputs[0].repeatable;
    Require(!properties.elementwise || def_.infer != InferSameAsFirst || has_one_input,
            "it is elementwise with several inputs, whose types InferSameAsFirst does not compare: "
            "see InferBroadcast");
    Require(properties.zero_rule == nullptr || properties.elementwise,
            "it has a rule for zeros but is not elementwise");
  }

  /// Each default must pass the checks for values of a caller.
  void CheckDefaults() {
    OpSignature only_defaults = signature_;
    std::vector<NamedAttribute> given;
    for (const AttributeDecl& decl : signature_.attributes)
      if (!IsNone(decl.default_value)) given.push_back({decl.name, decl.default_value});
    for (AttributeDecl& decl : only_defaults.attributes) decl.optional |= decl.required();
    auto values = CompleteAttributes(only_defaults, given);
    if (!values) Require(false, "the default of " + llvm::toString(values.takeError()));
  }

  const OpDef& def_;
  const OpSignature& signature_;
  std::string fault_;
  std::set<std::string> names_;
};

}  // namespace

InputBuilder OpProtoMaker::AddInput(std::string name, std::string comment) {
  InputDecl decl;
  decl.name = std::move(name);
  decl.comment = std::move(comment);
  def_.signature.inputs.push_back(std::move(decl));
  return InputBuilder({&def_.signature.inputs, def_.signature.inputs.size() - 1});
}

OutputBuilder OpProtoMaker::AddOutput(std::string name, std::string comment) {
  def_.signature.outputs.push_back({std::move(name), std::move(comment)});
  return OutputBuilder({&def_.signature.outputs, def_.signature.outputs.size() - 1});
}

DeclRef<AttributeDecl> OpProtoMaker::AddAttribute(std::string name, std::string comment,
                                                  AttributeKind kind, bool is_list) {
  AttributeDecl decl;
  decl.name = std::move(name);
  decl.comment = std::move(comment);
  decl.kind = kind;
  decl.is_list = is_list;
  def_.signature.attributes.push_back(std::move(decl));
  return {&def_.signature.attributes, def_.signature.attributes.size() - 1};
}

llvm::Expected<OpDef> OpProtoMaker::Build(llvm::StringRef name) {
  def_ = OpDef();
  def_.signature.name = name.str();
  llvm::Error failure = ConvertExceptions(
      [&]() -> llvm::Error {
        Make();
        return llvm::Error::success();
      },
      [&](const char* what) {
        return MakeUserError(Code::kOperatorUse, "the declaration of operator '{0}' failed: {1}",
                             name, what);
      });
  if (failure) return failure;
  for (InputDecl& input : def_.signature.inputs) {
    if (properties().elementwise) input.ragged_levels = kMaxRaggedLevels;
    input.differentiable &= input.dtypes.Intersects(kFloats);
  }
  // A rule without any gradient has nothing to compare.
  if (llvm::none_of(def_.signature.inputs, [](const InputDecl& i) { return i.differentiable; }))
    def_.gradient_order = 0;
  if (!def_.signature.outputs.empty() && !def_.signature.inputs.empty()) {
    OutputBuilder output({&def_.signature.outputs, 0});
    if (def_.infer == InferSameAsFirst) {
      output.TypeOf(def_.signature.inputs.front().name);
    } else if (properties().elementwise) {
      const InputDecl& first = def_.signature.inputs.front();
      const bool is_unary = def_.signature.inputs.size() == 1 && !first.repeatable;
      is_unary ? output.DimsOf(first.name) : output.Broadcast();
    }
  }
  if (properties().random)
    AddAttr<std::string>("stream",
                         "the name of the stream of random numbers; calls with the same stream, in "
                         "one run, use the same numbers; by default the name of the result")
        .Optional();
  if (llvm::Error error = DeclarationCheck(def_).Run()) return error;
  return std::move(def_);
}

}  // namespace pdl
