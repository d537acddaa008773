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

/// Makes the AST from what the generated parser recognizes. Precedence is climbed here, with a
/// stack of operators, so that neither a long sum nor a long pipe costs recursion.
class AstBuilder final : public PdlActions {
 public:
  /// `stream` is what the parser reads; nodes go to the arena of `ast`.
  AstBuilder(Ast* ast, const UnitStream* stream, Diagnostics* diagnostics);

  /// Forgets what an abandoned statement left behind.
  void Reset();
  /// A mistake that the grammar lets pass was reported since Reset: the statement is unusable.
  bool failed() const { return failed_; }
  /// The top-level statement that was recognized.
  const ast::Statement* TakeStatement();
  /// Stands for a unit with a syntax error: the names that its statements seem to define.
  const ast::Statement* Broken(const std::vector<Token>& tokens);
  /// A mistake, unless one was reported since Reset.
  Diagnostic* Fail(Code code, SourceRange range, const llvm::Twine& message);
  /// "'in' is a reserved word" and `what`. Said once for each word: where it was meant as a name,
  /// its uses are no mistakes of their own.
  void FailReserved(const Token& token, const llvm::Twine& what);
  /// The last statement was an expression alone: an '=' may have been forgotten.
  bool AwaitsAssign() const;
  /// The text of a token.
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
  // What is known of a statement before it is complete. The marks say where its part of each stack
  // begins.
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
  // The items of `stack` from `mark` on, which leave it.
  template <typename T>
  llvm::ArrayRef<T> Take(std::vector<T>* stack, size_t mark) {
    llvm::ArrayRef<T> items = Copy(llvm::ArrayRef<T>(*stack).drop_front(mark));
    stack->resize(mark);
    return items;
  }
  llvm::StringRef Keep(llvm::StringRef text) { return text.copy(ast_->arena); }
  // The value of the string token taken last.
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
  llvm::StringSet<> reserved_;  // words that were complained about
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

  // The type being recognized; types do not nest.
  std::vector<ast::TypeTerm> terms_;
  std::vector<ast::Dim> dims_;
  ast::TypeTerm term_{};
  uint32_t type_begin_ = 0;
  uint32_t dim_begin_ = 0;
  bool bound_is_negative_ = false;
  const ast::Type* type_ = nullptr;
  // The layer's signature being recognized; signatures do not nest.
  std::vector<ast::Parameter> parameters_;
  bool is_repeatable_ = false;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_BUILDER_H_
