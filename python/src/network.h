// The base class of pdl.Network: a network on a device.
#ifndef PYTHON_SRC_NETWORK_H_
#define PYTHON_SRC_NETWORK_H_

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feed.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "program.h"

namespace pdl::python {

/// A network and its Scopes. Thread-safe: runs of a network without states are concurrent, each in
/// a Scope from a pool; runs of a network with states are serialized and share one Scope.
class PyNetwork {
 public:
  /// `at_once`: the network of an eager call. Random operators of all eager calls share one
  /// sequence of numbers, and the memory of results is not reused by the next run.
  PyNetwork(const Program& program, const std::string& device, int threads,
            nanobind::object weights, uint64_t seed, bool at_once, const std::string& precision);
  /// The same network with separate states.
  PyNetwork(const PyNetwork& other);

  /// Runs on arrays, or if there are values of a pdl.Graph, adds the network to the graph.
  nanobind::dict Call(nanobind::args positional, nanobind::kwargs named);
  /// Runs on a dict of arrays and returns the requested outputs by name.
  nanobind::dict Run(nanobind::handle inputs, const RunOptions& options);
  /// Runs on tensors for the inputs. Returns an object for each output, an empty one for outputs
  /// that are not requested. Throws if the run fails. Needs the GIL, and releases it during the
  /// run.
  llvm::SmallVector<nanobind::object, 2> RunOn(const FedTensors& fed, const RunOptions& options);

  std::shared_ptr<const Network> network() const;
  const Program& program() const { return program_; }
  int threads() const { return threads_; }
  std::string precision() const { return DTypeName(precision_).str(); }
  uint64_t seed() const;
  std::string device() const { return DeviceToString(context_->device()); }
  std::string Plan(const RunOptions& options, const std::map<std::string, int64_t>& symbols) const;
  /// Runs `runs` times, on copies of the states. Returns a list with a tuple for each step
  /// (operators, result, source location, seconds of all its runs), the seconds of all runs, and a
  /// table. Ctrl-C takes effect between two runs.
  nanobind::tuple Profile(nanobind::handle inputs, const RunOptions& options, int64_t runs);
  /// Saves the network with its parameters, and states that were given or have changed.
  llvm::Error Save(const std::string& path);
  /// The number of a training, and of its steps.
  using TrainingStep = std::pair<uint64_t, int64_t>;
  /// Becomes the other network, which is the result of this step; does nothing if it is that of a
  /// later step already, since two threads may use a network. Runs in progress are not affected.
  void Adopt(const PyNetwork& other, TrainingStep step);
  /// Calls `learn`, which may call Adopt, before the next use of this network. Needs the GIL.
  void LearnFrom(nanobind::object learn) { learn_ = std::move(learn); }
  /// This network, after a call of the function of LearnFrom. Needs the GIL.
  PyNetwork& Current();

  /// Resets states to their initial values.
  void Reset();
  /// The current values of all states whose sizes are known, on the CPU.
  nanobind::dict States();
  /// The values of parameters, and the initial values of states that were given one.
  nanobind::dict FirstValues() const;
  /// Sets the current value of a state. `array` must have the declared type.
  void SetState(const std::string& name, nanobind::handle array);
  /// Sets the value of a parameter, which creates the network again.
  void SetParameter(const std::string& name, nanobind::handle array);

 private:
  /// An output. Its parts are output_parts_[first, first + num_parts).
  struct Output {
    std::string name, type;
    nanobind::object key;
    unsigned first, num_parts;
  };
  /// A tensor of an output. `hides`: an input or a parameter has the same name, so the tensor must
  /// be removed from the Scope, or the next run would use it instead.
  struct OutputPart {
    std::string name;
    bool hides;
  };
  void FindOutputs();
  /// The tensor of an output after a run, copied if a later run would overwrite it.
  llvm::Expected<Tensor> TakeOutput(const Network& network, const OutputPart& part, Scope& scope);
  /// A Scope from the pool, and the network to run in it.
  std::pair<std::unique_ptr<Scope>, std::shared_ptr<const Network>> Take();
  void Return(std::unique_ptr<Scope> scope, const Network* network);
  /// The names of the outputs that can be computed from these inputs, quoted; empty if there are
  /// none.
  std::string OutputsFor(const FedTensors& fed) const;
  /// The error of a run; for a missing input with a hint which outputs do not depend on it.
  llvm::Error WithHint(llvm::Error error, const FedTensors& fed, const RunOptions& options) const;
  llvm::Error RunIn(const Network& network, Scope& scope, const FedTensors& fed,
                    const RunOptions& options, llvm::SmallVectorImpl<Tensor>& results);

  /// Returns the network, and copies the current states to another Scope.
  llvm::Error CopyStates(std::shared_ptr<const Network>* network, Scope* scope);
  /// Whether the initial value of a state was given, not computed by an initializer.
  bool IsGiven(const Value& state) const;
  /// The current value of a state; nullopt if its size is data-dependent and no run has computed
  /// it. Needs run_mutex_.
  llvm::Expected<std::optional<Tensor>> StateNow(const Network& network, const Value& state) const;

  Program program_;
  int threads_;
  DType precision_;
  uint64_t seed_;
  std::shared_ptr<const Network> network_;
  std::shared_ptr<DeviceContext> context_;
  Feed feed_;
  std::vector<Output> outputs_;
  std::vector<OutputPart> output_parts_;
  /// Names of states and parameters that were given a value.
  std::shared_ptr<const std::vector<std::string>> given_;
  bool has_states_ = false, at_once_ = false;
  /// The function of LearnFrom, or invalid.
  nanobind::object learn_;
  /// Of the last Adopt.
  TrainingStep adopted_ = {0, 0};
  /// The number of runs; null if no call is random.
  std::shared_ptr<std::atomic<uint64_t>> random_runs_;

  /// Guards network_, seed_, given_, adopted_ and scopes_; never held during runs.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  /// Guards states_; held during a run, so it must not be locked with the GIL.
  std::mutex run_mutex_;
  std::unique_ptr<Scope> states_ = std::make_unique<Scope>();
};

void BindNetwork(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_NETWORK_H_
