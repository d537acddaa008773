// Training steps with scaled gradients, which may overflow.
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

/// The outcome of a step.
struct ScaledStep {
  /// The scale of the losses.
  double scale = 0;
  /// Whether a gradient was not finite, so that the step only changed the scale.
  bool is_skipped = false;
};

/// Runs the network of a step that was transformed by ScaleGradients; `state` is the state that
/// holds the scale. Returns an Error of Code::kNotFinite if a gradient is not finite even with the
/// smallest scale; no state has changed then.
///
/// Gradients that overflow are not an error while the scale can decrease: with run.check_finite, a
/// NaN or an infinity in a skipped step is ignored if all `losses` (names of outputs) are finite.
PDL_API llvm::Expected<ScaledStep> RunScaledStep(const Network& network, llvm::StringRef state,
                                                 llvm::ArrayRef<std::string> losses, RunOptions run,
                                                 Scope* scope, DeviceContext* context);

}  // namespace pdl

#endif  // PDL_TRAIN_SCALED_STEP_H_
