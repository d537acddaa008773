// Module: ir
#ifndef PDL_COMPILER_PIPELINE_H_
#define PDL_COMPILER_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/device.h"
#include "pdl/op/dtype.h"
#include "pdl/op/op_registry.h"

namespace pdl {

/// What holds of a graph, as bits: what passes require and establish.
enum GraphProperty : uint8_t {
  kDense = 1 << 0,        // no ragged or sparse values, no operator that LowerStorage replaces
  kNoGradients = 1 << 1,  // no calls of `gradient`
  kNoTraining = 1 << 2,   // no minimize statements
};
/// The properties that hold of a graph.
PDL_API uint8_t PropertiesOf(const Graph& graph);

class PassObserver;

/// What the passes of a pipeline are given besides the graph, and what they give. Functions and
/// arrays are not copied.
struct PassContext {
  const OpRegistry& registry;
  PassObserver* observer = nullptr;

  // --- How the network is going to run ------------------------------------------------------
  /// Run the passes that only make it faster.
  bool optimize = true;
  /// What products of f32 are computed in; see ComputeProductsInHalves.
  DType precision = DType::kF32;
  /// Computes what can be known before a run.
  Evaluator evaluate = nullptr;

  // --- One plan of it -----------------------------------------------------------------------
  DeviceKind device = DeviceKind::kCPU;
  bool training = false;
  /// Runs look at the result of each call, as it was written.
  bool is_observed = false;
  /// Names of the outputs that are computed; empty means all.
  llvm::ArrayRef<std::string> outputs = {};
  SymbolLookup sizes = nullptr;
  SizedEvaluator evaluate_sized = nullptr;

  // --- A step of training -------------------------------------------------------------------
  /// The minimize statements that it does, by index; nullopt: the network is a step as it is.
  std::optional<llvm::ArrayRef<unsigned>> active = {};
  /// How its gradients are scaled, if they are.
  std::optional<GradientScale> scale = {};

  // --- What passes give ---------------------------------------------------------------------
  /// The sides that a plan holds; see SelectSides.
  std::vector<std::string> choices = {};
};

/// A rewrite of a graph.
struct Pass {
  /// "lower-gradients".
  llvm::StringLiteral name;
  /// What it does, in one line without a full stop.
  llvm::StringLiteral description;
  llvm::Error (*run)(Graph& graph, PassContext& context);
  /// Whether it has anything to do; null: always.
  bool (*applies)(const Graph& graph, const PassContext& context) = nullptr;
  /// GraphProperty bits that must hold before it, and that hold after it.
  uint8_t required = 0, established = 0;
};

/// What one run of a pass did.
struct PassRun {
  /// False where the pass had nothing to do.
  bool has_run = false;
  double seconds = 0;
  /// Calls of the graph with all its blocks, before and after.
  size_t calls_before = 0, calls_after = 0;
};

/// Watches passes.
class PDL_API PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// Called after each pass of a pipeline, and where it has nothing to do; `graph` is as the next
  /// pass gets it. Not called after a pass that fails. Pipelines that run in several threads at
  /// once call it in each of them.
  virtual void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) = 0;
};

/// Passes in their order.
class PDL_API Pipeline {
 public:
  constexpr Pipeline(llvm::StringLiteral name, llvm::StringLiteral description,
                     llvm::ArrayRef<Pass> passes, uint8_t given = 0)
      : name_(name), description_(description), passes_(passes), given_(given) {}

  llvm::StringRef name() const { return name_; }
  /// When it runs: "when a network is created".
  llvm::StringRef description() const { return description_; }
  llvm::ArrayRef<Pass> passes() const { return passes_; }
  const Pass* Find(llvm::StringRef pass) const;
  /// GraphProperty bits that hold of each graph that it is given.
  uint8_t given() const { return given_; }

  /// Whether one of the passes has something to do, as the graph is now.
  bool Applies(const Graph& graph, const PassContext& context) const;
  /// Runs those passes that have something to do. The first Error ends it; the graph is then good
  /// for nothing but destruction.
  llvm::Error Run(Graph& graph, PassContext& context) const;

 private:
  llvm::StringLiteral name_, description_;
  llvm::ArrayRef<Pass> passes_;
  uint8_t given_;
};

/// From the elaborated graph to the one that plans are made of, once for a network.
PDL_API const Pipeline& NetworkPipeline();
/// From that graph, or a segment of it, to the one of a plan: once for each device, mode, set of
/// outputs and outcome of conditions on sizes; not for sizes.
PDL_API const Pipeline& PlanPipeline();
/// From a graph that was compiled for training to the network of a step.
PDL_API const Pipeline& StepPipeline();
/// What finds mistakes that only show when calls become others: of a network, and of a step.
PDL_API const Pipeline& CheckPipeline();
PDL_API const Pipeline& CheckStepPipeline();
/// From the calls that the nodes of an ONNX model became to those of a text: before and after what
/// only values of equal constants were called is forgotten.
PDL_API const Pipeline& ImportPipeline();
PDL_API const Pipeline& ImportMergePipeline();
/// What an ONNX model is made of.
PDL_API const Pipeline& ExportPipeline();

/// The pipelines between a network and its runs, in their order: those of a step of training, of a
/// network, and of a plan.
PDL_API llvm::ArrayRef<const Pipeline*> RunPipelines();

/// What passes cost, and stages of compilation between them. Not synchronized.
class PDL_API PassTimings : public PassObserver {
 public:
  void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) override;
  /// The time of all rows so far.
  double seconds() const;
  /// Adds to a stage that is no pass: "load".
  void AddStage(llvm::StringRef name, double seconds);

  /// Prints a row for each pass and stage, in the order in which they came first: time, share of
  /// all, calls before and after, name.
  void Print(llvm::raw_ostream& os) const;

 private:
  struct Row {
    bool is_pass = false;
    PassRun run;  // all runs together
  };
  llvm::MapVector<llvm::StringRef, Row> rows_;
};

/// Adds the time from here to its end, less that of the passes in between, to a stage.
class PDL_API TimedStage {
 public:
  /// `timings` may be null; `name` is a literal.
  TimedStage(PassTimings* timings, llvm::StringLiteral name);
  ~TimedStage();
  TimedStage(const TimedStage&) = delete;
  TimedStage& operator=(const TimedStage&) = delete;

 private:
  PassTimings* timings_;
  llvm::StringLiteral name_;
  double start_ = 0, in_rows_ = 0;
};

}  // namespace pdl

#endif  // PDL_COMPILER_PIPELINE_H_
