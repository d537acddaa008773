// Reads tensors of a model as constants: from the message itself, or from external files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "onnx/model/model.h"
#include "pdl/op/error.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/io.h"

namespace pdl {
namespace {

struct ElementType {
  const char* name;
  std::optional<DType> dtype;
};

// Indexed by TensorProto.DataType.
const ElementType kElementTypes[] = {
    {"UNDEFINED", {}},
    {"FLOAT", DType::kF32},
    {"UINT8", DType::kU8},
    {"INT8", DType::kI8},
    {"UINT16", DType::kU16},
    {"INT16", DType::kI16},
    {"INT32", DType::kI32},
    {"INT64", DType::kI64},
    {"STRING", {}},
    {"BOOL", DType::kBool},
    {"FLOAT16", DType::kF16},
    {"DOUBLE", DType::kF64},
    {"UINT32", DType::kU32},
    {"UINT64", DType::kU64},
    {"COMPLEX64", {}},
    {"COMPLEX128", {}},
    {"BFLOAT16", DType::kBF16},
    {"FLOAT8E4M3FN", {}},
    {"FLOAT8E4M3FNUZ", {}},
    {"FLOAT8E5M2", {}},
    {"FLOAT8E5M2FNUZ", {}},
    {"UINT4", {}},
    {"INT4", {}},
    {"FLOAT4E2M1", {}},
    {"FLOAT8E8M0", {}},
    {"UINT2", {}},
    {"INT2", {}},
};

template <class... Args>
llvm::Error Broken(const onnx::TensorProto& tensor, const char* format, Args&&... args) {
  return MakeUserError(Code::kBadNetwork, "tensor '{0}' {1}", tensor.name(),
                       llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Bytes of memory that `owner` keeps alive; copied if they are not aligned for the dtype.
Constant FromBytes(DType dtype, llvm::ArrayRef<int64_t> sizes, const char* bytes,
                   std::shared_ptr<const void> owner) {
  if (reinterpret_cast<uintptr_t>(bytes) % static_cast<uintptr_t>(DTypeSize(dtype)) != 0)
    return Constant::Copy(dtype, sizes, bytes);
  return Constant(dtype, sizes, std::shared_ptr<const void>(std::move(owner), bytes));
}

/// The elements of a repeated field, each converted to T.
template <class T, class Field>
llvm::Expected<Constant> FromField(const onnx::TensorProto& tensor, DType dtype,
                                   llvm::ArrayRef<int64_t> sizes, int64_t count,
                                   const Field& field) {
  if (field.size() != count) {
    return Broken(tensor, "has {0} elements, but its dims require {1}", field.size(), count);
  }
  std::vector<T> values;
  values.reserve(static_cast<size_t>(count));
  for (const auto value : field) values.push_back(static_cast<T>(value));
  return Constant::Copy(dtype, sizes, values.data());
}

llvm::Expected<Constant> FromFields(const onnx::TensorProto& tensor, DType dtype,
                                    llvm::ArrayRef<int64_t> sizes, int64_t count) {
  switch (dtype) {
    case DType::kF32:
      return FromField<float>(tensor, dtype, sizes, count, tensor.float_data());
    case DType::kF64:
      return FromField<double>(tensor, dtype, sizes, count, tensor.double_data());
    case DType::kI64:
      return FromField<int64_t>(tensor, dtype, sizes, count, tensor.int64_data());
    case DType::kU32:
      return FromField<uint32_t>(tensor, dtype, sizes, count, tensor.uint64_data());
    case DType::kU64:
      return FromField<uint64_t>(tensor, dtype, sizes, count, tensor.uint64_data());
    case DType::kI32:
      return FromField<int32_t>(tensor, dtype, sizes, count, tensor.int32_data());
    case DType::kI8:
    case DType::kU8:
      return FromField<uint8_t>(tensor, dtype, sizes, count, tensor.int32_data());
    case DType::kBool: {
      const auto& field = tensor.int32_data();
      std::vector<uint8_t> values(field.begin(), field.end());
      for (uint8_t& value : values) value = value != 0;
      if (field.size() != count)
        return Broken(tensor, "has {0} elements, but its dims require {1}", field.size(), count);
      return Constant::Copy(dtype, sizes, values.data());
    }
    default:  // f16, bf16, i16, u16: the bits
      return FromField<uint16_t>(tensor, dtype, sizes, count, tensor.int32_data());
  }
}

/// Opens a file of tensor data in the model's folder or below. Links cannot lead outside: symbolic
/// links are resolved before the check, and files with hard links are rejected.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> OpenExternal(const onnx::TensorProto& tensor,
                                                                 llvm::StringRef folder,
                                                                 llvm::StringRef location,
                                                                 int64_t offset, int64_t length) {
  if (location.empty() || location.contains('\0') || location.contains('\\'))
    return Broken(tensor, "has an invalid location of its data: \"{0}\"", location);
  llvm::Expected<std::string> path = ResolveInFolder(folder, location);
  if (!path) return path.takeError();
  // The file that was checked is the one that is mapped, even if its name changes. Opening a pipe
  // does not block.
  const int file = llvm::sys::RetryAfterSignal(
      -1, [&] { return ::open(path->c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
  const auto close = llvm::make_scope_exit([&] {
    if (file >= 0) ::close(file);
  });
  struct stat status;
  const bool is_open = file >= 0 && ::fstat(file, &status) == 0;
  if (!is_open || !S_ISREG(status.st_mode))
    return MakeUserError(Code::kBadFile, "cannot read '{0}', the data of tensor '{1}': {2}", *path,
                         tensor.name(),
                         is_open ? "it is not a regular file" : std::strerror(errno));
  if (status.st_nlink > 1) {
    return MakeUserError(Code::kPathEscapes,
                         "'{0}' has a hard link, so it may be a file outside the folder", *path);
  }
  if (offset > status.st_size || length > status.st_size - offset) {
    return Broken(tensor, "requires {0} bytes at offset {1} of \"{2}\", which has {3}", length,
                  offset, location, static_cast<int64_t>(status.st_size));
  }
  auto mapped =
      llvm::MemoryBuffer::getOpenFileSlice(file, *path, static_cast<uint64_t>(length), offset);
  if (!mapped) {
    return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", *path,
                         mapped.getError().message());
  }
  return std::move(*mapped);
}

llvm::Expected<Constant> FromFile(const onnx::TensorProto& tensor, llvm::StringRef folder,
                                  DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  llvm::StringSet<> seen;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    const llvm::StringRef key = entry.key(), value = entry.value();
    if (!seen.insert(key).second) return Broken(tensor, "sets its '{0}' twice", key);
    if (key == "location") {
      location = entry.value();
    } else if (key == "offset" || key == "length") {
      int64_t number = 0;
      if (value.getAsInteger(10, number) || number < 0)
        return Broken(tensor, "has the {0} '{1}' in a file", key, value);
      (key == "offset" ? offset : length) = number;
    } else if (key != "checksum" && key != "basepath" && !key.starts_with("prepacked_")) {
      return Broken(tensor, "has an unknown key of external data: '{0}'", key);
    }
  }
  if (length != bytes)
    return Broken(tensor, "has {0} bytes in a file, but its dims require {1}", length, bytes);
  auto buffer = OpenExternal(tensor, folder, location, offset, length);
  if (!buffer) return buffer.takeError();
  std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*buffer);
  return FromBytes(dtype, sizes, owner->getBufferStart(), owner);
}

}  // namespace

std::string OnnxTypeName(int32_t type) {
  if (type < 0 || static_cast<size_t>(type) >= std::size(kElementTypes))
    return "type " + std::to_string(type);
  return kElementTypes[type].name;
}

llvm::Expected<DType> DTypeFromOnnx(int32_t type) {
  if (type >= 0 && static_cast<size_t>(type) < std::size(kElementTypes))
    if (std::optional<DType> dtype = kElementTypes[type].dtype) return *dtype;
  return MakeUserError(Code::kNotSupported, "elements of type {0} are not supported",
                       OnnxTypeName(type));
}

llvm::Expected<Constant> OnnxModel::ReadTensor(const onnx::TensorProto& tensor) const {
  llvm::Expected<DType> dtype = DTypeFromOnnx(tensor.data_type());
  if (!dtype) return dtype.takeError();
  if (tensor.has_segment()) return Broken(tensor, "is only a segment of a tensor");
  const Sizes sizes(tensor.dims().begin(), tensor.dims().end());
  llvm::Expected<int64_t> bytes = CheckedNumBytes(*dtype, sizes);
  if (!bytes) {
    return Broken(tensor, "is invalid: {0}", llvm::toString(bytes.takeError()));
  }
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    return FromFile(tensor, folder_, *dtype, sizes, *bytes);
  const int64_t count = *bytes / DTypeSize(*dtype);
  if (!tensor.has_raw_data() || (tensor.raw_data().empty() && count != 0))
    return FromFields(tensor, *dtype, sizes, count);
  const std::string& raw = tensor.raw_data();
  if (static_cast<int64_t>(raw.size()) != *bytes) {
    return Broken(tensor, "has {0} bytes, but its dims require {1}", raw.size(), *bytes);
  }
  if (*dtype == DType::kBool) {
    std::vector<uint8_t> values(raw.begin(), raw.end());
    for (uint8_t& value : values) value = value != 0;
    return Constant::Copy(*dtype, sizes, values.data());
  }
  return FromBytes(*dtype, sizes, raw.data(), proto_);
}

llvm::Expected<Constant> OnnxModel::ReadSparse(
    const onnx::SparseTensorProto& tensor, llvm::function_ref<llvm::Error(int64_t)> spend) const {
  const onnx::TensorProto& named = tensor.values();
  llvm::Expected<Constant> values = ReadTensor(named);
  if (!values) return values.takeError();
  llvm::Expected<Constant> indices = ReadTensor(tensor.indices());
  if (!indices) return indices.takeError();
  const Sizes sizes(tensor.dims().begin(), tensor.dims().end());
  llvm::Expected<int64_t> bytes = CheckedNumBytes(values->dtype(), sizes);
  if (!bytes) return Broken(named, "is invalid: {0}", llvm::toString(bytes.takeError()));
  const int64_t count = values->num_elements(), rank = static_cast<int64_t>(sizes.size());
  const bool has_tuples = indices->sizes().size() == 2;
  const Sizes expected = has_tuples ? Sizes{count, rank} : Sizes{count};
  if (values->sizes().size() != 1 || indices->dtype() != DType::kI64 ||
      Sizes(indices->sizes()) != expected)
    return Broken(named, "needs an INT64 index, or one for each dim, for each of its values");
  if (llvm::Error error = spend(*bytes)) return error;
  const auto size = static_cast<size_t>(DTypeSize(values->dtype()));
  auto dense = std::make_shared<std::vector<char>>(static_cast<size_t>(*bytes));
  const llvm::ArrayRef<int64_t> at = indices->values<int64_t>();
  const int64_t width = has_tuples ? rank : 1;
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    for (int64_t d = 0; d < width; ++d) {
      const int64_t index = at[static_cast<size_t>(i * width + d)];
      const int64_t end =
          has_tuples ? sizes[static_cast<size_t>(d)] : *bytes / static_cast<int64_t>(size);
      if (index < 0 || index >= end)
        return Broken(named, "has index {0}, which is not in 0..{1}", index, end);
      place = place * end + index;
    }
    if (place <= last) return Broken(named, "has indices that are not in ascending order");
    last = place;
    std::memcpy(dense->data() + static_cast<size_t>(place) * size,
                static_cast<const char*>(values->data()) + static_cast<size_t>(i) * size, size);
  }
  const char* data = dense->data();
  return FromBytes(values->dtype(), sizes, data, std::move(dense));
}

}  // namespace pdl
