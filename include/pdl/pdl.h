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
// Threads: a Model is immutable and may be used by any number of threads at once. A Session is used
// by one thread at a time, but for Session::Cancel.
// Memory: inputs are read in place during a call and never written; see Array.
// Errors are values of type Status. A function that returns one never throws and never ends the
// program, whatever it is given.
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

namespace pdl {

/// "major.minor.patch" of the libpdl.so that the program runs with.
PDL_API const char* Version();

/// How an operation ended.
class PDL_API Status {
 public:
  enum class Kind : uint8_t {
    kOk,
    /// What was given is wrong: a source, a file, an input. It has a code.
    kError,
    /// The device failed: it is out of memory, missing, or a library failed. No code.
    kDeviceError,
    /// A run that Session::Cancel or a callback ended.
    kCancelled,
  };

  /// Success.
  Status() = default;
  bool ok() const { return detail_ == nullptr; }
  Kind kind() const;
  /// "PDL0301": what kind of error it is, the same in all versions; `pdl explain PDL0301` explains
  /// it. Empty where there is none.
  const std::string& code() const;
  /// The first error in one line, without its position and code.
  const std::string& message() const;
  /// The position of the first error in a source, lines and columns from 1; "" and 0 where it has
  /// none.
  const std::string& file() const;
  int line() const;
  int column() const;
  /// All errors with their source lines, as `pdl check` prints them; "ok" for success.
  std::string ToString() const;

  /// Made by libpdl.
  struct Detail;
  explicit Status(std::shared_ptr<const Detail> detail) : detail_(std::move(detail)) {}

 private:
  std::shared_ptr<const Detail> detail_;
};

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: so is an error

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  /// Requires ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// The value; throws std::runtime_error with the errors where there is none.
  T& value() & { return Require(), *value_; }
  T value() && { return Require(), std::move(*value_); }

 private:
  void Require() const {
    if (!ok()) throw std::runtime_error(status_.ToString());
  }
  std::optional<T> value_;
  Status status_;
};

/// The dtype of a C++ type; f16 and bf16 have none.
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

/// A dense tensor in the memory of the CPU: its elements in row-major order, without gaps. A view
/// of memory of the caller, or, where `owner` is set, memory that lives as long as a copy of
/// `owner` does.
struct Array {
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  /// May be null where there are no elements.
  void* data = nullptr;
  std::shared_ptr<const void> owner;

  /// A view of `data`, which must hold as many elements as `sizes` say and outlive the view.
  template <class T>
  static Array View(T* data, std::vector<int64_t> sizes) {
    static_assert(kDTypeOf<std::remove_const_t<T>> != DType{}, "no dtype has this C++ type");
    return {kDTypeOf<std::remove_const_t<T>>, std::move(sizes),
            const_cast<std::remove_const_t<T>*>(data), nullptr};
  }
  /// The elements; null where `dtype` is not that of T.
  template <class T>
  T* As() const {
    return dtype == kDTypeOf<std::remove_const_t<T>> ? static_cast<T*>(data) : nullptr;
  }
  /// The product of the sizes.
  int64_t num_elements() const {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }
};

/// Arrays by name. A ragged or sparse value is several arrays: "x", "x.offsets", "x.indices" (see
/// docs/language.md).
using Arrays = std::map<std::string, Array>;

/// An input, output, parameter or state of a model.
struct ValueInfo {
  std::string name;
  /// As the language writes it: "f32[N, 784]".
  std::string type;
  DType dtype = DType::kF32;
  /// The size of each dim, -1 where a run decides it.
  std::vector<int64_t> sizes;
  /// Neither ragged nor sparse.
  bool is_dense = true;
  /// The documentation that the source gives it.
  std::string comment;
};

/// How a model is loaded and run.
struct ModelOptions {
  /// "cpu", "cuda" or "cuda:1".
  std::string device = "cpu";
  /// Threads on the CPU; 0: as many as the process may use.
  int threads = 0;
  /// Of initial parameters and random operators.
  uint64_t seed = 0;
  /// Values of the source's attrs, written as in the language: {"width", "512"}. Of an ONNX model:
  /// inputs that become constants, and sizes that become numbers.
  std::map<std::string, std::string> settings;
  /// A safetensors file with values of parameters and states; or empty.
  std::string weights;
  /// The folder that imports and weights are relative to; empty: the file's own.
  std::string folder;
  /// kF32; kBF16 or kF16 compute matmul and convolutions of f32 in that dtype (mixed precision).
  DType precision = DType::kF32;
  /// Shared libraries with operators. They are loaded once for the process.
  std::vector<std::string> plugins;
};

/// What a run computes.
struct RunRequest {
  /// The outputs to compute; empty: all. Inputs that none of them needs may be missing.
  std::vector<std::string> outputs;
  /// The value of `training` in the network.
  bool training = false;
  /// The run ends with an error where a call gives a nan or an infinity that none of its operands
  /// has. Slow.
  bool check_finite = false;
};

/// A loss, or an output of one element, of a training.
struct TrainingMetric {
  std::string name;
  double value = 0;
};

/// One epoch of a training.
struct EpochResult {
  int64_t epoch = 0;  // from 1
  int64_t step = 0;   // steps done
  /// Means over the rows of the epoch.
  std::vector<TrainingMetric> training;
  /// Of the validation data; empty where there are none.
  std::vector<TrainingMetric> validation;
  bool is_best = false;
};

/// How a model is trained.
struct TrainRequest {
  /// Rows of a batch.
  int64_t batch_size = 32;
  /// The training ends after so many epochs, or steps, whichever comes first; 0 is no limit.
  int64_t epochs = 1;
  int64_t steps = 0;
  /// Takes the rows in another order in each epoch.
  bool shuffle = true;
  /// Data that each epoch is measured by; empty: none.
  Arrays validation;
  /// Ends after so many epochs without a better one; 0: never.
  int64_t patience = 0;
  /// An existing folder for checkpoints; empty: none.
  std::string folder;
  /// Called after each epoch; returning false ends the training. May be empty.
  std::function<bool(const EpochResult&)> on_epoch;
};

class Session;
struct TrainedModel;

/// A loaded network with its weights. Copies share it.
class PDL_API Model {
 public:
  /// Loads source (.pdl), a compiled network (.pdlc) or an ONNX model (.onnx).
  static Result<Model> Load(const std::string& path, const ModelOptions& options = {});
  /// Compiles source. `name` is what messages call it.
  static Result<Model> FromSource(const std::string& source, const ModelOptions& options = {},
                                  const std::string& name = "<source>");

  std::vector<ValueInfo> inputs() const;
  std::vector<ValueInfo> outputs() const;
  std::vector<ValueInfo> parameters() const;
  std::vector<ValueInfo> states() const;
  /// What the compiler warned of, as `pdl check` prints it; empty where it did not.
  const std::string& warnings() const;
  /// A copy of a parameter's value, or of a state's initial value.
  Result<Array> Value(const std::string& name) const;

  /// One run in a new Session: states have their initial values.
  Result<Arrays> Run(const Arrays& inputs, const RunRequest& request = {}) const;
  /// What keeps states from run to run.
  Session NewSession() const;

  /// Trains the network by its `minimize` statements, on arrays of which each row is an example for
  /// the input of that name. The model itself does not change. Of an ONNX model an error: it has no
  /// `minimize`.
  Result<TrainedModel> Train(const Arrays& data, const TrainRequest& request = {}) const;

  /// Writes the network as source where `path` ends in .pdl, else compiled, and its weights to a
  /// .safetensors file next to it.
  Status Save(const std::string& path) const;

  /// Made by libpdl.
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  friend class Session;
  std::shared_ptr<const Impl> impl_;
};

/// What Model::Train gives.
struct TrainedModel {
  /// The network with the parameters and states that were learned.
  Model model;
  std::vector<EpochResult> epochs;
};

/// Runs of a model, one after another, that share the network's states.
class PDL_API Session {
 public:
  explicit Session(Model model);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Computes outputs. An error of a run changes no state. The arrays own their memory; it is used
  /// again by a later run once no copy of them is left.
  Result<Arrays> Run(const Arrays& inputs, const RunRequest& request = {});
  /// The same into memory of the caller: `outputs` has an array for each output that is wanted, of
  /// the dtype and the sizes that the run gives it. An error may leave some of them written.
  Status RunInto(const Arrays& inputs, const Arrays& outputs, const RunRequest& request = {});

  /// A copy of a state's value; its initial value before the first run.
  Result<Array> State(const std::string& name) const;
  Status SetState(const std::string& name, const Array& value);
  /// All states have their initial values again.
  void Reset();

  /// Ends the run in progress, or else the next one, before its next call. From any thread.
  void Cancel();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_PDL_H_
