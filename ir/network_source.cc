// The source of an incomplete network that calls layers, for the compiler to complete.
#include <map>
#include <string>
#include <vector>

#include "ir/names.h"
#include "ir/network_message.h"
#include "ir/proto_convert.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/out_of_memory.h"

namespace pdl {
namespace {

template <typename... Arguments>
llvm::Error Broken(const char* format, Arguments&&... arguments) {
  return MakeUserError(Code::kBadNetwork, format, std::forward<Arguments>(arguments)...);
}

/// Whether a string of the message is valid in one line of source.
bool FitsInLine(llvm::StringRef text) {
  return llvm::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

class NetworkSource {
 public:
  NetworkSource(const NetworkDesc& desc, size_t bytes, const OpRegistry& registry)
      : desc_(desc), registry_(registry), reader_(bytes) {
    reader_.set_num_blocks(static_cast<size_t>(desc.blocks_size()));
  }

  llvm::Expected<std::string> Print() {
    if (llvm::Error error = PrintVariables()) return error;
    if (desc_.blocks_size() > 0)
      for (const OpDesc& call : desc_.blocks(0).ops())
        if (llvm::Error error = PrintCall(call)) return error;
    if (llvm::Error error = PrintConstraints()) return error;
    if (llvm::Error error = PrintOutputs()) return error;
    for (const UpdateDesc& update : desc_.updates()) {
      if (llvm::Error error = CheckNames({update.state(), update.value()})) return error;
      os_ << "update " << update.state() << " = " << update.value() << '\n';
    }
    if (llvm::Error error = PrintTrainings()) return error;
    return std::move(text_);
  }

 private:
  llvm::Error CheckNames(llvm::ArrayRef<llvm::StringRef> names) const {
    for (const llvm::StringRef name : names)
      if (!IsPath(name)) return Broken("'{0}' is not a name of a variable", name);
    return llvm::Error::success();
  }

  void PrintComment(llvm::StringRef comment) {
    if (comment.empty()) return;
    for (const llvm::StringRef line : llvm::split(comment, '\n')) os_ << "## " << line << '\n';
  }

  llvm::Error PrintVariables() {
    for (const VarDesc& variable : desc_.variables()) {
      if (llvm::Error error = CheckNames({variable.name()})) return error;
      if (variable.role() == VarDesc::RESULT) {
        results_[variable.name()] = &variable;
        continue;
      }
      llvm::Expected<Type> type = reader_.ReadType(variable.type());
      if (!type) return type.takeError();
      PrintComment(variable.comment());
      const bool is_input = variable.role() == VarDesc::INPUT;
      os_ << (is_input                                ? "input "
              : variable.role() == VarDesc::PARAMETER ? "param "
                                                      : "state ")
          << variable.name() << ": " << type->ToString();
      if (!is_input)
        if (llvm::Error error = PrintInitial(variable)) return error;
      os_ << '\n';
    }
    return llvm::Error::success();
  }

  llvm::Error PrintInitial(const VarDesc& variable) {
    os_ << " = ";
    if (variable.has_weight()) {
      const WeightDesc& weight = variable.weight();
      os_ << WeightToString(
          {weight.file(), weight.tensor(), "", weight.cast(), weight.transpose()});
    } else if (!variable.copy_of().empty()) {
      if (llvm::Error error = CheckNames({variable.copy_of()})) return error;
      os_ << "copy(" << variable.copy_of() << ')';
    } else {
      const uint32_t block = variable.initializer();
      if (block < 2 || block > static_cast<uint32_t>(desc_.blocks_size()) ||
          desc_.blocks(static_cast<int>(block) - 1).ops_size() != 1)
        return Broken(
            "variable '{0}': in a network that calls layers, one call of an operator "
            "computes the initial value",
            variable.name());
      const OpDesc& call = desc_.blocks(static_cast<int>(block) - 1).ops(0);
      if (llvm::Error error = PrintExpression(call, /*is_initializer=*/true)) return error;
    }
    if (variable.role() != VarDesc::PARAMETER) return llvm::Error::success();
    VariableInfo info;
    info.weight_decay = variable.weight_decay();
    info.l1 = variable.l1();
    info.gradient_clipping = variable.gradient_clipping();
    if (variable.has_lr_scale()) info.lr_scale = variable.lr_scale();
    info.trainable = !variable.frozen();
    os_ << ParameterAttributesToString(info);
    return llvm::Error::success();
  }

  llvm::Error PrintCall(const OpDesc& call) {
    if (call.outputs_size() == 0) return Broken("a call of '{0}' has no results", call.type());
    for (const std::string& output : call.outputs())
      if (llvm::Error error = CheckNames({output})) return error;
    const auto first = results_.find(call.outputs(0));
    if (first != results_.end()) PrintComment(first->second->comment());
    os_ << llvm::join(call.outputs(), ", ");
    if (call.outputs_size() == 1 && first != results_.end() && first->second->has_type()) {
      llvm::Expected<Type> type = reader_.ReadType(first->second->type());
      if (!type) return type.takeError();
      os_ << ": " << type->ToString();
    }
    os_ << " = ";
    if (llvm::Error error = PrintExpression(call, /*is_initializer=*/false)) return error;
    os_ << '\n';
    return llvm::Error::success();
  }

  /// `callee(inputs, attributes)`. An initializer gets its dims and dtype from the variable.
  llvm::Error PrintExpression(const OpDesc& call, bool is_initializer) {
    if (!IsPath(call.type()))
      return Broken("'{0}' is not a name of an operator or layer", call.type());
    const OpDef* def = registry_.Find(call.type());
    os_ << call.type() << '(';
    llvm::ListSeparator comma(", ");
    if (def != nullptr && def->signature.has_counts()) {
      if (llvm::Error error = PrintCountedInputs(call, def->signature, comma)) return error;
    } else {
      for (const std::string& input : call.inputs()) {
        if (!input.empty())
          if (llvm::Error error = CheckNames({input})) return error;
        os_ << comma << (input.empty() ? "none" : input);
      }
    }
    // The order of a map is unspecified.
    std::map<std::string, const Attribute*> attributes;
    for (const auto& [name, value] : call.attributes()) attributes[name] = &value;
    for (const auto& [name, value] : attributes) {
      if (!IsIdentifier(name)) return Broken("'{0}' is not a name of an attribute", name);
      const int index = def == nullptr ? -1 : def->signature.FindAttribute(name);
      const AttributeDecl* decl = index < 0 ? nullptr : &def->signature.attributes[index];
      if (decl != nullptr && decl->counted) continue;
      if (is_initializer && decl != nullptr && !decl->is_list &&
          (decl->kind == AttributeKind::kShape || decl->kind == AttributeKind::kDType))
        continue;
      llvm::Expected<std::string> text = TextOf(*value);
      if (!text) return InCall(call, name, text.takeError());
      os_ << comma << name << '=' << *text;
    }
    os_ << ')';
    return llvm::Error::success();
  }

  static llvm::Error InCall(const OpDesc& call, const std::string& attribute, llvm::Error error) {
    return Broken("call of '{0}': attribute '{1}': {2}", call.type(), attribute,
                  llvm::toString(std::move(error)));
  }

  llvm::Expected<std::string> TextOf(const Attribute& value) {
    if (value.value_case() == Attribute::kSource) {
      if (value.source().empty() || !FitsInLine(value.source()))
        return Broken("not an expression in one line");
      return value.source();
    }
    if (value.value_case() == Attribute::kBlock)
      return Broken(
          "a block; in a network that calls layers, the body of a loop is the source of a call");
    llvm::Expected<AttributeValue> read = reader_.ReadAttribute(value);
    if (!read) return read.takeError();
    return AttributeToString(*read);
  }

  /// The operands of each input by its name, as the counts say.
  llvm::Error PrintCountedInputs(const OpDesc& call, const OpSignature& signature,
                                 llvm::ListSeparator& comma) {
    std::vector<AttributeValue> values;
    for (const AttributeDecl& decl : signature.attributes) {
      const auto given = call.attributes().find(decl.name);
      if (given == call.attributes().end() || !decl.counted) {
        values.push_back(decl.default_value);
        continue;
      }
      llvm::Expected<AttributeValue> value = reader_.ReadAttribute(given->second);
      if (!value) return InCall(call, decl.name, value.takeError());
      if (!std::holds_alternative<int64_t>(*value) || std::get<int64_t>(*value) < 0)
        return Broken("attribute '{0}' of '{1}' is not a count", decl.name, call.type());
      values.push_back(*value);
    }
    const auto num_inputs = static_cast<size_t>(call.inputs_size());
    size_t operand = 0;
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const size_t end = std::min(num_inputs, signature.FirstOperand(i + 1, values));
      if (end <= operand) continue;
      std::vector<std::string> names;
      for (; operand < end; ++operand) names.push_back(call.inputs(static_cast<int>(operand)));
      for (const std::string& name : names)
        if (llvm::Error error = CheckNames({name})) return error;
      const InputDecl& input = signature.inputs[i];
      os_ << comma;
      if (i == 0) {
        os_ << llvm::join(names, ", ");
      } else {
        os_ << input.name << '=';
        os_ << (input.repeatable ? "[" + llvm::join(names, ", ") + "]" : names[0]);
      }
    }
    if (operand == num_inputs) return llvm::Error::success();
    return Broken("a call of '{0}' has {1} inputs, but its counts say {2}", call.type(), num_inputs,
                  operand);
  }

  llvm::Error PrintConstraints() {
    for (const DimConstraint& constraint : desc_.constraints()) {
      llvm::Expected<Dim> left = reader_.ReadDim(constraint.left());
      if (!left) return left.takeError();
      llvm::Expected<Dim> right = reader_.ReadDim(constraint.right());
      if (!right) return right.takeError();
      const char* sign = constraint.relation() == DimConstraint::EQUAL       ? " == "
                         : constraint.relation() == DimConstraint::NOT_EQUAL ? " != "
                                                                             : " >= ";
      os_ << "assert " << left->ToString() << sign << right->ToString();
      if (!constraint.message().empty()) os_ << ", " << AttributeToString(constraint.message());
      os_ << '\n';
    }
    return llvm::Error::success();
  }

  llvm::Error PrintOutputs() {
    for (const OutputDesc& output : desc_.outputs()) {
      if (llvm::Error error = CheckNames({output.name(), output.variable()})) return error;
      PrintComment(output.comment());
      os_ << "output " << output.name();
      if (output.name() != output.variable() || output.name().find('.') != std::string::npos)
        os_ << " = " << output.variable();
      os_ << '\n';
    }
    return llvm::Error::success();
  }

  llvm::Error PrintTrainings() {
    for (const TrainingDesc& training : desc_.training()) {
      if (llvm::Error error = CheckNames({training.loss()})) return error;
      for (const std::string& parameter : training.parameters())
        if (llvm::Error error = CheckNames({parameter})) return error;
      if (!FitsInLine(training.optimizer()))
        return Broken("the optimizer of '{0}' is not an expression in one line", training.loss());
      os_ << "minimize " << training.loss();
      if (training.parameters_size() > 0)
        os_ << " over [" << llvm::join(training.parameters(), ", ") << ']';
      os_ << " with " << training.optimizer();
      if (training.every() > 1) os_ << " every " << training.every();
      os_ << '\n';
    }
    return llvm::Error::success();
  }

  const NetworkDesc& desc_;
  const OpRegistry& registry_;
  ProtoReader reader_;
  llvm::StringMap<const VarDesc*> results_;
  std::string text_;
  llvm::raw_string_ostream os_{text_};
};

/// Whether a call is of something that is not an operator.
bool CallsLayers(const NetworkDesc& desc, const OpRegistry& registry) {
  for (const BlockDesc& block : desc.blocks())
    for (const OpDesc& call : block.ops())
      if (registry.Find(call.type()) == nullptr) return true;
  return false;
}

}  // namespace

llvm::Expected<std::string> SourceOfIncomplete(llvm::StringRef bytes, llvm::StringRef file,
                                               const OpRegistry& registry) {
  return WithOutOfMemory(
      "loading the network '" + file.str() + "'", [&]() -> llvm::Expected<std::string> {
        google::protobuf::Arena arena;
        llvm::Expected<NetworkDesc*> desc = ParseNetwork(bytes, file, &arena);
        if (!desc) return desc.takeError();
        if (!(*desc)->incomplete() || !CallsLayers(**desc, registry)) return std::string();
        llvm::Expected<std::string> source = NetworkSource(**desc, bytes.size(), registry).Print();
        if (source) return source;
        return MakeUserError(Code::kBadNetwork, "{0}: {1}", file,
                             llvm::toString(source.takeError()));
      });
}

}  // namespace pdl
