#include <algorithm>
#include <cassert>
#include <type_traits>

#include "ir/round_to_odd.h"
#include "pdl/op/half.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/weight_source.h"

namespace pdl {
namespace {

template <class To, class From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<From, double>) {
    return static_cast<To>(RoundToOdd(value));
  } else {
    // The 16-bit types convert from and to float.
    return static_cast<To>(static_cast<float>(value));
  }
}

/// Copies `rows` by `columns` elements, transposed or not, in blocks that stay in the cache.
template <class To, class From>
void ConvertElements(const From* from, To* to, int64_t rows, int64_t columns, bool transpose) {
  if (!transpose) {
    for (int64_t i = 0; i < rows * columns; ++i) to[i] = ConvertElement<To>(from[i]);
    return;
  }
  constexpr int64_t kBlock = 32;
  for (int64_t row = 0; row < rows; row += kBlock) {
    for (int64_t column = 0; column < columns; column += kBlock) {
      const int64_t row_end = std::min(rows, row + kBlock);
      const int64_t column_end = std::min(columns, column + kBlock);
      for (int64_t i = row; i < row_end; ++i)
        for (int64_t j = column; j < column_end; ++j)
          to[j * rows + i] = ConvertElement<To>(from[i * columns + j]);
    }
  }
}

struct Conversion {
  const void* from;
  void* to;
  int64_t rows, columns;
  bool transpose;

  template <class To, class From>
  void Convert() const {
    ConvertElements(static_cast<const From*>(from), static_cast<To*>(to), rows, columns, transpose);
  }
  template <class To>
  void ConvertFrom(DType dtype) const {
    switch (dtype) {
      case DType::kF16:
        return Convert<To, float16>();
      case DType::kBF16:
        return Convert<To, bfloat16>();
      case DType::kF64:
        return Convert<To, double>();
      default:
        return Convert<To, float>();
    }
  }
  /// Elements of `size` bytes, unchanged.
  void Move(int64_t size) const {
    switch (size) {
      case 1:
        return Convert<uint8_t, uint8_t>();
      case 2:
        return Convert<uint16_t, uint16_t>();
      case 4:
        return Convert<uint32_t, uint32_t>();
      default:
        return Convert<uint64_t, uint64_t>();
    }
  }
};

}  // namespace

llvm::Expected<Constant> ConvertWeight(const Constant& stored, DType dtype, bool transpose) {
  if (stored.dtype() == dtype && !transpose) return stored;
  Sizes sizes(stored.sizes());
  assert((!transpose || sizes.size() == 2) && "only a matrix is transposed");
  const int64_t rows = transpose ? sizes[0] : 1;
  const int64_t columns = transpose ? sizes[1] : stored.num_elements();
  if (transpose) std::swap(sizes[0], sizes[1]);
  llvm::Expected<Tensor> result = Tensor::AllocateUninitialized(dtype, sizes);
  if (!result) return result.takeError();
  const Conversion conversion{stored.data(), result->raw(), rows, columns, transpose};
  if (stored.num_elements() == 0) return result->ToConstant();
  if (stored.dtype() == dtype) {
    conversion.Move(DTypeSize(dtype));
    return result->ToConstant();
  }
  switch (dtype) {
    case DType::kF16:
      conversion.ConvertFrom<float16>(stored.dtype());
      break;
    case DType::kBF16:
      conversion.ConvertFrom<bfloat16>(stored.dtype());
      break;
    case DType::kF64:
      conversion.ConvertFrom<double>(stored.dtype());
      break;
    default:
      conversion.ConvertFrom<float>(stored.dtype());
  }
  return result->ToConstant();
}

}  // namespace pdl
