#ifndef PDL_FRONTEND_SYNTAX_AST_H_
#define PDL_FRONTEND_SYNTAX_AST_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "pdl/compiler/source.h"

/// The syntax tree. Nodes are immutable, trivially destructible, and allocated in the arena of
/// their `Ast`; each has its source range. A long sum or pipe is one flat node, so a tree is never
/// deeper than kMaxNesting and can be traversed by recursion.
namespace pdl::ast {

inline constexpr uint32_t kMaxNesting = 256;

struct Identifier {
  llvm::StringRef text;
  SourceRange range;
};

// ---------------------------------------------------------------------------------------------
// Expressions

enum class ExprKind : uint8_t {
  kNumber,
  kString,
  kWord,
  kName,
  kRagged,
  kParenthesis,
  kList,
  kRecord,
  kCall,
  kIndex,
  kMember,
  kPrefix,
  kChain,
};

struct Expr {
  ExprKind kind;
  /// Depth of the subtree, including this node.
  uint32_t depth;
  SourceRange range;
};

/// `3`, `2.5`, `-1`: a sign directly before the digits is part of the number.
struct NumberExpr : Expr {
  bool is_int;
  int64_t int_value;   // if is_int
  double float_value;  // otherwise
  /// The same digits parsed as an f32: rounded once.
  float float32_value;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kNumber; }
};

struct StringExpr : Expr {
  llvm::StringRef value;  // escapes resolved
  static bool classof(const Expr* e) { return e->kind == ExprKind::kString; }
};

enum class Word : uint8_t { kFalse, kTrue, kNone };
struct WordExpr : Expr {
  Word word;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kWord; }
};

struct NameExpr : Expr {
  llvm::StringRef name;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kName; }
};

/// `~T`
struct RaggedExpr : Expr {
  Identifier symbol;  // without '~'
  static bool classof(const Expr* e) { return e->kind == ExprKind::kRagged; }
};

struct ParenthesisExpr : Expr {
  const Expr* inner;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kParenthesis; }
};

/// `value`, `value...` or `name=value` in a call, a list, a record, an `output` or a `return`.
struct Argument {
  Identifier name;  // `text` is empty if absent
  const Expr* value;
  bool is_spread;
  const StringExpr* text = nullptr;  // of a pair "text": value of a record
  bool is_named() const { return !name.text.empty(); }
  SourceRange range() const {
    if (text != nullptr) return Span(text->range, value->range);
    return is_named() ? Span(name.range, value->range) : value->range;
  }
};

struct ListExpr : Expr {
  llvm::ArrayRef<Argument> items;  // without names
  static bool classof(const Expr* e) { return e->kind == ExprKind::kList; }
};

struct RecordExpr : Expr {
  llvm::ArrayRef<Argument> fields;  // all with names, or all with strings
  static bool classof(const Expr* e) { return e->kind == ExprKind::kRecord; }
};

struct CallExpr : Expr {
  const Expr* callee;
  llvm::ArrayRef<Argument> arguments;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kCall; }
};

enum class SubscriptKind : uint8_t { kIndex, kSlice, kSkipAxes };
struct Subscript {
  SubscriptKind kind;
  const Expr* start;  // the index itself if kIndex; null if omitted
  const Expr* stop;
  const Expr* step;
  SourceRange range;
};

struct IndexExpr : Expr {
  const Expr* base;
  llvm::ArrayRef<Subscript> subscripts;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kIndex; }
};

struct MemberExpr : Expr {
  const Expr* base;
  Identifier member;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kMember; }
};

enum class Operator : uint8_t {
  kPipe,
  kOr,
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kRange,
  kRangeTo,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kRemainder,
  kMatmul,
  kNegate,
  kPower,
};
/// The spelling in the language: "|>", "not", "**".
llvm::StringRef Spelling(Operator op);

struct PrefixExpr : Expr {
  Operator op;  // kNot or kNegate
  const Expr* operand;
  static bool classof(const Expr* e) { return e->kind == ExprKind::kPrefix; }
};

struct OperatorUse {
  Operator op;
  SourceRange range;
};

/// Operands with operators of one precedence between them: `a + b - c`, `x |> f() |> g()`.
/// Comparisons, `in` and ranges have exactly two operands; `**` is right-associative, all others
/// are left-associative. The operands after `|>` are calls.
struct ChainExpr : Expr {
  llvm::ArrayRef<const Expr*> operands;
  llvm::ArrayRef<OperatorUse> operators;  // one fewer than operands
  static bool classof(const Expr* e) { return e->kind == ExprKind::kChain; }
};

// ---------------------------------------------------------------------------------------------
// Types

enum class DimKind : uint8_t { kExpr, kRagged, kAny };
struct Dim {
  DimKind kind;
  const Expr* expr;   // if kExpr
  Identifier symbol;  // if kRagged: `~T`
  SourceRange range;
};

enum class RangeKind : uint8_t { kNone, kIn, kGreater, kGreaterEqual, kLess, kLessEqual };
struct TypeRange {
  RangeKind kind;
  const Expr* value;  // a range or a list if kIn, else the bound
  SourceRange range;
};

/// `f32[N, ~T, 8*H]`, `sparse bool[N, D]`, `i64[N] in 0..V`, `int > 0`, `[int]`, `int?`.
struct TypeTerm {
  bool is_sparse;
  bool is_list;
  bool may_be_none;
  bool has_dims;
  Identifier name;
  llvm::ArrayRef<Dim> dims;
  TypeRange value_range;
  SourceRange range;
};

/// Alternatives; only a layer's input may have more than one.
struct Type {
  llvm::ArrayRef<TypeTerm> terms;
  SourceRange range;
  /// Whether it is the type of a tensor, such as f32[N, 3], rather than of an attribute, such as
  /// float.
  bool is_tensor() const { return terms.front().has_dims; }
};

// ---------------------------------------------------------------------------------------------
// Statements

enum class StatementKind : uint8_t {
  kAttr,
  kInput,
  kParam,
  kState,
  kUpdate,
  kOutput,
  kReturn,
  kLayer,
  kLayerInstance,
  kImport,
  kLoad,
  kMinimize,
  kAssert,
  kFeed,
  kExpect,
  kIf,
  kFor,
  kTest,
  kAssign,
  kBroken,
};

struct Statement {
  StatementKind kind;
  SourceRange range;
  /// The contents of its `##` comment, with lines joined by '\n'; empty if there is none.
  llvm::StringRef doc;
};

struct AttrStatement : Statement {
  Identifier name;
  const Type* type;
  const Expr* default_value;  // or null
  static bool classof(const Statement* s) { return s->kind == StatementKind::kAttr; }
};

struct InputStatement : Statement {
  Identifier name;
  const Type* type;
  llvm::ArrayRef<const Expr*> where;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kInput; }
};

/// A `param` or a `state`.
struct VariableStatement : Statement {
  Identifier name;
  const Type* type;  // null if it is not written: `state NAME = copy(…)`
  const Expr* initial;
  const Expr* with;  // or null
  static bool classof(const Statement* s) {
    return s->kind == StatementKind::kParam || s->kind == StatementKind::kState;
  }
};

struct UpdateStatement : Statement {
  Identifier name;
  const Expr* value;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kUpdate; }
};

/// An `output` or a `return`.
struct OutputStatement : Statement {
  llvm::ArrayRef<Argument> bindings;  // `y` or `y = expression`
  static bool classof(const Statement* s) {
    return s->kind == StatementKind::kOutput || s->kind == StatementKind::kReturn;
  }
};

struct Block {
  llvm::ArrayRef<const Statement*> statements;
  SourceRange range;  // with its braces
};

struct Parameter {
  Identifier name;
  bool is_repeatable;
  const Type* type;
  const Expr* default_value;  // or null
  SourceRange range;
  llvm::StringRef doc;
};

struct LayerStatement : Statement {
  Identifier name;
  llvm::ArrayRef<Parameter> parameters;
  llvm::ArrayRef<const Expr*> where;
  Block body;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kLayer; }
};

struct LayerInstanceStatement : Statement {
  Identifier name;
  const Expr* value;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kLayerInstance; }
};

struct Text {
  llvm::StringRef value;  // escapes resolved
  SourceRange range;      // empty if absent
};

struct ImportStatement : Statement {
  Text path;
  Identifier as;  // `text` is empty if absent
  static bool classof(const Statement* s) { return s->kind == StatementKind::kImport; }
};

struct LoadStatement : Statement {
  Text path;
  llvm::ArrayRef<Identifier> into;  // a.b has two
  const Expr* with;                 // or null
  static bool classof(const Statement* s) { return s->kind == StatementKind::kLoad; }
};

struct MinimizeStatement : Statement {
  const Expr* loss;
  const Expr* over;  // or null
  const Expr* with;
  const Expr* every;  // or null
  static bool classof(const Statement* s) { return s->kind == StatementKind::kMinimize; }
};

struct AssertStatement : Statement {
  const Expr* condition;
  Text message;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kAssert; }
};

struct FeedStatement : Statement {
  llvm::ArrayRef<Identifier> path;
  const Expr* value;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kFeed; }
};

enum class ExpectKind : uint8_t { kTrue, kNear, kError };
struct ExpectStatement : Statement {
  ExpectKind expect;
  const Expr* value;      // the condition; the left side; the call that fails
  const Expr* near;       // if kNear
  const Expr* tolerance;  // or null
  Text message;           // if kError
  static bool classof(const Statement* s) { return s->kind == StatementKind::kExpect; }
};

struct Branch {
  const Expr* condition;  // null for `else`
  Block block;
};

struct IfStatement : Statement {
  llvm::ArrayRef<Branch> branches;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kIf; }
};

struct ForStatement : Statement {
  llvm::ArrayRef<Identifier> names;  // one or two
  const Expr* over;
  Block body;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kFor; }
};

struct TestStatement : Statement {
  Text name;
  const Expr* with;  // or null
  Block body;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kTest; }
};

/// `a, b: TYPE = expression`, or an expression statement.
struct AssignStatement : Statement {
  llvm::ArrayRef<Identifier> targets;  // empty for an expression statement
  const Type* type;                    // or null
  const Expr* value;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kAssign; }
};

/// A statement with a syntax error that was reported.
struct BrokenStatement : Statement {
  /// The names that it would probably have defined.
  llvm::ArrayRef<Identifier> names;
  static bool classof(const Statement* s) { return s->kind == StatementKind::kBroken; }
};

// ---------------------------------------------------------------------------------------------

/// The expression without the parentheses around it.
inline const Expr* WithoutParentheses(const Expr* expr) {
  while (const auto* parenthesis = llvm::dyn_cast<ParenthesisExpr>(expr)) expr = parenthesis->inner;
  return expr;
}

/// The expression as a range, `a..b` or `a..=b`; null if it is none.
inline const ChainExpr* AsRange(const Expr* expr) {
  const auto* chain = llvm::dyn_cast<ChainExpr>(expr);
  const bool is_range = chain != nullptr && (chain->operators[0].op == Operator::kRange ||
                                             chain->operators[0].op == Operator::kRangeTo);
  return is_range ? chain : nullptr;
}

// ---------------------------------------------------------------------------------------------

struct Comment {
  SourceRange range;  // from its '#' to the end of the line
  bool is_doc;        // "##"
  bool own_line;      // nothing precedes it on its line
};

}  // namespace pdl::ast

namespace pdl {

/// A parsed file: its statements in order, its comments, and the memory of both.
struct Ast {
  std::shared_ptr<const SourceFile> file;
  std::vector<const ast::Statement*> statements;
  std::vector<ast::Comment> comments;
  llvm::BumpPtrAllocator arena;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_SYNTAX_AST_H_
