#ifndef PDL_TOOLS_PDL_SUPPORT_TRACE_OPTION_H_
#define PDL_TOOLS_PDL_SUPPORT_TRACE_OPTION_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// The values of --trace and --trace-limit.
struct TraceArguments {
  std::string path;  // empty: no trace
  int64_t max_bytes = int64_t{1} << 30;
};

/// Adds --trace and --trace-limit.
void AddTraceOptions(CommandLine& line, TraceArguments* arguments);

/// Does `work`, which loads and runs the network of the file `network`; if --trace was given, into
/// a trace, whose Error comes after that of `work`.
llvm::Error WithTrace(const TraceArguments& arguments, llvm::StringRef network,
                      const CommonOptions& common, llvm::function_ref<llvm::Error()> work);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_TRACE_OPTION_H_
