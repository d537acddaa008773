#include "pdl/compiler/format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/syntax/ast_printer.h"
#include "frontend/syntax/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "test/cc/testing/random_program.h"
#include "test/cc/testing/sanitizers.h"

namespace pdl {
namespace {

std::shared_ptr<const SourceFile> Source(std::string text) {
  return std::make_shared<const SourceFile>("t.pdl", std::move(text));
}

std::string Messages(const Diagnostics& diagnostics) {
  std::string messages;
  llvm::raw_string_ostream os(messages);
  diagnostics.Render(os);
  return messages;
}

std::string Format(std::string text) {
  Diagnostics diagnostics;
  std::optional<std::string> result = FormatText(Source(std::move(text)), &diagnostics);
  if (result) return *result;
  ADD_FAILURE() << Messages(diagnostics);
  return "";
}

// Formatting must preserve the syntax tree and the order of comments.
std::string Meaning(const std::string& text) {
  Diagnostics diagnostics;
  const std::unique_ptr<Ast> ast = Parse(Source(text), &diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << Messages(diagnostics);
  std::string meaning;
  llvm::raw_string_ostream os(meaning);
  PrintAst(*ast, os, /*positions=*/false);
  for (const ast::Comment& comment : ast->comments)
    os << ast->file->Text(comment.range).rtrim() << '\n';
  return meaning;
}

// The lines around the first difference.
std::string Difference(llvm::StringRef wanted, llvm::StringRef got) {
  const size_t common =
      std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end()).first - wanted.begin();
  auto excerpt = [&](llvm::StringRef text) {
    size_t begin = text.take_front(common).rfind('\n');
    begin = begin == llvm::StringRef::npos ? 0 : text.take_front(begin).rfind('\n') + 1;
    return text.substr(begin, common - begin + 300).str();
  };
  return "wanted:\n" + excerpt(wanted) + "\ngot:\n" + excerpt(got);
}

// Returns false if formatting changes the meaning, or if formatting again changes the result.
bool Check(const std::string& text) {
  const std::string once = Format(text);
  const std::string meaning = Meaning(text);
  const std::string meaning_of_once = Meaning(once);
  EXPECT_TRUE(meaning_of_once == meaning) << Difference(meaning, meaning_of_once);
  const std::string twice = Format(once);
  EXPECT_TRUE(twice == once) << Difference(once, twice);
  return !testing::Test::HasFailure();
}

constexpr uint64_t kNumPrograms = kIsSanitized ? 1'000 : 10'000;

TEST(Format, KeepsMeaningOfRandomProgramsAndIsIdempotent) {
  size_t bytes = 0;
  for (uint64_t seed = 0; seed < kNumPrograms; ++seed) {
    const std::string text = RandomProgram(seed, 1 + seed % 14);
    bytes += text.size();
    ASSERT_TRUE(Check(text)) << "seed " << seed;
  }
  RecordProperty("kilobytes", static_cast<int>(bytes / 1024));
}

TEST(Format, RandomProgramsHaveEveryStatement) {
  std::string trees;
  for (uint64_t seed = 0; seed < 200; ++seed) trees += "\n" + Meaning(RandomProgram(seed, 40));
  for (const char* word :
       {"attr",   "input",    "param",  "state", "update",   "output",    "return",
        "layer",  "instance", "import", "load",  "minimize", "assert",    "feed",
        "expect", "if",       "for",    "test",  "assign",   "expression"}) {
    EXPECT_NE(trees.find(std::string("\n") + word), std::string::npos) << word;
  }
  for (const char* word :
       {"number", "string", "none",   "name where", "parenthesis", "list",     "record", "call",
        "callee", "index",  "slice",  "member",     "prefix not",  "prefix -", "chain",  "**",
        "|>",     "..=",    "ragged", "sparse",     "else",        "over",     "every",  "tol",
        "where",  "doc",    "?",      "with",       "..."}) {
    EXPECT_NE(trees.find(word), std::string::npos) << word;
  }
}

TEST(Format, LongChainsTakeLinearTime) {
  std::string sum = "y = f(a0", pipe = "y = x", powers = "y = x";
  for (int i = 1; i < 10'000; ++i) {
    sum += " + a" + std::to_string(i) + "[0]*g(" + std::to_string(i) + ")";
    pipe += " |> relu()";
    if (i % 50 == 0) powers += " ** 2";
  }
  EXPECT_TRUE(Check(sum + ")\n"));
  EXPECT_TRUE(Check(sum + ") + 1\n"));
  EXPECT_TRUE(Check(pipe + "\n"));
  EXPECT_TRUE(Check(powers + "\n"));
}

TEST(Format, ALineOfTenMegabytes) {
  std::string numbers = "y = [0";
  while (numbers.size() < 10'000'000) numbers += ",1.5";
  EXPECT_LT(Format(numbers + "]").size(), 2 * numbers.size());
  std::string text = "y = \"" + std::string(10'000'000, 'x') + "\"\n";
  EXPECT_EQ(Format(text), text);
  std::string calls = "y = 0";
  while (calls.size() < 2'000'000) calls += "+f(abcdef,ghijkl)[1,2]";
  EXPECT_LT(Format(calls).size(), 2 * calls.size());
}

TEST(Format, DeepNesting) {
  for (const char* pair : {"()", "[]"}) {
    const std::string text = "y = " + std::string(200, pair[0]) +
                             "a_rather_long_name + another_one" + std::string(200, pair[1]) + "\n";
    EXPECT_TRUE(Check(text));
  }
}

TEST(Format, ErrorsGiveNoText) {
  Diagnostics diagnostics;
  EXPECT_FALSE(FormatText(Source("y = f(\nx = 1\n"), &diagnostics).has_value());
  EXPECT_TRUE(diagnostics.has_errors());
}

TEST(Format, EmptyTexts) {
  EXPECT_EQ(Format(""), "");
  EXPECT_EQ(Format("\n\n  \n"), "");
  EXPECT_EQ(Format("# only this"), "# only this\n");
  EXPECT_EQ(Format("\n\n# a\n\n\n# b\n\n"), "# a\n\n# b\n");
}

}  // namespace
}  // namespace pdl
