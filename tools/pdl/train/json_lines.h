#ifndef PDL_TOOLS_PDL_TRAIN_JSON_LINES_H_
#define PDL_TOOLS_PDL_TRAIN_JSON_LINES_H_

#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/train/trainer.h"

namespace pdl {

/// A file with a JSON object in each line. The Errors name it.
class JsonLines {
 public:
  /// OF_Append continues an existing file, OF_None replaces it.
  static llvm::Expected<JsonLines> Open(std::string path, llvm::sys::fs::OpenFlags flags);
  JsonLines(JsonLines&&) = default;
  JsonLines& operator=(JsonLines&&) = default;
  /// Closes the file, without an Error.
  ~JsonLines();
  /// The line is in the file when this returns.
  llvm::Error Write(const llvm::json::Value& line);
  /// Must be the last call.
  llvm::Error Close();

 private:
  JsonLines() = default;
  std::string path_;
  std::unique_ptr<llvm::raw_fd_ostream> lines_;
};

/// The current time in seconds since 1970, as records have it.
double TimeOfRecord();
/// An object with the metrics' values; infinities and nan are strings.
llvm::json::Object ToJson(llvm::ArrayRef<Metric> metrics);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_JSON_LINES_H_
