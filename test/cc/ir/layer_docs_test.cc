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
  init: function = xavier_uniform()
      the operator without inputs that makes the initial value
  weight_decay: float in 0..=1 = 0.0
      L2 penalty: this factor times the parameter is added to its gradient before the
      optimizer uses it
  l1: float >= 0 = 0.0
      L1 penalty: this factor times the sign of the parameter is added to its gradient
      before the optimizer uses it
  gradient_clipping: float >= 0 = 0.0
      each element of its gradient is clipped to [-gradient_clipping, gradient_clipping];
      0: not clipped
  lr_scale: float >= 0 = 1.0
      factor of the optimizer's step: 0.1 trains it ten times slower
  trainable: bool = true
      whether training changes it; false keeps its value
  name: string
      its name; parameters with the same name are one

Bias attributes
  init: function = zeros()
      the operator without inputs that makes the initial value
  weight_decay: float in 0..=1 = 0.0
      L2 penalty: this factor times the parameter is added to its gradient before the
      optimizer uses it
  l1: float >= 0 = 0.0
      L1 penalty: this factor times the sign of the parameter is added to its gradient
      before the optimizer uses it
  gradient_clipping: float >= 0 = 0.0
      each element of its gradient is clipped to [-gradient_clipping, gradient_clipping];
      0: not clipped
  lr_scale: float >= 0 = 1.0
      factor of the optimizer's step: 0.1 trains it ten times slower
  trainable: bool = true
      whether training changes it; false keeps its value
  name: string
      its name; parameters with the same name are one
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
  EXPECT_TRUE(
      has("| output | meaning |\n|---|---|\n| `total` |  |\n| `x` |  |\n| `y_3` |  |\n\n"
          "Constraints: `D > 1`"))
      << text;
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
  std::vector<std::vector<unsigned>> levels;
  for (const LayerInputDecl& input : layers.at(0).inputs) levels.push_back(input.levels);
  EXPECT_EQ(levels,
            (std::vector<std::vector<unsigned>>{{0, 1, 2}, {0, 1, 2}, {0}, {1, 2}, {1}, {0}}));
}

LayerSignature Only(const std::string& text) {
  Diagnostics diagnostics;
  const auto layers = DescribeLayers(std::make_shared<SourceFile>("t.pdl", text), &diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return layers.at(0);
}

TEST(LayerDocs, AlternativesGiveAnExactSetOfLevels) {
  EXPECT_EQ(Only("layer l(x: F[N, ~T, D] | F[N, T, D]) { return x }").inputs[0].levels,
            (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(Only("layer l(x: F[N, D] | F[N, ~S, ~T, D]) { return x }").inputs[0].levels,
            (std::vector<unsigned>{0, 2}));
}

TEST(LayerDocs, InputsWhoseDimsAStateHasAreDense) {
  const std::string state = "state m: F[...] = zeros()\n  update m = x\n  ";
  const std::string head = "layer l(x: F[...], c: F[N, ~T, ...]) {\n  ";
  const LayerSignature always = Only(head + state + "return x\n}");
  EXPECT_EQ(always.inputs[0].levels, (std::vector<unsigned>{0}));
  EXPECT_EQ(always.inputs[1].levels, (std::vector<unsigned>{1}));
  const LayerSignature sometimes = Only(head + "if 1 > 2 {\n  " + state + "}\n  return x\n}");
  EXPECT_EQ(sometimes.inputs[0].levels, (std::vector<unsigned>{0, 1, 2}));
}

TEST(LayerDocs, TheLastAttributeHasTheCommentAfterTheBrace) {
  const std::string body = "  ## the factor\n  return x * k\n}\n";
  auto comment = [&](const std::string& text) {
    return Only(text + body).attributes[0].decl.comment;
  };
  EXPECT_EQ(comment("layer a(x: F[...], k: float > 0 = 2.0) {"), "the factor");
  EXPECT_EQ(comment("layer a(x: F[..., D], k: float > 0 = 2.0) where D > 1 {"), "the factor");
  EXPECT_EQ(comment("layer a(\n  x: F[..., D],\n  k: float > 0 = 2.0\n) where D > 1 {"),
            "the factor");
  EXPECT_EQ(comment("layer a(x: F[...], k: float > 0 = 2.0) {  # the factor\n"), "");
  // The comment of the parameter itself comes first.
  EXPECT_EQ(comment("layer a(x: F[...],\n        k: float > 0 = 2.0  ## of k\n        ) {"),
            "of k");
  // A layer without parameters, and a comment in the body.
  EXPECT_EQ(Only("layer a(x: F[...]) {  ## what is doubled\n  return 2 * x\n}").inputs[0].comment,
            "what is doubled");
  EXPECT_EQ(Only("layer a(x: F[...]) {\n  ## what is doubled\n  return 2 * x\n}").inputs[0].comment,
            "");
}

TEST(LayerDocs, AReturnDescribesItsResults) {
  auto comments = [](const std::string& text) {
    std::vector<std::string> found;
    for (const OutputDecl& output : Only("layer a(x: F[N, D]) {\n" + text + "\n}").outputs)
      found.push_back(output.name + "=" + output.comment);
    return found;
  };
  using Found = std::vector<std::string>;
  EXPECT_EQ(comments("  ## Twice x: [N, D].\n  return 2 * x"), Found({"y=Twice x: [N, D]."}));
  EXPECT_EQ(comments("  return 2 * x  ## twice x"), Found({"y=twice x"}));
  EXPECT_EQ(
      comments("  ## y: the state of each step,\n  ##   [N, D].\n  ## last: the last one: [D].\n"
               "  return y=x, last=x[0]"),
      Found({"y=the state of each step, [N, D].", "last=the last one: [D]."}));
  EXPECT_EQ(
      comments(
          "  ## Both have the type of x.\n  ## y: once.\n  ## y_2: twice.\n  return x + 0, 2 * x"),
      Found({"y=Both have the type of x. once.", "y_2=Both have the type of x. twice."}));
  EXPECT_EQ(comments("  ## Both.\n  return x, x * 2"), Found({"x=Both.", "y_2=Both."}));
}

TEST(LayerDocs, ConstantExpressionsAreEvaluated) {
  const LayerSignature layer = Only(
      "layer a(x: F[N], n: int in 1..2**3 = 2 * 3, p: float >= (1 / 4) = (1 + 2) / 4, "
      "k: [int] = [2 ** 2, -1], one: [int] > 0 = 1, m: int = n + 1, q: int = 1 // 0, "
      "w: string = \"a\", f: float = 2, flag: bool = not true) { return x }");
  auto at = [&](size_t i) -> const AttributeDecl& { return layer.attributes[i].decl; };
  ASSERT_TRUE(at(0).lower && at(0).upper);
  EXPECT_EQ(at(0).upper->value, AttributeNumber(int64_t{8}));
  EXPECT_TRUE(at(0).upper->open);
  EXPECT_EQ(at(0).default_value, AttributeValue(int64_t{6}));
  EXPECT_EQ(at(1).lower->value, AttributeNumber(0.25));
  EXPECT_EQ(at(1).default_value, AttributeValue(0.75));
  EXPECT_EQ(at(2).default_value, AttributeValue(std::vector<int64_t>{4, -1}));
  EXPECT_EQ(at(3).default_value, AttributeValue(std::vector<int64_t>{1}));
  // These depend on another attribute, or have no value.
  EXPECT_TRUE(IsNone(at(4).default_value) && IsNone(at(5).default_value));
  EXPECT_EQ(layer.attributes[4].default_text, "n + 1");
  EXPECT_EQ(at(6).default_value, AttributeValue(std::string("a")));
  EXPECT_EQ(at(7).default_value, AttributeValue(2.0));
  EXPECT_EQ(at(8).default_value, AttributeValue(false));
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
  EXPECT_EQ(dense.inputs(0).levels_size(), 3);
  ASSERT_EQ(dense.inputs(0).parameter_attributes_size(), 7);
  EXPECT_EQ(dense.inputs(0).parameter_attributes(0).default_value().string(), "xavier_uniform()");
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
  EXPECT_EQ(attribute(7).default_value().int_(), 6);
  EXPECT_EQ(attribute(8).type(), PARAMETER);
  EXPECT_TRUE(attribute(8).list());
  EXPECT_EQ(attribute(8).default_value().string(), "{}");
  ASSERT_EQ(dense.parameter_attributes_size(), 7);
  EXPECT_EQ(dense.parameter_attributes(0).default_value().string(), "xavier_uniform()");
  EXPECT_EQ(dense.parameter_attributes(1).upper().value(), 1.0);
  EXPECT_EQ(dense.parameter_attributes(4).default_value().float_(), 1.0);
  ASSERT_EQ(dense.bias_attributes_size(), 7);
  EXPECT_EQ(dense.bias_attributes(0).default_value().string(), "zeros()");
  EXPECT_EQ(dense.outputs(2).name(), "y_3");
  EXPECT_EQ(dense.constraints(1), "size % 2 == 0");

  const LayerDef& sequences = list.layers(1);
  EXPECT_EQ(sequences.inputs(0).sequence_levels(), 2u);
  ASSERT_EQ(sequences.inputs(0).levels_size(), 1);
  EXPECT_EQ(sequences.inputs(0).levels(0), 2u);
  EXPECT_EQ(sequences.inputs(0).parameter_attributes_size(), 0);
  EXPECT_EQ(sequences.inputs(1).kinds(0), INDEX);
  EXPECT_EQ(sequences.inputs(1).sequence_levels(), 0u);
  EXPECT_TRUE(sequences.inputs(2).optional());
  EXPECT_EQ(sequences.inputs(3).default_text(), "0.001");
  EXPECT_EQ(sequences.outputs(0).name(), "x");
  EXPECT_EQ(sequences.parameter_attributes_size(), 0);
}

}  // namespace
}  // namespace pdl
