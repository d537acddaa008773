// Sums and products of sizes that saturate instead of overflowing, so that the memory limit rejects
// them like other sizes that are too large.
#ifndef PDL_RUNTIME_SATURATING_H_
#define PDL_RUNTIME_SATURATING_H_

#include <cstdint>
#include <initializer_list>

namespace pdl {

/// The sum of nonnegative numbers.
inline int64_t SaturatingSum(std::initializer_list<int64_t> terms) {
  int64_t sum = 0;
  for (const int64_t term : terms)
    if (__builtin_add_overflow(sum, term, &sum)) return INT64_MAX;
  return sum;
}

/// The product of nonnegative numbers.
inline int64_t SaturatingProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  bool overflow = false;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
    overflow |= __builtin_mul_overflow(product, factor, &product);
  }
  return overflow ? INT64_MAX : product;
}

/// The next multiple of `unit`; INT64_MAX if there is none.
inline int64_t SaturatingRoundUp(int64_t bytes, int64_t unit) {
  return bytes > INT64_MAX - unit ? INT64_MAX : (bytes + unit - 1) / unit * unit;
}

}  // namespace pdl

#endif  // PDL_RUNTIME_SATURATING_H_
