#include "frontend/syntax/keywords.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "grammar/PdlParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/compiler/keywords.h"

namespace pdl {

llvm::ArrayRef<Keyword> Keywords() {
  static constexpr Keyword kKeywords[] = {
#define PDL_WORD(spelling, token, use) {spelling, PdlParser::token, Keyword::Use::use},
#define PDL_STATEMENT_WORD(spelling, token) {spelling, PdlParser::token, Keyword::Use::kStatement},
#include "ir/keywords.def"
  };
  return kKeywords;
}

namespace {

/// The keywords that are always that token.
struct Words {
  struct Word {
    std::string_view spelling;
    size_t token;
  };
  static constexpr Word kWords[] = {
#define PDL_WORD(spelling, token, use) {spelling, PdlParser::token},
#include "ir/keywords.def"
  };
  /// For each first letter, a bit for each length.
  std::array<uint32_t, 26> lengths{};

  constexpr Words() {
    for (const Word& word : kWords)
      lengths[static_cast<size_t>(word.spelling.front() - 'a')] |= 1U << word.spelling.size();
  }
  bool MayHave(llvm::StringRef word) const {
    return word.size() < 32 && llvm::isLower(word.front()) &&
           ((lengths[static_cast<size_t>(word.front() - 'a')] >> word.size()) & 1) != 0;
  }
};

}  // namespace

size_t WordType(llvm::StringRef word) {
  static constexpr Words kWords;
  if (!kWords.MayHave(word)) return PdlParser::NAME;
  const auto* found = llvm::find_if(
      Words::kWords, [&](const auto& each) { return llvm::StringRef(each.spelling) == word; });
  return found == std::end(Words::kWords) ? size_t{PdlParser::NAME} : found->token;
}

size_t StatementWordType(llvm::StringRef word) {
  return llvm::StringSwitch<size_t>(word)
#define PDL_STATEMENT_WORD(spelling, token) .Case(spelling, PdlParser::token)
#include "ir/keywords.def"
      .Default(PdlParser::NAME);
}

bool IsKeyword(llvm::StringRef word) {
  return llvm::any_of(Keywords(), [&](const Keyword& keyword) { return keyword.spelling == word; });
}

bool IsReserved(size_t token) {
  return token != PdlParser::NUMBER && llvm::any_of(Keywords(), [&](const Keyword& keyword) {
           return keyword.token == token && keyword.use == Keyword::Use::kReserved;
         });
}

bool StartsStatement(size_t token) {
  switch (token) {
    case PdlParser::ASSERT:
    case PdlParser::EXPECT:
    case PdlParser::FOR:
    case PdlParser::IF:
    case PdlParser::IMPORT:
    case PdlParser::LAYER:
    case PdlParser::MINIMIZE:
    case PdlParser::RETURN:
      return true;
    default:
      return llvm::any_of(Keywords(), [&](const Keyword& keyword) {
        return keyword.token == token && keyword.use == Keyword::Use::kStatement;
      });
  }
}

}  // namespace pdl
