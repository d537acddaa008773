#ifndef PDL_FRONTEND_ELABORATOR_H_
#define PDL_FRONTEND_ELABORATOR_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast.h"
#include "frontend/datum.h"
#include "frontend/function.h"
#include "frontend/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler.h"
#include "pdl/constraints.h"
#include "pdl/differentiate.h"
#include "pdl/storage.h"
#include "pdl/test_block.h"

namespace pdl {

/// What a text or one call of a layer knows while its statements are elaborated.
struct TextFrame {
  /// What a symbol stands for, and where it was introduced.
  struct Symbol {
    Datum value;
    SourceRange range;
  };
  /// One result of a layer.
  struct Result {
    std::string name;
    Datum datum;
    SourceRange range;
    /// Of a called file: the input that this needs and that was not given.
    std::string missing = {};
  };
  /// A list of a repeatable input, and what symbols are for each of its items.
  struct Repeat {
    Datum list;
    std::vector<std::vector<std::pair<llvm::StringRef, Datum>>> symbols;
    std::vector<std::optional<Shape>> any_dims;
  };

  Module* module = nullptr;
  /// What names of values and parameters begin with: "encoder.0.", or nothing.
  std::string path;
  llvm::StringMap<Datum, llvm::BumpPtrAllocator> scope;
  llvm::StringMap<Symbol> symbols;
  /// What `...` stands for in the signature.
  std::optional<Shape> any_dims;
  std::vector<Repeat> repeats;
  llvm::StringMap<SourceRange> declared;  // inputs, params, states, attrs
  llvm::StringMap<SourceRange> assigned;  // the last assignment to a name
  llvm::StringMap<Value*> states;
  /// `layer NAME = …`
  llvm::StringMap<std::shared_ptr<const Function>> instances;
  /// Ways to parameters that are taken.
  llvm::StringSet<> taken;
  /// The ways that calls assigned to a name have taken: for `params(x)` and `over x`.
  llvm::StringMap<llvm::SmallVector<std::string, 1>> ways;

  /// Names that one side of an `if` has set, and not the other.
  llvm::StringMap<SourceRange> one_sided;

  /// The name being assigned: what names of parts are made of.
  std::string base;
  /// Where inside loops that run more than once: ".0.2".
  std::string counts;
  /// The loops that are being expanded, outermost first.
  struct OpenLoop {
    SourceRange over;
    int64_t round, rounds;
  };
  llvm::SmallVector<OpenLoop, 2> loops;
  bool is_default = false;  // a layer's default is read ahead of the calls that read it
  bool dims_first = false;

  // Of a layer or a file that is called:
  TextFrame* caller = nullptr;
  std::shared_ptr<const SourceFile> caller_file;
  SourceRange place;  // of the call
  llvm::StringRef callee;
  LocationId origin = kUnknownLocation;
  const LayerArguments* arguments = nullptr;  // of a file: what attrs and inputs are given
  size_t next_operand = 0;
  std::string missing_input;  // one of a file's that was left out
  bool training_off = false;
  uint32_t recompute = 0;  // which call of a layer is to be computed again, or 0
  bool is_instance = false;
  std::vector<const void*> active;
  llvm::ArrayRef<std::string> result_names;
  std::vector<Result> results;
  bool returned = false;
  bool saw_return = false;
  /// An assert of this layer does not hold: what would follow from that is silent.
  bool refused = false;
};

/// Makes the graph of one parsed text: resolves names, computes constants, checks every call.
/// A mistake is reported once; what it spoils is poison, and silent.
class Elaborator {
 public:
  /// All of them must outlive the elaborator.
  Elaborator(const CompileRequest& request, const Ast& ast, Diagnostics* diagnostics);

  /// Elaborates all statements. Usable where no error was reported.
  Graph Run();
  /// Elaborates the text and one run of a test. Usable where no error was reported.
  TestRun RunTest(const ast::TestStatement& test, unsigned run, llvm::ArrayRef<TestValue> earlier);
  /// See CompileResult.
  const std::string& last_value() const { return last_value_; }
  /// The results of the last statement where it is an expression alone; none of anything else.
  llvm::ArrayRef<TextFrame::Result> last_results() const { return last_results_; }
  /// The names that the text has at its end, each with the name of the graph's value that it stands
  /// for, or with none. In no order.
  using NamedValues = std::vector<std::pair<std::string, std::string>>;
  const NamedValues& names() const { return names_; }

 private:
  /// Full names of results; "_" is none.
  using Targets = llvm::ArrayRef<std::string>;
  using Names = llvm::ArrayRef<ast::Identifier>;
  using FunctionPtr = std::shared_ptr<const Function>;

  // The results of a call; none where it is poison.
  struct Results {
    llvm::SmallVector<TextFrame::Result, 1> all;
    bool is_poison() const { return all.empty(); }
  };
  // Enters a frame, and leaves it.
  class FrameScope;

  // --- elaborate_limits.cc: what a text may expand to ----------------------------------------
  /// Whether what is elaborated now may be elaborated again.
  bool IsRepeated() const { return frame_->caller != nullptr || !frame_->loops.empty(); }
  /// What is used of one of the limits.
  struct Meter {
    uint64_t limit;
    llvm::StringRef verb, of;  // "make", "calls of layers"
    uint64_t used = 0;
    uint64_t look = limit / 8;  // where it is looked at whether the open loops will go beyond
    uint64_t before_loops = 0;  // used when the outermost of them began
  };
  /// Takes from a limit, false where that goes beyond, which was reported.
  bool Take(Meter& meter, uint64_t count, SourceRange place) {
    if (meter.used <= meter.look && count <= meter.look - meter.used) {
      meter.used += count;
      return true;
    }
    return LookAndTake(meter, count, place);
  }
  bool LookAndTake(Meter& meter, uint64_t count, SourceRange place);
  /// The share of the rounds of all open loops that is done.
  double ShareOfRounds() const;
  bool Spend(uint64_t steps, SourceRange place) { return Take(steps_, steps, place); }
  /// Takes a step for what is repeated.
  bool SpendStep(SourceRange place) { return !IsRepeated() || Spend(1, place); }
  /// Takes what arithmetic of two sizes costs, where they are sizes and it is repeated.
  bool SpendSizes(const Datum& a, const Datum& b, SourceRange place);
  /// The same for deciding whether a relation holds.
  bool SpendCheck(const DimCheck& check, SourceRange place);
  /// Takes what copying so many items of a list costs.
  bool SpendItems(uint64_t count, SourceRange place);
  /// Takes what a walk over all that stands in a list costs, but for one that is written here.
  bool SpendExtent(const Datum& datum, SourceRange place);
  /// The same for calls of operators, where they are repeated, and for one of a layer.
  bool SpendCalls(uint64_t count, SourceRange place);
  bool SpendLayerCall(SourceRange place);
  /// Reports the loop or the call of a layer that goes beyond a limit, or else `place`; false.
  bool ReportLimit(const Meter& meter, SourceRange place);
  void NoteLoops(Diagnostic* diagnostic, bool leave_out_innermost);
  /// Whether a list of `count` items may grow by `more` items; reports where it may not.
  bool MayGrow(uint64_t count, uint64_t more, SourceRange place);
  /// The list; poison where there are too many items, or lists inside lists.
  Datum MakeList(std::vector<Datum> items, SourceRange place, bool is_copied = false);
  /// Reports at `place` where lists and functions stand inside each other too deep; false then.
  bool CheckDepth(unsigned depth, SourceRange place);
  /// While one exists, something stands inside something.
  class Nesting;

  // --- elaborator.cc: mistakes, names, places ------------------------------------------------
  Diagnostic& Error(Code code, SourceRange range, const llvm::Twine& message);
  /// "… is not part of this version yet".
  void NotYet(SourceRange range, const llvm::Twine& what);
  void ReportCallError(llvm::Error error, const Call& call);
  std::string NoteOnOperand(const Operand& operand);
  LocationId LocationAt(uint32_t offset);
  /// "; did you mean 'x'?" or nothing.
  std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  /// The same, or, where none is near, "; it takes x and axis": what a call takes.
  std::string DidYouMeanOrTakes(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  void CollectNames(llvm::ArrayRef<const ast::Statement*> statements);
  /// The line of the statement that gives a name its first value.
  std::optional<uint32_t> LineThatDefines(llvm::StringRef name);
  /// Gives a name its value from here on.
  void Assign(llvm::StringRef name, Datum datum);
  /// The name of the graph for a name of this frame.
  std::string FullName(llvm::StringRef name) const { return frame_->path + name.str(); }
  llvm::StringRef Save(const llvm::Twine& text) { return saved_.emplace_back(text.str()); }
  /// A new input, parameter, state or attr; false where the name is taken, which was reported.
  bool Declare(const ast::Identifier& name);
  /// From here on the names are poison.
  void Poison(Names names);
  /// From here on a name that nothing has defined is poison; it stays free.
  void PoisonUndefined(Names names);
  void PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements);
  llvm::SmallVector<std::string, 1> FullNames(Names names) const;

  // --- elaborate_modules.cc ------------------------------------------------------------------
  Module* AddModule(const Ast& ast, llvm::StringRef folder, bool is_standard);
  void AddStandardLayers();
  /// Collects the layers of a file and reads its imports.
  void EnterModule(Module* module);
  void CheckLayer(const ast::LayerStatement& layer, Module* module);
  void CheckDefaults(const ast::LayerStatement& layer, Module* module);
  void ReadImport(Module* module, const ast::ImportStatement* statement);
  Module* ImportFile(Module* module, const ast::ImportStatement* statement);
  /// `load "file" into names`, when all parameters are there.
  void ElaborateLoads();
  void ElaborateLoad(const ast::LoadStatement* statement, Module* module, llvm::StringRef path);

  // --- elaborate_layers.cc -------------------------------------------------------------------
  /// Expands a layer. `path` is the way to its parameters; `is_instance` where other calls may have
  /// made them already.
  Results CallLayer(const Callee& callee, const LayerArguments& arguments, llvm::StringRef path,
                    bool is_instance, llvm::ArrayRef<const void*> active, Targets targets);
  bool BindLayer(const ast::LayerStatement* layer, const LayerArguments& arguments);
  bool BindLayerAttributes(const ast::LayerStatement* layer, const LayerArguments& arguments);
  bool BindLayerAttribute(const ast::Parameter& parameter, const LayerArgument* given,
                          const LayerArguments& arguments);
  /// What an attribute of a layer is given, or its default.
  struct LayerAttribute {
    const ast::Parameter& parameter;
    const LayerArgument* given;  // null: the default
    const LayerArguments& arguments;
    Datum datum;
    SourceRange range;
  };
  bool BindFunctions(const LayerAttribute& attribute);
  bool BindRecords(const LayerAttribute& attribute);
  size_t CountRepeated(const LayerArguments& arguments) const;
  /// Reports that it is of the wrong kind; false.
  bool RefuseAttribute(const LayerAttribute& attribute, const llvm::Twine& wanted,
                       const std::string& got);
  std::optional<AttributeDecl> DeclareAttribute(const ast::Identifier& name, llvm::StringRef doc,
                                                const ast::Type* type);
  /// From here on the relation is known to hold.
  void AddConstraint(DimCheck check, LocationId location);
  /// False where a condition is broken, which is told.
  bool CheckCallerKeeps(llvm::ArrayRef<const ast::Expr*> where);
  /// A way to parameters that no other call of this frame has.
  std::string TakeWay(llvm::StringRef own, bool is_outermost);
  const ast::Parameter* FindParameter(const Callee& callee, llvm::StringRef name);
  void ReadLayerArguments(const Callee& callee, const ast::CallExpr* expr, const Operand* piped,
                          LayerArguments* arguments);
  void ElaborateInstance(const ast::LayerInstanceStatement* statement);
  void ElaborateReturn(const ast::OutputStatement* statement);

  // --- elaborate_signatures.cc ---------------------------------------------------------------
  bool BindLayerInputs(const ast::LayerStatement* layer, const LayerArguments& arguments);
  /// Matches a value with a type of a signature, which introduces symbols; `first_of_item` where
  /// symbols belong to this item of a repeatable input alone.
  std::optional<Datum> BindInput(const ast::Type* type, llvm::StringRef name,
                                 const Operand& operand,
                                 std::vector<std::pair<llvm::StringRef, Datum>>* item_symbols);
  bool MatchTerm(const ast::TypeTerm& term, const Type& actual, llvm::StringRef subject,
                 std::vector<std::pair<llvm::StringRef, Datum>>* item_symbols);
  bool MatchDim(const ast::Expr* expr, const Dim& actual, llvm::StringRef subject,
                std::vector<std::pair<llvm::StringRef, Datum>>* item_symbols);
  bool MatchSize(const Dim& declared, const Dim& actual, llvm::StringRef subject);
  bool TakeSymbolsOfFile(llvm::ArrayRef<const ast::NameExpr*> names);
  void BindSymbol(llvm::StringRef name, SourceRange range, Datum value,
                  std::vector<std::pair<llvm::StringRef, Datum>>* item_symbols);
  Diagnostic& CallerError(Code code, SourceRange place, const llvm::Twine& message);

  // --- elaborate_functions.cc ----------------------------------------------------------------
  /// A function, none or a name in place of one; poison where it is a mistake.
  Datum ReadFunction(const ast::Expr* expr);
  Datum FunctionOf(const ast::CallExpr* call);
  Datum FunctionNamed(llvm::StringRef name, SourceRange range);
  Datum ReadRecord(const ast::Expr* expr);
  /// Evaluates what is given for a layer's parameter of this type.
  Datum EvaluateFor(const ast::Type* type, const ast::Expr* expr);
  Results Apply(const FunctionPtr& function, const ast::CallExpr* expr, const Operand* piped,
                Targets targets);
  /// The function as an instance whose parameters lie there.
  FunctionPtr MakeInstance(const FunctionPtr& function, std::string path);

  // --- elaborate_blocks.cc -------------------------------------------------------------------
  void ElaborateBlock(const ast::Block& block);
  void ElaborateIf(const ast::IfStatement* statement);
  void ElaborateBranches(llvm::ArrayRef<ast::Branch> branches);
  void ElaborateBothSides(Value* condition, const ast::Branch& then,
                          llvm::ArrayRef<ast::Branch> otherwise);
  /// What the sides of an `if` that a Plan decides have set.
  struct BothSides;
  void ElaborateSide(BothSides* both, unsigned side, llvm::function_ref<void()> elaborate);
  /// The value that the Plan chooses; null where the types differ, which was reported.
  Value* SelectSide(BothSides* both, Value* first, Value* second, llvm::StringRef name);
  Datum SelectDatum(BothSides* both, const Datum& first, const Datum& second, llvm::StringRef name);
  void ElaborateFor(const ast::ForStatement* statement);
  /// The value of an `if`'s condition: a bool, a tensor that a Plan knows, or poison.
  Datum EvaluateCondition(const ast::Expr* expr);
  Value* EmitCheck(const DimCheck& check, SourceRange range);

  // --- elaborate_tests.cc --------------------------------------------------------------------
  void ElaborateFeed(const ast::FeedStatement* statement);
  void ElaborateExpect(const ast::ExpectStatement* statement);
  /// What run `run` assigns is computed, and later runs may use it.
  void KeepForLaterRuns(const ast::AssignStatement& assign, unsigned run);
  /// Adds an output that only the test knows.
  std::string TestOutput(Value* value);

  // --- elaborate_packed.cc -------------------------------------------------------------------
  /// Adds the parts of a literal of a ragged or sparse type as outputs that only the test knows;
  /// the name that they have together, or nothing where a mistake was reported.
  std::string EmitParts(const Datum& literal, const Type& type, SourceRange range);
  /// A literal whose lists differ in length, as a ragged value.
  Value* EmitRagged(const Datum& literal, DType dtype, SourceRange range, Targets targets);
  /// The same for what a ragged or sparse input is fed, whose type goes to `given`.
  std::string FeedPacked(const Value& input, const Datum& datum, SourceRange range, Type* given);
  /// An `expect left ~= right` of which a side is ragged.
  void ExpectParts(TestExpect expect, const Datum& left, const Datum& right,
                   const ast::ExpectStatement* statement);

  // --- elaborate_training.cc -----------------------------------------------------------------
  void ElaborateMinimize(const ast::MinimizeStatement* statement);
  Datum ReadOptimizer(const ast::Expr* expr);
  /// Notes what a name stands for where an optimizer is read.
  void NoteOptimizerName(SourceRange range, const Datum& datum);
  /// The text of an optimizer that was read, with numbers in place of the names of the file's attrs
  /// and the like.
  std::string OptimizerText(SourceRange range) const;
  /// Parameters below the names that an expression gives; false where a mistake was reported.
  bool ReadParameters(const ast::Expr* expr, std::vector<Value*>* parameters);
  std::vector<Value*> ParametersBelow(llvm::StringRef name);
  /// What the names of parameters below `name` begin with.
  std::vector<std::string> WaysOf(llvm::StringRef name);
  Datum EvaluateTraining(SourceRange range);
  Datum EvaluateStep();

  // --- elaborate_gradients.cc ----------------------------------------------------------------
  Results EvaluateGrad(const ast::CallExpr* expr, const Operand* piped, Targets targets);
  bool CheckDerivedBy(const Operand& x);
  void ReportIndependence(const Operand& y, const Operand& x);
  /// False where a mistake was reported at `place`: nothing flows, or it leads through a call that
  /// has no gradient.
  bool CheckFlow(const GradientFlow& flow, SourceRange place, const llvm::Twine& from,
                 const llvm::Twine& to);
  /// A note with the text that a call of the graph came from.
  void NoteAtLocation(Diagnostic* diagnostic, LocationId id, std::string text);
  Op* EmitGradient(const Operand& y, std::optional<Operand> dy, llvm::ArrayRef<Operand> xs,
                   SourceRange place, Targets targets);
  /// Leaves out the parameters that the loss does not depend on.
  bool CheckReached(const ast::MinimizeStatement* statement, GraphTraining* training);
  /// Adds what a step computes: the gradients, and the next values of parameters and of the
  /// optimizer's states.
  void ElaborateStep(const ast::MinimizeStatement* statement, const Function& optimizer,
                     GraphTraining* training);
  /// Lets an optimizer leave rows as they are whose gradient is 0; false after a mistake.
  bool MakeLazy(Operand* gradient);
  /// Gives the operand another dtype.
  bool Cast(Operand* operand, DType dtype);
  /// `now`: the parameter, or what it was cast to.
  Value* CallOptimizer(const Function& optimizer, Value* parameter, const Operand& now,
                       const Operand& gradient, SourceRange place);
  Value* CallStandardLayer(llvm::StringRef name, llvm::ArrayRef<Operand> operands,
                           llvm::ArrayRef<std::pair<llvm::StringRef, double>> attributes,
                           llvm::StringRef path, SourceRange place);
  /// `step` is one more after each step.
  void CountStep();

  // --- elaborate_statements.cc ---------------------------------------------------------------
  void Elaborate(const ast::Statement* statement);
  void ElaborateUpdate(const ast::UpdateStatement* statement);
  void SetUpdate(Value* state, Value* value);
  void ElaborateOutput(const ast::OutputStatement* statement);
  void ElaborateAssign(const ast::AssignStatement* statement);
  void ElaborateAssert(const ast::AssertStatement* statement);

  // --- elaborate_attrs.cc --------------------------------------------------------------------
  void ElaborateAttr(const ast::AttrStatement* statement);
  /// The value as the attribute `of` what is called takes it; nullopt where a mistake was reported.
  std::optional<Datum> CheckAttribute(const AttributeDecl& decl, const Datum& datum,
                                      SourceRange range, std::shared_ptr<const SourceFile> file,
                                      llvm::StringRef of);
  bool ReadAttributeRange(const ast::TypeTerm& term, AttributeDecl* decl);
  std::optional<Datum> Setting(const AttributeDecl& decl, SourceRange* range);
  void CheckSettingsUsed();

  // --- elaborate_variables.cc ----------------------------------------------------------------
  void ElaborateInput(const ast::InputStatement* statement);
  void ElaborateVariable(const ast::VariableStatement* statement);
  bool ReadInitializer(const ast::VariableStatement* statement, const Type& type,
                       const FunctionPtr& init, VariableInfo* info);
  bool ReadLoad(const ast::CallExpr* load, const Type& type, VariableInfo* info);
  bool ReadParameterAttributes(const ast::Expr* with, VariableInfo* info, FunctionPtr* init);
  /// The parameter or state of this name that another call of the instance has made.
  Value* FindShared(const ast::VariableStatement* statement, const Type& type, bool* is_mistake);
  /// What a state is now: its last update, or itself.
  Value* CurrentState(Value* state);
  void CheckSymbolsSolvable();
  /// A run keeps values by their names: an output called as a state or a parameter is what that is
  /// when the run ends.
  void CheckOutputNames();

  // --- elaborate_types.cc --------------------------------------------------------------------
  /// A tensor's type; nullopt where a mistake was reported. `introduces`: an unknown name in a dim
  /// is a new symbol.
  std::optional<Type> ReadType(const ast::Type* type, bool introduces);
  std::optional<Dim> ReadDim(const ast::Expr* expr, bool introduces);
  /// `~T`; null where a mistake was reported.
  const Dim* ReadRaggedDim(const ast::Identifier& symbol, SourceRange range, bool introduces);
  std::optional<Dim> ReadIndexBound(const ast::TypeTerm& term, DType dtype, bool introduces);
  /// What must hold for a condition to be true; nullopt where a mistake was reported. One that
  /// holds in any case adds nothing; `failed` is set where one never holds.
  bool ReadCondition(const ast::Expr* condition, std::vector<DimCheck>* checks, bool* failed);
  bool ReadDenied(const ast::PrefixExpr* denied, std::vector<DimCheck>* checks, bool* failed);
  bool ReadAlternatives(const ast::ChainExpr* chain, std::vector<DimCheck>* checks, bool* failed);
  /// Checks `actual` against what the text declares; a size that is not decided becomes a
  /// constraint. False where a mistake was reported at `place`.
  bool CheckType(const Type& actual, const Type& declared, SourceRange place,
                 const llvm::Twine& subject);

  // --- elaborate_expressions.cc --------------------------------------------------------------
  /// `targets` name the results of the outermost call.
  Datum Evaluate(const ast::Expr* expr, Targets targets = {});
  Datum EvaluateName(const ast::NameExpr* name);
  Datum EvaluateRagged(const ast::RaggedExpr* ragged);
  void ReportUnknownName(const ast::NameExpr* name);
  Datum EvaluateList(const ast::ListExpr* list);
  Datum EvaluateChain(const ast::ChainExpr* chain, Targets targets);
  Datum EvaluateIn(const ast::ChainExpr* chain);
  Datum EvaluateInfix(ast::OperatorUse use, Operand left, Operand right, Targets targets);
  bool MatchRows(const Value& index, const Value& table, SourceRange place);
  Datum EvaluatePrefix(const ast::PrefixExpr* prefix, Targets targets);
  Datum EvaluateMember(const ast::MemberExpr* member, Targets targets);
  /// `hidden.w`: a parameter, state or other value by its way; nullopt where there is none.
  std::optional<Datum> FindByWay(const ast::MemberExpr* member);
  /// The value as a tensor; a literal becomes one of `dtype`, or of its natural one. Null where it
  /// is poison or a mistake was reported.
  void NoteResults(const Datum& datum, Diagnostic* diagnostic);
  Value* AsTensor(const Datum& datum, SourceRange range, std::optional<DType> dtype,
                  Targets targets);
  /// A size or a number that is known while compiling.
  std::optional<Dim> AsDim(const Datum& datum, SourceRange range, const llvm::Twine& what);

  // --- elaborate_subscripts.cc ---------------------------------------------------------------
  Datum EvaluateIndex(const ast::IndexExpr* index, Targets targets);
  Datum IndexList(const std::vector<Datum>& items, const ast::IndexExpr* index);
  /// Whether a ragged or sparse value can have these subscripts; reports where it cannot.
  bool CheckPackedSubscripts(const Type& type, const ast::IndexExpr* index);
  Value* TakeSequence(Value* tensor, const ast::IndexExpr* index, Targets targets);
  Datum SubscriptTensor(Value* tensor, const ast::IndexExpr* index, Targets targets);

  // --- elaborate_bodies.cc -------------------------------------------------------------------
  /// The block that is being filled, and what it reads from outside.
  struct OpenBody {
    BlockId block;
    OpenBody* outer = nullptr;
    /// By value from outside: the block's input, or a copy of what a Plan knows.
    llvm::DenseMap<Value*, Value*> inside;
    std::vector<Value*> captured;
  };
  /// The value as calls of the open body may read it.
  Value* InBody(Value* value);
  uint32_t HomeOf(const Value* value) const;
  void BindBody(const AttributeDecl& decl, const ast::Argument& argument, Call* call);
  /// Operands of counted inputs, by position those of the first one.
  void BindCounted(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call);
  /// Fills the block of a call with its body, and adds what that reads from outside to the
  /// operands.
  bool ElaborateBody(Call& call, llvm::SmallVectorImpl<Value*>& operands, Targets targets);
  bool FillBody(const Call& call, llvm::ArrayRef<Type> types, llvm::StringRef way, BlockId block);
  Results ApplyTo(const FunctionPtr& function, llvm::ArrayRef<Operand> operands, SourceRange place,
                  llvm::StringRef way);

  // --- elaborate_calls.cc --------------------------------------------------------------------
  /// The results of a call, or of the last call of a pipe; of anything else itself.
  Results EvaluateResults(const ast::Expr* expr, Targets targets);
  Results EvaluatePipe(const ast::ChainExpr* chain, Targets targets);
  /// The value of a result that is used; complains where it lacks an input.
  Datum Use(const TextFrame::Result& result, SourceRange place);
  Datum UseFirst(const Results& results, SourceRange place) {
    return results.is_poison() ? Datum() : Use(results.all.front(), place);
  }
  /// `piped` is the first input.
  Results EvaluateCall(const ast::CallExpr* expr, const Operand* piped, Targets targets);
  /// A function of constants that the language itself has; nullopt where the call is none.
  std::optional<Datum> EvaluateBuiltin(const ast::CallExpr* expr, const Operand* piped);
  const OpDef* FindOperator(llvm::StringRef name);
  /// What the name before '(' is; reports an unknown one.
  Callee ResolveCallee(const ast::Expr* callee);
  Callee FindCallee(llvm::StringRef name);
  bool IsBroken(llvm::StringRef name) const;
  std::vector<llvm::StringRef> CalleeNames();
  Results ResultsOf(Op* op);
  void BindArguments(const ast::CallExpr* expr, const Operand* piped, Call* call);
  void LeaveOutInputs(Call* call);
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
  llvm::SmallVector<std::string, 1> ResultNames(const OpSignature& signature, size_t num_results,
                                                Targets targets);
  /// Evaluates with dims before tensors of the same name.
  Datum EvaluateSize(const ast::Expr* expr);

  const CompileRequest& request_;
  const Ast& ast_;
  Diagnostics* diagnostics_;
  Diagnostic silent_;                       // takes the notes of a mistake that is known already
  std::shared_ptr<const SourceFile> file_;  // of the text being read
  Graph graph_;
  ConstraintSet known_;  // the graph's constraints
  std::deque<Module> modules_;
  llvm::StringMap<Module*> standard_layers_;
  llvm::StringMap<std::pair<std::unique_ptr<Ast>, Module*>> files_;  // imported ones, by path
  std::vector<std::string> importing_;                               // paths, outermost first
  TextFrame* frame_ = nullptr;
  unsigned depth_ = 0;       // of calls of layers
  unsigned nesting_ = 0;     // of blocks and expressions
  unsigned open_loops_ = 0;  // in all frames
  Meter steps_, calls_, layer_calls_;
  std::shared_ptr<uint64_t> list_items_ = std::make_shared<uint64_t>(0);
  /// Set behind an error that ends everything: what is left is silent.
  bool stopped_ = false;
  uint32_t recomputed_ = 0;         // of layers that are to be computed again
  llvm::StringSet<> spoiled_ways_;  // to calls of layers that lack a part, for a mistake
  /// What names and states were in front of an `if`, while both of its sides are elaborated.
  struct Journal {
    TextFrame* frame;
    llvm::MapVector<llvm::StringRef, std::optional<Datum>> names;
    llvm::MapVector<Value*, Value*> states;
  };
  Journal* journal_ = nullptr;
  bool in_block_ = false;                   // of an `if` or `for`
  llvm::DenseMap<Value*, Value*> current_;  // of states
  OpenBody* body_ = nullptr;
  llvm::DenseMap<const Value*, uint32_t> homes_;  // of inputs of blocks
  Value* training_ = nullptr;
  Value* step_ = nullptr;
  bool in_minimize_ = false;  // the optimizer of a minimize is read
  std::map<uint32_t, std::pair<SourceRange, std::string>> optimizer_names_;  // and their meaning
  std::vector<GraphUpdate>* step_updates_ = nullptr;  // while an optimizer is elaborated
  struct PendingLoad {
    const ast::LoadStatement* statement;
    Module* module;
    std::string path;
  };
  std::vector<PendingLoad> loads_;
  /// Mistakes in text that is elaborated more than once.
  std::set<std::pair<const SourceFile*, uint32_t>> reported_;

  TestRun* test_ = nullptr;  // the run of a test that is elaborated
  bool in_test_ = false;     // its own statements, not those of the file
  llvm::ArrayRef<ast::Argument> test_settings_;

  llvm::StringMap<const OpDef*> operators_;
  llvm::StringMap<SourceRange> outputs_;
  llvm::StringSet<> used_settings_;
  llvm::StringSet<> unreadable_files_;  // weights files that were complained about
  std::vector<std::unique_ptr<Ast>> setting_texts_;
  std::vector<std::unique_ptr<AttributeValue>> attribute_values_;
  std::deque<std::string> saved_;  // texts that views refer to

  size_t suggestion_budget_ = 2'000'000;
  std::string last_value_;
  llvm::SmallVector<TextFrame::Result, 1> last_results_;
  NamedValues names_;
};

class Elaborator::Nesting {
 public:
  explicit Nesting(Elaborator* elaborator) : elaborator_(elaborator) { ++elaborator_->nesting_; }
  ~Nesting() { --elaborator_->nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  /// False where that is too deep, which was reported.
  bool Fits(SourceRange place) const;

 private:
  Elaborator* elaborator_;
};

class Elaborator::FrameScope {
 public:
  FrameScope(Elaborator* elaborator, TextFrame* frame)
      : elaborator_(elaborator), frame_(elaborator->frame_), file_(elaborator->file_) {
    elaborator->frame_ = frame;
    elaborator->file_ = frame->module->file;
    ++elaborator->depth_;
  }
  ~FrameScope() {
    elaborator_->frame_ = frame_;
    elaborator_->file_ = std::move(file_);
    --elaborator_->depth_;
  }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Elaborator* elaborator_;
  TextFrame* frame_;
  std::shared_ptr<const SourceFile> file_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATOR_H_
