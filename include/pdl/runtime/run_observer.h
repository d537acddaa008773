// Module: runtime
#ifndef PDL_RUNTIME_RUN_OBSERVER_H_
#define PDL_RUNTIME_RUN_OBSERVER_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Sees what the calls of a run give (RunOptions::observer), one after another, as they are
/// computed; nothing is kept for it. What a Plan knows before anything runs is no call of the run.
class PDL_API RunObserver {
 public:
  /// A result of a call.
  struct Result {
    /// Of the value; ragged and sparse ones are seen as the tensors of PartsOf.
    llvm::StringRef name;
    /// On the CPU, for as long as See() lasts.
    const Tensor& tensor;
    /// The operator, and where it was called: "model.pdl:3:5", or empty.
    llvm::StringRef op;
    llvm::StringRef place;
  };

  virtual ~RunObserver();
  /// Before the first call, with the names of all results to come, in order. Where the data decide
  /// sizes a run has several parts, and this is said before each.
  virtual void Begin(llvm::ArrayRef<llvm::StringRef> names);
  /// Whether See() is to be called with the result of that name: what is not wanted is not brought
  /// to the CPU.
  virtual bool Wants(llvm::StringRef name) const;
  /// An Error ends the run, which returns it.
  virtual llvm::Error See(const Result& result) = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_RUN_OBSERVER_H_
