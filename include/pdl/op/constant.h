// Module: ir
#ifndef PDL_OP_CONSTANT_H_
#define PDL_OP_CONSTANT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "pdl/compiler/export.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// A dense tensor with a known value: dtype, sizes, and immutable, row-major, little-endian bytes.
/// The bytes are shared by all copies; they are heap memory or a mapped file that lives as long as
/// the copies.
class PDL_API Constant {
 public:
  Constant() = default;
  /// `bytes` must hold exactly the elements of `sizes`.
  Constant(DType dtype, llvm::ArrayRef<int64_t> sizes, std::shared_ptr<const void> bytes);
  /// Copies `bytes`.
  static Constant Copy(DType dtype, llvm::ArrayRef<int64_t> sizes, const void* bytes);
  /// A scalar of that dtype. Integers lose the fraction of `value` and saturate, nan becomes 0;
  /// other dtypes are converted as by C++.
  static Constant Scalar(DType dtype, double value);

  DType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> sizes() const { return sizes_; }
  int64_t num_elements() const { return num_elements_; }
  int64_t num_bytes() const { return num_elements_ * DTypeSize(dtype_); }
  const void* data() const { return bytes_.get(); }
  const std::shared_ptr<const void>& bytes() const { return bytes_; }
  template <typename T>
  llvm::ArrayRef<T> values() const {
    return llvm::ArrayRef<T>(static_cast<const T*>(data()), static_cast<size_t>(num_elements_));
  }
  /// Returns the element at the row-major `index`, converted to double, for messages and printing.
  double ElementAsDouble(int64_t index) const;

 private:
  DType dtype_ = DType::kF32;
  llvm::SmallVector<int64_t, 4> sizes_;
  int64_t num_elements_ = 0;
  std::shared_ptr<const void> bytes_;
};

/// Bitwise equality of dtype, sizes and elements: NaN equals itself, -0.0 differs from 0.0.
PDL_API bool operator==(const Constant& a, const Constant& b);

}  // namespace pdl

#endif  // PDL_OP_CONSTANT_H_
