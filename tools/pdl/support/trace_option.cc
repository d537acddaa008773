#include "tools/pdl/support/trace_option.h"

#include "pdl/compiler/trace.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/measured_runs.h"

namespace pdl {

void AddTraceOptions(CommandLine& line, TraceArguments* arguments) {
  line.AddValue("--trace", "FILE.pftrace",
                "record what each thread does into a file for ui.perfetto.dev; see docs/profile.md",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  if (text == "-")
                    return MakeUsageError("a trace is written to a file, not to standard output");
                  arguments->path = text.str();
                  return llvm::Error::success();
                });
  line.AddByteSize("--trace-limit", "end the trace at this size (default 1GiB)",
                   [arguments](int64_t bytes) { arguments->max_bytes = bytes; });
  line.Require("--trace-limit", "--trace");
}

llvm::Error WithTrace(const TraceArguments& arguments, llvm::StringRef network,
                      const CommonOptions& common, llvm::function_ref<llvm::Error()> work) {
  if (arguments.path.empty()) return work();
  TraceOptions options;
  options.max_bytes = arguments.max_bytes;
  options.source = network == "-" ? "<stdin>" : network.str();
  if (common.device.kind == DeviceKind::kCPU) {
    CPUContext context(common.threads);
    const DevicePeak peak = MeasurePeak(context);
    options.peak_operations = peak.operations;
    options.peak_bf16_operations = peak.bf16_operations;
    options.peak_bytes = peak.memory_bytes;
  }
  llvm::Expected<std::unique_ptr<Trace>> trace = Trace::Start(arguments.path, options);
  if (!trace) return trace.takeError();
  llvm::Error error = work();
  error = llvm::joinErrors(std::move(error), (*trace)->Finish());
  if ((*trace)->is_truncated())
    PrintNote("the trace ended early, since '" + arguments.path +
              "' reached the size of --trace-limit");
  return error;
}

}  // namespace pdl
