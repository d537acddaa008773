// The standard layers compute the documented results: each program computes a result by the layer
// and by its formula.
#include <cmath>

#include "pdl/compiler/layers.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

CompileResult CompileText(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("m.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  return Compile(request);
}

std::string Messages(const CompileResult& result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.diagnostics.Render(os);
  return text;
}

class Layers : public testing::Test {
 protected:
  std::shared_ptr<const Network> Make(const std::string& text) {
    CompileResult result = CompileText(text);
    if (!result.graph) {
      ADD_FAILURE() << Messages(result);
      return nullptr;
    }
    return Unwrap(Network::Create(std::move(*result.graph), {}, GlobalRegistry()));
  }

  const Tensor& Run(const Network& network, bool training, const std::string& output) {
    RunOptions options;
    options.training = training;
    EXPECT_EQ(Message(network.Run(&scope_, &context_, options)), "");
    return *scope_.Find(output)->Get<Tensor>();
  }

  /// Runs a program with the outputs `got` and `want`, and compares them.
  void ExpectSame(const std::string& text, bool training = false, double tolerance = 1e-5) {
    SCOPED_TRACE(text);
    auto network = Make(text);
    if (!network) return;
    RunOptions options;
    options.training = training;
    ASSERT_EQ(Message(network->Run(&scope_, &context_, options)), "");
    ExpectNear(*scope_.Find("got")->Get<Tensor>(), *scope_.Find("want")->Get<Tensor>(), tolerance);
  }

  static void ExpectNear(const Tensor& got, const Tensor& want, double tolerance) {
    ASSERT_EQ(got.dtype(), DType::kF32);
    ASSERT_EQ(got.sizes(), want.sizes());
    for (int64_t i = 0; i < got.num_elements(); ++i) {
      const double a = got.data<float>()[i], b = want.data<float>()[i];
      ASSERT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(b))) << "at " << i;
    }
  }

  /// Names and types of the parameters and states of a program.
  static std::string Variables(const std::string& text) {
    CompileResult result = CompileText(text);
    if (!result.graph) return Messages(result);
    std::string names;
    auto add = [&](const auto& values) {
      for (const auto* value : values)
        names += (names.empty() ? "" : " ") + value->name() + ":" + value->type().ToString();
    };
    add(result.graph->parameters());
    add(result.graph->states());
    return names;
  }

  CPUContext context_{1};
  Scope scope_;
};

TEST_F(Layers, FcOfOneInput) {
  Feed(scope_, "x", Noise({5, 3}));
  ExpectSame(R"(
input x: f32[N, 3]
h = fc(x, size=4, bias_attr={init=normal()})
output got = h, want = x @ h.w + h.b
)");
  ExpectSame(R"(
input x: f32[N, 3]
h = fc(x, size=4, act="relu", bias=false)
output got = h, want = relu(x @ h.w)
)");
  ExpectSame(R"(
input x: f32[N, 3]
h = fc(x, size=4, act=elu(alpha=0.5))
output got = h, want = elu(x @ h.w + h.b, alpha=0.5)
)");
}

TEST_F(Layers, FcOfAnyRank) {
  Feed(scope_, "x", Noise({2, 5, 3}));
  ExpectSame(R"(
input x: f32[N, 5, 3]
h = fc(x, size=4)
output got = h, want = reshape(reshape(x, [N * 5, 3]) @ h.w + h.b, [N, 5, 4])
)");
}

TEST_F(Layers, FcAddsItsInputs) {
  Feed(scope_, "x", Noise({5, 3}));
  Feed(scope_, "z", Noise({5, 2}, 2));
  const std::string text = R"(
input x: f32[N, 3]
input z: f32[N, 2]
h = fc(x, z, size=4, act="tanh",
       param_attr=[{init=ones()}, {init=fill(value=2.0), weight_decay=0.5, trainable=false}],
       bias_attr={init=fill(value=0.25)})
rows = sum(x, axes=[1], keep=true) + 2.0 * sum(z, axes=[1], keep=true) + 0.25
output got = h, want = tanh(rows) * ones([1, 4])
)";
  ExpectSame(text);
  CompileResult result = CompileText(text);
  ASSERT_TRUE(result.graph) << Messages(result);
  ASSERT_EQ(result.graph->parameters().size(), 3u);
  EXPECT_EQ(result.graph->parameters()[0]->variable().weight_decay, 0.0);
  EXPECT_EQ(result.graph->parameters()[1]->variable().weight_decay, 0.5);
  EXPECT_FALSE(result.graph->parameters()[1]->variable().trainable);
}

TEST_F(Layers, FcOfIndicesReadsRows) {
  Feed(scope_, "i", Tensor::FromValues<int64_t>(DType::kI64, {3}, {2, 0, 2}));
  ExpectSame(R"(
input i: i64[3] in 0..4
h = fc(i, size=5, bias=false)
output got = h, want = concat(h.w[2:3], h.w[0:1], h.w[2:3], axis=0)
)");
}

TEST_F(Layers, FcDropsResultsInTrainingOnly) {
  Feed(scope_, "x", Noise({5, 3}));
  const std::string text = R"(
input x: f32[N, 3]
h = fc(x, size=4, dropout_rate=1.0, bias_attr={init=ones()})
output got = h, want = PLACE
)";
  auto with = [&](llvm::StringRef formula) {
    return llvm::StringRef(text).split("PLACE").first.str() + formula.str() + "\n";
  };
  ExpectSame(with("x @ h.w + h.b"));
  ExpectSame(with("h * 0.0"), /*training=*/true);
}

TEST_F(Layers, Dropout) {
  Feed(scope_, "x", F32({4096}, std::vector<float>(4096, 3.0f)));
  ExpectSame("input x: f32[N]\noutput got = dropout(x, p=0.25), want = x\n");
  ExpectSame("input x: f32[N]\noutput got = dropout(x, p=0.0), want = x\n", true);
  ExpectSame("input x: f32[N]\noutput got = dropout(x, p=1.0), want = x * 0.0\n", true);
  ExpectSame("input x: f32[N]\noutput got = dropout(x, training=false), want = x\n", true);
  auto network = Make("input x: f32[N]\noutput y = dropout(x, p=0.25)\n");
  ASSERT_TRUE(network);
  const Tensor& y = Run(*network, true, "y");
  int kept = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const float value = y.data<float>()[i];
    if (value == 0) continue;
    ++kept;
    EXPECT_FLOAT_EQ(value, 4.0f);
  }
  // Six standard deviations.
  EXPECT_NEAR(kept, 3072, 167);
}

TEST_F(Layers, BatchNormByTheBatchAndByRunningValues) {
  Feed(scope_, "x", Noise({6, 3, 2}));
  const std::string head = "input x: f32[N, 3, 2]\n";
  // The first run in inference mode uses mean 0 and variance 1.
  ExpectSame(head + R"(
h = batch_norm(x, eps=0.5)
output got = h, want = x / sqrt(1.5)
)");
  ExpectSame(head + R"(
h = batch_norm(x, eps=0.5, param_attr={init=fill(value=2.0)}, bias_attr={init=ones()})
m = mean(x, axes=[0, 2], keep=true)
v = mean((x - m) ** 2, axes=[0, 2], keep=true)
output got = h, want = 2.0 * (x - m) / sqrt(v + 0.5) + 1.0
)",
             /*training=*/true);
}

TEST_F(Layers, BatchNormKeepsRunningValues) {
  auto network = Make(R"(
input x: f32[N, 2]
h = batch_norm(x, momentum=0.75)
output h, mean = h.mean, var = h.var
)");
  ASSERT_TRUE(network);
  Feed(scope_, "x", F32({2, 2}, {1, 4, 3, 8}));
  Run(*network, true, "h");
  Run(*network, false, "h");
  EXPECT_EQ(Printed(scope_, "mean"), "[0.5, 1.5]");
  EXPECT_EQ(Printed(scope_, "var"), "[1.0, 1.75]");
  Run(*network, false, "h");
  EXPECT_EQ(Printed(scope_, "mean"), "[0.5, 1.5]");
  // In inference mode (`training=false`), training does not change it.
  auto held = Make(R"(
input x: f32[N, 2]
h = batch_norm(x, training=false)
output h, mean = h.mean
)");
  ASSERT_TRUE(held);
  Scope scope;
  Feed(scope, "x", F32({2, 2}, {1, 4, 3, 8}));
  RunOptions options;
  options.training = true;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Message(held->Run(&scope, &context_, options)), "");
  EXPECT_EQ(Printed(scope, "mean"), "[0.0, 0.0]");
}

TEST_F(Layers, LayerNorm) {
  Feed(scope_, "x", Noise({2, 3, 8}));
  const std::string head = R"(
input x: f32[N, 3, 8]
m = mean(x, axes=[-1], keep=true)
v = mean((x - m) ** 2, axes=[-1], keep=true)
)";
  ExpectSame(head + R"(
h = layer_norm(x, param_attr={init=normal()}, bias_attr={init=normal()})
output got = h, want = (x - m) / sqrt(v + 1e-5) * h.gamma + h.beta
)",
             false, 1e-4);
  ExpectSame(head + R"(
h = layer_norm(x, eps=0.1, scale=false, bias=false)
output got = h, want = (x - m) / sqrt(v + 0.1)
)",
             false, 1e-4);
  EXPECT_EQ(Variables("input x: f32[N, 3, 8]\nh = layer_norm(x, scale=false, bias=false)\n"
                      "output h\n"),
            "");
}

TEST_F(Layers, ResidualAddsWhatItsBodyMakes) {
  Feed(scope_, "x", Noise({5, 3}));
  ExpectSame(R"(
input x: f32[N, 3]
h = residual(x, body=fc(size=3, act="tanh"))
output got = h, want = x + tanh(x @ h.body.w + h.body.b)
)");
  ExpectSame(R"(
input x: f32[N, 3]
output got = residual(x, body="cos"), want = x + cos(x)
)");
}

TEST_F(Layers, MlpIsItsLayersOneAfterAnother) {
  Feed(scope_, "x", Noise({5, 3}));
  ExpectSame(R"(
input x: f32[N, 3]
h = mlp(x, widths=[4, 6, 2], act=tanh(), last_act="sigmoid")
a = tanh(x @ h.x.0.w + h.x.0.b)
b = tanh(a @ h.x.1.w + h.x.1.b)
output got = h, want = sigmoid(b @ h.x.2.w + h.x.2.b)
)");
  ExpectSame(R"(
input x: f32[N, 3]
h = mlp(x, widths=[4])
output got = h, want = x @ h.x.w + h.x.b
)");
}

TEST_F(Layers, EmbeddingReadsRows) {
  Feed(scope_, "i", Tensor::FromValues<int64_t>(DType::kI64, {2, 2}, {2, 0, 3, 2}));
  ExpectSame(R"(
input i: i64[2, 2] in 0..4
h = embedding(i, size=5)
t = h.table
output got = h, want = reshape(concat(t[2:3], t[0:1], t[3:4], t[2:3], axis=0), [2, 2, 5])
)");
}

TEST_F(Layers, AdamAndSgd) {
  // The first step of Adam subtracts lr times the sign of the gradient.
  auto network = Make(R"(
input w: f32[3]
input g: f32[3]
output a = adam(w, g, lr=0.5), s = sgd(w, g, lr=0.5, momentum=0.5)
output n = sgd(w, g, lr=0.5, momentum=0.5, nesterov=true), p = sgd(w, g, lr=0.5)
)");
  ASSERT_TRUE(network);
  Feed(scope_, "w", F32({3}, {1, 2, 3}));
  Feed(scope_, "g", F32({3}, {4, -4, 2}));
  ExpectNear(Run(*network, true, "a"), F32({3}, {0.5, 2.5, 2.5}), 1e-5);
  EXPECT_EQ(Printed(scope_, "s"), "[-1.0, 4.0, 2.0]");
  EXPECT_EQ(Printed(scope_, "n"), "[-2.0, 5.0, 1.5]");
  EXPECT_EQ(Printed(scope_, "p"), "[-1.0, 4.0, 2.0]");
  // A second step with the same gradient.
  ExpectNear(Run(*network, true, "a"), F32({3}, {0.5, 2.5, 2.5}), 1e-5);
  EXPECT_EQ(Printed(scope_, "s"), "[-2.0, 5.0, 1.5]");
  EXPECT_EQ(Printed(scope_, "p"), "[-1.0, 4.0, 2.0]");
}

TEST_F(Layers, NamesOfParameters) {
  const std::string head = "input x: f32[N, 3]\n";
  EXPECT_EQ(Variables(head + "h = fc(x, size=4)\noutput h\n"), "h.w:f32[3, 4] h.b:f32[4]");
  EXPECT_EQ(Variables(head + "h = fc(x, x, size=4, bias=false)\noutput h\n"),
            "h.w.0:f32[3, 4] h.w.1:f32[3, 4]");
  EXPECT_EQ(Variables(head + "output y = relu(fc(x, size=4))\n"), "y.fc.w:f32[3, 4] y.fc.b:f32[4]");
  EXPECT_EQ(Variables(head + "h = batch_norm(x)\noutput h\n"),
            "h.gamma:f32[3] h.beta:f32[3] h.mean:f32[3] h.var:f32[3]");
  EXPECT_EQ(Variables(head + "layer f = fc(size=3, bias=false)\noutput y = f(f(x))\n"),
            "f.w:f32[3, 3]");
}

TEST_F(Layers, MistakesPointAtTheCaller) {
  auto first = [](const std::string& text) {
    const std::string messages = Messages(CompileText(text));
    return messages.substr(0, messages.find('\n'));
  };
  const std::string head = "input x: f32[N, 3]\ninput k: i64[N]\n";
  EXPECT_EQ(first(head + "h = fc(x)\n"),
            "m.pdl:3:5: error: 'fc' needs the attribute 'size': int > 0 [PDL0202]");
  EXPECT_EQ(first(head + "h = fc(x, size=0)\n"),
            "m.pdl:3:16: error: attribute 'size' of 'fc' must be larger than 0, got 0 [PDL0203]");
  EXPECT_EQ(first(head + "h = fc(x, sizes=4)\n"),
            "m.pdl:3:11: error: 'fc' has no attribute or input 'sizes'; did you mean 'size'? "
            "[PDL0201]");
  EXPECT_EQ(first(head + "h = fc(x, size=4, act=3)\n"),
            "m.pdl:3:23: error: expected a function such as relu() or fc(size=10), got the int 3 "
            "[PDL0204]");
  EXPECT_EQ(first(head + "h = fc(x, size=4, param_attr=[{}, {}])\n"),
            "m.pdl:3:30: error: attribute 'param_attr' of 'fc' must be a record for each of 1 "
            "inputs, got a list of 2 [PDL0204]");
  EXPECT_EQ(first(head + "h = fc(k, size=4)\n"),
            "m.pdl:3:8: error: input 'xs' of 'fc' must be F[..., D] | sparse F[..., D] | sparse "
            "bool[..., D] | i64[...] in 0..D, got i64[N] [PDL0302]");
  EXPECT_EQ(first(head + "h = dropout(x, p=1.5)\n"),
            "m.pdl:3:18: error: attribute 'p' of 'dropout' must be at least 0 and at most 1, got "
            "1.5 [PDL0203]");
  EXPECT_EQ(first(head + "h = mlp(x, widths=[])\n"),
            "m.pdl:3:5: error: 'mlp' requires len(widths) > 0 [PDL0317]");
}

TEST_F(Layers, ConvOfAnyRank) {
  Feed(scope_, "x", Noise({2, 4, 6}));
  ExpectSame(R"(
input x: f32[N, 4, L]
h = conv(x, channels=6, kernel=3, pad=1, bias_attr={init=normal()})
output got = h, want = conv1d(x, h.w, pad=1) + h.b[:, none]
)");
  Feed(scope_, "x", Noise({2, 4, 6, 5}));
  ExpectSame(R"(
input x: f32[N, 4, H, W]
h = conv(x, channels=6, kernel=3, stride=2, same=true, groups=2, act="relu", bias=false)
output got = h, want = relu(conv2d(x, h.w, stride=2, pad="same", groups=2))
)");
  ExpectSame(R"(
input x: f32[N, 4, H, W]
h = conv(x, channels=6, kernel=3, dilation=2, pad=2)
output got = h, want = conv2d(x, h.w, dilation=2, pad=2)
)");
  Feed(scope_, "x", Noise({1, 2, 3, 4, 5}));
  ExpectSame(R"(
input x: f32[N, 2, D, H, W]
h = conv(x, channels=3, kernel=2)
output got = h, want = conv3d(x, h.w)
)");
  EXPECT_EQ(Variables("input x: f32[N, 4, 8, 8]\nh = conv(x, channels=6, kernel=3, groups=2)\n"
                      "output h\n"),
            "h.b:f32[6] h.w:f32[6, 2, 3, 3]");
}

TEST_F(Layers, ConvUpMultipliesSizes) {
  Feed(scope_, "x", Noise({2, 4, 3, 5}));
  ExpectSame(R"(
input x: f32[N, 4, H, W]
h: f32[N, 6, 2*H, 2*W] = conv_up(x, channels=6, kernel=5, bias_attr={init=normal()})
output got = h, want = conv_transpose2d(x, h.w, h.b, stride=2, pad="same")
)");
  Feed(scope_, "x", Noise({2, 4, 3}));
  ExpectSame(R"(
input x: f32[N, 4, L]
h: f32[N, 2, 3*L] = conv_up(x, channels=2, kernel=3, stride=3, groups=2, bias=false)
output got = h, want = conv_transpose1d(x, h.w, stride=3, groups=2)
)");
  Feed(scope_, "x", Noise({1, 2, 2, 3, 2}));
  ExpectSame(R"(
input x: f32[N, 2, D, H, W]
h = conv_up(x, channels=3, kernel=2, act=tanh())
output got = h, want = tanh(conv_transpose3d(x, h.w, stride=2))
)");
}

TEST_F(Layers, ConvBnIsAConvolutionAndItsNorm) {
  Feed(scope_, "x", Noise({2, 4, 6, 5}));
  for (const bool training : {false, true}) {
    ExpectSame(R"(
input x: f32[N, 4, H, W]
h = conv_bn(x, channels=6, kernel=3)
y = conv2d(x, h.conv.w, pad=1)
output got = h, want = relu(batch_norm(y))
)",
               training);
  }
  EXPECT_EQ(Variables("input x: f32[N, 4, 8, 8]\n"
                      "h = conv_bn(x, channels=6, kernel=3, stride=2, act=none)\noutput h\n"),
            "h.conv.w:f32[6, 4, 3, 3] h.batch_norm.gamma:f32[6] h.batch_norm.beta:f32[6] "
            "h.batch_norm.mean:f32[6] h.batch_norm.var:f32[6]");
}

TEST_F(Layers, GlobalPooling) {
  Feed(scope_, "x", Noise({2, 4, 6, 5}));
  ExpectSame(R"(
input x: f32[N, 4, H, W]
output got = global_avg_pool(x), want = mean(x, axes=[2, 3])
)");
  ExpectSame(R"(
input x: f32[N, 4, H, W]
output got = global_max_pool(x), want = max(x, axes=[2, 3])
)");
}

}  // namespace
}  // namespace pdl
