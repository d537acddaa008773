#include "ir/doc_text.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

namespace pdl {
namespace {

unsigned ColumnsOf(llvm::StringRef text) {
  return static_cast<unsigned>(std::max(llvm::sys::unicode::columnWidthUTF8(text), 0));
}

llvm::StringRef FirstSentence(llvm::StringRef text) {
  size_t end = text.find(". ");
  // "Gers et al. (2000)" does not end a sentence.
  while (end != llvm::StringRef::npos && text.take_front(end).ends_with(" al"))
    end = text.find(". ", end + 1);
  return text.take_front(std::min(end, text.find('\n'))).rtrim(".");
}

}  // namespace

void AppendWrapped(llvm::StringRef text, unsigned indent, unsigned width, std::string* out) {
  llvm::SmallVector<llvm::StringRef, 4> paragraphs;
  text.split(paragraphs, "\n\n");
  bool is_first = true;
  for (llvm::StringRef paragraph : paragraphs) {
    if (!std::exchange(is_first, false)) *out += "\n";
    unsigned column = 0;
    for (llvm::StringRef word : llvm::split(paragraph, ' ')) {
      word = word.trim();
      if (word.empty()) continue;
      unsigned columns = ColumnsOf(word);
      if (column > 0 && column + 1 + columns > width) {
        *out += "\n";
        column = 0;
      }
      if (column == 0) {
        *out += std::string(indent, ' ');
        column = indent;
      } else {
        *out += " ";
        ++column;
      }
      *out += word;
      column += columns;
    }
    *out += "\n";
  }
}

std::string Cell(llvm::StringRef text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

std::string DocList(llvm::ArrayRef<DocListEntry> entries, unsigned width) {
  size_t longest = 0;
  for (const DocListEntry& entry : entries) longest = std::max(longest, entry.name.size());
  std::string text;
  for (const DocListEntry& entry : entries) {
    std::string line = entry.name.str() + std::string(longest + 2 - entry.name.size(), ' ');
    std::string comment = FirstSentence(entry.comment).str();
    bool is_cut = false;
    while (!comment.empty() && line.size() + ColumnsOf(comment) + (is_cut ? 3 : 0) > width) {
      size_t space = comment.rfind(' ');
      comment.resize(space == std::string::npos ? 0 : space);
      is_cut = true;
    }
    text += line + comment + (is_cut ? "..." : "") + "\n";
  }
  return text;
}

}  // namespace pdl
