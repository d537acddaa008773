// Errors in source that conforms to the grammar.
#include <gtest/gtest.h>

#include "pdl/op/out_of_memory.h"
#include "test/cc/testing/elaborate_testing.h"

namespace pdl {
namespace {

std::string Messages(std::string text) { return Compiled(std::move(text)).Messages(); }

TEST(ElaborateErrorTest, TheThreeOfTheLanguagePage) {
  EXPECT_EQ(
      Messages("input x: f32[N, 784]\n"
               "param w: f32[256, 10] = normal(std=0.02)\n"
               "y = cos(x, scale=-5.0)\n"
               "\n"
               "\n"
               "\n"
               "h = matmul(x, w)\n"
               "\n"
               "z = sofmax(h)\n"
               "output z, y\n"),
      R"(t.pdl:3:18: error: attribute 'scale' of 'cos' must be larger than 0, got -5.0 [PDL0203]
 3 | y = cos(x, scale=-5.0)
   |                  ^~~~
t.pdl:7:12: error: matmul: inner dims differ: 784 and 256 [PDL0301]
 7 | h = matmul(x, w)
   |            ^  ~
   = x: f32[N, 784], from line 1
   = w: f32[256, 10], from line 2
t.pdl:9:5: error: no operator or layer is called 'sofmax'; did you mean 'softmax'? [PDL0101]
 9 | z = sofmax(h)
   |     ^~~~~~
)");
}

// One error in each line, with its message and position.
struct Mistake {
  const char* line;
  const char* message;  // "column: message [code]"
};

std::string Check(const Mistake& mistake) {
  Compiled compiled(
      std::string("input x: f32[N, 4]\ninput i: i64[N]\nstate s: f32[4] = zeros()\nxs = [x, x]\n") +
      mistake.line + "\n");
  std::string text;
  for (const Diagnostic& d : compiled.result.diagnostics.all()) {
    if (!text.empty()) text += " | ";
    text += std::to_string(d.file->PositionOf(d.primary.begin).column) + ": " + d.message + " [" +
            CodeName(d.code) + "]";
  }
  return text;
}

// The literal of a function that is no initializer has its own dtype.
TEST(ElaborateErrorTest, LiteralOfAFunction) {
  const char* const kLayer =
      "layer f(x: F[N], g: function = zeros()) {\n  return g()\n}\ninput x: f32[N]\n";
  const Compiled good(std::string(kLayer) + "output y = f(x, g=constant([1e30]))\n");
  ASSERT_TRUE(good.result.graph) << good.Messages();
  EXPECT_EQ(good.result.graph->outputs()[0].value->type().ToString(), "f32[1]");
  const Compiled bad(std::string(kLayer) + "output y = f(x, g=constant([1e300]))\n");
  EXPECT_NE(bad.Messages().find("t.pdl:2:10: error: attribute 'value' of 'constant' cannot hold "
                                "this: 1e+300 does not fit in f32 [PDL0204]"),
            std::string::npos)
      << bad.Messages();
}

TEST(ElaborateErrorTest, InitializerThatIsNotCalled) {
  const Compiled compiled(
      "layer f(x: f32[N], init: function = ones()) {\n"
      "  param w: f32[] = init\n"
      "  return x * w\n"
      "}\n"
      "input x: f32[N]\n"
      "output y = f(x)\n");
  EXPECT_NE(compiled.Messages().find("   = a function is written as a call: init()\n"),
            std::string::npos)
      << compiled.Messages();
}

// Also those with a correction, or with notes.
TEST(ElaborateErrorTest, MoreMistakesThanAreKept) {
  for (const char* mistake : {"sofmax(x)", "cos(x, scal=2)", "argmax(x, axis=0, dtype=\"i3\")",
                              "x + i", "concat(x, x, axis=3)", "fc(x, sise=2)"}) {
    std::string source = "input x: f32[N, 4]\ninput i: i64[N, 4]\n";
    constexpr size_t kMany = Diagnostics::kMaxKept + 100;
    for (size_t i = 0; i < kMany; ++i) source += "y" + std::to_string(i) + " = " + mistake + "\n";
    Compiled compiled(source);
    EXPECT_EQ(compiled.result.diagnostics.num_errors(), kMany) << mistake;
    EXPECT_EQ(compiled.result.diagnostics.all().size(), Diagnostics::kMaxKept) << mistake;
    EXPECT_EQ(compiled.result.diagnostics.num_dropped(), kMany - Diagnostics::kMaxKept) << mistake;
  }
}

TEST(ElaborateErrorTest, OneMessageAMistake) {
  const Mistake mistakes[] = {
      {"y = cos(x, scal=2)",
       "12: 'cos' has no attribute or input 'scal'; did you mean 'scale'? [PDL0201]"},
      {"y = cos(x, scale=nan)",
       "18: attribute 'scale' of 'cos' must be larger than 0, got nan [PDL0203]"},
      {"y = cos(x, scale=\"a\")",
       "18: attribute 'scale' of 'cos' must be a float, got the string \"a\" [PDL0204]"},
      {"y = cos(x, scale=x)",
       "18: attribute 'scale' of 'cos' must be known at compile time, got a tensor [PDL0204]"},
      {"y = cos(x, scale=N)",
       "18: attribute 'scale' of 'cos' must be known at compile time, got the size N [PDL0204]"},
      {"y = cos(x, scale=1, scale=2)", "21: attribute 'scale' of 'cos' is given twice [PDL0201]"},
      {"y = cos()", "5: cos: takes 1 input (x), got 0 [PDL0205]"},
      {"y = cos(x, x)", "5: cos: takes 1 input (x), got 2 [PDL0205]"},
      {"y = blend(y=x)", "5: input 'x' of 'blend' is missing [PDL0205]"},
      {"y = blend(x, x, y=x)", "17: input 'y' is given twice: by position and by name [PDL0205]"},
      {"y = blend(x, x, mode=\"maen\")",
       "22: attribute 'mode' of 'blend' must be one of \"mean\", \"sum\", got \"maen\"; did you "
       "mean \"mean\"? [PDL0206]"},
      {"y = zeros([2, \"a\"])",
       "11: attribute 'dims' of 'zeros' has items of different kinds [PDL0204]"},
      {"y = cos(i)", "9: cos: 'x' must be f16, bf16, f32 or f64, got i64[N] [PDL0302]"},
      {"y = x + i", "5: add: dtypes differ: f32 and i64 [PDL0303]"},
      {"y = i + 2.5", "9: the float 2.5 is not of dtype i64 [PDL0211]"},
      {"y = x + [[1], [2, 3]]", "9: its rows differ in length [PDL0211]"},
      {"y = x + \"a\"", "9: expected a tensor, got the string \"a\" [PDL0209]"},
      {"y = foo + foo * 2", "5: no value is called 'foo' [PDL0102]"},
      {"y = xx + 1\nz = y + 1\noutput z",
       "5: no value is called 'xx'; did you mean 'x'? [PDL0102]"},
      {"y = z\nz = x", "5: 'z' is used before it is defined, on line 6 [PDL0102]"},
      {"y = cos(z\nz = cos(y)\noutput y", "8: '(' is never closed [PDL0004]"},
      {"input y: f32[N, 4\ny2 = cos(y)", "13: '[' is never closed [PDL0004]"},
      {"y = 1 // 0", "7: 1 // 0 divides by zero [PDL0210]"},
      {"y = 9223372036854775807 + 1",
       "25: 9223372036854775807 + 1 does not fit in 64 bits [PDL0210]"},
      {"y = 2 ** 64", "7: 2 ** 64 does not fit in 64 bits [PDL0210]"},
      {"y = [1] + [2]",
       "9: lists have no arithmetic: '+' between a list and a list; [a..., b...] joins two "
       "[PDL0210]"},
      {"y = \"a\" + 1", "9: '+' does not take the string \"a\" and the int 1 [PDL0210]"},
      {"y = N / 2", "7: sizes are divided with //, which rounds down [PDL0210]"},
      {"y = x > 1", "7: this program has no operator for this symbol [PDL0101]"},
      {"y = 0..3", "5: a range may only appear after 'in' [PDL0209]"},
      {"y = x[5:, 0]", ""},
      {"y = x[:, 4]", "10: index 4 is outside a dim of 4 [PDL0313]"},
      {"y = x[:, -5]", "10: index -5 is outside a dim of 4 [PDL0313]"},
      {"y = x[:, 0:5]", "12: slice to 5 is outside a dim of 4 [PDL0313]"},
      {"y = x[:, 3:2]", "10: the slice ends before it begins [PDL0313]"},
      {"y = x[:, ::0]", "12: a step is an int, and not 0 [PDL0313]"},
      {"y = x[0, 0, 0]", "13: 3 subscripts for 2 dims [PDL0313]"},
      {"y = x[..., ...]", "12: '...' may only appear once in a subscript [PDL0313]"},
      {"y = xs[2]", "8: index 2 is outside a list of 2 [PDL0313]"},
      {"y = xs + 1", "5: expected a tensor, got a list [PDL0209]"},
      {"output xs", "8: expected a tensor, got a list [PDL0209]"},
      {"a, b, c = moments(x)", "7: there are 2 results for 3 names [PDL0207]"},
      {"a, a = moments(x)", "4: 'a' appears here twice [PDL0103]"},
      {"y = moments(x).varience",
       "16: 'moments' has no result 'varience'; did you mean 'variance'? [PDL0102]"},
      {"h: f32[N, 5] = cos(x)", "16: 'h' is f32[N, 4], declared f32[N, 5] [PDL0301]"},
      {"h: f64[N, 4] = cos(x)", "16: 'h' is f32[N, 4], declared f64[N, 4] [PDL0303]"},
      {"h: f32[M, 4] = cos(x)", "8: no symbol or constant is called 'M' [PDL0102]"},
      {"h: f30[N, 4] = cos(x)", "4: no dtype is called 'f30'; did you mean 'f32'? [PDL0312]"},
      {"h: float32[N, 4] = cos(x)",
       "4: no dtype is called 'float32'; did you mean 'f32'? [PDL0312]"},
      {"h: int64[N, 4] = cos(x)", "4: no dtype is called 'int64'; did you mean 'i64'? [PDL0312]"},
      {"h: f32 = cos(x)", "4: the dims are missing; a scalar is f32[] [PDL0312]"},
      {"input x: f32[N]", "7: 'x' is defined already [PDL0103]"},
      {"input z: f32[N*M]", "16: no input determines M: give one a dim such as M or 2*M [PDL0310]"},
      {"input z: f32[-1]",
       "14: a size is at least 0, got -1; any size is a symbol such as N [PDL0307]"},
      {"input z: F[N]", ""},
      {"input z: f32[~T]",
       "10: the ragged dim ~T does not come right after the first dim or another ragged one "
       "[PDL0312]"},
      {"input z: sparse f32[N]", "10: a sparse matrix has 2 dims, not 1 [PDL0312]"},
      {"input z: f32[N] in 0..3", "20: an index is written i64[N] in 0..V [PDL0312]"},
      {"input z: f32[3] where 3 > 4", "23: no input can satisfy this [PDL0311]"},
      {"assert N >= 0 and 2 > 3, \"no\"", "8: no [PDL0311]"},
      {"param w: f32[N] = zeros()",
       "10: the sizes of a parameter must be known at compile time; N is not [PDL0309]"},
      {"param w: f32[3] = zeros([4])",
       "19: the initializer makes f32[4], declared f32[3] [PDL0405]"},
      {"param w: f32[3] = cos()", "19: 'cos' is not an initializer: it takes inputs [PDL0405]"},
      {"param w: f32[3] = 1",
       "19: expected an initializer such as zeros(), normal(std=0.02) or "
       "load(\"file.safetensors\", "
       "\"name\") [PDL0405]"},
      {"param w: f32[3] = normal(std=-1)",
       "30: attribute 'std' of 'normal' must be at least 0, got -1.0 [PDL0203]"},
      {"param w: f32[1] = constant([1e300])",
       "28: attribute 'value' of 'constant' cannot hold this: 1e+300 does not fit in f32 "
       "[PDL0204]"},
      {"param w: f64[1] = constant([1e300], dtype=f32)",
       "28: attribute 'value' of 'constant' cannot hold this: 1e+300 does not fit in f32 "
       "[PDL0204]"},
      {"z = constant([1e300])",
       "14: attribute 'value' of 'constant' cannot hold this: 1e+300 does not fit in f32 "
       "[PDL0204]"},
      {"param w: f32[3] = load(\"a\")",
       "19: load takes two strings: load(\"file.safetensors\", \"name\") [PDL0405]"},
      {"param w: f32[3] = zeros() with {weight_decy=1}",
       "33: a parameter has no attribute 'weight_decy'; did you mean 'weight_decay'? [PDL0201]"},
      {"param w: f32[3] = zeros() with {weight_decay=2}",
       "46: attribute 'weight_decay' of 'parameter' must be at least 0 and at most 1, got 2.0 "
       "[PDL0203]"},
      {"param w: f32[3] = zeros() with {l1=-1}",
       "36: attribute 'l1' of 'parameter' must be at least 0, got -1.0 [PDL0203]"},
      {"param w: f32[3] = zeros() with {name=\"a b\"}",
       "38: the name of a parameter is a name such as \"shared\" or \"encoder.w\", got \"a b\" "
       "[PDL0203]"},
      {"param w: f32[3] = zeros() with {name=\"v\"}\nparam v: f32[4] = zeros() with {name=\"v\"}",
       "38: 'v' is f32[4] in this layer, and f32[3] in an earlier one [PDL0410]"},
      {"param w: f32[3] = zeros() with {name=\"x\"}",
       "38: 'x' is not a parameter, so no parameter can have its name [PDL0410]"},
      {"param w: f32[3] = zeros() with {name=\"v\", l1=0.1}\n"
       "param u: f32[3] = zeros() with {name=\"v\", l1=0.2}",
       "38: 'v' has other attributes here than in an earlier layer [PDL0410]"},
      {"param w: f32[3] = zeros() with {\"l1\": 1}",
       "33: the attributes of a parameter are written name=value [PDL0201]"},
      {"param w: f32[3] = zeros() with {init=load(\"a\")}",
       "38: load takes two strings: load(\"file.safetensors\", \"name\") [PDL0405]"},
      {"param w: f32[3] = load(\"\", \"b\")", "24: the name of the file is empty [PDL0405]"},
      {"param w: f32[3] = load(\"a\", \"\")", "29: the name of the tensor is empty [PDL0405]"},
      {"param w: f32[3] = load(\"a\\u{1}\", \"b\")",
       "24: the name of the file has a control character [PDL0405]"},
      {"param w: f32[3] = load(\"a\", \"b\\n\")",
       "29: the name of the tensor has a control character [PDL0405]"},
      {"param w: f32[3] = zeros()\nload \"\"", "6: the name of the file is empty [PDL0405]"},
      {"param w: f32[3] = zeros()\nload \"a\\u{7f}\"",
       "6: the name of the file has a control character [PDL0405]"},
      {"param w: f32[3] = load(\"a\", \"b\", cast=1)",
       "39: cast is true or false, got the int 1 [PDL0411]"},
      {"update s = x", "12: the new value of 's' is f32[N, 4], declared f32[4] [PDL0305]"},
      {"update t = x", "8: no state is called 't' [PDL0406]"},
      {"update x = x", "8: no state is called 'x' [PDL0406]"},
      {"output x\noutput x", "8: there is an output 'x' already [PDL0103]"},
      {"attr a: int", "6: attr 'a' has no value: give it one with --set a=VALUE [PDL0202]"},
      {"attr a: int > 0 = 0",
       "19: attribute 'a' of 't.pdl' must be larger than 0, got 0 [PDL0203]"},
      {"attr a: f32 = 0",
       "9: an attribute is an int, float, string, bool, function or parameter [PDL0204]"},
      {"y = x()", "5: no operator or layer is called 'x' [PDL0101]"},
      {"y = xs[0](x)", "5: the callee here is not the name of an operator [PDL0209]"},
      {"layer f(a: F[N]) {\n  return a\n}\ny = f(x)\noutput y",
       "7: input 'a' of 'f' must be F[N], got f32[N, 4] [PDL0305]"},
      {"for k in 0..3 { y = cos(x) }\nz = y + k\noutput z", ""},
      {"if N == 1 { y = x } else { y = cos(x) }\nz = y",
       "4: this program has no operator for this symbol [PDL0101]"},
      {"import \"a.pdl\" as net\ny = net(x)\nz = net.f(x)",
       "8: source without a file cannot import [PDL0106]"},
      {"minimize x with none",
       "10: a loss is a floating-point scalar, got f32[N, 4] [PDL0408] | "
       "17: an optimizer is a layer of a parameter and its gradient, such "
       "as adam(lr=0.001) [PDL0408]"},
      {"test \"t\" {\n  expect x\n}", ""},
      {"return x", "1: 'return' belongs in a layer; a file uses 'output' [PDL0407]"},
      {"y = training", "5: this program has no operator for this symbol [PDL0101]"},
      {"y = cos(2 ** 2 + foo, scale=-1)", "18: no value is called 'foo' [PDL0102]"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(Check(mistake), mistake.message) << mistake.line;
}

TEST(ElaborateErrorTest, AllMistakesInOnePass) {
  EXPECT_EQ(
      Messages("input x: f32[N, 3]\n"
               "a = cos(x, scale=0)\n"
               "b = a + \xC3\xA9\n"
               "c = b + sin(x)\n"
               "d = x @ x\n"
               "e = d + c\n"
               "output e\n"),
      "t.pdl:2:18: error: attribute 'scale' of 'cos' must be larger than 0, got 0.0 [PDL0203]\n"
      " 2 | a = cos(x, scale=0)\n"
      "   |                  ^\n"
      "t.pdl:3:9: error: unexpected '\xC3\xA9' [PDL0006]\n"
      " 3 | b = a + \xC3\xA9\n"
      "   |         ^\n");
}

TEST(ElaborateErrorTest, NoMemoryToReadAFile) {
  OpRegistry registry;
  RegisterTestOps(&registry);
  const auto no_memory = [](llvm::StringRef path) {
    return OutOfMemory("reading '" + path.str() + "'");
  };
  CompileRequest request;
  request.registry = &registry;
  request.read_file = no_memory;
  request.open_weights = no_memory;
  for (const char* text : {"import \"parts.pdl\"\n", "import \"parts.pdl\" as parts\n",
                           "param w: f32[2] = load(\"w.safetensors\", \"w\")\n",
                           "param w: f32[2] = normal(std=0.02)\nload \"w.safetensors\"\n"}) {
    request.file = std::make_shared<SourceFile>("t.pdl", text);
    const CompileResult result = Compile(request);
    std::string messages;
    llvm::raw_string_ostream os(messages);
    result.diagnostics.Render(os);
    EXPECT_EQ(messages, "error: out of memory in the compilation of 't.pdl'\n") << text;
  }
}

}  // namespace
}  // namespace pdl
