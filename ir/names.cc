#include "ir/names.h"

#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {

bool IsReservedWord(llvm::StringRef word) {
  constexpr bool kReserved = true, kAlsoName = false;
  return llvm::StringSwitch<bool>(word)
#define PDL_WORD(spelling, token, use) .Case(spelling, use)
#include "ir/keywords.def"
      .Default(false);
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

bool IsPrintable(llvm::StringRef text) {
  return llvm::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool IsWeightName(llvm::StringRef text) { return !text.empty() && IsPrintable(text); }

}  // namespace pdl
