// The parameters of random distributions, on every device: given by attributes, or computed from
// the sizes of a weight.
#ifndef PDL_KERNELS_CREATION_INITIAL_RANGE_H_
#define PDL_KERNELS_CREATION_INITIAL_RANGE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/creation/inverse_normal.h"
#include "llvm/ADT/ArrayRef.h"
#include "pdl/op/attribute_reader.h"

namespace pdl::random {

/// The bounds (low, high) of a uniform distribution, or the mean and standard deviation of a normal
/// one.
struct Range {
  double a = 0;
  double b = 1;
  /// For truncated normal numbers: the truncated standard normal distribution.
  TruncatedNormal standard = {};
};

/// The probability that a standard normal number is below x.
inline double Below(double x) { return 0.5 * std::erfc(-x * 0x1.6a09e667f3bcdp-1); }

/// The attributes `low` and `high`, or `mean` and `std`.
template <bool kNormal>
struct FixedRange {
  Range range;
  void Initialize(const AttributeReader& attributes) {
    range.a = attributes.Float(kNormal ? "mean" : "low");
    range.b = attributes.Float(kNormal ? "std" : "high");
  }
  Range For(llvm::ArrayRef<int64_t>) const { return range; }
};

struct TruncatedRange : FixedRange<true> {
  void Initialize(const AttributeReader& attributes) {
    FixedRange<true>::Initialize(attributes);
    const double low = attributes.Float("low"), high = attributes.Float("high");
    range.standard = {low, high, Below(low), Below(high)};
  }
};

/// The number of inputs and outputs of a weight; see the attribute `layout` of xavier_uniform.
struct Fans {
  double in = 1, out = 1;

  Fans(llvm::ArrayRef<int64_t> sizes, bool is_auto, bool out_first) {
    const size_t rank = sizes.size();
    if (is_auto) out_first = rank > 2;
    if (rank < 2) {
      in = out = rank == 0 ? 1 : static_cast<double>(sizes[0]);
    } else if (out_first) {
      double window = 1;
      for (const int64_t size : sizes.drop_front(2)) window *= static_cast<double>(size);
      in = static_cast<double>(sizes[1]) * window;
      out = static_cast<double>(sizes[0]) * window;
    } else {
      in = static_cast<double>(sizes[rank - 2]);
      out = static_cast<double>(sizes[rank - 1]);
    }
  }
};

/// The range by the number of inputs and outputs, according to Glorot or He.
template <bool kXavier, bool kNormal>
struct WeightRange {
  double gain = 1;
  bool is_auto = true, out_first = false, fan_out = false;
  void Initialize(const AttributeReader& attributes) {
    gain = attributes.Float("gain");
    is_auto = attributes.String("layout") == "auto";
    out_first = attributes.String("layout") == "out_in";
    if constexpr (!kXavier) fan_out = attributes.String("mode") == "fan_out";
  }
  Range For(llvm::ArrayRef<int64_t> sizes) const {
    const Fans fans(sizes, is_auto, out_first);
    const double fan = kXavier ? (fans.in + fans.out) / 2 : fan_out ? fans.out : fans.in;
    // A weight without inputs has no elements.
    const double deviation = gain / std::sqrt(std::max(fan, 0.5));
    if constexpr (kNormal) return {0, deviation};
    const double end = std::sqrt(3.0) * deviation;
    return {-end, end};
  }
};

}  // namespace pdl::random

#endif  // PDL_KERNELS_CREATION_INITIAL_RANGE_H_
