#include "pdl/op/op_docs.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/inference.h"
#include "proto/pdl.pb.h"
#include "test/cc/testing/toy_ops.h"

namespace pdl {
namespace {

using toy::Registry;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(OpDocs, TextOfOneOperator) {
  EXPECT_EQ(OpDocText(*Registry().Find("cos")), R"(cos(x, scale: float > 0 = 1.0) -> y

  scale * cos(x), element by element. Stays within [-scale, scale].

Inputs
  x: f16, bf16, f32 or f64; dense or ragged
      angles in radians

Attributes
  scale: float > 0 = 1.0
      largest result

Outputs
  y: type of x
      type as x

Properties
  elementwise; not differentiable
)");
}

TEST(OpDocs, CallsShowHowArgumentsAreGiven) {
  EXPECT_EQ(OpCallToString(Registry().Find("halves")->signature), "halves(x) -> low, high");
  EXPECT_EQ(OpCallToString(Registry().Find("call")->signature), "call(x, body: function) -> y");
  EXPECT_TRUE(Contains(OpCallToString(Registry().Find("every_kind")->signature),
                       "every_kind(xs..., i: int in -5..9 = -3, f: float = 0.1, "
                       "s: string in [\"sum\", \"mean\"] = \"mean\""));
  std::string zeros = OpDocText(*Registry().Find("zeros"));
  EXPECT_TRUE(Contains(zeros, "shape: shape  (required)  (may be given by position)")) << zeros;
}

TEST(OpDocs, WrapsAtTheWidth) {
  std::string text = OpDocText(*Registry().Find("cos"), 40);
  EXPECT_TRUE(Contains(text, "  scale * cos(x), element by element.\n  Stays within")) << text;
}

TEST(OpDocs, ListHasOneLineEach) {
  std::string list = OpListText(Registry(), 40);
  EXPECT_TRUE(Contains(list, "cos         scale * cos(x), element...\n")) << list;
  EXPECT_EQ(static_cast<size_t>(std::count(list.begin(), list.end(), '\n')),
            Registry().All().size());
  for (llvm::StringRef line : llvm::split(list, '\n')) EXPECT_LE(line.size(), 40u) << line.str();
}

TEST(OpDocs, Markdown) {
  std::string text = OpDocsMarkdown(Registry());
  EXPECT_TRUE(Contains(text, "## cos\n\n```\ncos(x, scale: float > 0 = 1.0) -> y\n```")) << text;
  EXPECT_TRUE(Contains(text, "| `scale` | `float > 0 = 1.0` | largest result |")) << text;
  EXPECT_TRUE(Contains(text, "| `shape` | `shape`, by position too | sizes |")) << text;
  EXPECT_LT(text.find("## add"), text.find("## cos"));
}

struct ShownMaker : OpProtoMaker {
  void Make() override {
    AddComment("Shown.");
    AddInput("x", "any").Accepts(DType::kF32);
    AddOutput("y", "type as x");
    AddExample("y = shown([1.0])\nz = shown(y)");
    AddExample("y = shown([2.0])");
    SetMaxUlp(1.25);
    SetInference(InferSameAsFirst);
  }
};

TEST(OpDocs, ExamplesFamiliesAndErrors) {
  OpRegistry registry;
  registry.BeginFamily("Things");
  registry.Add(ShownMaker().Build("shown"));
  registry.BeginFamily("Animals");
  registry.Add(ShownMaker().Build("zebra"));
  const OpDef& shown = *registry.Find("shown");
  EXPECT_EQ(shown.signature.family, "Things");
  const std::string text = OpDocText(shown);
  EXPECT_TRUE(Contains(text, R"(
Examples
  y = shown([1.0])
  z = shown(y)
  y = shown([2.0])

Properties
  not differentiable
  In f32, the largest error is 1.25 ulp
)")) << text;
  const std::string page = OpDocsMarkdown(registry);
  EXPECT_TRUE(Contains(page, "```pdl\ny = shown([1.0])\nz = shown(y)\n\ny = shown([2.0])\n```\n"))
      << page;
  EXPECT_TRUE(Contains(page, "## Animals\n\n### zebra\n")) << page;
  EXPECT_LT(page.find("## Animals"), page.find("## Things\n\n### shown\n"));
  OpProtoList list;
  ASSERT_TRUE(list.ParseFromString(SerializeOpProtos(registry)));
  EXPECT_EQ(list.ops(0).family(), "Things");
  EXPECT_EQ(list.ops(0).examples_size(), 2);
  EXPECT_EQ(list.ops(0).max_ulp(), 1.25);
}

TEST(OpDocs, MessagesHoldEverything) {
  OpProtoList list;
  ASSERT_TRUE(list.ParseFromString(SerializeOpProtos(Registry())));
  ASSERT_EQ(static_cast<size_t>(list.ops_size()), Registry().All().size());
  EXPECT_EQ(SerializeOpProtos(Registry()), SerializeOpProtos(Registry()));
  const OpProto* cos = nullptr;
  const OpProto* every = nullptr;
  for (const OpProto& op : list.ops()) {
    if (op.type() == "cos") cos = &op;
    if (op.type() == "every_kind") every = &op;
  }
  ASSERT_TRUE(cos && every);
  EXPECT_TRUE(cos->elementwise());
  EXPECT_EQ(cos->inputs(0).dtypes_size(), 4);
  EXPECT_EQ(cos->inputs(0).ragged_levels(), 2u);
  EXPECT_EQ(cos->inputs(0).storage_size(), 0);  // dense
  EXPECT_EQ(cos->attributes(0).type(), FLOAT);
  EXPECT_EQ(cos->attributes(0).default_value().float_(), 1.0);
  EXPECT_TRUE(cos->attributes(0).lower().open());
  EXPECT_FALSE(cos->attributes(0).has_upper());
  EXPECT_TRUE(every->inputs(0).repeatable());
  EXPECT_EQ(every->attributes(2).choices(1), "mean");
  EXPECT_EQ(every->attributes(8).type(), INT);
  EXPECT_TRUE(every->attributes(8).list());
  EXPECT_TRUE(every->attributes(8).default_value().has_ints());
  EXPECT_FALSE(every->attributes(6).has_default_value());
}

TEST(OpDocs, JsonKeepsFieldNames) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(OpProtosToJson(Registry()));
  ASSERT_TRUE(static_cast<bool>(json)) << llvm::toString(json.takeError());
  const llvm::json::Array& ops = *json->getAsObject()->getArray("ops");
  ASSERT_EQ(ops.size(), Registry().All().size());
  const llvm::json::Object* cos = nullptr;
  for (const llvm::json::Value& op : ops)
    if (op.getAsObject()->getString("type") == "cos") cos = op.getAsObject();
  ASSERT_NE(cos, nullptr);
  const llvm::json::Object* scale = (*cos->getArray("attributes"))[0].getAsObject();
  EXPECT_EQ(scale->getObject("default_value")->getNumber("float"), 1.0);
  EXPECT_EQ(scale->getString("type"), "FLOAT");
}

}  // namespace
}  // namespace pdl
