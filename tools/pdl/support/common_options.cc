#include "tools/pdl/support/common_options.h"

#include <limits>

#include "pdl/runtime/plugin.h"
#include "tools/pdl/support/console.h"

namespace pdl {

void AddNetworkOptions(CommandLine& line, CommonOptions* options) {
  line.AddValue(
      "--set", "NAME=VALUE",
      "give an `attr` of the file another value, such as width=512; make an input of an ONNX "
      "model a constant, or a size of it a number",
      [options](llvm::StringRef text) -> llvm::Error {
        auto assignment = ParseAssignment(text);
        if (!assignment) return assignment.takeError();
        options->settings.emplace_back(assignment->first, assignment->second);
        return llvm::Error::success();
      });
  line.AddValue("--plugin", "FILE.so", "load operators from a shared library",
                [options](llvm::StringRef text) {
                  options->plugins.push_back(text.str());
                  return llvm::Error::success();
                });
}

void AddWeightsOption(CommandLine& line, CommonOptions* options) {
  line.AddString(
      "--weights", "FILE",
      "values of parameters and states: a .safetensors file whose tensors have their names",
      &options->weights);
}

void AddSizeOption(CommandLine& line, llvm::StringRef help, CommonOptions* options) {
  line.AddValue("--size", "NAME=NUMBER", help, [options](llvm::StringRef text) -> llvm::Error {
    auto assignment = ParseAssignment(text);
    if (!assignment) return assignment.takeError();
    auto size = ParseInt(assignment->second, 0, std::numeric_limits<int64_t>::max());
    if (!size) return size.takeError();
    options->sizes[assignment->first] = *size;
    return llvm::Error::success();
  });
}

void AddPrecisionOption(CommandLine& line, CommonOptions* options) {
  line.AddChoice("--precision", {"f32", "bf16", "f16"},
                 "what a step of training computes matrix products, convolutions and attention in "
                 "(default f32); all else, and what is learned, stays as it is, and with f16 the "
                 "loss is scaled",
                 &options->precision);
}

DType PrecisionOf(const CommonOptions& options) {
  return DTypeFromName(options.precision).value_or(DType::kF32);
}

void AddTrainingOption(CommandLine& line, CommonOptions* options) {
  line.AddFlag("--training", "make `training` true in the network", &options->training);
}

void AddRunOptions(CommandLine& line, CommonOptions* options) {
  line.AddValue("--device", "cpu|cuda[:I]",
                "where to run (default cpu); where the device cannot be used, that is an error: "
                "nothing moves to another one silently",
                [options](llvm::StringRef text) -> llvm::Error {
                  llvm::Expected<Device> device = DeviceFromName(text);
                  if (!device) {
                    llvm::consumeError(device.takeError());
                    return MakeUsageError("wanted cpu, cuda or cuda:1, got '{0}'", text);
                  }
                  options->device = *device;
                  return llvm::Error::success();
                });
  line.AddValue("--threads", "N",
                "CPU threads (default: as many as there are processors); the results are the same "
                "for any number",
                [options](llvm::StringRef text) -> llvm::Error {
                  auto threads = ParseInt(text, 1, 1024);
                  if (!threads) return threads.takeError();
                  options->threads = static_cast<int>(*threads);
                  return llvm::Error::success();
                });
  line.AddValue("--seed", "N", "seed of random numbers and initial parameters (default 0)",
                [options](llvm::StringRef text) -> llvm::Error {
                  if (text.getAsInteger(10, options->seed))
                    return MakeUsageError("wanted a whole number from 0 on, got '{0}'", text);
                  return llvm::Error::success();
                });
  line.AddValue("--memory-limit", "SIZE",
                "the most memory for tensors, such as 4GiB (default: three quarters of the "
                "machine's); what needs more is refused",
                [](llvm::StringRef text) -> llvm::Error {
                  auto bytes = ParseByteSize(text);
                  if (!bytes) return bytes.takeError();
                  SetMemoryLimit(*bytes);
                  return llvm::Error::success();
                });
}

void AddTimePassesOption(CommandLine& line, CommonOptions* options) {
  line.AddValue("--time-passes", "",
                "tell on standard error what each pass over the network cost: its time, and the "
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
        "mistakes as text for people (default), as JSON, one object a line, or as SARIF 2.1.0, one "
        "document when the command ends",
        [](llvm::StringRef text) -> llvm::Error {
          if (text != "text" && text != "json" && text != "sarif")
            return MakeUsageError("wanted text, json or sarif, got '{0}'", text);
          SetDiagnosticsFormat(text);
          return llvm::Error::success();
        });
  }
  line.AddValue("--color", "auto|always|never", "colours in messages (default auto)",
                [](llvm::StringRef text) -> llvm::Error {
                  if (text != "auto" && text != "always" && text != "never")
                    return MakeUsageError("wanted auto, always or never, got '{0}'", text);
                  SetColor(text);
                  return llvm::Error::success();
                });
  line.AddFlag("-h, --help", "this text", nullptr);
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
