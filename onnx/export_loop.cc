// Export of loops: Scan, whose body is a graph.
#include "llvm/ADT/STLExtras.h"
#include "onnx/export_call.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// An output of the body under a name of its own: it may be an input, or come from outside.
void Give(onnx::GraphProto* body, const std::string& from, const std::string& name) {
  onnx::NodeProto* node = body->add_node();
  node->set_op_type("Identity");
  node->set_name(name);
  node->add_input(from);
  node->add_output(name);
}

Exported Scan(ExportCall& c) {
  const AttributeReader& a = c.attributes();
  const auto num_xs = static_cast<unsigned>(a.Int("num_xs"));
  const auto num_init = static_cast<unsigned>(a.Int("num_init"));
  const auto num_captured = static_cast<unsigned>(a.Int("num_captured"));
  if (c.num_inputs() > num_xs + num_init + num_captured)
    return c.Refuse("Scan has no lengths of rows");
  const int64_t axis = c.Axis("axis", c.type(0).rank());
  Exporter& exporter = c.exporter();
  BlockId id;
  if (llvm::Error error = a.Get("body", &id)) return error;
  const Block& block = exporter.graph().block(id);
  const std::string stem = c.op().result()->name() + "/body";

  onnx::GraphProto body;
  body.set_name(stem);
  // The body here takes slices, what is carried, and what is captured; Scan's takes what is carried
  // first, and sees what is captured by itself.
  std::vector<std::string> inputs;
  for (unsigned i = 0; i < num_init; ++i) inputs.push_back(c.In(num_xs + i));
  for (unsigned i = 0; i < num_xs; ++i) inputs.push_back(c.In(i));
  for (unsigned i = 0; i < block.inputs.size(); ++i) {
    const Value* input = block.inputs[i];
    exporter.SetName(input, i < num_xs + num_init ? stem + "/" + input->name() : c.In(i));
  }
  const auto port = [&](unsigned i) {
    Exporter::SetType(block.inputs[i]->type(), exporter.NameOf(block.inputs[i]), body.add_input());
  };
  for (unsigned i = 0; i < num_init; ++i) port(num_xs + i);
  for (unsigned i = 0; i < num_xs; ++i) port(i);
  if (llvm::Error error = exporter.ExportBlock(block, &body)) return error;
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const Value* output = block.outputs[i];
    if (exporter.NameOf(output).empty()) return c.Refuse("its body cannot be exported");
    const std::string name = stem + "/" + std::to_string(i);
    Give(&body, exporter.NameOf(output), name);
    Exporter::SetType(output->type(), name, body.add_output());
  }
  const size_t num_steps = block.outputs.size() - num_init;
  const int64_t backwards = a.Bool("reverse") ? 1 : 0;
  std::vector<OnnxAttribute> attributes = {
      {"body", static_cast<const onnx::GraphProto*>(&body)},
      {"num_scan_inputs", int64_t{num_xs}},
      {"scan_input_axes", std::vector<int64_t>(num_xs, axis)},
      {"scan_input_directions", std::vector<int64_t>(num_xs, backwards)}};
  if (num_steps > 0) {
    attributes.push_back({"scan_output_axes", std::vector<int64_t>(num_steps, axis)});
    attributes.push_back({"scan_output_directions", std::vector<int64_t>(num_steps, backwards)});
  }
  std::vector<std::string> names =
      c.Nodes("Scan", inputs, attributes, static_cast<unsigned>(block.outputs.size()));
  // Here what the steps give comes first.
  std::rotate(names.begin(), names.begin() + num_init, names.end());
  return names;
}

/// The products, or the sums with decay, up to each place: a Scan whose body is one step.
Exported Recurrence(ExportCall& c) {
  const bool is_product = c.op().type() == "cumprod";
  const AttributeReader& a = c.attributes();
  const DType dtype = ComputeDType(c.dtype());
  const Type& type = c.type(0);
  const int64_t axis = c.Axis("axis", type.rank());
  if (NumElements(type.dims).is_constant(0)) return c.In(0);
  Type slice(dtype, type.dims);
  slice.dims.erase(slice.dims.begin() + axis);
  llvm::Expected<std::string> sizes = c.Sizes(slice.dims);
  if (!sizes) return sizes.takeError();
  const std::string stem = c.op().result()->name() + "/body";
  onnx::GraphProto body;
  body.set_name(stem);
  const auto add = [&](const char* type_name, const std::string& x, const std::string& y,
                       const std::string& name) {
    onnx::NodeProto* node = body.add_node();
    node->set_op_type(type_name);
    node->set_name(name);
    node->add_input(x);
    node->add_input(y);
    node->add_output(name);
  };
  const std::string state = stem + "/state", x = stem + "/x", next = stem + "/next";
  Exporter::SetType(slice, state, body.add_input());
  Exporter::SetType(slice, x, body.add_input());
  std::vector<std::string> inputs = {
      c.Node("Expand", {c.Scalar(is_product ? 1 : 0, dtype), *sizes}), c.In(0, dtype)};
  if (is_product) {
    add("Mul", state, x, next);
  } else {
    const std::string decay = stem + "/decay", kept = stem + "/kept";
    Exporter::SetType(slice, decay, body.add_input());
    inputs.push_back(c.In(1, dtype));
    add("Mul", decay, state, kept);
    add("Add", kept, x, next);
  }
  Exporter::SetType(slice, next, body.add_output());
  const std::string step = stem + "/step";
  Give(&body, is_product && a.Bool("exclusive") ? state : next, step);
  Exporter::SetType(slice, step, body.add_output());
  const auto count = static_cast<size_t>(inputs.size() - 1);
  const int64_t backwards = a.Bool("reverse") ? 1 : 0;
  return c.Out(c.Nodes("Scan", inputs,
                       {{"body", static_cast<const onnx::GraphProto*>(&body)},
                        {"num_scan_inputs", static_cast<int64_t>(count)},
                        {"scan_input_axes", std::vector<int64_t>(count, axis)},
                        {"scan_input_directions", std::vector<int64_t>(count, backwards)},
                        {"scan_output_axes", std::vector<int64_t>{axis}},
                        {"scan_output_directions", std::vector<int64_t>{backwards}}},
                       2)[1],
               dtype);
}

constexpr ExportRule kRules[] = {
    {"scan", Scan}, {"cumprod", Recurrence}, {"linear_recurrence", Recurrence}};

}  // namespace

llvm::ArrayRef<ExportRule> LoopExportRules() { return kRules; }

}  // namespace pdl
