// Zip archives, stored or deflated, with and without zip64.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#ifndef PDL_RUNTIME_IO_ZIP_H_
#define PDL_RUNTIME_IO_ZIP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "runtime/io/file.h"

namespace pdl {

// The signatures of the records of an archive.
inline constexpr uint32_t kZipLocalHeader = 0x04034b50;
inline constexpr uint32_t kZipCentralHeader = 0x02014b50;
inline constexpr uint32_t kZipEnd = 0x06054b50;
inline constexpr uint32_t kZipEnd64 = 0x06064b50;
inline constexpr uint32_t kZipEnd64Locator = 0x07064b50;
inline constexpr size_t kZipEnd64Size = 56;
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;

/// A file in an archive.
struct ZipMember {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  /// The offset of its local header.
  uint64_t offset = 0;
  /// Its packed bytes in the archive.
  llvm::StringRef packed;
};

/// Reads the members of the archive `file`, in its order. Sizes are checked against the file and
/// the maximum ratio of deflate; members must have distinct names and must not overlap. `path` is
/// for messages.
llvm::Expected<std::vector<ZipMember>> ReadZipDirectory(llvm::StringRef path,
                                                        const SharedBytes& file);
/// Unpacks a member and checks its CRC; a stored member refers to the archive's bytes.
llvm::Expected<SharedBytes> UnpackZipMember(llvm::StringRef path, const SharedBytes& file,
                                            const ZipMember& member);

/// Writes members without compression. All sizes use the zip64 form, as NumPy does. Equal members
/// give equal bytes.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  /// Adds a member that consists of `parts`; its name must have less than 2**16 bytes.
  llvm::Error Add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> parts);
  /// Writes the directory; nothing can be added afterwards.
  llvm::Error Finish();

 private:
  llvm::Error Write(llvm::StringRef bytes);

  AtomicFile& file_;
  std::string directory_;
  uint64_t position_ = 0;
  uint64_t count_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_IO_ZIP_H_
