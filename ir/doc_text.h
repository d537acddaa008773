#ifndef PDL_IR_DOC_TEXT_H_
#define PDL_IR_DOC_TEXT_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

// What documentation of operators and layers is laid out with.

namespace pdl {

/// Appends the words of `text` in lines of `width` columns, each indented; a blank line separates
/// paragraphs.
void AppendWrapped(llvm::StringRef text, unsigned indent, unsigned width, std::string* out);

/// A cell of a Markdown table.
std::string Cell(llvm::StringRef text);

struct DocListEntry {
  llvm::StringRef name;
  llvm::StringRef comment;
};
/// A line for each: its name and the first sentence of its comment, cut at `width`.
std::string DocList(llvm::ArrayRef<DocListEntry> entries, unsigned width);

}  // namespace pdl

#endif  // PDL_IR_DOC_TEXT_H_
