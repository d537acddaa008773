#include "ir/names.h"

#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

bool IsReservedWord(llvm::StringRef word) {
  enum class Use { kReserved, kAlsoName };
  struct Word {
    llvm::StringRef spelling;
    Use use;
  };
  static constexpr Word kWords[] = {
#define PDL_WORD(spelling, token, use) {spelling, Use::use},
#include "ir/keywords.def"
  };
  return llvm::any_of(kWords, [&](const Word& each) {
    return each.use == Use::kReserved && each.spelling == word;
  });
}

namespace {

/// Letters, digits and '_'.
bool IsWord(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

}  // namespace

bool IsIdentifier(llvm::StringRef text) {
  return IsWord(text) && !llvm::isDigit(text[0]) && !IsReservedWord(text);
}

bool IsPath(llvm::StringRef text) {
  auto [word, rest] = text.split('.');
  if (!IsIdentifier(word)) return false;
  while (word.size() < text.size()) {
    text = rest;
    std::tie(word, rest) = text.split('.');
    if (!IsWord(word)) return false;
  }
  return true;
}

}  // namespace pdl
