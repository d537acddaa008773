#include "pdl/compiler/serialize.h"

#include <climits>
#include <vector>

#include "google/protobuf/arena.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "ir/names.h"
#include "ir/proto_convert.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "pdl/op/error.h"
#include "pdl/version.h"

namespace pdl {
namespace {

/// A string as a message may contain it: invalid UTF-8 is replaced, control characters become
/// blanks.
std::string Clean(llvm::StringRef text) {
  std::string clean = llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
  for (char& c : clean)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = ' ';
  return clean;
}

/// Whether a variable uses fields that version 1 of the format lacks.
bool NeedsVersion2(const Value* value) {
  if (value->kind() != ValueKind::kParameter && value->kind() != ValueKind::kState) return false;
  const VariableInfo& info = value->variable();
  return info.l1 != 0 || !info.copy_of.empty() ||
         (info.weight && (info.weight->cast || info.weight->transpose));
}

class NetworkWriter {
 public:
  NetworkWriter(const Graph& graph, const SerializeOptions& options, NetworkDesc* out)
      : graph_(graph), options_(options), out_(*out) {}

  llvm::Error Write() {
    out_.set_format_version(llvm::any_of(ValuesInOrder(), NeedsVersion2) ? 2 : 1);
    out_.set_pdl_version(version_string);
    for (const std::string& symbol : graph_.Symbols()) out_.add_symbols(symbol);
    if (options_.locations) WriteLocations();
    for (const GraphConstraint& constraint : graph_.constraints())
      if (llvm::Error error = WriteConstraint(constraint, out_.add_constraints())) return error;
    for (uint32_t i = 0; i < graph_.num_blocks(); ++i)
      if (llvm::Error error = WriteBlock({i}, out_.add_blocks())) return error;
    for (const Value* value : ValuesInOrder())
      if (llvm::Error error = WriteVariable(*value, out_.add_variables())) return error;
    for (const GraphOutput& output : graph_.outputs()) {
      OutputDesc* desc = out_.add_outputs();
      desc->set_name(output.name);
      desc->set_variable(output.value->name());
      desc->set_comment(Clean(output.comment));
    }
    for (const GraphUpdate& update : graph_.updates()) {
      UpdateDesc* desc = out_.add_updates();
      desc->set_state(update.state->name());
      desc->set_value(update.value->name());
    }
    for (const GraphTraining& training : graph_.trainings())
      WriteTraining(training, out_.add_training());
    out_.set_whole(true);
    return llvm::Error::success();
  }

 private:
  /// 1 + the index of a written row, or 0.
  uint32_t Row(LocationId location) const {
    return options_.locations && location != kUnknownLocation ? location + 1 : 0;
  }

  void WriteLocations() {
    for (const std::string& file : graph_.files()) out_.add_files(Clean(file));
    for (const Location& location : graph_.locations()) {
      LocationDesc* desc = out_.add_locations();
      desc->set_file(location.file);
      desc->set_line(location.line);
      desc->set_column(location.column);
      desc->set_origin(Row(location.origin));
    }
  }

  llvm::Error WriteConstraint(const GraphConstraint& constraint, DimConstraint* out) {
    out->set_relation(static_cast<DimConstraint::Relation>(constraint.check.relation));
    out->set_message(Clean(constraint.check.message));
    out->set_location(Row(constraint.location));
    if (llvm::Error error = DimToProto(constraint.check.left, out->mutable_left())) return error;
    return DimToProto(constraint.check.right, out->mutable_right());
  }

  void WriteTraining(const GraphTraining& training, TrainingDesc* out) {
    out->set_loss(training.loss->name());
    for (const Value* parameter : training.parameters) out->add_parameters(parameter->name());
    out->set_every(training.every);
    out->set_optimizer(Clean(training.optimizer));
    out->set_location(Row(training.location));
  }

  llvm::Error WriteBlock(BlockId id, BlockDesc* out) {
    const Block& block = graph_.block(id);
    out->mutable_ops()->Reserve(static_cast<int>(block.ops.size()));
    for (const Op* op : block.ops)
      if (llvm::Error error = WriteOp(*op, out->add_ops())) return error;
    if (id.index == 0) return llvm::Error::success();
    for (const Value* value : block.inputs) out->add_inputs(value->name());
    for (const Value* value : block.outputs) out->add_outputs(value->name());
    return llvm::Error::success();
  }

  llvm::Error WriteOp(const Op& op, OpDesc* out) {
    out->set_type(op.type());
    for (const Value* operand : op.operands()) out->add_inputs(operand->name());
    for (const Value* result : op.results()) out->add_outputs(result->name());
    llvm::ArrayRef<AttributeDecl> decls = op.def().signature.attributes;
    for (size_t i = 0; i < decls.size(); ++i) {
      const AttributeValue& value = op.attribute_values()[i];
      if (IsNone(value) && IsNone(decls[i].default_value)) continue;
      if (llvm::Error error = AttributeToProto(value, &(*out->mutable_attributes())[decls[i].name]))
        return error;
    }
    out->set_location(Row(op.location()));
    if (options_.locations) out->set_layer(op.layer_path());
    out->set_recompute(op.recompute());
    return llvm::Error::success();
  }

  std::vector<const Value*> ValuesInOrder() const {
    std::vector<const Value*> values(graph_.num_values(), nullptr);
    auto add = [&](llvm::ArrayRef<Value*> some) {
      for (const Value* value : some) values[graph_.number(value)] = value;
    };
    add(graph_.parameters());
    add(graph_.states());
    for (uint32_t i = 0; i < graph_.num_blocks(); ++i) {
      add(graph_.block({i}).inputs);
      for (const Op* op : graph_.block({i}).ops) add(op->results());
    }
    llvm::erase(values, nullptr);
    return values;
  }

  llvm::Error WriteVariable(const Value& value, VarDesc* out) {
    out->set_name(value.name());
    out->set_role(static_cast<VarDesc::Role>(value.kind()));
    if (llvm::Error error = TypeToProto(value.type(), out->mutable_type())) return error;
    bool is_result = value.kind() == ValueKind::kResult;
    if (options_.locations || !is_result) out->set_comment(Clean(value.comment()));
    if (!is_result) out->set_location(Row(value.location()));
    bool is_variable = value.kind() == ValueKind::kParameter || value.kind() == ValueKind::kState;
    if (!is_variable) return llvm::Error::success();
    const VariableInfo& info = value.variable();
    if (info.initializer) out->set_initializer(info.initializer->index + 1);
    out->set_weight_decay(info.weight_decay);
    out->set_l1(info.l1);
    out->set_gradient_clipping(info.gradient_clipping);
    if (info.lr_scale != 1) out->set_lr_scale(info.lr_scale);
    out->set_frozen(!info.trainable);
    out->set_copy_of(info.copy_of);
    if (!info.weight) return llvm::Error::success();
    return WriteWeight(value, *info.weight, out->mutable_weight());
  }

  llvm::Error WriteWeight(const Value& value, const WeightRef& weight, WeightDesc* out) {
    for (const auto& [what, name] : {std::pair("file", &weight.file), {"tensor", &weight.tensor}})
      if (!llvm::json::isUTF8(*name) || !IsWeightName(*name))
        return MakeUserError(
            Code::kWeightMismatch,
            "the weight of '{0}' cannot be stored: the name of its {1} is empty, is "
            "not UTF-8, or has a control character",
            value.name(), what);
    out->set_cast(weight.cast);
    out->set_transpose(weight.transpose);
    out->set_file(weight.file);
    out->set_tensor(weight.tensor);
    out->set_dtype(DTypeToProto(value.type().dtype));
    for (const Dim& dim : value.type().dims) {
      if (!dim.is_constant())
        return MakeUserError(Code::kWeightMismatch,
                             "'{0}' is loaded from a file, but its type {1} has a symbol",
                             value.name(), value.type().ToString());
      out->add_sizes(dim.constant());
    }
    return llvm::tryGetFromHex(weight.sha256, *out->mutable_sha256())
               ? llvm::Error::success()
               : MakeUserError(Code::kWeightMismatch, "the SHA-256 of '{0}' is not hexadecimal",
                               value.name());
  }

  const Graph& graph_;
  const SerializeOptions& options_;
  NetworkDesc& out_;
};

}  // namespace

llvm::Expected<std::string> SerializeNetwork(const Graph& graph, const SerializeOptions& options) {
  google::protobuf::Arena arena;
  auto* desc = google::protobuf::Arena::CreateMessage<NetworkDesc>(&arena);
  if (llvm::Error error = NetworkWriter(graph, options, desc).Write()) return error;
  size_t size = desc->ByteSizeLong();
  if (size > kMaxNetworkBytes)
    return MakeUserError(
        Code::kBadNetwork,
        "the stored network has {0} bytes, but at most {1} are supported; keep large "
        "tensors in a safetensors file",
        size, kMaxNetworkBytes);
  std::string bytes;
  bytes.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    desc->SerializeWithCachedSizes(&coded);
  }
  return bytes;
}

llvm::Expected<std::string> NetworkToText(const Graph& graph, const SerializeOptions& options) {
  google::protobuf::Arena arena;
  auto* desc = google::protobuf::Arena::CreateMessage<NetworkDesc>(&arena);
  if (llvm::Error error = NetworkWriter(graph, options, desc).Write()) return error;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(*desc, &text);
  return text;
}

}  // namespace pdl
