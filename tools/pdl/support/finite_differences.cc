#include "tools/pdl/support/finite_differences.h"

#include <cmath>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/runtime/network.h"
#include "tools/pdl/compare/copy_calls.h"
#include "tools/pdl/support/elements.h"

namespace pdl {
namespace {

constexpr double kStep = 1e-6;
/// The accuracy of differences, relative to max(1, |derivative|).
constexpr double kTolerance = 1e-6;
constexpr double kF32Tolerance = 1e-4;
/// One-sided differences that differ by more than this are at a corner or a jump.
constexpr double kCorner = 1e-3;
/// Beyond this, steps are too coarse.
constexpr double kLargest = 1e4;
constexpr int64_t kMaxElements = 1 << 16;
/// The most elements of one input that are varied.
constexpr int64_t kMaxMoved = 32;

/// Distinct numbers in [-1, 1] that are exact in f32.
std::vector<double> Noise(int64_t n, uint64_t seed) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) {
    const double fraction = std::fmod(
        static_cast<double>(i * 7 + 3) * 0.6180339887 + static_cast<double>(seed) * 0.237, 1.0);
    values.push_back(static_cast<float>(2 * fraction - 1));
  }
  return values;
}

/// An input of the graph and its value; whether it is varied.
struct Fed {
  Value* value;
  Tensor tensor;
  bool moves;
};

/// A graph of the call, its gradient, and the gradient of that.
class CallGraph {
 public:
  CallGraph(const TestCall& call, DType dtype) : call_(call), dtype_(dtype) {}

  /// Adds the call and the calls that its rule emits.
  llvm::Error Build() {
    for (const Tensor& operand : call_.operands) {
      const bool moves = IsFloat(operand.dtype());
      std::vector<double> values = moves ? ToReals(operand) : std::vector<double>();
      for (double& value : values) value = static_cast<float>(value);
      AddInput("x", moves ? FromReals(dtype_, operand.sizes(), values) : operand, moves);
    }
    std::vector<Value*> operands;
    for (const Fed& input : inputs_) operands.push_back(input.value);
    std::vector<std::string> names;
    for (size_t i = 0; i < call_.def->signature.NumResults(call_.attributes); ++i)
      names.push_back(graph_.NewName("y" + std::to_string(i)));
    std::vector<AttributeValue> attributes = call_.attributes;
    if (call_.body) {
      // The extracted body is block 0 of its network.
      auto body = CallCopier(graph_, *call_.body, dtype_)
                      .CopyBody(BlockId(), *call_.def, operands, attributes);
      if (!body) return body.takeError();
      attributes[static_cast<size_t>(call_.def->signature.BlockAttribute())] = *body;
    }
    auto op = graph_.AddOpWithValues(*call_.def, operands, std::move(attributes), names);
    if (!op) return op.takeError();
    for (Value* result : (*op)->results()) {
      if (!IsFloat(result->type().dtype)) continue;
      if (result->type().dtype != dtype_)
        return llvm::createStringError("its result is always " + result->type().ToString());
      results_.push_back(result);
    }
    if (results_.empty()) return llvm::createStringError("its results are not floats");
    return llvm::Error::success();
  }
  /// Adds the gradients of `outputs` with respect to all varied inputs; their cotangents are
  /// further varied inputs.
  llvm::Expected<std::vector<Value*>> AddBackward(llvm::ArrayRef<Value*> outputs) {
    std::vector<Value*> wrt, cotangents;
    for (const Fed& input : inputs_)
      if (input.moves) wrt.push_back(input.value);
    for (Value* output : outputs) {
      Sizes sizes;
      for (const Dim& dim : output->type().dims) {
        if (!dim.is_constant())
          return llvm::createStringError("its sizes are known only at run time");
        sizes.push_back(dim.constant());
      }
      const int64_t n = llvm::cantFail(CheckedNumBytes(DType::kBool, sizes));
      AddInput("dy", FromReals(dtype_, sizes, Noise(n, 9 + inputs_.size())), true);
      cotangents.push_back(inputs_.back().value);
    }
    return Differentiate(graph_, GlobalRegistry(), {BlockId(), outputs, cotangents, wrt});
  }
  /// Creates a network that computes these values (null: none), for Compute.
  llvm::Error Prepare(llvm::ArrayRef<Value*> values) {
    graph_.ClearOutputs();
    outputs_.clear();
    llvm::DenseSet<Value*> seen;
    for (Value* value : values) {
      outputs_.push_back(value == nullptr ? "" : "#" + value->name());
      if (value != nullptr && seen.insert(value).second) graph_.AddOutput(outputs_.back(), value);
    }
    NetworkOptions options;
    options.optimize = options.fuse = false;
    auto network = Network::Create(graph_.Clone(), options, GlobalRegistry());
    if (!network) return network.takeError();
    network_ = *network;
    return llvm::Error::success();
  }
  /// Computes the values; with `input`, one of its elements is replaced by `value`.
  llvm::Expected<std::vector<std::vector<double>>> Compute(int input = -1, int64_t element = 0,
                                                           double value = 0) {
    Scope scope;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Tensor tensor = inputs_[i].tensor;
      if (static_cast<int>(i) == input) {
        std::vector<double> values = ToReals(tensor);
        values[static_cast<size_t>(element)] = value;
        tensor = FromReals(dtype_, tensor.sizes(), values);
      }
      scope.Create(inputs_[i].value->name())->Set(tensor);
    }
    if (llvm::Error error = network_->Run(&scope, &context_)) return error;
    std::vector<std::vector<double>> values;
    for (const std::string& name : outputs_)
      values.push_back(name.empty() ? std::vector<double>()
                                    : ToReals(*scope.Find(name)->Get<Tensor>()));
    return values;
  }

  llvm::ArrayRef<Value*> results() const { return results_; }
  llvm::ArrayRef<Fed> inputs() const { return inputs_; }

 private:
  void AddInput(llvm::StringRef name, const Tensor& tensor, bool moves) {
    Type type(tensor.dtype(), Shape(tensor.sizes().begin(), tensor.sizes().end()));
    inputs_.push_back({graph_.AddInput(graph_.NewName(name), std::move(type)), tensor, moves});
  }

  const TestCall& call_;
  DType dtype_;
  CPUContext context_{1};
  Graph graph_;
  std::vector<Fed> inputs_;
  std::vector<Value*> results_;
  std::vector<std::string> outputs_;
  std::shared_ptr<const Network> network_;
};

bool AllFinite(llvm::ArrayRef<std::vector<double>> lists) {
  return llvm::all_of(lists, [](const std::vector<double>& list) {
    return llvm::all_of(list, [](double x) { return std::isfinite(x); });
  });
}

double RelativeError(double actual, double expected) {
  return std::fabs(actual - expected) / std::max(1.0, std::fabs(expected));
}

/// The declared input that an operand belongs to.
size_t InputOf(const TestCall& call, size_t operand) {
  const OpSignature& signature = call.def->signature;
  return static_cast<size_t>(&signature.InputOf(operand, call.attributes) -
                             signature.inputs.data());
}

std::string ElementName(const TestCall& call, size_t input, int64_t element) {
  const OpSignature& signature = call.def->signature;
  if (input >= call.operands.size())
    return llvm::formatv("gradient of a result, element {0}", element);
  return llvm::formatv("'{0}', element {1}", signature.inputs[InputOf(call, input)].name, element);
}

/// Whether an input is declared without a gradient; the cotangents that follow the operands have
/// one.
bool IsNotDifferentiable(const TestCall& call, size_t input) {
  return input < call.operands.size() &&
         !call.def->signature.inputs[InputOf(call, input)].differentiable;
}

/// A derivative from finite differences.
struct Derivative {
  double left = 0, right = 0;
  /// The largest rounding error.
  double noise = 0;

  double middle() const { return (left + right) / 2; }
  bool IsCorner() const {
    const double scale = std::max(1.0, std::fabs(middle()));
    return !std::isfinite(middle()) || noise > kCorner || std::fabs(left - right) > kCorner * scale;
  }
};

/// Differentiates the sum of the prepared values times `weights` with respect to an element of an
/// input, whose value is `at`. `base` are the values there.
llvm::Expected<Derivative> FindDerivative(CallGraph& graph, int input, int64_t element, double at,
                                          double step, llvm::ArrayRef<std::vector<double>> base,
                                          llvm::ArrayRef<std::vector<double>> weights) {
  auto above = graph.Compute(input, element, at + step);
  if (!above) return above.takeError();
  auto below = graph.Compute(input, element, at - step);
  if (!below) return below.takeError();
  Derivative derivative;
  for (size_t j = 0; j < base.size(); ++j) {
    for (size_t e = 0; e < base[j].size(); ++e) {
      const double right = ((*above)[j][e] - base[j][e]) * weights[j][e];
      const double left = (base[j][e] - (*below)[j][e]) * weights[j][e];
      derivative.right += right / step;
      derivative.left += left / step;
      if (right != 0 || left != 0)
        derivative.noise += 1e-16 * std::fabs(base[j][e] * weights[j][e]) / step;
    }
  }
  return derivative;
}

/// Compares `gradients`, the gradients of the sum of `outputs` times the last inputs, with
/// differences.
llvm::Error Compare(const TestCall& call, CallGraph& graph, llvm::ArrayRef<Value*> outputs,
                    size_t num_inputs, llvm::ArrayRef<Value*> gradients, unsigned order,
                    GradientReport* report) {
  if (llvm::Error error = graph.Prepare(gradients)) return error;
  auto computed = graph.Compute();
  if (!computed) return computed.takeError();
  if (llvm::Error error = graph.Prepare(outputs)) return error;
  auto base = graph.Compute();
  if (!base) return base.takeError();
  if (!AllFinite(*base)) return llvm::createStringError("its result is not finite");
  std::vector<std::vector<double>> weights;
  for (size_t i = 0, next = num_inputs; i < outputs.size(); ++i)
    weights.push_back(outputs[i] == nullptr ? std::vector<double>()
                                            : ToReals(graph.inputs()[next++].tensor));
  size_t moving = 0;
  for (size_t k = 0; k < num_inputs; ++k) {
    const Fed& input = graph.inputs()[k];
    if (!input.moves) continue;
    const Value* gradient = gradients[moving];
    if (IsNotDifferentiable(call, k)) {
      if (gradient != nullptr && order == 1) {
        report->failures.push_back(ElementName(call, k, 0) +
                                   ": the rule returns a gradient for an input that is declared "
                                   "without one");
        return llvm::Error::success();
      }
      ++moving;
      continue;
    }
    const std::vector<double>& actual = (*computed)[moving++];
    const std::vector<double> x = ToReals(input.tensor);
    const int64_t n = static_cast<int64_t>(x.size());
    for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / kMaxMoved)) {
      const double at = x[static_cast<size_t>(i)];
      const double step = kStep * std::max(1.0, std::fabs(at));
      const auto derivative_with = [&](double step) {
        return FindDerivative(graph, static_cast<int>(k), i, at, step, *base, weights);
      };
      auto derivative = derivative_with(step);
      if (!derivative) return derivative.takeError();
      const double expected = derivative->middle();
      const double found = gradient == nullptr ? 0 : actual[static_cast<size_t>(i)];
      const double error = RelativeError(found, expected);
      const bool is_wrong = !(error <= kTolerance + derivative->noise);
      bool is_corner = std::fabs(at) > kLargest || derivative->IsCorner();
      if (is_wrong && !is_corner) {
        // At a jump, differences grow as the step shrinks.
        auto finer = derivative_with(step / 4);
        if (!finer) return finer.takeError();
        is_corner = !(RelativeError(finer->middle(), expected) <= kCorner);
      }
      if (is_corner) {
        if (order == 1) ++report->num_corners;
        continue;
      }
      if (order == 1) {
        ++report->num_compared;
        report->inputs.insert(static_cast<unsigned>(InputOf(call, k)));
      }
      if (is_wrong) {
        report->failures.push_back(
            llvm::formatv("order {0}, {1}: {2}the rule returns {3}, differences {4}", order,
                          ElementName(call, k, i), gradient == nullptr ? "no gradient, so " : "",
                          FloatToString(found), FloatToString(expected)));
        return llvm::Error::success();  // one failure is enough
      }
      report->error[order - 1] = std::max(report->error[order - 1], error);
    }
  }
  return llvm::Error::success();
}

/// Compares the gradients at order 1, computed in f32, with those in f64.
llvm::Error CompareF32(const TestCall& call, CallGraph& exact, llvm::ArrayRef<Value*> gradients,
                       GradientReport* report) {
  if (llvm::Error error = exact.Prepare(gradients)) return error;
  auto expected = exact.Compute();
  if (!expected) return expected.takeError();
  CallGraph graph(call, DType::kF32);
  if (llvm::Error error = graph.Build()) {
    llvm::consumeError(std::move(error));  // an attribute is f64
    return llvm::Error::success();
  }
  auto values = graph.AddBackward(graph.results());
  if (!values) return values.takeError();
  if (llvm::Error error = graph.Prepare(*values)) return error;
  auto actual = graph.Compute();
  if (!actual) return actual.takeError();
  for (size_t k = 0; k < expected->size(); ++k) {
    double largest = 1;
    for (double x : (*expected)[k])
      if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
    for (size_t i = 0; i < (*expected)[k].size(); ++i) {
      const double x = (*expected)[k][i], y = (*actual)[k][i];
      if (!std::isfinite(x)) continue;
      const double error = std::fabs(x - y) / largest;
      if (!(error <= kF32Tolerance)) {
        report->failures.push_back(
            llvm::formatv("in f32, gradient {0}, element {1}: the rule returns {2}, in f64 {3}", k,
                          i, FloatToString(static_cast<float>(y)), FloatToString(x)));
        return llvm::Error::success();
      }
      report->f32_error = std::max(report->f32_error, error);
    }
  }
  return llvm::Error::success();
}

}  // namespace

GradientReport CheckGradient(const TestCall& call) {
  GradientReport report;
  const auto stop = [&](llvm::Error error) {
    report.why = llvm::toString(std::move(error));
    return report;
  };
  bool has_floats = false;
  for (const Tensor& operand : call.operands) {
    if (operand.num_elements() > kMaxElements) return report.why = "it is too large", report;
    if (!IsFloat(operand.dtype())) continue;
    has_floats = true;
    if (!AllFinite(ToReals(operand))) return report.why = "it has nan or inf", report;
  }
  if (!has_floats) return report.why = "it has no floats", report;

  CallGraph graph(call, DType::kF64);
  if (llvm::Error error = graph.Build()) return stop(std::move(error));
  const size_t num_inputs = graph.inputs().size();
  const std::vector<Value*> results = graph.results().vec();
  for (const Value* result : results)
    if (!result->type().has_constant_dims())
      return report.why = "its sizes are known only at run time", report;
  auto gradients = graph.AddBackward(results);
  if (!gradients) {
    report.failures.push_back(llvm::toString(gradients.takeError()));
    return report;
  }
  if (llvm::Error error = Compare(call, graph, results, num_inputs, *gradients, 1, &report))
    return stop(std::move(error));
  if (!report.failures.empty() || report.num_compared == 0) return report;
  if (llvm::Error error = CompareF32(call, graph, *gradients, &report))
    return stop(std::move(error));
  if (!report.failures.empty()) return report;
  report.order = 1;

  std::vector<Value*> firsts;
  for (Value* gradient : *gradients)
    if (gradient != nullptr) firsts.push_back(gradient);
  const size_t num_firsts = graph.inputs().size();
  auto seconds = graph.AddBackward(firsts);
  if (!seconds) return stop(seconds.takeError());
  if (llvm::Error error = Compare(call, graph, firsts, num_firsts, *seconds, 2, &report))
    return stop(std::move(error));
  if (report.failures.empty()) report.order = 2;
  return report;
}

}  // namespace pdl
