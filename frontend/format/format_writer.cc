#include "frontend/format/format_writer.h"

#include <algorithm>

#include "pdl/compiler/source.h"

namespace pdl {

void FormatWriter::Put(llvm::StringRef text, uint32_t width, bool space) {
  if (pending_) {
    if (!text_.empty()) {
      text_ += '\n';
      ++line_;
      if (pending_->blank) {
        text_ += '\n';
        ++line_;
      }
    }
    line_begin_ = text_.size();
    line_indent_ = pending_->indent;
    column_ = pending_->indent;
    text_.append(pending_->indent, ' ');
    pending_.reset();
  } else if (space && column_ != 0) {
    text_ += ' ';
    ++column_;
  }
  text_ += text;
  column_ += width;
}

void FormatWriter::PutTrailingComment(llvm::StringRef text) {
  comments_.push_back(
      {text_.size(), line_, column_, llvm::StringRef(text_).ends_with("{"),
       text_.size() > line_begin_ + line_indent_ && text_[line_begin_ + line_indent_] == '}',
       text});
}

// The end of a cluster of trailing comments from `first` on that are aligned, and their column:
// those on consecutive lines with code of similar width.
size_t FormatWriter::EndOfCluster(size_t first, uint32_t* column) const {
  constexpr uint32_t kMaxPadding = 24;
  uint32_t shortest = comments_[first].width;
  uint32_t longest = shortest;
  // The first column at which the comment would no longer fit.
  auto limit_of = [](const TrailingComment& comment) {
    const auto width = static_cast<uint32_t>(CountCharacters(comment.text));
    return comment.width + 2 + width > kFormatWidth ? UINT32_MAX : kFormatWidth - width;
  };
  uint32_t limit = limit_of(comments_[first]);
  size_t end = first + 1;
  for (; end < comments_.size(); ++end) {
    const TrailingComment& comment = comments_[end];
    if (comment.line != comments_[end - 1].line + 1 || comment.closes || comments_[end - 1].opens) {
      break;
    }
    const uint32_t low = std::min(shortest, comment.width);
    const uint32_t high = std::max(longest, comment.width);
    const uint32_t next_limit = std::min(limit, limit_of(comment));
    if (high - low > kMaxPadding || high + 2 > next_limit) break;
    shortest = low;
    longest = high;
    limit = next_limit;
  }
  *column = longest + 2;
  return end;
}

std::string FormatWriter::Finish() {
  std::string result;
  result.reserve(text_.size() + text_.size() / 8);
  size_t at = 0;
  for (size_t first = 0; first < comments_.size();) {
    uint32_t column = 0;
    const size_t end = EndOfCluster(first, &column);
    for (; first < end; ++first) {
      const TrailingComment& comment = comments_[first];
      result.append(text_, at, comment.offset - at);
      result.append(column - comment.width, ' ');
      result += comment.text;
      at = comment.offset;
    }
  }
  result.append(text_, at);
  if (!result.empty()) result += '\n';
  return result;
}

}  // namespace pdl
