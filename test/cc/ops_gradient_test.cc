// What `pdl gradcheck` does not see of gradient rules: corners, and calls without a kernel.
#include <gtest/gtest.h>

#include "op_test_util.h"
#include "pdl/gradient.h"

namespace pdl::testing {
namespace {

Shape ShapeOf(llvm::ArrayRef<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

Attributes Slice(Ints axes, Ints starts, Ints stops, Ints steps) {
  return {{"axes", axes}, {"starts", ShapeOf(starts)}, {"stops", ShapeOf(stops)}, {"steps", steps}};
}

Tensor Indices(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> values) {
  return Make<int64_t>(sizes, values);
}

Tensor Truths(llvm::ArrayRef<int64_t> sizes) {
  std::vector<double> values;
  for (int i = 0; i < 12; ++i) values.push_back(i % 3 == 1 ? 1 : 0);
  Tensor tensor = MakeAs(DType::kBool, sizes, {});
  values.resize(static_cast<size_t>(tensor.num_elements()));
  return MakeAs(DType::kBool, sizes, values);
}

// scatter and scatter_nd with each reduction, with places that are named twice and one outside.
void AddScatters(std::vector<GradientCase>& cases) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    cases.push_back({"scatter",
                     {{2, 4}, {2, 5}, {2, 5}},
                     {{"reduction", reduction}},
                     -2,
                     2,
                     {{1, Indices({2, 5}, {0, 0, -1, 0, 7, 1, 2, 2, 2, -9})}}});
    cases.push_back({"scatter",
                     {{4, 3}, {2, 2}, {2, 2}},
                     {{"reduction", reduction}, {"axis", int64_t{0}}},
                     -2,
                     2,
                     {{1, Indices({2, 2}, {1, 3, 1, 0})}}});
    cases.push_back({"scatter_nd",
                     {{3, 4}, {4, 1}, {4, 4}},
                     {{"reduction", reduction}},
                     -2,
                     2,
                     {{1, Indices({4, 1}, {2, 0, 2, 5})}}});
  }
}

std::vector<GradientCase> Cases() {
  const Sizes m = {3, 4};
  std::vector<GradientCase> cases = {
      {"cos", {m}, {{"scale", 3.0}}},
      {"sin", {m}, {{"scale", 0.5}}},
      {"exp", {m}},
      {"log", {m}, {}, 0.2, 3},
      {"sqrt", {m}, {}, 0.2, 3},
      {"tanh", {m}},
      {"sigmoid", {m}},
      {"relu", {m}},
      {"neg", {m}},
      {"abs", {m}},
      {"add", {m, m}},
      {"add", {m, {4}}},
      {"add", {{3, 1}, {1, 4}}},
      {"add", {{}, m}},
      {"sub", {m, {3, 1}}},
      {"sub", {{2, 1, 4}, {3, 1}}},
      {"mul", {m, {4}}},
      {"div", {m, {3, 1}}, {}, 0.5, 2},
      {"mod", {m, {4}}, {}, 0.6, 2},
      {"pow", {m, {4}}, {}, 0.3, 2},
      {"maximum", {m, m}},
      {"maximum", {m, {4}}},
      {"minimum", {{3, 1}, m}},
      {"matmul", {{3, 4}, {4, 2}}},
      {"matmul", {{4, 3}, {4, 2}}, {{"transpose_a", true}}},
      {"matmul", {{3, 4}, {2, 4}}, {{"transpose_b", true}}},
      {"matmul", {{4, 3}, {2, 4}}, {{"transpose_a", true}, {"transpose_b", true}}},
      {"matmul", {{2, 3, 4}, {4, 2}}},
      {"matmul", {{2, 3, 4}, {2, 4}}, {{"transpose_b", true}}},
      {"matmul", {{2, 4, 3}, {4, 2}}, {{"transpose_a", true}}},
      {"matmul", {{2, 1, 3, 4}, {3, 4, 2}}},
      {"matmul", {{4}, {4}}},
      {"matmul", {{4}, {4, 2}}},
      {"matmul", {{2, 3, 4}, {4}}},
      {"matmul", {{4}, {2, 4, 3}}},
      {"cos_sim", {{3, 4}, {3, 4}}, {{"scale", 2.0}}},
      {"cos_sim", {{4}, {4}}},
      {"sum", {m}},
      {"sum", {{2, 3, 4}}, {{"axes", Ints{0, 2}}}},
      {"sum", {{2, 3, 4}}, {{"axes", Ints{-2}}, {"keep", true}}},
      {"mean", {m}},
      {"mean", {{2, 3, 4}}, {{"axes", Ints{1}}, {"keep", true}}},
      {"max", {m}, {{"axes", Ints{1}}}},
      {"max", {m}},
      {"min", {{2, 3, 4}}, {{"axes", Ints{0, 2}}, {"keep", true}}},
      {"softmax", {m}},
      {"softmax", {{2, 3, 4}}, {{"axis", int64_t{1}}}},
      {"reshape", {m}, {{"dims", ShapeOf({2, 6})}}},
      {"transpose", {{2, 3, 4}}},
      {"transpose", {{2, 3, 4}}, {{"perm", Ints{2, 0, 1}}}},
      {"broadcast_to", {{3, 1}}, {{"dims", ShapeOf({2, 3, 4})}}},
      {"slice", {{5, 6}}, Slice({0}, {1}, {4}, {1})},
      {"slice", {{5, 6}}, Slice({1, 0}, {1, 0}, {6, 5}, {2, 3})},
      {"slice", {{5, 6}}, Slice({1}, {1}, {3}, {2})},
      {"concat", {{2, 3}, {2, 1}, {2, 2}}, {{"axis", int64_t{-1}}}},
      {"cast", {m}, {{"to", DType::kF64}}},
      {"erf", {m}},
      {"reciprocal", {m}, {}, 0.5, 2},
      {"rsqrt", {m}, {}, 0.5, 2},
      {"sign", {m}},
      {"floor", {m}},
      {"ceil", {m}},
      {"round", {m}},
      {"gelu", {m}},
      {"gelu", {m}, {{"approximate", true}}},
      {"silu", {m}},
      {"softplus", {m}},
      {"leaky_relu", {m}, {{"alpha", 0.2}}},
      {"elu", {m}, {{"alpha", 1.5}}},
      {"clip", {m}, {{"low", -1.0}, {"high", 0.5}}},
      {"clip", {m}, {{"high", 0.5}}},
      {"add_n", {m}},
      {"add_n", {m, {4}, {3, 1}, m}},
      {"where", {m, m, {4}}, {}, -2, 2, {{0, Truths({3, 4})}}},
      {"where", {{4}, {3, 1}, {}}, {}, -2, 2, {{0, Truths({4})}}},
      {"norm", {m}},
      {"norm", {{2, 3, 4}}, {{"axes", Ints{0, 2}}, {"keep", true}}},
      {"flatten", {{2, 3, 4}}},
      {"gather", {{5, 3}, {2, 2}}, {}, -2, 2, {{1, Indices({2, 2}, {0, 4, -5, 2})}}},
      {"gather", {{3, 5}, {4}}, {{"axis", int64_t{-1}}}, -2, 2, {{1, Indices({4}, {1, 1, 4, 0})}}},
      {"gather", {{5}, {}}, {}, -2, 2, {{1, Indices({}, {3})}}},
      {"scatter_add", {{5, 3}, {4}, {4, 3}}, {}, -2, 2, {{1, Indices({4}, {1, 1, -1, 0})}}},
      {"scatter_add",
       {{2, 5, 3}, {4}, {2, 4, 3}},
       {{"axis", int64_t{1}}},
       -2,
       2,
       {{1, Indices({4}, {1, 1, 4, 0})}}},
      {"pad", {{2, 3}}, {{"before", ShapeOf({1, -1})}, {"after", ShapeOf({0, 2})}}},
      {"pad",
       {{2, 3}},
       {{"before", ShapeOf({3, 5})}, {"after", ShapeOf({2, 4})}, {"mode", "reflect"}}},
      {"pad",
       {{2, 3}},
       {{"before", ShapeOf({-1, 3})}, {"after", ShapeOf({2, -1})}, {"mode", "reflect"}}},
      {"pad",
       {{2, 3}},
       {{"before", ShapeOf({2, 1})}, {"after", ShapeOf({1, 2})}, {"mode", "edge"}}},
      {"pad",
       {{2, 3}},
       {{"before", ShapeOf({4})}, {"after", ShapeOf({5})}, {"axes", Ints{-1}}, {"mode", "wrap"}}},
      {"flip", {{2, 3, 4}}},
      {"flip", {{2, 3, 4}}, {{"axes", Ints{0, -1}}}},
      {"roll", {m}, {{"shifts", ShapeOf({5})}}},
      {"roll", {m}, {{"shifts", ShapeOf({1, -2})}, {"axes", Ints{0, 1}}}},
      {"tile", {{2, 3}}, {{"repeats", ShapeOf({2, 1, 3})}}},
      {"tile", {{2, 3}}, {{"repeats", ShapeOf({2})}}},
      {"squeeze", {{1, 3, 1}}},
      {"unsqueeze", {m}, {{"axes", Ints{1, -1}}}},
      {"stack", {m, m, m}, {{"axis", int64_t{1}}}},
      {"triu", {{2, 3, 4}}, {{"k", int64_t{1}}}},
      {"tril", {{2, 3, 4}}, {{"k", int64_t{-1}}}},
      {"diag", {{2, 3}}, {{"k", int64_t{-1}}}},
      {"diagonal", {{2, 3, 5}}, {{"k", int64_t{1}}}},
      {"diagonal", {{5, 3}}},
      {"diagonal", {{3, 4}}, {{"k", int64_t{-2}}}},
      {"gather_nd", {{3, 4, 2}, {3, 2}}, {}, -2, 2, {{1, Indices({3, 2}, {0, 1, 2, -1, 0, 1})}}},
      {"gather_nd",
       {{2, 4}, {2, 2, 1}},
       {{"batch_dims", int64_t{1}}},
       -2,
       2,
       {{1, Indices({2, 2, 1}, {3, 3, 0, 1})}}},
      {"take_along_axis", {{2, 4}, {2, 3}}, {}, -2, 2, {{1, Indices({2, 3}, {0, 0, -1, 1, 2, 3})}}},
      {"take_along_axis",
       {{3, 2}, {2, 1}},
       {{"axis", int64_t{0}}},
       -2,
       2,
       {{1, Indices({2, 1}, {2, 2})}}},
      {"sort", {m}},
      {"sort", {m}, {{"axis", int64_t{0}}, {"descending", true}}},
      {"topk", {m}, {{"k", ShapeOf({2})}}},
      {"topk", {m}, {{"k", ShapeOf({2})}, {"axis", int64_t{0}}, {"largest", false}}},
      {"write", {{5, 2}, {2, 2}, {}}, {}, -2, 2, {{2, Indices({}, {1})}}},
      {"write", {{2, 3}, {2, 2}, {}}, {{"axis", int64_t{1}}}, -2, 2, {{2, Indices({}, {2})}}},
      {"write", {{4}, {3}, {}}, {}, -2, 2, {{2, Indices({}, {-5})}}},
      {"rotary_embedding", {{2, 3, 6}, {3}}, {}, -2, 2, {{1, Indices({3}, {0, 1, 5})}}},
      {"rotary_embedding",
       {{3, 6}, {3}},
       {{"interleaved", true}, {"width", int64_t{4}}, {"base", 50.0}},
       -2,
       2,
       {{1, Indices({3}, {0, 1, 5})}}},
      {"attention", {{2, 3, 4}, {2, 5, 4}, {2, 5, 3}}},
      {"attention", {{2, 4, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 5}}, {{"causal", true}, {"scale", 0.7}}},
      {"attention",
       {{4, 3, 2}, {2, 5, 2}, {2, 5, 2}, {}, {4, 1, 5}},
       {{"causal", true}},
       -2,
       2,
       {{3, Indices({}, {1})}}},
      {"attention",
       {{3, 2}, {3, 2}, {3, 2}, {}, {3, 3}},
       {},
       -2,
       2,
       {{3, Indices({}, {0})}, {4, Truths({3, 3})}}},
      {"moments", {{2, 3, 4}}, {{"keep", Ints{1}}}},
      {"moments", {{2, 3, 4}}},
      {"moments", {{5, 3}}, {{"keep", Ints{-1}}}},
      {"normalize", {{2, 3, 4}, {3}, {3}, {3}, {3}}, {}, 0.5, 2},
      {"normalize", {{4, 3}, {3}, {3}, {3}}, {{"axis", int64_t{-1}}}, 0.5, 2},
      {"normalize", {{3}, {3}, {3}}, {{"axis", int64_t{0}}}, 0.5, 2},
      {"standardize", {{3, 5}}},
      {"standardize", {{2, 3, 4}}, {{"axis", int64_t{1}}, {"eps", 0.1}}},
      {"standardize", {{7}}},
      {"log_softmax", {m}},
      {"log_softmax", {{2, 3, 4}}, {{"axis", int64_t{1}}}},
      {"cross_entropy", {{3, 4}, {3}}, {}, -2, 2, {{1, Indices({3}, {0, 3, 1})}}},
      {"cross_entropy", {{2, 2, 3}, {2, 2}}, {}, -2, 2, {{1, Indices({2, 2}, {0, 2, 1, 1})}}},
      {"binary_cross_entropy", {m, m}, {}, 0.1, 0.9},
      {"binary_cross_entropy", {m, {4}}, {{"logits", true}}},
      {"mse", {m, m}},
      {"tan", {m}, {}, -1.2, 1.2},
      {"asin", {m}, {}, -0.8, 0.8},
      {"acos", {m}, {}, -0.8, 0.8},
      {"atan", {m}},
      {"sinh", {m}},
      {"cosh", {m}},
      {"asinh", {m}},
      {"acosh", {m}, {}, 1.5, 3},
      {"atanh", {m}, {}, -0.8, 0.8},
      {"exp2", {m}},
      {"expm1", {m}},
      {"log2", {m}, {}, 0.2, 3},
      {"log10", {m}, {}, 0.2, 3},
      {"log1p", {m}, {}, -0.5, 3},
      {"cbrt", {m}, {}, 0.5, 3},
      {"erfc", {m}},
      {"square", {m}},
      {"trunc", {m}},
      {"mish", {m}},
      {"log_sigmoid", {m}},
      {"softsign", {m}},
      {"selu", {m}},
      {"celu", {m}, {{"alpha", 1.5}}},
      {"hard_sigmoid", {m}, {{"alpha", 0.4}}},
      {"hard_swish", {m}, {}, -5, 5},
      {"thresholded_relu", {m}, {{"alpha", 0.3}}},
      {"shrink", {m}, {{"threshold", 0.7}, {"bias", 0.2}}},
      {"prelu", {m, {4}}},
      {"atan2", {m, {4}}},
      {"hypot", {m, {3, 1}}},
      {"fmod", {m, {4}}, {}, 0.6, 2},
      {"huber", {m, {4}}, {{"delta", 0.5}}},
      {"hinge", {m, {4}}},
      {"kl_div", {m, m}, {}, 0.2, 2},
      {"kl_div", {m, {4}}, {{"log_target", true}}},
      {"prod", {m}},
      {"prod", {{2, 3, 4}}, {{"axes", Ints{0, 2}}, {"keep", true}}},
      {"prod", {m}, {{"axes", Ints{1}}}},
      {"logsumexp", {m}, {{"axes", Ints{0}}}},
      {"variance", {m}},
      {"std", {m}},
      {"std", {{2, 3, 4}}, {{"axes", Ints{0, 2}}, {"ddof", int64_t{1}}}},
      {"variance", {{2, 3, 4}}, {{"axes", Ints{0, 2}}, {"ddof", int64_t{1}}}},
      {"cumprod", {m}},
      {"cumprod", {{2, 3, 4}}, {{"axis", int64_t{1}}, {"reverse", true}}},
      {"cumprod", {{2, 3, 4}}, {{"axis", int64_t{1}}, {"exclusive", true}}},
      {"cumprod", {m}, {{"axis", int64_t{0}}, {"exclusive", true}, {"reverse", true}}},
      {"linear_recurrence", {m, m}},
      {"linear_recurrence", {{2, 3, 4}, {2, 3, 4}}, {{"axis", int64_t{1}}, {"reverse", true}}},
      {"nll", {{3, 4}, {3}}, {}, -2, 2, {{1, Indices({3}, {0, 3, 1})}}},
      {"nll",
       {{3, 4}, {3}, {4}},
       {{"ignore_index", int64_t{3}}},
       -2,
       2,
       {{1, Indices({3}, {0, 3, 1})}}},
      {"cross_entropy",
       {{3, 4}, {3}, {4}},
       {{"ignore_index", int64_t{3}}, {"label_smoothing", 0.2}},
       -2,
       2,
       {{1, Indices({3}, {0, 3, 1})}}},
      {"dequantize",
       {{2, 3, 2}, {3}, {3}},
       {},
       0.5,
       2,
       {{0, Make<int8_t>({2, 3, 2}, {1, -2, 3, 4, 5, 6, -7, 8, 9, 10, 11, 12})},
        {2, Make<int8_t>({3}, {1, 0, -3})}}},
      {"dequantize", {{3}, {}}, {}, 0.5, 2, {{0, Make<int8_t>({3}, {1, -2, 3})}}},
      {"cumsum", {m}},
      {"cumsum", {{2, 3, 4}}, {{"axis", int64_t{1}}, {"exclusive", true}, {"reverse", true}}},
  };
  AddScatters(cases);
  return cases;
}

Tensor Inputs(llvm::ArrayRef<int64_t> sizes, double low, double high, uint64_t seed) {
  // A permutation of evenly spaced numbers, so that none are equal.
  const int64_t n = MakeAs(DType::kF64, sizes, {}).num_elements();
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) {
    const double place = std::fmod(
        static_cast<double>(i * 7 + 3) * 0.6180339887 + static_cast<double>(seed) * 0.237, 1.0);
    values.push_back(low + (high - low) * place);
  }
  return MakeAs(DType::kF64, sizes, values);
}

// The sum of all elements of all results, each times its cotangent.
double Objective(const GradientCase& c, llvm::ArrayRef<Tensor> inputs,
                 llvm::ArrayRef<Tensor> cotangents) {
  const auto results = llvm::cantFail(TryApply(c.op, inputs, c.attributes));
  double sum = 0;
  for (size_t r = 0; r < results.size(); ++r) {
    const std::vector<double> y = Values(results[r]), dy = Values(cotangents[r]);
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
  }
  return sum;
}

void Check(const GradientCase& c) {
  const OpRegistry& registry = GlobalRegistry();
  const OpDef* def = registry.Find(c.op);
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<Value*> operands;
  std::vector<std::pair<const Value*, Tensor>> feeds;
  for (const Sizes& sizes : c.inputs) {
    const auto fixed = c.fixed.find(static_cast<unsigned>(inputs.size()));
    inputs.push_back(fixed != c.fixed.end() ? fixed->second
                                            : Inputs(sizes, c.low, c.high, inputs.size()));
    operands.push_back(graph.AddInput("x" + std::to_string(operands.size()),
                                      Type(inputs.back().dtype(), ShapeOf(sizes))));
    feeds.push_back({operands.back(), inputs.back()});
  }
  std::vector<std::string> names;
  for (const OutputDecl& output : def->signature.outputs) names.push_back(output.name);
  Op* op = llvm::cantFail(graph.AddOp(*def, operands, c.attributes, names));
  const auto results = llvm::cantFail(TryApply(c.op, inputs, c.attributes));
  std::vector<Value*> gradients;
  std::vector<Tensor> cotangents;
  for (size_t r = 0; r < results.size(); ++r) {
    if (!IsFloat(results[r].dtype())) {
      gradients.push_back(nullptr);
      cotangents.push_back(Inputs(results[r].sizes(), 0, 0, 0));
      continue;
    }
    gradients.push_back(graph.AddInput("d_" + names[r], op->result(r)->type()));
    cotangents.push_back(Inputs(results[r].sizes(), -1, 1, 9 + r));
    feeds.push_back({gradients.back(), cotangents.back()});
  }

  GradientContext gradient(graph, registry, *op, gradients);
  def->gradient(gradient);
  if (llvm::Error error = gradient.TakeError()) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return;
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Value* dx = gradient.input_gradients()[k];
    if (c.fixed.count(static_cast<unsigned>(k)) != 0) {
      EXPECT_EQ(dx, nullptr);
      continue;
    }
    ASSERT_NE(dx, nullptr);
    EXPECT_EQ(dx->type(), operands[k]->type());
    auto computed = Evaluate(graph, dx, feeds);
    ASSERT_TRUE(static_cast<bool>(computed)) << llvm::toString(computed.takeError());
    const std::vector<double> actual = Values(*computed);
    const std::vector<double> x = Values(inputs[k]);
    for (size_t i = 0; i < x.size(); ++i) {
      constexpr double kStep = 1e-6;
      double objective[2];
      for (const int side : {0, 1}) {
        std::vector<double> moved = x;
        moved[i] += side == 0 ? -kStep : kStep;
        std::vector<Tensor> others = inputs;
        others[k] = MakeAs(DType::kF64, inputs[k].sizes(), moved);
        objective[side] = Objective(c, others, cotangents);
      }
      const double expected = (objective[1] - objective[0]) / (2 * kStep);
      EXPECT_NEAR(actual[i], expected, 2e-8 * std::max(1.0, std::fabs(expected)))
          << "input " << k << ", element " << i;
    }
  }
}

TEST(Gradients, AgreeWithDifferences) {
  for (const GradientCase& c : Cases()) {
    std::string what = c.op;
    for (const Sizes& sizes : c.inputs) what += " " + TensorTypeToString(DType::kF64, sizes);
    for (const NamedAttribute& a : c.attributes)
      what += " " + a.name + "=" + AttributeToString(a.value);
    SCOPED_TRACE(what);
    Check(c);
  }
}

TEST(Gradients, EveryRuleIsChecked) {
  std::set<std::string> checked;
  for (const GradientCase& c : Cases()) checked.insert(c.op);
  checked.insert("bernoulli");    // has no differences: they are 0
  checked.insert("einsum");       // has no kernel: test/ops/einsum.pdl
  checked.insert("plan_select");  // has no kernel: PlanSelectGivesZerosToTheOtherSide
  for (const OpDef* def : GlobalRegistry().All()) {
    if (def->gradient == nullptr) continue;
    EXPECT_TRUE(checked.count(def->name())) << def->name();
  }
}

TEST(Gradients, PlanSelectGivesZerosToTheOtherSide) {
  Graph graph;
  const auto add = [&](const char* op, std::vector<Value*> operands) {
    const OpDef& def = *GlobalRegistry().Find(op);
    return llvm::cantFail(graph.AddOp(def, operands, {}, {graph.NewName(op)}));
  };
  const Type type(DType::kF32, {Dim::Symbol("N"), Dim(2)});
  Value* a = graph.AddInput("a", type);
  Value* b = graph.AddInput("b", type);
  Value* dy = graph.AddInput("dy", type);
  Op* select = add("plan_select", {add("training", {})->result(), a, b});
  GradientContext context(graph, GlobalRegistry(), *select, {dy});
  select->def().gradient(context);
  llvm::cantFail(context.TakeError());
  EXPECT_EQ(context.input_gradients()[0], nullptr);
  for (unsigned side : {1u, 2u}) {
    const Op* gradient = context.input_gradients()[side]->producer();
    ASSERT_EQ(gradient->type(), "plan_select");
    EXPECT_EQ(gradient->operands()[0], select->operands()[0]);
    EXPECT_EQ(gradient->operands()[side], dy);
    EXPECT_EQ(gradient->operands()[3 - side]->producer()->type(), "zeros");
    EXPECT_TRUE(gradient->result()->type() == type);
  }
}

// What a rule of calculus leaves open, and where the obvious formula gives nan.
TEST(Gradients, AtTheCorners) {
  const auto gradient = [](const char* op, llvm::ArrayRef<double> x, llvm::ArrayRef<double> y) {
    const Sizes sizes = {static_cast<int64_t>(x.size())};
    Graph graph;
    const Type type(DType::kF64, ShapeOf(sizes));
    std::vector<Value*> operands = {graph.AddInput("a", type)};
    std::vector<std::pair<const Value*, Tensor>> feeds = {
        {operands[0], MakeAs(DType::kF64, sizes, x)}};
    if (!y.empty()) {
      operands.push_back(graph.AddInput("b", type));
      feeds.push_back({operands[1], MakeAs(DType::kF64, sizes, y)});
    }
    const OpDef* def = GlobalRegistry().Find(op);
    Op* call = llvm::cantFail(graph.AddOp(*def, operands, {}, {std::string("y")}));
    Value* dy = graph.AddInput("dy", call->result()->type());
    const std::vector<double> ones(x.size(), 1.0);
    feeds.push_back({dy, MakeAs(DType::kF64, Sizes(call->result()->type().rank(), sizes[0]),
                                llvm::ArrayRef<double>(ones).take_front(
                                    call->result()->type().rank() == 0 ? 1 : ones.size()))});
    GradientContext context(graph, GlobalRegistry(), *call, {dy});
    def->gradient(context);
    llvm::cantFail(context.TakeError());
    std::vector<std::vector<double>> results;
    for (const Value* dx : context.input_gradients()) {
      results.push_back(Values(llvm::cantFail(Evaluate(graph, dx, feeds))));
    }
    return results;
  };
  using List = std::vector<double>;
  EXPECT_EQ(gradient("relu", {-1, 0, 2}, {})[0], (List{0, 0, 1}));
  EXPECT_EQ(gradient("abs", {-1, 0, 2}, {})[0], (List{-1, 0, 1}));
  EXPECT_EQ(gradient("max", {3, 1, 3}, {})[0], (List{0.5, 0, 0.5}));
  const auto maximum = gradient("maximum", {1, 2, 3}, {1, 5, 0});
  EXPECT_EQ(maximum[0], (List{0.5, 0, 1}));
  EXPECT_EQ(maximum[1], (List{0.5, 1, 0}));
  const auto pow = gradient("pow", {0, 0, 0, -2}, {2, 0, 1, 3});
  EXPECT_EQ(pow[0], (List{0, 0, 1, 12}));
  EXPECT_EQ((List{pow[1][0], pow[1][1], pow[1][2]}), (List{0, 0, 0}));
  const auto cos_sim = gradient("cos_sim", {0, 0}, {1, 2});
  EXPECT_EQ(cos_sim[0], (List{0, 0}));
  EXPECT_EQ(cos_sim[1], (List{0, 0}));
  EXPECT_EQ(gradient("norm", {0, 0}, {})[0], (List{0, 0}));
  EXPECT_EQ(gradient("std", {2, 2}, {})[0], (List{0, 0}));
  EXPECT_EQ(gradient("prod", {2, 0, 3}, {})[0], (List{0, 6, 0}));
  EXPECT_EQ(gradient("prod", {0, 0, 3}, {})[0], (List{0, 0, 0}));
  EXPECT_EQ(gradient("cumprod", {2, 0, 3, 4}, {})[0], (List{1, 32, 0, 0}));
  EXPECT_EQ(gradient("hypot", {0, 3}, {0, 4})[0], (List{0, 0.6}));
  EXPECT_EQ(gradient("atan2", {0, 3}, {0, 4})[0], (List{0, 0.16}));
  EXPECT_EQ(gradient("logsumexp", {-INFINITY, -INFINITY}, {})[0], (List{0, 0}));
  EXPECT_EQ(gradient("leaky_relu", {-1, 0, 2}, {})[0], (List{0.01, 0.01, 1}));
}

}  // namespace
}  // namespace pdl::testing
