// pdl bench: measures the speed of a network.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/error.h"
#include "pdl/runtime/network.h"
#include "tools/pdl/bench/onnx_runtime.h"
#include "tools/pdl/bench/result.h"
#include "tools/pdl/bench/statistics.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/run_inputs.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl bench", "FILE [OPTION]...",
    R"(Measures how fast the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) runs:
percentiles of the time of a run, and runs per second. Inputs that are not given are random.

  latency     one run after another, which uses all threads (default)
  throughput  several runs at the same time, each with --threads of its own: --streams

With --baseline, it compares the times with an older result, and exits with 1 if the network
has become slower beyond the noise. docs/bench.md explains the statistics.
)",
    R"(pdl bench model.pdl --size N=1
pdl bench model.pdl --size N=1 --threads 1 --against model.onnx
pdl bench model.pdl --size N=8 --mode=throughput --streams 4
pdl bench model.pdl --size N=1 --json new.json --baseline old.json
)"};

/// The number of medians that comparisons use.
constexpr size_t kSamples = 20;

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Clock::time_point After(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct BenchArguments {
  CommonOptions common;
  RunInputs inputs;
  BenchSettings settings;
  double seconds = 2, warm_up = 0.5, tolerance = 0.02;
  std::optional<int64_t> streams;
  std::string json, baseline, model, python = "python3";
};

/// One sequence of runs: its states, outputs and threads.
class Stream {
 public:
  static llvm::Expected<std::unique_ptr<Stream>> Make(const Network& network, const Scope& fed,
                                                      const CommonOptions& options) {
    auto context = OpenDevice(options);
    if (!context) return context.takeError();
    return std::unique_ptr<Stream>(new Stream(network, fed, std::move(*context), options.training));
  }

  /// Runs repeatedly until `end`, at least once, and adds the time of each run in milliseconds.
  llvm::Error RunUntil(Clock::time_point end, std::vector<double>* times) {
    for (Clock::time_point start = Clock::now();;) {
      if (llvm::Error error = network_.Run(&scope_, context_.get(), run_)) return error;
      const Clock::time_point now = Clock::now();
      times->push_back(Milliseconds(now - start));
      if (now >= end) return llvm::Error::success();
      start = now;
    }
  }

 private:
  Stream(const Network& network, const Scope& fed, std::unique_ptr<DeviceContext> context,
         bool training)
      : network_(network), scope_(&fed), context_(std::move(context)) {
    run_.training = training;
  }

  const Network& network_;
  Scope scope_;
  std::unique_ptr<DeviceContext> context_;
  RunOptions run_;
};

using Streams = std::vector<std::unique_ptr<Stream>>;

/// Runs all streams at the same time for `seconds`. Returns the time of each run in milliseconds;
/// consecutive runs of a stream follow each other.
llvm::Expected<std::vector<double>> RunAll(Streams& streams, double seconds) {
  std::vector<std::vector<double>> times(streams.size());
  std::vector<llvm::Error> errors;
  for (size_t i = 0; i < streams.size(); ++i) errors.push_back(llvm::Error::success());
  const Clock::time_point end = After(seconds);
  auto run = [&](size_t i) {
    llvm::Error error = streams[i]->RunUntil(end, &times[i]);
    // An Error must be checked before it is assigned to.
    llvm::consumeError(std::move(errors[i]));
    errors[i] = std::move(error);
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < streams.size(); ++i) threads.emplace_back(run, i);
  run(0);
  for (std::thread& thread : threads) thread.join();
  llvm::Error all = llvm::Error::success();
  for (llvm::Error& error : errors) {
    if (!all) {
      llvm::consumeError(std::move(all));
      all = std::move(error);
    } else {
      llvm::consumeError(std::move(error));
    }
  }
  if (all) return all;
  // Merged in rounds, so that each block of consecutive times has runs of all streams.
  std::vector<double> merged;
  for (size_t round = 0, added = 1; added > 0; ++round) {
    added = 0;
    for (const std::vector<double>& each : times) {
      if (round >= each.size()) continue;
      merged.push_back(each[round]);
      ++added;
    }
  }
  return merged;
}

llvm::Expected<BenchResult> Measure(Streams& streams, const BenchArguments& arguments) {
  auto warm_up = RunAll(streams, arguments.warm_up);
  if (!warm_up) return warm_up.takeError();
  BenchResult result;
  result.settings = arguments.settings;
  const Clock::time_point start = Clock::now();
  auto times = RunAll(streams, arguments.seconds);
  if (!times) return times.takeError();
  const double seconds = Milliseconds(Clock::now() - start) / 1000;
  result.times = std::move(*times);
  result.throughput = static_cast<double>(result.times.size()) / seconds;
  result.samples = BlockMedians(result.times, kSamples);
  return result;
}

/// Measures alternately with ONNX Runtime, so that both see the same state of the machine.
llvm::Expected<BenchResult> MeasureAgainst(Streams& streams, const BenchArguments& arguments,
                                           OnnxRuntime& peer, BenchResult* of_peer) {
  auto warm_up = RunAll(streams, arguments.warm_up);
  if (!warm_up) return warm_up.takeError();
  auto peer_warm_up = peer.RunFor(arguments.warm_up);
  if (!peer_warm_up) return peer_warm_up.takeError();
  BenchResult result;
  result.settings = of_peer->settings = arguments.settings;
  const double slice = arguments.seconds / kSamples;
  auto add = [](BenchResult* to, const std::vector<double>& times) {
    to->times.insert(to->times.end(), times.begin(), times.end());
    to->samples.push_back(Median(times));
  };
  for (size_t i = 0; i < kSamples; ++i) {
    auto own = RunAll(streams, slice);
    if (!own) return own.takeError();
    add(&result, *own);
    auto theirs = peer.RunFor(slice);
    if (!theirs) return theirs.takeError();
    add(of_peer, *theirs);
  }
  for (BenchResult* each : {&result, of_peer}) {
    double total = 0;
    for (double time : each->times) total += time;
    each->throughput = 1000 * static_cast<double>(each->times.size()) / total;
  }
  return result;
}

void PrintChange(const BenchChange& change, llvm::raw_ostream& os) {
  const llvm::StringRef verdict = change.is_slower   ? "slower beyond the noise"
                                  : change.is_faster ? "faster beyond the noise"
                                                     : "no change beyond the noise";
  os << llvm::formatv("baseline: {0:f3} of its median time, p = {1:e1}: {2}\n", change.ratio,
                      change.p_value, verdict);
}

/// Sets the number of streams and threads.
void ChooseThreads(BenchArguments* arguments) {
  const auto processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  BenchSettings& settings = arguments->settings;
  CommonOptions& common = arguments->common;
  const bool is_latency = settings.mode == "latency";
  if (common.threads == 0) common.threads = is_latency ? processors : 1;
  settings.threads = common.threads;
  settings.streams =
      is_latency ? 1
                 : arguments->streams.value_or(std::max<int64_t>(1, processors / common.threads));
  settings.device = DeviceToString(common.device);
  settings.precision = DTypeName(PrecisionOf(common)).str();
}

llvm::Error Store(const BenchResult& result, const BenchPeer* peer, llvm::StringRef path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  WriteResult(result, peer, os);
  return WriteResultFile(path, text);
}

/// Returns whether the network is slower than the baseline.
llvm::Expected<bool> Bench(llvm::StringRef path, BenchArguments& arguments) {
  // A wrong file is reported before anything is measured.
  std::optional<BenchResult> baseline;
  if (!arguments.baseline.empty()) {
    llvm::Expected<BenchResult> read = ReadResult(arguments.baseline);
    if (!read) return read.takeError();
    baseline = std::move(*read);
  }
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  arguments.inputs.SampleOthers();
  Scope fed;
  if (llvm::Error error = arguments.inputs.Feed(loaded->graph, arguments.common, &fed))
    return error;
  ChooseThreads(&arguments);
  arguments.settings.network = path.str();
  arguments.settings.training = arguments.common.training;
  for (const auto& entry : arguments.inputs.sizes())
    arguments.settings.sizes[entry.first().str()] = entry.second;
  if (baseline)
    if (llvm::Error error = CheckSameSettings(baseline->settings, arguments.settings)) return error;
  std::unique_ptr<OnnxRuntime> peer;
  if (!arguments.model.empty()) {
    auto started = OnnxRuntime::Start(arguments.python, arguments.model, arguments.common.threads,
                                      loaded->graph, fed);
    if (!started) return started.takeError();
    peer = std::move(*started);
  }
  auto network = CreateNetwork(std::move(*loaded), arguments.common);
  if (!network) return network.takeError();
  Streams streams;
  for (int64_t i = 0; i < arguments.settings.streams; ++i) {
    auto stream = Stream::Make(**network, fed, arguments.common);
    if (!stream) return stream.takeError();
    streams.push_back(std::move(*stream));
  }
  BenchPeer of_peer;
  llvm::Expected<BenchResult> result =
      peer ? MeasureAgainst(streams, arguments, *peer, &of_peer.result)
           : Measure(streams, arguments);
  if (!result) return result.takeError();
  llvm::raw_ostream& os = arguments.json == "-" ? llvm::errs() : llvm::outs();
  PrintResult(*result, os);
  if (peer) {
    of_peer.program = "ONNX Runtime " + peer->version();
    os << of_peer.program << ", measured alternately:\n";
    PrintResult(of_peer.result, os);
    const BenchChange change = CompareResults(of_peer.result, *result, 0);
    os << llvm::formatv("pdl takes {0:f3} of the median time of ONNX Runtime, p = {1:e1}\n",
                        change.ratio, change.p_value);
  }
  if (!arguments.json.empty())
    if (llvm::Error error = Store(*result, peer ? &of_peer : nullptr, arguments.json)) return error;
  if (!baseline) return false;
  const BenchChange change = CompareResults(*baseline, *result, arguments.tolerance);
  PrintChange(change, os);
  return change.is_slower;
}

/// An option with a number from `min` to `max`.
void AddNumber(CommandLine& line, llvm::StringRef name, llvm::StringRef value, llvm::StringRef help,
               double min, double max, double* target) {
  line.AddValue(name, value, help, [=](llvm::StringRef text) -> llvm::Error {
    double number = 0;
    // Also false for nan.
    if (!text.getAsDouble(number) && number >= min && number <= max) {
      *target = number;
      return llvm::Error::success();
    }
    return MakeUsageError("expected a number from {0:f0} to {1:f0}, got '{2}'", min, max, text);
  });
}

void AddOptions(CommandLine& line, BenchArguments* bench) {
  line.Section("The measurement");
  bench->settings.mode = "latency";
  line.AddChoice("--mode", {"latency", "throughput"}, "one run at a time, or several",
                 &bench->settings.mode);
  line.AddValue("--streams", "N",
                "throughput: the number of runs at the same time (default: the number of "
                "processors divided by --threads, which is 1 by default)",
                [bench](llvm::StringRef text) -> llvm::Error {
                  auto streams = ParseInt(text, 1, 1024);
                  if (!streams) return streams.takeError();
                  bench->streams = *streams;
                  return llvm::Error::success();
                });
  AddNumber(line, "--seconds", "SECONDS", "the time to measure for (default: 2)", 0, 1e6,
            &bench->seconds);
  AddNumber(line, "--warm-up", "SECONDS", "the time to run before that (default: 0.5)", 0, 1e6,
            &bench->warm_up);
  line.AddString("--json", "FILE",
                 "write the settings and times to this file; - is standard output", &bench->json);
  line.Section("Comparison");
  line.AddString("--baseline", "FILE", "compare with this file, which --json has written",
                 &bench->baseline);
  AddNumber(line, "--tolerance", "SHARE",
            "report changes of the median time that are larger than this (default: 0.02)", 0, 1e6,
            &bench->tolerance);
  line.AddString("--against", "MODEL.onnx",
                 "run this model with ONNX Runtime alternately, on the same inputs; latency only",
                 &bench->model);
  line.AddString("--python", "PROGRAM",
                 "the Python that has the package onnxruntime (default: python3)", &bench->python);
  line.Require("--tolerance", "--baseline");
  line.Require("--python", "--against");
  line.Section("Inputs");
  line.AddValues("-i, --input", "NAME=VALUE", "as for pdl run; random by default",
                 [bench](llvm::StringRef text) { return bench->inputs.Add(text); });
  AddSizeOption(line, "the sizes of random inputs: --size N=32", &bench->common);
  line.Section("The network");
  AddNetworkOptions(line, &bench->common);
  AddWeightsOption(line, &bench->common);
  line.Section("The run");
  AddRunOptions(line, &bench->common);
  AddTrainingOption(line, &bench->common);
  AddPrecisionOption(line, &bench->common);
  AddMessageOptions(line);
  line.AddSandbox({"--json"});
  line.AllowReplacing("--baseline");
}

}  // namespace

int BenchMain(Arguments arguments) {
  BenchArguments bench;
  CommandLine line(kHelp);
  AddOptions(line, &bench);
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  const bool is_latency = bench.settings.mode == "latency";
  if (is_latency && bench.streams)
    return Finish(line.Wrong("--streams requires --mode=throughput"));
  if (!is_latency && !bench.model.empty())
    return Finish(line.Wrong("--against requires --mode=latency"));
  if (line.is_sandboxed() && !bench.model.empty())
    return Finish(line.Wrong("--against starts Python, which --sandbox does not allow"));
  llvm::Expected<bool> is_slower = Bench(**file, bench);
  if (!is_slower) return Finish(is_slower.takeError());
  return *is_slower ? kUserError : kSuccess;
}

}  // namespace pdl
