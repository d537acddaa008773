// Source that is hard to parse.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "frontend/syntax/keywords.h"
#include "frontend/syntax/lexer.h"
#include "grammar/PdlLexer.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/StringExtras.h"
#include "test/cc/testing/parse_testing.h"

namespace pdl {
namespace {

constexpr size_t kMany = 100'000;

std::string Repeat(llvm::StringRef text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

// "column: code" of the only message.
std::string OnlyMistake(std::string text) {
  Parsed parsed(std::move(text));
  if (parsed.diagnostics.num_errors() != 1) return parsed.Messages();
  const Diagnostic& diagnostic = parsed.diagnostics.all()[0];
  return std::to_string(diagnostic.file->PositionOf(diagnostic.primary.begin).column) + ": " +
         CodeName(diagnostic.code);
}

TEST(ParseRobustnessTest, DeepNestingIsOneMistake) {
  EXPECT_EQ(OnlyMistake("y = " + Repeat("(", 10'000) + "x" + Repeat(")", 10'000)), "261: PDL0003");
  EXPECT_EQ(OnlyMistake("y = " + Repeat("(", 10'000)), "261: PDL0003");
  EXPECT_EQ(OnlyMistake("y = " + Repeat("[", 256) + Repeat("]", 256)), "");
  EXPECT_EQ(OnlyMistake("y = " + Repeat("-", kMany) + "x"), "99749: PDL0003");
  EXPECT_EQ(OnlyMistake("y = " + Repeat("not ", kMany) + "x"), "398981: PDL0003");
  EXPECT_EQ(OnlyMistake("y = 2" + Repeat(" ** 2", kMany)), "5: PDL0003");
  EXPECT_EQ(OnlyMistake("y = " + Repeat("-(", 10'000) + "x" + Repeat(")", 10'000)), "518: PDL0003");
  EXPECT_EQ(OnlyMistake("y = x" + Repeat("[0]", kMany)), "5: PDL0003");
  EXPECT_EQ(OnlyMistake("y = x" + Repeat("()", kMany)), "5: PDL0003");
  EXPECT_EQ(OnlyMistake("y = x" + Repeat(".a", kMany)), "5: PDL0003");
  EXPECT_EQ(OnlyMistake(Repeat("if a {\n", 300) + Repeat("}\n", 300)), "6: PDL0003");
}

TEST(ParseRobustnessTest, LongIsNotDeep) {
  for (const std::string& text :
       {"y = x" + Repeat(" + x", kMany), "y = x" + Repeat(" |> f()", kMany),
        "y = x" + Repeat("\n  |> f()", kMany), "y = f(x" + Repeat(", x", kMany) + ")",
        "if a { x = 1 }" + Repeat(" else if a { x = 1 }", kMany),
        "y = x\n" + Repeat("# comment\n", kMany), Repeat("## doc\n", kMany) + "y = x"}) {
    Parsed parsed(text);
    EXPECT_EQ(parsed.Messages(), "");
    EXPECT_EQ(parsed.ast->statements.size(), 1u);
    EXPECT_NE(parsed.Tree(), "");
  }
}

TEST(ParseRobustnessTest, ManyMistakesTakeLinearTime) {
  for (llvm::StringRef line : {"y = f(x\n", "y = f(x]\n", "layer f(x: F[N]) {\n", "y = f x\n",
                               "y = 2 * a |> f() + 1\n", "y = a |> b\n", "y = 1 < 2 < 3\n"}) {
    Parsed parsed(Repeat(line, 20'000));
    EXPECT_EQ(parsed.diagnostics.num_errors(), 20'000u) << line.str();
    EXPECT_EQ(parsed.diagnostics.all().size(), Diagnostics::kMaxKept);
  }
  EXPECT_EQ(OnlyMistake("y = f(x\n" + Repeat("\n", kMany) + "z = 3"), "6: PDL0004");
  EXPECT_EQ(OnlyMistake("y = f(x\n" + Repeat("# c\n", kMany) + "z = 3"), "6: PDL0004");
}

TEST(ParseRobustnessTest, ALongLineIsCut) {
  Parsed parsed("y = x" + Repeat(" + x", 2'500'000) + " $ x" + Repeat(" + x", 1000));
  EXPECT_EQ(parsed.Messages(),
            "t.pdl:1:10000007: error: unexpected '$' [PDL0006]\n"
            " 1 | ...+ x" +
                Repeat(" + x", 14) + " $ x" + Repeat(" + x", 14) +
                " ...\n"
                "   | " +
                std::string(63, ' ') + "^\n");
}

const char* const kSeeds[] = {
    "layer fc(xs...: F[..., D] | i64[...] in 0..D,  ## many\n  size: int > 0, act: function = "
    "none) {\n"
    "  for i, x in xs {\n    param w: F[D, size] = xavier() with a[i]\n    t = [t..., x @ w]\n  }\n"
    "  if bias { y = y + b } else { z = 1 }\n  return y |> act() |> dropout(p=0.5)\n}\n",
    "input x: f32[N, 3, 8*H] where H % 2 == 0, N in 1..=256\nattr w: int > 0 = 1_000\n"
    "y, _ = f(x[0:10, :, -1, none, ...], a={b=1e-3, c=\"t\\n\\u{1F600}\"})\n\n  |> g(1)\n"
    "update s = -s ** 2 // 3\noutput z = y.last, y\n",
    "test \"a b\" with {n=1} {\n  feed x = [[1, 2], [3]]\n  expect a ~= b tol 1e-5\n"
    "  expect error \"bad\" in f(x)\n}\nminimize l over [a] with adam() every 5\nload \"w\" into "
    "a.b\n",
};

TEST(ParseRobustnessTest, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  const llvm::StringRef snippets[] = {
      "(",   ")",    "[",    "]",  "{",    "}",  "\"",  "\n",     "|>",    "..",
      "...", ",",    "=",    "#",  "\\",   "in", "if ", "layer ", "1",     ".",
      "e9",  "\xC3", "\xA9", "\0", "not ", "-",  "**",  "else",   "with {"};
  for (int round = 0; round < 6000; ++round) {
    std::string text = kSeeds[random() % std::size(kSeeds)];
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 5);
          break;
        case 1:
          text.insert(at, snippets[random() % std::size(snippets)].str());
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    Parsed parsed(text);
    size_t broken = 0;
    for (const ast::Statement* statement : parsed.ast->statements) {
      broken += statement->kind == ast::StatementKind::kBroken;
    }
    if (!parsed.ast->statements.empty()) {
      EXPECT_EQ(broken, parsed.diagnostics.num_errors()) << text << parsed.Messages();
    }
    (void)parsed.Tree();
    (void)parsed.Messages();
  }
}

// The lexer and the lexer described by the grammar produce the same tokens.
TEST(ParseRobustnessTest, LexerFollowsTheGrammar) {
  for (std::string text : kSeeds) {
    std::vector<std::string> wanted;
    antlr4::ANTLRInputStream input(text);
    PdlLexer reference(&input);
    const antlr4::dfa::Vocabulary& vocabulary = reference.getVocabulary();
    for (const auto& token : reference.getAllTokens()) {
      if (token->getType() == PdlLexer::NL) continue;
      wanted.push_back(vocabulary.getSymbolicName(token->getType()) + " " + token->getText());
    }

    std::vector<std::string> found;
    auto file = std::make_shared<SourceFile>("t.pdl", text);
    std::vector<ast::Comment> comments;
    Diagnostics diagnostics;
    Lexer lexer(file, &comments, &diagnostics);
    Unit unit;
    while (lexer.NextUnit(&unit)) {
      for (const Token& token : unit.tokens) {
        size_t type = token.type();
        if (type == PdlParser::NL || type == antlr4::Token::EOF) continue;
        std::string spelled = file->Text(token.range()).str();
        if (type == PdlParser::REC) type = PdlParser::LBRACE;
        if (type > PdlParser::REC) type = PdlParser::NAME;  // a soft keyword
        found.push_back(vocabulary.getSymbolicName(type) + " " + spelled);
      }
    }
    EXPECT_EQ(found, wanted);
  }
}

// Keywords are the words of the grammar, including those that it accepts as names.
TEST(ParseRobustnessTest, KeywordsAreThoseOfTheGrammar) {
  antlr4::ANTLRInputStream input("");
  PdlLexer reference(&input);
  const antlr4::dfa::Vocabulary& vocabulary = reference.getVocabulary();
  std::map<std::string, size_t> wanted, found;
  for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
    const std::string literal = vocabulary.getLiteralName(type);  // "'and'"
    if (literal.size() > 2 && llvm::isAlpha(literal[1]))
      wanted[literal.substr(1, literal.size() - 2)] = type;
  }
  EXPECT_EQ(wanted.size(), 24u);
  for (const Keyword& keyword : Keywords()) {
    const bool is_number = keyword.token == PdlParser::NUMBER;
    if (keyword.use != Keyword::Use::kStatement && !is_number)
      found[keyword.spelling.str()] = keyword.token;
    EXPECT_EQ(IsReserved(keyword.token), keyword.use == Keyword::Use::kReserved && !is_number);
  }
  EXPECT_EQ(found, wanted);
  for (const Keyword& keyword : Keywords()) {
    if (keyword.token == PdlParser::NUMBER) continue;
    const Parsed as_name((keyword.spelling + " = 1\n").str());
    EXPECT_EQ(as_name.diagnostics.has_errors(), keyword.use == Keyword::Use::kReserved)
        << keyword.spelling.str() << as_name.Messages();
  }
}

}  // namespace
}  // namespace pdl
