// Malicious models: every file results in an Error or a valid graph.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "llvm/ADT/StringExtras.h"
#include "onnx/export/export.h"
#include "onnx/import/import.h"
#include "onnx/import/rules.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "test/cc/testing/sanitizers.h"
#include "test/conformance/onnx/hostile_testing.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

using testing::AddNode;
using testing::AddTensor;
using testing::AddValue;
using testing::EmptyModel;
using testing::ExpectSays;
using testing::GoodModel;
using testing::PeakBytes;
using testing::Say;
using testing::SayOfBytes;

TEST(OnnxHostileTest, TheModelIsGoodBefore) { EXPECT_EQ(Say(GoodModel()), ""); }

void ExpectNoPrefixIsGood(llvm::StringRef bytes) {
  for (size_t percent = 0; percent < 100; ++percent) {
    const std::string said = SayOfBytes(bytes.take_front(bytes.size() * percent / 100));
    EXPECT_TRUE(llvm::StringRef(said).contains("m.onnx")) << percent << " %: " << said;
  }
}

TEST(OnnxHostileTest, TruncatedAtEachPercent) {
  ExpectNoPrefixIsGood(GoodModel().SerializeAsString());
  // A transformer in the form that PyTorch exports.
  std::ifstream file("conformance/onnx/transformer.onnx", std::ios::binary);
  const std::string transformer((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(SayOfBytes(transformer), "");
  ExpectNoPrefixIsGood(transformer);
}

TEST(OnnxHostileTest, BitFlips) {
  // A sanitizer retains freed memory for a while.
  constexpr int64_t kMost = int64_t{kIsSanitized ? 1024 : 64} << 20;
  const int64_t before = PeakBytes();
  const std::string bytes = GoodModel().SerializeAsString();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string broken = bytes;
    broken[random() % broken.size()] ^= static_cast<char>(1u << (random() % 8));
    refused += !SayOfBytes(broken).empty();  // other bytes are elements of weights or names
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(PeakBytes() - before, kMost);
}

// --- Sizes --------------------------------------------------------------------------------------

TEST(OnnxHostileTest, SizesAreCheckedBeforeMemoryIsTaken) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{int64_t{1} << 40},
                                           {int64_t{1} << 32, int64_t{1} << 32},
                                           {INT64_MAX, INT64_MAX},
                                           {-1},
                                           {-2, -18},
                                           {37},
                                           {35}}) {
    onnx::ModelProto model = GoodModel();
    onnx::TensorProto* tensor = model.mutable_graph()->mutable_initializer(0);
    tensor->clear_dims();
    for (const int64_t dim : dims) tensor->add_dims(dim);
    EXPECT_NE(Say(model), "");
  }
  onnx::ModelProto model = GoodModel();
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_value(-5);
  ExpectSays("size -5", model);
}

TEST(OnnxHostileTest, AHugeResultIsNotComputedWhileImporting) {
  onnx::ModelProto model = EmptyModel();
  auto* shape = model.mutable_graph()->add_initializer();
  shape->set_name("shape");
  shape->set_data_type(onnx::TensorProto::INT64);
  shape->add_dims(2);
  shape->add_int64_data(int64_t{1} << 20);
  shape->add_int64_data(int64_t{1} << 20);
  AddNode(model.mutable_graph(), "ConstantOfShape", {"shape"}, {"a"});
  AddNode(model.mutable_graph(), "Add", {"a", "a"}, {"y"});
  AddValue(model.mutable_graph()->add_output(), "y", {1});
  EXPECT_EQ(Say(model), "");  // a run would report that memory is short
}

// --- Graphs -------------------------------------------------------------------------------------

TEST(OnnxHostileTest, GraphsThatAreNone) {
  onnx::ModelProto cycle = EmptyModel();
  AddNode(cycle.mutable_graph(), "Relu", {"b"}, {"a"});
  AddNode(cycle.mutable_graph(), "Relu", {"a"}, {"b"});
  AddValue(cycle.mutable_graph()->add_output(), "b", {1});
  ExpectSays("which no node before it computes", cycle);

  onnx::ModelProto twice = GoodModel();
  AddNode(twice.mutable_graph(), "Relu", {"x"}, {"c"});
  ExpectSays("which exists already", twice);

  onnx::ModelProto weights = GoodModel();
  *weights.mutable_graph()->add_initializer() = weights.graph().initializer(0);
  ExpectSays("two initializers 'w'", weights);

  onnx::ModelProto inputs = GoodModel();
  *inputs.mutable_graph()->add_input() = inputs.graph().input(0);
  ExpectSays("two inputs 'x'", inputs);

  onnx::ModelProto output = GoodModel();
  output.mutable_graph()->mutable_output(0)->set_name("nobody");
  ExpectSays("no node computes the output 'nobody'", output);

  onnx::ModelProto none = GoodModel();
  none.mutable_graph()->clear_output();
  ExpectSays("no outputs", none);

  onnx::ModelProto sets = GoodModel();
  sets.clear_opset_import();
  ExpectSays("no operator set", sets);
}

TEST(OnnxHostileTest, UnknownOperatorsAreListedAtOnce) {
  onnx::ModelProto model = GoodModel();
  for (int i = 0; i < 3; ++i)
    AddNode(model.mutable_graph(), "Foo", {"x"}, {"foo" + std::to_string(i)});
  AddNode(model.mutable_graph(), "Bar", {"x"}, {"bar"})->set_domain("com.example");
  ExpectSays("Foo (3 nodes), com.example.Bar (1 node)", model);
}

TEST(OnnxHostileTest, GraphsInGraphs) {
  for (const int depth : {10, 40, 2000}) {
    onnx::ModelProto model = EmptyModel();
    onnx::GraphProto* graph = model.mutable_graph();
    AddValue(graph->add_input(), "on", {}, onnx::TensorProto::BOOL);
    AddValue(graph->add_output(), "y", {});
    for (int i = 0; i < depth; ++i) {
      auto* node = AddNode(graph, "If", {"on"}, {"y"});
      auto* other = node->add_attribute();
      other->set_name("else_branch");
      AddNode(other->mutable_g(), "Identity", {"on"}, {"y"});
      AddValue(other->mutable_g()->add_output(), "y", {});
      auto* then = node->add_attribute();
      then->set_name("then_branch");
      graph = then->mutable_g();
      AddValue(graph->add_output(), "y", {});
    }
    AddNode(graph, "Identity", {"on"}, {"y"});
    EXPECT_EQ(Say(model).empty(), depth == 10) << depth << Say(model);
  }
}

onnx::FunctionProto* AddFunction(onnx::ModelProto* model, const std::string& name) {
  onnx::FunctionProto* function = model->add_functions();
  function->set_name(name);
  function->set_domain("f");
  function->add_input("x");
  function->add_output("y");
  function->add_opset_import()->set_version(17);
  auto* set = function->add_opset_import();
  set->set_domain("f");
  set->set_version(1);
  return function;
}

TEST(OnnxHostileTest, FunctionsThatNeverEnd) {
  onnx::ModelProto self = EmptyModel();
  onnx::NodeProto* call = AddFunction(&self, "F")->add_node();
  call->set_op_type("F");
  call->set_domain("f");
  call->add_input("x");
  call->add_output("y");
  *self.mutable_graph()->add_node() = *call;
  AddValue(self.mutable_graph()->add_input(), "x", {1});
  AddValue(self.mutable_graph()->add_output(), "y", {1});
  ExpectSays("function 'f.F' calls itself", self);

  // Ten calls of ten calls of ten calls.
  onnx::ModelProto many = EmptyModel();
  for (int level = 0; level < 9; ++level) {
    onnx::FunctionProto* function = AddFunction(&many, "F" + std::to_string(level));
    for (int i = 0; i < 10; ++i) {
      onnx::NodeProto* node = function->add_node();
      node->set_op_type(level == 0 ? "Relu" : "F" + std::to_string(level - 1));
      if (level > 0) node->set_domain("f");
      node->add_input(i == 0 ? "x" : "v" + std::to_string(i - 1));
      node->add_output(i == 9 ? "y" : "v" + std::to_string(i));
    }
  }
  onnx::NodeProto* node = AddNode(many.mutable_graph(), "F8", {"x"}, {"y"});
  node->set_domain("f");
  AddValue(many.mutable_graph()->add_input(), "x", {1});
  AddValue(many.mutable_graph()->add_output(), "y", {1});
  ExpectSays(
      "function 'f.F5' expands to 1111110 nodes of the functions that it calls, but a model may "
      "have 1000000",
      many);
}

// Each calls the one before twice, so that 31 of them make 2 to the 30 nodes.
TEST(OnnxHostileTest, FunctionsThatDouble) {
  onnx::ModelProto model = EmptyModel();
  for (int level = 0; level < 31; ++level) {
    onnx::FunctionProto* function = AddFunction(&model, "F" + std::to_string(level));
    for (int i = 0; i < 2; ++i) {
      onnx::NodeProto* node = function->add_node();
      node->set_op_type(level == 0 ? "Relu" : "F" + std::to_string(level - 1));
      if (level > 0) node->set_domain("f");
      node->add_input(i == 0 ? "x" : "t");
      node->add_output(i == 0 ? "t" : "y");
    }
  }
  AddNode(model.mutable_graph(), "F30", {"x"}, {"y"})->set_domain("f");
  AddValue(model.mutable_graph()->add_input(), "x", {1});
  AddValue(model.mutable_graph()->add_output(), "y", {1});
  const int64_t before = PeakBytes();
  const auto start = std::chrono::steady_clock::now();
  ExpectSays(
      "function 'f.F18' expands to 1048574 nodes of the functions that it calls, but a model may "
      "have 1000000",
      model);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_LT(PeakBytes() - before, int64_t{64} << 20);
}

// References to attributes in a node of a function use the attribute of the call, or the function's
// default. Weights in functions outlive the import, and are not duplicated.
TEST(OnnxHostileTest, AttributesAndWeightsOfFunctions) {
  onnx::ModelProto model = EmptyModel();
  onnx::FunctionProto* inner = AddFunction(&model, "Inner");
  inner->add_attribute("slope");
  onnx::NodeProto* relu = inner->add_node();
  relu->set_op_type("LeakyRelu");
  relu->add_input("x");
  relu->add_output("y");
  onnx::AttributeProto* alpha = relu->add_attribute();
  alpha->set_name("alpha");
  alpha->set_ref_attr_name("slope");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  onnx::FunctionProto* outer = AddFunction(&model, "Outer");
  onnx::AttributeProto usual;
  usual.set_name("s");
  usual.set_type(onnx::AttributeProto::FLOAT);
  usual.set_f(0.5f);
  // attribute_proto, which some versions of onnx.proto lack.
  const std::string bytes = usual.SerializeAsString();
  outer->mutable_unknown_fields()->append({0x5a, static_cast<char>(bytes.size())});
  outer->mutable_unknown_fields()->append(bytes);
  onnx::NodeProto* weights = outer->add_node();
  weights->set_op_type("Constant");
  weights->add_output("w");
  onnx::AttributeProto* value = weights->add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  value->mutable_t()->add_dims(1000);
  std::vector<float> numbers(1000, 3.5f);
  value->mutable_t()->set_raw_data(numbers.data(), 4000);
  onnx::NodeProto* sum = outer->add_node();
  sum->set_op_type("Add");
  sum->add_input("x");
  sum->add_input("w");
  sum->add_output("t");
  onnx::NodeProto* call = outer->add_node();
  call->set_op_type("Inner");
  call->set_domain("f");
  call->add_input("t");
  call->add_output("y");
  onnx::AttributeProto* slope = call->add_attribute();
  slope->set_name("slope");
  slope->set_ref_attr_name("s");
  slope->set_type(onnx::AttributeProto::FLOAT);
  AddNode(model.mutable_graph(), "Outer", {"x"}, {"a"})->set_domain("f");
  onnx::NodeProto* last = AddNode(model.mutable_graph(), "Outer", {"a"}, {"y"});
  last->set_domain("f");
  onnx::AttributeProto* given = last->add_attribute();
  given->set_name("s");
  given->set_type(onnx::AttributeProto::FLOAT);
  given->set_f(0.25f);
  AddValue(model.mutable_graph()->add_input(), "x", {1000});
  AddValue(model.mutable_graph()->add_output(), "y", {1000});
  llvm::Expected<OnnxModel> read = OnnxModel::Parse(model.SerializeAsString(), "m.onnx", ".");
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  llvm::Expected<ImportedModel> imported = ImportOnnx(*read);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  ASSERT_EQ(imported->weights.size(), 1u);
  EXPECT_EQ(imported->weights.begin()->second.values<float>()[999], 3.5f);
  std::vector<double> slopes;
  for (const Op* op : imported->graph.ops())
    if (op->type() == "leaky_relu") slopes.push_back(op->attributes().Float("alpha"));
  EXPECT_EQ(slopes, (std::vector<double>{0.5, 0.25}));
}

// A list that grows by one element, and is copied by each node.
TEST(OnnxHostileTest, ListsThatGrow) {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {1});
  AddNode(graph, "SequenceEmpty", {}, {"s0"});
  constexpr int kNodes = 20'000;
  for (int i = 0; i < kNodes; ++i)
    AddNode(graph, "SequenceInsert", {"s" + std::to_string(i), "x"}, {"s" + std::to_string(i + 1)});
  AddNode(graph, "ConcatFromSequence", {"s" + std::to_string(kNodes)}, {"y"});
  AddValue(graph->add_output(), "y", {kNodes});
  const int64_t before = PeakBytes();
  ExpectSays("calls when its functions, loops and lists are expanded", model);
  EXPECT_LT(PeakBytes() - before, int64_t{256} << 20);
}

// Nested loops that are unrolled.
TEST(OnnxHostileTest, LoopsInLoops) {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {1});
  AddValue(graph->add_output(), "y", {1});
  auto* steps = graph->add_initializer();
  steps->set_name("steps");
  steps->set_data_type(onnx::TensorProto::INT64);
  steps->add_int64_data(256);
  auto* yes = graph->add_initializer();
  yes->set_name("yes");
  yes->set_data_type(onnx::TensorProto::BOOL);
  yes->add_int32_data(1);
  for (int depth = 0; depth < 6; ++depth) {
    auto* attribute = AddNode(graph, "Loop", {"steps", "yes", "x"}, {"y"})->add_attribute();
    attribute->set_name("body");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
    AddValue(graph->add_input(), "i", {}, onnx::TensorProto::INT64);
    AddValue(graph->add_input(), "go", {}, onnx::TensorProto::BOOL);
    AddValue(graph->add_input(), "x", {1});
    AddValue(graph->add_output(), "go", {}, onnx::TensorProto::BOOL);
    AddValue(graph->add_output(), "y", {1});
  }
  AddNode(graph, "Relu", {"x"}, {"y"});
  ExpectSays("calls when its functions, loops and lists are expanded", model);
}

// A chain, and one value with many uses and outputs. Work that grows with the square of the number
// of nodes exceeds the time limit of the test.
TEST(OnnxHostileTest, ManyNodes) {
  constexpr int kNodes = 200'000;
  for (const bool is_wide : {false, true}) {
    onnx::ModelProto model = EmptyModel();
    onnx::GraphProto* graph = model.mutable_graph();
    AddValue(graph->add_input(), "x", {1});
    for (int i = 0; i < kNodes; ++i) {
      const std::string to = "v" + std::to_string(i);
      AddNode(graph, "Relu", {i == 0 ? "x" : "v" + std::to_string(is_wide ? 0 : i - 1)}, {to});
      if (is_wide || i + 1 == kNodes) AddValue(graph->add_output(), to, {1});
    }
    EXPECT_EQ(Say(model), "") << is_wide;
  }
}

// Each makes a constant with the maximum number of elements.
TEST(OnnxHostileTest, ManyLargeConstants) {
  onnx::ModelProto model = EmptyModel();
  onnx::GraphProto* graph = model.mutable_graph();
  for (const auto& [name, number] : {std::pair("size", 65536), std::pair("one", 1)}) {
    auto* tensor = graph->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    if (number > 1) tensor->add_dims(1);
    tensor->add_int64_data(number);
  }
  AddNode(graph, "ConstantOfShape", {"size"}, {"c0"})->add_attribute()->CopyFrom([] {
    onnx::AttributeProto value;
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
    value.mutable_t()->add_dims(1);
    value.mutable_t()->add_int64_data(3);
    return value;
  }());
  for (int i = 0; i < 5000; ++i) {
    AddNode(graph, "Add", {"c" + std::to_string(i), "one"}, {"c" + std::to_string(i + 1)});
    AddNode(graph, "HannWindow", {"size"}, {"w" + std::to_string(i)});
  }
  AddValue(graph->add_output(), "c5000", {65536}, onnx::TensorProto::INT64);
  AddValue(graph->add_output(), "w4999", {65536});
  const int64_t before = PeakBytes();
  ExpectSays("the constants that its operators need have more than", model);
  EXPECT_LT(PeakBytes() - before, int64_t{900} << 20);
}

// --- Nodes --------------------------------------------------------------------------------------

struct OnnxOperator {
  std::string domain, type;
};

// The operators with import rules, and those that are counterparts of our operators.
std::vector<OnnxOperator> AllOperators() {
  std::vector<OnnxOperator> all;
  for (llvm::ArrayRef<OnnxRule> family : OnnxRuleFamilies())
    for (const OnnxRule& rule : family) all.push_back({rule.domain.str(), rule.op_type.str()});
  for (const OpDef* def : GlobalRegistry().All())
    if (!def->properties().onnx_name.empty()) all.push_back({"", def->properties().onnx_name});
  return all;
}

// Every operator with any number of inputs of any rank, statically known or not, and random
// attributes.
TEST(OnnxHostileTest, NodesOfEveryKind) {
  std::mt19937 random(11);
  const std::vector<std::string> names = {"axis",
                                          "axes",
                                          "perm",
                                          "kernel_shape",
                                          "strides",
                                          "pads",
                                          "dilations",
                                          "group",
                                          "keepdims",
                                          "num_groups",
                                          "blocksize",
                                          "num_heads",
                                          "to",
                                          "dtype",
                                          "starts",
                                          "ends",
                                          "split",
                                          "num_outputs",
                                          "k",
                                          "size",
                                          "batch_dims",
                                          "p",
                                          "shape",
                                          "hidden_size",
                                          "kv_num_heads",
                                          "q_num_heads",
                                          "num_scan_inputs"};
  const std::vector<int64_t> numbers = {0, 1, -1, 2, 3, -2, 7, 1 << 20, INT64_MAX, INT64_MIN};
  for (const auto& [domain, type] : AllOperators()) {
    for (int round = 0; round < 40; ++round) {
      onnx::ModelProto model = EmptyModel();
      model.mutable_opset_import(0)->set_version(1 + static_cast<int>(random() % 24));
      onnx::GraphProto* graph = model.mutable_graph();
      std::vector<std::string> inputs;
      for (unsigned i = 0, count = random() % 6; i < count; ++i) {
        const std::string name = "i" + std::to_string(i);
        const unsigned rank = random() % 5;
        const int32_t type = random() % 2 == 0   ? onnx::TensorProto::FLOAT
                             : random() % 3 == 0 ? onnx::TensorProto::BOOL
                                                 : onnx::TensorProto::INT64;
        std::vector<int64_t> dims;
        int64_t elements = 1;
        for (unsigned d = 0; d < rank; ++d) dims.push_back(random() % 4);
        for (const int64_t dim : dims) elements *= dim;
        if (random() % 2 == 0) {
          AddValue(graph->add_input(), name, dims, type);
        } else {
          auto* tensor = graph->add_initializer();
          tensor->set_name(name);
          tensor->set_data_type(type);
          for (const int64_t dim : dims) tensor->add_dims(dim);
          for (int64_t e = 0; e < elements; ++e) {
            const int64_t number = numbers[random() % numbers.size()];
            if (type == onnx::TensorProto::FLOAT) {
              tensor->add_float_data(static_cast<float>(number));
            } else if (type == onnx::TensorProto::INT64) {
              tensor->add_int64_data(number);
            } else {
              tensor->add_int32_data(number != 0);
            }
          }
        }
        inputs.push_back(random() % 8 == 0 ? "" : name);
      }
      onnx::NodeProto* node = AddNode(graph, type, inputs, {"y"});
      node->set_domain(domain);
      for (unsigned i = 0, count = random() % 3; i < count; ++i)
        node->add_output("y" + std::to_string(i));
      for (unsigned i = 0, count = random() % 4; i < count; ++i) {
        auto* attribute = node->add_attribute();
        attribute->set_name(names[random() % names.size()]);
        attribute->set_i(numbers[random() % numbers.size()]);
        for (unsigned e = 0, size = random() % 5; e < size; ++e)
          attribute->add_ints(numbers[random() % numbers.size()]);
      }
      AddValue(graph->add_output(), "y", {});
      SCOPED_TRACE(type + " " + std::to_string(round));
      Say(model);
    }
  }
}

}  // namespace
}  // namespace pdl
