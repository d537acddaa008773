#ifndef PDL_FRONTEND_EDITOR_CURSOR_H_
#define PDL_FRONTEND_EDITOR_CURSOR_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// The syntactic position of a cursor, determined from the tokens between the beginning of its
/// statement and the cursor, so that it is known in incomplete source, too.
struct CursorContext {
  /// A call whose parenthesis is open.
  struct Call {
    std::string callee;  // with its path: "blocks.block"
    SourceRange callee_range;
    /// The number of commas before the cursor.
    unsigned index = 0;
    /// Names of arguments that are given already, at any position before the cursor.
    std::vector<std::string> given;
    /// The name before "=", if the value of a named argument is being written.
    std::string argument;
    /// Whether it is that of an optimizer: `minimize … with adam(`.
    bool is_optimizer = false;
    /// Whether an argument begins at the word.
    bool at_argument = false;
    /// The number of positional arguments before the cursor, and of the operand of "|>".
    unsigned num_positional = 0;
  };

  /// The word before the cursor; in a string, its contents so far.
  SourceRange word;
  bool in_comment = false;
  bool in_string = false;
  /// The word that precedes the string: "import"; empty if none does.
  std::string before_string;
  /// A statement begins at the word.
  bool at_statement = false;
  /// A type is expected: after ":".
  bool at_type = false;
  /// The word follows a ".": the path before it, or the callee of the call before it.
  std::string base;
  bool base_is_call = false;
  bool after_dot = false;
  /// The first word of the statement.
  std::string keyword;
  /// The innermost open call.
  std::optional<Call> call;
  /// Names that the incomplete statement defines.
  std::vector<std::string> names;
};

/// Looks at the source before the cursor.
CursorContext LookAt(llvm::StringRef source, uint32_t offset);

}  // namespace pdl

#endif  // PDL_FRONTEND_EDITOR_CURSOR_H_
