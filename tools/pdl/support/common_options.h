#ifndef PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_
#define PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/op/device.h"
#include "pdl/op/device_context.h"
#include "pdl/weight_rules.h"
#include "tools/pdl/support/command_line.h"

namespace pdl {

/// The values of options that several subcommands share.
struct CommonOptions {
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<std::string> plugins;
  /// A safetensors file, an index or a pattern, or empty.
  std::string weights;
  WeightRules weight_rules;
  /// If not empty, the folder of the files that the network refers to, instead of the network's own
  /// folder.
  std::string folder;
  /// The weights need not exist.
  bool without_weights = false;
  /// The graph must also contain everything that a training step computes.
  bool training_step = false;
  /// For --step: the network of a training step, which runs with `training`.
  void UseTrainingStep() { training_step = training = true; }
  /// Do not print warnings.
  bool without_warnings = false;
  /// Also warn of names that nothing uses.
  bool warn_unused = false;
  /// Warnings are errors.
  bool werror = false;
  Device device;
  /// --device=cuda without an index: each rank of a machine takes another GPU.
  bool takes_own_gpu = false;
  int threads = 0;
  uint64_t seed = 0;
  bool training = false;
  /// The dtype of matmuls, convolutions and attention: f32, bf16 or f16; or empty.
  std::string precision;
  llvm::StringMap<int64_t> sizes;
  /// The measurements that --time-passes prints; null if that was not given.
  std::shared_ptr<PassTimings> pass_timings;
  /// Observes passes; if null, pass_timings observes them.
  PassObserver* pass_observer = nullptr;
};

/// Adds --set and --plugin.
void AddNetworkOptions(CommandLine& line, CommonOptions* options);
/// Adds --werror, and turns on warnings of names that nothing uses.
void AddWarningOptions(CommandLine& line, CommonOptions* options);
/// Adds --weights and --weights-with.
void AddWeightsOption(CommandLine& line, CommonOptions* options);
/// Adds --precision, of training steps and of runs.
void AddPrecisionOption(CommandLine& line, CommonOptions* options);
/// The dtype of --precision; f32 if that was not given.
DType PrecisionOf(const CommonOptions& options);
/// Adds --size.
void AddSizeOption(CommandLine& line, llvm::StringRef help, CommonOptions* options);
/// Adds --device, --threads, --seed and --memory-limit.
void AddRunOptions(CommandLine& line, CommonOptions* options);
/// Adds --training, for commands that run or show an unchanged network.
void AddTrainingOption(CommandLine& line, CommonOptions* options);
/// Adds --bucket, the size of the parts in which gradients are added over processes.
void AddBucketOption(CommandLine& line, std::optional<int64_t>* bytes);
/// Adds --time-passes.
void AddTimePassesOption(CommandLine& line, CommonOptions* options);
/// Prints the measurements of --time-passes to standard error, if that was given.
void PrintPassTimings(const CommonOptions& options);
/// Adds --color, and for commands that read networks --diagnostics. Both take effect while they are
/// parsed.
void AddMessageOptions(CommandLine& line, bool diagnostics = true);

/// Loads the plugins into the GlobalRegistry.
llvm::Error LoadPlugins(const CommonOptions& options);
/// Opens the device of --device, with its threads.
llvm::Expected<std::unique_ptr<DeviceContext>> OpenDevice(const CommonOptions& options);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_COMMON_OPTIONS_H_
