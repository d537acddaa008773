#include "ir/escape_markup.h"

#include "llvm/Support/JSON.h"

namespace pdl {

std::string EscapeMarkup(llvm::StringRef string) {
  const std::string valid = llvm::json::isUTF8(string) ? string.str() : llvm::json::fixUTF8(string);
  std::string escaped;
  for (const char c : valid) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
        escaped += "&#10;";  // in an attribute, XML reads a newline as a space
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace pdl
