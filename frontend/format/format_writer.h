#ifndef PDL_FRONTEND_FORMAT_FORMAT_WRITER_H_
#define PDL_FRONTEND_FORMAT_FORMAT_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace pdl {

inline constexpr uint32_t kFormatWidth = 100;

/// Collects formatted lines. Line ends are held back until something follows, so that a comment can
/// still end the line; comments at the ends of consecutive lines are aligned.
class FormatWriter {
 public:
  /// Begins a new line before the next token, after a blank line if `blank`.
  void Break(uint32_t indent, bool blank = false) { pending_ = {indent, blank}; }
  bool is_pending() const { return pending_.has_value(); }
  uint32_t pending_indent() const { return pending_->indent; }
  /// Ends a pending line unless it is empty, and writes `text`, after a space if `space`.
  void Put(llvm::StringRef text, uint32_t width, bool space);
  /// Writes a comment at the end of the last line. The next token must begin a line.
  void PutTrailingComment(llvm::StringRef text);
  /// Whether nothing was written.
  bool empty() const { return text_.empty(); }

  /// The column at which the next token would begin.
  uint32_t Column(bool space) const {
    return pending_ ? pending_->indent : column_ + (space && column_ != 0 ? 1 : 0);
  }
  /// The indentation and the number of the line of the next token.
  uint32_t line_indent() const { return pending_ ? pending_->indent : line_indent_; }
  uint32_t line() const { return line_ + (pending_ && !text_.empty() ? 1 + pending_->blank : 0); }

  /// The formatted source, with a final newline.
  std::string Finish();

 private:
  struct Pending {
    uint32_t indent;
    bool blank;
  };
  struct TrailingComment {
    size_t offset;  // the end of the line's code
    uint32_t line;
    uint32_t width;  // of the code
    bool opens;      // the code ends in '{'
    bool closes;     // the line begins with '}'
    llvm::StringRef text;
  };
  size_t EndOfCluster(size_t first, uint32_t* column) const;

  std::string text_;
  std::vector<TrailingComment> comments_;
  std::optional<Pending> pending_;
  size_t line_begin_ = 0;
  uint32_t column_ = 0;
  uint32_t line_ = 0;
  uint32_t line_indent_ = 0;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_FORMAT_FORMAT_WRITER_H_
