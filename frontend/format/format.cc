// Lays source out again from its tokens and comments, statement by statement. A line may only break
// inside brackets and before `|>`; a run that is too long is broken at its outermost position
// first. The widths of all runs of tokens are precomputed, so that each token is visited a bounded
// number of times.
#include "pdl/compiler/format.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/format/format_tokens.h"
#include "frontend/format/format_writer.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"
#include "grammar/PdlParser.h"

namespace pdl {
namespace {

// The tokens [begin, end) of the statement.
struct Span {
  uint32_t begin;
  uint32_t end;
};

// Recursion is bounded by the nesting of brackets and blocks.
class StatementLayout {
 public:
  StatementLayout(const std::vector<FormatToken>& tokens,
                  const std::vector<FormatComment>& comments, FormatWriter* writer)
      : tokens_(tokens), comments_(comments), writer_(*writer) {}

  void Lay() {
    const Span all{0, static_cast<uint32_t>(tokens_.size() - 1)};
    allow_blank_ = !writer_.empty();
    LayStatement(all, 0, allow_blank_);
  }
  // Writes the comments before the final token.
  void LayComments() {
    allow_blank_ = !writer_.empty();
    PutComments(static_cast<uint32_t>(tokens_.size() - 1), 0);
  }

 private:
  const FormatToken& At(uint32_t index) const { return tokens_[index]; }
  uint32_t Width(Span span) const {
    return At(span.end - 1).flat_end() - At(span.begin).flat_begin;
  }
  // Whether a line must begin inside the span.
  bool IsForced(Span span) const {
    return span.end > span.begin + 1 && At(span.end).forced != At(span.begin + 1).forced;
  }
  uint32_t Next(uint32_t index) const {
    return At(index).is_open() ? At(index).match + 1 : index + 1;
  }
  bool Fits(Span span, uint32_t tail) const {
    return !IsForced(span) &&
           writer_.Column(At(span.begin).space_before) + Width(span) + tail <= kFormatWidth;
  }

  void PutComments(uint32_t index, uint32_t indent);
  void Lead(uint32_t index, uint32_t comment_indent);
  void Put(uint32_t index, uint32_t comment_indent);
  void PutFlat(Span span, uint32_t comment_indent) {
    for (uint32_t i = span.begin; i < span.end; ++i) Put(i, comment_indent);
  }

  void LayStatement(Span span, uint32_t indent, bool blank);
  void LayBlock(uint32_t open, uint32_t indent);
  // `indent` is the indentation of continuation lines; `tail` columns must fit after the run. A
  // `free` run is inside brackets: it may break at operators.
  void LayRun(Span span, uint32_t indent, uint32_t tail, bool free);
  void LayPipes(Span span, uint32_t indent, uint32_t tail, bool free);
  void LayOperators(Span span, unsigned level, uint32_t indent, uint32_t tail);
  void LaySequence(Span span, uint32_t indent, uint32_t tail);
  void LayGroup(uint32_t open, uint32_t tail);
  bool MayBreak(uint32_t open) const;
  bool IsOnePerLine(uint32_t open, llvm::ArrayRef<Span> items) const;
  bool PutComma(uint32_t comma, uint32_t indent);

  const std::vector<FormatToken>& tokens_;
  const std::vector<FormatComment>& comments_;
  FormatWriter& writer_;
  uint32_t statement_indent_ = 0;
  // The last token whose comments were written.
  uint32_t led_ = UINT32_MAX;
  // Whether a blank line may be kept: there is something above in the same block or brackets.
  bool allow_blank_ = false;
};

void StatementLayout::PutComments(uint32_t index, uint32_t indent) {
  const FormatToken& token = At(index);
  for (uint32_t i = token.first_comment; i < token.last_comment; ++i) {
    const FormatComment& comment = comments_[i];
    if (!comment.own_line && i == token.first_comment && !writer_.empty()) {
      writer_.PutTrailingComment(comment.text);
    } else {
      writer_.Break(indent, comment.blank_before && allow_blank_);
      writer_.Put(comment.text, 0, false);
    }
    allow_blank_ = true;
  }
}

// Writes the comments before a token. If there are any, the token begins a new line.
void StatementLayout::Lead(uint32_t index, uint32_t comment_indent) {
  const FormatToken& token = At(index);
  if (!token.has_comments() || led_ == index) return;
  led_ = index;
  const uint32_t indent = writer_.is_pending() ? writer_.pending_indent() : comment_indent;
  PutComments(index, comment_indent);
  const bool closes = token.role != BracketRole::kNone && !token.is_open();
  writer_.Break(indent, token.blank_before && !closes);
}

void StatementLayout::Put(uint32_t index, uint32_t comment_indent) {
  Lead(index, comment_indent);
  const FormatToken& token = At(index);
  writer_.Put(token.text, token.width, token.space_before);
  allow_blank_ = !token.is_open();
}

void StatementLayout::LayStatement(Span span, uint32_t indent, bool blank) {
  writer_.Break(indent, blank && At(span.begin).blank_before && !At(span.begin).has_comments());
  Lead(span.begin, indent);
  auto find_block = [&](uint32_t i) {
    while (i < span.end && !(At(i).role == BracketRole::kBlock && At(i).is_open())) i = Next(i);
    return i;
  };
  uint32_t block = find_block(span.begin);
  if (block < span.end && At(span.end).newlines == At(block + 1).newlines && Fits(span, 0)) {
    return PutFlat(span, indent);
  }
  for (uint32_t i = span.begin;;) {
    statement_indent_ = indent;
    if (i < block) LayRun({i, block}, indent + 2, block < span.end ? 2 : 0, /*free=*/false);
    if (block == span.end) return;
    LayBlock(block, indent);
    i = At(block).match + 1;
    if (i == span.end) return;
    block = find_block(i);
  }
}

void StatementLayout::LayBlock(uint32_t open, uint32_t indent) {
  const uint32_t close = At(open).match;
  Put(open, indent + 2);
  if (close == open + 1 && !At(close).has_comments()) return Put(close, indent);
  for (uint32_t i = open + 1; i < close;) {
    uint32_t end = Next(i);
    while (end < close && !At(end).starts_statement) end = Next(end);
    LayStatement({i, end}, indent + 2, i != open + 1);
    i = end;
  }
  writer_.Break(indent);
  Put(close, indent + 2);
}

void StatementLayout::LayRun(Span span, uint32_t indent, uint32_t tail, bool free) {
  if (Fits(span, tail)) return PutFlat(span, indent);
  unsigned loosest = 0;
  for (uint32_t i = span.begin; i < span.end; i = Next(i)) {
    const unsigned level = i == span.begin ? 0 : BreakLevel(At(i));
    if (level != 0 && (loosest == 0 || level < loosest)) loosest = level;
  }
  if (loosest == 1) return LayPipes(span, indent, tail, free);
  if (loosest != 0 && free) return LayOperators(span, loosest, indent, tail);
  LaySequence(span, indent, tail);
}

// One stage per line: aligned with the first `|>` if that is near the beginning, else indented.
void StatementLayout::LayPipes(Span span, uint32_t indent, uint32_t tail, bool free) {
  constexpr uint32_t kMaxHead = 16;
  std::vector<uint32_t> pipes;
  for (uint32_t i = span.begin; i < span.end; i = Next(i)) {
    if (BreakLevel(At(i)) == 1) pipes.push_back(i);
  }
  auto stage = [&](size_t i) {
    return Span{pipes[i], i + 1 < pipes.size() ? pipes[i + 1] : span.end};
  };
  const uint32_t line = writer_.line();
  const uint32_t begin = free ? writer_.Column(At(span.begin).space_before) : statement_indent_;
  LayRun({span.begin, pipes[0]}, indent, 0, free);
  const uint32_t column = writer_.Column(true);
  bool is_aligned = pipes.size() > 1 && writer_.line() == line && !At(pipes[0]).has_comments() &&
                    !IsForced({span.begin, pipes[0]}) && column <= begin + kMaxHead;
  for (size_t i = 0; i < pipes.size() && is_aligned; ++i) {
    const uint32_t after = i + 1 < pipes.size() ? 0 : tail;
    is_aligned = column + Width(stage(i)) + after <= kFormatWidth;
  }
  if (is_aligned) indent = column;
  for (size_t i = 0; i < pipes.size(); ++i) {
    if (i > 0 || !is_aligned) writer_.Break(indent);
    Put(pipes[i], indent);
    LayRun({pipes[i] + 1, stage(i).end}, indent + 2, i + 1 < pipes.size() ? 0 : tail, free);
  }
}

// As many operands per line as fit; the operator begins the next line.
void StatementLayout::LayOperators(Span span, unsigned level, uint32_t indent, uint32_t tail) {
  uint32_t part = span.begin;
  bool is_broken = false;
  while (part < span.end) {
    uint32_t end = Next(part);
    while (end < span.end && BreakLevel(At(end)) != level) end = Next(end);
    const uint32_t after = end < span.end ? 0 : tail;
    if (part == span.begin) {
      const uint32_t line = writer_.line();
      LayRun({part, end}, indent, after, /*free=*/true);
      is_broken = writer_.line() != line;
    } else if (!is_broken && !At(part).has_comments() && Fits({part, end}, after)) {
      PutFlat({part, end}, indent);
    } else {
      writer_.Break(indent);
      Put(part, indent);
      const uint32_t line = writer_.line();
      LayRun({part + 1, end}, indent + 2, after, /*free=*/true);
      is_broken = writer_.line() != line;
    }
    part = end;
  }
}

// Whether lines may begin inside these brackets: the content must be long enough.
bool StatementLayout::MayBreak(uint32_t open) const {
  const FormatToken& token = At(open);
  if (!token.is_open() || token.role == BracketRole::kBlock) return false;
  if (IsForced({open, token.match + 1})) return true;
  if (token.match == open + 1) return false;
  const bool is_small = token.role == BracketRole::kDims || token.role == BracketRole::kIndex;
  return Width({open + 1, token.match}) > (is_small ? 40u : 12u);
}

void StatementLayout::LaySequence(Span span, uint32_t indent, uint32_t tail) {
  for (uint32_t i = span.begin; i < span.end;) {
    if (!At(i).is_open()) {
      Put(i++, indent);
      continue;
    }
    const uint32_t close = At(i).match;
    const Span group{i, close + 1};
    if (!MayBreak(i)) {
      PutFlat(group, indent);
    } else {
      // The width of the tokens that must follow the group on its line.
      uint32_t next = close + 1;
      while (next < span.end && !MayBreak(next) && !At(next).has_comments()) next = Next(next);
      uint32_t after = At(next - 1).flat_end() - At(close).flat_end();
      if (next == span.end) {
        after += tail;
      } else if (!At(next).has_comments()) {
        after += At(next).space_before + 1u;
      }
      if (Fits(group, after)) {
        PutFlat(group, indent);
      } else {
        LayGroup(i, after);
      }
    }
    i = close + 1;
  }
}

bool StatementLayout::IsOnePerLine(uint32_t open, llvm::ArrayRef<Span> items) const {
  switch (At(open).role) {
    case BracketRole::kSignature:
    case BracketRole::kRecord:
      return true;
    case BracketRole::kCall:
      return std::any_of(items.begin(), items.end(), [&](Span item) {
        return item.end > item.begin + 1 && At(item.begin + 1).type == PdlParser::ASSIGN;
      });
    case BracketRole::kList:
      return std::all_of(items.begin(), items.end(), [&](Span item) {
        return At(item.begin).role == BracketRole::kList && At(item.begin).match + 1 == item.end;
      });
    default:
      return false;
  }
}

// Returns true if a comment ended the line after the comma. A comment before the comma moves after
// it, unless there is another one. A comma at the beginning of a line stays there if its comment
// would otherwise become the documentation of the previous parameter.
bool StatementLayout::PutComma(uint32_t comma, uint32_t indent) {
  const FormatToken& token = At(comma);
  const FormatToken& next = At(comma + 1);
  if (token.newline_before && !token.has_comments() && next.has_comments() &&
      !comments_[next.first_comment].own_line &&
      comments_[next.first_comment].text.starts_with("##")) {
    writer_.Break(indent);
  }
  if (token.last_comment != token.first_comment + 1 || comments_[token.first_comment].own_line ||
      next.has_comments()) {
    Put(comma, indent);
    return false;
  }
  writer_.Put(token.text, token.width, false);
  writer_.PutTrailingComment(comments_[token.first_comment].text);
  return true;
}

// A bracket that is too long: either its items begin after it, aligned with the first, or all items
// and the closing bracket are on lines of their own, indented.
void StatementLayout::LayGroup(uint32_t open, uint32_t tail) {
  constexpr uint32_t kMaxIndent = 60;  // beyond that of the statement
  const uint32_t close = At(open).match;
  Put(open, writer_.line_indent() + 2);
  const uint32_t base = writer_.line_indent();
  const uint32_t limit = statement_indent_ + kMaxIndent;
  const uint32_t hanging = std::min(base + 2, limit);
  if (close == open + 1) {
    writer_.Break(base);
    return Put(close, hanging);
  }
  std::vector<Span> items;
  uint32_t widest = 0;
  for (uint32_t i = open + 1; i < close;) {
    uint32_t end = i;
    while (end < close && At(end).type != PdlParser::COMMA) end = Next(end);
    items.push_back({i, end});
    widest = std::max(widest, Width(items.back()));
    i = end + 1;
  }
  const uint32_t column = writer_.Column(false);
  bool is_below = !At(open + 1).has_comments() && column <= limit;
  if (is_below) {
    const bool fits = column + widest + 1 <= kFormatWidth &&
                      column + Width(items.back()) + 1 + tail <= kFormatWidth;
    // A single item that breaks anyway is not moved.
    const bool hugs = items.size() == 1 && (IsForced(items[0]) || hanging + widest > kFormatWidth);
    is_below = fits || hugs;
  }
  const bool one_per_line = IsOnePerLine(open, items);
  const uint32_t indent = is_below ? column : hanging;
  const bool is_parenthesis = At(open).role == BracketRole::kParenthesis;
  if (!is_below) writer_.Break(indent);
  allow_blank_ = false;
  bool must_break = false;
  for (size_t k = 0; k < items.size(); ++k) {
    const Span item = items[k];
    const bool is_last = k + 1 == items.size();
    const uint32_t after = !is_last ? 1 : is_below ? 1 + tail : 0;
    const FormatToken& first = At(item.begin);
    if (k > 0 && (one_per_line || must_break || first.has_comments() || !Fits(item, after))) {
      writer_.Break(indent,
                    !first.has_comments() && first.blank_before && (one_per_line || must_break));
    }
    Lead(item.begin, indent);
    const uint32_t line = writer_.line();
    LayRun(item, indent + (is_parenthesis ? 0 : 2), after, /*free=*/true);
    must_break = writer_.line() != line;
    if (!is_last) must_break |= PutComma(item.end, indent);
  }
  if (!is_below || At(close).has_comments()) writer_.Break(base);
  Put(close, indent);
}

constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string OneLine(llvm::StringRef source) {
  const auto file = std::make_shared<const SourceFile>("", source.str());
  std::vector<ast::Comment> comments;
  Diagnostics diagnostics;
  Lexer lexer(file, &comments, &diagnostics);
  std::string line;
  std::vector<FormatComment> format_comments;
  size_t next_comment = 0, end = 0;
  Unit unit;
  while (lexer.NextUnit(&unit)) {
    for (const FormatToken& token :
         PrepareTokens(file->text(), unit.tokens, {}, &next_comment, &end, &format_comments)) {
      if (token.text.empty()) continue;
      if (token.space_before) line += ' ';
      line += token.text;
    }
  }
  return line;
}

std::optional<std::string> FormatText(const std::shared_ptr<const SourceFile>& file,
                                      Diagnostics* diagnostics) {
  const size_t errors = diagnostics->num_errors();
  std::vector<ast::Comment> source_comments = Parse(file, diagnostics)->comments;
  if (diagnostics->num_errors() != errors) {
    diagnostics->Sort();
    return std::nullopt;
  }
  const llvm::StringRef source = file->text();
  std::vector<ast::Comment> comments;
  Lexer lexer(file, &comments, diagnostics);
  FormatWriter writer;
  std::vector<FormatComment> format_comments;
  size_t next_comment = 0;
  size_t end = source.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string mark = source.take_front(end).str();
  Unit unit;
  while (lexer.NextUnit(&unit)) {
    const std::vector<FormatToken> tokens =
        PrepareTokens(source, unit.tokens, source_comments, &next_comment, &end, &format_comments);
    StatementLayout(tokens, format_comments, &writer).Lay();
  }
  // The comments after the last statement.
  const std::vector<FormatToken> rest = PrepareTokens(
      source,
      Token(antlr4::Token::EOF,
            {static_cast<uint32_t>(source.size()), static_cast<uint32_t>(source.size())}),
      source_comments, &next_comment, &end, &format_comments);
  StatementLayout(rest, format_comments, &writer).LayComments();
  return mark + writer.Finish();
}

}  // namespace pdl
