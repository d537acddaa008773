#ifndef PDL_FRONTEND_SYNTAX_LEXER_H_
#define PDL_FRONTEND_SYNTAX_LEXER_H_

#include <memory>
#include <vector>

#include "frontend/syntax/ast.h"
#include "frontend/syntax/token.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// The tokens of one top-level statement, followed by NL and EOF.
struct Unit {
  std::vector<Token> tokens;
  /// An error was reported: the parser must not see the tokens.
  bool broken = false;
  /// The source ends inside one of its brackets.
  bool is_open = false;
};

/// Splits source into top-level statements and these into tokens; the token source for
/// grammar/Pdl.g4. A statement ends at a newline outside of brackets; one with mismatched brackets
/// ends before the next line that looks like a new statement.
class Lexer {
 public:
  /// The source must be valid UTF-8. Comments are appended to `comments`.
  Lexer(std::shared_ptr<const SourceFile> file, std::vector<ast::Comment>* comments,
        Diagnostics* diagnostics);

  /// Reads the next statement into `unit`, whose memory is reused. Returns false at the end of the
  /// source.
  bool NextUnit(Unit* unit);

 private:
  struct Bracket {
    size_t type;  // of the opening token
    SourceRange range;
    bool is_block;
  };

  bool AtEnd() const { return at_ == text_.size(); }
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool InsideGroup() const { return !brackets_.empty() && !brackets_.back().is_block; }

  // Reports the first error of the unit; returns null for later ones.
  Diagnostic* Fail(Code code, SourceRange range, const llvm::Twine& message);
  void Emit(size_t type, size_t begin);
  size_t LastType() const;
  void LexNewline();
  void LexComment();
  void LexToken();
  void LexNumber();
  void LexWord();
  void LexString();
  bool LexEscape();
  void LexSign();
  /// Lexes `.`, `..`, `..=` or `...`; reports a number without a digit before its point.
  void LexPoint();
  void OpenBracket(size_t type);
  void CloseBracket(size_t type, size_t opening);
  void LexUnknown();

  bool AtStatementStart() const;
  /// Whether nothing but a comment follows on the line.
  bool EndsLine() const;
  bool AfterOperand() const;
  bool AfterPointOfName() const;
  size_t SoftKeyword(llvm::StringRef word) const;
  bool NextIsPipe() const;
  /// Whether the line beginning there starts a statement, judging by its first words, and is not
  /// indented deeper than the unit.
  bool LineStartsStatement(size_t begin) const;
  /// The beginning of the first line in [begin, end) that starts a statement, or `end`.
  size_t FindStatementAfter(size_t begin, size_t end) const;
  /// Reports the bracket that is open at `cut`, and ends the unit there.
  void EndUnclosed(size_t cut);

  std::shared_ptr<const SourceFile> file_;
  llvm::StringRef text_;
  std::vector<ast::Comment>* comments_;
  Diagnostics* diagnostics_;
  size_t at_ = 0;
  // Offset up to which comments were collected: they must not be collected again after
  // backtracking.
  size_t comments_end_ = 0;
  // A bracket was not closed: from here on a line that looks like a new statement ends the
  // statement with open brackets, so that no source is read more than twice.
  bool strict_ = false;

  Unit* unit_ = nullptr;
  bool ended_ = false;  // the unit is complete
  std::vector<Bracket> brackets_;
  bool unbalanced_ = false;  // a bracket of the unit was closed by one of another kind
  // The first line inside a group that looks like a new statement; 0 if none.
  size_t suspect_ = 0;
  size_t indentation_ = 0;  // of the unit's first line
};

/// Resolves the escapes of a string token that the lexer accepted; `scratch` holds the result if
/// there are any. `spelling` includes the quotes.
llvm::StringRef UnescapeString(llvm::StringRef spelling, std::string* scratch);

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_LEXER_H_
