// The inverse of the cumulative standard normal distribution, the same on every device.
#ifndef PDL_KERNELS_CREATION_INVERSE_NORMAL_H_
#define PDL_KERNELS_CREATION_INVERSE_NORMAL_H_

#include <math.h>

#include "runtime/philox.h"

namespace pdl::random {

namespace detail {
/// A polynomial; coefficients in ascending order.
PDL_RANDOM_INLINE double Horner(double r, double c0, double c1, double c2, double c3, double c4,
                                double c5, double c6, double c7) {
  return ((((((c7 * r + c6) * r + c5) * r + c4) * r + c3) * r + c2) * r + c1) * r + c0;
}
}  // namespace detail

/// The p-quantile of the standard normal distribution, for p in (0, 1): Wichura, "Algorithm AS 241:
/// The Percentage Points of the Normal Distribution", 1988.
PDL_RANDOM_INLINE double InverseNormal(double p) {
  using detail::Horner;
  const double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q *
           Horner(r, 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                  3.3430575583588128105e+4, 2.5090809287301226727e+3) /
           Horner(r, 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
                  5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                  2.8729085735721942674e+4, 5.2264952788528545610e+3);
  }
  double r = sqrt(-log(q < 0 ? p : 1 - p));
  double x = 0;
  if (r <= 5) {
    r -= 1.6;
    x = Horner(r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
               3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
               2.27238449892691845833e-2, 7.74545014278341407640e-4) /
        Horner(r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
               6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
               5.47593808499534494600e-4, 1.05075007164441684324e-9);
  } else {
    r -= 5;
    x = Horner(r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
               2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
               2.71155556874348757815e-5, 2.01033439929228813265e-7) /
        Horner(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
               1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
               1.42151175831644588870e-7, 2.04426310338993978564e-15);
  }
  return q < 0 ? -x : x;
}

/// A standard normal distribution truncated to [low, high]; p_low and p_high are the probabilities
/// of numbers below `low` and `high`. `unit` is uniform in (0, 1).
struct TruncatedNormal {
  double low, high, p_low, p_high;

  PDL_RANDOM_INLINE double At(double unit) const {
    const double x = InverseNormal(Between(p_low, p_high, unit));
    return x < low ? low : x > high ? high : x;
  }
  /// The same from one or two random words.
  PDL_RANDOM_INLINE double At(uint32_t word) const {
    return At((static_cast<double>(word) + 0.5) * 0x1p-32);
  }
  PDL_RANDOM_INLINE double At(uint32_t high_word, uint32_t low_word) const {
    return At(UnitDouble(high_word, low_word) + 0x1p-54);
  }
};

}  // namespace pdl::random

#endif  // PDL_KERNELS_CREATION_INVERSE_NORMAL_H_
