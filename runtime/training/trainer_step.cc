// One step of a training run: its network, and its run with mixed precision.
#include "pdl/compiler/pipeline.h"
#include "pdl/op/error.h"
#include "pdl/train/scaled_step.h"
#include "runtime/call_error.h"
#include "runtime/check_finite.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {

llvm::Expected<Graph> Trainer::Impl::MakeStep(llvm::ArrayRef<unsigned> active) const {
  if (network.trainings().empty() && network.updates().empty())
    return MakeUserError(
        Code::kBadMinimize,
        "there is nothing to train: the network has no minimize statement, and no update");
  Graph step = network.Clone();
  PassContext context{registry};
  if (!network.trainings().empty()) context.active = active;
  if (options.average > 0) context.averages = {options.average, TrainedParameters(network)};
  if (!scale_state.empty()) context.scale.emplace().state = scale_state;
  if (llvm::Error error = StepPipeline().Run(step, context)) return error;
  return step;
}

RunOptions Trainer::Impl::OptionsOfRun() const {
  RunOptions run;
  run.training = true;
  run.check_finite = options.check_finite;
  run.check_indices = options.check_indices;
  return run;
}

llvm::Expected<std::vector<double>> Trainer::Impl::Run(const StepNetwork& next,
                                                       llvm::ArrayRef<int64_t> rows,
                                                       StepReport* report) {
  if (uses_micro_batches()) return RunMicroBatches(next, rows, report);
  if (llvm::Error error = batch.Put(rows, &scope)) return error;
  RunOptions run = OptionsOfRun();
  run.outputs = next.outputs;
  if (scale_state.empty()) {
    if (llvm::Error error = next.network->Run(&scope, &context, run)) return error;
  } else {
    std::vector<std::string> losses;
    for (const size_t i : next.metrics)
      if (i < names.losses) losses.push_back(names.all[i]);
    llvm::Expected<ScaledStep> step =
        RunScaledStep(*next.network, scale_state, losses, run, &scope, &context);
    if (!step) return step.takeError();
    report->loss_scale = step->scale;
    report->is_skipped = step->is_skipped;
  }
  std::vector<double> metrics;
  for (const size_t i : next.metrics) metrics.push_back(MetricIn(scope, names.all[i]));
  return metrics;
}

llvm::Error Trainer::Impl::ErrorOfStep(llvm::Error error, llvm::ArrayRef<int64_t> rows) const {
  const auto text_of = [&](llvm::StringRef text) {
    return llvm::formatv("step {0}: {1}", progress.step + 1, text).str();
  };
  error = MapMessage(std::move(error), [&](Code code, llvm::StringRef text) {
    return text_of(text) + (code == Code::kNotFinite ? RowThatIsNotFinite(data, rows) : "");
  });
  return llvm::handleErrors(std::move(error), [&](const RankError& e) -> llvm::Error {
    return llvm::make_error<RankError>(text_of(e.text()));
  });
}

std::string Trainer::Impl::RowThatIsNotFinite(const Dataset& from,
                                              llvm::ArrayRef<int64_t> rows) const {
  std::string row = DescribeNotFiniteRow(from, rows);
  // The step before may have made the parameters nan.
  if (row.empty() && &from == &data) {
    row = DescribeNotFiniteRow(from, rows_before);
    if (!row.empty()) row = "in the step before, " + row;
  }
  return row.empty() ? "" : "; " + row;
}

llvm::Error Trainer::Impl::NotFinite(const std::string& text, const Dataset& from,
                                     llvm::ArrayRef<int64_t> rows) const {
  return MakeUserError(Code::kNotFinite, "{0}{1}", text, RowThatIsNotFinite(from, rows));
}

std::string Trainer::Impl::DescribeNotFiniteRow(const Dataset& from,
                                                llvm::ArrayRef<int64_t> rows) const {
  const int64_t* odd = nullptr;
  std::string why;
  for (const Dataset::Field& field : from.fields()) {
    const Tensor& values = field.rows.values;
    if (!IsFloat(field.rows.type.dtype) || values.num_elements() == 0) continue;
    const int64_t per_row = values.num_elements() / values.size(0);
    for (const int64_t& row : rows) {
      if (odd && row >= *odd) continue;
      int64_t begin = row, end = row + 1;
      for (const Tensor& offsets : field.rows.offsets) {
        begin = offsets.data<int64_t>()[begin];
        end = offsets.data<int64_t>()[end];
      }
      const char* data = static_cast<const char*>(values.raw());
      const int64_t at =
          FindNotFinite(values.dtype(), data + begin * per_row * DTypeSize(values.dtype()),
                        (end - begin) * per_row);
      if (at < 0) continue;
      odd = &row;
      why = llvm::formatv(
          "{0} of {1} has {2} in '{3}'", from.DescribeRow(row), from.source(),
          DescribeNotFinite(values.ToConstant().ElementAsDouble(begin * per_row + at), 0, {}),
          field.name);
    }
  }
  return why;
}

}  // namespace pdl
