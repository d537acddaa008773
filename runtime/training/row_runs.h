// Runs over the rows of a data set, in parts whose results are joined.
#ifndef PDL_RUNTIME_TRAINING_ROW_RUNS_H_
#define PDL_RUNTIME_TRAINING_ROW_RUNS_H_

#include <cstdint>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"
#include "pdl/train/communicator.h"
#include "pdl/train/dataset.h"

namespace pdl {

/// Rows from `begin` to before `end`.
struct RowRange {
  int64_t begin = 0, end = 0;
  bool is_empty() const { return begin == end; }
};
/// The rows of a rank: complete batches, in order, so that the batches are the same ones for any
/// number of ranks. Some ranks may have one batch more; the last batch may be smaller.
PDL_API RowRange RowsOf(int64_t rows, int64_t batch_size, int rank, int ranks);

/// Runs the network on the rows of `range`, at most `batch_size` in one run, and returns the rows
/// of each of `options.outputs`, which must be named, in order. Each run starts from the initial
/// states, and its random numbers depend on its first row. An Error if CheckRowOutputs fails, if a
/// run does, or if the results of two runs differ in another size than the number of rows. Empty if
/// the range is.
PDL_API llvm::Expected<std::vector<PackedValue>> RunRows(const Network& network,
                                                         const Dataset& data, RowRange range,
                                                         int64_t batch_size, DeviceContext* context,
                                                         const RunOptions& options);

/// Joins the rows of `outputs` of all ranks in the order of ranks. `own` is what RunRows returned;
/// only rank 0 must have rows. Returns the values at rank 0, and nothing at the others.
PDL_API llvm::Expected<std::vector<PackedValue>> GatherRows(std::vector<PackedValue> own,
                                                            llvm::ArrayRef<std::string> outputs,
                                                            Communicator& communicator);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_ROW_RUNS_H_
