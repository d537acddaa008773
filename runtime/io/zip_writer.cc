#include <zlib.h>

#include "runtime/io/zip.h"

namespace pdl {
namespace {

constexpr uint16_t kVersion = 45;     // supports zip64
constexpr uint16_t kUtf8 = 1 << 11;   // encoding of names
constexpr uint32_t kDate = 0x210000;  // 1980-01-01
constexpr uint16_t kIn64 = UINT16_MAX;
constexpr uint32_t kInExtra = UINT32_MAX;

/// Appends little-endian fields to a record.
class Record {
 public:
  Record& U16(uint64_t value) { return Put(value, 2); }
  Record& U32(uint64_t value) { return Put(value, 4); }
  Record& U64(uint64_t value) { return Put(value, 8); }
  Record& Text(llvm::StringRef text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& Put(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

}  // namespace

llvm::Error ZipWriter::Add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> parts) {
  uint64_t size = 0;
  uLong crc = 0;
  for (llvm::StringRef part : parts) {
    size += part.size();
    // zlib resets the CRC if the address is null.
    if (!part.empty()) crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  Record local;
  local.U32(kZipLocalHeader).U16(kVersion).U16(kUtf8).U16(kZipStored).U32(kDate).U32(crc);
  local.U32(kInExtra).U32(kInExtra).U16(name.size()).U16(4 + 16).Text(name);
  local.U16(kZip64Extra).U16(16).U64(size).U64(size);
  Record central;
  central.U32(kZipCentralHeader).U16(kVersion).U16(kVersion).U16(kUtf8).U16(kZipStored);
  central.U32(kDate).U32(crc).U32(kInExtra).U32(kInExtra).U16(name.size()).U16(4 + 24);
  central.U16(0).U16(0).U16(0).U32(0).U32(kInExtra).Text(name);
  central.U16(kZip64Extra).U16(24).U64(size).U64(size).U64(position_);
  directory_ += central.bytes();
  ++count_;

  if (llvm::Error error = Write(local.bytes())) return error;
  for (llvm::StringRef part : parts)
    if (llvm::Error error = Write(part)) return error;
  return llvm::Error::success();
}

llvm::Error ZipWriter::Finish() {
  uint64_t begin = position_, size = directory_.size();
  Record end;
  end.U32(kZipEnd64).U64(kZipEnd64Size - 12).U16(kVersion).U16(kVersion).U32(0).U32(0);
  end.U64(count_).U64(count_).U64(size).U64(begin);
  end.U32(kZipEnd64Locator).U32(0).U64(begin + size).U32(1);
  end.U32(kZipEnd).U16(0).U16(0).U16(kIn64).U16(kIn64).U32(kInExtra).U32(kInExtra).U16(0);
  if (llvm::Error error = Write(directory_)) return error;
  return Write(end.bytes());
}

llvm::Error ZipWriter::Write(llvm::StringRef bytes) {
  position_ += bytes.size();
  return file_.Write(bytes);
}

}  // namespace pdl
