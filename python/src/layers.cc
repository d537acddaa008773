#include "layers.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "errors.h"
#include "gil.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

/// The path of the source that is read; no file in its folder has this name.
constexpr llvm::StringLiteral kOwnPath = "<layers>.pdl";

/// Compiles a file that imports `source`, which checks all of its layers. Returns the declarations
/// of its layers (JSON, see OpProtosToJson), its source, and the files that it imports by path.
/// Throws if the source or an imported file has errors.
nb::tuple ReadLayers(const std::shared_ptr<const SourceFile>& source, const std::string& folder) {
  std::map<std::string, std::string> imported;
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>(
      "<import>", ("import \"" + kOwnPath + "\" as layers\n").str());
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.read_file =
      [&](llvm::StringRef path) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
    if (path == kOwnPath) return source;
    llvm::Expected<std::shared_ptr<const SourceFile>> file = ReadImported(folder, path);
    if (file) imported[path.str()] = (*file)->text().str();
    return file;
  };
  WeightFiles weights(folder);
  request.open_weights = weights.Opener();
  CompileResult result = [&] {
    WithoutGil without_gil;
    return Compile(request);
  }();
  if (!result.graph) Raise(result.diagnostics);
  Diagnostics diagnostics;
  const std::string json = OpProtosToJson(OpRegistry(), DescribeLayers(source, &diagnostics));
  return nb::make_tuple(json, source->text().str(), std::move(imported));
}

nb::tuple ReadLayerText(std::string text, const Path& folder) {
  return ReadLayers(std::make_shared<const SourceFile>("<layer>", std::move(text)), folder.bytes);
}

nb::tuple ReadLayerFile(const Path& path) {
  const InputFile file = Get(ReadInputFile(path.bytes));
  return ReadLayers(Get(ToSource(file)), file.folder);
}

}  // namespace

void BindLayers(nb::module_& module) {
  module.def("read_layers", &ReadLayerText, nb::arg("text"), nb::arg("folder"));
  module.def("read_layer_file", &ReadLayerFile, nb::arg("path"));
}

}  // namespace pdl::python
