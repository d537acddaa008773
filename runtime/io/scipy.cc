#include "runtime/io/scipy.h"

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "runtime/io/file.h"
#include "runtime/io/npy.h"
#include "runtime/io/npz.h"
#include "runtime/io/zip.h"

namespace pdl {
namespace {

/// The array `format` of the file: "csr", "csc", …; empty if there is none.
llvm::Expected<std::string> FormatOf(llvm::StringRef path) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path);
  if (!file) return file.takeError();
  llvm::Expected<std::vector<ZipMember>> members = ReadZipDirectory(path, *file);
  if (!members) return members.takeError();
  for (const ZipMember& member : *members) {
    if (member.name != "format.npy") continue;
    llvm::Expected<SharedBytes> bytes = UnpackZipMember(path, *file, member);
    if (!bytes) return bytes.takeError();
    return TextOf(bytes->bytes).str();
  }
  return "";
}

}  // namespace

llvm::Expected<SciPyMatrix> ReadSciPyMatrix(llvm::StringRef path) {
  llvm::Expected<std::vector<NamedTensor>> arrays =
      ReadNpz(path, [](llvm::StringRef name) { return name != "format"; }, nullptr);
  if (!arrays) return arrays.takeError();
  llvm::Expected<std::string> format = FormatOf(path);
  if (!format) return format.takeError();
  if (!format->empty() && *format != "csr") {
    return CannotRead(path, "it is a sparse matrix in {0} format: save its .tocsr()",
                      llvm::StringRef(*format).upper());
  }
  SciPyMatrix matrix;
  Tensor shape;
  for (const auto& [name, tensor] :
       {std::pair("indptr", &matrix.offsets), std::pair("indices", &matrix.indices),
        std::pair("data", &matrix.values), std::pair("shape", &shape)}) {
    const NamedTensor* found = nullptr;
    for (const NamedTensor& array : *arrays)
      if (array.first == name) found = &array;
    if (found == nullptr)
      return CannotRead(path, "it is not a sparse matrix in CSR format: it has no array '{0}'",
                        name);
    const bool is_index = tensor != &matrix.values;
    const DType dtype = found->second.dtype();
    if (is_index && dtype != DType::kI64 && dtype != DType::kI32)
      return CannotRead(path, "its array '{0}' must be i64 or i32, got {1}", name,
                        found->second.TypeString());
    if (found->second.rank() != 1)
      return CannotRead(path, "its array '{0}' must have one dim, got {1}", name,
                        found->second.TypeString());
    *tensor = found->second;
  }
  const auto size = [&](int64_t axis) {
    return shape.dtype() == DType::kI64 ? shape.data<int64_t>()[axis]
                                        : int64_t{shape.data<int32_t>()[axis]};
  };
  if (shape.num_elements() != 2)
    return CannotRead(path, "its array 'shape' is not the shape of a matrix");
  if (matrix.offsets.num_elements() - 1 != size(0))
    return CannotRead(path, "its array 'shape' has {0} rows, and 'indptr' {1}", size(0),
                      matrix.offsets.num_elements() - 1);
  matrix.columns = size(1);
  return matrix;
}

}  // namespace pdl
