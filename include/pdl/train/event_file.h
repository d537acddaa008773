// Event files for TensorBoard.
#ifndef PDL_TRAIN_EVENT_FILE_H_
#define PDL_TRAIN_EVENT_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// Writes a TFRecord file of tensorflow.Event messages. TensorBoard reads the files of a folder
/// whose names are `events.out.tfevents.…`.
class PDL_API EventFile {
 public:
  /// Creates a new file; an Error if it cannot be written. `wall_time` in seconds since 1970.
  static llvm::Expected<EventFile> Create(llvm::StringRef path, double wall_time);
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;
  ~EventFile();

  /// Adds the scalars of one step, each with a tag such as "training/loss". `wall_time` in seconds
  /// since 1970.
  llvm::Error AddScalars(int64_t step, double wall_time,
                         llvm::ArrayRef<std::pair<std::string, double>> scalars);
  /// Makes readers discard the events of earlier files in the folder from `step` on.
  llvm::Error AddRestart(int64_t step, double wall_time);

 private:
  EventFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  llvm::Error AddRecord(llvm::StringRef event);

  std::string path_;
  int fd_;
};

/// CRC-32C (Castagnoli, RFC 3720), the checksum of the records.
PDL_API uint32_t Crc32c(llvm::StringRef bytes);

}  // namespace pdl

#endif  // PDL_TRAIN_EVENT_FILE_H_
