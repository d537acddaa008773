// Unary and binary operators: values, special values, broadcasting, all loops of the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/cc/testing/op_test_util.h"

namespace pdl::testing {
namespace {

constexpr DType kNumberDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                                   DType::kI8,  DType::kI32,  DType::kI64, DType::kU8};

double Tolerance(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF32:
      return 0x1p-22;
    default:
      return 0x1p-50;
  }
}

void ExpectNear(double actual, double expected, double tolerance, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_NEAR(actual, expected, tolerance * std::max(1e-30, std::fabs(expected))) << what;
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Relu(double x) { return x < 0 ? 0 : x; }
double Neg(double x) { return -x; }

double Sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
double Reciprocal(double x) { return 1 / x; }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Gelu(double x) { return x == -kInf ? -0.0 : x / 2 * std::erfc(-x * M_SQRT1_2); }
double Silu(double x) { return x == -kInf ? -0.0 : x / (1 + std::exp(-x)); }
double Softplus(double x) {
  return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))) + 0 * (x != x ? x : 0);
}
double LeakyRelu(double x) { return x < 0 ? 0.01 * x : x; }
double Elu(double x) { return x > 0 ? x : std::expm1(x); }

struct UnaryCase {
  const char* op;
  double (*reference)(double);
};
constexpr UnaryCase kUnary[] = {{"cos", std::cos},
                                {"sin", std::sin},
                                {"exp", std::exp},
                                {"log", std::log},
                                {"sqrt", std::sqrt},
                                {"tanh", std::tanh},
                                {"sigmoid", Sigmoid},
                                {"relu", Relu},
                                {"neg", Neg},
                                {"abs", std::fabs},
                                {"erf", std::erf},
                                {"sign", Sign},
                                {"floor", std::floor},
                                {"ceil", std::ceil},
                                {"round", std::nearbyint},
                                {"reciprocal", Reciprocal},
                                {"rsqrt", Rsqrt},
                                {"gelu", Gelu},
                                {"silu", Silu},
                                {"softplus", Softplus},
                                {"leaky_relu", LeakyRelu},
                                {"elu", Elu}};

TEST(UnaryOps, AgreeWithTheReferenceOnEveryFloat) {
  const std::vector<double> x = {0.0,  -0.0, 0.5,  -0.5,  1.0,  -1.0,  2.75, -3.5, 10.0,
                                 -9.0, 60.0, kInf, -kInf, kNan, 0.125, 7.0,  -30.0};
  for (const UnaryCase& c : kUnary) {
    for (const DType dtype : kFloatDTypes) {
      const Tensor in = MakeAs(dtype, {static_cast<int64_t>(x.size())}, x);
      const std::vector<double> y = Values(Apply(c.op, {in}));
      for (size_t i = 0; i < x.size(); ++i) {
        double expected = c.reference(x[i]);
        if (dtype == DType::kF16 && std::fabs(expected) >= 65520) {
          expected = std::copysign(kInf, expected);
        }
        if (dtype == DType::kF16 && std::fabs(expected) < 0x1p-14) continue;
        ExpectNear(
            y[i], expected, Tolerance(dtype),
            std::string(c.op) + "(" + std::to_string(x[i]) + ") as " + DTypeName(dtype).str());
        if (expected == 0) {
          EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << c.op;
        }
      }
    }
  }
}

TEST(UnaryOps, TakeAttributes) {
  const Tensor x = Make<float>({4}, {-3, -0.5f, 0.5f, 3});
  const auto expect = [&](const char* op, const Attributes& attributes,
                          const std::vector<double>& expected) {
    const std::vector<double> y = Values(Apply(op, {x}, attributes));
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << op;
  };
  expect("leaky_relu", {{"alpha", 0.2}}, {-0.6, -0.1, 0.5, 3});
  expect("elu", {{"alpha", 2.0}}, {2 * std::expm1(-3), 2 * std::expm1(-0.5), 0.5, 3});
  expect("gelu", {{"approximate", true}}, {-0.00363739, -0.15428599, 0.345714, 2.9963627});
  expect("gelu", {}, {-0.00404969, -0.15426877, 0.34573123, 2.9959507});
  expect("clip", {{"low", -1.0}, {"high", 0.25}}, {-1, -0.5, 0.25, 0.25});
  expect("clip", {{"low", 0.0}}, {0, 0, 0.5, 3});
  expect("clip", {}, {-3, -0.5, 0.5, 3});
  EXPECT_EQ(Values(Apply("clip", {Make<int8_t>({4}, {-128, -2, 2, 127})},
                         {{"low", -1.5}, {"high", 1e9}})),
            (std::vector<double>{-1, -1, 2, 127}));
  EXPECT_TRUE(std::isnan(Values(Apply("clip", {Make<float>({1}, {NAN})}, {{"low", 0.0}}))[0]));
  expect("clip", {{"low", 1.0}, {"high", -1.0}}, {-1, -1, -1, -1});
  EXPECT_EQ(InferText("clip", {Type(DType::kF32, {3})}, {{"low", kNan}}).substr(0, 10),
            "203 at low");
}

TEST(UnaryOps, Predicates) {
  for (const DType dtype : kFloatDTypes) {
    const Tensor x = MakeAs(dtype, {5}, {0, kNan, kInf, -kInf, 1});
    EXPECT_EQ(Values(Apply("isnan", {x})), (std::vector<double>{0, 1, 0, 0, 0}));
    EXPECT_EQ(Values(Apply("isinf", {x})), (std::vector<double>{0, 0, 1, 1, 0}));
  }
  EXPECT_EQ(Apply("isnan", {MakeAs(DType::kF32, {0, 3}, {})}).TypeString(), "bool[0, 3]");
  EXPECT_EQ(InferText("isinf", {Type(DType::kI64, {3})}),
            "302 at 0: 'x' must be f16, bf16, f32 or f64, got i64[3]");
}

// --- add_n, where -------------------------------------------------------------------------------

TEST(AddN, AddsFromLeftToRight) {
  for (const DType dtype : kNumberDTypes) {
    const Tensor x = MakeAs(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor row = MakeAs(dtype, {3}, {10, 20, 30});
    const Tensor column = MakeAs(dtype, {2, 1}, {1, 2});
    const Tensor one = MakeAs(dtype, {}, {5});
    const std::vector<double> plain = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(Values(Apply("add_n", {x})), plain);
    EXPECT_EQ(Values(Apply("add_n", {x, row})), (std::vector<double>{11, 22, 33, 14, 25, 36}));
    EXPECT_EQ(Values(Apply("add_n", {row, column, x})),
              (std::vector<double>{12, 23, 34, 16, 27, 38}));
    for (const bool in_place : {false, true}) {
      EXPECT_EQ(Values(Apply("add_n", {x, row, column, one, x}, {}, {.in_place = in_place})),
                (std::vector<double>{18, 30, 42, 25, 37, 49}));
      EXPECT_EQ(Values(Apply("add_n", {x, x, x}, {}, {.in_place = in_place})),
                (std::vector<double>{3, 6, 9, 12, 15, 18}));
    }
  }
  EXPECT_EQ(Apply("add_n", {MakeAs(DType::kF32, {0, 3}, {}), MakeAs(DType::kF32, {3}, {1, 2, 3})})
                .num_elements(),
            0);
  const Dim n = Dim::Symbol("N");
  EXPECT_EQ(InferText("add_n", {Type(DType::kF32, {n, 3})}), "f32[N, 3]");
  EXPECT_EQ(InferText("add_n", {Type(DType::kF32, {n, 3}), Type(DType::kF32, {3}),
                                Type(DType::kF32, {n, 4})}),
            "304 at 0, 2: sizes do not broadcast: 3 and 4");
  EXPECT_EQ(InferText("add_n", {}).substr(0, 3), "205");
}

TEST(AddN, EveryLengthAndThreadsAgree) {
  for (const int64_t n : {1, 17, 1000, 100003}) {
    const Tensor x = MakeAs(DType::kF16, {n}, Noise(n)), y = MakeAs(DType::kF16, {n}, Noise(n, 2));
    const Tensor z = MakeAs(DType::kF16, {n}, Noise(n, 3));
    const Tensor sum = Apply("add", {Apply("add", {x, y}), z});
    for (const int threads : {1, 3}) {
      EXPECT_EQ(Values(Apply("add_n", {x, y, z}, {}, {.threads = threads})), Values(sum));
    }
  }
}

TEST(Where, ChoosesAndBroadcasts) {
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64, DType::kI8, DType::kI64}) {
    const Tensor condition = Make<bool>({2, 3}, {true, false, true, false, false, true});
    const Tensor x = MakeAs(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor row = MakeAs(dtype, {3}, {10, 20, 30});
    const Tensor zero = MakeAs(dtype, {}, {0});
    EXPECT_EQ(Values(Apply("where", {condition, x, zero})),
              (std::vector<double>{1, 0, 3, 0, 0, 6}));
    EXPECT_EQ(Values(Apply("where", {condition, zero, x})),
              (std::vector<double>{0, 2, 0, 4, 5, 0}));
    EXPECT_EQ(Values(Apply("where", {condition, row, x}, {}, {.in_place = true})),
              (std::vector<double>{10, 2, 30, 4, 5, 30}));
    EXPECT_EQ(Values(Apply("where", {Make<bool>({}, {true}), x, row})),
              (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(Values(Apply("where", {Make<bool>({2, 1}, {true, false}), row, zero})),
              (std::vector<double>{10, 20, 30, 0, 0, 0}));
  }
  EXPECT_EQ(Apply("where", {MakeAs(DType::kBool, {0}, {}), MakeAs(DType::kF32, {}, {1}),
                            MakeAs(DType::kF32, {0}, {})})
                .TypeString(),
            "f32[0]");
  const int64_t n = 100003;
  const Tensor noise = MakeAs(DType::kF32, {n}, Noise(n));
  const Tensor positive = Apply("greater", {noise, MakeAs(DType::kF32, {}, {0})});
  EXPECT_EQ(
      Values(Apply("where", {positive, noise, MakeAs(DType::kF32, {}, {0})}, {}, {.threads = 3})),
      Values(Apply("relu", {noise})));
}

TEST(Where, Infers) {
  const Dim n = Dim::Symbol("N");
  const Type condition(DType::kBool, {n, 1}), x(DType::kF32, {3}), y(DType::kF32, {});
  EXPECT_EQ(InferText("where", {condition, x, y}), "f32[N, 3]");
  EXPECT_EQ(InferText("where", {x, x, y}), "302 at 0: 'condition' must be bool, got f32[3]");
  EXPECT_EQ(InferText("where", {condition, x, Type(DType::kF64, {})}),
            "303 at 1, 2: dtypes differ: f32 and f64");
  EXPECT_EQ(InferText("where", {condition, x, Type(DType::kF32, {4})}),
            "304 at 1, 2: sizes do not broadcast: 3 and 4");
  EXPECT_EQ(InferText("where", {Type(DType::kBool, {4}), x, y}),
            "304 at 1, 0: sizes do not broadcast: 3 and 4");
}

TEST(UnaryOps, EveryLengthThreadsAndInPlaceAgree) {
  for (const int64_t n : {0, 1, 15, 16, 17, 1023, 32768, 100003}) {
    const Tensor x = MakeAs(DType::kF32, {n}, Noise(n));
    const std::vector<double> expected = Values(Apply("tanh", {x}));
    for (const int threads : {2, 3, 8}) {
      EXPECT_EQ(Values(Apply("tanh", {x}, {}, {.threads = threads, .in_place = threads == 3})),
                expected);
    }
    for (int64_t i = 0; i < n; i += 97) {
      EXPECT_NEAR(expected[i], std::tanh(Values(x)[i]), 1e-6);
    }
  }
}

TEST(UnaryOps, Reject) {
  EXPECT_EQ(InferText("cos", {Type(DType::kI32, {3})}),
            "302 at 0: 'x' must be f16, bf16, f32 or f64, got i32[3]");
  EXPECT_EQ(InferText("cos", {Type(DType::kF32, {3})}, {{"scale", -5.0}}),
            "203 at scale: attribute 'scale' of 'cos' must be larger than 0, got -5.0");
  EXPECT_EQ(InferText("cos", {Type(DType::kF32, {3})}, {{"scale", kNan}}).substr(0, 12),
            "203 at scale");
  EXPECT_EQ(InferText("exp", {}).substr(0, 3), "205");
  EXPECT_EQ(InferText("exp", {Type(DType::kF32, {Dim::Symbol("N"), 3})}), "f32[N, 3]");
}

// --- Binary -------------------------------------------------------------------------------------

struct BinaryCase {
  const char* op;
  double (*reference)(double, double);
};
double Add(double x, double y) { return x + y; }
double Sub(double x, double y) { return x - y; }
double Mul(double x, double y) { return x * y; }
double Div(double x, double y) { return x / y; }
double Max(double x, double y) { return std::isnan(x) || x > y ? x : y; }
double Min(double x, double y) { return std::isnan(x) || x < y ? x : y; }
constexpr BinaryCase kBinary[] = {{"add", Add},     {"sub", Sub},     {"mul", Mul},
                                  {"div", Div},     {"maximum", Max}, {"minimum", Min},
                                  {"pow", std::pow}};

TEST(BinaryOps, AgreeWithTheReferenceOnEveryFloat) {
  const std::vector<double> values = {0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.5, 3.0, kInf, -kInf, kNan};
  std::vector<double> x, y;
  for (const double a : values) {
    for (const double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const int64_t n = static_cast<int64_t>(x.size());
  for (const BinaryCase& c : kBinary) {
    for (const DType dtype : kFloatDTypes) {
      const std::vector<double> z =
          Values(Apply(c.op, {MakeAs(dtype, {n}, x), MakeAs(dtype, {n}, y)}));
      for (size_t i = 0; i < x.size(); ++i) {
        ExpectNear(z[i], c.reference(x[i], y[i]), Tolerance(dtype),
                   std::to_string(x[i]) + " " + c.op + " " + std::to_string(y[i]) + " as " +
                       DTypeName(dtype).str());
      }
    }
  }
}

// The value at `index` of a tensor broadcast to `sizes`.
int64_t BroadcastIndex(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> sizes, int64_t index) {
  int64_t offset = 0, stride = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = sizes[sizes.size() - 1 - d];
    const int64_t at = index % size;
    index /= size;
    if (d >= from.size()) continue;
    const int64_t mine = from[from.size() - 1 - d];
    if (mine != 1) offset += at * stride;
    stride *= mine;
  }
  return offset;
}

TEST(BinaryOps, BroadcastEveryWay) {
  const std::vector<std::pair<Sizes, Sizes>> cases = {
      {{}, {}},
      {{5}, {}},
      {{}, {5}},
      {{3, 4}, {4}},
      {{3, 40}, {40}},
      {{3, 40}, {3, 1}},
      {{3, 1}, {3, 40}},
      {{3, 1}, {1, 4}},
      {{1, 40}, {30, 1}},
      {{2, 3, 4, 5}, {3, 1, 5}},
      {{2, 1, 4, 1, 6}, {3, 1, 5, 6}},
      {{1, 1, 1}, {2, 1, 3}},
      {{0, 3}, {1, 3}},
      {{4, 0}, {4, 1}},
      {{70000}, {1}},
      {{1}, {70000}},
      {{2, 70000}, {2, 1}},
      {{2, 70000}, {70000}},
      {{300, 300}, {300, 1}},
      {{30000, 3}, {3}},
      {{30000, 3}, {30000, 1}},
      {{7, 1, 9, 1, 2, 1}, {1, 8, 1, 2, 1, 3}},
  };
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kF64, DType::kU8, DType::kI64}) {
    for (const auto& [left, right] : cases) {
      Tensor x = MakeAs(dtype, left, {}), y = MakeAs(dtype, right, {});
      std::vector<double> xs, ys;
      for (int64_t i = 0; i < x.num_elements(); ++i) xs.push_back(static_cast<double>(i % 101));
      for (int64_t i = 0; i < y.num_elements(); ++i) ys.push_back(static_cast<double>(i % 53));
      x = MakeAs(dtype, left, xs);
      y = MakeAs(dtype, right, ys);
      const Tensor z = Apply("sub", {x, y}, {}, {.in_place = true});
      ASSERT_EQ(Values(Apply("sub", {x, y}, {}, {.threads = 3})), Values(z));
      const std::vector<double> zs = Values(z);
      for (int64_t i = 0; i < z.num_elements(); ++i) {
        double expected =
            xs[BroadcastIndex(left, z.sizes(), i)] - ys[BroadcastIndex(right, z.sizes(), i)];
        if (dtype == DType::kU8 && expected < 0) expected += 256;
        ASSERT_EQ(zs[i], expected) << TensorTypeToString(dtype, left) << " - "
                                   << TensorTypeToString(dtype, right) << " at " << i;
      }
    }
  }
}

TEST(BinaryOps, LargerThanTheCache) {
  // Results larger than the last-level cache are written with non-temporal stores.
  const int64_t n = (int64_t{1} << 25) + 1001;
  const Tensor x = Apply("broadcast_to", {Make<int8_t>({1}, {3})}, {{"dims", Shape{Dim(n)}}});
  const Tensor y = Apply("cast", {x}, {{"to", DType::kI64}}, {.threads = 2});
  bool all = true;
  for (int64_t i = 0; i < n; ++i) all &= y.data<int64_t>()[i] == 3;
  EXPECT_TRUE(all);
}

TEST(BinaryOps, InferSymbols) {
  const Dim n = Dim::Symbol("N"), m = Dim::Symbol("M");
  const auto f32 = [](llvm::ArrayRef<Dim> dims) { return Type(DType::kF32, dims); };
  EXPECT_EQ(InferText("add", {f32({n, 3}), f32({3})}), "f32[N, 3]");
  EXPECT_EQ(InferText("add", {f32({n, 1}), f32({n, m})}), "f32[N, M]");
  EXPECT_EQ(InferText("add", {f32({n}), f32({m})}), "f32[N] if N == M");
  EXPECT_EQ(InferText("less", {f32({n, 3}), f32({})}), "bool[N, 3]");
  EXPECT_EQ(InferText("add", {f32({2, 3}), f32({2})}),
            "304 at 0, 1: sizes do not broadcast: 3 and 2");
  EXPECT_EQ(InferText("add", {f32({2}), Type(DType::kF64, {2})}),
            "303 at 0, 1: dtypes differ: f32 and f64");
  EXPECT_EQ(InferText("div", {Type(DType::kI64, {2}), Type(DType::kI64, {2})}),
            "302 at 0: 'x' must be f16, bf16, f32 or f64, got i64[2]");
  EXPECT_EQ(InferText("logical_and", {f32({2}), f32({2})}),
            "302 at 0: 'x' must be bool, got f32[2]");
}

}  // namespace
}  // namespace pdl::testing
