#include "tools/pdl/bisect/finite_search.h"

#include "pdl/op/error.h"
#include "pdl/runtime/run_observer.h"
#include "tools/pdl/bisect/criterion.h"
#include "tools/pdl/bisect/reduce.h"

namespace pdl {
namespace {

class NotFiniteObserver : public RunObserver {
 public:
  bool Observes(llvm::StringRef) const override { return false; }
  llvm::Error See(const Result&) override { return llvm::Error::success(); }
  void SeeNotFinite(llvm::StringRef name) override { name_ = name.str(); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace

llvm::Expected<bool> ShowsNotFinite(const FedNetwork& fed, const RunSetup& setup) {
  auto outputs = RunOnce(fed, setup);
  if (!outputs) return FalseIfUserError(outputs.takeError());
  return HoldsNotFinite(outputs->lookup(fed.graph.outputs()[0].name));
}

llvm::Expected<std::optional<FiniteFinding>> SearchNotFinite(const FedNetwork& fed,
                                                             const RunSetup& setup) {
  NetworkOptions network_options;
  network_options.optimize = false;
  auto network = MakeNetwork(fed, setup, std::move(network_options));
  if (!network) return network.takeError();
  Scope scope;
  Feed(fed, &scope);
  NotFiniteObserver observer;
  RunOptions options;
  options.training = setup.training;
  options.check_finite = true;
  options.observer = &observer;
  llvm::Error error = (*network)->Run(&scope, setup.context, options);
  if (!error) return std::nullopt;
  if (observer.name().empty()) return error;
  FiniteFinding finding;
  finding.value = observer.name();
  if (llvm::Error other = llvm::handleErrors(
          std::move(error), [&](const UserError& user) { finding.message = user.text(); }))
    return other;
  // The calls of gradients are in the graph that runs.
  const FedNetwork lowered{(*network)->optimized_graph().Clone(), fed.variables, fed.inputs};
  auto smallest = Reduce(lowered, lowered.graph.FindValue(finding.value), setup,
                         [&](const FedNetwork& part) { return ShowsNotFinite(part, setup); });
  if (!smallest) return smallest.takeError();
  finding.smallest = std::move(*smallest);
  return finding;
}

}  // namespace pdl
