#include "tools/pdl/random_value.h"

#include <cstring>
#include <random>

#include "pdl/half.h"

namespace pdl {
namespace {

constexpr uint64_t kMaxLength = 8, kOneIn = 10;

Tensor ToPlaces(llvm::ArrayRef<int64_t> places) {
  return Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(places.size())}, places);
}

/// Fills a tensor with draws from `random`: floats from [0, 1), integers from [0, bound), truth
/// values by the toss of a coin.
void Fill(Tensor& tensor, uint64_t bound, std::mt19937_64& random) {
  const int64_t size = DTypeSize(tensor.dtype());
  char* to = static_cast<char*>(tensor.raw());
  auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  for (int64_t i = 0; i < tensor.num_elements(); ++i, to += size) {
    const uint64_t bits = random();
    const uint64_t integer = bits % bound;
    // As many bits as a significand has, so that rounding never gives 1.
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

/// Draws where the rows of a value are, or the elements of a sparse one; gives the sizes of its
/// values.
Sizes DrawPlaces(llvm::ArrayRef<int64_t> sizes, PackedValue* value, std::mt19937_64& random) {
  int64_t rows = sizes[0];
  for (unsigned level = 0; level < value->type.ragged_levels(); ++level) {
    std::vector<int64_t> offsets = {0};
    for (int64_t row = 0; row < rows; ++row)
      offsets.push_back(offsets.back() + static_cast<int64_t>(random() % (kMaxLength + 1)));
    value->offsets.push_back(ToPlaces(offsets));
    rows = offsets.back();
  }
  if (value->type.is_sparse()) {
    std::vector<int64_t> offsets = {0}, indices;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < sizes.back(); ++column)
        if (random() % kOneIn == 0) indices.push_back(column);
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
    value->offsets.push_back(ToPlaces(offsets));
    value->indices = ToPlaces(indices);
    return {static_cast<int64_t>(indices.size())};
  }
  Sizes packed(sizes.begin(), sizes.end());
  packed[0] = rows;
  return packed;
}

}  // namespace

llvm::Expected<PackedValue> DrawValue(
    llvm::StringRef name, const Type& type, uint64_t seed,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> size) {
  Sizes sizes;  // of the dims that have one
  for (const Dim& dim : type.dims) {
    if (dim.is_ragged()) continue;
    llvm::Expected<int64_t> known = dim.Evaluate(size);
    if (!known) return known.takeError();
    sizes.push_back(*known);
  }
  // Small numbers where the type does not say what is allowed.
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
  if (!type.is_plain()) sizes = DrawPlaces(sizes, &value, random);
  llvm::Expected<Tensor> values = Tensor::Allocate(type.dtype, sizes);
  if (!values) return values.takeError();
  Fill(*values, bound, random);
  value.values = std::move(*values);
  return value;
}

}  // namespace pdl
