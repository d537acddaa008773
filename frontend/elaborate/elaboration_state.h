#ifndef PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_
#define PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/elaborate/function.h"
#include "frontend/elaborate/module.h"
#include "frontend/elaborate/text_frame.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/constraints.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/test_block.h"

namespace pdl {

// -------------------------------------------------------------------------------------------------
// Position: set while a statement is elaborated

/// What names and states were before an `if`, while both of its sides are elaborated.
struct Journal {
  TextFrame* frame;
  llvm::MapVector<llvm::StringRef, std::optional<Datum>> names;
  llvm::MapVector<Value*, Value*> states;
};

/// The Block of a loop's body that is being filled, and what it reads from outside.
struct OpenBody {
  BlockId block;
  OpenBody* outer = nullptr;
  /// By value from outside: the Block's input, or a copy of what a Plan knows.
  llvm::DenseMap<Value*, Value*> inside;
  std::vector<Value*> captured;
};

/// What names stand for that the text of an optimizer mentions, by where they are written.
using OptimizerNames = std::map<uint32_t, std::pair<SourceRange, std::string>>;

/// Where the elaboration is. Between two statements of the file `frame` is the file's, and
/// everything below it has its initial value.
struct Position {
  TextFrame* frame = nullptr;
  std::shared_ptr<const SourceFile> file;  // of the text that is read
  unsigned depth = 0;                      // of calls of layers
  unsigned nesting = 0;                    // of blocks and expressions
  unsigned open_loops = 0;                 // in all frames
  Journal* journal = nullptr;
  OpenBody* body = nullptr;
  /// Not null while the optimizer of a `minimize` is read.
  OptimizerNames* optimizer = nullptr;
  /// Takes updates of states while a step of training is elaborated; null at other times.
  std::vector<GraphUpdate>* step_updates = nullptr;

  /// Whether no statement is being elaborated, so that nothing but the state counts.
  bool IsBetweenStatements() const {
    return depth == 0 && nesting == 0 && open_loops == 0 && journal == nullptr && body == nullptr &&
           optimizer == nullptr && step_updates == nullptr;
  }
  /// Whether what is elaborated now may be elaborated again.
  bool IsRepeated() const { return frame->caller != nullptr || !frame->loops.empty(); }
  /// The location of a byte of the text that is read, and of the calls that led here.
  LocationId AddLocation(Graph& graph, uint32_t offset) const;
};

/// While one exists, the elaboration is in another frame and file.
class PlaceScope {
 public:
  PlaceScope(Position* at, TextFrame* frame, std::shared_ptr<const SourceFile> file)
      : at_(at), frame_(at->frame), file_(std::move(at->file)) {
    at->frame = frame;
    at->file = std::move(file);
  }
  ~PlaceScope() {
    at_->frame = frame_;
    at_->file = std::move(file_);
  }
  PlaceScope(const PlaceScope&) = delete;
  PlaceScope& operator=(const PlaceScope&) = delete;

 private:
  Position* at_;
  TextFrame* frame_;
  std::shared_ptr<const SourceFile> file_;
};

/// The same for a frame that is entered by a call, and its module's file.
class FrameScope {
 public:
  FrameScope(Position* at, TextFrame* frame) : at_(at), place_(at, frame, frame->module->file) {
    ++at_->depth;
  }
  ~FrameScope() { --at_->depth; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Position* at_;
  PlaceScope place_;
};

// -------------------------------------------------------------------------------------------------
// State: what remains between statements

/// The files that are read.
struct ModuleTable {
  std::deque<Module> modules;
  llvm::StringMap<Module*> standard_layers;
  llvm::StringMap<std::pair<std::unique_ptr<Ast>, Module*>> imported;  // by path
  std::vector<std::string> importing;                                  // paths, outermost first
};

/// What is used of one of the limits.
struct Meter {
  uint64_t limit;
  llvm::StringRef verb, of;  // "make", "calls of layers"
  uint64_t used = 0;
  uint64_t look = limit / 8;  // where it is looked at whether the open loops will go beyond
  uint64_t before_loops = 0;  // used when the outermost of them began
};

/// What is used of all limits.
struct Spent {
  explicit Spent(const CompileLimits& limits)
      : steps{limits.steps, "take", "steps to compile"},
        calls{limits.calls, "make", "calls of operators"},
        layer_calls{limits.layer_calls, "make", "calls of layers"} {}

  Meter steps, calls, layer_calls;
  std::shared_ptr<uint64_t> list_items = std::make_shared<uint64_t>(0);
};

/// Which mistakes were reported.
struct ReportedErrors {
  /// Those in text that is elaborated more than once.
  std::set<std::pair<const SourceFile*, uint32_t>> places;
  /// Set after an error that ends everything: what is left is silent.
  bool stopped = false;
  /// Names that may still be compared for "did you mean".
  size_t suggestions = 2'000'000;
  /// Weights files that cannot be read.
  llvm::StringSet<> unreadable_files;
};

/// What is known of the graph's parameters, states and blocks.
struct ValueState {
  llvm::DenseMap<Value*, Value*> current;        // of states: the last update
  llvm::DenseMap<const Value*, uint32_t> homes;  // of inputs of blocks
  llvm::StringSet<> spoiled_ways;  // to calls of layers that lack a part, for a mistake
  uint32_t recomputed = 0;         // layers that are to be computed again
};

/// What belongs to training.
struct TrainingState {
  Value* training = nullptr;  // `training`, once it was read
  Value* step = nullptr;      // the same of `step`
};

/// What attrs are given, and the texts and values that their data refer to.
struct SettingState {
  llvm::ArrayRef<ast::Argument> of_test;
  llvm::StringSet<> used;
  std::vector<std::unique_ptr<Ast>> texts;
  std::vector<std::unique_ptr<AttributeValue>> values;
};

/// A `load … into` that waits for all parameters.
struct PendingLoad {
  const ast::LoadStatement* statement;
  Module* module;
  std::string path;
};

/// What the last statement gave: see CompileResult.
struct LastStatement {
  std::string value;
  /// Where it is an expression alone; none of anything else.
  llvm::SmallVector<CallResult, 1> results;
};

/// All that the next statement of the file depends on, apart from the diagnostics. No two
/// elaborations share any of it.
struct ElaborationState {
  explicit ElaborationState(const CompileLimits& limits) : spent(limits) {}

  Graph graph;
  ConstraintSet known;  // the graph's constraints
  ModuleTable files;
  TextFrame frame;  // of the file
  Spent spent;
  ReportedErrors reported;
  ValueState values;
  TrainingState training;
  SettingState settings;
  llvm::StringMap<SourceRange> outputs;  // where each is written
  llvm::StringMap<SourceRange> tests;    // where the name of each is written
  std::vector<PendingLoad> loads;
  std::deque<std::string> saved;  // texts that views refer to
  LastStatement last;
  TestRun test;  // apart from its graph
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_
