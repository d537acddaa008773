#include "tools/pdl/view/facts.h"

#include <memory>
#include <utility>
#include <vector>

#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/diff.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/runtime/timed_runs.h"
#include "tools/pdl/compare/lockstep.h"
#include "tools/pdl/compare/report.h"
#include "tools/pdl/compare/sides.h"
#include "tools/pdl/support/hash_weights.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/onnx_network.h"
#include "tools/pdl/view/statistics.h"

namespace pdl {
namespace {

/// Keeps the statistics of each result of a run.
class StatisticsObserver : public RunObserver {
 public:
  explicit StatisticsObserver(llvm::StringMap<ViewStatistics>* statistics)
      : statistics_(statistics) {}
  bool Observes(llvm::StringRef) const override { return true; }
  llvm::Error See(const Result& result) override {
    (*statistics_)[result.name] = StatisticsOf(result.tensor);
    return llvm::Error::success();
  }

 private:
  llvm::StringMap<ViewStatistics>* statistics_;
};

/// A copy of a network that was loaded, for a run.
LoadedNetwork CopyOf(const LoadedNetwork& loaded) {
  return {loaded.graph.Clone(), loaded.folder, loaded.has_tests, loaded.weights, {}};
}

llvm::Error FindStatistics(const LoadedNetwork& loaded, const CommonOptions& common, Scope& fed,
                           DeviceContext* context, ViewFacts* facts) {
  facts->statistics.emplace();
  for (const Value* input : loaded.graph.inputs()) {
    const Variable* variable = fed.Find(input->name());
    const auto* tensor = variable == nullptr ? nullptr : variable->Get<Tensor>();
    if (tensor != nullptr) (*facts->statistics)[input->name()] = StatisticsOf(*tensor);
  }
  NetworkOptions network_options;
  // Without the optional passes, a run computes every value.
  network_options.optimize = false;
  network_options.seed = common.seed;
  if (!common.weights.empty()) {
    llvm::Expected<GivenWeights> given = OpenGivenWeights(common, loaded.graph);
    if (!given) return given.takeError();
    if (llvm::Error error = given->AddTo(&network_options.weights)) return error;
  }
  auto network = CreateNetwork(CopyOf(loaded), std::move(network_options));
  if (!network) return network.takeError();
  StatisticsObserver observer(&*facts->statistics);
  RunOptions options;
  options.training = common.training;
  options.observer = &observer;
  Scope scope(&fed);
  return (*network)->Run(&scope, context, options);
}

llvm::Error FindTimes(const LoadedNetwork& loaded, const FactsRequest& request, Scope& fed,
                      DeviceContext* context, ViewFacts* facts) {
  auto network = CreateNetwork(CopyOf(loaded), request.common);
  if (!network) return network.takeError();
  Scope scope(&fed);
  RunOptions options;
  options.training = request.common.training;
  // The first run plans, which is not measured.
  if (llvm::Error error = (*network)->Run(&scope, context, options)) return error;
  TimedRuns timed;
  for (int64_t run = 0; run < request.profiled_runs; ++run)
    if (llvm::Error error = timed.Run(**network, &scope, context, options)) return error;
  facts->times.emplace();
  for (const RunProfile::Step& step : timed.steps().steps()) {
    // "y: f32[8, 64]"
    const llvm::StringRef name = llvm::StringRef(step.result).split(':').first;
    ViewTime& time = (*facts->times)[name];
    time.seconds += step.seconds / static_cast<double>(timed.runs());
    time.calls = step.calls;
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Error MeasureFacts(const LoadedNetwork& loaded, FactsRequest& request, ViewFacts* facts) {
  Scope fed;
  if (llvm::Error error = request.inputs.Feed(loaded.graph, request.common, &fed)) return error;
  if (request.memory) {
    llvm::StringMap<int64_t> sizes = request.common.sizes;
    for (const auto& [symbol, size] : SizesAsSettings(loaded.graph, fed))
      sizes.try_emplace(symbol, std::stoll(size));
    llvm::Expected<llvm::StringMap<int64_t>> live = FindLiveBytes(loaded.graph, sizes);
    if (!live) return live.takeError();
    facts->live_bytes = std::move(*live);
  }
  if (!request.runs()) return llvm::Error::success();
  auto context = OpenDevice(request.common);
  if (!context) return context.takeError();
  if (request.values)
    if (llvm::Error error = FindStatistics(loaded, request.common, fed, context->get(), facts))
      return error;
  if (request.profiled_runs > 0) return FindTimes(loaded, request, fed, context->get(), facts);
  return llvm::Error::success();
}

llvm::Error CompareFacts(llvm::StringRef before, llvm::StringRef path, const Graph& graph,
                         FactsRequest& request, ViewFacts* facts) {
  facts->before_name = before.str();
  CommonOptions common = request.common;
  common.without_warnings = true;
  llvm::Expected<LoadedNetwork> old = LoadNetwork(before, common);
  if (!old) return old.takeError();
  HashWeights(*old);
  facts->differences = DiffGraphs(old->graph, graph);
  if (!request.values) return llvm::Error::success();
  Side first, second;
  first.path = before.str();
  second.path = path.str();
  first.options = second.options = common;
  if (llvm::Error error = Open(first)) return error;
  if (llvm::Error error = Open(second)) return error;
  if (llvm::Error error = FeedBoth(request.inputs, nullptr, first, second)) return error;
  facts->deviations.emplace();
  LockstepHandler handler;
  auto has = [](const Side& side, llvm::StringRef name) {
    const Value* value = side.network->optimized_graph().FindValue(name);
    return value != nullptr && value->producer() != nullptr && !IsKnownToPlan(value);
  };
  handler.observes = [&](llvm::StringRef name) { return has(first, name) && has(second, name); };
  handler.compare = [&](llvm::StringRef name, const SeenValue& a, const SeenValue& b) {
    const ComparedValue compared =
        CompareValues(ComparedValue::Kind::kCall, name, a, b, Tolerance());
    if (compared.result == ComparedValue::Result::kEqual) return;
    (*facts->deviations)[name] = {compared.result == ComparedValue::Result::kNear,
                                  compared.max_error};
  };
  RunOptions options;
  options.training = common.training;
  std::vector<std::string> left_out;
  return RunLockstep(first, second, Pairs(), options, options, handler, &left_out);
}

}  // namespace pdl
