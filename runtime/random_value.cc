#include "runtime/random_value.h"

#include <cstring>
#include <random>

#include "pdl/op/half.h"
#include "runtime/memory.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

constexpr uint64_t kMaxLength = 8, kOneIn = 10;

Tensor ToIndices(llvm::ArrayRef<int64_t> indices) {
  return Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(indices.size())}, indices);
}

/// Fills a tensor with random values: floats in [0, 1), integers in [0, bound), and uniformly
/// distributed bools.
void Fill(Tensor& tensor, uint64_t bound, std::mt19937_64& random) {
  const int64_t size = DTypeSize(tensor.dtype());
  char* to = static_cast<char*>(tensor.raw());
  auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  for (int64_t i = 0; i < tensor.num_elements(); ++i, to += size) {
    const uint64_t bits = random();
    const uint64_t integer = bits % bound;
    // As many bits as a significand has, so that rounding never results in 1.
    const float real = static_cast<float>(bits >> 40) * 0x1p-24f;
    switch (tensor.dtype()) {
        // clang-format off
      case DType::kF16: store(float16(static_cast<float>(bits >> 53) * 0x1p-11f)); break;
      case DType::kBF16: store(bfloat16(static_cast<float>(bits >> 56) * 0x1p-8f)); break;
      case DType::kF32: store(real); break;
      case DType::kF64: store(static_cast<double>(bits >> 11) * 0x1p-53); break;
      default: std::memcpy(to, &integer, static_cast<size_t>(size)); break;  // little-endian
        // clang-format on
    }
  }
}

/// Samples the row offsets of a ragged value, unless `lengths` returns them, and the indices of a
/// sparse one; returns the sizes of the tensor of its elements.
llvm::Expected<Sizes> SampleLayout(llvm::ArrayRef<int64_t> sizes,
                                   llvm::function_ref<const Tensor*(llvm::StringRef)> lengths,
                                   PackedValue* value, std::mt19937_64& random) {
  int64_t rows = sizes[0];
  // Allocated before sampling, so that values that are too large are rejected at once.
  auto add_offsets = [&](int64_t count) {
    llvm::Expected<Tensor> offsets = Tensor::Allocate(DType::kI64, {SaturatingSum({count, 1})});
    if (offsets) value->offsets.push_back(*offsets);
    return offsets;
  };
  for (unsigned level = 0; level < value->type.ragged_levels(); ++level) {
    const Tensor* given = lengths ? lengths(value->type.dims[level + 1].ToString()) : nullptr;
    if (given && given->num_elements() - 1 == rows) {
      value->offsets.push_back(*given);
      rows = given->data<int64_t>()[rows];
      continue;
    }
    llvm::Expected<Tensor> offsets = add_offsets(rows);
    if (!offsets) return offsets.takeError();
    int64_t* at = offsets->data<int64_t>();
    for (int64_t row = 0; row < rows; ++row)
      at[row + 1] = at[row] + static_cast<int64_t>(random() % (kMaxLength + 1));
    rows = at[rows];
  }
  if (value->type.is_sparse()) {
    llvm::Expected<Tensor> offsets = add_offsets(rows);
    if (!offsets) return offsets.takeError();
    llvm::Expected<std::shared_ptr<void>> elements =
        CountHostMemory(SaturatingProduct({rows, sizes.back()}), "sampling a sparse value");
    if (!elements) return elements.takeError();
    int64_t* at = offsets->data<int64_t>();
    std::vector<int64_t> indices;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < sizes.back(); ++column)
        if (random() % kOneIn == 0) indices.push_back(column);
      at[row + 1] = static_cast<int64_t>(indices.size());
    }
    value->indices = ToIndices(indices);
    return Sizes{static_cast<int64_t>(indices.size())};
  }
  Sizes packed(sizes.begin(), sizes.end());
  packed[0] = rows;
  return packed;
}

}  // namespace

llvm::Expected<PackedValue> DrawValue(
    llvm::StringRef name, const Type& type, uint64_t seed,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> size,
    llvm::function_ref<const Tensor*(llvm::StringRef)> lengths) {
  Sizes sizes;  // of all dims except ragged ones
  for (const Dim& dim : type.dims) {
    if (dim.is_ragged()) continue;
    llvm::Expected<int64_t> known = dim.Evaluate(size);
    if (!known) return known.takeError();
    sizes.push_back(*known);
  }
  // Small numbers if the type declares no bound.
  uint64_t bound = type.dtype == DType::kBool ? 2 : 100;
  if (type.index_bound) {
    llvm::Expected<int64_t> known = type.index_bound->Evaluate(size);
    if (!known) return known.takeError();
    bound = static_cast<uint64_t>(std::max<int64_t>(*known, 1));
  }
  std::vector<uint32_t> seeds = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  seeds.insert(seeds.end(), name.begin(), name.end());
  std::seed_seq sequence(seeds.begin(), seeds.end());
  std::mt19937_64 random(sequence);
  PackedValue value;
  value.type = type;
  if (llvm::Expected<int64_t> bytes = CheckedNumBytes(type.dtype, sizes); !bytes)
    return bytes.takeError();
  if (!type.is_plain()) {
    llvm::Expected<Sizes> packed = SampleLayout(sizes, lengths, &value, random);
    if (!packed) return packed.takeError();
    sizes = std::move(*packed);
  }
  llvm::Expected<Tensor> values = Tensor::Allocate(type.dtype, sizes);
  if (!values) return values.takeError();
  Fill(*values, bound, random);
  value.values = std::move(*values);
  return value;
}

}  // namespace pdl
