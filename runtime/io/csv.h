// Tables of numbers as text (RFC 4180, without line breaks inside of fields).
#ifndef PDL_RUNTIME_IO_CSV_H_
#define PDL_RUNTIME_IO_CSV_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/dtype.h"
#include "pdl/io.h"

namespace pdl {

/// The columns of the table in `path`, whose first line names them. A column `y` gives a tensor of
/// one dim, columns `x[0]`, `x[1]`, …, in any order, one `x` of two. Only columns whose name has a
/// dtype in `dtype_of` are read; `names` (may be null) becomes the names of all, each once. Errors
/// name the line and the column.
llvm::Expected<std::vector<NamedTensor>> ReadCsv(
    llvm::StringRef path, llvm::function_ref<std::optional<DType>(llvm::StringRef)> dtype_of,
    std::vector<std::string>* names);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_CSV_H_
