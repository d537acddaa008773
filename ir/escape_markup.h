#ifndef PDL_IR_ESCAPE_MARKUP_H_
#define PDL_IR_ESCAPE_MARKUP_H_

#include <string>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The string as content, or as the value of an attribute in double quotes, of HTML and of XML 1.0:
/// with entities, '?' for control characters that XML does not allow, and U+FFFD for bytes that are
/// not UTF-8.
PDL_API std::string EscapeMarkup(llvm::StringRef string);

}  // namespace pdl

#endif  // PDL_IR_ESCAPE_MARKUP_H_
