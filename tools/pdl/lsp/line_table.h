#ifndef PDL_TOOLS_PDL_LSP_LINE_TABLE_H_
#define PDL_TOOLS_PDL_LSP_LINE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/source.h"

namespace pdl::lsp {

/// How clients count columns.
enum class Encoding : uint8_t { kUtf16, kUtf8 };

/// A line and a column in it, both counted from 0.
struct LineColumn {
  int64_t line = 0;
  int64_t column = 0;
  friend bool operator==(LineColumn, LineColumn) = default;
};

/// Converts between the positions of the protocol and byte offsets of a source. Lines end with
/// "\n", "\r\n" or "\r". The source outlives the table.
class LineTable {
 public:
  /// `skipped` is the number of columns before the first byte of the source: those of a byte order
  /// mark, which a SourceFile removes.
  explicit LineTable(llvm::StringRef source, Encoding encoding = Encoding::kUtf16,
                     unsigned skipped = 0);

  /// The offset of a position. A position outside of the source is moved to the end of its line or
  /// of the source, one inside a character to the beginning of the character.
  uint32_t OffsetOf(LineColumn position) const;
  /// The position of an offset, which may be beyond the end.
  LineColumn PositionOf(uint32_t offset) const;
  /// The number of lines; at least 1.
  size_t num_lines() const { return begins_.size(); }

 private:
  /// The end of a line, without its line end.
  size_t LineEnd(size_t line) const;

  llvm::StringRef source_;
  Encoding encoding_;
  unsigned skipped_;
  std::vector<uint32_t> begins_;
};

/// The number of columns that UTF-8 characters take.
int64_t CountColumns(llvm::StringRef characters, Encoding encoding);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_LINE_TABLE_H_
