#include "frontend/syntax/lexer.h"

#include "frontend/syntax/keywords.h"
#include "frontend/syntax/syntax_error.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace pdl {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool StartsName(char c) { return llvm::isAlpha(c) || c == '_'; }
bool ContinuesName(char c) { return llvm::isAlnum(c) || c == '_'; }

// The word at the start of `text`, or an empty one.
llvm::StringRef LeadingWord(llvm::StringRef text) {
  if (text.empty() || !StartsName(text[0])) return {};
  return text.take_while(ContinuesName);
}

// Whether a line reads like the beginning of a statement: `layer f`, `input x`, `a, b = …`, `h: …`.
bool LooksLikeStatement(llvm::StringRef line) {
  llvm::StringRef word = LeadingWord(line);
  if (word.empty()) return false;
  if (const size_t type = WordType(word); type != PdlParser::NAME) return StartsStatement(type);
  line = line.drop_front(word.size());
  llvm::StringRef rest = line.ltrim(" \t");
  if (StatementWordType(word) != PdlParser::NAME && rest.size() < line.size() && !rest.empty() &&
      (StartsName(rest[0]) || rest[0] == '"')) {
    return true;
  }
  while (rest.consume_front(",")) {
    rest = rest.ltrim(" \t");
    word = LeadingWord(rest);
    if (word.empty()) return false;
    rest = rest.drop_front(word.size()).ltrim(" \t");
  }
  return rest.starts_with(":") || (rest.starts_with("=") && !rest.starts_with("=="));
}

}  // namespace

Lexer::Lexer(std::shared_ptr<const SourceFile> file, std::vector<ast::Comment>* comments,
             Diagnostics* diagnostics)
    : file_(std::move(file)),
      text_(file_->text()),
      comments_(comments),
      diagnostics_(diagnostics) {}

Diagnostic* Lexer::Fail(Code code, SourceRange range, const llvm::Twine& message) {
  if (unit_->broken) return nullptr;
  unit_->broken = true;
  return &diagnostics_->Error(code, file_, range, message.str());
}

void Lexer::Emit(size_t type, size_t begin) {
  unit_->tokens.emplace_back(type,
                             SourceRange{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)});
}

size_t Lexer::LastType() const {
  return unit_->tokens.empty() ? size_t{PdlParser::NL} : unit_->tokens.back().type();
}

bool Lexer::NextUnit(Unit* unit) {
  unit_ = unit;
  unit->tokens.clear();
  unit->broken = false;
  unit->is_open = false;
  unbalanced_ = false;
  suspect_ = 0;
  brackets_.clear();
  ended_ = false;
  while (!ended_) {
    const char c = Peek();
    if (IsBlank(c)) {
      ++at_;
    } else if (c == '#') {
      LexComment();
    } else if (c == '\n') {
      LexNewline();
    } else if (AtEnd()) {
      if (unit->tokens.empty()) return false;
      if (!brackets_.empty()) {
        EndUnclosed(FindStatementAfter(brackets_.front().range.end, text_.size()));
      }
      ended_ = true;
    } else {
      if (unit->tokens.empty()) {
        indentation_ = at_ - file_->LineBegin(file_->LineOf(static_cast<uint32_t>(at_)));
      }
      LexToken();
    }
  }
  if (LastType() != PdlParser::NL) Emit(PdlParser::NL, at_);
  Emit(antlr4::Token::EOF, at_);
  return true;
}

void Lexer::LexNewline() {
  const size_t begin = at_++;
  if (unit_->tokens.empty()) return;
  const bool unclosed = unbalanced_ || strict_ || (unit_->broken && InsideGroup());
  if (unclosed && !brackets_.empty() && LineStartsStatement(at_)) return EndUnclosed(at_);
  if (InsideGroup() && suspect_ == 0 && LineStartsStatement(at_)) suspect_ = at_;
  // A block that opened just now needs no separator.
  if (InsideGroup() || AtStatementStart() || NextIsPipe()) return;
  Emit(PdlParser::NL, begin);
  ended_ = brackets_.empty();
}

void Lexer::LexComment() {
  const size_t begin = at_;
  const size_t newline = text_.find('\n', at_);
  at_ = newline == llvm::StringRef::npos ? text_.size() : newline;
  if (begin < comments_end_) return;
  comments_end_ = at_;
  const llvm::StringRef comment = text_.slice(begin, at_).rtrim('\r');
  size_t before = begin;
  while (before > 0 && IsBlank(text_[before - 1])) --before;
  ast::Comment entry;
  entry.range = {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + comment.size())};
  entry.is_doc = comment.starts_with("##");
  entry.own_line = before == 0 || text_[before - 1] == '\n';
  comments_->push_back(entry);
}

void Lexer::LexToken() {
  const char c = Peek();
  if (StartsName(c)) {
    LexWord();
  } else if (llvm::isDigit(c)) {
    LexNumber();
  } else if (c == '"') {
    LexString();
  } else {
    LexSign();
  }
}

bool Lexer::AtStatementStart() const {
  const size_t last = LastType();
  return last == PdlParser::NL || last == PdlParser::LBRACE;
}

// Whether the position is directly after something that '.' and a name can follow.
bool Lexer::AfterOperand() const {
  if (unit_->tokens.empty() || unit_->tokens.back().range().end != at_) return false;
  const size_t last = LastType();
  return last == PdlParser::NAME || last == PdlParser::RPAREN || last == PdlParser::RBRACKET;
}

size_t Lexer::SoftKeyword(llvm::StringRef word) const {
  llvm::StringRef rest = text_.drop_front(at_).ltrim(" \t");
  if (rest.empty()) return PdlParser::NAME;
  if (!unit_->tokens.empty() && LastType() == PdlParser::EXPECT) {
    return word == "error" && rest[0] == '"' ? size_t{PdlParser::ERROR} : size_t{PdlParser::NAME};
  }
  if (!AtStatementStart() || InsideGroup()) return PdlParser::NAME;
  if (rest[0] == '"') return StatementWordType(word);
  const llvm::StringRef next = LeadingWord(rest);
  if (next.empty()) return PdlParser::NAME;
  switch (WordType(next)) {
    case PdlParser::AND:
    case PdlParser::IN:
    case PdlParser::OR:
      return PdlParser::NAME;
    default:
      return StatementWordType(word);
  }
}

void Lexer::LexWord() {
  const size_t begin = at_;
  const bool is_in_path = AfterPointOfName();
  do ++at_;
  while (ContinuesName(Peek()));
  if (is_in_path) return Emit(PdlParser::NAME, begin);
  const llvm::StringRef word = text_.slice(begin, at_);
  size_t type = WordType(word);
  if (type == PdlParser::NAME && word.size() <= 6 && (AtStatementStart() || word == "error")) {
    type = SoftKeyword(word);
  }
  if (type == PdlParser::IF && LastType() == PdlParser::ELSE) {
    const size_t start = unit_->tokens.back().range().begin;
    unit_->tokens.pop_back();
    Emit(PdlParser::ELSE_IF, start);
    return;
  }
  Emit(type, begin);
}

// `x.0.w`, `encoder.layer.w`: after a '.' that is part of a path, digits and reserved words are
// names.
bool Lexer::AfterPointOfName() const {
  const size_t count = unit_->tokens.size();
  return count > 1 && LastType() == PdlParser::DOT && unit_->tokens.back().range().end == at_ &&
         unit_->tokens[count - 2].type() == PdlParser::NAME &&
         unit_->tokens[count - 2].range().end + 1 == at_;
}

void Lexer::LexNumber() {
  const size_t begin = at_;
  if (AfterPointOfName()) {
    while (ContinuesName(Peek())) ++at_;
    return Emit(PdlParser::NAME, begin);
  }
  auto digits = [&] {
    while (llvm::isDigit(Peek()) || Peek() == '_') ++at_;
  };
  digits();
  if (Peek() == '.' && Peek(1) != '.') {
    ++at_;
    if (!llvm::isDigit(Peek())) {
      const llvm::StringRef spelled = text_.slice(begin, at_);
      const SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
      if (Diagnostic* diagnostic =
              Fail(Code::kBadNumber, range,
                   "a number needs a digit after its point: " + spelled + "0")) {
        diagnostic->Suggest({range.end, range.end}, "0");
      }
    }
    digits();
  }
  if ((Peek() == 'e' || Peek() == 'E') &&
      (llvm::isDigit(Peek(1)) || ((Peek(1) == '+' || Peek(1) == '-') && llvm::isDigit(Peek(2))))) {
    at_ += 2;
    digits();
  }
  if (StartsName(Peek())) {
    while (ContinuesName(Peek())) ++at_;
    Fail(Code::kBadNumber, {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)},
         "'" + text_.slice(begin, at_).take_front(60) + "' is neither a number nor a name");
  }
  Emit(PdlParser::NUMBER, begin);
}

// At the backslash. Reports an invalid escape and returns false.
bool Lexer::LexEscape() {
  const size_t begin = at_++;
  auto report = [&](const llvm::Twine& message) {
    return Fail(Code::kBadString, {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)},
                message);
  };
  auto fail = [&](const llvm::Twine& message) { return report(message), false; };
  const char c = Peek();
  if (c == 'u') {
    ++at_;
    if (Peek() != '{') return fail("a character by its code point is written \\u{1F600}");
    ++at_;
    uint32_t number = 0;
    size_t digits = 0;
    for (; llvm::isHexDigit(Peek()) && digits < 7; ++at_, ++digits) {
      number = number * 16 + llvm::hexDigitValue(Peek());
    }
    if (digits == 0 || Peek() != '}')
      return fail("a character by its code point is written \\u{1F600}");
    ++at_;
    if (number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) {
      return fail("there is no character with this code point");
    }
    return true;
  }
  if (c == 'n' || c == 't' || c == 'r' || c == '0' || c == '\\' || c == '"') {
    ++at_;
    return true;
  }
  if (!AtEnd() && c != '\n') {
    do ++at_;
    while ((static_cast<unsigned char>(Peek()) & 0xC0) == 0x80);
  }
  if (Diagnostic* diagnostic =
          report("unknown escape; there are \\n \\t \\r \\0 \\\\ \\\" and \\u{1F600}")) {
    const auto backslash = static_cast<uint32_t>(begin);
    diagnostic->Suggest({backslash, backslash}, "\\");
  }
  return false;
}

void Lexer::LexString() {
  const size_t begin = at_++;
  while (true) {
    const char c = Peek();
    if (AtEnd() || c == '\n') {
      size_t end = at_;
      while (end > begin + 1 && IsBlank(text_[end - 1])) --end;
      Fail(Code::kBadString, {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)},
           "the string that begins here has no closing '\"' on its line");
      break;
    }
    if (c == '"') {
      ++at_;
      break;
    }
    if (c == '\\') {
      LexEscape();
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') {
      Fail(Code::kBadString, {static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ + 1)},
           "a control character in a string; write it as \\u{" +
               llvm::utohexstr(static_cast<unsigned char>(c)) + "}");
    }
    ++at_;
  }
  Emit(PdlParser::STRING, begin);
}

void Lexer::OpenBracket(size_t type) {
  const size_t begin = at_++;
  bool is_block = false;
  if (type == PdlParser::LBRACE) {
    switch (LastType()) {
      case PdlParser::ASSIGN:
      case PdlParser::LPAREN:
      case PdlParser::COMMA:
      case PdlParser::LBRACKET:
      case PdlParser::WITH:
        type = PdlParser::REC;
        break;
      default:
        is_block = true;
    }
  }
  const SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  Emit(type, begin);
  brackets_.push_back({type, range, is_block});
  if (brackets_.size() <= ast::kMaxNesting || unit_->broken) return;
  // Some of so many open brackets may just not have been closed.
  if (!brackets_.front().is_block) {
    const size_t cut = FindStatementAfter(brackets_.front().range.end, at_);
    if (cut < at_) return EndUnclosed(cut);
  }
  Fail(Code::kNestingTooDeep, range, "nesting deeper than 256");
}

void Lexer::CloseBracket(size_t type, size_t opening) {
  const size_t begin = at_++;
  const SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  auto opens = [&](const Bracket& bracket) {
    return bracket.type == opening ||
           (opening == PdlParser::LBRACE && bracket.type == PdlParser::REC);
  };
  // The bracket that this one closes; if there is none, the parser reports it as unexpected.
  size_t match = brackets_.size();
  while (match > 0 && !opens(brackets_[match - 1])) --match;
  if (match == 0 && InsideGroup()) {
    // A bracket of another kind was intended, unless an earlier line was left open.
    if (suspect_ != 0 && !unit_->broken) return EndUnclosed(suspect_);
    const SourceRange open = brackets_.back().range;
    if (Diagnostic* diagnostic =
            Fail(Code::kUnclosedBracket, open,
                 "'" + file_->Text(open) + "' cannot be closed by '" + file_->Text(range) + "'")) {
      diagnostic->Underline(range);
    }
    brackets_.pop_back();
  }
  if (match != 0) {
    if (match != brackets_.size()) {
      if (suspect_ != 0 && !unit_->broken) return EndUnclosed(suspect_);
      const SourceRange open = brackets_.back().range;
      unbalanced_ = true;
      if (Diagnostic* diagnostic = Fail(
              Code::kUnclosedBracket, open,
              "'" + file_->Text(open) + "' is not closed before '" + file_->Text(range) + "'")) {
        diagnostic->Underline(range);
      }
    }
    if (brackets_[match - 1].is_block) {
      if (!AtStatementStart()) unit_->tokens.emplace_back(PdlParser::NL, range);
    } else if (LastType() == PdlParser::COMMA) {
      const size_t count = unit_->tokens.size();
      const size_t before = count > 1 ? unit_->tokens[count - 2].type() : size_t{PdlParser::COMMA};
      if (before != PdlParser::COMMA && before != PdlParser::LPAREN &&
          before != PdlParser::LBRACKET && before != PdlParser::REC) {
        unit_->tokens.pop_back();
      }
    }
    brackets_.resize(match - 1);
  }
  Emit(type, begin);
}

bool Lexer::EndsLine() const {
  size_t next = at_;
  while (next < text_.size() && IsBlank(text_[next])) ++next;
  return next == text_.size() || text_[next] == '\n' || text_[next] == '#';
}

void Lexer::LexUnknown() {
  const size_t begin = at_;
  do ++at_;
  while ((static_cast<unsigned char>(Peek()) & 0xC0) == 0x80);
  const unsigned char c = static_cast<unsigned char>(text_[begin]);
  const SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  if (c < 0x20 || c == 0x7F) {
    Fail(Code::kUnexpectedCharacter, range,
         llvm::Twine("unexpected control character U+00") + llvm::Twine(llvm::hexdigit(c >> 4)) +
             llvm::Twine(llvm::hexdigit(c & 15)));
  } else {
    const llvm::StringRef character = text_.slice(begin, at_);
    Diagnostic* diagnostic =
        Fail(Code::kUnexpectedCharacter, range, "unexpected '" + character + "'");
    if (diagnostic != nullptr) {
      const CharacterHelp help = HelpOnCharacter(character);
      if (!help.note.empty()) diagnostic->Note(help.note.str());
      const bool is_in_word =
          (begin > 0 && llvm::isAlnum(text_[begin - 1])) || llvm::isAlnum(Peek());
      if (help.note.empty() && c >= 0x80 && is_in_word)
        diagnostic->Note("names consist of ASCII letters, digits and '_'");
      if (!help.instead.empty()) diagnostic->Suggest(range, help.instead.str());
      if (character == ";" && EndsLine()) diagnostic->Suggest(range, "");
    }
  }
  Emit(antlr4::Token::INVALID_TYPE, begin);
}

void Lexer::LexPoint() {
  const size_t begin = at_;
  auto sign = [&](size_t type, size_t length) {
    at_ += length;
    Emit(type, begin);
  };
  if (Peek(1) == '.') {
    if (Peek(2) == '.') return sign(PdlParser::ELLIPSIS, 3);
    return Peek(2) == '=' ? sign(PdlParser::RANGE_TO, 3) : sign(PdlParser::RANGE, 2);
  }
  if (!llvm::isDigit(Peek(1)) || AfterOperand()) return sign(PdlParser::DOT, 1);
  do ++at_;
  while (llvm::isDigit(Peek()));
  const SourceRange range{static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  if (Diagnostic* diagnostic = Fail(
          Code::kBadNumber, range,
          "a number needs a digit before its point: 0" + text_.slice(begin, at_).take_front(60))) {
    diagnostic->Suggest({range.begin, range.begin}, "0");
  }
  Emit(PdlParser::NUMBER, begin);
}

void Lexer::LexSign() {
  const size_t begin = at_;
  auto sign = [&](size_t type, size_t length) {
    at_ += length;
    Emit(type, begin);
  };
  // Emits `one`, or `both` if `second` follows.
  auto either = [&](char second, size_t both, size_t one) {
    return Peek(1) == second ? sign(both, 2) : sign(one, 1);
  };
  switch (Peek()) {
    case '(':
      return OpenBracket(PdlParser::LPAREN);
    case '[':
      return OpenBracket(PdlParser::LBRACKET);
    case '{':
      return OpenBracket(PdlParser::LBRACE);
    case ')':
      return CloseBracket(PdlParser::RPAREN, PdlParser::LPAREN);
    case ']':
      return CloseBracket(PdlParser::RBRACKET, PdlParser::LBRACKET);
    case '}':
      return CloseBracket(PdlParser::RBRACE, PdlParser::LBRACE);
    case ',':
      return sign(PdlParser::COMMA, 1);
    case ':':
      return sign(PdlParser::COLON, 1);
    case '?':
      return sign(PdlParser::QUESTION, 1);
    case '+':
      return sign(PdlParser::PLUS, 1);
    case '-':
      return sign(PdlParser::MINUS, 1);
    case '%':
      return sign(PdlParser::PERCENT, 1);
    case '@':
      return sign(PdlParser::AT, 1);
    case '~':
      return either('=', PdlParser::NEAR, PdlParser::TILDE);
    case '|':
      return either('>', PdlParser::PIPE, PdlParser::BAR);
    case '=':
      return either('=', PdlParser::EQ, PdlParser::ASSIGN);
    case '<':
      return either('=', PdlParser::LE, PdlParser::LT_);
    case '>':
      return either('=', PdlParser::GE, PdlParser::GT);
    case '*':
      return either('*', PdlParser::POWER, PdlParser::STAR);
    case '/':
      return either('/', PdlParser::FLOOR_DIV, PdlParser::SLASH);
    case '!':
      return Peek(1) == '=' ? sign(PdlParser::NE, 2) : LexUnknown();
    case '.':
      return LexPoint();
    default:
      return LexUnknown();
  }
}

bool Lexer::NextIsPipe() const {
  for (size_t at = at_; at < text_.size();) {
    const char c = text_[at];
    if (IsBlank(c) || c == '\n') {
      ++at;
    } else if (c == '#') {
      at = text_.find('\n', at);
      if (at == llvm::StringRef::npos) return false;
    } else {
      return text_.substr(at).starts_with("|>");
    }
  }
  return false;
}

bool Lexer::LineStartsStatement(size_t begin) const {
  size_t at = begin;
  while (at < text_.size() && IsBlank(text_[at])) ++at;
  if (at - begin > indentation_) return false;
  return LooksLikeStatement(text_.slice(at, text_.find('\n', at)));
}

size_t Lexer::FindStatementAfter(size_t begin, size_t end) const {
  for (size_t newline = text_.find('\n', begin); newline < end;
       newline = text_.find('\n', newline + 1)) {
    if (LineStartsStatement(newline + 1)) return newline + 1;
  }
  return end;
}

void Lexer::EndUnclosed(size_t cut) {
  strict_ = true;
  ended_ = true;
  // A block may contain what looks like the next statement.
  unit_->is_open = cut == text_.size() || brackets_.front().is_block;
  while (brackets_.size() > 1 && brackets_.back().range.begin >= cut) brackets_.pop_back();
  const SourceRange open = brackets_.back().range;
  Fail(Code::kUnclosedBracket, open, "'" + file_->Text(open) + "' is never closed");
  at_ = cut;
  std::vector<Token>& tokens = unit_->tokens;
  while (!tokens.empty() && tokens.back().range().begin >= cut) tokens.pop_back();
}

llvm::StringRef UnescapeString(llvm::StringRef spelling, std::string* scratch) {
  llvm::StringRef body = spelling.drop_front().drop_back();
  if (!body.contains('\\')) return body;
  scratch->clear();
  while (!body.empty()) {
    const size_t slash = body.find('\\');
    *scratch += body.take_front(slash);
    if (slash == llvm::StringRef::npos) break;
    const char c = body[slash + 1];
    body = body.drop_front(slash + 2);
    if (c == 'u') {
      uint32_t number = 0;
      body.take_until([](char d) { return d == '}'; }).drop_front().getAsInteger(16, number);
      char bytes[4];
      char* end = bytes;
      llvm::ConvertCodePointToUTF8(number, end);
      scratch->append(bytes, end);
      body = body.drop_front(body.find('}') + 1);
    } else {
      *scratch += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
    }
  }
  return *scratch;
}

}  // namespace pdl
