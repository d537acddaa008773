#ifndef PDL_FRONTEND_SYNTAX_AST_BUILDER_H_
#define PDL_FRONTEND_SYNTAX_AST_BUILDER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/syntax/ast.h"
#include "frontend/syntax/token.h"
#include "grammar/PdlParser.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/diagnostic.h"

namespace pdl {

/// Builds the AST from the actions of the generated parser. Uses precedence climbing with a stack
/// of operators, so that neither a long sum nor a long pipe needs recursion.
class AstBuilder final : public PdlActions {
 public:
  /// `stream` is read by the parser; nodes are allocated in the arena of `ast`.
  AstBuilder(Ast* ast, const UnitStream* stream, Diagnostics* diagnostics);

  /// Discards the state of an abandoned statement.
  void Reset();
  /// Whether an error that the grammar does not detect was reported since Reset: the statement is
  /// unusable.
  bool failed() const { return failed_; }
  /// Returns the top-level statement that was recognized.
  const ast::Statement* TakeStatement();
  /// A statement for a unit with a syntax error: the names that its statements seem to define.
  const ast::Statement* Broken(const std::vector<Token>& tokens);
  /// Reports an error, unless one was reported since Reset.
  Diagnostic* Fail(Code code, SourceRange range, const llvm::Twine& message);
  /// Reports "'in' is a reserved word" and `what`, once for each word: if a definition with that
  /// name was rejected, its uses are not errors of their own.
  void FailReserved(const Token& token, const llvm::Twine& what);
  /// Whether the last statement was an expression statement, so that an '=' may be missing.
  bool AwaitsAssign() const;
  /// The spelling of a token.
  llvm::StringRef Spelling(const Token& token) const { return ast_->file->Text(token.range()); }

  void OpenExpression() override;
  void CloseExpression() override;
  void Prefix() override;
  void Infix() override;
  void Name() override;
  void Number() override;
  void RaggedSize() override;
  void String() override;
  void Word() override;
  void OpenBracket() override;
  void Parenthesis() override;
  void List() override;
  void Record() override;
  void Call() override;
  void Index() override;
  void Member() override;
  void Argument() override;
  void TextArgument() override;
  void Spread() override;
  void NamedArgument() override;
  void OpenSubscript() override;
  void CloseSubscript() override;
  void SkipAxes() override;
  void Colon() override;
  void Bound() override;

  void OpenType() override;
  void CloseType() override;
  void OpenTypeTerm() override;
  void CloseTypeTerm() override;
  void Sparse() override;
  void TypeName() override;
  void ListTypeName() override;
  void MaybeNone() override;
  void OpenDims() override;
  void CloseDims() override;
  void AnyDims() override;
  void Dim() override;
  void RangeIn() override;
  void OpenRangeBound() override;
  void NegativeBound() override;
  void RangeBound() override;

  void Identifier() override;
  void OpenStatement() override;
  void Default() override;
  void With() override;
  void OpenWhere() override;
  void CloseWhere() override;
  void Attr() override;
  void Input() override;
  void Param() override;
  void State() override;
  void Update() override;
  void OpenBindings() override;
  void Output() override;
  void Return() override;
  void OpenLayer() override;
  void Parameter() override;
  void Repeatable() override;
  void LayerHead() override;
  void Layer() override;
  void LayerInstance() override;
  void Text() override;
  void Import() override;
  void Load() override;
  void Over() override;
  void Every() override;
  void Minimize() override;
  void Assert() override;
  void Feed() override;
  void ExpectTrue() override;
  void Near() override;
  void Tolerance() override;
  void ExpectNear() override;
  void ExpectError() override;
  void OpenTargets() override;
  void Target() override;
  void DeclaredType() override;
  void Assign() override;
  void OpenBlock() override;
  void CloseBlock() override;
  void If() override;
  void ElseIf() override;
  void Else() override;
  void CloseIf() override;
  void For() override;
  void CloseFor() override;
  void TestHead() override;
  void Test() override;

 private:
  struct PendingOperator {
    ast::Operator op;
    uint8_t level;  // 0 begins an expression
    bool is_prefix;
    SourceRange range;
  };
  struct BracketFrame {
    uint32_t begin;
    size_t arguments;
    size_t subscripts;
  };
  // The state of an incomplete statement. The marks are the sizes of the stacks at its beginning.
  struct StatementFrame {
    uint32_t begin = 0;
    size_t identifiers = 0;
    size_t values = 0;
    size_t arguments = 0;
    const ast::Expr* default_value = nullptr;
    const ast::Expr* with = nullptr;
    const ast::Expr* over = nullptr;
    const ast::Expr* every = nullptr;
    const ast::Expr* near = nullptr;
    const ast::Expr* tolerance = nullptr;
    const ast::Type* type = nullptr;
    llvm::ArrayRef<const ast::Expr*> where;
    ast::Text text{};
    llvm::ArrayRef<ast::Parameter> parameters;
    size_t branches = 0;
    ast::Block block{};
    size_t block_statements = 0;
    uint32_t block_begin = 0;
  };

  template <typename T>
  T* New() {
    return new (ast_->arena.Allocate<T>()) T{};
  }
  template <typename T>
  llvm::ArrayRef<T> Copy(llvm::ArrayRef<T> items) {
    return items.copy(ast_->arena);
  }
  // Removes the items of `stack` from `mark` on and returns them.
  template <typename T>
  llvm::ArrayRef<T> Take(std::vector<T>* stack, size_t mark) {
    llvm::ArrayRef<T> items = Copy(llvm::ArrayRef<T>(*stack).drop_front(mark));
    stack->resize(mark);
    return items;
  }
  llvm::StringRef Keep(llvm::StringRef text) { return text.copy(ast_->arena); }
  // The value of the last string token.
  llvm::StringRef LastString();

  const Token& last() const { return stream_->last(); }
  StatementFrame& frame() { return frames_.back(); }
  const ast::Expr* Pop();
  void Push(ast::Expr* expr, ast::ExprKind kind, SourceRange range, uint32_t depth = 1);
  void ReduceTop();
  ast::Identifier LastIdentifier() const { return {Spelling(last()), last().range()}; }

  template <typename T>
  T* NewStatement(ast::StatementKind kind);
  void Finish(ast::Statement* statement);
  ast::Identifier DeclaredPath();
  ast::Identifier Joined(llvm::ArrayRef<ast::Identifier> parts);
  std::optional<ast::Identifier> AsPath(const ast::Expr* expr);
  ast::Identifier Declared(size_t index = 0) const;
  void Variable(ast::StatementKind kind);
  void Bindings(ast::StatementKind kind);
  llvm::StringRef LeadingDoc(uint32_t begin);
  llvm::StringRef TrailingDoc(uint32_t end);
  llvm::StringRef DocText(llvm::ArrayRef<ast::Comment> comments);

  Ast* ast_;
  const UnitStream* stream_;
  Diagnostics* diagnostics_;
  llvm::StringRef source_;
  bool failed_ = false;
  llvm::StringSet<> reserved_;  // words that were reported
  std::string scratch_;

  std::vector<const ast::Expr*> values_;
  std::vector<PendingOperator> operators_;
  std::vector<BracketFrame> brackets_;
  std::vector<ast::Argument> arguments_;
  std::vector<ast::Subscript> subscripts_;
  std::vector<unsigned> colons_;  // of each open subscript
  std::vector<ast::Identifier> identifiers_;
  std::vector<StatementFrame> frames_;
  std::vector<const ast::Statement*> statements_;
  std::vector<ast::Branch> branches_;

  // The type being parsed; types do not nest.
  std::vector<ast::TypeTerm> terms_;
  std::vector<ast::Dim> dims_;
  ast::TypeTerm term_{};
  uint32_t type_begin_ = 0;
  uint32_t dim_begin_ = 0;
  bool bound_is_negative_ = false;
  const ast::Type* type_ = nullptr;
  // The layer signature being parsed; signatures do not nest.
  std::vector<ast::Parameter> parameters_;
  bool is_repeatable_ = false;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_BUILDER_H_
