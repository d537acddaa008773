#include "ir/names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

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
  constexpr size_t kLongest = 8;
  return word.size() <= kLongest && llvm::any_of(kWords, [&](const Word& each) {
           return each.use == Use::kReserved && each.spelling == word;
         });
}

/// Letters, digits and '_', but no reserved word.
bool IsWord(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !IsReservedWord(text);
}

}  // namespace

bool IsIdentifier(llvm::StringRef text) { return IsWord(text) && !llvm::isDigit(text[0]); }

bool IsPath(llvm::StringRef text) {
  if (text.empty() || llvm::isDigit(text[0])) return false;
  for (;;) {
    const auto [first, rest] = text.split('.');
    if (!IsWord(first)) return false;
    if (first.size() == text.size()) return true;
    text = rest;
  }
}

}  // namespace pdl
