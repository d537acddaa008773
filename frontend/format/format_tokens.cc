// The spacing between two tokens, determined by the tokens and the brackets around them.
#include "frontend/format/format_tokens.h"

#include "grammar/PdlParser.h"
#include "pdl/compiler/source.h"

namespace pdl {
namespace {

bool IsSoftWord(size_t type) {
  switch (type) {
    case PdlParser::WHERE:
    case PdlParser::AS:
    case PdlParser::INTO:
    case PdlParser::OVER:
    case PdlParser::EVERY:
    case PdlParser::TOL:
      return true;
    default:
      return false;
  }
}

bool IsOperator(size_t type) {
  switch (type) {
    case PdlParser::PIPE:
    case PdlParser::BAR:
    case PdlParser::OR:
    case PdlParser::AND:
    case PdlParser::IN:
    case PdlParser::EQ:
    case PdlParser::NE:
    case PdlParser::LT_:
    case PdlParser::LE:
    case PdlParser::GT:
    case PdlParser::GE:
    case PdlParser::PLUS:
    case PdlParser::MINUS:
    case PdlParser::STAR:
    case PdlParser::SLASH:
    case PdlParser::FLOOR_DIV:
    case PdlParser::PERCENT:
    case PdlParser::AT:
    case PdlParser::POWER:
      return true;
    default:
      return false;
  }
}

// Determines the roles of the tokens of a statement in one pass.
class Preparer {
 public:
  explicit Preparer(std::vector<FormatToken>* tokens) : tokens_(*tokens) {}

  void Add(FormatToken token) {
    token.index = static_cast<uint32_t>(tokens_.size());
    token.match = token.index;
    token.role = BracketRole::kNone;
    if (token.starts_statement) statement_type_ = token.type;
    const bool after_operand = !token.starts_statement && operand_end_;
    token.is_infix = IsOperator(token.type) && (after_operand || token.type == PdlParser::BAR);
    operand_end_ = EndsOperand(token.type, after_operand);
    switch (token.type) {
      case PdlParser::LPAREN:
      case PdlParser::LBRACKET:
      case PdlParser::LBRACE:
      case PdlParser::REC:
        token.role = RoleOf(token, after_operand);
        break;
      case PdlParser::RPAREN:
      case PdlParser::RBRACKET:
      case PdlParser::RBRACE: {
        FormatToken& open = tokens_[open_.back()];
        token.match = open.index;
        token.role = open.role;
        open.match = token.index;
        open_.pop_back();
        if (token.role == BracketRole::kBlock) operand_end_ = false;
        break;
      }
      default:
        break;
    }
    token.space_before = !tokens_.empty() && Space(tokens_.back(), token, after_operand);
    const bool opens = token.role != BracketRole::kNone && token.match == token.index;
    is_prefix_ = token.type == PdlParser::MINUS && !token.is_infix;
    tokens_.push_back(token);
    if (opens) open_.push_back(token.index);
  }

 private:
  BracketRole Around() const {
    return open_.empty() ? BracketRole::kBlock : tokens_[open_.back()].role;
  }
  size_t TypeAt(size_t back) const {
    return tokens_.size() < back ? size_t{PdlParser::NL} : tokens_[tokens_.size() - back].type;
  }

  // Whether the next token cannot begin another operand: it is an infix operator, a call's '(', or
  // a word such as `where` in the position of an operator.
  static bool EndsOperand(size_t type, bool after_operand) {
    switch (type) {
      case PdlParser::NAME:
      case PdlParser::NUMBER:
      case PdlParser::STRING:
      case PdlParser::TRUE:
      case PdlParser::FALSE:
      case PdlParser::NONE:
      case PdlParser::RPAREN:
      case PdlParser::RBRACKET:
      case PdlParser::RBRACE:
      case PdlParser::QUESTION:
        return true;
      default:
        return IsSoftWord(type) && !after_operand;
    }
  }

  // Whether the previous name is that of a type: after ':' of a declaration, '|' or `sparse`.
  bool AfterTypeName() const {
    const size_t name = TypeAt(1) == PdlParser::QUESTION ? 2 : 1;
    if (TypeAt(name) != PdlParser::NAME) return false;
    const size_t before = TypeAt(name + 1);
    return before == PdlParser::SPARSE || before == PdlParser::BAR ||
           (before == PdlParser::COLON && Around() != BracketRole::kIndex);
  }

  BracketRole RoleOf(const FormatToken& token, bool after_operand) const {
    switch (token.type) {
      case PdlParser::LPAREN:
        if (statement_type_ == PdlParser::LAYER && Around() == BracketRole::kBlock &&
            TypeAt(2) == PdlParser::LAYER) {
          return BracketRole::kSignature;
        }
        return after_operand ? BracketRole::kCall : BracketRole::kParenthesis;
      case PdlParser::LBRACKET:
        if (AfterTypeName()) return BracketRole::kDims;
        return after_operand ? BracketRole::kIndex : BracketRole::kList;
      case PdlParser::REC:
        return BracketRole::kRecord;
      default:
        return BracketRole::kBlock;
    }
  }

  bool IsTightAssign() const {
    switch (Around()) {
      case BracketRole::kBlock:
        return statement_type_ == PdlParser::RETURN;
      case BracketRole::kSignature:
        return false;
      default:
        return true;
    }
  }

  // Inside the dims of a type, products and sums have no spaces: 32*H, N+M.
  static bool IsTightInDims(const FormatToken& token) {
    return token.is_infix && (token.type == PdlParser::STAR || token.type == PdlParser::PLUS ||
                              token.type == PdlParser::MINUS);
  }

  bool Space(const FormatToken& before, const FormatToken& token, bool after_operand) const {
    const bool opened = !open_.empty() && before.index == open_.back();
    if (before.role == BracketRole::kBlock && before.type == PdlParser::LBRACE) {
      return token.type != PdlParser::RBRACE;
    }
    if (opened) return false;
    switch (token.type) {
      case PdlParser::RPAREN:
      case PdlParser::RBRACKET:
      case PdlParser::COMMA:
      case PdlParser::QUESTION:
        return false;
      case PdlParser::COLON:
        return before.type == PdlParser::COMMA;
      case PdlParser::RBRACE:
        return token.role == BracketRole::kBlock;
      case PdlParser::DOT:
        return before.type == PdlParser::NUMBER;  // `1.x` is not a member of a number
      default:
        break;
    }
    switch (before.type) {
      case PdlParser::COMMA:
        return true;
      case PdlParser::DOT:
      case PdlParser::TILDE:
      case PdlParser::RANGE:
      case PdlParser::RANGE_TO:
        return false;
      case PdlParser::COLON:
        return Around() != BracketRole::kIndex;
      case PdlParser::ASSIGN:
        return !IsTightAssign();
      default:
        break;
    }
    if (is_prefix_) return false;
    if (Around() == BracketRole::kDims && (IsTightInDims(token) || IsTightInDims(before))) {
      return false;
    }
    switch (token.type) {
      case PdlParser::ELLIPSIS:
      case PdlParser::RANGE:
      case PdlParser::RANGE_TO:
        return false;
      case PdlParser::ASSIGN:
        return !IsTightAssign();
      case PdlParser::LPAREN:
        return !after_operand;
      case PdlParser::LBRACKET:
        return token.role == BracketRole::kList;
      default:
        return true;
    }
  }

  std::vector<FormatToken>& tokens_;
  std::vector<uint32_t> open_;
  size_t statement_type_ = PdlParser::NL;
  bool operand_end_ = false;
  bool is_prefix_ = false;  // the previous token is a prefix operator
};

// Marks the rows of a list of lists written with one row per line: they must begin lines.
void MarkRows(std::vector<FormatToken>* tokens, std::vector<bool>* forced) {
  for (const FormatToken& open : *tokens) {
    if (open.role != BracketRole::kList || open.match <= open.index + 1) continue;
    bool are_lists = true;
    bool is_broken = false;
    for (uint32_t i = open.index + 1; are_lists && i < open.match;) {
      const FormatToken& row = (*tokens)[i];
      are_lists =
          row.role == BracketRole::kList && row.match > i &&
          (row.match + 1 == open.match || (*tokens)[row.match + 1].type == PdlParser::COMMA);
      is_broken |= i > open.index + 1 && row.newline_before;
      i = row.match + 2;
    }
    if (!are_lists || !is_broken) continue;
    for (uint32_t i = open.index + 1; i < open.match; i = (*tokens)[i].match + 2) {
      if (i > open.index + 1) (*forced)[i] = true;
    }
  }
}

}  // namespace

unsigned BreakLevel(const FormatToken& token) {
  if (!token.is_infix) return 0;
  switch (token.type) {
    case PdlParser::PIPE:
      return 1;
    case PdlParser::BAR:
      return 2;
    case PdlParser::OR:
      return 3;
    case PdlParser::AND:
      return 4;
    case PdlParser::PLUS:
    case PdlParser::MINUS:
      return 6;
    case PdlParser::STAR:
    case PdlParser::SLASH:
    case PdlParser::FLOOR_DIV:
    case PdlParser::PERCENT:
    case PdlParser::AT:
      return 7;
    case PdlParser::POWER:
      return 0;
    default:
      return 5;  // comparisons
  }
}

namespace {

/// Reads tokens and the comments between them in source order.
class Gatherer {
 public:
  Gatherer(llvm::StringRef source, llvm::ArrayRef<ast::Comment> comments, size_t* next_comment,
           size_t* end, std::vector<FormatComment>* format_comments)
      : source_(source),
        comments_(comments),
        next_comment_(*next_comment),
        end_(*end),
        format_comments_(*format_comments) {}

  /// Reads the token, of type 0 at the end of the source, after the comments before it. With
  /// `is_only`, these are taken even at the end.
  FormatToken Read(const Token& token, bool is_only, bool starts_statement) {
    FormatToken entry{};
    entry.type = token.type() == antlr4::Token::EOF ? 0 : static_cast<uint16_t>(token.type());
    entry.first_comment = static_cast<uint32_t>(next_comment_);
    const SourceRange range = token.range();
    if (entry.type != 0 || is_only) entry.newline_before = ReadComments(range.begin);
    if (entry.type != 0) {
      const size_t count = SkipNewlines(range.begin);
      end_ = range.end;
      entry.blank_before = count > 1;
      entry.newline_before |= count > 0;
      entry.text = source_.slice(range.begin, range.end);
      // The lexer merged the two words.
      if (entry.type == PdlParser::ELSE_IF) entry.text = "else if";
      entry.width = static_cast<uint32_t>(CountCharacters(entry.text));
      // An opening brace of a block is followed by statements.
      entry.starts_statement = starts_statement && entry.type != PdlParser::RBRACE;
    }
    entry.last_comment = static_cast<uint32_t>(next_comment_);
    return entry;
  }

 private:
  /// Takes the comments before an offset. Returns whether there are any.
  bool ReadComments(size_t before) {
    bool any = false;
    while (next_comment_ < comments_.size() && comments_[next_comment_].range.begin < before) {
      const ast::Comment& comment = comments_[next_comment_++];
      const bool blank = SkipNewlines(comment.range.begin) > 1;
      format_comments_.push_back(
          {source_.slice(comment.range.begin, comment.range.end).rtrim(), comment.own_line, blank});
      end_ = comment.range.end;
      any = true;
    }
    return any;
  }
  size_t SkipNewlines(size_t to) {
    size_t count = 0;
    for (; end_ < to; ++end_) count += source_[end_] == '\n';
    return count;
  }

  llvm::StringRef source_;
  llvm::ArrayRef<ast::Comment> comments_;
  size_t& next_comment_;
  size_t& end_;  // of the last token or comment
  std::vector<FormatComment>& format_comments_;
};

/// Sets the columns that the tokens would have on a single line.
void SetColumns(const std::vector<bool>& forced, std::vector<FormatToken>* tokens) {
  uint32_t column = 0;
  uint32_t num_forced = 0;
  uint32_t num_newlines = 0;
  for (FormatToken& token : *tokens) {
    column += token.space_before;
    token.flat_begin = column;
    column += token.width;
    token.forced = num_forced;
    token.newlines = num_newlines;
    num_forced += forced[token.index];
    num_newlines += token.newline_before;
  }
}

}  // namespace

std::vector<FormatToken> PrepareTokens(llvm::StringRef source, llvm::ArrayRef<Token> tokens,
                                       llvm::ArrayRef<ast::Comment> comments, size_t* next_comment,
                                       size_t* end, std::vector<FormatComment>* format_comments) {
  std::vector<FormatToken> result;
  result.reserve(tokens.size());
  Preparer preparer(&result);
  Gatherer gatherer(source, comments, next_comment, end, format_comments);
  bool starts_statement = true;
  for (const Token& token : tokens) {
    if (token.type() == PdlParser::NL) {
      starts_statement = true;
      continue;
    }
    preparer.Add(gatherer.Read(token, tokens.size() == 1, starts_statement));
    starts_statement =
        result.back().role == BracketRole::kBlock && result.back().type == PdlParser::LBRACE;
  }
  std::vector<bool> forced(result.size());
  for (const FormatToken& token : result) {
    forced[token.index] =
        token.has_comments() || (token.type == PdlParser::PIPE && token.newline_before);
  }
  MarkRows(&result, &forced);
  SetColumns(forced, &result);
  return result;
}

}  // namespace pdl
