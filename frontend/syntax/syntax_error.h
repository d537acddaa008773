#ifndef PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_
#define PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_

#include "llvm/ADT/StringRef.h"

namespace antlr4 {
class Parser;
}

namespace pdl {

class AstBuilder;
class UnitStream;

/// What stands here for a character that other languages use, such as '^'; or nothing.
llvm::StringRef HelpOnCharacter(llvm::StringRef character);

/// Says what the parser found and what it wanted instead.
void ReportSyntaxError(antlr4::Parser* parser, const UnitStream& stream, AstBuilder* builder);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_
