#include "onnx/import.h"

#include <memory>
#include <utility>

#include "program.h"

namespace pdl::python {

llvm::Expected<Program> LoadOnnx(llvm::StringRef path) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(path);
  if (!model) return model.takeError();
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model);
  if (!imported) return imported.takeError();
  Program program;
  program.graph = std::make_shared<const Graph>(std::move(imported->graph));
  program.weights = std::move(imported->weights);
  return program;
}

}  // namespace pdl::python
