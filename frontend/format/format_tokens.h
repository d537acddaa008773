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

/// What a pair of brackets is for.
enum class BracketRole : uint8_t {
  kNone,  // no bracket
  kBlock,
  kSignature,
  kCall,
  kParenthesis,
  kList,
  kRecord,
  kIndex,
  kDims,
};

/// A token with what its layout depends on.
struct FormatToken {
  llvm::StringRef text;
  uint16_t type;
  BracketRole role;  // of brackets, on both sides
  bool space_before : 1;
  bool starts_statement : 1;
  bool is_infix : 1;
  /// In the source a blank line stands directly before it.
  bool blank_before : 1;
  bool newline_before : 1;
  uint32_t width;       // in characters
  uint32_t flat_begin;  // where it would begin if the whole statement were one line
  uint32_t match;       // index of the bracket's other side
  /// The comments between the token before and this one: indices into the file's.
  uint32_t first_comment;
  uint32_t last_comment;  // exclusive
  /// How many tokens before this one must begin a line, and how many do in the source.
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

/// The tokens of one top-level statement, newlines dropped, with an empty one at the end.
/// `comments` are those of the file; the ones before `*next_comment` belong to earlier statements,
/// which ended at `*end`. Both move on. An EOF alone takes all comments that are left.
std::vector<FormatToken> PrepareTokens(llvm::StringRef source, llvm::ArrayRef<Token> tokens,
                                       llvm::ArrayRef<ast::Comment> comments, size_t* next_comment,
                                       size_t* end, std::vector<FormatComment>* format_comments);

/// Source without syntax errors on one line, spaced as `pdl fmt` does, without comments: equal for
/// sources that `pdl fmt` makes equal.
std::string OneLine(llvm::StringRef source);

/// How loosely an infix operator binds, loosest first; 0 for one that no line begins with.
unsigned BreakLevel(const FormatToken& token);

}  // namespace pdl

#endif  // PDL_FRONTEND_FORMAT_FORMAT_TOKENS_H_
