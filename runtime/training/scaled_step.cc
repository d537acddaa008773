#include "pdl/train/scaled_step.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/runtime/io.h"

namespace pdl {
namespace {

class StepRun {
 public:
  StepRun(const Network& network, llvm::StringRef state, llvm::ArrayRef<std::string> losses,
          Scope* scope, DeviceContext* context)
      : network_(network),
        state_(state.str()),
        losses_(losses),
        scope_(*scope),
        context_(*context) {}

  llvm::Expected<ScaledStep> Run(const RunOptions& run) {
    llvm::Expected<double> before = Number(state_);
    if (!before) return before.takeError();
    if (llvm::Error error =
            run.check_finite ? RunChecked(run, *before) : network_.Run(&scope_, &context_, run))
      return error;
    llvm::Expected<double> after = Number(state_);
    if (!after) return after.takeError();
    const ScaledStep step{*before, *after < *before};
    if (*before > GradientScale::kSmallest || *after > *before) return step;
    // The scale cannot decrease further and did not grow: check whether the step succeeded.
    llvm::Expected<double> good = Number(state_ + ".good");
    if (!good) return good.takeError();
    if (*good > 0) return step;
    return MakeUserError(Code::kNotFinite,
                         "a gradient is nan or infinite, even with the smallest loss scale");
  }

 private:
  const Tensor* Find(llvm::StringRef name) const {
    const Variable* variable = scope_.Find(name);
    return variable ? variable->Get<Tensor>() : nullptr;
  }

  /// The value of a scalar state.
  llvm::Expected<double> Number(const std::string& name) const {
    const Tensor* tensor = Find(name);
    llvm::Expected<Tensor> value = tensor ? OnHost(*tensor, context_) : network_.InitialValue(name);
    if (!value) return value.takeError();
    return value->ToConstant().ElementAsDouble(0);
  }

  llvm::Error RunChecked(RunOptions run, double scale) {
    Remember();
    llvm::Error found = network_.Run(&scope_, &context_, run);
    if (!found) return found;
    if (!found.isA<UserError>() || scale <= GradientScale::kSmallest) return found;
    // Repeat the step without checks to find out whether the gradients overflow.
    Restore();
    run.check_finite = false;
    llvm::Error error = network_.Run(&scope_, &context_, run);
    llvm::Expected<double> after = Number(state_);
    const auto is_finite = [&](const std::string& loss) {
      return std::isfinite(Find(loss)->ToConstant().ElementAsDouble(0));
    };
    if (!error && after && *after < scale && llvm::all_of(losses_, is_finite)) {
      llvm::consumeError(std::move(found));
      return llvm::Error::success();
    }
    Restore();
    llvm::consumeError(std::move(error));
    if (!after) llvm::consumeError(after.takeError());
    return found;
  }

  void Remember() {
    for (const Value* state : network_.graph().states()) {
      const Tensor* tensor = Find(state->name());
      before_.emplace_back(state->name(), tensor ? std::optional(*tensor) : std::nullopt);
    }
    runs_ = Network::RunCount(scope_);
  }
  void Restore() {
    for (const auto& [name, tensor] : before_) {
      if (tensor) {
        scope_.Create(name)->Set(*tensor);
      } else {
        scope_.Erase(name);
      }
    }
    Network::SetRunCount(&scope_, runs_);
  }

  const Network& network_;
  const std::string state_;
  const llvm::ArrayRef<std::string> losses_;
  Scope& scope_;
  DeviceContext& context_;
  /// The values before the step; runs do not overwrite them.
  std::vector<std::pair<std::string, std::optional<Tensor>>> before_;
  uint64_t runs_ = 0;
};

}  // namespace

llvm::Expected<ScaledStep> RunScaledStep(const Network& network, llvm::StringRef state,
                                         llvm::ArrayRef<std::string> losses, RunOptions run,
                                         Scope* scope, DeviceContext* context) {
  if (scope == nullptr || context == nullptr)
    return MakeUserError(Code::kOperatorUse, "a training step needs a {0}, got none",
                         scope == nullptr ? "scope" : "context");
  return StepRun(network, state, losses, scope, context).Run(run);
}

}  // namespace pdl
