#include "frontend/syntax_error.h"

#include <string>
#include <vector>

#include "frontend/ast_builder.h"
#include "frontend/token.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

bool IsReserved(size_t type) {
  switch (type) {
    case PdlParser::AND:
    case PdlParser::ASSERT:
    case PdlParser::ELSE:
    case PdlParser::EXPECT:
    case PdlParser::FALSE:
    case PdlParser::FOR:
    case PdlParser::IF:
    case PdlParser::IMPORT:
    case PdlParser::IN:
    case PdlParser::LAYER:
    case PdlParser::MINIMIZE:
    case PdlParser::NONE:
    case PdlParser::NOT:
    case PdlParser::OR:
    case PdlParser::RETURN:
    case PdlParser::SPARSE:
    case PdlParser::TRUE:
    case PdlParser::WITH:
      return true;
    default:
      return false;
  }
}

bool EndsOperand(size_t type) {
  return type == PdlParser::NAME || type == PdlParser::RPAREN || type == PdlParser::RBRACKET;
}

// Inside the innermost bracket that is open before the next token, a comma may stand.
bool CommaMayFollow(const UnitStream& stream) {
  int depth = 0;
  for (size_t i = stream.position(); i-- > 0;) {
    const size_t type = stream.tokens()[i].type();
    if (type == PdlParser::RPAREN || type == PdlParser::RBRACKET || type == PdlParser::RBRACE) {
      ++depth;
    } else if (type == PdlParser::LPAREN || type == PdlParser::LBRACKET || type == PdlParser::REC ||
               type == PdlParser::LBRACE) {
      if (depth-- > 0) continue;
      // A '(' that calls nothing holds one expression.
      return type != PdlParser::LPAREN || (i > 0 && EndsOperand(stream.tokens()[i - 1].type()));
    }
  }
  return false;
}

std::string Found(const Token& token, llvm::StringRef spelled) {
  if (token.type() == PdlParser::NL || token.type() == antlr4::Token::EOF) {
    return spelled == "}" ? "'}'" : "the end of the line";
  }
  if (token.type() == PdlParser::STRING) return "a text";
  return "'" + spelled.take_front(60).str() + "'";
}

// What the parser could have gone on with, in the words of a person.
std::string Wanted(antlr4::Parser* parser, const UnitStream& stream, const AstBuilder& builder,
                   const antlr4::misc::IntervalSet& expected) {
  auto has = [&](size_t type) { return expected.contains(type); };
  if (has(PdlParser::NUMBER) && has(PdlParser::STRING)) return "an expression";
  if (has(PdlParser::NL)) {
    return builder.AwaitsAssign() ? "'=', an operator or the end of the line"
                                  : "an operator or the end of the line";
  }
  std::vector<std::string> words;
  if (has(PdlParser::NUMBER)) {
    words.push_back("a number or a name");
  } else if (has(PdlParser::NAME)) {
    words.push_back(has(PdlParser::SPARSE) ? "a type" : "a name");
  }
  if (has(PdlParser::STRING)) words.push_back("a text in quotes");
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

void ReportSyntaxError(antlr4::Parser* parser, const UnitStream& stream, AstBuilder* builder) {
  const Token& token = stream.next();
  const llvm::StringRef spelled = builder->Spelling(token);
  const antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
  const std::string wanted = Wanted(parser, stream, *builder, expected);
  const std::string suffix = wanted.empty() ? "" : ", wanted " + wanted;
  if (IsReserved(token.type()) && expected.contains(size_t{PdlParser::NAME})) {
    if (token.type() == PdlParser::ELSE) {
      builder->Fail(Code::kSyntax, token.range(),
                    "unexpected 'else': it stands on the line of the '}' before it");
      return;
    }
    builder->Fail(Code::kReservedName, token.range(),
                  "'" + spelled + "' is a reserved word" + suffix);
    return;
  }
  if (stream.position() > 0 && IsReserved(stream.last().type()) &&
      (token.type() == PdlParser::ASSIGN || token.type() == PdlParser::COLON)) {
    builder->Fail(Code::kReservedName, stream.last().range(),
                  "'" + builder->Spelling(stream.last()) + "' is a reserved word, not a name");
    return;
  }
  Diagnostic* diagnostic =
      builder->Fail(Code::kSyntax, token.range(), "unexpected " + Found(token, spelled) + suffix);
  if (diagnostic == nullptr) return;
  if (token.type() == PdlParser::ASSIGN && wanted.find('{') != std::string::npos) {
    diagnostic->Note("to compare, write '=='");
  }
}

}  // namespace pdl
