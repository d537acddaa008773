#include "frontend/editor/cursor.h"

#include <memory>

#include "frontend/syntax/lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

bool IsWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// A token as far as a cursor needs it.
struct Word {
  llvm::StringRef spelling;
  uint32_t begin;
  bool is_name() const {
    return !spelling.empty() && (llvm::isAlpha(spelling[0]) || spelling[0] == '_');
  }
};

/// The begin of the last line that begins with a letter: statements at the top of a file are not
/// indented.
size_t StatementBegin(llvm::StringRef before) {
  size_t end = before.size();
  while (true) {
    const size_t newline = before.take_front(end).rfind('\n');
    const size_t begin = newline == llvm::StringRef::npos ? 0 : newline + 1;
    const bool is_start =
        begin < before.size() && (llvm::isAlpha(before[begin]) || before[begin] == '_');
    // The line of the cursor may begin a statement with the word that is completed.
    if (is_start || begin == 0) return begin;
    end = newline;
  }
}

/// The offset of the quote of an unfinished string on the last line, or npos; `in_comment` is set
/// if the line ends in a comment.
size_t OpenQuote(llvm::StringRef before, bool* in_comment) {
  const size_t newline = before.rfind('\n');
  size_t quote = llvm::StringRef::npos;
  for (size_t i = newline == llvm::StringRef::npos ? 0 : newline + 1; i < before.size(); ++i) {
    const bool in_string = quote != llvm::StringRef::npos;
    if (in_string && before[i] == '\\') {
      ++i;
    } else if (before[i] == '"') {
      quote = in_string ? llvm::StringRef::npos : i;
    } else if (!in_string && before[i] == '#') {
      *in_comment = true;
      break;
    }
  }
  return quote;
}

/// Reads the tokens of the incomplete statement.
class Reader {
 public:
  Reader(llvm::StringRef before, size_t begin, CursorContext* context);

  void Read();

 private:
  struct Open {
    char bracket;
    size_t token;  // index
  };

  void ReadCall(const Open& open);
  void ReadBase();
  void ReadNames();
  /// The path that ends with the token: "blocks.block".
  std::string PathTo(size_t index, uint32_t* begin) const;
  llvm::StringRef At(size_t index) const {
    return index < words_.size() ? words_[index].spelling : llvm::StringRef();
  }
  bool EndsLine() const;

  llvm::StringRef before_;
  CursorContext* context_;
  std::shared_ptr<const SourceFile> file_;
  std::vector<Word> words_;
  std::vector<Open> open_;
};

Reader::Reader(llvm::StringRef before, size_t begin, CursorContext* context)
    : before_(before), context_(context) {
  file_ = std::make_shared<const SourceFile>("", before.drop_front(begin).str());
  std::vector<ast::Comment> comments;
  Diagnostics errors;
  Lexer lexer(file_, &comments, &errors);
  Unit unit;
  while (lexer.NextUnit(&unit)) {
    for (const Token& token : unit.tokens) {
      const llvm::StringRef spelling = file_->Text(token.range());
      if (spelling.trim().empty()) continue;
      words_.push_back({spelling, static_cast<uint32_t>(token.range().begin + begin)});
    }
  }
}

std::string Reader::PathTo(size_t index, uint32_t* begin) const {
  if (index >= words_.size() || !words_[index].is_name()) return "";
  std::string path = words_[index].spelling.str();
  *begin = words_[index].begin;
  while (index >= 2 && At(index - 1) == "." && words_[index - 2].is_name()) {
    index -= 2;
    path = words_[index].spelling.str() + "." + path;
    *begin = words_[index].begin;
  }
  return path;
}

bool Reader::EndsLine() const {
  if (words_.empty()) return true;
  const size_t end = words_.back().begin + words_.back().spelling.size();
  return before_.drop_front(std::min(end, before_.size())).contains('\n');
}

void Reader::ReadCall(const Open& open) {
  CursorContext::Call call;
  uint32_t begin = 0;
  if (open.token == 0) return;
  call.callee = PathTo(open.token - 1, &begin);
  if (call.callee.empty()) return;
  const Word& last = words_[open.token - 1];
  call.callee_range = {begin, static_cast<uint32_t>(last.begin + last.spelling.size())};
  size_t first = open.token - 1;
  while (first > 0 && words_[first].begin > begin) --first;
  if (first > 0 && At(first - 1) == "|>") call.num_positional = 1;
  call.is_optimizer = first > 0 && At(first - 1) == "with" && At(0) == "minimize";
  unsigned depth = 0;
  bool is_named = false;
  bool is_empty = true;
  for (size_t i = open.token + 1; i < words_.size(); ++i) {
    const llvm::StringRef word = At(i);
    if (word == "(" || word == "[" || word == "{") ++depth;
    if (word == ")" || word == "]" || word == "}") --depth;
    const bool is_comma = depth == 0 && word == ",";
    if (depth == 0 && word == "=" && i > 0) {
      call.given.push_back(At(i - 1).str());
      is_named = true;
    }
    if (is_comma) {
      ++call.index;
      if (!is_named && !is_empty) ++call.num_positional;
      is_named = false;
    }
    is_empty = is_comma;
  }
  const llvm::StringRef previous = words_.back().spelling;
  call.at_argument = previous == "," || words_.size() == open.token + 1;
  if (is_named) call.argument = call.given.back();
  context_->call = std::move(call);
}

void Reader::ReadBase() {
  if (words_.empty() || words_.back().spelling != ".") return;
  context_->after_dot = true;
  if (words_.size() < 2) return;
  uint32_t begin = 0;
  size_t index = words_.size() - 2;
  context_->base = PathTo(index, &begin);
  if (At(index) != ")") return;
  unsigned depth = 0;
  while (true) {
    if (At(index) == ")") ++depth;
    if (At(index) == "(" && --depth == 0) break;
    if (index-- == 0) return;
  }
  if (index == 0) return;
  context_->base = PathTo(index - 1, &begin);
  context_->base_is_call = !context_->base.empty();
}

void Reader::ReadNames() {
  for (size_t i = 0; i + 1 < words_.size(); ++i) {
    const llvm::StringRef next = At(i + 1);
    const bool is_target = next == "=" || next == ":" || next == ",";
    if (words_[i].is_name() && is_target) context_->names.push_back(At(i).str());
  }
}

void Reader::Read() {
  for (size_t i = 0; i < words_.size(); ++i) {
    const llvm::StringRef word = At(i);
    if (word == "(" || word == "[" || word == "{") open_.push_back({word[0], i});
    if ((word == ")" || word == "]" || word == "}") && !open_.empty()) open_.pop_back();
  }
  if (!words_.empty()) context_->keyword = words_.front().spelling.str();
  const bool in_group = !open_.empty() && open_.back().bracket != '{';
  const llvm::StringRef previous = words_.empty() ? "" : words_.back().spelling;
  context_->at_statement = !in_group && (EndsLine() || previous == "{");
  context_->at_type = previous == ":";
  if (!words_.empty() && words_.back().is_name())
    context_->before_string = words_.back().spelling.str();
  if (!open_.empty() && open_.back().bracket == '(') ReadCall(open_.back());
  // In a list or a record, the call around it is of interest for its signature only.
  for (const Open& open : llvm::reverse(open_)) {
    if (context_->call || open.bracket == '{') break;
    if (open.bracket == '(') {
      ReadCall(open);
      if (context_->call) context_->call->at_argument = false;
    }
  }
  ReadBase();
  ReadNames();
}

}  // namespace

CursorContext LookAt(llvm::StringRef source, uint32_t offset) {
  CursorContext context;
  llvm::StringRef before = source.take_front(offset);
  // The lexer requires valid UTF-8.
  if (FindInvalidUtf8(before) != llvm::StringRef::npos) return context;
  const auto end = static_cast<uint32_t>(before.size());
  const size_t quote = OpenQuote(before, &context.in_comment);
  if (context.in_comment) return context;
  if (quote != llvm::StringRef::npos) {
    context.in_string = true;
    context.word = {static_cast<uint32_t>(quote + 1), end};
    before = before.take_front(quote);
  } else {
    size_t begin = before.size();
    while (begin > 0 && IsWordCharacter(before[begin - 1])) --begin;
    context.word = {static_cast<uint32_t>(begin), end};
    before = before.take_front(begin);
  }
  Reader(before, StatementBegin(before), &context).Read();
  return context;
}

}  // namespace pdl
