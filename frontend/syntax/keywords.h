#ifndef PDL_FRONTEND_SYNTAX_KEYWORDS_H_
#define PDL_FRONTEND_SYNTAX_KEYWORDS_H_

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

/// A keyword of the language.
struct Keyword {
  enum class Use : uint8_t {
    kReserved,   // never a name
    kAlsoName,   // a name where the grammar expects one
    kStatement,  // a name, except at the start of a statement
  };

  llvm::StringRef spelling;
  size_t token;  // PdlParser::AND, …; NUMBER for `inf` and `nan`
  Use use;
};

/// All keywords, as listed in keywords.def.
llvm::ArrayRef<Keyword> Keywords();

/// The token of a keyword that does not depend on context, or PdlParser::NAME.
size_t WordType(llvm::StringRef word);

/// The token of a keyword that is only one at the start of a statement, or PdlParser::NAME.
size_t StatementWordType(llvm::StringRef word);

/// Whether keywords with this token cannot be names.
bool IsReserved(size_t token);

/// Whether a token can only begin a statement.
bool StartsStatement(size_t token);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_KEYWORDS_H_
