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

// The records of an archive begin with these.
inline constexpr uint32_t kZipLocalHeader = 0x04034b50;
inline constexpr uint32_t kZipCentralHeader = 0x02014b50;
inline constexpr uint32_t kZipEnd = 0x06054b50;
inline constexpr uint32_t kZipEnd64 = 0x06064b50;
inline constexpr uint32_t kZipEnd64Locator = 0x07064b50;
inline constexpr size_t kZipEnd64Size = 56;
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;

/// One file of an archive.
struct ZipMember {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  /// Of its local header.
  uint64_t offset = 0;
  /// Where it lies in the archive's bytes.
  llvm::StringRef packed;
};

/// The members of the archive `file`, in its order. Sizes are checked against the file and against
/// what deflate can do; members have different names and share no bytes. `path` is for messages.
llvm::Expected<std::vector<ZipMember>> ReadZipDirectory(llvm::StringRef path,
                                                        const SharedBytes& file);
/// The bytes of a member, its CRC checked; those of a stored one are the archive's own.
llvm::Expected<SharedBytes> UnpackZipMember(llvm::StringRef path, const SharedBytes& file,
                                            const ZipMember& member);

/// Writes members as they are. All sizes take their zip64 form, as NumPy's do: one form serves
/// every size. Equal members give equal bytes.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}
  /// A member made of `parts`; its name has less than 2**16 bytes.
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
