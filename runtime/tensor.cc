#include "pdl/op/tensor.h"

#include <cstring>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

}  // namespace

std::string TensorTypeToString(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << DTypeName(dtype) << '[';
  llvm::interleaveComma(sizes, os);
  os << ']';
  return text;
}

llvm::Expected<int64_t> CheckedNumBytes(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  // The other sizes of an empty tensor must fit, too, so that strides never overflow.
  int64_t bytes = DTypeSize(dtype);
  bool empty = false;
  for (int64_t size : sizes) {
    if (size < 0) {
      return MakeUserError(Code::kDimOverflow, "{0} has a negative size",
                           TensorTypeToString(dtype, sizes));
    }
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return MakeUserError(Code::kDimOverflow, "{0} takes more bytes than 63 bits can count",
                           TensorTypeToString(dtype, sizes));
    }
  }
  return empty ? 0 : bytes;
}

Tensor::Tensor(DType dtype, llvm::ArrayRef<int64_t> sizes, std::shared_ptr<void> bytes,
               Device device)
    : data_(bytes.get()),
      num_elements_(Product(sizes)),
      dtype_(dtype),
      device_(device),
      sizes_(sizes.begin(), sizes.end()),
      owner_(std::move(bytes)) {}

namespace {

llvm::Expected<Tensor> AllocateOnHost(DType dtype, llvm::ArrayRef<int64_t> sizes, MemoryFill fill) {
  llvm::Expected<int64_t> bytes = CheckedNumBytes(dtype, sizes);
  if (!bytes) return bytes.takeError();
  auto memory = AllocateHostMemory(*bytes, fill, "a tensor " + TensorTypeToString(dtype, sizes));
  if (!memory) return memory.takeError();
  return Tensor(dtype, sizes, std::move(*memory));
}

}  // namespace

llvm::Expected<Tensor> Tensor::Allocate(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  return AllocateOnHost(dtype, sizes, MemoryFill::kZero);
}

llvm::Expected<Tensor> Tensor::AllocateUninitialized(DType dtype, llvm::ArrayRef<int64_t> sizes) {
  llvm::Expected<Tensor> tensor = AllocateOnHost(dtype, sizes, MemoryFill::kNone);
  if (tensor) tensor->recyclable_ = true;
  return tensor;
}

Tensor Tensor::FromConstant(const Constant& constant) {
  return Tensor(constant.dtype(), constant.sizes(),
                std::const_pointer_cast<void>(constant.bytes()));
}

Constant Tensor::ToConstant() const {
  assert(device_.kind == DeviceKind::kCPU && "a Constant is on the CPU");
  if (!owns_memory()) return Constant::Copy(dtype_, sizes_, data_);
  return Constant(dtype_, sizes_, std::shared_ptr<const void>(owner_, data_));
}

void Tensor::Borrow(DType dtype, llvm::ArrayRef<int64_t> sizes, void* data, Device device) {
  data_ = data;
  num_elements_ = Product(sizes);
  dtype_ = dtype;
  device_ = device;
  sizes_.assign(sizes.begin(), sizes.end());
  owner_.reset();
  recyclable_ = false;
}

std::string ElementPlace(int64_t element, llvm::ArrayRef<int64_t> sizes) {
  if (sizes.empty()) return "";
  std::vector<std::string> index(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    index[axis] = std::to_string(element % sizes[axis]);
    element /= sizes[axis];
  }
  return " at [" + llvm::join(index, ", ") + "]";
}

}  // namespace pdl
