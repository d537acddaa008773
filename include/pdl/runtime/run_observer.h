// Module: runtime
#ifndef PDL_RUNTIME_RUN_OBSERVER_H_
#define PDL_RUNTIME_RUN_OBSERVER_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Observes the results of the calls of a run (RunOptions::observer) one by one, as they are
/// computed; results are not kept alive for it. Values that a Plan knows before the run are not
/// observed.
class PDL_API RunObserver {
 public:
  /// One result of a call.
  struct Result {
    /// The name of the value. Ragged and sparse values are observed as the tensors of PartsOf.
    llvm::StringRef name;
    /// On the CPU; valid during See().
    const Tensor& tensor;
    /// The operator, and the position of the call: "model.pdl:3:5", or empty.
    llvm::StringRef op;
    llvm::StringRef place;
  };

  virtual ~RunObserver();
  /// Called before the first call with the names of all results, in order. If sizes are
  /// data-dependent, a run consists of several parts, and this is called before each.
  virtual void Begin(llvm::ArrayRef<llvm::StringRef> names);
  /// Whether to call See() with the result `name`; other results are not copied to the CPU.
  virtual bool Observes(llvm::StringRef name) const;
  /// Called with each result. An Error ends the run, which returns it.
  virtual llvm::Error See(const Result& result) = 0;
  /// Called before a run with RunOptions::check_finite fails because of a call, with the name of
  /// the result that has the nan or infinity.
  virtual void SeeNotFinite(llvm::StringRef name);
};

/// Receives the outputs of a run one by one (RunOptions::output_observer).
class PDL_API OutputObserver {
 public:
  virtual ~OutputObserver();
  /// Whether the output stays on the device of the run: SeeOutput then receives it when the calls
  /// that compute it have been launched, and reads it by work of the device's stream only. It is
  /// not stored in the Scope. No effect on the CPU.
  virtual bool TakesOnDevice(llvm::StringRef name) const;
  /// Called once for each output that the run computes, in the thread of the run, as soon as no
  /// further call of the run changes the output; the run may still fail. `tensor` is on the CPU,
  /// unless TakesOnDevice, and valid during the call. An Error ends the run, which returns it.
  virtual llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_RUN_OBSERVER_H_
