// Graphs of correct source.
#include <gtest/gtest.h>

#include <random>

#include "test/cc/testing/elaborate_testing.h"

namespace pdl {
namespace {

std::string Flat(std::string text) {
  Compiled compiled(text);
  const std::string flat = compiled.Flat();
  if (compiled.result.graph) {
    // The emitted source makes the same graph.
    EXPECT_EQ(Compiled(flat).Flat(), flat) << text;
  }
  return flat;
}

TEST(ElaborateTest, NamesOfValues) {
  EXPECT_EQ(Flat("input x: f32[N]\n"
                 "y = 2 * cos(x) + 1\n"
                 "y = cos(y, scale=5.0)\n"
                 "y_cos_2 = sin(x)\n"
                 "z = cos(cos(cos(x)))\n"
                 "y = y\n"
                 "cos(x)\n"
                 "output y, w = y - z, y_cos_2\n"),
            R"(input x: f32[N]
y_cos = cos(x)
y_c = constant(2.0)
y_mul = mul(y_c, y_cos)
y_c_2 = constant(1.0)
y = add(y_mul, y_c_2)
y_2 = cos(y, scale=5.0)
y_cos_2 = sin(x)
z_cos = cos(x)
z_cos_2 = cos(z_cos)
z = cos(z_cos_2)
cos = cos(x)
w = sub(y_2, z)
output y = y_2
output w
output y_cos_2
)");
}

TEST(ElaborateTest, LiteralsTakeTheDTypeBesideThem) {
  EXPECT_EQ(Flat("input x: f64[N]\ninput i: i8[N]\n"
                 "a = x + 1\nb = 0.1 * x\nc = i + 127\nd = x + [1, 2.5]\ne = cos(2)\nf = abs(2)\n"
                 "g = abs(-2.5)\nh: i32[2, 2] = [[1, 2], [3, 4]]\nj = 2 * 3 + 1\nk = j * x\n"
                 "l = add([true, false], true)\nm = 0.1 * cos(0.5)\n"),
            R"(input x: f64[N]
input i: i8[N]
a_c = constant(1.0, dtype=f64)
a = add(x, a_c)
b_c = constant(0.1, dtype=f64)
b = mul(b_c, x)
c_c = constant(127, dtype=i8)
c = add(i, c_c)
d_c = constant([1.0, 2.5], dtype=f64)
d = add(x, d_c)
e_c = constant(2.0)
e = cos(e_c)
f_c = constant(2, dtype=i64)
f = abs(f_c)
g_c = constant(-2.5)
g = abs(g_c)
h = constant([[1, 2], [3, 4]], dtype=i32)
k_c = constant(7.0, dtype=f64)
k = mul(k_c, x)
l_c = constant([true, false], dtype=bool)
l_c_2 = constant(true, dtype=bool)
l = add(l_c, l_c_2)
m_c = constant(0.5)
m_cos = cos(m_c)
m_c_2 = constant(0.1)
m = mul(m_c_2, m_cos)
)");
}

TEST(ElaborateTest, SymbolsAmongTensorsAreScalars) {
  EXPECT_EQ(Flat("input x: f32[N, T]\na = x / (N * T)\nb = cos(N)\noutput n = N\n"),
            R"(input x: f32[N, T]
a_size = size([N*T], dtype=f32)
a = div(x, a_size)
b_size = size([N], dtype=f32)
b = cos(b_size)
n = size([N])
output n
)");
}

TEST(ElaborateTest, CallsAndPipes) {
  EXPECT_EQ(Flat("input x: f32[N, 4]\ninput y: f32[N, 4]\n"
                 "a = blend(y=x, x=y, mode=\"sum\")\n"
                 "b = x |> blend(y) |> cos(scale=2)\n"
                 "c = concat(x, y, a, axis=1)\n"
                 "d = concat([x, y]..., axis=-1)\n"
                 "e = reshape(x, [N * 4])\n"
                 "f = x |> reshape([4, N])\n"
                 "mean, var = moments(x)\n"
                 "_, v = moments(x)\n"
                 "u = moments(x).variance\n"
                 "w = cast(x, to=f64)\n"
                 "s = zeros([2, 3], dtype=i64)\n"
                 "t = blend(x, y, weights=[1, 2.5], axes=[0])\n"),
            R"(input x: f32[N, 4]
input y: f32[N, 4]
a = blend(y, x, mode="sum")
b_blend = blend(x, y)
b = cos(b_blend, scale=2.0)
c = concat(x, y, a, axis=1)
d = concat(x, y, axis=-1)
e = reshape(x, [4*N])
f = reshape(x, [4, N])
mean, var = moments(x)
v_mean, v = moments(x)
u_mean, u = moments(x)
w = cast(x, to=f64)
s = zeros([2, 3], dtype=i64)
t = blend(x, y, weights=[1.0, 2.5], axes=[0])
)");
}

TEST(ElaborateTest, Subscripts) {
  EXPECT_EQ(Flat("input x: f32[N, 10, T, 3]\n"
                 "a = x[:, 0:5]\nb = x[0]\nc = x[..., -1]\nd = x[:, none, ..., 1:]\n"
                 "e = x[:, ::3]\nf = x[:, :]\ng = x[:, 2:-1, :T]\nh = [3, 4, 5][-1]\n"
                 "i = x[:, h]\n"),
            R"(input x: f32[N, 10, T, 3]
a = slice(x, axes=[1], starts=[0], stops=[5], steps=[1])
b_slice = slice(x, axes=[0], starts=[0], stops=[1], steps=[1])
b = reshape(b_slice, [10, T, 3])
c_slice = slice(x, axes=[3], starts=[2], stops=[3], steps=[1])
c = reshape(c_slice, [N, 10, T])
d_slice = slice(x, axes=[3], starts=[1], stops=[3], steps=[1])
d = reshape(d_slice, [N, 1, 10, T, 2])
e = slice(x, axes=[1], starts=[0], stops=[10], steps=[3])
g = slice(x, axes=[1], starts=[2], stops=[9], steps=[1])
i_slice = slice(x, axes=[1], starts=[5], stops=[6], steps=[1])
i = reshape(i_slice, [N, T, 3])
)");
  EXPECT_EQ(Compiled("input x: f32[N, 10]\na = x[1:, ::4]\n").TypeOf("a"), "f32[N - 1, 3]");
}

TEST(ElaborateTest, DeclarationsKeepTheirComments) {
  EXPECT_EQ(Flat("## Pixels,\n##\n## row by row.\ninput x: f32[N, 4] where N >= 2, N in 0..=100 "
                 "and N % 4 == 0\n"
                 "input i: i64[N] in 0..10  ## labels\n"
                 "param w: f32[4, 2] = normal(std=0.5) with {weight_decay=1e-4, trainable=false}\n"
                 "state s: f64[N] = zeros()\n"
                 "h: f32[N, 2] = x @ w\n"
                 "update s = s + 1\n"
                 "## Twice.\nt = s * 2\n"
                 "update s = 0 * s\n"
                 "assert N != 8, \"not eight\"\n"
                 "assert 1 < 2\n"
                 "## The result.\noutput h\n"),
            R"(## Pixels,
##
## row by row.
input x: f32[N, 4]
## labels
input i: i64[N] in 0..10
param w: f32[4, 2] = normal(std=0.5) with {weight_decay=1e-04, trainable=false}
state s: f64[N] = zeros()
h = matmul(x, w)
s_c = constant(1.0, dtype=f64)
s_2 = add(s, s_c)
t_c = constant(2.0, dtype=f64)
## Twice.
t = mul(s_2, t_c)
s_c_2 = constant(0.0, dtype=f64)
s_3 = mul(s_c_2, s_2)
assert N >= 2
assert 100 >= N
assert N % 4 == 0
assert N != 8, "not eight"
update s = s_3
## The result.
output h
)");
}

TEST(ElaborateTest, AttributesAndSettings) {
  const std::string text =
      "attr width: int > 0 = 2 * 3 + 1\nattr rate: float in 0..1 = 0.5\nattr mode: string = "
      "\"sum\"\n"
      "attr sizes: [int] = [1, 2]\nattr last: int? = none\nattr on: bool = true\n"
      "input x: f32[N, width]\ny = reshape(x, [N, width // 1])\nz = cos(y, scale=rate + "
      "len(sizes))\n"
      "w = blend(z, z, mode=mode)\nv = ones([sizes[0], dims(x)[1] ** 2], dtype=dtype(x))\n";
  EXPECT_EQ(Compiled(text).Flat(),
            R"(input x: f32[N, 7]
y = reshape(x, [N, 7])
z = cos(y, scale=2.5)
w = blend(z, z, mode="sum")
v = ones([1, 49])
)");
  EXPECT_EQ(
      Compiled(text, {{"width", "3"}, {"sizes", "[5]"}, {"mode", "mean"}, {"rate", "1e-2"}}).Flat(),
      R"(input x: f32[N, 3]
y = reshape(x, [N, 3])
z = cos(y, scale=1.01)
w = blend(z, z)
v = ones([5, 9])
)");
  EXPECT_EQ(
      Compiled(text, {{"width", "-3"}, {"widht", "1"}, {"rate", "\"a\""}, {"on", "1 +"}})
          .Messages(),
      R"(--set:1:7: error: attribute 'width' of 't.pdl' must be larger than 0, got -3 [PDL0203]
 1 | width=-3
   |       ^~
--set:1:6: error: attribute 'rate' of 't.pdl' must be a float, got the string "a" [PDL0204]
 1 | rate="a"
   |      ^~~
--set:1:7: error: unexpected end of the line, expected an expression [PDL0001]
 1 | on=1 +
   |       ^
error: --set widht: the network has no attr 'widht'; did you mean 'width'? [PDL0208]
)");
}

TEST(ElaborateTest, WeightsAreChecked) {
  const WeightListing listing{{{"w", "a.safetensors", DType::kF32, {4, 2}}}, false};
  WeightOpener open = [&](llvm::StringRef file) -> llvm::Expected<const WeightListing*> {
    if (file == "../w") return MakeUserError(Code::kPathEscapes, "'../w' leaves the folder");
    return &listing;
  };
  Compiled good("param w: f32[4, 2] = load(\"a.safetensors\", \"w\")\noutput w\n", {}, open);
  EXPECT_EQ(good.Flat(), "param w: f32[4, 2] = load(\"a.safetensors\", \"w\")\noutput w\n");
  EXPECT_EQ(Compiled("param a: f32[4, 2] = load(\"../w\", \"w\")\n"
                     "param b: f32[4, 3] = load(\"w\", \"w\")\n"
                     "param c: f32[4, 2] = load(\"w\", \"none\")\n",
                     {}, open)
                .Messages(),
            R"(t.pdl:1:27: error: '../w' leaves the folder [PDL0403]
 1 | param a: f32[4, 2] = load("../w", "w")
   |                           ^~~~~~
t.pdl:2:32: error: 'w' in "w" is f32[4, 2], declared f32[4, 3] [PDL0404]
 2 | param b: f32[4, 3] = load("w", "w")
   |                                ^~~
t.pdl:3:32: error: "w" has no tensor 'none' [PDL0404]
 3 | param c: f32[4, 2] = load("w", "none")
   |                                ^~~~~~
)");
}

TEST(ElaborateTest, EveryBitOfANumberComesBack) {
  for (const char* dtype : {"f32", "f64", "f16", "bf16"}) {
    std::string text = std::string("c: ") + dtype +
                       "[8] = [0.1, 1e-30, 16777217.0, -0.0, inf, -inf, 3.4028, nan]\n";
    if (std::string(dtype) == "f16") text = "c: f16[3] = [0.1, 65504.0, 6e-8]\n";
    const Compiled first(text);
    ASSERT_TRUE(first.result.graph) << first.Messages();
    const Compiled second(first.Flat());
    ASSERT_TRUE(second.result.graph) << second.Messages();
    EXPECT_TRUE(first.result.graph->ops()[0]->attributes().Tensor("value") ==
                second.result.graph->ops()[0]->attributes().Tensor("value"))
        << first.Flat();
  }
}

// Numbers close to a tie of f16 and bf16, which is their nearest f32.
TEST(ElaborateTest, LiteralsAreRoundedOnce) {
  using Numbers = std::vector<double>;
  const auto elements = [](const char* dtype, const char* literal) {
    const Compiled compiled(std::string("c = constant(") + literal + ", dtype=" + dtype + ")\n");
    Numbers found;
    if (!compiled.result.graph) return found;
    const Constant& value = compiled.result.graph->ops()[0]->attributes().Tensor("value");
    for (int64_t i = 0; i < value.num_elements(); ++i) found.push_back(value.ElementAsDouble(i));
    return found;
  };
  EXPECT_EQ(elements("f16", "[1.00048828126, 1.00048828125, 65519.9999999, -2.98023223877e-8]"),
            (Numbers{1 + 0x1p-10, 1, 65504, -0x1p-24}));
  EXPECT_EQ(elements("bf16", "[1.00390625001, 1.00390625, 3.3961775e+38]"),
            (Numbers{1 + 0x1p-7, 1, 0x1.fep127}));
  EXPECT_EQ(elements("f16", "[65520.0]"), Numbers());
  EXPECT_EQ(elements("bf16", "[3.39617752923046e+38]"), Numbers());
  EXPECT_EQ(elements("f16", "[65519, -65519]"), (Numbers{65504, -65504}));
  EXPECT_EQ(elements("f16", "[-65520]"), Numbers());
}

TEST(ElaborateTest, TextsComeBack) {
  EXPECT_EQ(Flat("param w: f32[] = load(\"a\\\\b\\\"\", \"\\u{e9}\")\n"),
            "param w: f32[] = load(\"a\\\\b\\\"\", \"\xC3\xA9\")\n");
  const char* text = "input x: f32[N]\nassert N >= 2, \"a\\n\\t\\u{1}\\\\\"\noutput y = x\n";
  EXPECT_EQ(Flat(text), text);
}

// The literals of an initializer have the dtype of the variable, not their own.
TEST(ElaborateTest, InitializersOfAnotherDType) {
  const char* const kText =
      "param w: f64[2] = constant([1e+300, 0.1])\n"
      "state s: f64[1] = constant([-1e+300])\n"
      "output w\noutput s\n";
  EXPECT_EQ(Flat(kText), kText);
  const char* const kLayer =
      "layer scaled(x: f64[N], init: function = ones()) {\n"
      "  param w: f64[1] = init()\n"
      "  return x * w\n"
      "}\n"
      "input x: f64[N]\n"
      "output y = scaled(x, init=constant([1e300]))\n";
  EXPECT_EQ(Flat(kLayer),
            "input x: f64[N]\n"
            "param y.w: f64[1] = constant([1e+300])\n"
            "y = mul(x, y.w)\n"
            "output y\n");
}

TEST(ElaborateTest, DeepNesting) {
  std::string calls = "x", lists = "1", powers = "2";
  for (int i = 0; i < 250; ++i) calls = "cos(" + calls + ")";
  for (int i = 0; i < 250; ++i) lists = "[" + lists + "]";
  for (int i = 0; i < 120; ++i) powers = "-(" + powers + ")";
  EXPECT_EQ(Compiled("input x: f32[N]\ny = " + calls + "\n").result.graph->ops().size(), 250u);
  EXPECT_EQ(Compiled("input x: f32[N]\ny = " + lists + "\nz = " + powers + "\noutput z\n").Flat(),
            "input x: f32[N]\nz = constant(2, dtype=i64)\noutput z\n");
}

TEST(ElaborateTest, LocationsOfCalls) {
  Compiled compiled("input x: f32[N]\n  y = \n");
  Compiled good("# \xC3\xA9\ninput x: f32[N]\ny = cos(x) + x\n  |> sin()\n");
  ASSERT_TRUE(good.result.graph) << good.Messages();
  std::vector<std::string> places;
  for (const Op* op : good.result.graph->ops()) {
    places.push_back(op->type() + " " + good.result.graph->LocationToString(op->location()));
  }
  EXPECT_EQ(places, (std::vector<std::string>{"cos t.pdl:3:5", "add t.pdl:3:12", "sin t.pdl:4:6"}));
  EXPECT_EQ(good.result.last_value, "y");
}

TEST(ElaborateTest, LongSumsAndPipes) {
  std::string sum = "input x: f32[N]\ny = x", pipe = "input x: f32[N]\ny = x", mixed = "y = 1";
  for (int i = 0; i < 100'000; ++i) {
    sum += " + x";
    pipe += " |> cos()";
    mixed += " + 1";
  }
  EXPECT_EQ(Compiled(sum).result.graph->ops().size(), 100'000u);
  EXPECT_EQ(Compiled(pipe).result.graph->ops().size(), 100'000u);
  EXPECT_EQ(Compiled(mixed + "\noutput y\n").Flat(), "y = constant(100001, dtype=i64)\noutput y\n");
}

// The emitted source of every program that compiles makes the same graph; all others are rejected
// with a message.
TEST(ElaborateTest, RandomDamage) {
  const std::string seeds[] = {
      "attr n: int > 0 = 3\ninput x: f32[N, 4] where N >= 2\ninput i: i64[N] in 0..10\n"
      "param w: f32[4, n] = normal(std=0.5) with {weight_decay=1e-4}\nstate s: f64[] = zeros()\n"
      "h: f32[N, 3] = x @ w\nupdate s = s + 1\ny = 2 * cos(h, scale=2.5)[0, 1:] ** 2\noutput y\n",
      "input x: f32[N, 4]\na, b = moments(x)\n_, v = moments(x)\nz = x |> cos() |> reshape([N * "
      "4])\n"
      "c = concat(x, -x, [x]..., axis=-1)\nd = blend(c, 1, mode=\"sum\", weights=[1, 0.5])\n"
      "assert N % 2 == 0, \"even\"\nl = [[1, 2], [3, 4.5]]\ne = l + x[:2, :2]\noutput e, f = d\n"};
  const llvm::StringRef snippets[] = {
      "(",  ")",  "[",   "]",  "\"", "\n",   "|>",   ",",        "=",    "N",
      "x",  "1",  "0",   "-1", ".",  "f32",  "none", " in 0..3", "cos(", "9223372036854775807",
      "**", "//", "...", "y",  "_",  "true", "{",    "nan",      "inf",  "1e308"};
  std::mt19937 random(11);
  size_t whole = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = seeds[random() % 2];
    for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 4);
          break;
        case 1:
          text.insert(at, snippets[random() % std::size(snippets)].str());
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    Compiled compiled(text);
    EXPECT_NE(compiled.result.graph.has_value(), compiled.result.diagnostics.has_errors()) << text;
    if (!compiled.result.graph) continue;
    ++whole;
    const std::string flat = compiled.Flat();
    ASSERT_EQ(Compiled(flat).Flat(), flat) << text;
  }
  EXPECT_GT(whole, 100u);
}

TEST(ElaborateTest, NeedsMoreLines) {
  EXPECT_TRUE(NeedsMoreLines("y = cos(x,\n"));
  EXPECT_TRUE(NeedsMoreLines("layer f(x: F[N]) {\n  y = 1\n"));
  EXPECT_FALSE(NeedsMoreLines("y = cos(x)\n"));
  EXPECT_FALSE(NeedsMoreLines("y = cos(x\nz = 3\n"));
  EXPECT_FALSE(NeedsMoreLines("y = )\n"));
}

}  // namespace
}  // namespace pdl
