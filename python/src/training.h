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
#include "llvm/ADT/StringSet.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/train/measured.h"
#include "pdl/train/micro_batches.h"
#include "program.h"
#include "ranks.h"

namespace pdl::python {

/// A network in training, with the current parameters and states. The same sequence of batches
/// gives the same bits. Thread-safe: calls are serialized.
class PyTraining {
 public:
  /// `program` must have been compiled for training. With `ranks`, which must outlive this, they
  /// share the micro-batches of StepInParts; `has_parts`: StepInParts will be called, not Step.
  /// `cpu_sums`: see TrainerOptions.
  PyTraining(const Program& program, const std::string& device, int threads,
             nanobind::object weights, uint64_t seed, bool check_finite,
             const std::string& precision, double average, PyRanks* ranks, bool has_parts,
             bool cpu_sums);

  /// A step on a batch, a dict of arrays. Returns a dict of the losses and other scalar outputs,
  /// with the parameters before the step, and the number of rows. Throws if a loss is not finite;
  /// on the CPU, such a step changes nothing. In f16 it counts as a step, and changes the loss
  /// scale.
  nanobind::tuple Step(nanobind::handle batch);
  /// A step on a batch of `rows` rows that is given in micro-batches of `micro_batch` rows: `parts`
  /// are dicts of arrays, those of MicroBatchesOf this rank. Returns and throws as Step.
  nanobind::tuple StepInParts(nanobind::list parts, int64_t rows, int64_t micro_batch);
  /// Evaluates a batch in inference mode, in f32, without changing states. Returns the same as
  /// Step. `run` is the number of previous runs, which seeds random operators.
  nanobind::tuple Measure(nanobind::handle batch, uint64_t run);
  int64_t step() const { return step_; }
  /// The names of the inputs whose first size is the number of rows. Throws if the first dims of
  /// the inputs are not all the same symbol, so that a batch has no parts.
  std::vector<std::string> RowInputs() const;
  /// A hash of the network of a step.
  std::string Fingerprint() const;
  /// The names of the metrics, losses first.
  const MetricNames& names() const { return names_; }
  /// The current values of parameters and states, on which the next step depends. With `averaged`,
  /// parameters that have a moving average have its value.
  nanobind::dict Values(bool averaged);
  /// If the weights are a file of WriteTensors: the variables that it lacks, and its tensors that
  /// are not those of a variable. Both are empty if the same training was saved.
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& unused() const { return unused_; }
  /// Throws if a trained parameter has become nan or infinite.
  void CheckParameters();
  /// Sets the value of a parameter or a state for the next step. `array` must have the declared
  /// type.
  void Set(const std::string& name, nanobind::handle array);

 private:
  llvm::ArrayRef<std::string> losses() const {
    return llvm::ArrayRef(names_.all).take_front(names_.losses);
  }
  struct StepNetwork {
    std::shared_ptr<const Network> network;
    std::vector<std::string> metrics;
    /// Null unless steps are computed in parts.
    std::shared_ptr<const MicroBatchStep> in_parts;
  };
  void CompareWith(const SafetensorsFile& saved, const Graph& step);
  /// The graph of a step that performs the minimize statements `active`.
  llvm::Expected<Graph> MakeStep(llvm::ArrayRef<unsigned> active) const;
  llvm::Expected<const StepNetwork*> Next();
  /// Runs a step, and returns the values of its metrics. `rows` and `micro_batch` are those of
  /// StepInParts, of which `fed` are the parts; without parts, `fed` is the batch.
  llvm::Expected<std::vector<double>> RunStep(const StepNetwork& next,
                                              llvm::ArrayRef<FedTensors> fed, BatchParts rows);
  llvm::Expected<std::vector<double>> RunParts(const StepNetwork& next,
                                               llvm::ArrayRef<FedTensors> fed, BatchParts rows);
  llvm::Expected<std::vector<double>> RunBatch(const StepNetwork& next, const FedTensors& fed);
  RunOptions OptionsOfRun() const;
  /// Step or StepInParts, without the GIL.
  llvm::Expected<std::vector<double>> StepOnce(llvm::ArrayRef<FedTensors> fed, BatchParts rows,
                                               const StepNetwork** next);
  nanobind::tuple FinishStep(llvm::Expected<std::vector<double>> values, const StepNetwork* next,
                             const FedTensors& fed, int64_t rows) const;
  /// An Error if the value of a loss among the metrics is not finite.
  llvm::Error CheckLoss(llvm::StringRef name, double value) const;
  /// Puts the initial values into the Scope, which the networks of StepInParts share.
  llvm::Error PutInitialValues(const Network& network);
  llvm::Expected<std::vector<double>> RunMeasure(const FedTensors& fed, uint64_t run);
  /// The tensor of that name in the Scope; null if there is none.
  const Tensor* Held(llvm::StringRef name) const;

  Program program_;
  NetworkOptions options_;
  std::unique_ptr<DeviceContext> context_;
  Feed feed_;
  PyRanks* ranks_;
  const bool cpu_sums_;
  /// Null if gradients are added on the CPU, and before the first step in parts.
  std::shared_ptr<DeviceRanks> device_ranks_;
  bool has_joined_device_ = false;
  const bool has_parts_;
  bool check_finite_;
  /// The decay of the moving averages; 0: none.
  double average_;
  /// The state with the scale of the losses; empty if they are not scaled.
  std::string scale_state_;
  /// The name of the number of runs in checkpoints, which seeds random operators; without
  /// micro-batches it is the number of steps.
  std::string runs_name_;
  std::vector<std::string> missing_, unused_;
  /// Variables that Set has made nan or infinite.
  llvm::StringSet<> given_;
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
