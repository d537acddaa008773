#include "pdl/compiler/serialize.h"

#include <cmath>

#include "test/cc/testing/serialize_testing.h"

namespace pdl {
namespace {

using networks::ErrorOf;
using networks::Sample;
using networks::Serialize;
using networks::Small;
using toy::Call;
using toy::Registry;

TEST(Serialize, RoundTripKeepsEverything) {
  Graph graph = Sample();
  std::string bytes = Serialize(graph);
  llvm::Expected<Graph> again = DeserializeNetwork(bytes, "net.pdlc", Registry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(EmitIr(*again), EmitIr(graph));
  EXPECT_TRUE(Serialize(*again) == bytes);
  EXPECT_EQ(again->FindValue("x")->comment(), "Rows of µ.\nTwo lines.");
  EXPECT_EQ(again->FindValue("y")->comment(), "a result");
  EXPECT_EQ(again->FindValue("y")->producer()->layer_path(), "encoder.0");
  EXPECT_EQ(again->locations()[1].origin, 0u);
  EXPECT_EQ(again->FindValue("v")->variable().weight->sha256, std::string(64, 'a'));
  EXPECT_NE(again->FindValue("k1")->type(), again->FindValue("k2")->type());
  EXPECT_TRUE(again->FindValue("loss")->producer()->recompute());
  EXPECT_FALSE(again->FindValue("half.0")->producer()->recompute());
  EXPECT_NE(
      EmitIr(*again).find("minimize loss over [w] with adam(lr=0.001) every 3  # model.pdl:3"),
      std::string::npos);
  const Op* every = again->FindValue("e")->producer();
  EXPECT_TRUE(llvm::equal(every->attribute_values(),
                          graph.FindValue("e")->producer()->attribute_values(), Identical));
  EXPECT_FALSE(every->attributes().Has("o"));
}

TEST(Serialize, EqualGraphsGiveEqualBytes) {
  EXPECT_TRUE(Serialize(Sample()) == Serialize(Sample()));
  EXPECT_TRUE(Serialize(Sample().Clone()) == Serialize(Sample()));
}

TEST(Serialize, LocationsCanBeLeftOut) {
  std::string bytes = Serialize(Sample(), {.locations = false});
  NetworkDesc desc;
  ASSERT_TRUE(desc.ParseFromString(bytes));
  EXPECT_EQ(desc.files_size() + desc.locations_size(), 0);
  EXPECT_EQ(bytes.find("encoder.0"), std::string::npos);
  llvm::Expected<Graph> again = DeserializeNetwork(bytes, "net.pdlc", Registry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_TRUE(Serialize(*again) == bytes);
}

TEST(Serialize, TextNamesFields) {
  llvm::Expected<std::string> text = NetworkToText(Small());
  ASSERT_TRUE(static_cast<bool>(text));
  EXPECT_EQ(text->find("format_version: 1\n"), 0u) << *text;
  EXPECT_NE(text->find("type: \"cos\""), std::string::npos) << *text;
}

TEST(Serialize, ABigSymbolicExpressionIsRefused) {
  Graph graph;
  Dim sum, product(1);
  for (int i = 0; i < 1000; ++i) sum = sum + Dim::Symbol("A" + std::to_string(i));
  for (int i = 0; i < 9; ++i) product = product * Dim::Symbol("B" + std::to_string(i));
  Dim dim = sum * product;
  graph.AddInput("x", Type(DType::kF32, {dim}));
  llvm::Expected<std::string> bytes = SerializeNetwork(graph);
  ASSERT_FALSE(static_cast<bool>(bytes));
  EXPECT_EQ(llvm::toString(bytes.takeError()),
            "the expression of a dim is too large to be stored [PDL0307]");
}

TEST(Serialize, UpdatesMayLeaveSizesToBeChecked) {
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  Value* y = graph.AddInput("y", Type(DType::kF32, {Dim::Symbol("M")}));
  Value* s = networks::AddZeroState(graph, "s", x->type());
  graph.AddUpdate(s, y);
  EXPECT_EQ(ErrorOf(Serialize(graph)),
            "net.pdlc: update of 's', a f32[N], with 'y', a f32[M] [PDL0402]");
  graph.AddConstraint(
      {{y->type().dims[0], DimCheck::Relation::kEqual, s->type().dims[0], ""}, kUnknownLocation});
  EXPECT_EQ(ErrorOf(Serialize(graph)), "");
}

TEST(Serialize, TextOfStrangersIsCleaned) {
  Graph graph = Small();
  graph.AddFile("caf\xe9.pdl");
  graph.SetComment(graph.FindValue("x"), "a\r\nb\x1b");
  llvm::Expected<Graph> again = DeserializeNetwork(Serialize(graph), "net.pdlc", Registry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(again->FindValue("x")->comment(), "a \nb ");
}

TEST(Serialize, TextsAreUtf8) {
  Graph graph = Small();
  Call(graph, "every_kind", {graph.FindValue("y")}, {"e"},
       {{"ss", std::vector<std::string>{"caf\xe9"}}});
  llvm::Expected<std::string> bytes = SerializeNetwork(graph);
  ASSERT_FALSE(static_cast<bool>(bytes));
  EXPECT_EQ(llvm::toString(bytes.takeError()),
            "a string that is not UTF-8 cannot be stored [PDL0402]");
}

TEST(Serialize, HoldsAHundredThousandCalls) {
  constexpr int kCalls = 100000;
  Graph graph;
  Value* x = graph.AddInput("x", Type(DType::kF32, {Dim::Symbol("N")}));
  uint32_t file = graph.AddFile("model.pdl");
  for (int i = 0; i < kCalls; ++i) {
    CallOptions options;
    options.location = graph.AddLocation({file, static_cast<uint32_t>(i + 2), 1, kUnknownLocation});
    x = Call(graph, "cos", {x}, {"y" + std::to_string(i)}, {{"scale", 5.0}}, options)->result();
  }
  graph.AddOutput("y", x);
  std::string bytes = Serialize(graph);
  llvm::Expected<Graph> again = DeserializeNetwork(bytes, "net.pdlc", Registry());
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(again->ops().size(), static_cast<size_t>(kCalls));
  EXPECT_TRUE(Serialize(*again) == bytes);
}

}  // namespace
}  // namespace pdl
