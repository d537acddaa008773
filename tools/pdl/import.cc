// pdl import: converts an ONNX model to source and weights.
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "model/onnx_file.h"
#include "onnx/import/text.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

namespace path = llvm::sys::path;

constexpr CommandLine::Help kHelp = {
    "pdl import", "MODEL.onnx [-o OUT.pdl] [OPTION]...",
    R"(Converts an ONNX model to source, OUT.pdl, formatted as by pdl fmt, and writes its
weights to OUT.safetensors. Sizes keep the names that the model gives them, and
computations on sizes become arithmetic of sizes. Subgraphs that compute a layer (conv,
fc, layer_norm, attention, gelu) become that layer. Operators that pdl does not support
are listed, all at once, and nothing is written.

An input whose values determine sizes (such as the target shape of a reshape) must be a
constant of the network: --set NAME=VALUE makes it one.
)",
    R"(pdl import resnet.onnx                     # writes resnet.pdl, resnet.safetensors
pdl import bert.onnx -o build/bert.pdl
pdl import crop.onnx --set sizes='[224, 224]'
pdl run resnet.onnx --input data=cat.npy   # every command accepts a model directly
)"};

llvm::Error Import(llvm::StringRef file, llvm::StringRef out, const CommonOptions& options) {
  // Printed source refers to the path that the weights would have next to the model.
  llvm::SmallString<256> weight_path(out == "-" ? file : out);
  path::replace_extension(weight_path, ".safetensors");
  InputFile model;
  model.name = file.str();
  model.folder = FolderOf(file);
  model.is_onnx = true;
  llvm::Expected<ImportedModel> imported = ImportOnnxFile(model, options.settings);
  if (!imported) return imported.takeError();
  PrintDiagnostics(imported->warnings);
  const ImportedText text = WriteImportedText(*imported, path::filename(weight_path));
  std::vector<NamedTensor> tensors;
  for (const auto& [name, constant] : text.tensors)
    tensors.emplace_back(name, Tensor::FromConstant(constant));
  if (out != "-" && !tensors.empty())
    if (llvm::Error error = WriteSafetensors(weight_path, tensors)) return error;
  return WriteResultFile(out, text.text);
}

}  // namespace

int ImportMain(Arguments arguments) {
  CommonOptions options;
  std::string out;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.pdl",
                 "the source file (- prints the source and writes no weights); default: MODEL.pdl, "
                 "which must not exist; required with --sandbox",
                 &out);
  AddNetworkOptions(line, &options);
  AddMessageOptions(line);
  line.AddSandbox({"--output"});
  line.Require("--sandbox", "--output");
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  // The name of the weights is made from that of the source, and must be another one.
  if (!out.empty() && out != "-" && path::extension(out) != ".pdl")
    return Finish(line.Wrong("expected --output OUT.pdl or -, got '" + out + "'"));
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  if (out.empty()) {
    llvm::SmallString<256> path_of_output(**file);
    path::replace_extension(path_of_output, ".pdl");
    out = path_of_output.str().str();
    // They may be a source that somebody has written, and its weights.
    llvm::SmallString<256> weights(path_of_output);
    path::replace_extension(weights, ".safetensors");
    for (llvm::StringRef file : {llvm::StringRef(out), weights.str()})
      if (llvm::sys::fs::exists(file))
        return Finish(MakeUserError(
            Code::kBadFile, "'{0}' exists: -o {1} replaces it, -o OTHER.pdl writes other files",
            file, out));
  }
  llvm::SmallString<256> weights(out);
  path::replace_extension(weights, ".safetensors");
  if (line.Reads(weights))
    return Finish(line.Wrong("'" + weights + "' cannot be an output: the command reads it"));
  return Finish(Import(**file, out, options));
}

}  // namespace pdl
