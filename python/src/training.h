// Steps of training on batches that Python gives.
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

/// A network that is being trained, with the values that steps have given to what is learned. The
/// same batches, in their order, give the same bits. Calls from several threads come one after
/// another.
class PyTraining {
 public:
  /// `program` was compiled for training.
  PyTraining(const Program& program, const std::string& device, int threads,
             nanobind::object weights, uint64_t seed, bool check_finite,
             const std::string& precision);

  /// One step on a batch, a dict of arrays: what the losses and the other outputs that are one
  /// number were before it, and how many rows the batch has. Throws where a loss is not finite.
  nanobind::tuple Step(nanobind::handle batch);
  /// The same of what the network computes in inference mode, in f32; changes nothing. `run`: how
  /// many such runs random operators are to have seen.
  nanobind::tuple Measure(nanobind::handle batch, uint64_t run);
  int64_t step() const { return step_; }
  /// What steps report, losses first.
  const MetricNames& names() const { return names_; }
  /// The values of parameters and states now: all that the next step depends on.
  nanobind::dict Values();

 private:
  llvm::ArrayRef<std::string> losses() const {
    return llvm::ArrayRef(names_.all).take_front(names_.losses);
  }
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> metrics;
  };
  /// The network of a step that does the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  llvm::Expected<const StepNetwork*> Next();
  llvm::Expected<std::vector<double>> RunStep(const StepNetwork& next, const FedTensors& fed);
  llvm::Expected<std::vector<double>> RunMeasure(const FedTensors& fed, uint64_t run);

  Program program_;
  NetworkOptions options_;
  std::unique_ptr<DeviceContext> context_;
  Feed feed_;
  bool check_finite_;
  /// The state that is the scale of the losses; empty where they are not scaled.
  std::string scale_state_;
  /// Held for a whole step, so never waited for with the GIL. Guards what follows.
  std::mutex mutex_;
  Scope scope_;
  /// By the minimize statements that a step does.
  std::map<std::vector<unsigned>, StepNetwork> networks_;
  /// Made when something is measured.
  std::shared_ptr<const Network> evaluation_;
  MetricNames names_;
  /// The state that counts the steps, where nothing in the network does.
  std::string step_counter_;
  std::atomic<int64_t> step_ = 0;
};

void BindTraining(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TRAINING_H_
