#ifndef PDL_IR_DOC_TEXT_H_
#define PDL_IR_DOC_TEXT_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

// Layout of the documentation of operators and layers.

namespace pdl {

/// Appends `text` wrapped to `width` columns and indented; a blank line separates paragraphs.
void AppendWrapped(llvm::StringRef text, unsigned indent, unsigned width, std::string* out);

/// Escapes a string as a cell of a Markdown table.
std::string Cell(llvm::StringRef text);

struct DocListEntry {
  llvm::StringRef name;
  llvm::StringRef comment;
};
/// One line for each: its name and the first sentence of its comment, truncated to `width`.
std::string DocList(llvm::ArrayRef<DocListEntry> entries, unsigned width);

}  // namespace pdl

#endif  // PDL_IR_DOC_TEXT_H_
