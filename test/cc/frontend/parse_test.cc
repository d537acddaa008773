// Syntax trees of correct source.
#include <gtest/gtest.h>

#include "test/cc/testing/parse_testing.h"

namespace pdl {
namespace {

std::string Tree(const char* text) {
  Parsed parsed(text);
  EXPECT_EQ(parsed.Messages(), "") << text;
  return parsed.Tree();
}

// The syntax tree of `y = <expression>`, without its first line.
std::string Expression(std::string expression) {
  std::string tree = Tree(("y = " + expression + "\n").c_str());
  return tree.substr(tree.find('\n') + 1);
}

TEST(ParseTest, PrecedenceIsThatOfThePage) {
  EXPECT_EQ(Expression("a + b * c - d"), R"(  chain
    name a
    +
    chain
      name b
      *
      name c
    -
    name d
)");
  EXPECT_EQ(Expression("-a ** 2"), R"(  prefix -
    chain
      name a
      **
      number 2
)");
  EXPECT_EQ(Expression("2 ** -a * b"), R"(  chain
    chain
      number 2
      **
      prefix -
        name a
    *
    name b
)");
  EXPECT_EQ(Expression("not a == b and c or d"), R"(  chain
    chain
      prefix not
        chain
          name a
          ==
          name b
      and
      name c
    or
    name d
)");
  EXPECT_EQ(Expression("i in 0..n + 1"), R"(  chain
    name i
    in
    chain
      number 0
      ..
      chain
        name n
        +
        number 1
)");
  EXPECT_EQ(Expression("x |> f() |> g(a=1)"), R"(  chain
    name x
    |>
    call f
    |>
    call g
      a =
        number 1
)");
}

TEST(ParseTest, NumbersAndTexts) {
  EXPECT_EQ(Expression("1_000"), "  number 1000\n");
  EXPECT_EQ(Expression("-3"), "  number -3\n");
  EXPECT_EQ(Expression("-9223372036854775808"), "  number -9223372036854775808\n");
  EXPECT_EQ(Expression("2.50"), "  number 2.5\n");
  EXPECT_EQ(Expression("1e-3"), "  number 0.001\n");
  EXPECT_EQ(Expression("-inf"), "  number -inf\n");
  EXPECT_EQ(Expression("nan"), "  number nan\n");
  EXPECT_EQ(Expression("0.1"), "  number 0.1\n");
  EXPECT_EQ(Expression(R"("a\"b\\\u{e9}")"), "  string \"a\\22b\\\\\\C3\\A9\"\n");
  EXPECT_EQ(Expression("true"), "  true\n");
}

TEST(ParseTest, Subscripts) {
  EXPECT_EQ(Expression("x[0:10, :, -1, none, ..., a[1]:]"), R"(  index
    name x
    slice
      start
        number 0
      stop
        number 10
    slice
    number -1
    none
    ...
    slice
      start
        index
          name a
          number 1
)");
  EXPECT_EQ(Expression("x[::2]"), "  index\n    name x\n    slice\n      step\n        number 2\n");
}

TEST(ParseTest, LinesGoOnInsideBracketsAndBeforeAPipe) {
  EXPECT_EQ(Tree("y = f(a,  # first\n\n  b,\n)\n\n# next\n  |> g()\n  # and\n  |> h()\nz = 1"),
            R"(assign @1:1 y
  chain
    call f
      name a
      name b
    |>
    call g
    |>
    call h
assign @10:1 z
  number 1
)");
  EXPECT_EQ(Tree("p = f({a=1,\n b=2}, [\n1,\n2\n])\r\nq = 2\r\n"), R"(assign @1:1 p
  call f
    record
      a =
        number 1
      b =
        number 2
    list
      number 1
      number 2
assign @6:1 q
  number 2
)");
}

TEST(ParseTest, SoftKeywordsStayGoodNames) {
  EXPECT_EQ(Tree("input = 1\nstate, test = f(input=input, tol=where(c, a, b))\noutput\n"
                 "load(\"x\")\nfeed |> f()\nerror = over\nupdate in x\n"),
            R"(assign @1:1 input
  number 1
assign @2:1 state, test
  call f
    input =
      name input
    tol =
      call where
        name c
        name a
        name b
expression @3:1
  name output
expression @4:1
  call load
    string "x"
expression @5:1
  chain
    name feed
    |>
    call f
assign @6:1 error
  name over
expression @7:1
  chain
    name update
    in
    name x
)");
  EXPECT_EQ(Tree("input input: f32[]\nstate where: i64[] = zeros()\nload \"w\" into into\n"),
            R"(input @1:1 input
  type f32[]
state @2:1 where
  type i64[]
  initial
    call zeros
load @3:1 "w" into into
)");
}

TEST(ParseTest, Declarations) {
  EXPECT_EQ(
      Tree("## Pixels,\n## row by row.\ninput image: f32[N, 3, 8*H, ~T] where H > 1, N in 1..=4\n"
           "attr width: int >= -2 = 3  ## of a layer\n"
           "param w: sparse F[..., D] = normal(std=0.1) with {weight_decay=1e-4}\n"
           "attr mode: string in [\"a\", \"b\"] = \"a\"\n"),
      R"(input @3:1 image
  doc "Pixels,\0Arow by row."
  type f32[]
    name N
    number 3
    chain
      number 8
      *
      name H
    ragged T
  where
    chain
      name H
      >
      number 1
  where
    chain
      name N
      in
      chain
        number 1
        ..=
        number 4
attr @4:1 width
  doc "of a layer"
  type int
    >=
      number -2
  default
    number 3
param @5:1 w
  type sparse F[]
    ...
    name D
  initial
    call normal
      std =
        number 0.1
  with
    record
      weight_decay =
        number 1e-04
attr @6:1 mode
  type string
    in
      list
        string "a"
        string "b"
  default
    string "a"
)");
}

TEST(ParseTest, Layers) {
  EXPECT_EQ(Tree("## Adds.\nlayer f(xs...: F[N] | i64[N] in 0..D,  ## many\n        act: function "
                 "= none,\n"
                 "        n: [int] = [1], m: int? = none) where D > 2 {\n"
                 "  for i, x in xs { y = x }\n"
                 "  if n == 1 { a = 1 } else if n == 2 { a = 2 }\n"
                 "  else_b = 3\n  return y, out=x + y\n}\nlayer g = f(n=[2])\n"),
            R"(layer @2:1 f
  doc "Adds."
  parameter xs...
    doc "many"
    type F[]
      name N
    type i64[]
      name N
      in
        chain
          number 0
          ..
          name D
  parameter act
    type function
    default
      none
  parameter n
    type [int]
    default
      list
        number 1
  parameter m
    type int?
    default
      none
  where
    chain
      name D
      >
      number 2
  for @5:3 i, x
    in
      name xs
    assign @5:20 y
      name x
  if @6:3
    condition
      chain
        name n
        ==
        number 1
      assign @6:15 a
        number 1
    condition
      chain
        name n
        ==
        number 2
      assign @6:40 a
        number 2
  assign @7:3 else_b
    number 3
  return @8:3
    name y
    out =
      chain
        name x
        +
        name y
instance @10:1 g
  call f
    n =
      list
        number 2
)");
}

TEST(ParseTest, TheOtherStatements) {
  EXPECT_EQ(Tree("import \"a.pdl\" as net\nload \"w\" into a.b\nminimize loss over [a] with adam() "
                 "every 5\n"
                 "assert a == 1, \"must\"\ntest \"t\" with {n=1} {\n  feed a.b = 1\n  expect x\n"
                 "  expect x ~= [1.0] tol 1e-5\n  expect error \"bad\" in f(x)\n}\n"
                 "update s = s + 1\noutput y, z = f(x)\nx.last[0](a...)\n"),
            R"(import @1:1 "a.pdl" as net
load @2:1 "w" into a.b
minimize @3:1
  name loss
  over
    list
      name a
  with
    call adam
  every
    number 5
assert @4:1
  chain
    name a
    ==
    number 1
  doc "must"
test @5:1 "t"
  with
    record
      n =
        number 1
  feed @6:3 a.b
    number 1
  expect @7:3
    name x
  expect @8:3
    name x
    ~=
      list
        number 1.0
    tol
      number 1e-05
  expect @9:3
    error "bad"
    call f
      name x
update @11:1 s
  chain
    name s
    +
    number 1
output @12:1
  name y
  z =
    call f
      name x
expression @13:1
  call
    callee
      index
        member last
          name x
        number 0
    ...
      name a
)");
}

TEST(ParseTest, EveryNodeKnowsItsBytes) {
  Parsed parsed("# é\nyy = f(x, a=-2.5)[0] + (b)  # end\n");
  const auto* assign = llvm::cast<ast::AssignStatement>(parsed.ast->statements[0]);
  auto text = [&](SourceRange range) { return parsed.ast->file->Text(range); };
  EXPECT_EQ(text(assign->range), "yy = f(x, a=-2.5)[0] + (b)");
  EXPECT_EQ(text(assign->targets[0].range), "yy");
  const auto* sum = llvm::cast<ast::ChainExpr>(assign->value);
  EXPECT_EQ(text(sum->range), "f(x, a=-2.5)[0] + (b)");
  EXPECT_EQ(text(sum->operators[0].range), "+");
  EXPECT_EQ(text(sum->operands[1]->range), "(b)");
  const auto* call = llvm::cast<ast::CallExpr>(llvm::cast<ast::IndexExpr>(sum->operands[0])->base);
  EXPECT_EQ(text(call->range), "f(x, a=-2.5)");
  EXPECT_EQ(text(call->arguments[1].range()), "a=-2.5");
  EXPECT_EQ(text(call->arguments[1].value->range), "-2.5");
  ASSERT_EQ(parsed.ast->comments.size(), 2u);
  EXPECT_EQ(text(parsed.ast->comments[1].range), "# end");
  EXPECT_TRUE(parsed.ast->comments[0].own_line);
  EXPECT_FALSE(parsed.ast->comments[1].own_line);
}

}  // namespace
}  // namespace pdl
