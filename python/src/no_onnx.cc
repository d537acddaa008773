#include "pdl/error.h"
#include "program.h"

namespace pdl::python {

llvm::Expected<Program> LoadOnnx(llvm::StringRef path) {
  return MakeUserError(Code::kBadFile,
                       "'{0}' is an ONNX model, which this package was built without", path);
}

}  // namespace pdl::python
