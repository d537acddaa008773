// Declarations of layers: parsing, documentation, export.
#include "gtest/gtest.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_docs.h"
#include "proto/pdl.pb.h"

namespace pdl {
namespace {

constexpr char kText[] = R"(
## Fully connected layer: every input is multiplied by its own weight,
## and the results are added.
layer dense(xs...: F[..., D] | sparse F[..., D]   # two kinds
              | sparse bool[..., D] | i64[...] in 0..D,  ## one or many
            size: int > 0,                        ## width of the result
            act: function = none,                 ## applied last
            drop: float in 0..=1 = 0,
            kind: string in ["sum", "mean"] = "sum",
            widths: [int] = [1, -2],
            top: int? = none,
            body: function,
            parts: int >= 0 = 2 * 3,
            param_attr: [parameter] = {}, bias_attr: parameter = {weight_decay=0.5}) where D > 1, size % 2 == 0 {
  for i, x in xs {
    param w: F[D, size] = xavier_uniform() with param_attr[i]
  }
  param b: F[size] = zeros() with bias_attr
  return total=x + b, x, x * 2
}
layer sequences(x: F[N, ~S, ~T, D], ids: i64[N] in 0..9, mask: bool[N] = none,
                lr: f32[] = 0.001) {
  if training {
    return x
  }
  return y
}
)";

std::vector<LayerSignature> Layers() {
  Diagnostics diagnostics;
  auto layers = DescribeLayers(std::make_shared<SourceFile>("t.pdl", kText), &diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return layers;
}

TEST(LayerDocs, TextOfOneLayer) {
  EXPECT_EQ(
      LayerDocText(Layers().at(0), 90),
      R"(dense(xs..., size: int > 0, act: function = none, drop: float in 0..=1 = 0, )"
      R"(kind: string in ["sum", "mean"] = "sum", widths: [int] = [1, -2], top: int? = none, )"
      R"(body: function, parts: int >= 0 = 2 * 3, param_attr: [parameter] = {}, )"
      R"(bias_attr: parameter = {weight_decay=0.5}) -> total, x, y_3

  Fully connected layer: every input is multiplied by its own weight, and the results are
  added.

Inputs
  xs...: F[..., D] | sparse F[..., D] | sparse bool[..., D] | i64[...] in 0..D
      one or many
      dense, sparse, sparse with ones only, indices; up to 2 ragged dims

Constraints
  D > 1
  size % 2 == 0

Attributes
  size: int > 0  (required)
      width of the result
  act: function = none
      applied last
  drop: float in 0..=1 = 0
  kind: string in ["sum", "mean"] = "sum"
  widths: [int] = [1, -2]
  top: int? = none
  body: function  (required)
  parts: int >= 0 = 2 * 3
  param_attr: [parameter] = {}
  bias_attr: parameter = {weight_decay=0.5}

Outputs
  total
  x
  y_3

Parameter attributes
  {init: function = xavier_uniform(), weight_decay: float in 0..=1 = 0.0,
  gradient_clipping: float >= 0 = 0.0, lr_scale: float >= 0 = 1.0, trainable: bool = true}

Bias attributes
  {init: function = zeros(), weight_decay: float in 0..=1 = 0.0, gradient_clipping: float
  >= 0 = 0.0, lr_scale: float >= 0 = 1.0, trainable: bool = true}
)");
}

TEST(LayerDocs, ListAndMarkdown) {
  std::string list = LayerListText(Layers(), 60);
  EXPECT_EQ(list,
            "dense      Fully connected layer: every input is...\n"
            "sequences  \n");
  std::string text = LayerDocsMarkdown(Layers());
  auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("## dense\n\n```\ndense(xs...")) << text;
  EXPECT_TRUE(has("| `size` | `int > 0` | width of the result |")) << text;
  EXPECT_TRUE(has("| `xs...` | `F[..., D] \\| sparse F[..., D] \\|")) << text;
  EXPECT_TRUE(has("Outputs: `total`, `x`, `y_3`.\n\nConstraints: `D > 1`")) << text;
  EXPECT_TRUE(has("| `lr = 0.001` | `f32[]` | dense |  |")) << text;
}

TEST(LayerDocs, OpenDimsAreRaggedWhereARaggedDimMayStand) {
  Diagnostics diagnostics;
  const auto layers = DescribeLayers(
      std::make_shared<SourceFile>("t.pdl",
                                   "layer l(a: F[...], b: F[N, ..., D], c: F[N, C, ...], "
                                   "d: F[N, ~T, ...], e: F[N, ~T, C, ...], f: F[N, D]) {\n"
                                   "  return a\n}\n"),
      &diagnostics);
  ASSERT_FALSE(diagnostics.has_errors());
  std::vector<int> levels;
  for (const LayerInputDecl& input : layers.at(0).inputs) levels.push_back(input.sequence_levels);
  EXPECT_EQ(levels, (std::vector<int>{2, 2, 0, 2, 1, 0}));
}

TEST(LayerDocs, MessagesHoldEverything) {
  OpProtoList list;
  ASSERT_TRUE(list.ParseFromString(SerializeOpProtos(OpRegistry(), Layers())));
  ASSERT_EQ(list.layers_size(), 2);
  const LayerDef& dense = list.layers(0);
  EXPECT_EQ(dense.type(), "dense");
  EXPECT_EQ(dense.comment(),
            "Fully connected layer: every input is multiplied by its own weight, and the results "
            "are added.");
  ASSERT_EQ(dense.inputs_size(), 1);
  EXPECT_TRUE(dense.inputs(0).repeatable());
  EXPECT_FALSE(dense.inputs(0).optional());
  EXPECT_EQ(dense.inputs(0).comment(), "one or many");
  EXPECT_EQ(dense.inputs(0).sequence_levels(), 2u);
  ASSERT_EQ(dense.inputs(0).kinds_size(), 4);
  EXPECT_EQ(dense.inputs(0).kinds(2), SPARSE_BINARY);
  ASSERT_EQ(dense.attributes_size(), 10);
  auto attribute = [&](int i) -> const AttributeProto& { return dense.attributes(i); };
  EXPECT_EQ(attribute(0).type(), INT);
  EXPECT_TRUE(attribute(0).lower().open());
  EXPECT_FALSE(attribute(0).has_default_value());
  EXPECT_FALSE(attribute(0).optional());
  EXPECT_EQ(attribute(1).type(), FUNCTION);
  EXPECT_TRUE(attribute(1).optional());
  EXPECT_FALSE(attribute(1).has_default_value());
  EXPECT_EQ(attribute(2).default_value().value_case(), Attribute::kFloat);
  EXPECT_EQ(attribute(2).upper().value(), 1.0);
  EXPECT_EQ(attribute(3).choices(1), "mean");
  EXPECT_EQ(attribute(3).default_value().string(), "sum");
  EXPECT_TRUE(attribute(4).list());
  EXPECT_EQ(attribute(4).default_value().ints().values(1), -2);
  EXPECT_TRUE(attribute(5).optional());
  EXPECT_FALSE(attribute(6).optional());
  EXPECT_EQ(attribute(7).type(), INT);
  EXPECT_EQ(attribute(7).default_value().string(), "2 * 3");
  EXPECT_EQ(attribute(8).type(), PARAMETER);
  EXPECT_TRUE(attribute(8).list());
  EXPECT_EQ(attribute(8).default_value().string(), "{}");
  ASSERT_EQ(dense.parameter_attributes_size(), 5);
  EXPECT_EQ(dense.parameter_attributes(0).default_value().string(), "xavier_uniform()");
  EXPECT_EQ(dense.parameter_attributes(1).upper().value(), 1.0);
  EXPECT_EQ(dense.parameter_attributes(3).default_value().float_(), 1.0);
  ASSERT_EQ(dense.bias_attributes_size(), 5);
  EXPECT_EQ(dense.bias_attributes(0).default_value().string(), "zeros()");
  EXPECT_EQ(dense.outputs(2).name(), "y_3");
  EXPECT_EQ(dense.constraints(1), "size % 2 == 0");

  const LayerDef& sequences = list.layers(1);
  EXPECT_EQ(sequences.inputs(0).sequence_levels(), 2u);
  EXPECT_EQ(sequences.inputs(1).kinds(0), INDEX);
  EXPECT_EQ(sequences.inputs(1).sequence_levels(), 0u);
  EXPECT_TRUE(sequences.inputs(2).optional());
  EXPECT_EQ(sequences.inputs(3).default_text(), "0.001");
  EXPECT_EQ(sequences.outputs(0).name(), "x");
  EXPECT_EQ(sequences.parameter_attributes_size(), 0);
}

}  // namespace
}  // namespace pdl
