#include "frontend/syntax/keywords.h"

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

size_t WordType(llvm::StringRef word) {
  if (word.size() > 8 || !llvm::isLower(word[0])) return PdlParser::NAME;
  return llvm::StringSwitch<size_t>(word)
#define PDL_WORD(spelling, token, use) .Case(spelling, PdlParser::token)
#include "ir/keywords.def"
      .Default(PdlParser::NAME);
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
