#ifndef PDL_FRONTEND_ELABORATOR_H_
#define PDL_FRONTEND_ELABORATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/datum.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler.h"

namespace pdl {

/// Makes the graph of one parsed text: resolves names, computes constants, checks every call.
/// A mistake is reported once; what it spoils is poison, and silent.
class Elaborator {
 public:
  /// All of them must outlive the elaborator.
  Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics);

  /// Elaborates all statements. Usable where no error was reported.
  Graph Run();
  /// See CompileResult.
  const std::string& last_value() const { return last_value_; }

 private:
  using Targets = llvm::ArrayRef<ast::Identifier>;

  // An operand of a call, and where it is written.
  struct Operand {
    Datum datum;
    SourceRange range;
  };
  // Where an attribute of a call is written.
  struct AttributePlace {
    SourceRange name;  // empty where it is given by position
    SourceRange value;
    const ast::Expr* expr = nullptr;
    std::vector<SourceRange> elements;  // of a list that is not one expression
  };
  // A call before it is added to the graph.
  struct Call {
    const OpDef* def = nullptr;
    SourceRange place;  // what a complaint about the whole call points at
    llvm::SmallVector<Operand, 2> operands;
    llvm::SmallVector<NamedAttribute, 2> attributes;
    llvm::SmallVector<AttributePlace, 2> places;  // one for each attribute
    bool is_poison = false;                       // a part of it is
    BlockId block;
  };

  // --- elaborator.cc: mistakes, names, places ------------------------------------------------
  Diagnostic& Error(Code code, SourceRange range, const llvm::Twine& message);
  /// "… is not part of this version yet".
  void NotYet(SourceRange range, const llvm::Twine& what);
  void ReportCallError(llvm::Error error, const Call& call);
  std::string NoteOnOperand(const Operand& operand);
  LocationId LocationAt(uint32_t offset);
  /// "; did you mean 'x'?" or nothing.
  std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  void CollectNames(llvm::ArrayRef<const ast::Statement*> statements);
  /// The line of the statement that gives a name its first value.
  std::optional<uint32_t> LineThatDefines(llvm::StringRef name);
  /// A new input, parameter, state or attr; false where the name is taken, which was reported.
  bool Declare(const ast::Identifier& name);
  /// From here on the names are poison.
  void Poison(Targets names);
  void PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements);

  // --- elaborate_statements.cc ---------------------------------------------------------------
  void Elaborate(const ast::Statement* statement);
  void ElaborateUpdate(const ast::UpdateStatement* statement);
  void ElaborateOutput(const ast::OutputStatement* statement);
  void ElaborateAssign(const ast::AssignStatement* statement);
  void ElaborateAssert(const ast::AssertStatement* statement);

  // --- elaborate_attrs.cc --------------------------------------------------------------------
  void ElaborateAttr(const ast::AttrStatement* statement);
  std::optional<AttributeDecl> DeclareAttribute(const ast::AttrStatement* statement);
  bool ReadAttributeRange(const ast::TypeTerm& term, AttributeDecl* decl);
  std::optional<Datum> Setting(const AttributeDecl& decl, SourceRange* range);
  void CheckSettingsUsed();

  // --- elaborate_variables.cc ----------------------------------------------------------------
  void ElaborateInput(const ast::InputStatement* statement);
  void ElaborateVariable(const ast::VariableStatement* statement);
  bool ReadInitializer(const ast::VariableStatement* statement, const Type& type,
                       VariableInfo* info);
  bool ReadLoad(const ast::CallExpr* load, const Type& type, VariableInfo* info);
  bool ReadParameterAttributes(const ast::Expr* with, VariableInfo* info);
  void CheckSymbolsSolvable();

  // --- elaborate_types.cc --------------------------------------------------------------------
  /// A tensor's type; nullopt where a mistake was reported. `introduces`: an unknown name in a dim
  /// is a new symbol.
  std::optional<Type> ReadType(const ast::Type* type, bool introduces);
  std::optional<Dim> ReadDim(const ast::Expr* expr, bool introduces);
  std::optional<Dim> ReadIndexBound(const ast::TypeTerm& term, DType dtype, bool introduces);
  /// What must hold for a condition to be true; nullopt where a mistake was reported. One that
  /// holds in any case adds nothing; `failed` is set where one never holds.
  bool ReadCondition(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed);
  /// Checks `actual` against what the text declares; a size that is not decided becomes a
  /// constraint. False where a mistake was reported at `place`.
  bool CheckType(const Type& actual, const Type& declared, SourceRange place,
                 const llvm::Twine& subject);

  // --- elaborate_expressions.cc --------------------------------------------------------------
  /// `targets` name the results of the outermost call.
  Datum Evaluate(const ast::Expr* expr, Targets targets = {});
  Datum EvaluateName(const ast::NameExpr* name);
  void ReportUnknownName(const ast::NameExpr* name);
  Datum EvaluateList(const ast::ListExpr* list);
  Datum EvaluateChain(const ast::ChainExpr* chain, Targets targets);
  Datum EvaluatePipe(const ast::ChainExpr* chain, Targets targets);
  Datum EvaluateIn(const ast::ChainExpr* chain);
  Datum EvaluateInfix(ast::OperatorUse use, Operand left, Operand right, Targets targets);
  Datum EvaluatePrefix(const ast::PrefixExpr* prefix, Targets targets);
  Datum EvaluateMember(const ast::MemberExpr* member, Targets targets);
  /// The value as a tensor; a literal becomes one of `dtype`, or of its natural one. Null where it
  /// is poison or a mistake was reported.
  Value* AsTensor(const Datum& datum, SourceRange range, std::optional<DType> dtype,
                  Targets targets);
  /// A size or a number that is known while compiling.
  std::optional<Dim> AsDim(const Datum& datum, SourceRange range, const llvm::Twine& what);

  // --- elaborate_subscripts.cc ---------------------------------------------------------------
  Datum EvaluateIndex(const ast::IndexExpr* index, Targets targets);
  Datum IndexList(const std::vector<Datum>& items, const ast::IndexExpr* index);
  Datum SubscriptTensor(Value* tensor, const ast::IndexExpr* index, Targets targets);

  // --- elaborate_calls.cc --------------------------------------------------------------------
  /// The op that a call adds, or null where it is poison. `piped` is its first input.
  Op* EvaluateCall(const ast::CallExpr* expr, const Operand* piped, Targets targets);
  /// A function of constants that the language itself has; nullopt where the call is none.
  std::optional<Datum> EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped);
  const OpDef* FindOperator(llvm::StringRef name);
  const OpDef* ResolveCallee(const ast::CallExpr* expr);
  void BindArguments(const ast::CallExpr* expr, const Operand* piped, Call* call);
  void BindAttribute(const AttributeDecl& decl, const ast::Argument& argument, Call* call);
  void AddAttribute(const AttributeDecl& decl, const Datum& datum, AttributePlace place,
                    Call* call);
  std::optional<DType> LiteralDType(const AttributeDecl& decl, const Call& call);
  /// Adds the call; literals among its operands become constants of the dtype beside them.
  Op* Emit(Call& call, Targets targets);
  /// A scalar that is an expression of symbols.
  Value* EmitSize(const Dim& size, SourceRange range, DType dtype, Targets targets);
  Value* EmitConstant(Constant constant, SourceRange range, Targets targets);
  /// Names for the results of a call: the targets, or what is made of the name being assigned.
  llvm::SmallVector<std::string, 1> ResultNames(const OpSignature& signature, Targets targets);
  /// Evaluates with dims before tensors of the same name.
  Datum EvaluateSize(const ast::Expr* expr);

  const CompileRequest& request_;
  const Ast& ast_;
  Diagnostics* diagnostics_;
  std::shared_ptr<const SourceFile> file_;  // of the text being read
  Graph graph_;
  PositionCursor cursor_;
  uint32_t file_index_ = 0;

  llvm::StringMap<Datum, llvm::BumpPtrAllocator> scope_;
  llvm::StringMap<SourceRange> symbols_;
  llvm::StringSet<> unsupported_layers_;
  llvm::StringMap<const OpDef*> operators_;
  llvm::StringMap<SourceRange> declared_;  // inputs, params, states, attrs
  llvm::StringMap<SourceRange> outputs_;
  llvm::StringSet<> used_settings_;
  llvm::StringSet<> unreadable_files_;  // weights files that were complained about
  std::vector<std::unique_ptr<Ast>> setting_texts_;
  std::vector<std::unique_ptr<AttributeValue>> attribute_values_;

  std::string base_;  // the name being assigned: what names of parts are made of
  bool dims_first_ = false;
  size_t suggestion_budget_ = 2'000'000;
  std::string last_value_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATOR_H_
