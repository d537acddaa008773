#ifndef PDL_IR_ROUND_TO_ODD_H_
#define PDL_IR_ROUND_TO_ODD_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace pdl {

/// Rounds to the float that rounds to the same f16 or bf16 as `x`: toward 0, with the last bit set
/// if that is inexact (round to odd: Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", IEEE Transactions on Computers 57(4), 2008). The nearest float may be a tie that `x` is
/// not.
inline float RoundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double back{nearest};
  if (back == x || std::isnan(x)) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  return std::bit_cast<float>((std::fabs(back) > std::fabs(x) ? bits - 1 : bits) | 1);
}

}  // namespace pdl

#endif  // PDL_IR_ROUND_TO_ODD_H_
