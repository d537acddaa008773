#ifndef PDL_TOOLS_PDL_SUPPORT_PARSE_JSON_H_
#define PDL_TOOLS_PDL_SUPPORT_PARSE_JSON_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "runtime/io/json_outline.h"

namespace pdl {

/// Parses JSON of a file. An Error if it is nested deeper than `max_depth`, too.
inline llvm::Expected<llvm::json::Value> ParseJson(llvm::StringRef text, unsigned max_depth) {
  if (OutlineJson(text).depth > max_depth)
    return llvm::createStringError("it is nested too deeply");
  return llvm::json::parse(text);
}

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_PARSE_JSON_H_
