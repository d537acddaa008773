// Tables of numbers in CSV format (RFC 4180, without line breaks in fields).
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

/// Pairs of a row and its line, counted from 1: for the first row, and each row that does not
/// directly follow the line of the previous row.
using LinesOfRows = std::vector<std::pair<int64_t, int64_t>>;

/// Reads the columns of the table in `path`, whose first line names them. A column `y` gives a
/// tensor with one dim; columns `x[0]`, `x[1]`, …, in any order, one tensor `x` with two. Only
/// columns for whose name `dtype_of` returns a dtype are read. `names` (may be null) is set to the
/// names of all tensors, and `lines` (may be null) to the lines of the rows. Errors, such as
/// numbers too large for the dtype, name the line and the column.
llvm::Expected<std::vector<NamedTensor>> ReadCsv(
    llvm::StringRef path, llvm::function_ref<std::optional<DType>(llvm::StringRef)> dtype_of,
    std::vector<std::string>* names, LinesOfRows* lines = nullptr);

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_CSV_H_
