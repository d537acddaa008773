#include "runtime/training/batch.h"

#include <cstring>

#include "pdl/compiler/trace.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

int64_t BytesOfRow(const Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t size : tensor.sizes().drop_front()) elements *= size;
  return elements * DTypeSize(tensor.dtype());
}

/// Copies the rows [begins[i], ends[i]) of `from`, one run after another.
void CopyRuns(const Tensor& from, llvm::ArrayRef<std::pair<int64_t, int64_t>> runs, Tensor* to) {
  const int64_t row = BytesOfRow(from);
  const char* source = static_cast<const char*>(from.raw());
  char* target = static_cast<char*>(to->raw());
  for (const auto& [begin, end] : runs) {
    const size_t bytes = static_cast<size_t>((end - begin) * row);
    if (bytes != 0) std::memcpy(target, source + begin * row, bytes);
    target += bytes;
  }
}

}  // namespace

llvm::Expected<Tensor> Batch::Take(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  if (next_ == buffers_.size()) buffers_.emplace_back();
  Buffer& buffer = buffers_[next_++];
  llvm::Expected<int64_t> bytes = CheckedNumBytes(dtype, sizes);
  if (!bytes) return bytes.takeError();
  if (buffer.size < *bytes || !buffer.bytes) {
    // Ragged batches vary in size: a reserve avoids reallocations.
    const int64_t size = *bytes + *bytes / 4;
    buffer.bytes.reset();
    llvm::Expected<std::shared_ptr<void>> memory =
        AllocateHostMemory(size, MemoryFill::kNone, "a batch");
    if (!memory) return memory.takeError();
    buffer = {std::move(*memory), size};
  }
  return Tensor(dtype, sizes, buffer.bytes);
}

llvm::Error Batch::Put(llvm::ArrayRef<int64_t> rows, Scope* scope) {
  const TraceSpan span("load data");
  next_ = 0;
  const int64_t count = static_cast<int64_t>(rows.size());
  for (const Dataset::Field& field : data_.fields()) {
    if (!field.rows.type.is_plain()) {
      if (llvm::Error error = PutPacked(field, rows, scope)) return error;
      continue;
    }
    const Tensor& all = field.rows.values;
    Sizes sizes(all.sizes().begin(), all.sizes().end());
    sizes[0] = count;
    llvm::Expected<Tensor> tensor = Take(all.dtype(), sizes);
    if (!tensor) return tensor.takeError();
    const int64_t bytes = BytesOfRow(all);
    const char* source = static_cast<const char*>(all.raw());
    char* target = static_cast<char*>(tensor->raw());
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(target + i * bytes, source + rows[static_cast<size_t>(i)] * bytes,
                  static_cast<size_t>(bytes));
    scope->Create(field.name)->Set(std::move(*tensor));
  }
  return llvm::Error::success();
}

llvm::Error Batch::PutPacked(const Dataset::Field& field, llvm::ArrayRef<int64_t> rows,
                             Scope* scope) {
  const PackedValue& all = field.rows;
  PackedValue batch;
  batch.type = all.type;
  // From outer to inner: the runs of rows that the batch takes from each level.
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (int64_t row : rows) runs.emplace_back(row, row + 1);
  int64_t count = static_cast<int64_t>(rows.size());
  for (const Tensor& offsets : all.offsets) {
    const int64_t* from = offsets.data<int64_t>();
    llvm::Expected<Tensor> tensor = Take(DType::kI64, {count + 1});
    if (!tensor) return tensor.takeError();
    int64_t* to = tensor->data<int64_t>();
    *to++ = count = 0;
    for (auto& [begin, end] : runs) {
      for (int64_t row = begin; row < end; ++row) *to++ = count += from[row + 1] - from[row];
      begin = from[begin];
      end = from[end];
    }
    batch.offsets.push_back(std::move(*tensor));
  }
  auto gather = [&](const Tensor& source, Tensor* target) -> llvm::Error {
    Sizes sizes(source.sizes().begin(), source.sizes().end());
    sizes[0] = count;
    llvm::Expected<Tensor> tensor = Take(source.dtype(), sizes);
    if (!tensor) return tensor.takeError();
    CopyRuns(source, runs, &*tensor);
    *target = std::move(*tensor);
    return llvm::Error::success();
  };
  const bool is_ones = all.type.is_sparse() && all.type.dtype == DType::kBool;
  if (!is_ones)
    if (llvm::Error error = gather(all.values, &batch.values)) return error;
  if (all.type.is_sparse())
    if (llvm::Error error = gather(all.indices, &batch.indices)) return error;
  batch.Put(scope, field.name);
  return llvm::Error::success();
}

}  // namespace pdl
