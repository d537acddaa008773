#include "onnx/model/pdl_names.h"

#include "ir/names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/keywords.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

/// Names with a meaning that are not keywords: functions and types of the language.
constexpr llvm::StringLiteral kBuiltin[] = {"int",      "float",     "string", "bool", "shape",
                                            "function", "parameter", "dims",   "len",  "range",
                                            "size",     "grad",      "dtype"};

bool IsTaken(llvm::StringRef name) {
  return IsKeyword(name) || llvm::is_contained(kBuiltin, name) ||
         GlobalRegistry().Find(name) != nullptr || DTypeFromName(name).has_value();
}

/// Longer names lose their beginning, which is often a common prefix.
constexpr size_t kMaxLength = 48;

}  // namespace

std::string ToIdentifier(llvm::StringRef name) {
  name = name.ltrim('/');
  name.consume_back("_output_0");
  name.consume_back(":0");
  llvm::SmallVector<llvm::StringRef, 8> parts, kept;
  name.split(parts, '/', -1, /*KeepEmpty=*/false);
  for (size_t i = 0; i < parts.size(); ++i) {
    // Exporters repeat the path of the parent in each component.
    const bool is_repeated = i + 1 < parts.size() && parts[i + 1].starts_with(parts[i]) &&
                             parts[i + 1].drop_front(parts[i].size()).starts_with(".");
    if (!is_repeated) kept.push_back(parts[i]);
  }
  std::string text;
  for (const char c : llvm::join(kept, "_")) {
    const bool is_good = llvm::isAlnum(c) && static_cast<unsigned char>(c) < 128;
    if (is_good) {
      text += c;
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  if (text.size() > kMaxLength) {
    const size_t cut = text.find('_', text.size() - kMaxLength);
    text = text.substr(cut == std::string::npos ? text.size() - kMaxLength : cut + 1);
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  if (text.empty() || !llvm::isAlpha(text[0])) text = "v" + text;
  return IsTaken(text) ? text + "_" : text;
}

std::string InputName(llvm::StringRef name) {
  return IsPath(name) ? name.str() : ToIdentifier(name);
}

std::string OutputName(llvm::StringRef name) {
  return IsIdentifier(name) ? name.str() : ToIdentifier(name);
}

}  // namespace pdl
