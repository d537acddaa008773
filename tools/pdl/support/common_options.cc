#include "tools/pdl/support/common_options.h"

#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/runtime/plugin.h"
#include "tools/pdl/support/console.h"

namespace pdl {

void AddNetworkOptions(CommandLine& line, CommonOptions* options) {
  line.AddValues(
      "--set", "NAME=VALUE",
      "override the value of an `attr` of the file, such as width=512; for an ONNX model, make an "
      "input a constant, or a symbolic size a number",
      [options](llvm::StringRef text) -> llvm::Error {
        auto assignment = ParseAssignment(text);
        if (!assignment) return assignment.takeError();
        const auto& [name, value] = *assignment;
        if (llvm::is_contained(llvm::make_first_range(options->settings), name))
          return MakeUsageError("'{0}' is given twice", name);
        options->settings.emplace_back(name, value);
        return llvm::Error::success();
      });
  line.AddValues("--plugin", "FILE.so", "load operators from a shared library",
                 [options](llvm::StringRef text) {
                   options->plugins.push_back(text.str());
                   return llvm::Error::success();
                 });
}

void AddWarningOptions(CommandLine& line, CommonOptions* options) {
  options->warn_unused = true;
  line.AddFlag("--werror", "make warnings errors", &options->werror);
}

void AddWeightsOption(CommandLine& line, CommonOptions* options) {
  line.AddString("--weights", "FILE",
                 "load parameters and states from a .safetensors file whose tensors have their "
                 "names, from the "
                 "parts that an .index.json lists, or from all files that match a pattern such as "
                 "'model-*.safetensors'",
                 &options->weights);
  line.AddValues(
      "--weights-with", "NAME=VALUE",
      "how to load --weights: cast=true, partial=true, rename=FROM:TO, "
      "transpose=PATTERN; see docs/weights.md",
      [options](llvm::StringRef text) -> llvm::Error {
        auto rule = ParseAssignment(text);
        if (!rule) return rule.takeError();
        llvm::Error error = SetWeightRule(&options->weight_rules, rule->first, rule->second);
        return llvm::handleErrors(
            std::move(error), [](const UserError& e) { return MakeUsageError("{0}", e.text()); });
      });
  line.Require("--weights-with", "--weights");
}

void AddSizeOption(CommandLine& line, llvm::StringRef help, CommonOptions* options) {
  line.AddValues("--size", "NAME=NUMBER", help, [options](llvm::StringRef text) -> llvm::Error {
    auto assignment = ParseAssignment(text);
    if (!assignment) return assignment.takeError();
    auto size = ParseInt(assignment->second, 0, std::numeric_limits<int64_t>::max());
    if (!size) return size.takeError();
    if (!options->sizes.try_emplace(assignment->first, *size).second)
      return MakeUsageError("'{0}' is given twice", assignment->first);
    return llvm::Error::success();
  });
}

void AddPrecisionOption(CommandLine& line, CommonOptions* options) {
  line.AddChoice("--precision", {"f32", "bf16", "f16"},
                 "compute f32 matmuls and convolutions in this dtype (default f32). Runs on a CPU: "
                 "bf16, which rounds weights; sums and results stay f32. Training steps, and cuda: "
                 "mixed precision in bf16 or f16, which also has attention and results in that "
                 "dtype; with f16 the loss is scaled. See docs/kernels.md",
                 &options->precision);
}

DType PrecisionOf(const CommonOptions& options) {
  return DTypeFromName(options.precision).value_or(DType::kF32);
}

void AddTrainingOption(CommandLine& line, CommonOptions* options) {
  line.AddFlag("--training", "make `training` true in the network", &options->training);
}

void AddRunOptions(CommandLine& line, CommonOptions* options) {
  line.AddValue(
      "--device", "cpu|cuda[:I]",
      "where to run (default cpu); if the device cannot be used, that is an error, and no "
      "other device is used instead",
      [options](llvm::StringRef text) -> llvm::Error {
        llvm::Expected<Device> device = DeviceFromName(text);
        if (!device) {
          llvm::consumeError(device.takeError());
          return MakeUsageError("expected cpu, cuda or cuda:1, got '{0}'", text);
        }
        options->device = *device;
        options->takes_own_gpu = text == "cuda";
        return llvm::Error::success();
      });
  line.AddValue("--threads", "N",
                "CPU threads (default: the number of processors); results do not depend on their "
                "number",
                [options](llvm::StringRef text) -> llvm::Error {
                  auto threads = ParseInt(text, 1, 1024);
                  if (!threads) return threads.takeError();
                  options->threads = static_cast<int>(*threads);
                  return llvm::Error::success();
                });
  line.AddValue("--seed", "N", "seed of random numbers and initial parameters (default 0)",
                [options](llvm::StringRef text) -> llvm::Error {
                  if (text.getAsInteger(10, options->seed))
                    return MakeUsageError("expected an integer of at least 0, got '{0}'", text);
                  return llvm::Error::success();
                });
  line.AddByteSize("--memory-limit",
                   "the most memory for tensors, such as 4GiB (default: three quarters of the "
                   "machine's); a run that needs more is an error",
                   SetMemoryLimit);
}

void AddBucketOption(CommandLine& line, std::optional<int64_t>* bytes) {
  line.AddByteSize("--bucket",
                   "add gradients over processes in parts of at least this size, each as soon as "
                   "it is computed (default 8MiB)",
                   [bytes](int64_t size) { *bytes = size; });
}

void AddTimePassesOption(CommandLine& line, CommonOptions* options) {
  line.AddValue("--time-passes", "",
                "print to standard error the time of each pass over the network, and the number of "
                "calls before and after it",
                [options](llvm::StringRef) {
                  options->pass_timings = std::make_shared<PassTimings>();
                  return llvm::Error::success();
                });
}

void PrintPassTimings(const CommonOptions& options) {
  if (options.pass_timings) options.pass_timings->Print(llvm::errs());
}

void AddMessageOptions(CommandLine& line, bool diagnostics) {
  line.Section("Messages");
  if (diagnostics) {
    line.AddValue(
        "--diagnostics", "text|json|sarif",
        "format of messages: 'text' (default), 'json' with one object per line, or 'sarif' (2.1.0) "
        "with one document at the end of the command",
        [](llvm::StringRef text) -> llvm::Error {
          if (text != "text" && text != "json" && text != "sarif")
            return MakeUsageError("expected text, json or sarif, got '{0}'", text);
          SetDiagnosticsFormat(text);
          return llvm::Error::success();
        });
  }
  line.AddValue("--color", "auto|always|never", "use colors in messages (default auto)",
                [](llvm::StringRef text) -> llvm::Error {
                  if (text != "auto" && text != "always" && text != "never")
                    return MakeUsageError("expected auto, always or never, got '{0}'", text);
                  SetColor(text);
                  return llvm::Error::success();
                });
  line.AddFlag("-h, --help", "print this help", nullptr);
}

llvm::Error LoadPlugins(const CommonOptions& options) {
  for (const std::string& plugin : options.plugins)
    if (llvm::Error error = LoadPlugin(plugin)) return error;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<DeviceContext>> OpenDevice(const CommonOptions& options) {
  return CreateDeviceContext(options.device, options.threads);
}

}  // namespace pdl
