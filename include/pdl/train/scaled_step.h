// Steps of training in which gradients may overflow.
// Module: runtime
#ifndef PDL_TRAIN_SCALED_STEP_H_
#define PDL_TRAIN_SCALED_STEP_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// What a step did.
struct ScaledStep {
  /// What the losses were scaled by.
  double scale = 0;
  /// A gradient was not finite, so the step changed nothing but the scale.
  bool is_skipped = false;
};

/// Runs the network of a step that ScaleGradients was given; `state` is the state that scales. An
/// Error of Code::kNotFinite where a gradient is not finite however small the scale has become.
///
/// Gradients that overflow are no mistake while the scale can fall: with run.check_finite what is
/// found in a step that is skipped is passed over, if all `losses` (names of outputs) are finite. A
/// step that fails so has changed no state.
PDL_API llvm::Expected<ScaledStep> RunScaledStep(const Network& network, llvm::StringRef state,
                                                 llvm::ArrayRef<std::string> losses, RunOptions run,
                                                 Scope* scope, DeviceContext* context);

}  // namespace pdl

#endif  // PDL_TRAIN_SCALED_STEP_H_
