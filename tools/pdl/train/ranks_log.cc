#include "tools/pdl/train/ranks_log.h"

#include <unistd.h>

#include <string>

#include "llvm/Support/FileSystem.h"
#include "pdl/version.h"
#include "runtime/io/file.h"

namespace pdl {

llvm::Expected<RanksLog> RanksLog::Open(llvm::StringRef folder, int rank, int ranks, int threads) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return CannotWrite(folder, code);
  auto lines =
      JsonLines::Open(llvm::formatv("{0}/rank-{1}.jsonl", folder, rank), llvm::sys::fs::OF_Append);
  if (!lines) return lines.takeError();
  RanksLog log(std::move(*lines));
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  llvm::json::Object line{{"time", TimeOfRecord()},
                          {"rank", rank},
                          {"ranks", ranks},
                          {"host", llvm::json::fixUTF8(host)},
                          {"process", static_cast<int64_t>(getpid())},
                          {"threads", threads},
                          {"version", PDL_PLUGIN_VERSION}};
  if (llvm::Error error = log.Write(std::move(line))) return error;
  return log;
}

llvm::Error RanksLog::AddStep(const StepReport& report) {
  llvm::json::Object line{{"time", TimeOfRecord()},
                          {"step", report.step},
                          {"epoch", report.epoch},
                          {"rows", report.rows},
                          {"training", ToJson(report.metrics)}};
  if (report.times.slowest_rank >= 0) {
    line["seconds"] = report.times.own;
    line["waited"] = report.times.waited;
  }
  if (report.is_skipped) line["skipped"] = true;
  return Write(std::move(line));
}

llvm::Error RanksLog::AddEnd(const llvm::Error& end) {
  std::string text;
  llvm::visitErrors(end, [&](const llvm::ErrorInfoBase& info) {
    if (!text.empty()) text += '\n';
    text += info.isA<ReportedByOtherRank>() ? "another rank has failed" : info.message();
  });
  return Write(llvm::json::Object{{"time", TimeOfRecord()}, {"error", llvm::json::fixUTF8(text)}});
}

llvm::Error RanksLog::Write(llvm::json::Object line) {
  if (has_failed_) return llvm::Error::success();
  llvm::Error error = lines_.Write(std::move(line));
  has_failed_ = bool(error);
  return error;
}

}  // namespace pdl
