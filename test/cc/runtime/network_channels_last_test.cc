// Convolutional networks with channels last on the CPU compute the same numbers as individual
// calls.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "kernels/core/cpu_isa.h"
#include "test/cc/testing/network_testing.h"

namespace pdl {
namespace {

/// Generates random convolutional networks over f32[N, C, ...] with 1 to 3 spatial dims.
class RandomConvNet {
 public:
  explicit RandomConvNet(uint32_t seed) : random_(seed) {
    rank_ = 1 + Below(3);
    batch_ = Below(8) == 0 ? 0 : 1 + Below(3);
    channels_ = 1 + Below(6);
    for (unsigned i = 0; i < rank_; ++i) size_.push_back(5 + Below(rank_ == 3 ? 5 : 12));
    x_sizes_ = {batch_, channels_};
    x_sizes_.append(size_.begin(), size_.end());
    text_ = "input x: f32" + Dims() + "\nx0 = x\n";
    AddConv(3);
    AddConv(1);
    for (unsigned i = 0, count = 3 + Below(8); i < count; ++i) AddCall();
    text_ += "output y = " + Current() + "\noutput m = mean(" + Current() +
             ", axes=" + SpatialAxes() + ")\noutput s = sum(" + Current() + ", axes=[0, 1])\n";
  }
  const std::string& text() const { return text_; }
  const Sizes& x_sizes() const { return x_sizes_; }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  std::string Current() const { return "x" + std::to_string(number_); }
  void Assign(const std::string& call) {
    text_ += "x" + std::to_string(number_ + 1) + " = " + call + "\n";
    ++number_;
  }
  std::string Dims() const {
    std::string text = "[" + std::to_string(batch_) + ", " + std::to_string(channels_);
    for (const int64_t size : size_) text += ", " + std::to_string(size);
    return text + "]";
  }
  std::string SpatialAxes() const {
    return rank_ == 1 ? "[2]" : rank_ == 2 ? "[2, 3]" : "[2, 3, 4]";
  }
  std::string AddParameter(const std::string& dims) {
    const std::string name = "w" + std::to_string(parameters_++);
    text_ += "param " + name + ": f32" + dims + " = uniform(low=-0.6, high=0.6)\n";
    return name;
  }
  std::string PerChannel() {
    std::string dims = "[" + std::to_string(channels_);
    for (unsigned i = 0; i < rank_; ++i) dims += ", 1";
    return AddParameter(dims + "]");
  }

  void AddConv(int64_t kernel) {
    int64_t groups = 1, features = 1 + Below(40);
    if (Below(4) == 0) groups = channels_;
    features *= groups;
    if (features > 64) features = groups;
    const int64_t stride = 1 + Below(2), dilation = kernel == 1 ? 1 : 1 + Below(2);
    const int64_t pad = Below(kernel * dilation + 1);
    std::string dims = "[" + std::to_string(features) + ", " + std::to_string(channels_ / groups);
    for (int64_t& size : size_) {
      size = (size + 2 * pad - ((kernel - 1) * dilation + 1)) / stride + 1;
      dims += ", " + std::to_string(kernel);
    }
    std::string operands = Current() + ", " + AddParameter(dims + "]");
    channels_ = features;
    if (Below(2) == 0) operands += ", " + AddParameter("[" + std::to_string(channels_) + "]");
    Assign("conv" + std::to_string(rank_) + "d(" + operands + ", stride=" + std::to_string(stride) +
           ", dilation=" + std::to_string(dilation) + ", pad=" + std::to_string(pad) +
           ", groups=" + std::to_string(groups) + ")");
  }

  void AddPool() {
    if (Below(3) == 0) {
      for (int64_t& size : size_) size = 2;
      Assign((Below(2) == 0 ? "adaptive_max_pool(" : "adaptive_avg_pool(") + Current() + ", 2)");
      return;
    }
    static constexpr const char* kNames[] = {"max_pool", "avg_pool", "lp_pool"};
    for (int64_t& size : size_) size = (size + 2 - 3) / 2 + 1;
    Assign(std::string(kNames[Below(3)]) + "(" + Current() + ", kernel=3, stride=2, pad=1)");
  }

  void AddCall() {
    const std::string x = Current();
    const int64_t smallest = *std::min_element(size_.begin(), size_.end());
    switch (Below(12)) {
      case 0:
      case 1:
        if (smallest >= 5) return AddConv(3);
        return AddConv(1);
      case 2:
        return AddConv(1);
      case 3:
        if (smallest >= 3) AddPool();
        return;
      case 4: {
        const std::string dims = "[" + std::to_string(channels_) + "]";
        const std::string mean = AddParameter(dims), root = AddParameter(dims);
        std::string weights;
        if (Below(2) == 0) weights += ", " + AddParameter(dims);
        if (!weights.empty() && Below(2) == 0) weights += ", " + AddParameter(dims);
        return Assign("normalize(" + x + ", " + mean + ", " + root + " * " + root + weights +
                      ", eps=0.1)");
      }
      case 5:
        return Assign(x + " * " + PerChannel() + " + " + x);
      case 6:
        return Assign("relu(" + x + " - 0.1)");
      case 7:  // a gate of each channel
        return Assign(x + " * sigmoid(mean(" + x + ", axes=" + SpatialAxes() + ", keep=true))");
      case 8:
        channels_ *= 2;
        return Assign("concat(" + x + ", tanh(" + x + "), axis=1)");
      case 9:
        return Assign("softmax(" + x + ", axis=" + (Below(2) == 0 ? "1" : "-1") + ")");
      case 10:  // requires the original layout
        text_ += "output o" + std::to_string(outputs_++) + " = cumsum(" + x + ", axis=1)\n";
        return;
      default:
        return Assign(x + " * " + AddParameter("[" + std::to_string(size_.back()) + "]"));
    }
  }

  std::mt19937 random_;
  unsigned rank_ = 1, number_ = 0, parameters_ = 0, outputs_ = 0;
  int64_t batch_ = 1, channels_ = 1;
  Sizes size_, x_sizes_;
  std::string text_;
};

std::vector<float> Floats(const Scope& scope, const std::string& name) {
  const Tensor& tensor = *scope.Find(name)->Get<Tensor>();
  return {tensor.data<float>(), tensor.data<float>() + tensor.num_elements()};
}

/// The maximum difference between the outputs of two runs, relative to the largest element of each.
double Distance(const Network& network, const Scope& a, const Scope& b) {
  double most = 0;
  for (const auto& output : network.graph().outputs()) {
    const std::vector<float> left = Floats(a, output.name), right = Floats(b, output.name);
    if (left.size() != right.size()) return 1e9;
    double largest = 1e-6, apart = 0;
    for (size_t i = 0; i < left.size(); ++i) {
      if (!std::isfinite(left[i]) || !std::isfinite(right[i])) return 1e9;
      largest = std::max(largest, std::abs(double(right[i])));
      apart = std::max(apart, std::abs(double(left[i]) - double(right[i])));
    }
    most = std::max(most, apart / largest);
  }
  return most;
}

/// Compares planned runs of the network, with several numbers of threads and with matmuls and
/// convolutions in `precision`, with a run of individual calls in f32.
void ExpectSameNumbers(const std::string& text, const Sizes& x_sizes, double tolerance,
                       DType precision = DType::kF32) {
  const auto reference = MakeNetwork(text);
  NetworkOptions options;
  options.matmul_precision = precision;
  const auto network = MakeNetwork(text, std::move(options));
  ASSERT_TRUE(network) << text;
  Scope plain, observed;
  for (Scope* scope : {&plain, &observed}) Feed(*scope, "x", Noise(x_sizes));
  CPUContext one(1);
  ASSERT_EQ(Message(network->Run(&plain, &one)), "") << text;
  RunOptions as_written;
  as_written.check_finite = true;
  ASSERT_EQ(Message(reference->Run(&observed, &one, as_written)), "") << text;
  EXPECT_LT(Distance(*network, plain, observed), tolerance) << text;
  for (int threads : {2, 3}) {
    Scope again;
    Feed(again, "x", Noise(x_sizes));
    CPUContext context(threads);
    ASSERT_EQ(Message(network->Run(&again, &context)), "") << text;
    for (const auto& output : network->graph().outputs())
      EXPECT_TRUE(Bytes(again, output.name) == Bytes(plain, output.name))
          << output.name << " with " << threads << " threads\n"
          << text;
  }
}

TEST(NetworkChannelsLast, RandomNetworksGiveTheSameNumbers) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomConvNet net(seed);
    ExpectSameNumbers(net.text(), net.x_sizes(), 2e-4);
    if (testing::Test::HasFailure()) return;
  }
}

/// Two convolutions, the second one with one filter per channel.
struct LargeConvolutions {
  Sizes x;
  std::string weight, attributes;

  std::string Text() const {
    std::string dims;
    for (const int64_t size : x) dims += (dims.empty() ? "" : ", ") + std::to_string(size);
    const std::string features = llvm::StringRef(weight).drop_front().split(',').first.str();
    return "input x: f32[" + dims + "]\nparam w: f32" + weight +
           " = he_normal()\ny = relu(conv2d(x, w, " + attributes +
           ") - 0.1)\noutput y\noutput z = conv2d(y, ones([" + features +
           ", 1, 1, 1]), groups=" + features + ")\n";
  }
};

// Large enough for code that small sizes do not reach: runs of rows, blocks of features, Winograd.
const LargeConvolutions kLargeConvolutions[] = {
    {{1, 64, 56, 56}, "[64, 64, 3, 3]", "pad=1"},        // Winograd, runs of rows
    {{9, 32, 15, 13}, "[48, 32, 3, 3]", "pad=1"},        // Winograd, complete images
    {{2, 32, 40, 40}, "[32, 32, 3, 3]", "pad=[0, 2]"},   // Winograd, other padding
    {{1, 32, 16, 16}, "[144, 32, 3, 3]", "pad=1"},       // Winograd, blocks of features
    {{1, 48, 13, 50}, "[80, 48, 3, 3]", "pad=1"},        // Winograd, incomplete tiles and panels
    {{1, 40, 13, 50}, "[56, 40, 3, 3]", "pad=1"},        // with AVX2
    {{5, 32, 12, 12}, "[32, 32, 3, 3]", "pad=2"},        // Winograd, tasks of several images
    {{1, 32, 33, 250}, "[32, 32, 3, 3]", "pad=[4, 9]"},  // Winograd, many tiles in a row
    {{1, 272, 22, 26}, "[48, 272, 3, 3]", "pad=0"},  // Winograd, more channels than a block of sums
    {{1, 512, 7, 7}, "[512, 512, 3, 3]", "pad=1"},   // blocks of features
    {{3, 512, 7, 7}, "[512, 512, 3, 3]", "pad=1, stride=2"},
    {{1, 3, 224, 224}, "[64, 3, 7, 7]", "pad=3, stride=2"},
    {{1, 96, 57, 57}, "[96, 1, 3, 3]", "pad=1, groups=96"},
    {{1, 64, 28, 28}, "[128, 2, 3, 3]", "pad=1, groups=32"},
    {{1, 36, 13, 21}, "[36, 4, 3, 3]", "pad=1, groups=9"},  // groups of four, an odd number
    {{2, 36, 13, 21}, "[36, 4, 3, 3]", "pad=1, groups=9, stride=2"},
    {{1, 48, 13, 17}, "[48, 8, 3, 3]", "pad=1, groups=6"},
    {{1, 48, 13, 17}, "[48, 8, 3, 3]", "pad=[3, 4], groups=6, stride=2"},
    {{1, 64, 14, 14}, "[128, 32, 3, 3]", "pad=1, groups=2"},
    {{2, 37, 9, 12}, "[37, 1, 5, 5]", "pad=2, groups=37"},
    {{1, 37, 19, 23}, "[37, 1, 5, 5]", "pad=2, groups=37, stride=2"},
    {{1, 21, 19, 23}, "[21, 1, 7, 4]", "pad=3, groups=21, dilation=2"},
    {{1, 30, 5, 4}, "[30, 1, 5, 5]", "pad=9, groups=30"},
    {{1, 48, 31, 31}, "[70, 48, 5, 5]", "pad=2"},  // runs of columns
    {{1, 48, 11, 12}, "[275, 48, 5, 5]", "pad=2"},
    {{3, 5, 9, 9}, "[23, 5, 9, 9]", "pad=20"},  // most windows in the padding only
    {{3, 5, 9, 9}, "[263, 5, 9, 9]", "pad=20"},
    {{1, 600, 3, 3}, "[20, 600, 1, 3]", "pad=1"},  // more channels than a block of sums
    {{1, 600, 3, 3}, "[290, 600, 1, 3]", "pad=1"},
    {{2, 40, 30, 30}, "[40, 40, 3, 3]", "pad=\"same\", dilation=3"},
    {{2, 300, 9, 9}, "[290, 300, 3, 3]", "pad=\"same\", dilation=3"},
    {{1, 96, 13, 17}, "[144, 32, 3, 3]", "pad=1, groups=3"},  // groups in panels
    {{1, 8, 64, 5}, "[8, 8, 3, 3]", "pad=[70, 1]"},           // windows in the padding only
    {{1, 8, 64, 5}, "[272, 8, 3, 3]", "pad=[70, 1]"},
};

TEST(NetworkChannelsLast, LargeConvolutions) {
  for (const LargeConvolutions& of : kLargeConvolutions) ExpectSameNumbers(of.Text(), of.x, 2e-5);
}

// The operands are rounded only where the processor multiplies bf16 faster.
TEST(NetworkChannelsLast, ConvolutionsInBf16) {
  if (!CpuHasMatmulPrecision(DType::kBF16)) GTEST_SKIP() << "the processor has no AVX2";
  for (const LargeConvolutions& of : kLargeConvolutions)
    ExpectSameNumbers(of.Text(), of.x, 1e-2, DType::kBF16);
  for (uint32_t seed = 0; seed < 50 && !testing::Test::HasFailure(); ++seed) {
    const RandomConvNet net(seed);
    ExpectSameNumbers(net.text(), net.x_sizes(), 5e-2, DType::kBF16);
  }
}

TEST(NetworkChannelsLast, PointwiseOfManyPositions) {
  ExpectSameNumbers(
      "input x: f32[2, 72, 11, 9]\nparam w: f32[100, 72, 1, 1] = he_normal()\n"
      "param v: f32[5, 100, 3, 3] = he_normal()\ny = relu(conv2d(x, w))\noutput y\n"
      "output z = conv2d(y, v, pad=1)\n",
      {2, 72, 11, 9}, 2e-5);
}

TEST(NetworkChannelsLast, WeightsMayBeTheScopes) {
  for (const char* kernel : {"3, 3", "1, 1"}) {
    const auto network = MakeNetwork(
        std::string("input x: f32[N, 32, 20, 20]\nparam w: f32[32, 32, 3, 3] = he_normal()\n") +
        "param v: f32[16, 32, " + kernel + "] = he_normal()\n" +
        "output y = conv2d(relu(conv2d(x, w, pad=1)), v)\n");
    ASSERT_TRUE(network);
    Scope own, scopes, observed;
    CPUContext cpu(2);
    for (Scope* scope : {&own, &scopes, &observed}) Feed(*scope, "x", Noise({3, 32, 20, 20}));
    ASSERT_EQ(Message(network->Run(&own, &cpu)), "");
    for (Scope* scope : {&scopes, &observed}) Feed(*scope, "w", Noise({32, 32, 3, 3}, 7));
    ASSERT_EQ(Message(network->Run(&scopes, &cpu)), "");
    RunOptions as_written;
    as_written.check_finite = true;
    ASSERT_EQ(Message(network->Run(&observed, &cpu, as_written)), "");
    EXPECT_LT(Distance(*network, scopes, observed), 2e-5);
    EXPECT_GT(Distance(*network, scopes, own), 0.1);
  }
}

TEST(NetworkChannelsLast, WeightsMayBeInputs) {
  for (const char* weight : {"300, 20, 3, 3", "300, 20, 1, 1", "20, 20, 3, 3"}) {
    const auto network =
        MakeNetwork(std::string("input x: f32[2, 20, 9, 9]\ninput w: f32[") + weight +
                    "]\noutput z = conv2d(relu(conv2d(x, w)), "
                    "ones([3, " +
                    llvm::StringRef(weight).split(',').first.str() + ", 1, 1]))\n");
    ASSERT_TRUE(network);
    Sizes sizes;
    llvm::SmallVector<llvm::StringRef, 4> dims;
    llvm::StringRef(weight).split(dims, ", ");
    for (const llvm::StringRef dim : dims) sizes.push_back(std::stoll(dim.str()));
    Scope scope, observed;
    CPUContext cpu(2);
    for (Scope* each : {&scope, &observed}) {
      Feed(*each, "x", Noise({2, 20, 9, 9}));
      Feed(*each, "w", Noise(sizes, 7));
    }
    RunOptions as_written;
    as_written.check_finite = true;
    ASSERT_EQ(Message(network->Run(&scope, &cpu)), "");
    ASSERT_EQ(Message(network->Run(&observed, &cpu, as_written)), "");
    EXPECT_LT(Distance(*network, scope, observed), 2e-5);
  }
}

TEST(NetworkChannelsLast, ChecksOfSizesStay) {
  const auto network = MakeNetwork(
      "input x: f32[N, 3, H, W]\nparam w: f32[4, 3, 5, 5] = he_normal()\n"
      "output y = conv2d(relu(conv2d(x, w)), ones([2, 4, 1, 1]))\n");
  ASSERT_TRUE(network);
  Scope scope;
  CPUContext cpu(1);
  Feed(scope, "x", Noise({1, 3, 4, 9}));
  EXPECT_EQ(Message(network->Run(&scope, &cpu)),
            "m.pdl:3:24: conv2d: the window must fit into the padded size: H = 4 is less than 5 "
            "[PDL0505]");
}

TEST(NetworkChannelsLast, NanStays) {
  const auto network = MakeNetwork(
      "input x: f32[1, 20, 6, 6]\nparam w: f32[20, 1, 3, 3] = ones()\n"
      "c = conv2d(x, w, pad=1, groups=20)\n"
      "output y = max_pool(conv2d(c, w[:, :, :1, :1], groups=20), kernel=2)\n");
  ASSERT_TRUE(network);
  Scope scope;
  CPUContext cpu(1);
  Tensor x = Noise({1, 20, 6, 6});
  x.data<float>()[7 * 36 + 8] = NAN;  // channel 7, index [1, 2]
  Feed(scope, "x", std::move(x));
  ASSERT_EQ(Message(network->Run(&scope, &cpu)), "");
  const std::vector<float> y = Floats(scope, "y");
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t channel = i / 9, row = i / 3 % 3, column = i % 3;
    EXPECT_EQ(std::isnan(y[i]), channel == 7 && row <= 1 && column <= 1) << i;
  }
}

/// Compares a run of fused groups with one of individual calls, to the bit but for the bits of nan.
/// Inputs: `x`, which has a nan, and `bias`, which has nan, infinities and -0.
void ExpectSameBitsFused(const std::string& text, const Sizes& x_sizes, int64_t features) {
  NetworkOptions options;
  const auto fused = MakeNetwork(text, options);
  options.fuse = false;
  const auto plain = MakeNetwork(text, options);
  ASSERT_TRUE(fused && plain) << text;
  Tensor x = Noise(x_sizes), bias = Noise({features}, 3);
  const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f};
  std::copy_n(odd, std::min<int64_t>(features, 4),
              bias.data<float>() + std::max<int64_t>(0, features - 4));
  // Windows of a small image would all contain it.
  if (x.num_elements() > 1000) x.data<float>()[x.num_elements() / 2] = NAN;
  for (const int threads : {1, 3}) {
    Scope one, other;
    for (Scope* scope : {&one, &other}) {
      Feed(*scope, "x", x);
      Feed(*scope, "bias", bias);
    }
    CPUContext context(threads);
    ASSERT_EQ(Message(fused->Run(&one, &context)), "") << text;
    ASSERT_EQ(Message(plain->Run(&other, &context)), "") << text;
    for (const auto& output : fused->graph().outputs()) {
      const auto left = Floats(one, output.name), right = Floats(other, output.name);
      ASSERT_EQ(left.size(), right.size());
      for (size_t i = 0; i < left.size(); ++i)
        ASSERT_TRUE(std::bit_cast<uint32_t>(left[i]) == std::bit_cast<uint32_t>(right[i]) ||
                    (std::isnan(left[i]) && std::isnan(right[i])))
            << output.name << '[' << i << "] = " << left[i] << ", not " << right[i] << '\n'
            << text;
    }
  }
}

/// A convolution `c` of x, and statements that compute y from c, x, and `b` with an element for
/// each channel.
struct ConvolutionCase {
  Sizes x;
  std::string weight;
  int64_t features;
  std::string attributes;

  std::string Text(const std::string& epilogue) const {
    std::string dims, ones = ", 1", three = ", 3";
    for (const int64_t size : x) dims += (dims.empty() ? "" : ", ") + std::to_string(size);
    std::string per_channel = std::to_string(features), depthwise = per_channel + ", 1";
    for (size_t i = 2; i < x.size(); ++i) {
      per_channel += ones;
      depthwise += three;
    }
    const std::string conv = "conv" + std::to_string(x.size() - 2) + "d";
    return "input x: f32[" + dims + "]\ninput bias: f32[" + std::to_string(features) +
           "]\nparam w: f32" + weight + " = he_normal()\nb = reshape(bias, [" + per_channel +
           "])\nc = " + conv + "(x, w, " + attributes + ")\n" + epilogue +
           "\noutput y\noutput z = " + conv + "(y, ones([" + depthwise +
           "]), groups=" + std::to_string(features) + ", pad=1)\n";
  }
};

// Kernels that apply a bias and an activation in registers give the bits of individual calls.
TEST(NetworkChannelsLast, EpiloguesInRegisters) {
  const ConvolutionCase convolutions[] = {
      {{2, 40, 17, 19}, "[40, 40, 1, 1]", 40, "pad=0"},
      {{2, 40, 17, 19}, "[37, 40, 1, 1]", 37, "pad=0"},            // an incomplete panel
      {{2, 40, 17, 19}, "[9, 40, 3, 3]", 9, "dilation=2"},         // several blocks of sums
      {{2, 40, 17, 19}, "[40, 20, 3, 3]", 40, "groups=2, pad=1"},  // groups in panels
      {{2, 40, 17, 19}, "[40, 1, 3, 3]", 40, "groups=40, pad=1"},  // sliding
      {{2, 40, 17, 19}, "[300, 40, 1, 1]", 300, "pad=0"},          // packed rows
      {{2, 10, 9, 12}, "[293, 10, 3, 3]", 293, "dilation=2"},      //
      {{1, 96, 9, 11}, "[144, 32, 3, 3]", 144, "groups=3, pad=1"},
      {{2, 48, 17, 19}, "[48, 48, 3, 3]", 48, "pad=1"},  // Winograd
  };
  for (const ConvolutionCase& conv : convolutions) {
    for (const char* epilogue : {
             "y = relu(c + b)",
             "y = clip(b + c, low=-1.0, high=6.0)",
             "y = clip(c, high=0.5)",
             "y = clip(c, low=1.0, high=-1.0)",
             "y = hard_swish(c + b)",
             "y = hard_swish(c)",
             "y = c + b",
             "y = relu(c + b) * c",              // c is read again
             "output e = c + b\ny = relu(e)",    // an output in between
             "y = relu(c + b) + c[:, :1]",       // the rest is done by tiles
             "y = clip(relu(c + b), high=1.0)",  // two activations
             "y = relu(c + c)",                  //
             "y = relu(c + bias[:1])",           // no element for each channel
             "y = silu(relu(b + c))",            //
             "y = relu(c + b) + b",              // b is read again, too
             "g = mean(c, axes=[0, 2, 3], keep=true)\ny = relu(c + g) * g",
         })
      ExpectSameBitsFused(conv.Text(epilogue), conv.x, conv.features);
  }
}

// The same for the sizes that each kernel treats differently.
TEST(NetworkChannelsLast, EpiloguesOfAllKernels) {
  const ConvolutionCase convolutions[] = {
      {{1, 512, 7, 7}, "[512, 512, 3, 3]", 512, "pad=1"},         // blocks of features
      {{1, 672, 14, 14}, "[112, 672, 1, 1]", 112, "pad=0"},       //
      {{1, 48, 16, 16}, "[144, 48, 3, 3]", 144, "pad=1"},         // Winograd, blocks of features
      {{1, 48, 13, 17}, "[80, 48, 3, 3]", 80, "pad=1"},           // Winograd, an incomplete panel
      {{1, 64, 56, 56}, "[64, 64, 3, 3]", 64, "pad=1"},           // Winograd, runs of rows
      {{2, 36, 13, 21}, "[36, 4, 3, 3]", 36, "pad=1, groups=9"},  // groups of four
      {{1, 48, 13, 17}, "[48, 8, 3, 3]", 48, "pad=[3, 4], groups=6, stride=2"},
      {{2, 37, 9, 12}, "[37, 1, 5, 5]", 37, "pad=2, groups=37"},  // registers overlap
      {{2, 3, 30, 33}, "[10, 3, 7, 7]", 10, "pad=3, stride=2"},   // rows of a window are runs
      {{3, 5, 9, 9}, "[23, 5, 9, 9]", 23, "pad=20"},  // most windows in the padding only
      {{2, 3, 30, 33}, "[300, 3, 7, 7]", 300, "pad=3, stride=2"},
      {{2, 12, 50}, "[20, 12, 5]", 20, "pad=2"},
      {{2, 12, 50}, "[270, 12, 5]", 270, "pad=2"},
      {{1, 12, 5, 6, 7}, "[20, 12, 3, 3, 3]", 20, "pad=1"},
      {{1, 3, 5, 6, 7}, "[20, 3, 3, 3, 3]", 20, "pad=2, stride=2"},
      {{1, 3, 5, 6, 7}, "[272, 3, 3, 3, 3]", 272, "pad=2, stride=2"},
      {{1, 40, 1, 1}, "[40, 40, 3, 3]", 40, "pad=1"},  // x is as large as the bias
  };
  for (const ConvolutionCase& conv : convolutions) {
    for (const char* epilogue :
         {"y = hard_swish(c + b)", "y = relu(c + b) * 2.0 + b", "y = clip(c, low=-0.5, high=0.5)"})
      ExpectSameBitsFused(conv.Text(epilogue), conv.x, conv.features);
  }
  const ConvolutionCase gated{{1, 48, 17, 19}, "[48, 48, 3, 3]", 48, "pad=1"};
  ExpectSameBitsFused(gated.Text("g = mean(x, axes=[2, 3], keep=true)\ny = relu(c + g) * g"),
                      gated.x, 48);
  // The bias is an operand of the convolution, and is read again.
  const ConvolutionCase one{{1, 40, 1, 1}, "[40, 40, 3, 3]", 40, "pad=1"};
  ExpectSameBitsFused(one.Text("y = relu(c + x) + x"), one.x, 40);
}

TEST(NetworkChannelsLast, PaddingTakesNoPart) {
  // An infinite weight over padding adds nothing: the first column of the kernel meets padding in
  // the first column of the result only.
  struct Case {
    int64_t channels, features, groups, size;
  };
  for (const Case& c : {Case{16, 16, 16, 5}, {16, 16, 1, 5}, {16, 272, 1, 5}, {32, 32, 1, 12}}) {
    const auto text = [](int64_t n) { return std::to_string(n); };
    const std::string features = text(c.features), size = text(c.size);
    const auto network =
        MakeNetwork("input x: f32[1, " + text(c.channels) + ", " + size + ", " + size +
                    "]\nparam w: f32[" + features + ", " + text(c.channels / c.groups) +
                    ", 3, 3] = ones()\nparam o: f32[3] = ones()\nv = w / (o - [1.0, 0.0, 0.0])\n" +
                    "y = conv2d(x, v, pad=1, groups=" + text(c.groups) +
                    ")\noutput y\noutput z = conv2d(y, w[:, :1], groups=" + features + ")\n");
    ASSERT_TRUE(network);
    Scope scope;
    CPUContext cpu(1);
    Tensor x = Noise({1, c.channels, c.size, c.size});
    for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] = 1.0f;
    Feed(scope, "x", std::move(x));
    ASSERT_EQ(Message(network->Run(&scope, &cpu)), "");
    const std::vector<float> y = Floats(scope, "y");
    const auto columns = static_cast<size_t>(c.size);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isinf(y[i]), i % columns != 0) << i;
    for (const float each : y) EXPECT_FALSE(std::isnan(each));
  }
}

TEST(NetworkChannelsLast, OneTranspositionEachWay) {
  if (CurrentIsa() == Isa::kBaseline) GTEST_SKIP() << "only where it gains";
  const auto network = MakeNetwork(
      "input x: f32[N, 3, H, W]\ninput c: f32[8]\nparam w: f32[8, 3, 3, 3] = he_normal()\n"
      "param v: f32[8, 8, 1, 1] = he_normal()\n"
      "a = conv2d(x, w, pad=1) |> normalize(c, c * c, c, c) |> relu() |> max_pool(kernel=2)\n"
      "y = conv2d(a, v, c)\noutput y\noutput m = mean(y, axes=[2, 3])\n");
  ASSERT_TRUE(network);
  const std::string plan = PlanOf(*network, {}, {{"N", 2}, {"H", 16}, {"W", 16}});
  const auto count = [&](llvm::StringRef what) { return llvm::StringRef(plan).count(what); };
  EXPECT_EQ(count("= transpose("), 2u) << plan;
  EXPECT_EQ(count("= conv2d.channels_last("), 2u) << plan;
  EXPECT_EQ(count("= max_pool.channels_last("), 1u) << plan;
  EXPECT_EQ(count("axes=[1, 2]"), 1u) << plan;
}

// Inputs and outputs with channels last, as in some frameworks.
TEST(NetworkChannelsLast, NoTranspositionOfWhatIsLastAlready) {
  const std::string text =
      "input x: f32[2, 16, 12, 3]\nparam w: f32[8, 3, 3, 3] = he_normal()\n"
      "param v: f32[8, 8, 1, 1] = he_normal()\n"
      "y = conv2d(conv2d(transpose(x, [0, 3, 1, 2]), w, pad=1) |> relu(), v)"
      " |> transpose([0, 2, 3, -3])\n"
      "output y\noutput z = reshape(y, [2, 16*12*8])\n";
  ExpectSameNumbers(text, {2, 16, 12, 3}, 2e-5);
  if (CurrentIsa() == Isa::kBaseline) GTEST_SKIP() << "only where it gains";
  const std::string plan = PlanOf(*MakeNetwork(text), {});
  EXPECT_EQ(plan.find("= transpose("), std::string::npos) << plan;
}

// matmul needs no other layout, a single convolution converts its operands itself, and a network
// that trains convolutions keeps its layout.
TEST(NetworkChannelsLast, OnlyWhereItGains) {
  const auto products = MakeNetwork(
      "input x: f32[N, 3, 9, 9]\nparam w: f32[3, 3, 1, 1] = he_normal()\n"
      "output y = relu(conv2d(conv2d(x, w), w))\n");
  EXPECT_EQ(PlanOf(*products, {}, {{"N", 2}}).find("channels_last"), std::string::npos);
  const auto one = MakeNetwork(
      "input x: f32[N, 3, 9, 9]\nparam w: f32[4, 3, 3, 3] = he_normal()\n"
      "output y = relu(conv2d(x, w))\n");
  EXPECT_EQ(PlanOf(*one, {}, {{"N", 2}}).find("channels_last"), std::string::npos);
  const auto gradient = MakeNetwork(
      "input x: f32[N, 3, 9, 9]\nparam w: f32[4, 3, 3, 3] = he_normal()\n"
      "y = sum(relu(conv2d(relu(conv2d(x, w)), ones([2, 4, 3, 3]))))\noutput g = grad(y, w)\n");
  EXPECT_EQ(PlanOf(*gradient, {}, {{"N", 2}}).find("channels_last"), std::string::npos);
}

}  // namespace
}  // namespace pdl
