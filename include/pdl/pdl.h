// The C++ interface of pdl: load a network, run it, train it. A program needs libpdl.so, this
// header and those that it includes; no other library's headers.
//
//   pdl::Result<pdl::Model> model = pdl::Model::Load("model.pdl");
//   if (!model.ok()) return std::cerr << model.status().ToString() << '\n', 1;
//   std::vector<float> x = {0, 1, 2, -1};
//   pdl::Result<pdl::Arrays> outputs = model->Run({{"x", pdl::Array::View(x.data(), {2, 2})}});
//   if (!outputs.ok()) return std::cerr << outputs.status().ToString() << '\n', 1;
//   const float* y = outputs->at("y").As<float>();
//
// Threads: a Model is immutable and may be used by any number of threads at once. A Session may be
// used by one thread at a time, except for Session::Cancel.
// Memory: inputs are read in place during a call and never written; see Array.
// Errors are values of type Status. A function that returns a Status or a Result never throws and
// never ends the program, whatever its arguments. With a Model or Session that was moved from, it
// returns an Error, and other functions return nothing and do nothing.
// Module: model
#ifndef PDL_PDL_H_
#define PDL_PDL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/dtype_enum.h"
#include "pdl/weight_rules.h"

namespace pdl {

/// "major.minor.patch" of the libpdl.so that is loaded.
PDL_API const char* Version();

/// The most memory, in bytes, that all tensors of the process on the CPU may take together; by
/// default three quarters of the machine's. A run that needs more returns an Error with the code
/// PDL0506. May be set at any time; memory that is in use remains.
PDL_API int64_t MemoryLimit();
PDL_API void SetMemoryLimit(int64_t bytes);

/// The outcome of an operation: success, or its errors. Cheap to copy.
class PDL_API Status {
 public:
  enum class Kind : uint8_t {
    kOk,
    /// The request is invalid: a source, a file, an input. Has a code.
    kError,
    /// The device failed: out of memory, no such device, an error of a library. Has no code.
    kDeviceError,
    /// The run was ended by Session::Cancel or by a callback.
    kCancelled,
  };

  /// Success.
  Status() = default;
  /// Whether the operation succeeded.
  bool ok() const { return detail_ == nullptr; }
  Kind kind() const;
  /// The kind of error, stable across versions: "PDL0301", which `pdl explain PDL0301` explains.
  /// Empty if there is none.
  const std::string& code() const;
  /// The first error in one line, without position and code.
  const std::string& message() const;
  /// The position of the first error in a source; line and column count from 1. "" and 0 if it has
  /// none.
  const std::string& file() const;
  int line() const;
  int column() const;
  /// All errors with their source lines, as `pdl check` prints them; "ok" for success.
  std::string ToString() const;

  /// Implementation; constructed by libpdl only.
  struct Detail;
  explicit Status(std::shared_ptr<const Detail> detail) : detail_(std::move(detail)) {}

 private:
  std::shared_ptr<const Detail> detail_;
};

/// A value, or the Status that explains why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: so is an error

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  /// Requires ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Returns the value. Throws std::runtime_error with the errors if there is none.
  T& value() & { return Require(), *value_; }
  T value() && { return Require(), std::move(*value_); }

 private:
  void Require() const {
    if (!ok()) throw std::runtime_error(status_.ToString());
  }
  std::optional<T> value_;
  Status status_;
};

/// The dtype that corresponds to a C++ type; f16 and bf16 have no C++ type.
template <class T>
inline constexpr DType kDTypeOf = DType{};
template <>
inline constexpr DType kDTypeOf<float> = DType::kF32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kF64;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kI8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kI16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kI64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kU8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kU16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kU32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kU64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;

/// A dense tensor in CPU memory: its elements in row-major order, without gaps. If `owner` is null
/// it is a view of memory owned by the caller; otherwise the memory is valid as long as a copy of
/// `owner` exists.
struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  /// May be null if there are no elements. A bool is a byte, 0 or 1: other bytes in an input are an
  /// Error.
  void* data = nullptr;
  std::shared_ptr<const void> owner;

  /// Returns a view of `data`, which must hold all elements of `sizes` and outlive the view.
  template <class T>
  static Array View(T* data, std::vector<int64_t> sizes) {
    static_assert(kDTypeOf<std::remove_const_t<T>> != DType{}, "no dtype has this C++ type");
    return {kDTypeOf<std::remove_const_t<T>>, std::move(sizes),
            const_cast<std::remove_const_t<T>*>(data), nullptr};
  }
  /// Returns the elements, or null if `dtype` is not that of T.
  template <class T>
  T* As() const {
    return dtype == kDTypeOf<std::remove_const_t<T>> ? static_cast<T*>(data) : nullptr;
  }
  /// The number of elements: the product of the sizes.
  int64_t num_elements() const {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }
};

/// Arrays by name. A ragged or sparse value consists of several arrays: "x", "x.offsets",
/// "x.indices" (see docs/language.md).
using Arrays = std::map<std::string, Array>;

/// The declaration of an input, output, parameter or state of a model.
struct ValueInfo {
  std::string name;
  /// The type in the language: "f32[N, 784]".
  std::string type;
  DType dtype = DType::kF32;
  /// The size of each dim; -1 if it is only known in a run.
  std::vector<int64_t> sizes;
  /// False for ragged and sparse values.
  bool is_dense = true;
  /// The documentation comment in the source.
  std::string comment;
};

/// Options for loading and running a model.
struct ModelOptions {
  /// The device: "cpu", "cuda" or "cuda:1".
  std::string device = "cpu";
  /// The number of CPU threads; 0: as many as the process may use.
  int threads = 0;
  /// Seed of initial parameters and random operators.
  uint64_t seed = 0;
  /// Values of the source's attrs, written as in the language: {"width", "512"}. For an ONNX model:
  /// inputs that become constants, and symbolic sizes that become constants.
  std::map<std::string, std::string> settings;
  /// Path of a safetensors file with values of parameters and states, of an index of such files, or
  /// a pattern of their names, "model-*.safetensors"; or empty. Relative to the working directory.
  std::string weights;
  /// How the tensors of `weights` become parameters and states, see docs/weights.md.
  WeightRules weight_rules;
  /// The folder that imports, and the weights that the source loads, are relative to; empty: the
  /// file's own folder.
  std::string folder;
  /// kF32, or kBF16 or kF16 to compute f32 matmuls and convolutions in that dtype. On a CPU, kBF16
  /// rounds weights of matmuls, on some processors both operands, to bf16, and sums and results
  /// stay f32; docs/kernels.md says which. If it has no effect on the processor, warnings() says
  /// so. On CUDA, and in training, mixed precision: see docs/training.md.
  DType precision = DType::kF32;
  /// Paths of plugins, shared libraries with operators. Each is loaded once per process.
  std::vector<std::string> plugins;
};

/// Options of one run.
struct RunRequest {
  /// The outputs to compute; empty: all. Inputs that none of them and no `update` depends on may be
  /// missing.
  std::vector<std::string> outputs;
  /// The value of `training` in the network.
  bool training = false;
  /// Fail if a call returns a NaN or an infinity that none of its operands has. Slow.
  bool check_finite = false;
  /// Fail if an index of a call is outside the axis that it selects from. Slow.
  bool check_indices = false;
};

/// A metric of training: a loss, or an output with one element.
struct TrainingMetric {
  std::string name;
  double value = 0;
};

/// The results of one epoch.
struct EpochResult {
  int64_t epoch = 0;  // from 1
  int64_t step = 0;   // number of steps done
  /// Means over the rows of the epoch.
  std::vector<TrainingMetric> training;
  /// The metrics on the validation data; empty if there are none.
  std::vector<TrainingMetric> validation;
  bool is_best = false;
};

/// Options of training.
struct TrainRequest {
  /// The number of rows in a batch.
  int64_t batch_size = 32;
  /// Training ends after this number of epochs or steps, whichever comes first; 0: no limit. At
  /// least one of them must be larger than 0.
  int64_t epochs = 1;
  int64_t steps = 0;
  /// Shuffles the rows in each epoch.
  bool shuffle = true;
  /// Validation data, on which the metrics are computed after each epoch; empty: none.
  Arrays validation;
  /// Training ends after this number of epochs without an improvement; 0: never.
  int64_t patience = 0;
  /// Keeps moving averages of the parameters with this decay, usually 0.99 to 0.9999: each step
  /// moves them by the fraction 1 - average towards the parameters. They are the parameters of the
  /// trained model, and of evaluations. 0: none.
  double average = 0;
  /// An existing folder for checkpoints; empty: none.
  std::string folder;
  /// Called after each epoch; may be empty. Training ends if it returns false. If the caller of
  /// Train has a small stack, another thread calls it.
  std::function<bool(const EpochResult&)> on_epoch;
};

class Session;
struct TrainedModel;

/// A loaded network with its weights. Copies share both. Immutable and thread-safe.
class PDL_API Model {
 public:
  /// Loads source (.pdl), a compiled network (.pdlc) or an ONNX model (.onnx). Files of weights are
  /// mapped, not read: while a model exists, replace them by other files, as Save does. A file that
  /// is shortened ends the program by SIGBUS when its weights are read.
  static Result<Model> Load(const std::string& path, const ModelOptions& options = {});
  /// Compiles source. `name` is its file name in messages.
  static Result<Model> FromSource(const std::string& source, const ModelOptions& options = {},
                                  const std::string& name = "<source>");
  /// Loads a model of `size` bytes in memory, which are copied, as Load does with a file of that
  /// `name`: its extension is the format; another extension is an Error. Other files that it refers
  /// to are relative to `options.folder`, or if that is empty, to the working directory.
  static Result<Model> FromBytes(const void* data, size_t size, const std::string& name,
                                 const ModelOptions& options = {});

  /// The declarations of the inputs, outputs, parameters and states.
  std::vector<ValueInfo> inputs() const;
  std::vector<ValueInfo> outputs() const;
  std::vector<ValueInfo> parameters() const;
  std::vector<ValueInfo> states() const;
  /// The compiler's warnings, as `pdl check` prints them; empty if there are none.
  const std::string& warnings() const;
  /// Returns a copy of a parameter's value, or of a state's initial value.
  Result<Array> Value(const std::string& name) const;

  /// Runs the model once in a new Session, with initial states.
  Result<Arrays> Run(const Arrays& inputs, const RunRequest& request = {}) const;
  /// Creates a Session, which keeps states from run to run.
  Session NewSession() const;

  /// Trains the network according to its `minimize` statements. Each input gets the array of its
  /// name in `data`, whose rows are the examples. Returns a new model and does not change this one.
  /// A model of Load reads its files again, by the same path: they must be as they were. An
  /// exception of `request.on_epoch` is passed on. ONNX models cannot be trained, because they have
  /// no `minimize`.
  Result<TrainedModel> Train(const Arrays& data, const TrainRequest& request = {}) const;

  /// Saves the network, as source if `path` ends in .pdl, else compiled, and its weights in a
  /// .safetensors file next to it; or if it ends in .onnx, as an ONNX model for inference. The
  /// weights of "m.pdl" or "m.pdlc" are in "m.safetensors"; if that file exists, and `path` did not
  /// refer to it or the other of "m.pdl" and "m.pdlc" does, they are in "m.pdl.safetensors" or
  /// "m.pdlc.safetensors". The weights of any other `path` are in `path` + ".safetensors".
  [[nodiscard]] Status Save(const std::string& path) const;

  /// Implementation; constructed by libpdl only.
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  friend class Session;
  friend struct ModelAccess;
  std::shared_ptr<const Impl> impl_;
};

/// The result of Model::Train.
struct TrainedModel {
  /// The network with the trained parameters and states.
  Model model;
  std::vector<EpochResult> epochs;
};

/// A sequence of runs of a model that share the network's states. Used by one thread at a time.
class PDL_API Session {
 public:
  /// Creates a session in which all states have their initial values.
  explicit Session(Model model);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Computes outputs. A failing run changes no state. The returned arrays own their memory, which
  /// later runs reuse once no copy of them exists.
  Result<Arrays> Run(const Arrays& inputs, const RunRequest& request = {});
  /// As above, into the caller's memory: `outputs` has an array for each output to compute, with
  /// the dtype and sizes that this run gives it. Of a ragged or sparse output, which consists of
  /// several arrays ("y", "y.offsets"), only those in `outputs` are written. `request.outputs` must
  /// be empty.
  /// Results are computed in that memory where possible, else copied to it. The arrays must not
  /// overlap each other; an input that overlaps one is copied before the run. After an error, some
  /// of them may have been written.
  [[nodiscard]] Status RunInto(const Arrays& inputs, const Arrays& outputs,
                               const RunRequest& request = {});

  /// Returns a copy of a state's value; before the first run, of its initial value, which is an
  /// Error if its sizes depend on the inputs.
  Result<Array> State(const std::string& name) const;
  /// Sets a state to a copy of `value`, which must have the state's dtype, rank and known sizes,
  /// and elements in its declared range.
  [[nodiscard]] Status SetState(const std::string& name, const Array& value);
  /// Resets all states to their initial values.
  void Reset();

  /// Cancels the run in progress, or else the next one. Loops, matmuls and convolutions end early;
  /// other calls, such as svd and sort, run to their end before the run does. May be called from
  /// any thread.
  void Cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_PDL_H_
