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
#include "pdl/device_context.h"
#include "pdl/network.h"
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

  /// One step on a batch, a dict of arrays: what the outputs of one element were before it, losses
  /// first. Throws where a loss is not finite.
  nanobind::dict Step(nanobind::handle batch);
  int64_t step() const { return step_; }
  /// The values of parameters and states now: all that the next step depends on.
  nanobind::dict Values();

 private:
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> metrics;
  };
  /// The network of a step that does the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  llvm::Expected<const StepNetwork*> Next();
  llvm::Expected<std::vector<double>> RunStep(const StepNetwork& next, const FedTensors& fed);

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
  std::vector<std::string> losses_;
  std::atomic<int64_t> step_ = 0;
};

void BindTraining(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_TRAINING_H_
