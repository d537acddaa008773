#ifndef PDL_RUNTIME_TRAINING_BATCH_H_
#define PDL_RUNTIME_TRAINING_BATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/scope.h"
#include "pdl/train/dataset.h"

namespace pdl {

/// Gathers rows of a Dataset into memory that is reused for the next batch.
class Batch {
 public:
  explicit Batch(const Dataset& data) : data_(data) {}

  /// Puts the rows, in this order, into the Scope under the names of the inputs. Overwrites the
  /// rows of the previous call.
  llvm::Error Put(llvm::ArrayRef<int64_t> rows, Scope* scope);

 private:
  struct Buffer {
    std::shared_ptr<void> bytes;
    int64_t size = 0;
  };
  /// A tensor in the next buffer of this batch.
  llvm::Expected<Tensor> Take(DType dtype, llvm::ArrayRef<int64_t> sizes);
  llvm::Error PutPacked(const Dataset::Field& field, llvm::ArrayRef<int64_t> rows, Scope* scope);

  const Dataset& data_;
  std::vector<Buffer> buffers_;
  size_t next_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_BATCH_H_
