// Recording of a process in Perfetto's format, for ui.perfetto.dev: see docs/profile.md.
// Module: ir
#ifndef PDL_COMPILER_TRACE_H_
#define PDL_COMPILER_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

class TraceSession;

/// Parameters of a Trace.
struct TraceOptions {
  /// The trace ends when its file has this many bytes.
  int64_t max_bytes = int64_t{1} << 30;
  /// The file that is named as the source of slices that belong to no call: "model.pdl".
  std::string source;
  /// The arithmetic operations (f32) and bytes of memory per second that the device can reach;
  /// 0: unknown. Slices then have no share of the peak.
  double peak_operations = 0, peak_bytes = 0;
  /// The operations in bf16 with sums in f32; 0: as many as in f32.
  double peak_bf16_operations = 0;
};

/// While an object exists, the process records into a file: the calls of all runs, what the threads
/// compute for them, and TraceSpans, with counters of memory and speed. Only one at a time.
///
/// Threads record into memory of their own; another thread writes the file. It can be read up to
/// what was written at any time, also if the process is killed. A forked child records nothing.
class PDL_API Trace {
 public:
  /// Creates or overwrites the file. Errors: it cannot be written, or there is another Trace.
  static llvm::Expected<std::unique_ptr<Trace>> Start(llvm::StringRef path, TraceOptions options);
  /// Finishes, and ignores errors.
  ~Trace();

  /// Ends the recording and writes the rest. An Error, which names the file, if not everything
  /// could be written. Later calls do nothing. Runs of other threads may continue.
  llvm::Error Finish();
  /// After Finish: whether the trace ended early because of TraceOptions::max_bytes.
  bool is_truncated() const;
  /// After Finish: the number of recorded events; counters are not counted.
  int64_t num_events() const;

 private:
  explicit Trace(std::shared_ptr<TraceSession> session);
  std::shared_ptr<TraceSession> session_;
};

/// Records the lifetime of this object as a slice of its thread, if there is a Trace: a stage of
/// the compiler, or a phase of training.
class PDL_API TraceSpan {
 public:
  /// `name` is not copied: it must live as long as the process.
  explicit TraceSpan(llvm::StringRef name);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  llvm::StringRef name_;
  uint64_t begin_;  // 0: not recorded
};

}  // namespace pdl

#endif  // PDL_COMPILER_TRACE_H_
