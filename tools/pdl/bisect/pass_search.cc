#include "tools/pdl/bisect/pass_search.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/pipeline.h"
#include "tools/pdl/bisect/reduce.h"
#include "tools/pdl/compare/lockstep.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kFuse = "fuse";

using Outputs = llvm::StringMap<Tensor>;

/// Lets some optional passes run.
class PassGate : public PassObserver {
 public:
  explicit PassGate(llvm::StringSet<> allowed) : allowed_(std::move(allowed)) {}
  bool Allows(const Pass& pass) override { return allowed_.contains(pass.name); }
  void AfterPass(const Pass&, const Graph&, const PassRun&) override {}

 private:
  const llvm::StringSet<> allowed_;
};

/// The network with only one output, the value of that name.
FedNetwork OnlyOutput(const FedNetwork& fed, llvm::StringRef value) {
  FedNetwork only{fed.graph.Clone(), fed.variables, fed.inputs, fed.precision};
  only.graph.ClearOutputs();
  only.graph.AddOutput(value, only.graph.FindValue(value));
  return only;
}

/// Runs networks with the first steps of compilation.
class StepRunner {
 public:
  StepRunner(llvm::ArrayRef<std::string> suspects, const RunSetup& setup) : setup_(setup) {
    for (const OptionalStep& step : OptionalSteps()) {
      if (suspects.empty() || llvm::is_contained(suspects, step.name)) {
        steps_.push_back(step);
      } else {
        always_.insert(step.name);
      }
    }
  }

  llvm::ArrayRef<OptionalStep> steps() const { return steps_; }
  size_t runs() const { return runs_; }

  /// Runs the network with the first `count` suspected steps, and those that are not suspected.
  llvm::Expected<Outputs> Run(const FedNetwork& fed, size_t count) {
    llvm::StringSet<> allowed = always_;
    for (const OptionalStep& step : llvm::ArrayRef(steps_).take_front(count))
      allowed.insert(step.name);
    NetworkOptions options;
    options.fuse = allowed.contains(kFuse);
    PassGate gate(std::move(allowed));
    options.pass_observer = &gate;
    ++runs_;
    return RunOnce(fed, setup_, std::move(options));
  }

  /// Whether the step before `count` makes the only output wrong.
  llvm::Expected<bool> IsWrong(const FedNetwork& fed, size_t count, const Criterion& criterion) {
    llvm::Expected<Outputs> good = Run(fed, count - 1);
    if (!good) return FalseIfUserError(good.takeError());
    llvm::Expected<Outputs> bad = Run(fed, count);
    if (!bad) return FalseIfUserError(bad.takeError());
    const std::string& output = fed.graph.outputs()[0].name;
    return criterion.IsWrong(good->lookup(output), bad->lookup(output));
  }

 private:
  const RunSetup& setup_;
  std::vector<OptionalStep> steps_;
  llvm::StringSet<> always_;
  size_t runs_ = 0;
};

class PassSearch {
 public:
  PassSearch(const FedNetwork& fed, const Tolerance& tolerance, const RunSetup& setup,
             StepRunner& runner)
      : fed_(fed), setup_(setup), runner_(runner) {
    criterion_.tolerance = tolerance;
  }

  llvm::Expected<std::optional<PassFinding>> Run(llvm::StringRef only) {
    llvm::Expected<Outputs> good = runner_.Run(fed_, 0);
    if (!good) return good.takeError();
    llvm::Expected<Outputs> bad = runner_.Run(fed_, runner_.steps().size());
    if (!bad) return bad.takeError();
    PassFinding finding;
    finding.output = ChooseOutput(fed_.graph, *good, *bad, only, &criterion_);
    if (finding.output.empty()) return std::nullopt;
    finding.not_finite = criterion_.not_finite;
    llvm::Expected<size_t> count = FindStep(finding.output, good->lookup(finding.output));
    if (!count) return count.takeError();
    finding.step = runner_.steps()[*count - 1];
    if (llvm::Error error = Explain(*count, finding)) return error;
    finding.runs = runner_.runs();
    return finding;
  }

 private:
  /// The smallest number of steps that makes the output wrong, if it stays wrong with more.
  llvm::Expected<size_t> FindStep(llvm::StringRef output, const Tensor& right) {
    size_t good = 0, bad = runner_.steps().size();
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      llvm::Expected<Outputs> outputs = runner_.Run(fed_, middle);
      if (!outputs) return outputs.takeError();
      (criterion_.IsWrong(right, outputs->lookup(output)) ? bad : good) = middle;
    }
    return bad;
  }

  /// Whether a value is wrong if the network computes nothing else.
  llvm::Expected<bool> IsWrong(const Value* value, size_t count) {
    return runner_.IsWrong(OnlyOutput(fed_, value->name()), count, criterion_);
  }

  /// A wrong value that is computed from values that are not, by binary search over the values
  /// that `output` is computed from. Null if `output` is not wrong on its own.
  llvm::Expected<const Value*> FindFirst(const Value* output, size_t count) {
    const std::vector<Value*> slice = BackwardSlice({const_cast<Value*>(output)});
    const llvm::DenseSet<const Value*> needed(slice.begin(), slice.end());
    std::vector<const Value*> values;
    for (const Op* op : fed_.graph.ops())
      for (const Value* result : op->results())
        if (needed.contains(result) && !IsKnownToPlan(result) && result != output)
          values.push_back(result);
    llvm::Expected<bool> is_wrong = IsWrong(output, count);
    if (!is_wrong) return is_wrong.takeError();
    if (!*is_wrong) return nullptr;
    values.push_back(output);
    size_t good = 0, bad = values.size();  // values before `good` are right
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      is_wrong = IsWrong(values[middle - 1], count);
      if (!is_wrong) return is_wrong.takeError();
      (*is_wrong ? bad : good) = middle;
    }
    const Value* first = values[bad - 1];
    // The values are not in a chain: an operand may be wrong though the value before is not.
    for (bool is_first = false; !is_first;) {
      is_first = true;
      for (const Value* operand : first->producer()->operands()) {
        if (operand->producer() == nullptr || IsKnownToPlan(operand)) continue;
        is_wrong = IsWrong(operand, count);
        if (!is_wrong) return is_wrong.takeError();
        if (!*is_wrong) continue;
        first = operand;
        is_first = false;
        break;
      }
    }
    return first;
  }

  llvm::Error Explain(size_t count, PassFinding& finding) {
    const Value* output = fed_.graph.FindOutput(finding.output)->value;
    const Value* first = nullptr;
    if (output->producer() != nullptr) {
      llvm::Expected<const Value*> found = FindFirst(output, count);
      if (!found) return found.takeError();
      first = *found;
    }
    if (llvm::Error error = CompareFirst(first, *output, count, finding)) return error;
    if (first == nullptr) return llvm::Error::success();
    auto smallest = Reduce(fed_, first, setup_, [&](const FedNetwork& part) {
      return runner_.IsWrong(part, count, criterion_);
    });
    if (!smallest) return smallest.takeError();
    finding.smallest = std::move(*smallest);
    return llvm::Error::success();
  }

  llvm::Error CompareFirst(const Value* first, const Value& output, size_t count,
                           PassFinding& finding) {
    const FedNetwork only = OnlyOutput(fed_, (first != nullptr ? first : &output)->name());
    const FedNetwork& network = first != nullptr ? only : fed_;
    const std::string name = first != nullptr ? first->name() : finding.output;
    llvm::Expected<Outputs> good = runner_.Run(network, count - 1);
    if (!good) return good.takeError();
    llvm::Expected<Outputs> bad = runner_.Run(network, count);
    if (!bad) return bad.takeError();
    const Value& value = first != nullptr ? *first : output;
    const std::string op = value.producer() != nullptr ? value.producer()->type() : "";
    const std::string place = PlaceOf(fed_.graph, value);
    finding.first = CompareValues(
        first != nullptr ? ComparedValue::Kind::kCall : ComparedValue::Kind::kOutput, name,
        {good->lookup(name), op, place}, {bad->lookup(name), op, place}, criterion_.tolerance);
    return llvm::Error::success();
  }

  const FedNetwork& fed_;
  Criterion criterion_;
  const RunSetup& setup_;
  StepRunner& runner_;
};

}  // namespace

llvm::ArrayRef<OptionalStep> OptionalSteps() {
  static const std::vector<OptionalStep> steps = [] {
    std::vector<OptionalStep> all;
    for (const Pipeline* pipeline : {&NetworkPipeline(), &PlanPipeline()})
      for (const Pass& pass : pipeline->passes())
        if (pass.is_optional) all.push_back({pass.name, pass.description});
    all.push_back({kFuse, "fuses calls into one kernel"});
    return all;
  }();
  return steps;
}

llvm::Expected<std::optional<PassFinding>> SearchPasses(const FedNetwork& fed,
                                                        llvm::ArrayRef<std::string> suspects,
                                                        llvm::StringRef only,
                                                        const Tolerance& tolerance,
                                                        const RunSetup& setup) {
  StepRunner runner(suspects, setup);
  return PassSearch(fed, tolerance, setup, runner).Run(only);
}

llvm::Expected<bool> ShowsWrongPass(const FedNetwork& fed, const PassFinding& finding,
                                    llvm::ArrayRef<std::string> suspects,
                                    const Tolerance& tolerance, const RunSetup& setup) {
  StepRunner runner(suspects, setup);
  const auto step = llvm::find_if(
      runner.steps(), [&](const OptionalStep& each) { return each.name == finding.step.name; });
  Criterion criterion{tolerance, finding.not_finite};
  return runner.IsWrong(fed, static_cast<size_t>(step - runner.steps().begin()) + 1, criterion);
}

}  // namespace pdl
