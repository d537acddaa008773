#ifndef PDL_FRONTEND_SYNTAX_ERROR_H_
#define PDL_FRONTEND_SYNTAX_ERROR_H_

namespace antlr4 {
class Parser;
}

namespace pdl {

class AstBuilder;
class UnitStream;

/// Says what the parser found and what it wanted instead.
void ReportSyntaxError(antlr4::Parser* parser, const UnitStream& stream, AstBuilder* builder);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_ERROR_H_
