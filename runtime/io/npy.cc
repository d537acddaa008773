#include "runtime/io/npy.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/runtime/io.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kMagic("\x93NUMPY");

/// The information in the header.
struct Header {
  DType dtype = DType::kF32;
  bool is_big_endian = false;
  bool is_fortran = false;
  Sizes sizes;
};

/// Parses the header, a Python dict:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(llvm::StringRef path, llvm::StringRef text) : path_(path), text_(text) {}

  llvm::Expected<Header> Parse() {
    if (!Take("{")) return Malformed();
    bool has_descr = false, has_order = false, has_shape = false;
    while (!Take("}")) {
      std::optional<llvm::StringRef> key = String();
      if (!key || !Take(":")) return Malformed();
      bool* seen = *key == "descr"           ? &has_descr
                   : *key == "fortran_order" ? &has_order
                   : *key == "shape"         ? &has_shape
                                             : nullptr;
      if (seen == nullptr) return CannotRead(path_, "its header has an unknown key '{0}'", *key);
      if (std::exchange(*seen, true)) return CannotRead(path_, "its header has '{0}' twice", *key);
      llvm::Error error = seen == &has_descr   ? ParseDescr()
                          : seen == &has_order ? ParseOrder()
                                               : ParseShape();
      if (error) return error;
      if (!Take(",") && !text_.ltrim().starts_with("}")) return Malformed();
    }
    if (!text_.trim().empty()) return Malformed();
    if (!has_descr || !has_order || !has_shape)
      return CannotRead(path_, "its header has no '{0}'",
                        !has_descr   ? "descr"
                        : !has_order ? "fortran_order"
                                     : "shape");
    return header_;
  }

 private:
  llvm::Error Malformed() {
    std::string near;
    llvm::raw_string_ostream os(near);
    llvm::printEscapedString(text_.ltrim().take_front(16), os);
    return CannotRead(path_, "its header is malformed at \"{0}\"", near);
  }

  bool Take(llvm::StringRef token) {
    text_ = text_.ltrim();
    return text_.consume_front(token);
  }

  std::optional<llvm::StringRef> String() {
    text_ = text_.ltrim();
    if (!text_.starts_with("'") && !text_.starts_with("\"")) return std::nullopt;
    size_t end = text_.find(text_[0], 1);
    if (end == llvm::StringRef::npos) return std::nullopt;
    llvm::StringRef value = text_.slice(1, end);
    text_ = text_.drop_front(end + 1);
    return value;
  }

  llvm::Error ParseDescr() {
    if (text_.ltrim().starts_with("["))
      return CannotRead(path_, "it contains records, not numbers of one dtype");
    std::optional<llvm::StringRef> descr = String();
    if (!descr) return Malformed();
    llvm::StringRef type = *descr;
    header_.is_big_endian = type.starts_with(">");
    if (!type.empty() && llvm::StringRef("<>|=").contains(type[0])) type = type.drop_front();
    std::optional<DType> dtype;
    if (type == "b1" || type == "?") {
      dtype = DType::kBool;
    } else if (type.size() == 2 && llvm::StringRef("fiu").contains(type[0]) &&
               llvm::isDigit(type[1])) {
      // NumPy counts bytes, pdl counts bits.
      dtype = DTypeFromName((type.take_front() + llvm::Twine(8 * (type[1] - '0'))).str());
    }
    if (!dtype) return CannotRead(path_, "it holds {0} (dtype '{1}')", KindOf(type), *descr);
    header_.dtype = *dtype;
    return llvm::Error::success();
  }

  static llvm::StringRef KindOf(llvm::StringRef type) {
    switch (type.empty() ? '\0' : type[0]) {
      case 'O':
        return "Python objects, which are not supported";
      case 'c':
        return "complex numbers, which are not supported";
      case 'S':
      case 'U':
      case 'a':
        return "strings, not numbers";
      case 'M':
      case 'm':
        return "dates or times, not numbers";
      case 'V':
        return "raw bytes, not numbers";
      default:
        return "elements of an unknown type";
    }
  }

  llvm::Error ParseOrder() {
    if (Take("True")) {
      header_.is_fortran = true;
    } else if (!Take("False")) {
      return Malformed();
    }
    return llvm::Error::success();
  }

  llvm::Error ParseShape() {
    if (!Take("(")) return Malformed();
    while (!Take(")")) {
      text_ = text_.ltrim();
      llvm::StringRef digits = text_.take_while(llvm::isDigit);
      int64_t size;
      if (digits.empty()) return Malformed();
      if (digits.getAsInteger(10, size))
        return CannotRead(path_, "it has a size of {0}", digits.take_front(40));
      text_ = text_.drop_front(digits.size());
      Take("L");  // as written by Python 2
      if (header_.sizes.size() == kMaxFileRank)
        return CannotRead(path_, "it has more than {0} dims", kMaxFileRank);
      header_.sizes.push_back(size);
      if (!Take(",") && !text_.ltrim().starts_with(")")) return Malformed();
    }
    return llvm::Error::success();
  }

  llvm::StringRef path_;
  llvm::StringRef text_;
  Header header_;
};

template <size_t kSize>
void CopyElement(char* to, const char* from, bool swaps) {
  if (swaps) {
    std::reverse_copy(from, from + kSize, to);
  } else {
    std::memcpy(to, from, kSize);
  }
}

/// Copies elements that are in Fortran order or have the other byte order.
template <size_t kSize>
void CopyElements(const Header& header, char* to, const char* from, int64_t count) {
  size_t rank = header.sizes.size();
  if (!header.is_fortran) {
    for (int64_t i = 0; i < count; ++i)
      CopyElement<kSize>(to + i * kSize, from + i * kSize, header.is_big_endian);
    return;
  }
  Sizes strides(rank, kSize), index(rank, 0);
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * header.sizes[axis - 1];
  const char* element = from;
  for (int64_t i = 0; i < count; ++i) {
    CopyElement<kSize>(to + i * kSize, element, header.is_big_endian);
    for (size_t axis = rank; axis-- > 0;) {
      element += strides[axis];
      if (++index[axis] < header.sizes[axis]) break;
      element -= strides[axis] * header.sizes[axis];
      index[axis] = 0;
    }
  }
}

void CopyElements(const Header& header, char* to, const char* from, int64_t count) {
  switch (DTypeSize(header.dtype)) {
    case 1:
      return CopyElements<1>(header, to, from, count);
    case 2:
      return CopyElements<2>(header, to, from, count);
    case 4:
      return CopyElements<4>(header, to, from, count);
    default:
      return CopyElements<8>(header, to, from, count);
  }
}

}  // namespace

int64_t FindBadBool(llvm::StringRef bytes) {
  const char* found = std::find_if(bytes.begin(), bytes.end(),
                                   [](char c) { return static_cast<unsigned char>(c) > 1; });
  return found == bytes.end() ? -1 : found - bytes.begin();
}

bool HoldsText(llvm::StringRef bytes) {
  const llvm::StringRef header = bytes.take_front(128).split("'descr':").second.ltrim();
  return header.starts_with("'|S") || header.starts_with("'<U") || header.starts_with("'>U");
}

llvm::StringRef TextOf(llvm::StringRef bytes) {
  // The header ends with a line break.
  const auto [header, text] = bytes.split('\n');
  if (!HoldsText(bytes) || !header.contains("'|S") || !header.contains("'shape': ()")) return "";
  return text.rtrim('\0');
}

llvm::Expected<Tensor> ParseNpy(llvm::StringRef path, const SharedBytes& file) {
  llvm::StringRef rest = file.bytes;
  if (!rest.consume_front(kMagic))
    return CannotRead(path, "it is not a .npy file: it does not begin with \"\\x93NUMPY\"");
  auto truncated = [&] {
    return CannotRead(path, "its header is truncated; the file has {0}",
                      BytesToString(static_cast<int64_t>(file.bytes.size())));
  };
  if (rest.size() < 4) return truncated();
  unsigned major = static_cast<unsigned char>(rest[0]);
  if (major < 1 || major > 3)
    return CannotRead(path, "it has format version {0}; 1 to 3 are supported", major);
  rest = rest.drop_front(2);
  size_t length_size = major == 1 ? 2 : 4;
  if (rest.size() < length_size) return truncated();
  size_t length = major == 1 ? llvm::support::endian::read16le(rest.data())
                             : llvm::support::endian::read32le(rest.data());
  rest = rest.drop_front(length_size);
  if (rest.size() < length) return truncated();
  llvm::Expected<Header> header = HeaderParser(path, rest.take_front(length)).Parse();
  if (!header) return header.takeError();
  rest = rest.drop_front(length);

  llvm::Expected<int64_t> bytes = CheckedNumBytes(header->dtype, header->sizes);
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return CannotRead(path, "its header states {0}, which is too large",
                      TensorTypeToString(header->dtype, header->sizes));
  }
  if (static_cast<uint64_t>(*bytes) != rest.size()) {
    return CannotRead(path, "its header states {0}, {1}, but {2} follow",
                      TensorTypeToString(header->dtype, header->sizes), BytesToString(*bytes),
                      BytesToString(static_cast<int64_t>(rest.size())));
  }
  if (header->dtype == DType::kBool) {
    if (int64_t bad = FindBadBool(rest); bad >= 0)
      return CannotRead(path, "element {0} is a bool of value {1}", bad,
                        static_cast<int>(static_cast<unsigned char>(rest[bad])));
  }

  int64_t element_size = DTypeSize(header->dtype);
  bool is_plain = !header->is_big_endian || element_size == 1;
  bool is_row_major = !header->is_fortran || header->sizes.size() <= 1;
  bool is_aligned = reinterpret_cast<uintptr_t>(rest.data()) % element_size == 0;
  if (is_plain && is_row_major && is_aligned && file.owner != nullptr) {
    auto owner = std::const_pointer_cast<void>(file.owner);
    return Tensor(header->dtype, header->sizes,
                  std::shared_ptr<void>(owner, const_cast<char*>(rest.data())));
  }
  auto memory = AllocateHostMemory(*bytes, MemoryFill::kNone, ("reading '" + path + "'").str());
  if (!memory) return memory.takeError();
  CopyElements(*header, static_cast<char*>(memory->get()), rest.data(), *bytes / element_size);
  return Tensor(header->dtype, header->sizes, std::move(*memory));
}

llvm::Expected<std::string> NpyHeader(llvm::StringRef path, const Tensor& tensor) {
  assert(tensor.device().kind == DeviceKind::kCPU && "only the CPU's memory can be written");
  if (tensor.dtype() == DType::kBF16)
    return CannotWrite(path, "NumPy has no dtype for bf16; cast to f32, or write .safetensors");
  llvm::StringRef name = DTypeName(tensor.dtype());
  int64_t element_size = DTypeSize(tensor.dtype());
  std::string header = "{'descr': '";
  header += element_size == 1 ? '|' : '<';
  header += name[0];
  header += std::to_string(element_size) + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.sizes()) header += std::to_string(size) + ", ";
  if (tensor.rank() > 1) header.resize(header.size() - 2);
  if (tensor.rank() == 1) header.pop_back();
  header += "), }";

  std::string text(kMagic);
  text += std::string("\x01\x00", 2);
  size_t total = llvm::alignTo(text.size() + 2 + header.size() + 1, 64);
  size_t length = total - text.size() - 2;
  if (length > UINT16_MAX) return CannotWrite(path, "it has {0} dims", tensor.rank());
  header.resize(length - 1, ' ');
  header += '\n';
  text += static_cast<char>(length & 0xff);
  text += static_cast<char>(length >> 8);
  return text + header;
}

llvm::Expected<Tensor> ReadNpy(llvm::StringRef path) {
  llvm::Expected<SharedBytes> file = ReadWholeFile(path, FileAccess::kPrivateWrite);
  if (!file) return file.takeError();
  return ParseNpy(path, *file);
}

llvm::Error WriteNpy(llvm::StringRef path, const Tensor& tensor) {
  llvm::Expected<std::string> header = NpyHeader(path, tensor);
  if (!header) return header.takeError();
  llvm::Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return file.takeError();
  if (llvm::Error error = file->Write(*header)) return error;
  if (llvm::Error error = file->Write(tensor.raw(), tensor.num_bytes())) return error;
  return file->Commit();
}

}  // namespace pdl
