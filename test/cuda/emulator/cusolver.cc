// The part of cuSOLVER that Cusolver uses, as documented in its manual, by Eigen: column-major
// matrices.
#include "kernels/cuda/cusolver.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <cstdio>
#include <cstdlib>

namespace {

using Eigen::Index;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
auto View(T* data, int rows, int columns) {
  return Eigen::Map<Matrix<T>>(data, rows, columns);
}

constexpr int kWork = 7;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "cuSOLVER is used wrongly: %s\n", what);
  std::abort();
}
cusolverStatus_t WorkSize(int* size) { return *size = kWork, CUSOLVER_STATUS_SUCCESS; }
/// Overwrites the work memory, all of which a routine may use.
template <class T>
void UseWork(T* work, int size) {
  Require(work != nullptr && size >= kWork, "work memory");
  std::fill_n(work, kWork, T(-1));
}

template <class T>
cusolverStatus_t Potrf(int n, T* a, int leading, T* work, int size, int* info) {
  Require(n > 0 && leading == n, "sizes of potrf");
  UseWork(work, size);
  const Eigen::LLT<Matrix<T>, Eigen::Lower> llt(View(a, n, n));
  *info = llt.info() == Eigen::Success ? 0 : 1;
  if (*info == 0) View(a, n, n).template triangularView<Eigen::Lower>() = llt.matrixL();
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t Getrf(int m, int n, T* a, int leading, T* work, int* pivots, int* info) {
  Require(n > 0 && m == n && leading == n, "sizes of getrf");
  UseWork(work, kWork);
  auto x = View(a, n, n);
  *info = 0;
  for (Index k = 0; k < n; ++k) {
    Index pivot = 0;
    x.col(k).tail(n - k).cwiseAbs().maxCoeff(&pivot);
    pivot += k;
    pivots[k] = static_cast<int>(pivot) + 1;
    x.row(k).swap(x.row(pivot));
    if (x(k, k) == T(0)) {
      if (*info == 0) *info = static_cast<int>(k) + 1;
      continue;
    }
    const Index rest = n - k - 1;
    x.col(k).tail(rest) /= x(k, k);
    x.bottomRightCorner(rest, rest) -= x.col(k).tail(rest) * x.row(k).tail(rest);
  }
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t Getrs(cublasOperation_t operation, int n, int right_sides, const T* a, int leading,
                       const int* pivots, T* b, int b_leading, int* info) {
  Require(operation == CUBLAS_OP_N && n > 0 && leading == n && b_leading == n, "sizes of getrs");
  auto x = View(b, n, right_sides);
  for (Index k = 0; k < n; ++k) x.row(k).swap(x.row(pivots[k] - 1));
  const Eigen::Map<const Matrix<T>> factors(a, n, n);
  factors.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  factors.template triangularView<Eigen::Upper>().solveInPlace(x);
  return *info = 0, CUSOLVER_STATUS_SUCCESS;
}

/// Householder vectors below the diagonal and factors as LAPACK's.
template <class T>
cusolverStatus_t Geqrf(int m, int n, T* a, int leading, T* tau, T* work, int size, int* info) {
  Require(m > 0 && n > 0 && leading == m, "sizes of geqrf");
  UseWork(work, size);
  const Eigen::HouseholderQR<Matrix<T>> qr(View(a, m, n));
  View(a, m, n) = qr.matrixQR();
  for (Index i = 0; i < std::min(m, n); ++i) tau[i] = qr.hCoeffs()[i];
  return *info = 0, CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t Orgqr(int m, int columns, int k, T* a, int leading, const T* tau, T* work,
                       int size, int* info) {
  Require(k > 0 && k <= columns && columns <= m && leading == m, "sizes of orgqr");
  UseWork(work, size);
  Matrix<T> q = Matrix<T>::Identity(m, columns);
  const Matrix<T> reflectors = View(a, m, k);
  for (Index i = k; i-- > 0;) {
    Eigen::Matrix<T, Eigen::Dynamic, 1> v = reflectors.col(i);
    v.head(i).setZero();
    v[i] = 1;
    const Eigen::Matrix<T, 1, Eigen::Dynamic> row = v.transpose() * q;
    q -= tau[i] * v * row;
  }
  View(a, m, columns) = q;
  return *info = 0, CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t Syevd(cusolverEigMode_t mode, cublasFillMode_t part, int n, T* a, int leading,
                       T* values, T* work, int size, int* info) {
  Require(
      mode == CUSOLVER_EIG_MODE_VECTOR && part == CUBLAS_FILL_MODE_LOWER && n > 0 && leading == n,
      "options of syevd");
  UseWork(work, size);
  const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(View(a, n, n));
  View(values, n, 1) = solver.eigenvalues();
  View(a, n, n) = solver.eigenvectors();
  return *info = 0, CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t Gesvd(signed char of_u, signed char of_vt, int m, int n, T* a, int leading, T* s,
                       T* u, int u_leading, T* vt, int vt_leading, T* work, int size, int* info) {
  Require(m >= n && n > 0 && leading == m && u_leading == m && vt_leading == n && of_vt == 'A' &&
              (of_u == 'A' || of_u == 'S'),
          "options of gesvd");
  UseWork(work, size);
  const unsigned options = (of_u == 'A' ? Eigen::ComputeFullU : Eigen::ComputeThinU) |
                           static_cast<unsigned>(Eigen::ComputeFullV);
  const Eigen::JacobiSVD<Matrix<T>> svd(View(a, m, n), options);
  View(s, n, 1) = svd.singularValues();
  View(u, m, of_u == 'A' ? m : n) = svd.matrixU();
  View(vt, n, n) = svd.matrixV().transpose();
  View(a, m, n).setConstant(T(-1));
  return *info = 0, CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

namespace pdl::cuda {

#define PDL_SET_ROUTINES(letter, T)                                                                \
  l.letter##potrf_bufferSize = [](auto, auto, int, T*, int, int* size) { return WorkSize(size); }; \
  l.letter##potrf = [](auto, auto, int n, T* a, int lda, T* work, int size, int* info) {           \
    return Potrf(n, a, lda, work, size, info);                                                     \
  };                                                                                               \
  l.letter##getrf_bufferSize = [](auto, int, int, T*, int, int* size) { return WorkSize(size); };  \
  l.letter##getrf = [](auto, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {       \
    return Getrf(m, n, a, lda, work, pivots, info);                                                \
  };                                                                                               \
  l.letter##getrs = [](auto, cublasOperation_t op, int n, int k, const T* a, int lda,              \
                       const int* pivots, T* b, int ldb,                                           \
                       int* info) { return Getrs(op, n, k, a, lda, pivots, b, ldb, info); };       \
  l.letter##geqrf_bufferSize = [](auto, int, int, T*, int, int* size) { return WorkSize(size); };  \
  l.letter##geqrf = [](auto, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {  \
    return Geqrf(m, n, a, lda, tau, work, size, info);                                             \
  };                                                                                               \
  l.letter##orgqr_bufferSize = [](auto, int, int, int, const T*, int, const T*, int* size) {       \
    return WorkSize(size);                                                                         \
  };                                                                                               \
  l.letter##orgqr = [](auto, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,  \
                       int* info) { return Orgqr(m, n, k, a, lda, tau, work, size, info); };       \
  l.letter##syevd_bufferSize = [](auto, auto, auto, int, const T*, int, const T*, int* size) {     \
    return WorkSize(size);                                                                         \
  };                                                                                               \
  l.letter##syevd = [](auto, cusolverEigMode_t mode, cublasFillMode_t part, int n, T* a, int lda,  \
                       T* w, T* work, int size,                                                    \
                       int* info) { return Syevd(mode, part, n, a, lda, w, work, size, info); };   \
  l.letter##gesvd_bufferSize = [](auto, int, int, int* size) { return WorkSize(size); };           \
  l.letter##gesvd = [](auto, signed char of_u, signed char of_vt, int m, int n, T* a, int lda,     \
                       T* s, T* u, int ldu, T* vt, int ldvt, T* work, int size, T*, int* info) {   \
    return Gesvd(of_u, of_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, size, info);                \
  };

llvm::Expected<const CusolverLibrary*> CusolverLibrary::Load() {
  static const CusolverLibrary library = [] {
    CusolverLibrary l;
    l.Create = [](cusolverDnHandle_t* handle) {
      static int any;
      *handle = reinterpret_cast<cusolverDnHandle_t>(&any);
      return CUSOLVER_STATUS_SUCCESS;
    };
    l.Destroy = [](auto) { return CUSOLVER_STATUS_SUCCESS; };
    l.SetStream = [](auto, auto) { return CUSOLVER_STATUS_SUCCESS; };
    PDL_SET_ROUTINES(S, float)
    PDL_SET_ROUTINES(D, double)
    return l;
  }();
  return &library;
}

}  // namespace pdl::cuda
