#include "frontend/syntax/syntax_error.h"

#include <string>
#include <vector>

#include "frontend/syntax/ast_builder.h"
#include "frontend/syntax/keywords.h"
#include "frontend/syntax/token.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "pdl/op/dtype.h"

namespace pdl {
namespace {

bool EndsOperand(size_t type) {
  return type == PdlParser::NAME || type == PdlParser::RPAREN || type == PdlParser::RBRACKET;
}

bool OpensBracket(size_t type) {
  return type == PdlParser::LPAREN || type == PdlParser::LBRACKET || type == PdlParser::REC ||
         type == PdlParser::LBRACE;
}

bool ClosesBracket(size_t type) {
  return type == PdlParser::RPAREN || type == PdlParser::RBRACKET || type == PdlParser::RBRACE;
}

// The index of the innermost bracket that is open before the next token; -1 if there is none.
ssize_t InnermostBracket(const UnitStream& stream) {
  int depth = 0;
  for (size_t i = stream.position(); i-- > 0;) {
    const size_t type = stream.tokens()[i].type();
    if (ClosesBracket(type)) ++depth;
    if (OpensBracket(type) && depth-- == 0) return static_cast<ssize_t>(i);
  }
  return -1;
}

// Whether a comma is valid in the innermost bracket that is open before the next token.
bool CommaMayFollow(const UnitStream& stream) {
  const ssize_t open = InnermostBracket(stream);
  if (open < 0) return false;
  // A '(' that is not a call contains one expression.
  return stream.tokens()[static_cast<size_t>(open)].type() != PdlParser::LPAREN ||
         (open > 0 && EndsOperand(stream.tokens()[static_cast<size_t>(open) - 1].type()));
}

// Whether the statement is complete, and does not end in an expression that an operator could
// continue.
bool EndsWithoutExpression(const UnitStream& stream) {
  const llvm::ArrayRef<Token> taken =
      llvm::ArrayRef<Token>(stream.tokens()).take_front(stream.position());
  const Token* start = taken.end();
  bool has_expression = false;
  while (start != taken.begin() && start[-1].type() != PdlParser::NL &&
         start[-1].type() != PdlParser::LBRACE) {
    --start;
    has_expression |= start->type() == PdlParser::ASSIGN || start->type() == PdlParser::WHERE;
  }
  if (start == taken.end()) return false;
  switch (start->type()) {
    case PdlParser::IMPORT:
    case PdlParser::LOAD:
      return true;
    case PdlParser::ATTR:
    case PdlParser::INPUT:
      return !has_expression;
    default:
      return false;
  }
}

// The equivalents of keywords of other languages.
llvm::StringRef HelpOnWord(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Cases("def", "fn", "func", "function", "class", "a layer begins with 'layer'")
      .Cases("let", "var", "val", "const", "auto", "a value needs no word before it: x = 2")
      .Cases("while", "loop", "a loop at run time is 'scan', one over a known count is 'for'")
      .Case("elif", "a further condition is 'else if'")
      .Case("from", "a file is imported by: import \"file.pdl\"")
      .Default("");
}

// For a parameter or state that ends after its type.
llvm::StringRef HelpOnInitializer(const UnitStream& stream) {
  const size_t type = stream.next().type();
  if (type != PdlParser::NL && type != PdlParser::WITH && type != antlr4::Token::EOF) return "";
  if (stream.position() == 0 || stream.last().type() != PdlParser::RBRACKET) return "";
  const llvm::ArrayRef<Token> taken =
      llvm::ArrayRef<Token>(stream.tokens()).take_front(stream.position());
  const Token* start = taken.end() - 1;
  while (start != taken.begin() && start[-1].type() != PdlParser::NL &&
         start[-1].type() != PdlParser::LBRACE)
    --start;
  if (start->type() == PdlParser::PARAM)
    return "a parameter has an initializer: = xavier_uniform(), = zeros() or = "
           "load(\"file.safetensors\", \"name\")";
  return start->type() == PdlParser::STATE ? "a state has an initial value: = zeros()" : "";
}

// The equivalents of operators and keywords of other languages.
llvm::StringRef HelpOn(const UnitStream& stream, const AstBuilder& builder,
                       llvm::StringRef description) {
  const size_t type = stream.next().type();
  if (stream.position() > 0 && stream.last().type() == PdlParser::NAME) {
    const llvm::StringRef last = builder.Spelling(stream.last());
    if (type == PdlParser::LPAREN && DTypeFromName(last))
      return "the dims of a type are written between '[' and ']': f32[N, 3]";
    const size_t before_last = stream.position() > 1 ? stream.tokens()[stream.position() - 2].type()
                                                     : size_t{PdlParser::NL};
    const bool starts_statement = before_last == PdlParser::NL ||
                                  before_last == PdlParser::LBRACE ||
                                  before_last == PdlParser::RBRACE;
    if (starts_statement && !HelpOnWord(last).empty()) return HelpOnWord(last);
  }
  if (const llvm::StringRef help = HelpOnInitializer(stream); !help.empty()) return help;
  const size_t before = stream.position() == 0 ? size_t{PdlParser::NL} : stream.last().type();
  const bool starts = before == PdlParser::NL || before == PdlParser::LBRACE;
  switch (type) {
    case PdlParser::ASSIGN:
      if (description.contains('{')) return "to compare, write '=='";
      if (before == PdlParser::PLUS || before == PdlParser::MINUS || before == PdlParser::STAR ||
          before == PdlParser::SLASH) {
        return "a name is given a new value by 'y = y + x'";
      }
      return "";
    case PdlParser::IF:
      return starts ? "" : "to choose between two values, write where(condition, a, b)";
    case PdlParser::FLOOR_DIV:
      return starts ? "a comment begins with '#'" : "";
    case PdlParser::BAR:
      return before == PdlParser::BAR ? "conditions are joined by 'and' and 'or'" : "";
    default:
      return "";
  }
}

std::string Found(const Token& token, llvm::StringRef spelled) {
  if (token.type() == PdlParser::NL || token.type() == antlr4::Token::EOF) {
    return spelled == "}" ? "'}'" : "end of the line";
  }
  if (token.type() == PdlParser::STRING) return "string";
  return "'" + spelled.take_front(60).str() + "'";
}

// A description of the tokens that the parser expected.
std::string DescribeExpected(antlr4::Parser* parser, const UnitStream& stream,
                             const AstBuilder& builder, const antlr4::misc::IntervalSet& expected) {
  auto has = [&](size_t type) { return expected.contains(type); };
  if (has(PdlParser::NUMBER) && has(PdlParser::STRING)) {
    return stream.position() == 0 ? "a statement" : "an expression";
  }
  if (has(PdlParser::NL)) {
    if (EndsWithoutExpression(stream)) return "the end of the line";
    return builder.AwaitsAssign() ? "'=', an operator or the end of the line"
                                  : "an operator or the end of the line";
  }
  std::vector<std::string> words;
  if (has(PdlParser::NUMBER)) {
    words.push_back("a number or a name");
  } else if (has(PdlParser::NAME)) {
    words.push_back(has(PdlParser::SPARSE) ? "a type" : "a name");
  }
  if (has(PdlParser::STRING)) words.push_back("a string in quotes");
  const bool closes = has(PdlParser::RPAREN) || has(PdlParser::RBRACKET) || has(PdlParser::RBRACE);
  if (closes && !has(PdlParser::COMMA) && words.empty() && CommaMayFollow(stream)) {
    const size_t before = stream.last().type();
    const bool is_empty =
        before == PdlParser::LPAREN || before == PdlParser::LBRACKET || before == PdlParser::REC;
    words.push_back(is_empty ? "an expression" : "','");
  }
  if (words.empty() || !has(PdlParser::SPARSE)) {
    const antlr4::dfa::Vocabulary& vocabulary = parser->getVocabulary();
    for (ssize_t type : expected.toList()) {
      if (type <= 0 || words.size() >= 5) continue;
      const std::string literal = vocabulary.getLiteralName(static_cast<size_t>(type));
      const bool is_soft = has(PdlParser::NAME) && !literal.empty() && llvm::isAlpha(literal[1]);
      if (!literal.empty() && !is_soft) words.push_back(literal);
    }
  }
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

CharacterHelp HelpOnCharacter(llvm::StringRef character) {
  return llvm::StringSwitch<CharacterHelp>(character)
      .Cases("'", "`", "\u2018", "\u2019", "\u201C", "\u201D",
             {"a string is written between '\"' and '\"'", ""})
      .Case("^", {"a power is written '**'", "**"})
      .Case("&", {"conditions are joined by 'and' and 'or'", ""})
      .Case("!", {"a condition is negated by 'not'", ""})
      .Case(";", {"a statement ends with its line", ""})
      .Cases("\u2013", "\u2014", "\u2212", {"the minus sign is '-'", "-"})
      .Case("\u00D7", {"the product is written '*'", "*"})
      .Default({"", ""});
}

void ReportSyntaxError(antlr4::Parser* parser, const UnitStream& stream, AstBuilder* builder) {
  const Token& token = stream.next();
  const llvm::StringRef spelled = builder->Spelling(token);
  const antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
  const std::string description = DescribeExpected(parser, stream, *builder, expected);
  const std::string suffix = description.empty() ? "" : ", expected " + description;
  // In an empty bracket the parser only expects the closing one, but an expression is possible,
  // too.
  const bool needs_name = expected.contains(size_t{PdlParser::NAME}) ||
                          llvm::StringRef(description).starts_with("an expression");
  if (IsReserved(token.type()) && needs_name) {
    if (token.type() == PdlParser::ELSE) {
      builder->Fail(Code::kSyntax, token.range(),
                    "unexpected 'else': it belongs on the line of the '}' before it");
      return;
    }
    const size_t after = stream.tokens()[stream.position() + 1].type();
    const bool is_named = after == PdlParser::ASSIGN || after == PdlParser::COLON;
    builder->FailReserved(token, is_named ? ", not a name" : suffix);
    return;
  }
  if (stream.position() > 0 && IsReserved(stream.last().type()) &&
      (token.type() == PdlParser::ASSIGN || token.type() == PdlParser::COLON)) {
    builder->FailReserved(stream.last(), ", not a name");
    return;
  }
  if (ClosesBracket(token.type()) && InnermostBracket(stream) < 0) {
    builder->Fail(Code::kSyntax, token.range(),
                  "unexpected '" + spelled + "': no bracket is open here");
    return;
  }
  Diagnostic* diagnostic =
      builder->Fail(Code::kSyntax, token.range(), "unexpected " + Found(token, spelled) + suffix);
  if (diagnostic == nullptr) return;
  if (const llvm::StringRef help = HelpOn(stream, *builder, description); !help.empty()) {
    diagnostic->Note(help.str());
  }
  // A named argument can only follow a comma.
  const bool is_named_argument = token.type() == PdlParser::NAME &&
                                 stream.tokens()[stream.position() + 1].type() == PdlParser::ASSIGN;
  if (is_named_argument && CommaMayFollow(stream)) {
    const uint32_t end = stream.last().range().end;
    diagnostic->Suggest({end, end}, ",");
  }
}

}  // namespace pdl
