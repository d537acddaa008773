// Export of operator and layer declarations as protobuf messages and as JSON.
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/json_util.h"
#include "ir/proto_convert.h"
#include "pdl/compiler/layer_def.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_registry.h"
#include "pdl/version.h"

namespace pdl {
namespace {

void BoundToProto(const Bound& bound, BoundProto* out) {
  out->set_value(bound.real());
  out->set_open(bound.open);
}

void InputToProto(const OpDef& def, const InputDecl& input, InputProto* out) {
  out->set_name(input.name);
  out->set_comment(input.comment);
  for (int i = 1; i < kNumDTypes; ++i)
    if (input.dtypes.Contains(static_cast<DType>(i))) out->add_dtypes(static_cast<DataType>(i));
  if (input.accepts_sparse) {
    out->add_storage(DENSE);
    out->add_storage(SPARSE);
  }
  out->set_ragged_levels(input.ragged_levels);
  out->set_repeatable(input.repeatable);
  out->set_optional(input.optional);
  out->set_own_dtype(input.own_dtype);
  out->set_count(input.count);
  if (input.stand_in) out->set_stand_in(*input.stand_in);
  out->set_differentiable(IsDifferentiable(def) && input.differentiable);
  out->set_selector(input.is_selector);
  for (unsigned level = input.min_ragged_levels; level <= input.ragged_levels; ++level)
    out->add_levels(level);
}

void OutputToProto(const OpSignature& signature, const OutputDecl& output, OutputProto* out) {
  out->set_name(output.name);
  out->set_comment(output.comment);
  out->set_own_dtype(output.own_dtype);
  if (output.dtype) {
    out->set_dtype(static_cast<DataType>(*output.dtype));
  } else if (signature.FindInput(output.dtype_of) >= 0) {
    out->set_dtype_of_input(output.dtype_of);
  } else if (!output.dtype_of.empty()) {
    out->set_dtype_of_attribute(output.dtype_of);
  }
  if (output.rank) {
    out->set_rank(*output.rank);
  } else if (output.is_broadcast) {
    out->set_broadcast(true);
  } else if (signature.FindInput(output.dims_of) >= 0) {
    out->set_dims_of_input(output.dims_of);
  } else if (!output.dims_of.empty()) {
    out->set_dims_of_attribute(output.dims_of);
  }
}

void AttributeDeclToProto(const AttributeDecl& decl, AttributeProto* out) {
  out->set_name(decl.name);
  out->set_comment(decl.comment);
  out->set_type(static_cast<AttributeType>(decl.kind));
  out->set_list(decl.is_list);
  out->set_positional(decl.positional);
  out->set_optional(decl.optional);
  if (!IsNone(decl.default_value))
    if (llvm::Error error = AttributeToProto(decl.default_value, out->mutable_default_value()))
      InternalError("default of '" + decl.name + "': " + llvm::toString(std::move(error)));
  if (decl.lower) BoundToProto(*decl.lower, out->mutable_lower());
  if (decl.upper) BoundToProto(*decl.upper, out->mutable_upper());
  for (const std::string& choice : decl.choices) out->add_choices(choice);
  out->set_dtype_from(decl.dtype_from);
  out->set_counted(decl.counted);
}

void PropertiesToProto(const OpProperties& properties, OpProto* out) {
  out->set_elementwise(properties.elementwise);
  out->set_random(properties.random);
  out->set_effect(properties.has_side_effect);
  out->set_commutative(properties.commutative);
  out->set_moves_elements(properties.moves_elements);
  out->set_reduced_precision(static_cast<ReducedPrecisionRule>(properties.reduced_precision));
  out->set_onnx_name(properties.onnx_name);
}

void OpToProto(const OpDef& def, OpProto* out) {
  out->set_type(def.name());
  out->set_comment(def.signature.comment);
  for (const InputDecl& input : def.signature.inputs) InputToProto(def, input, out->add_inputs());
  for (const OutputDecl& output : def.signature.outputs)
    OutputToProto(def.signature, output, out->add_outputs());
  for (const AttributeDecl& decl : def.signature.attributes)
    AttributeDeclToProto(decl, out->add_attributes());
  for (const std::string& name : def.signature.results_from) out->add_results_from(name);
  PropertiesToProto(def.properties(), out);
  out->set_differentiable(IsDifferentiable(def));
  out->set_gradient_order(def.gradient_order);
  out->set_family(def.signature.family);
  for (const std::string& example : def.signature.examples) out->add_examples(example);
  out->set_max_ulp(def.signature.max_ulp);
}

void LayerAttributeToProto(const LayerAttributeDecl& attribute, AttributeProto* out) {
  using Special = LayerAttributeDecl::Special;
  AttributeDeclToProto(attribute.decl, out);
  if (attribute.special == Special::kFunction) out->set_type(FUNCTION);
  if (attribute.special == Special::kParameter) out->set_type(PARAMETER);
  const bool is_none = attribute.decl.optional && attribute.default_text == "none";
  if (!out->has_default_value() && !attribute.default_text.empty() && !is_none)
    out->mutable_default_value()->set_string(attribute.default_text);
}

void LayerToProto(const LayerSignature& layer, LayerDef* out) {
  out->set_type(layer.name);
  out->set_comment(layer.comment);
  for (const LayerInputDecl& input : layer.inputs) {
    LayerInput* proto = out->add_inputs();
    proto->set_name(input.name);
    proto->set_comment(input.comment);
    for (LayerInputDecl::Kind kind : input.kinds)
      proto->add_kinds(static_cast<LayerInputKind>(kind));
    for (const unsigned level : input.levels) proto->add_levels(level);
    proto->set_sequence_levels(input.levels.empty() ? 0 : input.levels.back());
    proto->set_repeatable(input.repeatable);
    proto->set_optional(input.optional());
    proto->set_type(input.type);
    proto->set_default_text(input.default_text);
    for (const LayerAttributeDecl& attribute : input.parameter_attributes)
      LayerAttributeToProto(attribute, proto->add_parameter_attributes());
  }
  for (const OutputDecl& output : layer.outputs)
    OutputToProto(OpSignature(), output, out->add_outputs());
  for (const LayerAttributeDecl& attribute : layer.attributes)
    LayerAttributeToProto(attribute, out->add_attributes());
  for (const LayerAttributeDecl& attribute : layer.parameter_attributes)
    LayerAttributeToProto(attribute, out->add_parameter_attributes());
  for (const LayerAttributeDecl& attribute : layer.bias_attributes)
    LayerAttributeToProto(attribute, out->add_bias_attributes());
  for (const std::string& constraint : layer.constraints) out->add_constraints(constraint);
}

OpProtoList ToProto(const OpRegistry& registry, llvm::ArrayRef<LayerSignature> layers) {
  OpProtoList list;
  list.set_pdl_version(version_string);
  for (const OpDef* def : registry.All()) OpToProto(*def, list.add_ops());
  for (const LayerSignature& layer : layers) LayerToProto(layer, list.add_layers());
  return list;
}

}  // namespace

std::string SerializeOpProtos(const OpRegistry& registry, llvm::ArrayRef<LayerSignature> layers) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  ToProto(registry, layers).SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

std::string OpProtosToJson(const OpRegistry& registry, llvm::ArrayRef<LayerSignature> layers) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  auto status =
      google::protobuf::util::MessageToJsonString(ToProto(registry, layers), &json, options);
  if (!status.ok()) InternalError("operators as JSON: " + status.ToString());
  return json;
}

}  // namespace pdl
