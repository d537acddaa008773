// pdl import: makes text and weights of an ONNX model.
#include "llvm/ADT/SmallString.h"
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
    R"(Makes text of an ONNX model, OUT.pdl, laid out as pdl fmt does, and writes its
weights beside it, OUT.safetensors. Sizes keep the names that the model gives them,
and what it computes from sizes becomes arithmetic of sizes. Parts that are a layer
(conv, fc, layer_norm, attention, gelu) become that layer. Operators that pdl does
not have are listed, all at once, and nothing is written.

An input whose values decide sizes (the shape that a tensor is given, say) must be
a constant of the network: --set NAME=VALUE makes it one.
)",
    R"(pdl import resnet.onnx                     # writes resnet.pdl, resnet.safetensors
pdl import bert.onnx -o build/bert.pdl
pdl import crop.onnx --set sizes='[224, 224]'
pdl run resnet.onnx --input data=cat.npy   # every command takes a model as it is
)"};

llvm::Error Import(llvm::StringRef file, llvm::StringRef out, const CommonOptions& options) {
  // A text that is printed says where the weights would be beside the model.
  llvm::SmallString<256> weight_path(out == "-" ? file : out);
  path::replace_extension(weight_path, ".safetensors");
  llvm::Expected<ImportedModel> imported = ImportOnnxFile(file, options.settings);
  if (!imported) return imported.takeError();
  const ImportedText text = WriteImportedText(*imported, path::filename(weight_path));
  if (out == "-") {
    llvm::outs() << text.text;
    return llvm::Error::success();
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [name, constant] : text.tensors)
    tensors.emplace_back(name, Tensor::FromConstant(constant));
  if (!tensors.empty())
    if (llvm::Error error = WriteSafetensors(weight_path, tensors)) return error;
  return WriteFileAtomically(out, text.text);
}

}  // namespace

int ImportMain(Arguments arguments) {
  CommonOptions options;
  std::string out;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.pdl",
                 "where to (- prints the text and writes no weights); default: MODEL.pdl", &out);
  AddNetworkOptions(line, &options);
  AddMessageOptions(line);
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kWell;
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  if (out.empty()) {
    llvm::SmallString<256> beside(**file);
    path::replace_extension(beside, ".pdl");
    out = beside.str().str();
  }
  return Finish(Import(**file, out, options));
}

}  // namespace pdl
