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

/// The arrays that a file or a folder of training data has, and the names of all that there are.
struct DataArrays {
  std::vector<NamedTensor> arrays;
  std::vector<std::string> names;
  /// A line for each example.
  bool is_table = false;
  /// Of a table, where its rows are.
  LinesOfRows lines;

  const Tensor* Find(llvm::StringRef name) const;
};

/// Reads what Dataset::Open takes. What no input of `graph` needs may be left out of `arrays`.
llvm::Expected<DataArrays> ReadDataArrays(llvm::StringRef path, const Graph& graph);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_DATASET_ARRAYS_H_
