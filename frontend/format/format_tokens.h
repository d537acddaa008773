#ifndef PDL_FRONTEND_FORMAT_FORMAT_TOKENS_H_
#define PDL_FRONTEND_FORMAT_FORMAT_TOKENS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/syntax/ast.h"
#include "frontend/syntax/token.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

/// The role of a pair of brackets.
enum class BracketRole : uint8_t {
  kNone,  // not a bracket
  kBlock,
  kSignature,
  kCall,
  kParenthesis,
  kList,
  kRecord,
  kIndex,
  kDims,
};

/// A token with the properties that determine its layout.
struct FormatToken {
  llvm::StringRef text;
  uint16_t type;
  BracketRole role;  // of brackets, on both sides
  bool space_before : 1;
  bool starts_statement : 1;
  bool is_infix : 1;
  /// A blank line directly precedes it in the source.
  bool blank_before : 1;
  bool newline_before : 1;
  uint32_t width;       // in characters
  uint32_t flat_begin;  // its column if the complete statement were on one line
  uint32_t match;       // index of the matching bracket
  /// The comments between the previous token and this one: indices into the file's comments.
  uint32_t first_comment;
  uint32_t last_comment;  // exclusive
  /// The number of tokens before this one that must begin a line, and that do in the source.
  uint32_t forced;
  uint32_t newlines;

  uint32_t flat_end() const { return flat_begin + width; }
  bool has_comments() const { return first_comment != last_comment; }
  bool is_open() const { return role != BracketRole::kNone && match > index; }
  uint32_t index;
};

/// A comment and the blank line before it.
struct FormatComment {
  llvm::StringRef text;  // without blanks at its end
  bool own_line;
  bool blank_before;
};

/// The tokens of one top-level statement without newlines, with an empty one at the end. `comments`
/// are those of the file; comments before `*next_comment` belong to earlier statements, which ended
/// at `*end`. Both are advanced. A single EOF takes all remaining comments.
std::vector<FormatToken> PrepareTokens(llvm::StringRef source, llvm::ArrayRef<Token> tokens,
                                       llvm::ArrayRef<ast::Comment> comments, size_t* next_comment,
                                       size_t* end, std::vector<FormatComment>* format_comments);

/// Formats source without syntax errors on one line, spaced as by `pdl fmt`, without comments.
/// Equal for sources that `pdl fmt` makes equal.
std::string OneLine(llvm::StringRef source);

/// How loosely an infix operator binds, loosest first; 0 if no line begins with it.
unsigned BreakLevel(const FormatToken& token);

}  // namespace pdl

#endif  // PDL_FRONTEND_FORMAT_FORMAT_TOKENS_H_
