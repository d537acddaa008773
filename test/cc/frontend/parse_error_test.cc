// Syntax errors: one message each, at its position.
#include <gtest/gtest.h>

#include "llvm/Support/JSON.h"
#include "test/cc/testing/parse_testing.h"

namespace pdl {
namespace {

struct Mistake {
  const char* text;
  const char* messages;
};

TEST(ParseErrorTest, OneMessageAtItsPlace) {
  const Mistake mistakes[] = {
      {"y = cos(x scale=5)\n",
       R"(t.pdl:1:11: error: unexpected 'scale', expected ',' or ')' [PDL0001]
 1 | y = cos(x scale=5)
   |           ^~~~~
)"},
      {"w = g([1, 2)\n", R"(t.pdl:1:7: error: '[' is not closed before ')' [PDL0004]
 1 | w = g([1, 2)
   |       ^    ~
)"},
      {"s = \"abc  # no\n",
       R"(t.pdl:1:5: error: the string that begins here has no closing '"' on its line [PDL0002]
 1 | s = "abc  # no
   |     ^~~~~~~~~~
)"},
      {"t = .5 + 5. + 3\n",
       R"(t.pdl:1:5: error: a number needs a digit before its point: 0.5 [PDL0005]
 1 | t = .5 + 5. + 3
   |     ^~
)"},
      {"t = 5.\n", R"(t.pdl:1:5: error: a number needs a digit after its point: 5.0 [PDL0005]
 1 | t = 5.
   |     ^~
)"},
      {"u = 9223372036854775808\n",
       R"(t.pdl:1:5: error: the integer 9223372036854775808 does not fit in 64 bits [PDL0005]
 1 | u = 9223372036854775808
   |     ^~~~~~~~~~~~~~~~~~~
)"},
      {"for = 3\n", R"(t.pdl:1:1: error: 'for' is a reserved word, not a name [PDL0008]
 1 | for = 3
   | ^~~
)"},
      {"v = layer + 1\n",
       R"(t.pdl:1:5: error: 'layer' is a reserved word, expected an expression [PDL0008]
 1 | v = layer + 1
   |     ^~~~~
)"},
      {"input for: f32[N]\n", R"(t.pdl:1:7: error: 'for' is a reserved word, not a name [PDL0008]
 1 | input for: f32[N]
   |       ^~~
)"},
      {"a b = 3\n",
       R"(t.pdl:1:3: error: unexpected 'b', expected '=', an operator or the end of the line [PDL0001]
 1 | a b = 3
   |   ^
)"},
      {"f(x) = 3\n", R"(t.pdl:1:1: error: only a name can be assigned [PDL0009]
 1 | f(x) = 3
   | ^~~~
)"},
      {"q = a < b < c\n",
       R"(t.pdl:1:11: error: comparisons do not chain; write a < b and b < c [PDL0010]
 1 | q = a < b < c
   |       ~   ^
)"},
      {"p = x |> f() + 1\n",
       R"(t.pdl:1:10: error: '|>' must be followed by a call, such as f(a=1) [PDL0011]
 1 | p = x |> f() + 1
   |          ^~~~~~~
   = a pipe that is an operand is in parentheses: (x |> f())
)"},
      {"p = x |> tanh |> relu\n",
       R"(t.pdl:1:10: error: '|>' must be followed by a call, such as tanh() [PDL0011]
 1 | p = x |> tanh |> relu
   |          ^~~~
)"},
      {"if a = 3 { b = 4 }\n", R"(t.pdl:1:6: error: unexpected '=', expected '{' [PDL0001]
 1 | if a = 3 { b = 4 }
   |      ^
   = to compare, write '=='
)"},
      {"h = \"\\q\"\n",
       R"(t.pdl:1:6: error: unknown escape; there are \n \t \r \0 \\ \" and \u{1F600} [PDL0002]
 1 | h = "\q"
   |      ^~
)"},
      {"\ty = \"\xC3\xA9\t\xE6\xBC\xA2\" + $\n",
       "t.pdl:1:14: error: unexpected '$' [PDL0006]\n"
       " 1 |         y = \"\xC3\xA9  \xE6\xBC\xA2\" + $\n"
       "   |                       ^\n"},
      {"x = 1\ny = \"\xFF\"\n",
       "t.pdl:2:6: error: this byte is not valid UTF-8 [PDL0007]\n"
       " 2 | y = \"\xEF\xBF\xBD\"\n"
       "   |      ^\n"},
      {"layer f(x: F[N]) {\n  y = g(x\n  return y\n}\n",
       R"(t.pdl:2:8: error: '(' is not closed before '}' [PDL0004]
 2 |   y = g(x
   |        ^
)"},
      {"x = 1 }\n",
       R"(t.pdl:1:7: error: unexpected '}': no bracket is open here [PDL0001]
 1 | x = 1 }
   |       ^
)"},
      {"y = cos(x,\n", R"(t.pdl:1:8: error: '(' is never closed [PDL0004]
 1 | y = cos(x,
   |        ^
)"},
      {"y =\n", R"(t.pdl:1:4: error: unexpected end of the line, expected an expression [PDL0001]
 1 | y =
   |    ^
)"},
      {"output cos(x)\n",
       R"(t.pdl:1:8: error: an output needs a name: output y = expression [PDL0001]
 1 | output cos(x)
   |        ^~~~~~
)"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(Parsed(mistake.text).Messages(), mistake.messages) << mistake.text;
  }
}

TEST(ParseErrorTest, ATerminalGetsNoControlCharacters) {
  Diagnostics diagnostics;
  diagnostics
      .Error(Code::kWeightMismatch, nullptr, {},
             "'a\x1b[31m\x7f\xFF"
             "b' and\n\t'\u00e9\u009b\u202e'")
      .Note("not used: 'c\r'");
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.Render(os);
  EXPECT_EQ(text,
            "error: 'a\uFFFD[31m\uFFFD\uFFFDb' and\n\t'\u00e9\uFFFD\uFFFD' [PDL0404]\n   = not "
            "used: 'c\uFFFD'\n");
}

TEST(ParseErrorTest, OtherStatementsAreParsedAllTheSame) {
  Parsed parsed(
      "a = cos(x\n"
      "b = f(1)\n"
      "c = g([1, 2)\n"
      "\n"
      "layer l(x: F[N]) {\n"
      "  return x +\n"
      "}\n"
      "d = .5\n"
      "e = (\n"
      "  # more\n"
      "output b\n");
  EXPECT_EQ(parsed.diagnostics.num_errors(), 5u) << parsed.Messages();
  EXPECT_EQ(parsed.Tree(), R"(broken @1:1
assign @2:1 b
  call f
    number 1
broken @3:1
broken @5:1
broken @8:1
broken @9:1
output @11:1
  name b
)");
  const auto* broken = llvm::cast<ast::BrokenStatement>(parsed.ast->statements[0]);
  ASSERT_EQ(broken->names.size(), 1u);
  EXPECT_EQ(broken->names[0].text, "a");
}

TEST(ParseErrorTest, Json) {
  Parsed parsed("x = 1\ny = cos(\"\xC3\xA9\" b)\n");
  std::string text;
  llvm::raw_string_ostream os(text);
  parsed.diagnostics.RenderJson(os);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  ASSERT_TRUE(bool(value)) << text;
  const llvm::json::Object& object = *value->getAsObject();
  EXPECT_EQ(object.getString("code"), llvm::StringRef("PDL0001"));
  EXPECT_EQ(object.getString("severity"), llvm::StringRef("error"));
  EXPECT_EQ(object.getString("file"), llvm::StringRef("t.pdl"));
  const llvm::json::Object& start = *object.getObject("range")->getObject("start");
  EXPECT_EQ(start.getInteger("line"), 2);
  EXPECT_EQ(start.getInteger("column"), 13);
}

}  // namespace
}  // namespace pdl
