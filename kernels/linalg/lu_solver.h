// LU decompositions of batches of square matrices.
#ifndef PDL_KERNELS_LINALG_LU_SOLVER_H_
#define PDL_KERNELS_LINALG_LU_SOLVER_H_

#include <Eigen/LU>

#include "kernels/linalg/matrix_batch.h"

namespace pdl::linalg {

/// The LU decomposition with partial pivoting of matrices of N rows and columns, or Eigen::Dynamic.
template <class T, int N>
class LuSolver {
 public:
  explicit LuSolver(Eigen::Index n) : lu_(n), n_(n) {}

  /// Decomposes x, which is finite and row-major.
  void Compute(const T* x) { lu_.compute(View<N, N>(x, n_, n_)); }
  const Eigen::PartialPivLU<Matrix<T, N, N>>& lu() const { return lu_; }
  auto pivots() const { return lu_.matrixLU().diagonal(); }
  /// Whether a pivot is 0.
  bool IsSingular() const { return (pivots().array() == T(0)).any(); }
  /// The sign of the permutation of rows, 1 or -1.
  T PermutationSign() const { return static_cast<T>(lu_.permutationP().determinant()); }

  /// The determinant; an intermediate product neither overflows nor underflows.
  T Determinant() const {
    T product = PermutationSign();
    int64_t exponent = 0;
    for (Eigen::Index i = 0; i < n_; ++i) {
      int of_pivot = 0, of_product = 0;
      product = std::frexp(product * std::frexp(pivots()[i], &of_pivot), &of_product);
      exponent += of_pivot + of_product;
    }
    constexpr int64_t kFar = 4 * std::numeric_limits<T>::max_exponent;
    return std::ldexp(product, static_cast<int>(std::clamp(exponent, -kFar, kFar)));
  }

 private:
  Eigen::PartialPivLU<Matrix<T, N, N>> lu_;
  Eigen::Index n_;
};

}  // namespace pdl::linalg

#endif  // PDL_KERNELS_LINALG_LU_SOLVER_H_
