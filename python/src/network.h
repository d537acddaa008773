// pdl.Network's core: a network on a device, ready to be called.
#ifndef PYTHON_SRC_NETWORK_H_
#define PYTHON_SRC_NETWORK_H_

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "feed.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"
#include "program.h"

namespace pdl::python {

/// A network and what its calls share. Calls may come from many threads: those of a network without
/// states run side by side, each in a Scope of its own out of a pool; those of one with states one
/// after another, in the one Scope that has them.
class PyNetwork {
 public:
  /// `at_once`: of a call on arrays. Random operators of all those draw from one stream, and no
  /// result is kept for the next run.
  PyNetwork(const Program& program, const std::string& device, int threads,
            nanobind::object weights, uint64_t seed, bool at_once);
  /// The same network with states of its own.
  PyNetwork(const PyNetwork& other);

  /// Of values of a pdl.Graph, which become a part of that: values of it, too.
  nanobind::dict Call(nanobind::args positional, nanobind::kwargs named);
  /// `inputs` is a mapping.
  nanobind::dict Run(nanobind::handle inputs, const RunOptions& options);
  /// Runs on tensors for the inputs; an object for each output, an empty one where it is not
  /// wanted. Throws what went wrong. Needs the GIL, which it gives away meanwhile.
  llvm::SmallVector<nanobind::object, 2> RunOn(const FedTensors& fed, const RunOptions& options);

  std::shared_ptr<const Network> network() const;
  const Program& program() const { return program_; }
  int threads() const { return threads_; }
  uint64_t seed() const;
  std::string device() const { return DeviceToString(context_->device()); }
  std::string Plan(const RunOptions& options, const std::map<std::string, int64_t>& symbols) const;
  /// Runs so many times, on copies of the states: a tuple for each step (operators, result, place,
  /// seconds of all its runs), the seconds of all runs, and a table of it. Ctrl-C ends it between
  /// two runs.
  nanobind::tuple Profile(nanobind::handle inputs, const RunOptions& options, int64_t runs);
  /// With it the values of states that are not the first ones, or that were given.
  llvm::Error Save(const std::string& path);
  /// Becomes the other network, as training has made it; runs that go on finish as they began.
  void Adopt(const PyNetwork& other);
  /// Calls `learn`, which may call Adopt, before this network is used the next time. Needs the GIL.
  void LearnFrom(nanobind::object learn) { learn_ = std::move(learn); }
  /// This, after what it was to learn from. Needs the GIL.
  PyNetwork& Current();

  /// Begins with the first values of states again.
  void Reset();
  /// The values of states now, of all whose sizes are known, on the CPU.
  nanobind::dict States();
  /// The values that it was made with: of parameters, and of states that were given one.
  nanobind::dict FirstValues() const;
  /// `array` has the declared type.
  void SetState(const std::string& name, nanobind::handle array);
  /// The same of a parameter. Makes the network anew.
  void SetParameter(const std::string& name, nanobind::handle array);

 private:
  /// Of an output, whose parts are those tensors from `first` on.
  struct Output {
    std::string name, type;
    nanobind::object key;
    unsigned first, num_parts;
  };
  /// A tensor that an output is kept as. One that is called as an input or a parameter is must not
  /// stay in the Scope, where the next run would find it in place of that.
  struct OutputPart {
    std::string name;
    bool hides;
  };
  void FindOutputs();
  /// A tensor that a run has left in the Scope for an output, which nobody else may write to.
  llvm::Expected<Tensor> TakeOutput(const Network& network, const OutputPart& part, Scope& scope);
  /// A Scope out of the pool, and the network to run in it.
  std::pair<std::unique_ptr<Scope>, std::shared_ptr<const Network>> Take();
  void GiveBack(std::unique_ptr<Scope> scope, const Network* network);
  /// The outputs that what is fed is enough for, in quotes; empty where there are none.
  std::string OutputsFor(const FedTensors& fed) const;
  /// What a run without an input fails with; tells which outputs do without it.
  llvm::Error WithHint(llvm::Error error, const FedTensors& fed, const RunOptions& options) const;
  llvm::Error RunIn(const Network& network, Scope& scope, const FedTensors& fed,
                    const RunOptions& options, llvm::SmallVectorImpl<Tensor>& results);

  /// The network, and its states as they are now in another Scope.
  llvm::Error CopyStates(std::shared_ptr<const Network>* network, Scope* scope);
  /// Whether a state begins with a value that was given, and no initializer made.
  bool IsGiven(const Value& state) const;
  /// The value of a state now; none where the data decide its size and no run has made it. Needs
  /// run_mutex_.
  llvm::Expected<std::optional<Tensor>> StateNow(const Network& network, const Value& state) const;

  Program program_;
  int threads_;
  uint64_t seed_;
  std::shared_ptr<const Network> network_;
  std::shared_ptr<DeviceContext> context_;
  Feed feed_;
  std::vector<Output> outputs_;
  std::vector<OutputPart> output_parts_;
  /// Names of states and parameters that were given a value.
  std::shared_ptr<const std::vector<std::string>> given_;
  bool has_states_ = false, at_once_ = false;
  /// Invalid where there is nothing to learn from.
  nanobind::object learn_;
  /// Null where no call is random; else how many runs there were.
  std::shared_ptr<std::atomic<uint64_t>> random_runs_;

  /// Guards network_, seed_, given_ and scopes_; held for moments only.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  /// Guards states_; held for a whole run, so never waited for with the GIL.
  std::mutex run_mutex_;
  std::unique_ptr<Scope> states_ = std::make_unique<Scope>();
};

void BindNetwork(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_NETWORK_H_
