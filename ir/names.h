// Names that the language accepts.
#ifndef PDL_IR_NAMES_H_
#define PDL_IR_NAMES_H_

#include "llvm/ADT/StringRef.h"

namespace pdl {

/// Whether the word can never be the name of a value of its own, such as "for".
bool IsReservedWord(llvm::StringRef word);
/// Whether the language accepts the name for a symbol or an attribute: letters, digits and '_',
/// not beginning with a digit, and no reserved word.
bool IsIdentifier(llvm::StringRef text);
/// Whether the language accepts the name for a value, `y` or `encoder.0.w`: an identifier, then
/// words of letters, digits and '_', separated by '.'.
bool IsPath(llvm::StringRef text);
/// Whether the string has no control character.
bool IsPrintable(llvm::StringRef text);
/// Whether a network can be stored with a weight whose file or tensor has this name: not empty,
/// without control characters.
bool IsWeightName(llvm::StringRef text);

}  // namespace pdl

#endif  // PDL_IR_NAMES_H_
