#ifndef PDL_RUNTIME_PROFILE_REPORT_H_
#define PDL_RUNTIME_PROFILE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/call_description.h"
#include "pdl/compiler/export.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/timed_runs.h"

namespace pdl {

/// The speeds that a device reaches in short loops that do nothing else, per second.
struct DevicePeak {
  int threads = 1;
  /// f32 operations; a multiply-add counts as 2.
  double operations = 0;
  /// With products of bf16 and sums in f32; 0 if these are not faster, so that no kernel uses them.
  double bf16_operations = 0;
  /// Bytes read from memory, and from the caches of the threads (L2).
  double memory_bytes = 0, cache_bytes = 0;
  /// The bytes that these caches hold.
  int64_t cache_size = 0;
};

/// Measures the peak of the context's threads; takes some 0.3 seconds.
PDL_API DevicePeak MeasurePeak(CPUContext& context);

/// The meaning of a row of a ProfileReport: a call (or a fused group), or all calls of an
/// operator, of a line of the source, or of a layer.
enum class ProfileBy : uint8_t { kCall, kOp, kLine, kLayer };

/// The times of TimedRuns as a table, with the roofline: how close each call comes to the time that
/// the device needs at least for its operations, or for its bytes (Williams et al., Roofline: an
/// insightful visual performance model, CACM 2009).
class PDL_API ProfileReport {
 public:
  struct Row {
    /// "conv2d, add -> y: f32[8, 64]"; or the operators, the line, or the layer.
    std::string name;
    /// The position of the first call, its line, or empty.
    std::string place, layer;
    /// For one run: seconds, calls, and their work.
    double seconds = 0, calls = 0;
    CallCost cost;
    /// The fraction of the time of the runs.
    double share = 0;
    /// The time that the peak allows, as a fraction of the time; 0 if the peak is unknown.
    /// May exceed 1, for operands in a cache that is faster than the measured one.
    double of_bound = 0;
    /// Whether the operations take longer at the peak than the bytes.
    bool is_bound_by_compute = false;
  };

  /// `peak`: of the device and the threads of the runs; nullopt if it is unknown.
  ProfileReport(const TimedRuns& runs, std::optional<DevicePeak> peak,
                ProfileBy by = ProfileBy::kCall);

  /// By decreasing time.
  llvm::ArrayRef<Row> rows() const { return rows_; }
  /// The average of the runs, in seconds, and the part of it that belongs to no call.
  double seconds() const { return seconds_; }
  double between() const { return between_; }

  /// Prints a table of at most `max_rows` rows, and the sums.
  void PrintTable(llvm::raw_ostream& os, size_t max_rows = 40) const;
  /// Prints one JSON object; times in seconds, speeds per second.
  void PrintJson(llvm::raw_ostream& os) const;
  /// Prints a page that needs no other file, with the table and the roofline as a plot.
  void PrintHtml(llvm::raw_ostream& os, llvm::StringRef title) const;

 private:
  void PrintPeak(llvm::raw_ostream& os) const;
  void PrintPlot(llvm::raw_ostream& os) const;

  std::vector<Row> rows_;
  Row total_;
  std::optional<DevicePeak> peak_;
  int64_t runs_ = 0;
  double seconds_ = 0, between_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PROFILE_REPORT_H_
