// Models for tests of hostile files.
#ifndef PDL_TEST_CONFORMANCE_ONNX_HOSTILE_TESTING_H_
#define PDL_TEST_CONFORMANCE_ONNX_HOSTILE_TESTING_H_

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "onnx/import/import.h"

namespace pdl::testing {

inline void AddValue(onnx::ValueInfoProto* info, const std::string& name, std::vector<int64_t> dims,
                     int32_t type = onnx::TensorProto::FLOAT) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t dim : dims) tensor->mutable_shape()->add_dim()->set_dim_value(dim);
}

inline onnx::NodeProto* AddNode(onnx::GraphProto* graph, const std::string& type,
                                std::vector<std::string> inputs, std::vector<std::string> outputs) {
  onnx::NodeProto* node = graph->add_node();
  node->set_op_type(type);
  node->set_name(type + "_" + std::to_string(graph->node_size()));
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  return node;
}

inline onnx::TensorProto* AddTensor(onnx::GraphProto* graph, const std::string& name,
                                    std::vector<int64_t> dims, size_t floats) {
  onnx::TensorProto* tensor = graph->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  tensor->set_raw_data(std::string(4 * floats, '\1'));
  return tensor;
}

inline onnx::ModelProto EmptyModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("g");
  return model;
}

/// A model with a convolution, a chain of shape operators, and a branch.
inline onnx::ModelProto GoodModel() {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {1, 2, 5, 5});
  graph->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("N");
  AddValue(graph->add_output(), "y", {1, 50});
  AddTensor(graph, "w", {2, 2, 3, 3}, 36);
  auto* conv = AddNode(graph, "Conv", {"x", "w"}, {"c"});
  auto* pads = conv->add_attribute();
  pads->set_name("pads");
  pads->set_type(onnx::AttributeProto::INTS);
  for (int i = 0; i < 4; ++i) pads->add_ints(1);
  AddNode(graph, "Shape", {"c"}, {"s"});
  auto* zero = graph->add_initializer();
  zero->set_name("zero");
  zero->set_data_type(onnx::TensorProto::INT64);
  zero->add_dims(1);
  zero->add_int64_data(0);
  auto* minus = graph->add_initializer();
  *minus = *zero;
  minus->set_name("minus");
  minus->set_int64_data(0, -1);
  AddNode(graph, "Gather", {"s", "zero"}, {"n"});
  AddNode(graph, "Concat", {"n", "minus"}, {"to"})->add_attribute()->CopyFrom([] {
    onnx::AttributeProto axis;
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(0);
    return axis;
  }());
  AddNode(graph, "Reshape", {"c", "to"}, {"r"});
  AddNode(graph, "Relu", {"r"}, {"y"});
  return model;
}

/// The error of reading and importing; "" for success.
inline std::string Say(const onnx::ModelProto& proto, const std::string& folder = ".") {
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(proto.SerializeAsString(), "m.onnx", folder);
  if (!model) return llvm::toString(model.takeError());
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model);
  return imported ? "" : llvm::toString(imported.takeError());
}

inline std::string SayOfBytes(llvm::StringRef bytes) {
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(bytes, "m.onnx", ".");
  if (!model) return llvm::toString(model.takeError());
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model);
  return imported ? "" : llvm::toString(imported.takeError());
}

inline void ExpectSays(const std::string& wanted, const onnx::ModelProto& model) {
  const std::string said = Say(model);
  EXPECT_TRUE(llvm::StringRef(said).contains(wanted)) << "said: " << said;
}

/// The peak memory of this process.
inline int64_t PeakBytes() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

}  // namespace pdl::testing

#endif  // PDL_TEST_CONFORMANCE_ONNX_HOSTILE_TESTING_H_
