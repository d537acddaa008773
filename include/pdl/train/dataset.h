#ifndef PDL_TRAIN_DATASET_H_
#define PDL_TRAIN_DATASET_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// Training or validation data: one array for each input of a network, whose first dim is the rows.
/// The types of all inputs begin with the same symbol, as in `f32[N, 64]` and `i64[N]`; a batch
/// consists of N rows. Immutable; copies share the arrays.
class PDL_API Dataset {
 public:
  /// All rows of one input, on the CPU.
  struct Field {
    std::string name;
    PackedValue rows;
  };

  /// Reads data for the inputs of `graph` from a .npz archive, a folder of .npy files (and of .npz
  /// files, each a sparse matrix written by SciPy), or a .csv table. For a ragged or sparse input
  /// `x`, an archive or folder has the arrays of PartsOf: `x`, `x.offsets`, `x.indices`. The
  /// columns of a table are named `y`, or `x[0]`, `x[1]`, … in row-major order for an input whose
  /// rows have several elements. Files are mapped if their format permits it.
  ///
  /// The Error lists all inputs that have no array, or one with a wrong dtype or wrong sizes.
  /// Inputs may be missing if no `minimize`, update, or output with one element depends on them.
  /// Arrays whose names are not those of inputs are ignored.
  static llvm::Expected<Dataset> Open(llvm::StringRef path, const Graph& graph);
  /// As above, from tensors on the CPU. `source` is the name of the data in messages.
  static llvm::Expected<Dataset> FromTensors(llvm::ArrayRef<NamedTensor> tensors,
                                             const Graph& graph,
                                             llvm::StringRef source = "the data");

  int64_t num_rows() const { return num_rows_; }
  llvm::ArrayRef<Field> fields() const { return fields_; }
  /// The name for messages.
  const std::string& source() const { return source_; }
  /// Returns "row 5", or for a table "row 5 (line 7)". Rows count from 0, lines from 1.
  std::string DescribeRow(int64_t row) const;

 private:
  static llvm::Expected<Dataset> Read(llvm::StringRef path, const Graph& graph);

  std::string source_;
  int64_t num_rows_ = 0;
  std::vector<Field> fields_;
  /// For a table: rows and their line numbers, if a row is not on the line after the previous row.
  std::vector<std::pair<int64_t, int64_t>> lines_;
};

}  // namespace pdl

#endif  // PDL_TRAIN_DATASET_H_
