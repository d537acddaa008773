// Steps that are computed from micro-batches, which ranks share.
#include "pdl/op/error.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {

llvm::Error Trainer::Impl::SetMicroBatch() {
  auto wrong = [](const char* format, auto... arguments) {
    return MakeUserError(Code::kTrainingData, format, arguments...);
  };
  const int64_t ranks = is_distributed() ? options.communicator->size() : 1;
  const int64_t rows = options.batch_size;
  if (rows < 1) return wrong("a batch has at least 1 row, got {0}", rows);
  if (options.bucket_bytes < 1)
    return wrong("a bucket of gradients has at least 1 byte, got {0}", options.bucket_bytes);
  if (options.micro_batch < 0)
    return wrong("a micro-batch has at least 1 row, got {0}", options.micro_batch);
  if (rows % ranks != 0) {
    const int64_t below = rows - rows % ranks;
    return wrong("{0} ranks cannot share a batch of {1} rows equally; {2}{3} rows are possible",
                 ranks, rows, below > 0 ? std::to_string(below) + " or " : "", below + ranks);
  }
  if (options.micro_batch == 0) options.micro_batch = rows / ranks;
  if (ranks > 1 && rows / ranks % options.micro_batch != 0)
    return wrong(
        "micro-batches of {0} rows do not divide the {1} rows that each of {2} ranks has of a "
        "batch",
        options.micro_batch, rows / ranks, ranks);
  progress.micro_batch = options.micro_batch < rows ? options.micro_batch : 0;
  return llvm::Error::success();
}

llvm::Expected<std::vector<double>> Trainer::Impl::RunMicroBatches(const StepNetwork& next,
                                                                   llvm::ArrayRef<int64_t> rows,
                                                                   StepReport* report) {
  if (llvm::Error error = JoinDevice()) return error;
  MicroBatchStep::Batch run;
  run.device_ranks = device_ranks.get();
  run.parts = {static_cast<int64_t>(rows.size()), options.micro_batch};
  const auto put = [&](int64_t index) {
    const auto begin = static_cast<size_t>(index * options.micro_batch);
    return batch.Put(rows.drop_front(begin).take_front(static_cast<size_t>(options.micro_batch)),
                     &scope);
  };
  run.put = put;
  run.run = OptionsOfRun();
  if (is_distributed()) run.communicator = options.communicator;
  run.step = progress.step + 1;
  run.stop = stop != nullptr && stop->load();
  run.begin = step_begin;
  llvm::Expected<MicroBatchStep::Result> result = next.micro_batches->Run(run, &scope, &context);
  if (!result) return result.takeError();
  step_begin = std::chrono::steady_clock::now();
  ranks_stop = result->stop;
  report->times = result->times;
  report->loss_scale = result->loss_scale;
  report->is_skipped = result->is_skipped;
  return std::move(result->metrics);
}

}  // namespace pdl
