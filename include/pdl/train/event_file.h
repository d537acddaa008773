// Event files, which TensorBoard reads.
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

/// Appends events to a file of TFRecords that hold tensorflow.Event. TensorBoard looks for files
/// that are called `events.out.tfevents.…` in a folder.
class PDL_API EventFile {
 public:
  /// Begins a new file; an Error where it cannot be written.
  static llvm::Expected<EventFile> Create(llvm::StringRef path, double wall_time);
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&&) = delete;
  ~EventFile();

  /// Numbers of one step, each under a tag such as "training/loss". `wall_time` in seconds since
  /// 1970.
  llvm::Error AddScalars(int64_t step, double wall_time,
                         llvm::ArrayRef<std::pair<std::string, double>> scalars);
  /// Tells readers that what earlier files of the folder have from `step` on counts no more.
  llvm::Error AddRestart(int64_t step, double wall_time);

 private:
  EventFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  llvm::Error AddRecord(llvm::StringRef event);

  std::string path_;
  int fd_;
};

/// CRC-32C (Castagnoli) of RFC 3720, by which the records are checked.
PDL_API uint32_t Crc32c(llvm::StringRef bytes);

}  // namespace pdl

#endif  // PDL_TRAIN_EVENT_FILE_H_
