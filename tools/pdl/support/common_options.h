#ifndef PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_
#define PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/op/device.h"
#include "pdl/op/device_context.h"
#include "tools/pdl/support/command_line.h"

namespace pdl {

/// What several subcommands take.
struct CommonOptions {
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> plugins;
  /// A safetensors file, or empty.
  std::string weights;
  /// Where the files lie that the network names, instead of beside it; or empty.
  std::string folder;
  /// The weights need not be there.
  bool without_weights = false;
  /// The graph is to have what a step of training computes too.
  bool training_step = false;
  /// They were shown already.
  bool without_warnings = false;
  Device device;
  int threads = 0;
  uint64_t seed = 0;
  bool training = false;
  /// What products are computed in: f32, bf16 or f16; or empty.
  std::string precision;
  llvm::StringMap<int64_t> sizes;
  /// What --time-passes prints; null where it was not given.
  std::shared_ptr<PassTimings> pass_timings;
  /// Watches passes, or null; pass_timings does where it is null.
  PassObserver* pass_observer = nullptr;
};

/// --set and --plugin.
void AddNetworkOptions(CommandLine& line, CommonOptions* options);
/// --weights.
void AddWeightsOption(CommandLine& line, CommonOptions* options);
/// --precision.
void AddPrecisionOption(CommandLine& line, CommonOptions* options);
/// What it says; f32 where it was not given.
DType PrecisionOf(const CommonOptions& options);
/// --size.
void AddSizeOption(CommandLine& line, llvm::StringRef help, CommonOptions* options);
/// --device, --threads, --seed and --memory-limit.
void AddRunOptions(CommandLine& line, CommonOptions* options);
/// --training, for commands that run or show a network as it is.
void AddTrainingOption(CommandLine& line, CommonOptions* options);
/// --time-passes.
void AddTimePassesOption(CommandLine& line, CommonOptions* options);
/// Prints on standard error what --time-passes asks for, if it was given.
void PrintPassTimings(const CommonOptions& options);
/// --color, and for commands that read networks --diagnostics. Both take effect as they are read.
void AddMessageOptions(CommandLine& line, bool diagnostics = true);

/// Loads the plugins into the GlobalRegistry.
llvm::Error LoadPlugins(const CommonOptions& options);
/// The device that --device names, with its threads.
llvm::Expected<std::unique_ptr<DeviceContext>> OpenDevice(const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_
