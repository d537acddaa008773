// Module: frontend
#ifndef PDL_COMPILER_SOURCE_H_
#define PDL_COMPILER_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// A run of bytes of a source text: [begin, end).
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  friend bool operator==(SourceRange, SourceRange) = default;
};

/// From the begin of one range to the end of another.
inline SourceRange Span(SourceRange first, SourceRange last) { return {first.begin, last.end}; }

/// A place as people name it: line and column count from 1, a column is one Unicode character.
struct SourcePosition {
  uint32_t line = 1;
  uint32_t column = 1;
  friend bool operator==(SourcePosition, SourcePosition) = default;
};

/// A text with its name and its table of lines. Immutable; safe to share between threads.
class PDL_API SourceFile {
 public:
  /// The most bytes a text may have.
  static constexpr size_t kMaxSize = size_t{1} << 31;

  /// `name` is what messages call it. A byte order mark at the start is no part of the text.
  /// Requires text.size() <= kMaxSize.
  SourceFile(std::string name, std::string text);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  llvm::StringRef name() const { return name_; }
  llvm::StringRef text() const { return text_; }
  llvm::StringRef Text(SourceRange range) const { return text().slice(range.begin, range.end); }

  /// The line that holds byte `offset`, from 1.
  uint32_t LineOf(uint32_t offset) const;
  /// Offset of the first byte of line `line`.
  uint32_t LineBegin(uint32_t line) const { return line_begins_[line - 1]; }
  /// The text of a line, without its end.
  llvm::StringRef Line(uint32_t line) const;
  uint32_t num_lines() const { return static_cast<uint32_t>(line_begins_.size()); }
  /// Takes time in the length of the line; see PositionCursor for many places.
  SourcePosition PositionOf(uint32_t offset) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_begins_;
};

/// Finds the positions of offsets that lie near each other in constant time each, so that a pass
/// over a text takes linear time, whatever the length of its lines.
class PDL_API PositionCursor {
 public:
  explicit PositionCursor(const SourceFile& file) : file_(&file) {}
  SourcePosition At(uint32_t offset);

 private:
  const SourceFile* file_;
  uint32_t offset_ = 0;
  SourcePosition position_;
};

/// Number of characters in UTF-8 text; a byte that is not UTF-8 counts as one or none.
PDL_API size_t CountCharacters(llvm::StringRef text);
/// Offset of the first byte that is not part of valid UTF-8, or npos.
PDL_API size_t FindInvalidUtf8(llvm::StringRef text);

}  // namespace pdl

#endif  // PDL_COMPILER_SOURCE_H_
