#include "tools/pdl/lsp/line_table.h"

#include <algorithm>

namespace pdl::lsp {
namespace {

// The number of bytes of the character that begins with this byte; 1 for a byte that begins none.
size_t BytesOf(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

int64_t ColumnsOf(char first, size_t bytes, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return static_cast<int64_t>(bytes);
  // Characters beyond the first 65536 are surrogate pairs.
  return static_cast<unsigned char>(first) >= 0xF0 ? 2 : 1;
}

}  // namespace

int64_t CountColumns(llvm::StringRef characters, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return static_cast<int64_t>(characters.size());
  int64_t columns = 0;
  for (size_t at = 0; at < characters.size(); at += BytesOf(characters[at]))
    columns += ColumnsOf(characters[at], 1, encoding);
  return columns;
}

LineTable::LineTable(llvm::StringRef source, Encoding encoding, unsigned skipped)
    : source_(source), encoding_(encoding), skipped_(skipped), begins_{0} {
  for (size_t at = source.find_first_of("\r\n"); at != llvm::StringRef::npos;
       at = source.find_first_of("\r\n", at)) {
    at += source.substr(at).starts_with("\r\n") ? 2 : 1;
    begins_.push_back(static_cast<uint32_t>(at));
  }
}

size_t LineTable::LineEnd(size_t line) const {
  if (line + 1 == begins_.size()) return source_.size();
  size_t end = begins_[line + 1] - 1;
  if (source_[end] == '\n' && end > begins_[line] && source_[end - 1] == '\r') --end;
  return end;
}

uint32_t LineTable::OffsetOf(LineColumn position) const {
  if (position.line < 0) return 0;
  if (static_cast<uint64_t>(position.line) >= begins_.size())
    return static_cast<uint32_t>(source_.size());
  const auto line = static_cast<size_t>(position.line);
  const size_t end = LineEnd(line);
  size_t at = begins_[line];
  int64_t column = line == 0 ? skipped_ : 0;
  while (at < end) {
    const size_t bytes = std::min(BytesOf(source_[at]), end - at);
    column += ColumnsOf(source_[at], bytes, encoding_);
    if (column > position.column) break;
    at += bytes;
  }
  return static_cast<uint32_t>(at);
}

LineColumn LineTable::PositionOf(uint32_t offset) const {
  const auto limited = static_cast<uint32_t>(std::min<size_t>(offset, source_.size()));
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), limited);
  const auto line = static_cast<size_t>(next - begins_.begin()) - 1;
  const size_t end = std::min<size_t>(limited, LineEnd(line));
  const int64_t columns = CountColumns(source_.slice(begins_[line], end), encoding_);
  return {static_cast<int64_t>(line), columns + (line == 0 ? skipped_ : 0)};
}

}  // namespace pdl::lsp
