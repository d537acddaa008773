// The textual form of a diagnostic, for people.
#include <algorithm>
#include <string>

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Unicode.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl {
namespace {

constexpr unsigned kTabStop = 8;
// A line wider than this is shown as a window around the caret.
constexpr unsigned kMaxWidth = 160;
constexpr unsigned kWindowBefore = 60;
constexpr unsigned kWindowAfter = 60;
// U+FFFD, shown for what is no character.
constexpr llvm::StringLiteral kReplacement = "\xEF\xBF\xBD";

// The bytes of a character, and its width; negative if a terminal does not show it as such: invalid
// UTF-8, control characters, those that change the direction of writing.
struct Character {
  size_t size;
  int width;
};

Character FirstCharacter(llvm::StringRef text) {
  const auto* bytes = reinterpret_cast<const llvm::UTF8*>(text.data());
  const size_t size = llvm::getNumBytesForUTF8(*bytes);
  if (size > text.size() || !llvm::isLegalUTF8Sequence(bytes, bytes + size)) return {1, -1};
  return {size, llvm::sys::unicode::columnWidthUTF8(text.take_front(size))};
}

// A source line as printed, and the column of each of its bytes.
class PrintedLine {
 public:
  // `focus` is an offset in `line` that must remain visible.
  PrintedLine(llvm::StringRef line, size_t focus) {
    size_t begin = 0;
    size_t end = line.size();
    if (line.size() > kMaxWidth) {
      begin = focus > kWindowBefore ? focus - kWindowBefore : 0;
      end = std::min(line.size(), focus + kWindowAfter);
      while (begin > 0 && IsContinuation(line[begin])) --begin;
      while (end < line.size() && IsContinuation(line[end])) ++end;
    }
    if (begin > 0) Put("...", 3);
    begin_ = begin;
    for (size_t at = begin; at < end;) at += PutCharacter(line.substr(at, end - at));
    columns_.push_back(width_);
    if (end < line.size()) Put("...", 3);
  }

  const std::string& text() const { return text_; }

  // The columns of the bytes [begin, end); empty if they are cut off.
  std::pair<unsigned, unsigned> Columns(size_t begin, size_t end) const {
    const size_t last = begin_ + columns_.size() - 1;
    const size_t from = std::clamp(begin, begin_, last);
    const size_t to = std::clamp(end, begin_, last);
    return {columns_[from - begin_], columns_[to - begin_]};
  }

 private:
  static bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

  void Put(llvm::StringRef text, unsigned width) {
    text_ += text;
    width_ += width;
  }

  size_t PutCharacter(llvm::StringRef rest) {
    const Character first = FirstCharacter(rest);
    columns_.insert(columns_.end(), first.size, width_);
    if (rest[0] == '\t') {
      const unsigned spaces = kTabStop - width_ % kTabStop;
      Put(std::string(spaces, ' '), spaces);
    } else if (first.width < 0) {
      Put(kReplacement, 1);
    } else {
      Put(rest.take_front(first.size), static_cast<unsigned>(first.width));
    }
    return first.size;
  }

  std::string text_;
  unsigned width_ = 0;
  size_t begin_ = 0;
  std::vector<unsigned> columns_;  // by byte, from begin_ to one past the last
};

// Names in messages come from files, which may be written to deceive: an escape sequence could
// change what a terminal shows. `is_name`: also an end of a line.
void PrintText(llvm::raw_ostream& os, llvm::StringRef text, bool is_name = false) {
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    const bool is_space = !is_name && (text[0] == '\n' || text[0] == '\t');
    os << (first.width < 0 && !is_space ? llvm::StringRef(kReplacement)
                                        : text.take_front(first.size));
    text = text.drop_front(first.size);
  }
}

void PrintPlace(llvm::raw_ostream& os, const SourceFile& file, SourceRange range) {
  const SourcePosition position = file.PositionOf(range.begin);
  PrintText(os, file.name(), /*is_name=*/true);
  os << ':' << position.line << ':' << position.column;
}

// The line number in the gutter, whose width other lines fill with blanks.
std::string Gutter(uint32_t line) { return llvm::formatv(" {0}", line).str(); }

void PrintExcerpt(llvm::raw_ostream& os, const SourceFile& file, SourceRange primary,
                  llvm::ArrayRef<SourceRange> secondary) {
  const uint32_t line = file.LineOf(primary.begin);
  const uint32_t line_begin = file.LineBegin(line);
  const llvm::StringRef text = file.Line(line);
  const PrintedLine printed(text, primary.begin - line_begin);

  std::string marks;
  auto underline = [&](SourceRange range, bool caret) {
    if (range.begin < line_begin || range.begin > line_begin + text.size()) return;
    const size_t begin = range.begin - line_begin;
    const size_t end = std::min<size_t>(std::max(range.end, range.begin) - line_begin, text.size());
    auto [from, to] = printed.Columns(begin, end);
    if (from == to && !caret) return;
    to = std::max(to, from + 1);
    if (marks.size() < to) marks.resize(to, ' ');
    std::fill(marks.begin() + from, marks.begin() + to, '~');
    if (caret) marks[from] = '^';
  };
  for (SourceRange range : secondary) underline(range, /*caret=*/false);
  underline(primary, /*caret=*/true);

  const std::string gutter = Gutter(line);
  os << gutter << " | " << printed.text() << '\n';
  os << std::string(gutter.size(), ' ') << " | " << marks << '\n';
}

}  // namespace

void Diagnostic::Render(llvm::raw_ostream& os) const {
  if (file != nullptr) {
    PrintPlace(os, *file, primary);
    os << ": ";
  }
  os << SeverityName(severity) << ": ";
  PrintText(os, message);
  if (code != Code{}) os << " [" << CodeName(code) << ']';
  os << '\n';
  std::string blank = "  ";
  if (file != nullptr) {
    PrintExcerpt(os, *file, primary, secondary);
    blank.assign(Gutter(file->LineOf(primary.begin)).size(), ' ');
  }
  for (const DiagnosticNote& note : notes) {
    os << blank << " = ";
    if (note.file != nullptr) {
      PrintPlace(os, *note.file, note.range);
      os << ": ";
    }
    PrintText(os, note.text);
    os << '\n';
    if (note.file != nullptr) PrintExcerpt(os, *note.file, note.range, {});
  }
}

}  // namespace pdl
