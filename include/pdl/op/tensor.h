#ifndef PDL_OP_TENSOR_H_
#define PDL_OP_TENSOR_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"
#include "pdl/op/device.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// The concrete sizes of a tensor, outermost first.
using Sizes = llvm::SmallVector<int64_t, 4>;

/// "f32[2, 784]".
PDL_API std::string TensorTypeToString(DType dtype, llvm::ArrayRef<int64_t> sizes);
/// Returns the element size times the product of `sizes`. An Error if that exceeds 63 bits or a
/// size is negative.
PDL_API llvm::Expected<int64_t> CheckedNumBytes(DType dtype, llvm::ArrayRef<int64_t> sizes);

/// A typed, dense, row-major buffer on a device. Copies refer to the same memory, which is freed
/// with the last copy if the tensor owns it; a tensor over borrowed memory does not own it.
class PDL_API Tensor {
 public:
  Tensor() = default;
  /// Refers to `bytes`, which must hold num_elements() elements of `dtype`.
  Tensor(DType dtype, llvm::ArrayRef<int64_t> sizes, std::shared_ptr<void> bytes,
         Device device = {});
  /// Allocates zeroed memory on the CPU. An Error if the size overflows or memory is exhausted.
  static llvm::Expected<Tensor> Allocate(DType dtype, llvm::ArrayRef<int64_t> sizes);
  /// As above, but uninitialized, for callers that write all elements.
  static llvm::Expected<Tensor> AllocateUninitialized(DType dtype, llvm::ArrayRef<int64_t> sizes);
  /// Refers to the constant's bytes without copying; they must not be written.
  static Tensor FromConstant(const Constant& constant);
  /// Shares the bytes of a CPU tensor, which must not be written afterwards.
  Constant ToConstant() const;
  /// Copies `values` to the CPU.
  template <typename T>
  static Tensor FromValues(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<T> values) {
    return FromConstant(Constant::Copy(dtype, sizes, values.data()));
  }

  DType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> sizes() const { return sizes_; }
  int64_t size(unsigned axis) const { return sizes_[axis]; }
  unsigned rank() const { return static_cast<unsigned>(sizes_.size()); }
  int64_t num_elements() const { return num_elements_; }
  int64_t num_bytes() const { return num_elements_ * DTypeSize(dtype_); }
  Device device() const { return device_; }
  bool owns_memory() const { return owner_ != nullptr; }
  /// Whether this is the only reference to memory from AllocateUninitialized, so that it may be
  /// reused.
  bool is_recyclable() const { return recyclable_ && owner_.use_count() == 1; }

  const void* raw() const { return data_; }
  void* raw() { return data_; }
  /// T must be the C++ type of the dtype: float16 for f16, bfloat16 for bf16, bool for bool.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* data() {
    return static_cast<T*>(data_);
  }

  /// Makes this a view of memory owned elsewhere, such as by a Plan's binding.
  void Borrow(DType dtype, llvm::ArrayRef<int64_t> sizes, void* data, Device device);
  void SetData(void* data) { data_ = data; }
  std::string TypeString() const { return TensorTypeToString(dtype_, sizes_); }

 private:
  void* data_ = nullptr;
  int64_t num_elements_ = 0;
  DType dtype_ = DType::kF32;
  Device device_;
  Sizes sizes_;
  std::shared_ptr<void> owner_;
  bool recyclable_ = false;
};

/// How TensorToString prints elements.
struct PrintOptions {
  /// Tensors with more elements are abbreviated to `edge` items at both ends of each axis.
  int64_t threshold = 1000;
  int64_t edge = 3;
  unsigned line_width = 80;
};
/// Formats the elements of a CPU tensor in nested brackets, like NumPy: "[0.0, 1.0]".
PDL_API std::string TensorToString(const Tensor& tensor, const PrintOptions& options = {});

/// Where an element is, for messages: " at [1, 0]"; an empty string for a scalar.
PDL_API std::string ElementPlace(int64_t element, llvm::ArrayRef<int64_t> sizes);

}  // namespace pdl

#endif  // PDL_OP_TENSOR_H_
