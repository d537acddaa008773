// One step of a training run: its network, and what mixed precision adds to running it.
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "pdl/error.h"
#include "pdl/passes.h"
#include "pdl/training.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {

llvm::Expected<Graph> Trainer::Impl::MakeStep(llvm::ArrayRef<unsigned> active) const {
  if (network.trainings().empty() && network.updates().empty())
    return MakeUserError(Code::kBadMinimize,
                         "there is nothing to train: the network has no minimize statement, and "
                         "no update");
  llvm::Expected<Graph> step =
      network.trainings().empty() ? network.Clone() : MakeTrainingStep(network, active);
  if (!step) return step.takeError();
  if (!scale_state.empty()) {
    GradientScale scale;
    scale.state = scale_state;
    ScaleGradients(*step, registry, scale);
  }
  return step;
}

llvm::Expected<double> Trainer::Impl::LossScale() const {
  llvm::Expected<Tensor> scale = OnHost(*FindTensor(scope, scale_state), context);
  if (!scale) return scale.takeError();
  return scale->ToConstant().ElementAsDouble(0);
}

llvm::Error Trainer::Impl::Run(const StepNetwork& next, StepReport* report) {
  RunOptions run;
  run.training = true;
  run.check_finite = options.check_finite;
  run.outputs = next.outputs;
  if (scale_state.empty()) return next.network->Run(&scope, &context, run);
  llvm::Expected<double> before = LossScale();
  if (!before) return before.takeError();
  if (llvm::Error error =
          options.check_finite ? CheckedRun(next, run) : next.network->Run(&scope, &context, run))
    return error;
  llvm::Expected<double> after = LossScale();
  if (!after) return after.takeError();
  report->loss_scale = *before;
  report->is_skipped = *after < *before;
  if (*before > GradientScale::kSmallest || *after > *before) return llvm::Error::success();
  // It can fall no further, and does not grow: was the step good?
  llvm::Expected<Tensor> good = OnHost(*FindTensor(scope, scale_state + ".good"), context);
  if (!good) return good.takeError();
  if (*good->data<int64_t>() > 0) return llvm::Error::success();
  return MakeUserError(Code::kNotFinite,
                       "a gradient is nan or infinite, however small the loss is scaled: "
                       "--check-finite says where");
}

llvm::Error Trainer::Impl::CheckedRun(const StepNetwork& next, RunOptions run) {
  const Snapshot before = TakeSnapshot();
  llvm::Expected<double> scale = LossScale();
  if (!scale) return scale.takeError();
  llvm::Error found = next.network->Run(&scope, &context, run);
  if (!found) return found;
  if (!found.isA<UserError>() || *scale <= GradientScale::kSmallest) return found;
  // Gradients that overflow are no mistake: the step that is not looked at says whether it is that.
  auto take_back = [&] {
    for (const auto& [name, tensor] : before.tensors) scope.Create(name)->Set(tensor);
    Network::SetRunCount(&scope, before.progress.runs);
  };
  take_back();
  run.check_finite = false;
  llvm::Error error = next.network->Run(&scope, &context, run);
  llvm::Expected<double> after = LossScale();
  const auto is_no_number = [&](size_t i) {
    return i < names.losses && !std::isfinite(MetricIn(scope, names.all[i]));
  };
  if (!error && after && *after < *scale && llvm::none_of(next.metrics, is_no_number)) {
    llvm::consumeError(std::move(found));
    return llvm::Error::success();
  }
  take_back();
  llvm::consumeError(std::move(error));
  if (!after) llvm::consumeError(after.takeError());
  return found;
}

}  // namespace pdl
