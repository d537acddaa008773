#ifndef PDL_RUNTIME_IO_JSON_OUTLINE_H_
#define PDL_RUNTIME_IO_JSON_OUTLINE_H_

#include <algorithm>
#include <cstddef>

#include "llvm/ADT/StringRef.h"

namespace pdl {

/// Properties of JSON source that llvm::json does not check: it recurses over nesting, and keeps
/// the last of equal keys. So the depth is checked before parsing, and the number of pairs
/// afterwards.
struct JsonOutline {
  unsigned depth = 0;
  size_t pairs = 0;  // of name and value, in all objects
};

inline JsonOutline OutlineJson(llvm::StringRef text) {
  JsonOutline outline;
  unsigned depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      outline.depth = std::max(outline.depth, ++depth);
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
    } else if (c == ':') {
      ++outline.pairs;
    }
  }
  return outline;
}

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_JSON_OUTLINE_H_
