// The passes with their names, and the pipelines, which define their order.
#include "pdl/compiler/pipeline.h"
#include "ir/located_error.h"

#include <chrono>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/trace.h"
#include "pdl/compiler/training.h"

namespace pdl {
namespace {

template <void (*kPass)(Graph&)>
llvm::Error Run(Graph& graph, PassContext&) {
  kPass(graph);
  return llvm::Error::success();
}
template <void (*kPass)(Graph&, const OpRegistry&)>
llvm::Error Run(Graph& graph, PassContext& context) {
  kPass(graph, context.registry);
  return llvm::Error::success();
}
template <llvm::Error (*kPass)(Graph&, const OpRegistry&)>
llvm::Error Run(Graph& graph, PassContext& context) {
  return kPass(graph, context.registry);
}

/// For Pass::is_optional.
constexpr bool kOptional = true;

bool IsOptimized(const Graph&, const PassContext& context) { return context.optimize; }

constexpr Pass kTrainingStep = {
    "training-step",
    "turns minimize statements into updates of states",
    [](Graph& graph, PassContext& context) { return BecomeTrainingStep(graph, *context.active); },
    [](const Graph&, const PassContext& context) { return context.active.has_value(); },
    0,
    kNoTraining};

constexpr Pass kScaleGradients = {
    "scale-gradients", "scales losses to keep gradients in the range of f16",
    [](Graph& graph, PassContext& context) -> llvm::Error {
      ScaleGradients(graph, context.registry, *context.scale);
      return llvm::Error::success();
    },
    [](const Graph&, const PassContext& context) { return context.scale.has_value(); },
    kNoTraining};

constexpr Pass kAverageParameters = {
    "average-parameters", "adds moving averages of the parameters",
    [](Graph& graph, PassContext& context) {
      return AverageParameters(graph, context.registry, *context.averages);
    },
    [](const Graph&, const PassContext& context) { return context.averages.has_value(); },
    kNoTraining};

constexpr Pass kDropTraining = {
    "drop-training",
    "removes minimize statements",
    [](Graph& graph, PassContext&) -> llvm::Error {
      graph.ClearTrainings();
      return llvm::Error::success();
    },
    [](const Graph& graph, const PassContext&) { return !graph.trainings().empty(); },
    0,
    kNoTraining};

constexpr Pass kDeadCode = {"dead-code", "removes calls whose results are unused",
                            Run<EliminateDeadCode>};

constexpr Pass kFinalDeadCode = {"final-dead-code",
                                 "removes calls that other passes made unused",
                                 Run<EliminateDeadCode>,
                                 IsOptimized,
                                 0,
                                 0,
                                 kOptional};

constexpr Pass kLowerStorage = {
    "lower-storage",
    "lowers ragged and sparse values, and einsum",
    [](Graph& graph, PassContext& context) -> llvm::Error {
      llvm::Expected<Graph> lowered = LowerStorage(graph, context.registry);
      if (!lowered) return lowered.takeError();
      graph = std::move(*lowered);
      return llvm::Error::success();
    },
    [](const Graph& graph, const PassContext&) { return NeedsLowering(graph); },
    0,
    kDense};

constexpr Pass kTimeMajorLoops = {"time-major-loops",
                                  "runs loops over the first axis of their sequences",
                                  Run<RunLoopsTimeMajor>,
                                  IsOptimized,
                                  kDense,
                                  0,
                                  kOptional};

constexpr Pass kLowerGradients = {
    "lower-gradients",
    "lowers calls of gradient to backward passes",
    Run<LowerGradients>,
    [](const Graph& graph, const PassContext&) { return HasGradients(graph); },
    kDense,
    kNoGradients};

constexpr Pass kUpdateUsedRows = {
    "update-used-rows", "makes updates of tables write only the used rows", Run<UpdateUsedRows>,
    [](const Graph& graph, const PassContext&) { return !graph.updates().empty(); },
    kDense | kNoGradients};

constexpr Pass kFoldTransposes = {"fold-transposes",
                                  "makes matmuls read transposed operands in place",
                                  Run<FoldTransposes>,
                                  IsOptimized,
                                  kDense | kNoGradients,
                                  0,
                                  kOptional};

constexpr Pass kReducePrecision = {
    "reduce-precision",
    "f32 matmuls and convolutions in f16 or bf16",
    [](Graph& graph, PassContext& context) -> llvm::Error {
      ReducePrecision(graph, context.registry, context.precision);
      return llvm::Error::success();
    },
    [](const Graph&, const PassContext& context) { return context.precision != DType::kF32; },
    kDense | kNoGradients,
    0,
    kOptional};

constexpr Pass kForwardSingleOperands = {"forward-single-operands",
                                         "replaces calls that return their operand",
                                         Run<ForwardSingleOperands>,
                                         IsOptimized,
                                         kNoGradients,
                                         0,
                                         kOptional};

constexpr Pass kCommonSubexpressions = {"common-subexpressions",
                                        "merges equal calls with equal operands",
                                        Run<EliminateCommonSubexpressions>,
                                        IsOptimized,
                                        0,
                                        0,
                                        kOptional};

constexpr Pass kMergeLoops = {
    "merge-loops", "merges loops over the same sequences", Run<MergeLoops>, IsOptimized, 0, 0,
    kOptional};

constexpr Pass kPruneLoops = {"prune-loops",
                              "removes unused results and operands of loops",
                              Run<PruneLoops>,
                              IsOptimized,
                              0,
                              0,
                              kOptional};

constexpr Pass kFoldConstants = {"fold-constants",
                                 "evaluates calls with constant operands",
                                 [](Graph& graph, PassContext& context) {
                                   return FoldConstants(graph, context.registry, context.evaluate);
                                 },
                                 IsOptimized,
                                 0,
                                 0,
                                 kOptional};

constexpr Pass kSelectSides = {"select-sides", "replaces plan_select by the selected side",
                               [](Graph& graph, PassContext& context) {
                                 return SelectSides(graph, context.outputs, context.training,
                                                    context.sizes, context.evaluate_sized,
                                                    &context.choices);
                               },
                               [](const Graph& graph, const PassContext&) {
                                 for (uint32_t i = 0; i < graph.num_blocks(); ++i)
                                   for (const Op* op : graph.block({i}).ops)
                                     if (op->def().properties().is_plan_select) return true;
                                 return false;
                               }};

bool HasChecks(const Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (const Op* op : graph.block({i}).ops)
      if (op->def().properties().only_checks) return true;
  return false;
}

constexpr Pass kDropUnreadChecks = {
    "drop-unread-checks", "removes checks of inputs that a run does not read",
    [](Graph& graph, PassContext& context) -> llvm::Error {
      DropUnreadChecks(graph, context.outputs);
      return llvm::Error::success();
    },
    [](const Graph& graph, const PassContext& context) {
      return !context.outputs.empty() && !context.is_segment && HasChecks(graph);
    }};

constexpr Pass kDropChecks = {
    "drop-checks", "removes checks of assertions", Run<DropChecks>,
    [](const Graph& graph, const PassContext&) { return HasChecks(graph); }};

constexpr Pass kFoldNormalizations = {"fold-normalizations",
                                      "folds fixed normalization into convolutions",
                                      [](Graph& graph, PassContext& context) -> llvm::Error {
                                        FoldNormalizations(graph, context.registry,
                                                           context.is_fixed);
                                        return llvm::Error::success();
                                      },
                                      [](const Graph& graph, const PassContext& context) {
                                        return context.optimize && !context.is_observed &&
                                               context.is_fixed && HasNormalizations(graph);
                                      },
                                      kDense | kNoGradients,
                                      0,
                                      kOptional};

constexpr Pass kChannelsLast = {"channels-last",
                                "converts convolutions on the CPU to channels last",
                                [](Graph& graph, PassContext& context) -> llvm::Error {
                                  KeepChannelsLast(graph, context.registry);
                                  return llvm::Error::success();
                                },
                                // An observed run requires the calls as they were written.
                                [](const Graph& graph, const PassContext& context) {
                                  return context.device == DeviceKind::kCPU &&
                                         !context.is_observed && MayGainByChannelsLast(graph);
                                },
                                kDense | kNoGradients, 0, kOptional};

constexpr Pass kNetworkPasses[] = {kDropTraining,         kDeadCode,        kLowerStorage,
                                   kTimeMajorLoops,       kLowerGradients,  kUpdateUsedRows,
                                   kFoldTransposes,       kReducePrecision, kForwardSingleOperands,
                                   kCommonSubexpressions, kMergeLoops,      kPruneLoops,
                                   kFoldConstants,        kFinalDeadCode};
constexpr Pass kPlanPasses[] = {kSelectSides, kDropUnreadChecks, kFoldNormalizations,
                                kChannelsLast};
constexpr Pass kStepPasses[] = {kTrainingStep, kAverageParameters, kScaleGradients};
constexpr Pass kCheckPasses[] = {kLowerStorage, kLowerGradients};
constexpr Pass kCheckStepPasses[] = {kTrainingStep, kLowerStorage, kLowerGradients,
                                     kUpdateUsedRows};
constexpr Pass kImportPasses[] = {kFoldConstants, kDeadCode};
constexpr Pass kImportMergePasses[] = {kCommonSubexpressions, kFinalDeadCode};
constexpr Pass kExportPasses[] = {kDropChecks, kFoldConstants, kForwardSingleOperands, kDeadCode};

constexpr Pipeline kNetwork("network", "when a network is created", kNetworkPasses);
constexpr Pipeline kPlan("plan", "when a run is planned", kPlanPasses, kDense | kNoGradients);
constexpr Pipeline kStep("step", "for a training step (--step)", kStepPasses);
constexpr Pipeline kCheck("check", "when a network is checked", kCheckPasses);
constexpr Pipeline kCheckStep("check-step", "when a training step is checked", kCheckStepPasses);
constexpr Pipeline kImport("import", "when an ONNX model is read", kImportPasses);
constexpr Pipeline kImportMerge("import-merge", "when an ONNX model is read", kImportMergePasses);
// The exporter rejects gradients.
constexpr Pipeline kExport("export", "before an ONNX model is written", kExportPasses,
                           kNoGradients);
constexpr const Pipeline* kRunPipelines[] = {&kStep, &kNetwork, &kPlan};

size_t CountCalls(const Graph& graph) {
  size_t count = 0;
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) count += graph.block({i}).ops.size();
  return count;
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

uint8_t PropertiesOf(const Graph& graph) {
  return static_cast<uint8_t>((NeedsLowering(graph) ? 0 : kDense) |
                              (HasGradients(graph) ? 0 : kNoGradients) |
                              (graph.trainings().empty() ? kNoTraining : 0));
}

const Pass* Pipeline::Find(llvm::StringRef pass) const {
  const auto found = llvm::find_if(passes_, [&](const Pass& each) { return each.name == pass; });
  return found == passes_.end() ? nullptr : found;
}

bool Pipeline::Applies(const Graph& graph, const PassContext& context) const {
  return llvm::any_of(passes_, [&](const Pass& pass) {
    return pass.applies == nullptr || pass.applies(graph, context);
  });
}

llvm::Error Pipeline::Run(Graph& graph, PassContext& context) const {
  return WithTexts(graph, RunPasses(graph, context));
}

llvm::Error Pipeline::RunPasses(Graph& graph, PassContext& context) const {
  for (const Pass& pass : passes_) {
    PassRun run;
    run.has_run = pass.applies == nullptr || pass.applies(graph, context);
    if (context.observer == nullptr) {
      if (!run.has_run) continue;
      const TraceSpan span(pass.name);
      if (llvm::Error error = pass.run(graph, context)) return error;
      continue;
    }
    run.has_run = run.has_run && (!pass.is_optional || context.observer->Allows(pass));
    run.calls_before = CountCalls(graph);
    if (run.has_run) {
      const TraceSpan span(pass.name);
      const double start = Now();
      if (llvm::Error error = pass.run(graph, context)) return error;
      run.seconds = Now() - start;
    }
    run.calls_after = CountCalls(graph);
    context.observer->AfterPass(pass, graph, run);
  }
  return llvm::Error::success();
}

const Pipeline& NetworkPipeline() { return kNetwork; }
const Pipeline& PlanPipeline() { return kPlan; }
const Pipeline& StepPipeline() { return kStep; }
const Pipeline& CheckPipeline() { return kCheck; }
const Pipeline& CheckStepPipeline() { return kCheckStep; }
const Pipeline& ImportPipeline() { return kImport; }
const Pipeline& ImportMergePipeline() { return kImportMerge; }
const Pipeline& ExportPipeline() { return kExport; }
llvm::ArrayRef<const Pipeline*> RunPipelines() { return kRunPipelines; }

// --- Timings --------------------------------------------------------------------------------

void PassTimings::AfterPass(const Pass& pass, const Graph&, const PassRun& run) {
  Row& row = rows_[pass.name];
  row.is_pass = true;
  row.run.has_run |= run.has_run;
  row.run.seconds += run.seconds;
  row.run.calls_before += run.calls_before;
  row.run.calls_after += run.calls_after;
}

double PassTimings::seconds() const {
  double all = 0;
  for (const auto& [name, row] : rows_) all += row.run.seconds;
  return all;
}

void PassTimings::AddStage(llvm::StringRef name, double seconds) {
  rows_[name].run.seconds += seconds;
}

void PassTimings::Print(llvm::raw_ostream& os) const {
  const double all = seconds();
  const auto print = [&](double time, llvm::StringRef calls, llvm::StringRef name) {
    os << llvm::formatv("{0,9} ms {1,6} %  {2,-26} {3}\n",
                        llvm::formatv("{0:f3}", time * 1e3).str(),
                        llvm::formatv("{0:f1}", all > 0 ? 100 * time / all : 0).str(), calls, name);
  };
  for (const auto& [name, row] : rows_) {
    std::string calls;
    if (row.is_pass) {
      calls =
          row.run.has_run
              ? llvm::formatv("{0} -> {1} calls", row.run.calls_before, row.run.calls_after).str()
              : "nothing to do";
    }
    print(row.run.seconds, calls, name);
  }
  print(all, "", "all");
}

TimedStage::TimedStage(PassTimings* timings, llvm::StringLiteral name)
    : timings_(timings), name_(name) {
  if (timings_ == nullptr) return;
  start_ = Now();
  in_rows_ = timings_->seconds();
}

TimedStage::~TimedStage() {
  if (timings_ == nullptr) return;
  timings_->AddStage(name_, Now() - start_ - (timings_->seconds() - in_rows_));
}

}  // namespace pdl
