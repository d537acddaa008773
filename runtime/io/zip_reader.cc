#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "runtime/io/zip.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kCentralHeaderSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64LocatorSize = 20;
/// A pair of codes takes at least 2 bits and gives at most 258 bytes.
constexpr uint64_t kMaxRatio = 1032;

/// Reads little-endian fields of a record whose size has been checked.
uint16_t U16(llvm::StringRef record, size_t at) {
  return llvm::support::endian::read16le(record.data() + at);
}
uint32_t U32(llvm::StringRef record, size_t at) {
  return llvm::support::endian::read32le(record.data() + at);
}
uint64_t U64(llvm::StringRef record, size_t at) {
  return llvm::support::endian::read64le(record.data() + at);
}

int64_t Signed(uint64_t size) { return static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX)); }

class DirectoryReader {
 public:
  DirectoryReader(llvm::StringRef path, const SharedBytes& file) : path_(path), file_(file) {}

  llvm::Expected<std::vector<ZipMember>> Members() {
    if (llvm::Error error = FindDirectory()) return error;
    std::vector<ZipMember> members;
    llvm::StringSet<> names;
    llvm::StringRef rest = directory_;
    for (uint64_t i = 0; i < count_; ++i) {
      llvm::Expected<ZipMember> member = ReadCentralHeader(rest);
      if (!member) return member.takeError();
      if (!names.insert(member->name).second)
        return CannotRead(path_, "two members have the name '{0}'", member->name);
      if (llvm::Error error = FindPacked(*member)) return error;
      members.push_back(std::move(*member));
    }
    if (!rest.empty()) return Broken("its directory has more members than it states");
    if (llvm::Error error = CheckApart(members)) return error;
    return members;
  }

 private:
  llvm::Error Broken(const char* what) { return CannotRead(path_, "{0}", what); }

  /// The bytes [at, at + size) if the file has them.
  std::optional<llvm::StringRef> Slice(uint64_t at, uint64_t size) const {
    if (at > file_.bytes.size() || size > file_.bytes.size() - at) return std::nullopt;
    return file_.bytes.substr(at, size);
  }

  /// Sets directory_ and count_ from the record at the end of the file.
  llvm::Error FindDirectory() {
    llvm::StringRef bytes = file_.bytes;
    // A comment of up to 64 KiB may follow.
    size_t from = bytes.size() > kEndSize + UINT16_MAX ? bytes.size() - kEndSize - UINT16_MAX : 0;
    size_t at = bytes.substr(from).rfind("PK\x05\x06");
    if (at == llvm::StringRef::npos || bytes.size() - from - at < kEndSize)
      return Broken("it is not a .npz file, or truncated: it has no zip directory");
    at += from;
    llvm::StringRef end = bytes.substr(at);
    uint64_t disk = U16(end, 4), size = U32(end, 12), begin = U32(end, 16);
    count_ = U16(end, 10);
    directory_end_ = at;
    if (at >= kEnd64LocatorSize &&
        U32(bytes.substr(at - kEnd64LocatorSize), 0) == kZipEnd64Locator) {
      uint64_t end64_at = U64(bytes.substr(at - kEnd64LocatorSize), 8);
      std::optional<llvm::StringRef> end64 = Slice(end64_at, kZipEnd64Size);
      if (!end64 || U32(*end64, 0) != kZipEnd64) return Broken("its zip64 directory is broken");
      disk = U32(*end64, 16);
      count_ = U64(*end64, 32);
      size = U64(*end64, 40);
      begin = U64(*end64, 48);
      directory_end_ = end64_at;
    }
    if (disk != 0) return Broken("it is a part of an archive in several files");
    std::optional<llvm::StringRef> directory = Slice(begin, size);
    if (!directory || begin + size != directory_end_) return Broken("its directory is broken");
    if (count_ > size / kCentralHeaderSize)
      return Broken("its directory states more members than fit into it");
    directory_ = *directory;
    directory_begin_ = begin;
    return llvm::Error::success();
  }

  llvm::Expected<ZipMember> ReadCentralHeader(llvm::StringRef& rest) {
    if (rest.size() < kCentralHeaderSize || U32(rest, 0) != kZipCentralHeader)
      return Broken("its directory is broken");
    uint16_t flags = U16(rest, 8);
    size_t name_size = U16(rest, 28), extra_size = U16(rest, 30), comment_size = U16(rest, 32);
    if (rest.size() < kCentralHeaderSize + name_size + extra_size + comment_size)
      return Broken("its directory is broken");
    ZipMember member;
    member.method = U16(rest, 10);
    member.crc = U32(rest, 16);
    member.packed_size = U32(rest, 20);
    member.size = U32(rest, 24);
    member.offset = U32(rest, 42);
    member.name = rest.substr(kCentralHeaderSize, name_size).str();
    llvm::StringRef extra = rest.substr(kCentralHeaderSize + name_size, extra_size);
    rest = rest.drop_front(kCentralHeaderSize + name_size + extra_size + comment_size);

    if (flags & 1) return CannotRead(path_, "member '{0}' is encrypted", member.name);
    if (member.method != kZipStored && member.method != kZipDeflated) {
      return CannotRead(path_,
                        "member '{0}' is compressed by method {1}; only deflate is supported",
                        member.name, member.method);
    }
    if (!ReadZip64(extra, member))
      return CannotRead(path_, "member '{0}' has no zip64 sizes", member.name);
    return member;
  }

  /// Reads the fields that are too large for 32 bits.
  static bool ReadZip64(llvm::StringRef extra, ZipMember& member) {
    uint64_t* requested[] = {&member.size, &member.packed_size, &member.offset};
    auto is_elsewhere = [](const uint64_t* field) { return *field == UINT32_MAX; };
    if (llvm::none_of(requested, is_elsewhere)) return true;
    while (extra.size() >= 4) {
      uint16_t id = U16(extra, 0);
      size_t size = U16(extra, 2);
      extra = extra.drop_front(4);
      if (size > extra.size()) return false;
      llvm::StringRef fields = extra.take_front(size);
      extra = extra.drop_front(size);
      if (id != kZip64Extra) continue;
      for (uint64_t* field : requested) {
        if (!is_elsewhere(field)) continue;
        if (fields.size() < 8) return false;
        *field = U64(fields, 0);
        fields = fields.drop_front(8);
      }
      return true;
    }
    return false;
  }

  llvm::Error FindPacked(ZipMember& member) {
    std::optional<llvm::StringRef> header = Slice(member.offset, kLocalHeaderSize);
    if (!header || U32(*header, 0) != kZipLocalHeader)
      return CannotRead(path_, "member '{0}' has no header at its offset", member.name);
    uint64_t at = member.offset + kLocalHeaderSize + U16(*header, 26) + U16(*header, 28);
    std::optional<llvm::StringRef> packed = Slice(at, member.packed_size);
    if (!packed || at + member.packed_size > directory_begin_) {
      return CannotRead(path_, "member '{0}' is truncated: it should have {1}", member.name,
                        BytesToString(Signed(member.packed_size)));
    }
    if (Slice(member.offset + kLocalHeaderSize, U16(*header, 26)) != member.name)
      return CannotRead(path_, "member '{0}' has another name in its header", member.name);
    bool is_honest = member.method == kZipStored ? member.size == member.packed_size
                                                 : member.size / kMaxRatio <= member.packed_size;
    if (!is_honest) {
      return CannotRead(path_, "member '{0}' cannot have {1} in {2}", member.name,
                        BytesToString(Signed(member.size)),
                        BytesToString(Signed(member.packed_size)));
    }
    member.packed = *packed;
    return llvm::Error::success();
  }

  /// Checks that members do not overlap, which would expand a small file to a large one.
  llvm::Error CheckApart(const std::vector<ZipMember>& members) {
    std::vector<const ZipMember*> by_place;
    for (const ZipMember& member : members) by_place.push_back(&member);
    llvm::sort(by_place,
               [](const ZipMember* a, const ZipMember* b) { return a->offset < b->offset; });
    for (size_t i = 1; i < by_place.size(); ++i) {
      const char* next = file_.bytes.data() + by_place[i]->offset;
      if (by_place[i - 1]->packed.end() > next) {
        return CannotRead(path_, "members '{0}' and '{1}' overlap", by_place[i - 1]->name,
                          by_place[i]->name);
      }
    }
    return llvm::Error::success();
  }

  llvm::StringRef path_;
  const SharedBytes& file_;
  llvm::StringRef directory_;
  uint64_t directory_begin_ = 0;
  uint64_t directory_end_ = 0;
  uint64_t count_ = 0;
};

/// Whether `packed` unpacks to exactly `size` bytes.
bool Inflate(llvm::StringRef packed, char* to, uint64_t size) {
  z_stream stream = {};
  // Negative: the data has no zlib header.
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  constexpr uint64_t kMost = 1u << 30;  // zlib counts in 32 bits
  const char* from = packed.data();
  uint64_t from_left = packed.size();
  uint64_t to_left = size;
  char surplus;
  int status;
  do {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
      stream.avail_in = static_cast<uInt>(std::min(from_left, kMost));
      from += stream.avail_in;
      from_left -= stream.avail_in;
    }
    if (stream.avail_out == 0) {
      // At the end, one more byte of output detects wrong sizes.
      stream.next_out = reinterpret_cast<Bytef*>(to_left > 0 ? to : &surplus);
      stream.avail_out = to_left > 0 ? static_cast<uInt>(std::min(to_left, kMost)) : 1;
      if (to_left > 0) {
        to += stream.avail_out;
        to_left -= stream.avail_out;
      }
    }
    status = inflate(&stream, Z_NO_FLUSH);
  } while (status == Z_OK && stream.total_out <= size);
  bool is_whole =
      status == Z_STREAM_END && stream.total_out == size && stream.avail_in == 0 && from_left == 0;
  inflateEnd(&stream);
  return is_whole;
}

llvm::Expected<SharedBytes> UnpackUnchecked(llvm::StringRef path, const SharedBytes& file,
                                            const ZipMember& member) {
  if (member.method == kZipStored) return SharedBytes{file.owner, member.packed};
  auto size = static_cast<int64_t>(member.size);
  auto memory = AllocateHostMemory(size, MemoryFill::kNone,
                                   "member '" + member.name + "' of '" + path.str() + "'");
  if (!memory) return memory.takeError();
  if (!Inflate(member.packed, static_cast<char*>(memory->get()), member.size)) {
    return CannotRead(path, "member '{0}' is damaged: it does not unpack to its {1}", member.name,
                      BytesToString(size));
  }
  llvm::StringRef bytes(static_cast<const char*>(memory->get()), member.size);
  return SharedBytes{std::move(*memory), bytes};
}

}  // namespace

llvm::Expected<std::vector<ZipMember>> ReadZipDirectory(llvm::StringRef path,
                                                        const SharedBytes& file) {
  return DirectoryReader(path, file).Members();
}

llvm::Expected<SharedBytes> UnpackZipMember(llvm::StringRef path, const SharedBytes& file,
                                            const ZipMember& member) {
  llvm::Expected<SharedBytes> bytes = UnpackUnchecked(path, file, member);
  if (!bytes) return bytes;
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes->bytes.data()), bytes->bytes.size());
  if (crc != member.crc)
    return CannotRead(path, "member '{0}' is damaged: its CRC is {1:x-}, not {2:x-}", member.name,
                      crc, member.crc);
  return bytes;
}

}  // namespace pdl
