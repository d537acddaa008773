// Module: frontend
#ifndef PDL_COMPILER_SOURCE_H_
#define PDL_COMPILER_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// A range of bytes of a source: [begin, end).
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  friend bool operator==(SourceRange, SourceRange) = default;
};

/// Returns the range from the beginning of `first` to the end of `last`.
inline SourceRange Span(SourceRange first, SourceRange last) { return {first.begin, last.end}; }

/// A position for people: line and column count from 1; a column is one Unicode character.
struct SourcePosition {
  uint32_t line = 1;
  uint32_t column = 1;
  friend bool operator==(SourcePosition, SourcePosition) = default;
};

/// A source with its name and its line table. Immutable; safe to share between threads.
class PDL_API SourceFile {
 public:
  /// The maximum size in bytes.
  static constexpr size_t kMaxSize = size_t{1} << 31;

  /// `name` is used in messages. A leading byte order mark is removed. A source has at most
  /// kMaxSize bytes.
  SourceFile(std::string name, std::string text);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  llvm::StringRef name() const { return name_; }
  llvm::StringRef text() const { return text_; }
  /// The source as a string that keeps `file` alive.
  static std::shared_ptr<const std::string> TextOf(const std::shared_ptr<const SourceFile>& file) {
    return {file, &file->text_};
  }
  llvm::StringRef Text(SourceRange range) const { return text().slice(range.begin, range.end); }

  /// The line, counted from 1, that contains the byte at `offset`.
  uint32_t LineOf(uint32_t offset) const;
  /// The offset of the first byte of `line`.
  uint32_t LineBegin(uint32_t line) const { return line_begins_[line - 1]; }
  /// The characters of a line, without its line end.
  llvm::StringRef Line(uint32_t line) const;
  /// The offset of a position; nullopt if the file does not have it.
  std::optional<uint32_t> OffsetOf(SourcePosition position) const;
  uint32_t num_lines() const { return static_cast<uint32_t>(line_begins_.size()); }
  /// Takes time linear in the length of the line; for many positions, use PositionCursor.
  SourcePosition PositionOf(uint32_t offset) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_begins_;
};

/// Computes positions of nearby offsets in amortized constant time, so that a pass over a source is
/// linear even if its lines are long.
class PDL_API PositionCursor {
 public:
  explicit PositionCursor(const SourceFile& file) : file_(&file) {}
  SourcePosition At(uint32_t offset);

 private:
  const SourceFile* file_;
  uint32_t offset_ = 0;
  SourcePosition position_;
};

/// The number of characters of a UTF-8 string. A byte that is not valid UTF-8 counts as one or
/// none.
PDL_API size_t CountCharacters(llvm::StringRef text);
/// The offset of the first byte that is not part of valid UTF-8, or npos.
PDL_API size_t FindInvalidUtf8(llvm::StringRef text);

}  // namespace pdl

#endif  // PDL_COMPILER_SOURCE_H_
