// Training on batches from Python.
#ifndef PYTHON_SRC_TRAINING_H_
#define PYTHON_SRC_TRAINING_H_

#include <nanobind/nanobind.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "feed.h"
#include "llvm/ADT/ArrayRef.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/train/measured.h"
#include "program.h"

namespace pdl::python {

/// A network in training, with the current parameters and states. The same sequence of batches
/// gives the same bits. Thread-safe: calls are serialized.
class PyTraining {
 public:
  /// `program` must have been compiled for training.
  PyTraining(const Program& program, const std::string& device, int threads,
             nanobind::object weights, uint64_t seed, bool check_finite,
             const std::string& precision, double average);

  /// A step on a batch, a dict of arrays. Returns a dict of the losses and other scalar outputs,
  /// with the parameters before the step, and the number of rows. Throws if a loss is not finite.
  nanobind::tuple Step(nanobind::handle batch);
  /// Evaluates a batch in inference mode, in f32, without changing states. Returns the same as
  /// Step. `run` is the number of previous runs, which seeds random operators.
  nanobind::tuple Measure(nanobind::handle batch, uint64_t run);
  int64_t step() const { return step_; }
  /// The names of the metrics, losses first.
  const MetricNames& names() const { return names_; }
  /// The current values of parameters and states, on which the next step depends. With `averaged`,
  /// parameters that have a moving average have its value.
  nanobind::dict Values(bool averaged);

 private:
  llvm::ArrayRef<std::string> losses() const {
    return llvm::ArrayRef(names_.all).take_front(names_.losses);
  }
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> metrics;
  };
  /// The graph of a step that performs the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  llvm::Expected<const StepNetwork*> Next();
  llvm::Expected<std::vector<double>> RunStep(const StepNetwork& next, const FedTensors& fed);
  llvm::Expected<std::vector<double>> RunMeasure(const FedTensors& fed, uint64_t run);
  /// The tensor of that name in the Scope; null if there is none.
  const Tensor* Held(llvm::StringRef name) const;

  Program program_;
  NetworkOptions options_;
  std::unique_ptr<DeviceContext> context_;
  Feed feed_;
  bool check_finite_;
  /// The decay of the moving averages; 0: none.
  double average_;
  /// The state with the scale of the losses; empty if they are not scaled.
  std::string scale_state_;
  /// Held during a step, so it must not be locked with the GIL. Guards the following members.
  std::mutex mutex_;
  Scope scope_;
  /// By the minimize statements that a step performs.
  std::map<std::vector<unsigned>, StepNetwork> networks_;
  /// Created by the first Measure.
  std::shared_ptr<const Network> evaluation_;
  MetricNames names_;
  /// The state that counts the steps, if the network itself does not.
  std::string step_counter_;
  std::atomic<int64_t> step_ = 0;
};

void BindTraining(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TRAINING_H_
