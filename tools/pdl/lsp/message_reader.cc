#include "tools/pdl/lsp/message_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "llvm/Support/JSON.h"

namespace pdl::lsp {

bool MessageReader::Fill() {
  constexpr size_t kBlock = 1 << 16;
  buffer_.resize_for_overwrite(kBlock);
  at_ = 0;
  ssize_t count;
  do {
    count = read(fd_, buffer_.data(), kBlock);
  } while (count < 0 && errno == EINTR);
  buffer_.truncate(count > 0 ? static_cast<size_t>(count) : 0);
  return !buffer_.empty();
}

std::optional<std::string> MessageReader::ReadLine() {
  // A longer line is no header.
  constexpr size_t kMaxLine = 4096;
  std::string line;
  while (true) {
    if (at_ == buffer_.size() && !Fill()) return std::nullopt;
    const char c = buffer_[at_++];
    if (c == '\n') break;
    if (line.size() < kMaxLine) line += c;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

bool MessageReader::ReadBytes(size_t count, std::string* bytes) {
  while (bytes->size() < count) {
    if (at_ == buffer_.size() && !Fill()) return false;
    const size_t taken = std::min(count - bytes->size(), buffer_.size() - at_);
    bytes->append(buffer_.data() + at_, taken);
    at_ += taken;
  }
  return true;
}

bool MessageReader::SkipBytes(size_t count) {
  while (count > 0) {
    if (at_ == buffer_.size() && !Fill()) return false;
    const size_t taken = std::min(count, buffer_.size() - at_);
    count -= taken;
    at_ += taken;
  }
  return true;
}

std::optional<std::string> MessageReader::Next() {
  std::optional<size_t> length;
  while (true) {
    const std::optional<std::string> line = ReadLine();
    if (!line) return std::nullopt;
    llvm::StringRef header(*line);
    if (header.consume_front_insensitive("content-length:")) {
      size_t value = 0;
      if (!header.trim().getAsInteger(10, value)) length = value;
      continue;
    }
    if (!line->empty() || !length) continue;
    if (*length <= kMaxLength) break;
    if (!SkipBytes(*length)) return std::nullopt;
    return std::string();
  }
  std::string content;
  if (!ReadBytes(*length, &content)) return std::nullopt;
  if (!llvm::json::isUTF8(content)) content = llvm::json::fixUTF8(content);
  return content;
}

}  // namespace pdl::lsp
