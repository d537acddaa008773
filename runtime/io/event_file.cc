#include "pdl/train/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "llvm/Support/Endian.h"
#include "llvm/Support/Errno.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    table[i] = crc;
  }
  return table;
}

/// TFRecords mask CRCs, because the CRC of data that contain CRCs is problematic.
uint32_t Masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

/// Writes protobuf's wire format: https://protobuf.dev/programming-guides/encoding.
class Message {
 public:
  void AddVarint(unsigned field, uint64_t value) {
    PutVarint(field << 3);
    PutVarint(value);
  }
  void AddDouble(unsigned field, double value) {
    PutVarint(field << 3 | 1);
    char bytes[8];
    llvm::support::endian::write64le(bytes, std::bit_cast<uint64_t>(value));
    bytes_.append(bytes, sizeof bytes);
  }
  void AddFloat(unsigned field, float value) {
    PutVarint(field << 3 | 5);
    char bytes[4];
    llvm::support::endian::write32le(bytes, std::bit_cast<uint32_t>(value));
    bytes_.append(bytes, sizeof bytes);
  }
  void AddBytes(unsigned field, llvm::StringRef bytes) {
    PutVarint(field << 3 | 2);
    PutVarint(bytes.size());
    bytes_.append(bytes.begin(), bytes.end());
  }
  llvm::StringRef bytes() const { return bytes_; }

 private:
  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Fields of tensorflow.Event, Summary, Summary.Value and SessionLog.
constexpr unsigned kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr unsigned kSummaryValue = 1, kTag = 1, kSimpleValue = 2;
constexpr unsigned kStatus = 1, kStatusStart = 1;

Message EventAt(double wall_time, int64_t step) {
  Message event;
  event.AddDouble(kWallTime, wall_time);
  if (step != 0) event.AddVarint(kStep, static_cast<uint64_t>(step));
  return event;
}

}  // namespace

uint32_t Crc32c(llvm::StringRef bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  uint32_t crc = 0xffffffffu;
  for (char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

llvm::Expected<EventFile> EventFile::Create(llvm::StringRef path, double wall_time) {
  const std::string name = path.str();
  const int fd = llvm::sys::RetryAfterSignal(
      -1, [&] { return open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); });
  if (fd < 0) return CannotWrite(path, "{0}", std::strerror(errno));
  EventFile file(path.str(), fd);
  Message event = EventAt(wall_time, 0);
  event.AddBytes(kFileVersion, "brain.Event:2");
  if (llvm::Error error = file.AddRecord(event.bytes())) return error;
  return file;
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

EventFile::~EventFile() {
  if (fd_ >= 0) close(fd_);
}

llvm::Error EventFile::AddScalars(int64_t step, double wall_time,
                                  llvm::ArrayRef<std::pair<std::string, double>> scalars) {
  Message summary;
  for (const auto& [tag, value] : scalars) {
    Message entry;
    entry.AddBytes(kTag, tag);
    entry.AddFloat(kSimpleValue, static_cast<float>(value));
    summary.AddBytes(kSummaryValue, entry.bytes());
  }
  Message event = EventAt(wall_time, step);
  event.AddBytes(kSummary, summary.bytes());
  return AddRecord(event.bytes());
}

llvm::Error EventFile::AddRestart(int64_t step, double wall_time) {
  Message log;
  log.AddVarint(kStatus, kStatusStart);
  Message event = EventAt(wall_time, step);
  event.AddBytes(kSessionLog, log.bytes());
  return AddRecord(event.bytes());
}

llvm::Error EventFile::AddRecord(llvm::StringRef event) {
  // length, CRC of the length, the event, its CRC
  std::string record(12, '\0');
  llvm::support::endian::write64le(record.data(), event.size());
  llvm::support::endian::write32le(record.data() + 8,
                                   Masked(Crc32c(llvm::StringRef(record).take_front(8))));
  record += event;
  char crc[4];
  llvm::support::endian::write32le(crc, Masked(Crc32c(event)));
  record.append(crc, sizeof crc);
  for (llvm::StringRef rest = record; !rest.empty();) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path_, "{0}", std::strerror(errno));
    rest = rest.drop_front(static_cast<size_t>(written));
  }
  return llvm::Error::success();
}

}  // namespace pdl
