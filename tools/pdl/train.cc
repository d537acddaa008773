// pdl train: trains the parameters of a network on data.
#include <limits>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "pdl/op/error.h"
#include "pdl/train/dataset.h"
#include "pdl/train/trainer.h"
#include "runtime/io/file.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/folder_lock.h"
#include "tools/pdl/support/interrupt.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/ranks.h"
#include "tools/pdl/support/trace_option.h"
#include "tools/pdl/train/console.h"
#include "tools/pdl/train/log.h"
#include "tools/pdl/train/ranks_log.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl train", "FILE --data DATA [OPTION]...",
    R"(Trains the network in FILE (.pdl, or - for standard input) with its `minimize`
statements or, if it has none, with its own `update` statements. DATA is a .npz archive,
a folder of .npy files, or a .csv table, with an array or column for each input; their
first dims are the number of examples.

Under mpirun, mpiexec or srun, the processes train together, with the same result as one
process with the same --batch-size and --micro-batch: see docs/distributed.md.

The folder of --out receives last.safetensors (from which --resume continues),
best.safetensors (for pdl run --weights), metrics.jsonl, loss.svg, and event files for
TensorBoard. Ctrl-C stops after the current step and saves; a second one stops at once.
)",
    R"(pdl train digits.pdl --data train.npz --epochs 5
pdl train digits.pdl --data train.npz --validate test.npz --epochs 100 --patience 5
pdl train digits.pdl --data train.npz --epochs 200 --out run --resume
mpirun -n 4 pdl train digits.pdl --data train.npz --batch-size 128
pdl run digits.pdl --weights run/best.safetensors -i image=images.npy
)"};

struct TrainArguments {
  CommonOptions common;
  std::string data, validate, folder = "run", ranks_log;
  std::optional<int64_t> epochs, steps, batch_size, micro_batch, bucket_bytes;
  ProcessArguments processes;
  bool has_seed = false;
  bool no_shuffle = false, drop_last = false, shard_optimizer = false, cpu_sums = false;
  bool resume = false, overwrite = false;
  int64_t save_every = 0, log_every = 0;
  std::optional<int64_t> patience;
  std::optional<double> average;
  std::string monitor;
  bool check_finite = false, check_indices = false, quiet = false;
  TraceArguments trace;
};

CommandLine::Setter ToInt(std::function<void(int64_t)> set, int64_t min = 1) {
  return [set = std::move(set), min](llvm::StringRef text) -> llvm::Error {
    auto number = ParseInt(text, min, std::numeric_limits<int64_t>::max());
    if (!number) return number.takeError();
    set(*number);
    return llvm::Error::success();
  };
}

void AddDataOptions(CommandLine& line, TrainArguments* arguments) {
  line.Section("Data");
  line.AddString("-d, --data", "DATA",
                 "the training data: a .npz, a folder of .npy files, or a .csv whose first line "
                 "names the inputs (x[0], x[1], ... if an example has several numbers)",
                 &arguments->data);
  line.AddString(
      "--validate", "DATA",
      "evaluate each epoch on these data; by default, the best epoch is found on the training data",
      &arguments->validate);
  line.AddValue("--batch-size", "N", "examples per step, of all processes together (default 32)",
                ToInt([arguments](int64_t value) { arguments->batch_size = value; }));
  line.AddValue("--micro-batch", "N",
                "compute a step from micro-batches of N examples, with the mean of their gradients "
                "(default: all examples of a batch that a process has)",
                ToInt([arguments](int64_t value) { arguments->micro_batch = value; }));
  AddBucketOption(line, &arguments->bucket_bytes);
  line.AddFlag("--cpu-sums",
               "add gradients of micro-batches and processes on the CPU, also with --device=cuda: "
               "needs no NCCL; the results are the same",
               &arguments->cpu_sums);
  line.AddFlag("--shard-optimizer",
               "let each process keep the states of optimizers for a part of the parameters only; "
               "the results are the same",
               &arguments->shard_optimizer);
  line.AddFlag("--drop-last", "skip the last batch of an epoch if it is incomplete",
               &arguments->drop_last);
  line.AddFlag("--no-shuffle", "take the examples in order in each epoch", &arguments->no_shuffle);
  line.Section("Length");
  line.AddValue("--epochs", "N", "passes over the data (default 1)",
                ToInt([arguments](int64_t value) { arguments->epochs = value; }));
  line.AddValue("--steps", "N", "stop after N steps",
                ToInt([arguments](int64_t value) { arguments->steps = value; }));
  line.AddValue("--patience", "N",
                "stop after N epochs without an improvement; 0: never (default: that of the run "
                "that --resume continues, or 0)",
                ToInt([arguments](int64_t value) { arguments->patience = value; }, /*min=*/0));
  line.AddString("--monitor", "NAME[:max]",
                 "the loss or output that selects the best epoch (default: the first loss, or that "
                 "of the run that --resume continues); with :max larger is better, with :min (the "
                 "default) smaller",
                 &arguments->monitor);
}

llvm::Error ReadDecay(llvm::StringRef text, TrainArguments* arguments) {
  double decay = 0;
  // Negated so that NaN fails.
  if (text.getAsDouble(decay) || !(decay > 0 && decay < 1))
    return MakeUsageError("expected a number between 0 and 1, got '{0}'", text);
  arguments->average = decay;
  return llvm::Error::success();
}

void AddOptions(CommandLine& line, TrainArguments* arguments) {
  AddDataOptions(line, arguments);
  line.Section("Output files");
  line.AddString("-o, --out", "FOLDER", "the folder of all output files (default run)",
                 &arguments->folder);
  line.AddFlag("--resume",
               "continue from last.safetensors of that folder, with the same bits as if the run "
               "had not stopped; if there is none yet, start",
               &arguments->resume);
  line.AddFlag("--overwrite", "remove the files of an earlier run in that folder",
               &arguments->overwrite);
  line.AddValue("--save-every", "N", "also write last.safetensors every N steps",
                ToInt([arguments](int64_t value) { arguments->save_every = value; }));
  line.AddValue("--log-every", "N",
                "write every N steps to metrics.jsonl and the event files (default: every step at "
                "first, then fewer and fewer)",
                ToInt([arguments](int64_t value) { arguments->log_every = value; }));
  line.AddString("--ranks-log", "FOLDER",
                 "let each process of a distributed run write its steps, with its times, and its "
                 "error to rank-N.jsonl in a folder",
                 &arguments->ranks_log);
  line.Section("The network");
  AddNetworkOptions(line, &arguments->common);
  AddWeightsOption(line, &arguments->common);
  line.Section("The run");
  AddRunOptions(line, &arguments->common);
  AddPrecisionOption(line, &arguments->common);
  line.AddValue("--average", "DECAY",
                "keep moving averages of the parameters, which each step moves by the fraction "
                "1 - DECAY towards them; they are what is evaluated, and written to "
                "best.safetensors (usually 0.99 to 0.9999)",
                [arguments](llvm::StringRef text) { return ReadDecay(text, arguments); });
  line.AddFlag("--check-finite",
               "check the results of every call, and report the first one that computes a nan or "
               "an infinity from finite numbers (slow)",
               &arguments->check_finite);
  line.AddFlag("--check-indices",
               "check the indices of every call, and report the first one that is outside the axis "
               "that it selects from (slow)",
               &arguments->check_indices);
  AddTraceOptions(line, &arguments->trace);
  line.AddFlag("-q, --quiet", "print only warnings, errors and the results of each epoch",
               &arguments->quiet);
  AddProcessOptions(line, &arguments->processes);
  AddMessageOptions(line);
}

/// Whether --seed was given.
bool HasSeed(Arguments arguments) {
  for (llvm::StringRef argument : arguments)
    if (argument == "--seed" || argument.starts_with("--seed=")) return true;
  return false;
}

llvm::Error PrepareFolder(const TrainArguments& arguments, const std::string& last,
                          FolderLock* lock) {
  if (std::error_code code = llvm::sys::fs::create_directories(arguments.folder))
    return CannotWrite(arguments.folder, code);
  if (llvm::Error error = lock->Take(arguments.folder)) return error;
  if (llvm::Error error = TrainLog::RemoveTemporaries(arguments.folder)) return error;
  if (arguments.resume) return llvm::Error::success();
  if (arguments.overwrite) return TrainLog::Clear(arguments.folder);
  bool is_new = true;
  for (const std::string& file : {last, arguments.folder + "/metrics.jsonl"}) {
    llvm::Expected<bool> exists = FileExists(file);
    if (!exists) return exists.takeError();
    is_new &= !*exists;
  }
  if (is_new) return llvm::Error::success();
  return MakeUserError(Code::kCheckpoint,
                       "'{0}' contains another run: --resume continues it, --overwrite removes it, "
                       "--out uses another folder",
                       arguments.folder);
}

/// Fails if a new run would remove or replace a file that it reads, such as its --weights.
llvm::Error CheckFolder(const CommandLine& line, const TrainArguments& arguments) {
  if (arguments.resume && llvm::sys::fs::exists(arguments.folder + "/last.safetensors"))
    return llvm::Error::success();
  llvm::Expected<std::vector<std::string>> files = TrainLog::FilesIn(arguments.folder);
  // There is no such folder yet, or PrepareFolder reports the error.
  if (!files) return llvm::consumeError(files.takeError()), llvm::Error::success();
  for (const std::string& file : *files)
    if (line.Reads(file))
      return line.Wrong("a new run in '" + arguments.folder + "' replaces '" + file +
                        "', which the command reads: --out uses another folder");
  return llvm::Error::success();
}

/// Options that are not given are those of the resumed run.
void TakeFromCheckpoint(const CheckpointInfo& info, TrainArguments* arguments) {
  if (!arguments->batch_size) arguments->batch_size = info.batch_size;
  if (!arguments->micro_batch && arguments->batch_size == info.batch_size)
    arguments->micro_batch = info.micro_batch > 0 ? info.micro_batch : info.batch_size;
  if (!arguments->has_seed) arguments->common.seed = info.seed;
  if (arguments->common.precision.empty())
    arguments->common.precision = DTypeName(info.precision).str();
  if (!arguments->average) arguments->average = info.average;
  // The end that was asked for first, unless another is.
  if (!arguments->epochs && !arguments->steps) {
    if (info.epochs > 0) arguments->epochs = info.epochs;
    if (info.steps > 0) arguments->steps = info.steps;
  }
  if (!arguments->patience) arguments->patience = info.patience;
  arguments->drop_last |= info.drop_last;
  arguments->no_shuffle |= !info.shuffle;
}

TrainerOptions ToTrainerOptions(const TrainArguments& arguments) {
  TrainerOptions options;
  options.batch_size = arguments.batch_size.value_or(32);
  options.micro_batch = arguments.micro_batch.value_or(0);
  if (arguments.bucket_bytes) options.bucket_bytes = *arguments.bucket_bytes;
  options.epochs = arguments.epochs.value_or(arguments.steps ? 0 : 1);
  options.steps = arguments.steps.value_or(0);
  options.seed = arguments.common.seed;
  options.shuffle = !arguments.no_shuffle;
  options.drop_last = arguments.drop_last;
  options.check_finite = arguments.check_finite;
  options.check_indices = arguments.check_indices;
  options.folder = arguments.folder;
  options.save_every = arguments.save_every;
  options.monitor = arguments.monitor;
  options.patience = arguments.patience.value_or(0);
  options.average = arguments.average.value_or(0);
  options.shard_optimizer = arguments.shard_optimizer;
  options.cpu_sums = arguments.cpu_sums;
  options.network.precision = PrecisionOf(arguments.common);
  return options;
}

class Training {
 public:
  Training(llvm::StringRef path, TrainArguments& arguments, Ranks& ranks)
      : path_(path),
        arguments_(arguments),
        ranks_(ranks),
        last_(arguments.folder + "/last.safetensors") {}

  llvm::Error Run() {
    if (llvm::Error error = ranks_.Agree(OpenRanksLog())) return error;
    llvm::Error error = RunAll();
    if (!error || !ranks_log_) return error;
    llvm::Error logged = ranks_log_->AddEnd(error);
    return llvm::joinErrors(std::move(error), std::move(logged));
  }

 private:
  llvm::Error RunAll() {
    if (llvm::Error error = ranks_.Agree(OpenFiles())) return error;
    if (llvm::Error error = TakeOptions()) return error;
    if (llvm::Error error = ranks_.Agree(MakeTrainer())) return error;
    StopSignals signals;
    llvm::Expected<TrainingEnd> end =
        ranks_.is_first() ? Train(signals) : trainer_->Train(Callbacks(signals));
    if (!end) {
      llvm::Error error = end.takeError();
      const std::string finds = WhatFindsCall();
      bool is_unexplained = false;
      llvm::visitErrors(error, [&](const llvm::ErrorInfoBase& info) {
        is_unexplained |= info.isA<UserError>() && !arguments_.check_finite &&
                          static_cast<const UserError&>(info).code() == Code::kNotFinite;
      });
      if (llvm::sys::fs::exists(last_)) {
        Say("the last good checkpoint is " + last_ +
            (is_unexplained ? "; from there, --resume " + finds : ""));
      } else if (is_unexplained) {
        Say("there is no checkpoint yet; --overwrite " + finds);
      }
      return error;
    }
    const std::string said =
        *end == TrainingEnd::kStopped
            ? "stopped after step " + GroupedToString(trainer_->step()) + "; --resume continues"
        : *end == TrainingEnd::kPatience
            ? "ended: no improvement for " + Counted(options_.patience, "epoch") +
                  (trainer_->step() == first_step_
                       ? ", which --patience " + std::to_string(options_.patience) +
                             " allows: a larger one, or 0, continues"
                       : "")
        : trainer_->step() == first_step_
            ? NothingLeft()
            : "done: " + Counted(trainer_->step(), "step") + Skipped();
    Say(said + "; see " + arguments_.folder + "/");
    return llvm::Error::success();
  }

  /// "1 step", "12,000 steps".
  static std::string Counted(int64_t number, llvm::StringRef unit) {
    return (GroupedToString(number) + " " + unit + (number == 1 ? "" : "s")).str();
  }

  /// The options that find the cause of a nan in the steps after a checkpoint.
  std::string WhatFindsCall() const {
    const bool has_free_index = llvm::any_of(loaded_->graph.inputs(), [](const Value* input) {
      const Type& type = input->type();
      return !IsFloat(type.dtype) && type.dtype != DType::kBool && !type.index_bound;
    });
    return std::string("--check-finite finds the call") +
           (has_free_index && !arguments_.check_indices
                ? ", and --check-indices an index that is out of range"
                : "");
  }

  std::string Skipped() const {
    if (num_skipped_ == 0) return "";
    return "; " + Counted(num_skipped_, "step") +
           " skipped, since gradients were too large for f16: they changed nothing but the scale "
           "of the losses";
  }

  /// For a resumed run that has had all of its epochs and steps.
  std::string NothingLeft() const {
    const bool by_steps = options_.steps > 0 && trainer_->step() >= options_.steps;
    const llvm::StringRef unit = by_steps ? "step" : "epoch";
    const int64_t done = by_steps ? trainer_->step() : trainer_->epoch();
    const int64_t asked = by_steps ? options_.steps : options_.epochs;
    const std::string within = by_steps || trainer_->batches_done() == 0
                                   ? ""
                                   : " and " + GroupedToString(trainer_->batches_done()) +
                                         " of the " + GroupedToString(trainer_->batches()) +
                                         " batches of another";
    return ("nothing is left to do: the run has had " + Counted(done, unit) + within + ", and --" +
            unit + "s " + llvm::Twine(asked) + " counts from its beginning: --" + unit + "s " +
            llvm::Twine(done + asked) + " continues it")
        .str();
  }
  void Say(llvm::StringRef text) const {
    if (!arguments_.quiet && ranks_.is_first() && DiagnosticsAreText())
      llvm::errs() << text << '\n';
  }

  /// Opens everything that each rank reads.
  llvm::Error OpenFiles() {
    llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path_, arguments_.common);
    if (!loaded) return loaded.takeError();
    const Graph& network = loaded->graph;
    // Before the data are read: a network without a loss needs none.
    if (network.trainings().empty() && network.updates().empty()) {
      const bool is_onnx = llvm::sys::path::extension(path_) == ".onnx";
      return MakeUserError(
          Code::kBadMinimize,
          "there is nothing to train: the network has no minimize statement, and no update{0}",
          is_onnx ? "; pdl import writes the source of an ONNX model, to which they can be added"
                  : "");
    }
    llvm::Expected<Dataset> data = Dataset::Open(arguments_.data, loaded->graph);
    if (!data) return data.takeError();
    if (!arguments_.validate.empty()) {
      llvm::Expected<Dataset> opened = Dataset::Open(arguments_.validate, loaded->graph);
      if (!opened) return opened.takeError();
      validation_ = std::move(*opened);
    }
    auto context = OpenDevice(arguments_.common);
    if (!context) return context.takeError();
    context_ = std::move(*context);
    data_ = std::move(*data);
    loaded_ = std::move(*loaded);
    return llvm::Error::success();
  }

  /// Takes options that are not given from the checkpoint, which only rank 0 reads.
  llvm::Error TakeOptions() {
    struct {
      bool resumes = false;
      CheckpointInfo info;
    } found;
    const auto read = [&]() -> llvm::Error {
      if (!ranks_.is_first()) return llvm::Error::success();
      // The lock is taken before any file of the folder is read.
      if (llvm::Error error = lock_.Take(arguments_.folder)) return error;
      if (!arguments_.resume) return llvm::Error::success();
      llvm::Expected<bool> exists = FileExists(last_);
      if (!exists) return exists.takeError();
      found.resumes = *exists;
      if (!found.resumes) return llvm::Error::success();
      llvm::Expected<CheckpointInfo> info = ReadCheckpointInfo(last_);
      if (!info) return info.takeError();
      found.info = *info;
      return llvm::Error::success();
    };
    if (llvm::Error error = ranks_.Agree(read())) return error;
    if (llvm::Error error = ranks_.TakeFromFirst(&found)) return error;
    resumes_ = found.resumes;
    if (resumes_) TakeFromCheckpoint(found.info, &arguments_);
    return llvm::Error::success();
  }

  llvm::Error MakeTrainer() {
    const Graph& graph = loaded_->graph;
    TrainerOptions options = ToTrainerOptions(arguments_);
    options.communicator = ranks_.communicator();
    if (!ranks_.is_first()) options.folder.clear();
    options.network.weight_folder = loaded_->folder;
    if (!arguments_.common.weights.empty()) {
      llvm::Expected<GivenWeights> given = OpenGivenWeights(arguments_.common, graph);
      if (!given) return given.takeError();
      llvm::erase_if(given->matches,
                     [&](const WeightMatch& match) { return IsOfTraining(graph, *match.value); });
      if (llvm::Error error = given->AddTo(&options.network.weights)) return error;
    }
    const int64_t rows = data_->num_rows();
    auto trainer =
        Trainer::Create(graph, std::move(*data_), options, context_.get(), GlobalRegistry());
    if (!trainer) return trainer.takeError();
    trainer_ = std::move(*trainer);
    if (validation_) trainer_->SetValidation(std::move(*validation_));
    if (!ranks_.is_first()) return llvm::Error::success();
    if (llvm::Error error = PrepareFolder(arguments_, last_, &lock_)) return error;
    if (resumes_) {
      if (llvm::Error error = trainer_->Resume(last_)) return error;
      for (const std::string& warning : trainer_->warnings())
        PrintWarning(Code::kCheckpoint, warning);
      Say("continuing after step " + GroupedToString(trainer_->step()) + " of " + last_);
    } else if (arguments_.resume) {
      Say("there is no " + last_ + ": starting from the beginning");
    }
    const int64_t numbers = trainer_->num_trained();
    Say((numbers > 0 ? GroupedToString(numbers) +
                           (numbers == 1 ? " trainable parameter; " : " trainable parameters; ")
                     : "") +
        GroupedToString(rows) + (rows == 1 ? " example, " : " examples, ") +
        GroupedToString(trainer_->batches()) + (trainer_->batches() == 1 ? " batch" : " batches") +
        " in an epoch" + Processes());
    options_ = std::move(options);
    first_step_ = trainer_->step();
    return llvm::Error::success();
  }

  /// Returns "; 4 processes" for a distributed run.
  std::string Processes() const {
    if (ranks_.communicator() == nullptr) return "";
    return "; " + std::to_string(ranks_.communicator()->size()) + " processes";
  }

  llvm::Error OpenRanksLog() {
    if (arguments_.ranks_log.empty()) return llvm::Error::success();
    const Communicator* ranks = ranks_.communicator();
    llvm::Expected<RanksLog> log =
        RanksLog::Open(arguments_.ranks_log, ranks == nullptr ? 0 : ranks->rank(),
                       ranks == nullptr ? 1 : ranks->size(), arguments_.common.threads);
    if (!log) return log.takeError();
    ranks_log_ = std::move(*log);
    return llvm::Error::success();
  }

  /// The callbacks of all ranks.
  TrainingCallbacks Callbacks(const StopSignals& signals) {
    TrainingCallbacks callbacks;
    callbacks.stop = &signals.asked();
    if (ranks_log_)
      callbacks.on_step = [this](const StepReport& report) { return ranks_log_->AddStep(report); };
    return callbacks;
  }

  llvm::Expected<TrainingEnd> Train(const StopSignals& signals) {
    // The files of a run that is done do not change.
    if (trainer_->is_done()) return trainer_->Train(Callbacks(signals));
    TrainLog::Options log_options;
    log_options.folder = arguments_.folder;
    log_options.title = path_ == "-" ? "loss" : llvm::sys::path::stem(path_).str() + ": loss";
    log_options.every = arguments_.log_every;
    log_options.losses = trainer_->losses().vec();
    auto log = TrainLog::Open(log_options, trainer_->step(), trainer_->epoch());
    if (!log) return log.takeError();
    TrainConsole::Options console_options;
    console_options.epochs = options_.epochs;
    console_options.steps = options_.steps;
    console_options.batches = trainer_->batches();
    console_options.first_step = trainer_->step();
    console_options.is_terminal = llvm::sys::Process::StandardErrIsDisplayed();
    console_options.is_quiet = arguments_.quiet;
    console_options.is_silent = !DiagnosticsAreText();
    TrainConsole console(console_options);
    TrainingCallbacks callbacks = Callbacks(signals);
    callbacks.on_step = [&](const StepReport& report) {
      ShowStraggler(report, console);
      console.ShowStep(report);
      if (ranks_log_)
        if (llvm::Error error = ranks_log_->AddStep(report)) return error;
      return (*log)->AddStep(report);
    };
    auto drawn = std::chrono::steady_clock::now();
    callbacks.on_epoch = [&](const EpochReport& report) -> llvm::Error {
      const double speed = console.RowsPerSecond();
      console.ShowEpoch(report);
      if (!report.warning.empty()) PrintWarning(Code::kNotFinite, report.warning);
      if (llvm::Error error = (*log)->AddEpoch(report, speed)) return error;
      const auto now = std::chrono::steady_clock::now();
      if (now - drawn < std::chrono::seconds(10)) return llvm::Error::success();
      drawn = now;
      return (*log)->WriteCurves();
    };
    llvm::Expected<TrainingEnd> end = trainer_->Train(callbacks);
    console.Erase();
    num_skipped_ = console.num_skipped();
    llvm::Error error = (*log)->Finish();
    if (!end) return llvm::joinErrors(end.takeError(), std::move(error));
    if (error) return error;
    return end;
  }

  /// Says which rank the others waited for, if that was long. The first step includes planning.
  void ShowStraggler(const StepReport& report, TrainConsole& console) {
    constexpr double kLong = 5, kManyTimes = 3;
    constexpr std::chrono::seconds kPause(60);
    const RankTimes& times = report.times;
    const auto now = std::chrono::steady_clock::now();
    if (!ranks_.is_first() || !DiagnosticsAreText() || times.slowest < kLong ||
        times.slowest < kManyTimes * times.median)
      return;
    if (straggler_shown_ && now - *straggler_shown_ < kPause) return;
    straggler_shown_ = now;
    console.Erase();
    llvm::errs() << "step " << report.step << ": rank " << times.slowest_rank << " took "
                 << llvm::format("%.1f s, half of the ranks at most %.1f s", times.slowest,
                                 times.median)
                 << '\n';
  }

  llvm::StringRef path_;
  TrainArguments& arguments_;
  Ranks& ranks_;
  std::optional<std::chrono::steady_clock::time_point> straggler_shown_;
  const std::string last_;
  std::optional<LoadedNetwork> loaded_;
  std::optional<Dataset> data_, validation_;
  bool resumes_ = false;
  FolderLock lock_;
  TrainerOptions options_;
  std::unique_ptr<DeviceContext> context_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<RanksLog> ranks_log_;
  int64_t first_step_ = 0;
  int64_t num_skipped_ = 0;  // in this run
};

}  // namespace

int TrainMain(Arguments arguments) {
  TrainArguments train;
  train.common.training_step = true;
  CommandLine line(kHelp);
  AddOptions(line, &train);
  line.AddSandbox({"--out", "--ranks-log", "--trace"});
  const std::string default_folder = train.folder;
  line.WritesByDefault("--out", default_folder);
  auto files = line.ParseOneFile(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  train.has_seed = HasSeed(arguments);
  if (train.data.empty()) return Finish(line.Wrong("no --data"));
  if (train.resume && train.overwrite)
    return Finish(line.Wrong("--resume and --overwrite contradict each other"));
  if (llvm::Error error = CheckFolder(line, train)) return Finish(std::move(error));
  if (llvm::Error error = train.processes.Check())
    return Finish(line.Wrong(llvm::toString(std::move(error))));
  Ranks ranks;
  if (llvm::Error error = ranks.Join(train.processes, &train.common))
    return Finish(std::move(error));
  if (!ranks.is_first()) train.trace = {};
  llvm::Error error = WithTrace(train.trace, **files, train.common,
                                [&] { return Training(**files, train, ranks).Run(); });
  return ranks.Finish(std::move(error));
}

}  // namespace pdl
