// Compiling any use of names results in a network or in errors.
#include <gtest/gtest.h>

#include <cstdlib>

#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/compiler/test_block.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "test/cc/testing/random_names.h"

namespace pdl {
namespace {

CompileRequest RequestFor(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("t.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.read_file = [](llvm::StringRef path) {
    return std::make_shared<const SourceFile>(
        path.str(), "layer f(x: F[...]) { return x + 1 }\ninput x: f32[N]\noutput y = f(x)\n");
  };
  return request;
}

std::string Messages(const CompileResult& result) {
  std::string text;
  llvm::raw_string_ostream os(text);
  result.diagnostics.Render(os);
  return text;
}

/// Compiles source in all modes, and compiles the results again.
void CompileAll(const std::string& text) {
  for (const bool training : {false, true}) {
    CompileRequest request = RequestFor(text);
    request.training_step = training;
    const CompileResult result = Compile(request);
    if (!result.graph || training) continue;
    llvm::Expected<std::string> bytes = SerializeNetwork(*result.graph);
    ASSERT_TRUE(static_cast<bool>(bytes)) << llvm::toString(bytes.takeError()) << text;
    llvm::Expected<Graph> stored = DeserializeNetwork(*bytes, "t.pdlc", GlobalRegistry());
    ASSERT_TRUE(static_cast<bool>(stored)) << llvm::toString(stored.takeError()) << text;
    const std::string flat = EmitPdl(*stored, {.trainings = false});
    const CompileResult again = Compile(RequestFor(flat));
    ASSERT_TRUE(again.graph) << Messages(again) << flat << text;
    EXPECT_EQ(EmitPdl(*again.graph), flat) << text;
  }
  Diagnostics mistakes;
  const CompileRequest request = RequestFor(text);
  const TestSuite suite(request, &mistakes);
  if (mistakes.has_errors()) return;
  for (unsigned test = 0; test < suite.tests().size(); ++test)
    for (unsigned run = 0; run < suite.tests()[test].num_runs; ++run) suite.Compile(test, run, {});
}

uint64_t CountOf(const char* variable, uint64_t fallback) {
  const char* given = std::getenv(variable);
  return given == nullptr ? fallback : std::strtoull(given, nullptr, 10);
}

TEST(Names, AnyUseOfNamesEndsInANetworkOrInErrors) {
  const uint64_t begin = CountOf("PDL_RANDOM_BEGIN", 0);
  const uint64_t count = CountOf("PDL_RANDOM_COUNT", 3000);
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    SCOPED_TRACE(seed);
    CompileAll(RandomNames(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Limits, AreThoseOfTheRequest) {
  auto messages = [](const std::string& text, CompileLimits limits) {
    CompileRequest request = RequestFor(text);
    request.limits = limits;
    const CompileResult result = Compile(request);
    EXPECT_EQ(result.graph.has_value(), !result.diagnostics.has_errors());
    return Messages(result);
  };
  CompileLimits limits;
  const std::string calls =
      "input x: f32[N]\ny = x\nfor i in 0..9 {\n  for j in 0..2 { y = relu(y) }\n}\noutput y\n";
  limits.calls = 18;
  EXPECT_EQ(messages(calls, limits), "");
  limits.calls = 17;
  EXPECT_EQ(messages(calls, limits),
            "t.pdl:4:12: error: the loops and layers of this file make more than 17 calls of "
            "operators, 17 of them by iteration 2 of 2 of this loop [PDL0012]\n"
            " 4 |   for j in 0..2 { y = relu(y) }\n"
            "   |            ^~~~\n"
            "   = t.pdl:3:10: in iteration 9 of 9 of this loop\n"
            " 3 | for i in 0..9 {\n"
            "   |          ^~~~\n");
  // Estimated by the remaining iterations, it would exceed twice the limit.
  limits.calls = 15;
  EXPECT_EQ(messages(calls, limits),
            "t.pdl:4:12: error: the loops and layers of this file would make more than 15 calls "
            "of operators, 2 of them by iteration 2 of 2 of this loop [PDL0012]\n"
            " 4 |   for j in 0..2 { y = relu(y) }\n"
            "   |            ^~~~\n"
            "   = t.pdl:3:10: in iteration 1 of 9 of this loop\n"
            " 3 | for i in 0..9 {\n"
            "   |          ^~~~\n");
  limits = {};
  const std::string layers =
      "layer a(x: f32[N]) { return relu(x) }\nlayer b(x: f32[N]) { return a(a(x)) }\n"
      "input x: f32[N]\noutput y = b(b(x))\n";
  limits.layer_calls = 6;
  EXPECT_EQ(messages(layers, limits), "");
  limits.layer_calls = 4;
  EXPECT_EQ(messages(layers, limits),
            "t.pdl:4:12: error: the loops and layers of this file make more than 4 calls of "
            "layers, 4 of them by this call of 'b' [PDL0012]\n"
            " 4 | output y = b(b(x))\n"
            "   |            ^\n");
  // Limits do not apply to the source itself, however long it is.
  limits = {};
  limits.calls = limits.steps = limits.layer_calls = 0;
  std::string flat = "input x: f32[N]\ny = x\n";
  for (int i = 0; i < 1000; ++i) flat += "y = relu(y)\n";
  EXPECT_EQ(messages(flat + "output y\n", limits), "");
  limits.list_items = 100;
  std::string ones = "1";
  for (int i = 0; i < 200; ++i) ones += ", 1";
  EXPECT_EQ(messages("xs = [" + ones + "]\noutput y = len(xs)\n", limits), "");
  EXPECT_EQ(messages("xs = [" + ones + "]\nys = [xs...]\noutput y = len(ys)\n", limits),
            "t.pdl:2:7: error: the lists of this file hold more than 100 items; this one, of 201, "
            "goes beyond [PDL0012]\n"
            " 2 | ys = [xs...]\n"
            "   |       ^~\n");
}

// Such a network is valid.
TEST(Limits, HundredsOfThousandsOfCallsCompile) {
  const CompileResult result =
      Compile(RequestFor("input x: f32[N]\ny = x\n"
                         "for i in 0..200 {\n  for j in 0..1000 { y = relu(y) }\n}\noutput y\n"));
  EXPECT_EQ(Messages(result), "");
}

TEST(Errors, HaveOneCode) {
  EXPECT_EQ(llvm::toString(MakeUserError(Code::kBadFile, "a: {0}",
                                         llvm::toString(MakeUserError(Code::kBadNetwork, "b")))),
            "a: b [PDL0401]");
  Diagnostics diagnostics;
  diagnostics
      .Error(Code::kBadFile, nullptr, {}, "a: b [PDL0402] and c [PDL0001], [PDL1], [PDLabcd]")
      .Note("d [PDL0002]");
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.Render(os);
  EXPECT_EQ(text, "error: a: b and c, [PDL1], [PDLabcd] [PDL0401]\n   = d\n");
}

// Programs that aborted the compiler.
TEST(Names, APoisonedNameIsTaken) {
  auto messages = [](const std::string& text) { return Messages(Compile(RequestFor(text))); };
  EXPECT_EQ(messages("input a: f32[]\nx = relu(a)\nx = undefined\ninput x: f32[]\n"),
            "t.pdl:3:5: error: no value is called 'undefined' [PDL0102]\n"
            " 3 | x = undefined\n"
            "   |     ^~~~~~~~~\n"
            "t.pdl:4:7: error: 'x' is defined already [PDL0103]\n"
            " 4 | input x: f32[]\n"
            "   |       ^\n"
            "   = first on line 3\n");
  EXPECT_EQ(messages("input a: f32[N]\nif N > 4 { x = relu(a) }\ninput x: f32[]\n"),
            "t.pdl:3:7: error: 'x' is defined already [PDL0103]\n"
            " 3 | input x: f32[]\n"
            "   |       ^\n");
  // An error gives one message: a name that was only used can still be defined.
  EXPECT_EQ(messages("y = relu(x)\ninput x: f32[]\noutput z = relu(x)\n"),
            "t.pdl:1:10: error: 'x' is used before it is defined, on line 2 [PDL0102]\n"
            " 1 | y = relu(x)\n"
            "   |          ^\n");
  EXPECT_EQ(messages("input a: f32[N]\nb = a\nif training { b = -a }\ninput training: f32[]\n"
                     "output b, training\n"),
            "");
}

}  // namespace
}  // namespace pdl
