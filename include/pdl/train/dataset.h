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

/// The rows that a network is trained on, or measured by: for each of its inputs an array, whose
/// first dim counts the rows. All inputs begin with one and the same symbol, `f32[N, 64]` and
/// `i64[N]`; a batch is some of the rows, and N how many. Immutable; a copy shares the arrays.
class PDL_API Dataset {
 public:
  /// All rows of one input, on the CPU.
  struct Field {
    std::string name;
    PackedValue rows;
  };

  /// Reads a .npz archive, a folder of .npy files (and of .npz files, each a sparse matrix that
  /// SciPy wrote), or a .csv table, for the inputs of `graph`. Of a ragged or sparse input `x` an
  /// archive and a folder have the arrays of PartsOf: `x`, `x.offsets`, `x.indices`. Columns of a
  /// table are called `y`, or `x[0]`, `x[1]`, … for an input whose rows have several elements, in
  /// row-major order. Files are mapped where their format allows it.
  ///
  /// Errors tell all inputs at once that have no array, or one of another dtype or other sizes;
  /// inputs that neither `minimize`, an update nor an output of one element needs may be missing.
  /// Arrays that no input is called like are left out.
  static llvm::Expected<Dataset> Open(llvm::StringRef path, const Graph& graph);
  /// The same of tensors on the CPU. `source` is for messages.
  static llvm::Expected<Dataset> FromTensors(llvm::ArrayRef<NamedTensor> tensors,
                                             const Graph& graph,
                                             llvm::StringRef source = "the data");

  int64_t num_rows() const { return num_rows_; }
  llvm::ArrayRef<Field> fields() const { return fields_; }
  /// As messages call it.
  const std::string& source() const { return source_; }
  /// "row 5", and of a table "row 5 (line 7)": rows are counted from 0, lines from 1.
  std::string DescribeRow(int64_t row) const;

 private:
  static llvm::Expected<Dataset> Read(llvm::StringRef path, const Graph& graph);

  std::string source_;
  int64_t num_rows_ = 0;
  std::vector<Field> fields_;
  /// Of a table: rows, and the lines they are on, where that is not the line after the one before.
  std::vector<std::pair<int64_t, int64_t>> lines_;
};

}  // namespace pdl

#endif  // PDL_TRAIN_DATASET_H_
