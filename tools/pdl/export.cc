// pdl export: writes a network as an ONNX model.
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "model/onnx_file.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl export", "FILE -o OUT.onnx [OPTION]...",
    R"(Writes the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) as an ONNX
model for inference: the calls that its outputs depend on, its parameters, and the
initial values of its states. Sizes that are symbols keep their names; each node is
named after the value that it computes and the source line that it comes from.

Everything that ONNX has no counterpart for is listed at once, and nothing is written:
ragged and sparse values, states that a run changes, random numbers, and the operators
that docs/onnx.md lists.

Weights of 1 GiB or more in total are written to OUT.onnx.data next to the model, unless
that is written to standard output.
)",
    R"(pdl export model.pdl -o model.onnx
pdl export model.pdl -o model.onnx --weights=model.safetensors
pdl export model.pdlc -o model.onnx --external-data
)"};

struct ExportArguments {
  CommonOptions common;
  std::string out;
  bool external_data = false;
};

llvm::Error Export(llvm::StringRef path, const ExportArguments& arguments) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  llvm::Expected<std::shared_ptr<const Network>> network =
      CreateNetwork(std::move(*loaded), arguments.common);
  if (!network) return network.takeError();
  OnnxFileOptions options;
  const llvm::StringRef stem = llvm::sys::path::stem(path);
  if (path != "-" && !stem.empty()) options.name = stem.str();
  options.external_data = arguments.external_data;
  if (arguments.out == "-") {
    llvm::Expected<std::string> bytes = SerializeOnnx(**network, options.name);
    if (!bytes) return bytes.takeError();
    llvm::outs() << *bytes;
    return llvm::Error::success();
  }
  return WriteOnnxFile(**network, arguments.out, {}, options);
}

}  // namespace

int ExportMain(Arguments arguments) {
  ExportArguments options;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.onnx", "the model to write (- is standard output)",
                 &options.out);
  line.AddFlag("--external-data",
               "store weights from 1 KiB on in OUT.onnx.data, whatever their total size",
               &options.external_data);
  line.Section("The network");
  AddNetworkOptions(line, &options.common);
  AddWeightsOption(line, &options.common);
  line.AddValue("--seed", "N", "seed of initial parameters (default 0)",
                [&options](llvm::StringRef text) -> llvm::Error {
                  if (text.getAsInteger(10, options.common.seed))
                    return MakeUsageError("expected an integer of at least 0, got '{0}'", text);
                  return llvm::Error::success();
                });
  AddMessageOptions(line);
  line.AddSandbox({"--output"});
  line.AllowReplacing(".onnx");
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  if (options.out.empty()) return Finish(line.Wrong("no output is given: give -o OUT.onnx"));
  if (options.out == "-" && options.external_data)
    return Finish(line.Wrong("--external-data needs a file for the model: give -o OUT.onnx"));
  return Finish(Export(**file, options));
}

}  // namespace pdl
