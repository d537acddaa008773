#ifndef PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_
#define PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/elaborate/function.h"
#include "frontend/elaborate/module.h"
#include "frontend/elaborate/observer.h"
#include "frontend/elaborate/text_frame.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TinyPtrVector.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/constraints.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/test_block.h"

namespace pdl {

// -------------------------------------------------------------------------------------------------
// Position: set while a statement is elaborated

/// The previous values of names and states, while both branches of an `if` are elaborated, and the
/// assertions of the current branch.
struct Journal {
  struct Assertion {
    Operand condition;
    std::string message;
    LocationId location;  // the condition may be in another file
  };
  TextFrame* frame;
  llvm::MapVector<llvm::StringRef, std::optional<Datum>> names;
  llvm::MapVector<Value*, Value*> states;
  llvm::MapVector<llvm::StringRef, std::optional<LayerName>> layers = {};
  std::vector<Assertion> assertions = {};
};

/// The Block of a loop body that is being filled, and the values that it captures.
struct OpenBody {
  BlockId block;
  /// The path of names in the body: "y.body".
  std::string path;
  OpenBody* outer = nullptr;
  /// Maps an outer value to the Block's input, or to a copy of a value known to a Plan.
  llvm::DenseMap<Value*, Value*> inside;
  std::vector<Value*> captured;
};

/// The parameter that a name of a layer refers to, while `update` computes the new values of a
/// copied layer, one parameter after another.
struct LayerMember {
  const TextFrame* frame;  // in which names of layers refer to it
  llvm::StringRef layer;   // that is updated
  std::string name;        // below the layer: "0.w"
};

/// The values of names in the source of an optimizer, by their offsets.
using OptimizerNames = std::map<uint32_t, std::pair<SourceRange, std::string>>;

/// The current position of the elaboration. Between two statements of the file, `frame` and `file`
/// are those of the file, and all other members have their initial values.
struct Position {
  TextFrame* frame = nullptr;
  std::shared_ptr<const SourceFile> file;  // the current file
  unsigned depth = 0;                      // of calls of layers
  unsigned nesting = 0;                    // of blocks and expressions
  unsigned open_loops = 0;                 // in all frames
  Journal* journal = nullptr;
  OpenBody* body = nullptr;
  /// Not null while the optimizer of a `minimize` is read.
  OptimizerNames* optimizer = nullptr;
  const LayerMember* member = nullptr;
  /// Collects updates of states while a training step is elaborated; otherwise null.
  std::vector<GraphUpdate>* step_updates = nullptr;
  /// Null if nothing observes the elaboration; always the same.
  ElaborationObserver* observer = nullptr;

  /// Whether no statement is being elaborated, so that everything is in the state.
  bool IsBetweenStatements() const {
    return depth == 0 && nesting == 0 && open_loops == 0 && journal == nullptr && body == nullptr &&
           optimizer == nullptr && member == nullptr && step_updates == nullptr;
  }
  /// Whether the current statement may be elaborated again.
  bool IsRepeated() const { return frame->caller != nullptr || !frame->loops.empty(); }
  /// Informs the observer about the value of a name.
  void Observe(SourceRange name, const Datum& value, bool is_size = false) const {
    if (observer != nullptr) observer->OnName(*this, name, value, is_size);
  }
  /// The location of a byte of the current file, with the calls that led to it.
  LocationId AddLocation(Graph& graph, uint32_t offset) const;
};

/// Switches to another frame and file while it exists.
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

/// The same for a frame entered by a call, and the file of its module.
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
// State: kept between statements

/// The files that were read.
struct ModuleTable {
  std::deque<Module> modules;
  llvm::StringMap<Module*> standard_layers;
  llvm::StringMap<std::pair<std::unique_ptr<Ast>, Module*>> imported;  // by path
  std::vector<std::string> importing;                                  // paths, outermost first
};

/// The relations between sizes that hold in every run.
struct SizeState {
  ConstraintSet known;  // the graph's constraints
  /// The same, and that each symbol in `at_least_one` is at least 1.
  ConstraintSet nonempty;
  llvm::StringSet<> at_least_one;
};

/// The use of one limit.
struct Meter {
  uint64_t limit;
  llvm::StringRef verb, of;  // "make", "calls of layers"
  uint64_t used = 0;
  uint64_t look = limit / 8;  // at this use, checks whether the open loops will exceed it
  uint64_t before_loops = 0;  // use when the outermost loop began
};

/// The use of all limits.
struct Spent {
  explicit Spent(const CompileLimits& limits)
      : steps{limits.steps, "take", "steps to compile"},
        calls{limits.calls, "make", "calls of operators"},
        layer_calls{limits.layer_calls, "make", "calls of layers"} {}

  Meter steps, calls, layer_calls;
  std::shared_ptr<uint64_t> list_items = std::make_shared<uint64_t>(0);
};

/// The errors that were reported.
struct ReportedErrors {
  /// The messages at each position in source that is elaborated more than once.
  struct AtPlace {
    llvm::SmallVector<std::string, 1> messages;
    bool is_closed = false;  // no further errors are reported
  };
  std::map<std::pair<const SourceFile*, uint32_t>, AtPlace> places;
  /// Set after an error that ends the elaboration: no further errors are reported.
  bool stopped = false;
  /// Number of names that may still be compared for "did you mean".
  size_t suggestions = 2'000'000;
  /// Weights files that cannot be read.
  llvm::StringSet<> unreadable_files;
};

/// State of the graph's parameters, states and blocks.
struct ValueState {
  llvm::DenseMap<Value*, Value*> current;        // of states: the last update
  llvm::DenseMap<const Value*, uint32_t> homes;  // of inputs of blocks
  llvm::StringSet<> owning_paths;      // of layer calls that have created parameters or states
  llvm::StringSet<> incomplete_paths;  // of layer calls that are incomplete due to an error
  llvm::StringSet<> copied_paths;      // of layers whose parameters are states: `state t = copy(l)`
  uint32_t recomputed = 0;             // number of layer calls with recompute=true
};

/// Values that belong to training.
struct TrainingState {
  Value* training = nullptr;  // `training`, once it was read
  Value* step = nullptr;      // `step`, once it was read
};

/// The settings of attrs, and the sources and values that their data refer to.
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

/// The kinds of named values.
enum class NameKind : uint8_t { kInput, kParameter, kState, kValue };

/// The definitions of names in the file and in its layers, and some of their uses; see UnusedNames.
struct UsageState {
  struct Definition {
    llvm::StringRef name;
    SourceRange range;
    NameKind kind = NameKind::kValue;
    const ast::LayerStatement* layer = nullptr;  // null: in the file
    /// The same for all targets of an assignment.
    uint32_t group = 0;
    /// Its tensors: one for each loop iteration and layer call.
    llvm::TinyPtrVector<Value*> values;
  };
  llvm::MapVector<uint32_t, Definition> definitions;  // by the offset of the name
  std::vector<Value*> results;                        // of layers
  std::vector<Value*> type_uses;                      // values whose types were used
  llvm::BitVector elaborated;  // the statements that are elaborated, by their offset
};

/// The value of the last statement: see CompileResult.
struct LastStatement {
  std::string value;
  /// The results if it is an expression statement; otherwise empty.
  llvm::SmallVector<CallResult, 1> results;
};

/// Everything that the next statement of the file depends on, except for the diagnostics. Not
/// shared between elaborations.
struct ElaborationState {
  explicit ElaborationState(const CompileLimits& limits) : spent(limits) {}

  Graph graph;
  SizeState sizes;
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
  std::deque<std::string> saved;  // strings that views refer to
  UsageState usage;
  LastStatement last;
  TestRun test;  // without its graph
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_ELABORATION_STATE_H_
