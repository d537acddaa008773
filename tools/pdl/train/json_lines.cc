#include "tools/pdl/train/json_lines.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "runtime/io/file.h"

namespace pdl {
namespace {

/// JSON cannot represent nan and infinities as numbers.
llvm::json::Value ToJson(double value) {
  if (std::isfinite(value)) return value;
  return value != value ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace

llvm::Expected<JsonLines> JsonLines::Open(std::string path, llvm::sys::fs::OpenFlags flags) {
  JsonLines file;
  file.path_ = std::move(path);
  std::error_code code;
  file.lines_ = std::make_unique<llvm::raw_fd_ostream>(file.path_, code, flags);
  if (code) return CannotWrite(file.path_, code);
  return file;
}

JsonLines::~JsonLines() {
  if (lines_ != nullptr) llvm::consumeError(Close());
}

llvm::Error JsonLines::Write(const llvm::json::Value& line) {
  *lines_ << line << '\n';
  lines_->flush();
  const std::error_code code = lines_->error();
  if (!code) return llvm::Error::success();
  lines_->clear_error();
  return CannotWrite(path_, code);
}

llvm::Error JsonLines::Close() {
  lines_->close();
  const std::error_code code = lines_->error();
  // Otherwise the destructor ends the process.
  lines_->clear_error();
  lines_.reset();
  // A signal may interrupt the closing of a file, but it is closed.
  if (!code || code == std::errc::interrupted) return llvm::Error::success();
  return CannotWrite(path_, code);
}

double TimeOfRecord() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

llvm::json::Object ToJson(llvm::ArrayRef<Metric> metrics) {
  llvm::json::Object object;
  for (const Metric& metric : metrics) object[metric.name] = ToJson(metric.value);
  return object;
}

}  // namespace pdl
