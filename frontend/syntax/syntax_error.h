#ifndef PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_
#define PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_

#include "llvm/ADT/StringRef.h"

namespace antlr4 {
class Parser;
}

namespace pdl {

class AstBuilder;
class UnitStream;

/// The equivalent of a character of other languages, such as '^'.
struct CharacterHelp {
  llvm::StringRef note;     // empty if there is none
  llvm::StringRef instead;  // replaces the character; empty if that depends on the next ones
};
CharacterHelp HelpOnCharacter(llvm::StringRef character);

/// Reports what the parser found and what it expected instead.
void ReportSyntaxError(antlr4::Parser* parser, const UnitStream& stream, AstBuilder* builder);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_SYNTAX_ERROR_H_
