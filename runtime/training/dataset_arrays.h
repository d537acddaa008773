#ifndef PDL_RUNTIME_TRAINING_DATASET_ARRAYS_H_
#define PDL_RUNTIME_TRAINING_DATASET_ARRAYS_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/io.h"
#include "runtime/io/csv.h"

namespace pdl {

/// Arrays in a file or a folder of training data, and the names of all arrays in it.
struct DataArrays {
  std::vector<NamedTensor> arrays;
  std::vector<std::string> names;
  /// Whether it is a table with one line per row.
  bool is_table = false;
  /// For a table, the lines of its rows.
  LinesOfRows lines;

  const Tensor* Find(llvm::StringRef name) const;
};

/// Reads the arrays for Dataset::Open. `arrays` may lack those that no input of `graph` needs.
llvm::Expected<DataArrays> ReadDataArrays(llvm::StringRef path, const Graph& graph);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_DATASET_ARRAYS_H_
