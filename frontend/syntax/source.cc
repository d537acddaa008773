#include "pdl/compiler/source.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "llvm/Support/ConvertUTF.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

size_t CountCharacters(llvm::StringRef text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !ContinuesCharacter(c); }));
}

size_t FindInvalidUtf8(llvm::StringRef text) {
  const char* p = text.begin();
  const char* const end = text.end();
  while (p != end) {
    uint64_t word;
    if (end - p >= 8) {
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080u) == 0) {
        p += 8;
        continue;
      }
    }
    if (static_cast<unsigned char>(*p) < 0x80) {
      ++p;
      continue;
    }
    const auto* bytes = reinterpret_cast<const llvm::UTF8*>(p);
    if (!llvm::isLegalUTF8Sequence(bytes, reinterpret_cast<const llvm::UTF8*>(end))) {
      return static_cast<size_t>(p - text.begin());
    }
    p += llvm::getNumBytesForUTF8(*bytes);
  }
  return llvm::StringRef::npos;
}

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  assert(text_.size() <= kMaxSize && "offsets are 32 bits wide");
  if (llvm::StringRef(text_).starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
  line_begins_.push_back(0);
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  for (const char* p = begin; p != end;) {
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
    if (newline == nullptr) break;
    p = static_cast<const char*>(newline) + 1;
    line_begins_.push_back(static_cast<uint32_t>(p - begin));
  }
}

uint32_t SourceFile::LineOf(uint32_t offset) const {
  auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  return static_cast<uint32_t>(next - line_begins_.begin());
}

llvm::StringRef SourceFile::Line(uint32_t line) const {
  const uint32_t begin = line_begins_[line - 1];
  const size_t end = line < line_begins_.size() ? line_begins_[line] - 1 : text_.size();
  llvm::StringRef result = text().slice(begin, end);
  result.consume_back("\r");
  return result;
}

SourcePosition SourceFile::PositionOf(uint32_t offset) const {
  const uint32_t line = LineOf(offset);
  const size_t before = CountCharacters(text().slice(LineBegin(line), offset));
  return {line, static_cast<uint32_t>(before + 1)};
}

std::optional<uint32_t> SourceFile::OffsetOf(SourcePosition position) const {
  if (position.line < 1 || position.line > num_lines() || position.column < 1) return std::nullopt;
  const llvm::StringRef line = Line(position.line);
  uint32_t column = 1;
  for (uint32_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && ContinuesCharacter(line[i])) continue;
    if (column++ == position.column) return LineBegin(position.line) + i;
  }
  return std::nullopt;
}

SourcePosition PositionCursor::At(uint32_t offset) {
  uint32_t line = position_.line;
  const uint32_t lines = file_->num_lines();
  if (offset < file_->LineBegin(line) ||
      (line + 2 < lines && offset >= file_->LineBegin(line + 2))) {
    line = file_->LineOf(offset);
  } else {
    while (line < lines && offset >= file_->LineBegin(line + 1)) ++line;
  }
  const llvm::StringRef text = file_->text();
  const uint32_t begin = file_->LineBegin(line);
  uint32_t column;
  if (line == position_.line && offset >= offset_) {
    column = position_.column + static_cast<uint32_t>(CountCharacters(text.slice(offset_, offset)));
  } else if (line == position_.line && offset_ - offset < offset - begin) {
    column = position_.column - static_cast<uint32_t>(CountCharacters(text.slice(offset, offset_)));
  } else {
    column = 1 + static_cast<uint32_t>(CountCharacters(text.slice(begin, offset)));
  }
  offset_ = offset;
  position_ = {line, column};
  return position_;
}

}  // namespace pdl
