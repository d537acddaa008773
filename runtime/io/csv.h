// Tables of numbers as text (RFC 4180, without line breaks inside of fields).
#ifndef PDL_RUNTIME_IO_CSV_H_
#define PDL_RUNTIME_IO_CSV_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/dtype.h"
#include "pdl/runtime/io.h"

namespace pdl {

/// Rows, and the lines they are on, counted from 1: each row that does not follow on the line
/// before it, the first one included.
using LinesOfRows = std::vector<std::pair<int64_t, int64_t>>;

/// The columns of the table in `path`, whose first line names them. A column `y` gives a tensor of
/// one dim, columns `x[0]`, `x[1]`, …, in any order, one `x` of two. Only columns whose name has a
/// dtype in `dtype_of` are read; `names` (may be null) becomes the names of all, each once, `lines`
/// (may be null) where the rows are. Errors name the line and the column; a number that is too
/// large for the dtype is one.
llvm::Expected<std::vector<NamedTensor>> ReadCsv(
    llvm::StringRef path, llvm::function_ref<std::optional<DType>(llvm::StringRef)> dtype_of,
    std::vector<std::string>* names, LinesOfRows* lines = nullptr);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_CSV_H_
