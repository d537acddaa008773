#ifndef PDL_TOOLS_PDL_BENCH_RESULT_H_
#define PDL_TOOLS_PDL_BENCH_RESULT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {

/// The parameters of a benchmark that its times depend on.
struct BenchSettings {
  std::string network;  // its path, "-", or empty if a file does not state it
  std::string mode;     // "latency" or "throughput"
  std::string device;
  std::string precision = "f32";  // of --precision
  bool training = false;          // of --training
  int64_t streams = 1;
  int64_t threads = 1;  // of each stream
  std::map<std::string, int64_t> sizes;
};

/// The measurements of a benchmark.
struct BenchResult {
  BenchSettings settings;
  /// The times of all runs, in milliseconds, in the order in which they ended.
  std::vector<double> times;
  /// Runs per second, of all streams together.
  double throughput = 0;

  /// The samples that comparisons use: medians of consecutive runs.
  std::vector<double> samples;
};

/// The measurements of another program with the same settings, made alternately.
struct BenchPeer {
  std::string program;  // with its version: "ONNX Runtime 1.32.0"
  BenchResult result;
};

/// Writes the settings, percentiles, throughput and samples as JSON, and those of `peer` and the
/// comparison with them unless it is null.
void WriteResult(const BenchResult& result, const BenchPeer* peer, llvm::raw_ostream& os);
/// Reads a file of WriteResult; `times` stays empty. An Error if the file has another form.
llvm::Expected<BenchResult> ReadResult(llvm::StringRef path);

/// Prints the percentiles and the throughput.
void PrintResult(const BenchResult& result, llvm::raw_ostream& os);

/// The change from one result to another one.
struct BenchChange {
  double ratio = 1;    // of the medians: new / old
  double p_value = 1;  // of the rank-sum test
  /// Whether the change is significant (p < 0.01) and larger than the tolerance.
  bool is_slower = false, is_faster = false;
};

/// Compares the samples of two results. `tolerance` is a share of the old median.
BenchChange CompareResults(const BenchResult& old_result, const BenchResult& new_result,
                           double tolerance);
/// Returns an Error that names the first setting that differs.
llvm::Error CheckSameSettings(const BenchSettings& old_settings, const BenchSettings& new_settings);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BENCH_RESULT_H_
