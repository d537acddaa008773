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

/// Properties of a graph that passes require and establish, as bits.
enum GraphProperty : uint8_t {
  kDense = 1 << 0,        // no ragged or sparse values, no operator that LowerStorage replaces
  kNoGradients = 1 << 1,  // no calls of `gradient`
  kNoTraining = 1 << 2,   // no minimize statements
};
/// Returns the GraphProperty bits that hold for a graph.
PDL_API uint8_t PropertiesOf(const Graph& graph);

class PassObserver;

/// Parameters and results of the passes of a pipeline, besides the graph. Refers to functions and
/// arrays of the caller without copying them.
struct PassContext {
  const OpRegistry& registry;
  PassObserver* observer = nullptr;

  // --- Network options ----------------------------------------------------------------------
  /// Run the optional optimization passes.
  bool optimize = true;
  /// The dtype of f32 matmul, convolutions and attention; see ReducePrecision.
  DType precision = DType::kF32;
  /// Evaluates calls with constant operands.
  Evaluator evaluate = nullptr;

  // --- Plan options -------------------------------------------------------------------------
  DeviceKind device = DeviceKind::kCPU;
  bool training = false;
  /// The run observes the result of each call as it was written, so calls must not be rewritten.
  bool is_observed = false;
  /// Whether a parameter, or a state that the Plan does not change, has the same value in every
  /// run; null: none has.
  llvm::function_ref<bool(const Value&)> is_fixed = nullptr;
  /// Names of the outputs to compute; empty: all.
  llvm::ArrayRef<std::string> outputs = {};
  /// The graph is one of several parts of a network, which run one after another.
  bool is_segment = false;
  SymbolLookup sizes = nullptr;
  SizedEvaluator evaluate_sized = nullptr;

  // --- Options of a training step -----------------------------------------------------------
  /// Indices of the active `minimize` statements; nullopt: the graph is the network of a step
  /// already.
  std::optional<llvm::ArrayRef<unsigned>> active = {};
  /// Enables moving averages of parameters.
  std::optional<ParameterAverages> averages = {};
  /// Enables gradient scaling.
  std::optional<GradientScale> scale = {};

  // --- Results of passes --------------------------------------------------------------------
  /// The sides that were selected; see SelectSides.
  std::vector<std::string> choices = {};
};

/// A graph transformation.
struct Pass {
  /// The name in command lines and reports: "lower-gradients".
  llvm::StringLiteral name;
  /// A description of at most 51 characters, without a period.
  llvm::StringLiteral description;
  llvm::Error (*run)(Graph& graph, PassContext& context);
  /// Whether the pass would do anything; null: always run it.
  bool (*applies)(const Graph& graph, const PassContext& context) = nullptr;
  /// GraphProperty bits that must hold before the pass, and those that hold after it.
  uint8_t required = 0, established = 0;
  /// Whether a network computes the same without the pass, apart from rounding; see
  /// PassObserver::Allows.
  bool is_optional = false;
};

/// Statistics of one run of a pass.
struct PassRun {
  /// False if the pass did not apply, or was not allowed.
  bool has_run = false;
  double seconds = 0;
  /// The number of calls in all blocks of the graph, before and after.
  size_t calls_before = 0, calls_after = 0;
};

/// Observes the passes of pipelines, and decides which optional ones run.
class PDL_API PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// Whether a pass that is optional and applies should run. Called concurrently, as AfterPass.
  virtual bool Allows(const Pass&) { return true; }
  /// Called after each pass of a pipeline, including passes that did not apply, with the graph that
  /// the next pass gets. Not called after a pass that failed. Pipelines that run in several threads
  /// call it concurrently.
  virtual void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) = 0;
};

/// A named sequence of passes.
class PDL_API Pipeline {
 public:
  constexpr Pipeline(llvm::StringLiteral name, llvm::StringLiteral description,
                     llvm::ArrayRef<Pass> passes, uint8_t given = 0)
      : name_(name), description_(description), passes_(passes), given_(given) {}

  llvm::StringRef name() const { return name_; }
  /// When the pipeline runs: "when a network is created".
  llvm::StringRef description() const { return description_; }
  llvm::ArrayRef<Pass> passes() const { return passes_; }
  const Pass* Find(llvm::StringRef pass) const;
  /// GraphProperty bits that hold for every graph that the pipeline gets.
  uint8_t given() const { return given_; }

  /// Whether any of the passes applies to the graph in its current form.
  bool Applies(const Graph& graph, const PassContext& context) const;
  /// Runs the passes that apply. Stops at the first Error; the graph may then only be destroyed.
  llvm::Error Run(Graph& graph, PassContext& context) const;

 private:
  llvm::Error RunPasses(Graph& graph, PassContext& context) const;

  llvm::StringLiteral name_, description_;
  llvm::ArrayRef<Pass> passes_;
  uint8_t given_;
};

/// From the elaborated graph to the graph that plans are made from; once per network.
PDL_API const Pipeline& NetworkPipeline();
/// From that graph, or a segment of it, to the graph of a plan; once for each device, mode, set of
/// outputs and outcome of conditions on sizes, but not for each set of sizes.
PDL_API const Pipeline& PlanPipeline();
/// From a graph that was compiled for training to the network of a training step.
PDL_API const Pipeline& StepPipeline();
/// Passes that find errors which only appear when calls are lowered, in a network and in a training
/// step.
PDL_API const Pipeline& CheckPipeline();
PDL_API const Pipeline& CheckStepPipeline();
/// From the imported calls of an ONNX model's nodes to source: before and after the names of values
/// that are merged into equal constants are dropped.
PDL_API const Pipeline& ImportPipeline();
PDL_API const Pipeline& ImportMergePipeline();
/// From a network to the graph that an ONNX model is exported from.
PDL_API const Pipeline& ExportPipeline();

/// The pipelines from a network to its runs, in order: training step, network, plan.
PDL_API llvm::ArrayRef<const Pipeline*> RunPipelines();

/// Accumulates the time of passes and of other compilation stages. Not thread-safe.
class PDL_API PassTimings : public PassObserver {
 public:
  void AfterPass(const Pass& pass, const Graph& graph, const PassRun& run) override;
  /// Total time of all passes and stages, in seconds.
  double seconds() const;
  /// Adds `seconds` to a stage that is not a pass: "load". `name` is not copied.
  void AddStage(llvm::StringRef name, double seconds);

  /// Prints a row for each pass and stage in order of first appearance: time, share of the total,
  /// number of calls before and after, name.
  void Print(llvm::raw_ostream& os) const;

 private:
  struct Row {
    bool is_pass = false;
    PassRun run;  // all runs together
  };
  llvm::MapVector<llvm::StringRef, Row> rows_;
};

/// Adds the lifetime of this object, minus the time of passes in between, to a stage.
class PDL_API TimedStage {
 public:
  /// `timings` may be null.
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
