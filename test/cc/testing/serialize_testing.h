#ifndef PDL_TEST_CC_TESTING_SERIALIZE_TESTING_H_
#define PDL_TEST_CC_TESTING_SERIALIZE_TESTING_H_

#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "pdl/compiler/emit.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"
#include "proto/pdl.pb.h"
#include "test/cc/testing/toy_ops.h"

namespace pdl::networks {

using toy::Call;
using toy::F32;
using toy::In;
using toy::Registry;

/// A state whose initial values are zeros, computed by a block of its own.
inline Value* AddZeroState(Graph& graph, llvm::StringRef name, const Type& type) {
  const BlockId block = graph.AddBlock();
  const Shape shape(type.dims.begin(), type.dims.end());
  Op* zeros = Call(graph, "zeros", {}, {name.str() + ".init"}, {{"shape", shape}}, In(block));
  graph.SetBlockOutputs(block, {zeros->result()});
  VariableInfo info;
  info.initializer = block;
  return graph.AddState(name, type, info);
}

/// A network with an instance of everything that networks can contain.
inline Graph Sample() {
  Graph graph;
  uint32_t file = graph.AddFile("model.pdl"), layer_file = graph.AddFile("block.pdl");
  LocationId call_site = graph.AddLocation({file, 3, 5, kUnknownLocation});
  LocationId inside = graph.AddLocation({layer_file, 7, 11, call_site});
  Dim n = Dim::Symbol("N"), m = Dim::Symbol("M");
  Value* x = graph.AddInput("x", Type(DType::kF32, {n, Dim(2) * m + Dim(1)}), call_site);
  graph.SetComment(x, "Rows of µ.\nTwo lines.");
  Type index(DType::kI64, {n});
  index.index_bound = Dim(10);
  graph.AddInput("label", index);
  graph.AddConstraint({{Dim::Mod(m, 4), DimCheck::Relation::kEqual, Dim(0), "M % 4 == 0"}, inside});

  BlockId init = graph.AddBlock();
  CallOptions in_init = In(init);
  in_init.location = inside;
  Op* zeros = Call(graph, "zeros", {}, {"w.init"}, {{"shape", Shape{Dim(3)}}}, in_init);
  graph.SetBlockOutputs(init, {zeros->result()});
  VariableInfo learned;
  learned.initializer = init;
  learned.weight_decay = 1e-4;
  learned.lr_scale = 0;
  learned.trainable = false;
  Value* w = graph.AddParameter("w", Type(DType::kF32, {Dim(3)}), learned, call_site);
  VariableInfo loaded;
  loaded.weight = WeightRef{"w.safetensors", "encoder.w", std::string(64, 'a')};
  graph.AddParameter("v", Type(DType::kBF16, {Dim(2), Dim(0)}), loaded);

  BlockId body = graph.AddBlock();
  Value* given = graph.AddBlockInput(body, "given", x->type());
  graph.SetBlockOutputs(body, {Call(graph, "cos", {given}, {"taken"}, {}, In(body))->result()});
  Value* s = AddZeroState(graph, "s", x->type());

  Value* y = Call(graph, "cos", {x}, {"y"}, {{"scale", 5.0}}, {inside, {}, "encoder.0"})->result();
  graph.SetComment(y, "a result");
  Value* z = Call(graph, "call", {y}, {"z"}, {{"body", body}})->result();
  Op* halves = Call(graph, "halves", {w}, {"low", "high"});
  Value* k1 = Call(graph, "nonzero", {halves->result(0)}, {"k1"})->result();
  Value* k2 = Call(graph, "nonzero", {halves->result(1)}, {"k2"})->result();
  const uint8_t bools[] = {1, 0};
  Constant tensor = Constant::Copy(DType::kBool, {2, 1}, bools);
  Value* e =
      Call(graph, "every_kind", {z, k1, k2}, {"e"},
           {{"i", int64_t{8}},
            {"f", -std::nan("")},
            {"s", std::string("sum")},
            {"b", false},
            {"d", DType::kU64},
            {"shape", Shape{n * m * m - Dim(7), Dim::FloorDiv(m, 4), Dim(-1), k1->type().dims[0],
                            Dim::Max(Dim::Min(n + m, Dim(3) * m), Dim::Mod(n, m + Dim(1)))}},
            {"t", tensor},
            {"o", AttributeValue()},
            {"is", std::vector<int64_t>{INT64_MIN, -1, INT64_MAX}},
            {"fs", std::vector<double>{-0.0, HUGE_VAL}},
            {"ss", std::vector<std::string>{"", "µ\n\""}},
            {"bs", std::vector<bool>{true, false}},
            {"ds", std::vector<DType>{DType::kF16}},
            {"shapes", std::vector<Shape>{{}, {n}}},
            {"ts", std::vector<Constant>{tensor, Constant::Scalar(DType::kF64, 0.1)}}})
          ->result();
  graph.AddOutput("probability", e, "What it says.");
  graph.AddOutput("y", y);
  graph.AddUpdate(s, z);
  CallOptions again;
  again.recompute = true;
  Value* half = Call(graph, "zeros", {}, {"half.0"}, {{"shape", Shape{}}})->result();
  Value* loss = Call(graph, "add", {half, half}, {"loss"}, {}, again)->result();
  graph.AddTraining({loss, {w}, 3, "adam(lr=0.001)", call_site});
  return graph;
}

inline Graph Small() {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  Value* y = Call(graph, "cos", {x}, {"y"}, {{"scale", 5.0}})->result();
  graph.AddOutput("y", y);
  return graph;
}

inline std::string Serialize(const Graph& graph, const SerializeOptions& options = {}) {
  llvm::Expected<std::string> bytes = SerializeNetwork(graph, options);
  if (bytes) return *bytes;
  ADD_FAILURE() << llvm::toString(bytes.takeError());
  return "";
}

inline std::string ErrorOf(llvm::StringRef bytes) {
  llvm::Expected<Graph> graph = DeserializeNetwork(bytes, "net.pdlc", Registry());
  return graph ? "" : llvm::toString(graph.takeError());
}

}  // namespace pdl::networks

#endif  // PDL_TEST_CC_TESTING_SERIALIZE_TESTING_H_
