// LAPACK's routines by cuSOLVER. For sources of libpdl_cuda.so.
#ifndef PDL_KERNELS_CUDA_CUSOLVER_H_
#define PDL_KERNELS_CUDA_CUSOLVER_H_

#include <cusolverDn.h>

#include <memory>
#include <mutex>
#include <type_traits>

#include "llvm/Support/Error.h"
#include "pdl/op/cuda_context.h"

namespace pdl::cuda {

// The functions that are used; each routine has a form for float (S) and one for double (D).
#define PDL_CUSOLVER_ROUTINE(F, name) F(S##name) F(D##name)
#define PDL_CUSOLVER_FUNCTIONS(F)           \
  F(Create)                                 \
  F(Destroy)                                \
  F(SetStream)                              \
  PDL_CUSOLVER_ROUTINE(F, potrf_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, potrf)            \
  PDL_CUSOLVER_ROUTINE(F, getrf_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, getrf)            \
  PDL_CUSOLVER_ROUTINE(F, getrs)            \
  PDL_CUSOLVER_ROUTINE(F, geqrf_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, geqrf)            \
  PDL_CUSOLVER_ROUTINE(F, orgqr_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, orgqr)            \
  PDL_CUSOLVER_ROUTINE(F, syevd_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, syevd)            \
  PDL_CUSOLVER_ROUTINE(F, gesvd_bufferSize) \
  PDL_CUSOLVER_ROUTINE(F, gesvd)

/// cuSOLVER's functions. The library is loaded when the first call of an operator that needs it is
/// prepared, so that other networks run without it.
struct CusolverLibrary {
#define PDL_CUSOLVER_MEMBER(name) decltype(&cusolverDn##name) name = nullptr;
  PDL_CUSOLVER_FUNCTIONS(PDL_CUSOLVER_MEMBER)
#undef PDL_CUSOLVER_MEMBER

  /// A DeviceError that names the packages if the library cannot be loaded.
  static llvm::Expected<const CusolverLibrary*> Load();
};

/// A handle of cuSOLVER for one device, shared by the calls of all networks.
class Cusolver {
 public:
  /// The handle of the context's device, which is created if no call holds one.
  static llvm::Expected<std::shared_ptr<Cusolver>> Get(const CUDAContext& context);
  ~Cusolver();

  class Calls;

 private:
  Cusolver(const CusolverLibrary* library, Device device) : library_(library), device_(device) {}

  const CusolverLibrary* library_;
  Device device_;
  std::mutex mutex_;  // a handle serves one thread at a time
  cusolverDnHandle_t handle_ = nullptr;
};

/// The routines, launched on a context's stream; other threads wait while it exists. Matrices are
/// column-major in device memory with contiguous columns, `work` has at least the number of
/// elements that the function NAMEWork returned, and *info is set on the device as LAPACK does.
class Cusolver::Calls {
 public:
  Calls(Cusolver& solver, const CUDAContext& context);

  /// The Cholesky decomposition of the symmetric n by n matrix a, whose lower triangle is read and
  /// replaced. *info > 0: it is not positive definite.
  template <class T>
  llvm::Error Potrf(int n, T* a, T* work, int work_size, int* info) {
    return Check(Form<T>(l_.Spotrf, l_.Dpotrf)(h_, kLower, n, a, Leading(n), work, work_size, info),
                 "a Cholesky decomposition");
  }
  template <class T>
  llvm::Expected<int> PotrfWork(int n) {
    T* const a = nullptr;
    return Size("a Cholesky decomposition", [&](int* size) {
      return Form<T>(l_.Spotrf_bufferSize, l_.Dpotrf_bufferSize)(h_, kLower, n, a, Leading(n),
                                                                 size);
    });
  }

  /// The LU decomposition of the n by n matrix a, which is replaced, and its n pivots. *info > 0: a
  /// is singular.
  template <class T>
  llvm::Error Getrf(int n, T* a, T* work, int* pivots, int* info) {
    return Check(Form<T>(l_.Sgetrf, l_.Dgetrf)(h_, n, n, a, Leading(n), work, pivots, info),
                 "an LU decomposition");
  }
  template <class T>
  llvm::Expected<int> GetrfWork(int n) {
    T* const a = nullptr;
    return Size("an LU decomposition", [&](int* size) {
      return Form<T>(l_.Sgetrf_bufferSize, l_.Dgetrf_bufferSize)(h_, n, n, a, Leading(n), size);
    });
  }
  /// Replaces the n by `right_sides` matrix b by a^-1 b, after Getrf.
  template <class T>
  llvm::Error Getrs(int n, int right_sides, const T* a, const int* pivots, T* b, int* info) {
    return Check(Form<T>(l_.Sgetrs, l_.Dgetrs)(h_, CUBLAS_OP_N, n, right_sides, a, Leading(n),
                                               pivots, b, Leading(n), info),
                 "a solution of linear equations");
  }

  /// The QR decomposition of the m by n matrix a, which is replaced by r and the reflectors, with
  /// min(m, n) factors `tau`.
  template <class T>
  llvm::Error Geqrf(int m, int n, T* a, T* tau, T* work, int work_size, int* info) {
    return Check(Form<T>(l_.Sgeqrf, l_.Dgeqrf)(h_, m, n, a, Leading(m), tau, work, work_size, info),
                 "a QR decomposition");
  }
  /// Replaces the m by `columns` matrix a, whose first k columns are reflectors, by the first
  /// columns of q.
  template <class T>
  llvm::Error Orgqr(int m, int columns, int k, T* a, const T* tau, T* work, int work_size,
                    int* info) {
    return Check(
        Form<T>(l_.Sorgqr, l_.Dorgqr)(h_, m, columns, k, a, Leading(m), tau, work, work_size, info),
        "a QR decomposition");
  }
  /// For both: a is m by n, and q m by `columns`.
  template <class T>
  llvm::Expected<int> QrWork(int m, int n, int columns) {
    T* const a = nullptr;
    llvm::Expected<int> factor = Size("a QR decomposition", [&](int* size) {
      return Form<T>(l_.Sgeqrf_bufferSize, l_.Dgeqrf_bufferSize)(h_, m, n, a, Leading(m), size);
    });
    if (!factor) return factor;
    const int most = *factor, k = n < m ? n : m;
    llvm::Expected<int> form = Size("a QR decomposition", [&](int* size) {
      return Form<T>(l_.Sorgqr_bufferSize, l_.Dorgqr_bufferSize)(h_, m, columns, k, a, Leading(m),
                                                                 a, size);
    });
    if (!form) return form;
    return most > *form ? most : *form;
  }

  /// The n eigenvalues, in increasing order, of the symmetric n by n matrix a, whose lower triangle
  /// is read; a is replaced by the eigenvectors. *info > 0: the iteration did not converge.
  template <class T>
  llvm::Error Syevd(int n, T* a, T* eigenvalues, T* work, int work_size, int* info) {
    return Check(Form<T>(l_.Ssyevd, l_.Dsyevd)(h_, CUSOLVER_EIG_MODE_VECTOR, kLower, n, a,
                                               Leading(n), eigenvalues, work, work_size, info),
                 "an eigenvalue decomposition");
  }
  template <class T>
  llvm::Expected<int> SyevdWork(int n) {
    T* const a = nullptr;
    return Size("an eigenvalue decomposition", [&](int* size) {
      return Form<T>(l_.Ssyevd_bufferSize, l_.Dsyevd_bufferSize)(h_, CUSOLVER_EIG_MODE_VECTOR,
                                                                 kLower, n, a, Leading(n), a, size);
    });
  }

  /// The singular values s, in decreasing order, of the m by n matrix a, m >= n, which is
  /// overwritten; u is m by n, or m by m if `full`, and vt n by n. *info > 0: the iteration did not
  /// converge.
  template <class T>
  llvm::Error Gesvd(int m, int n, bool full, T* a, T* s, T* u, T* vt, T* work, int work_size,
                    int* info) {
    T* const superdiagonal = nullptr;
    return Check(Form<T>(l_.Sgesvd, l_.Dgesvd)(h_, full ? 'A' : 'S', 'A', m, n, a, Leading(m), s, u,
                                               Leading(m), vt, Leading(n), work, work_size,
                                               superdiagonal, info),
                 "a singular value decomposition");
  }
  template <class T>
  llvm::Expected<int> GesvdWork(int m, int n) {
    return Size("a singular value decomposition", [&](int* size) {
      return Form<T>(l_.Sgesvd_bufferSize, l_.Dgesvd_bufferSize)(h_, m, n, size);
    });
  }

 private:
  static constexpr cublasFillMode_t kLower = CUBLAS_FILL_MODE_LOWER;

  template <class T, class S, class D>
  static auto Form(S single, D wide) {
    if constexpr (std::is_same_v<T, float>) {
      return single;
    } else {
      return wide;
    }
  }
  static int Leading(int rows) { return rows > 1 ? rows : 1; }
  llvm::Error Check(cusolverStatus_t status, const char* what) const;
  template <class Query>
  llvm::Expected<int> Size(const char* what, Query query) const {
    int size = 0;
    if (llvm::Error error = Check(query(&size), what)) return error;
    return size;
  }

  std::unique_lock<std::mutex> lock_;
  const CusolverLibrary& l_;
  cusolverDnHandle_t h_;
  Device device_;
  cusolverStatus_t stream_status_;
};

}  // namespace pdl::cuda

#endif  // PDL_KERNELS_CUDA_CUSOLVER_H_
