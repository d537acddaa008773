#include "tools/pdl/train/ranks.h"

#include <algorithm>
#include <thread>

#include "llvm/ADT/STLExtras.h"
#include "pdl/train/launcher.h"
#include "tools/pdl/support/console.h"

namespace pdl {
namespace {

std::string TextOf(const llvm::Error& error) {
  std::string text;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase& e) { text += e.message() + "\n"; });
  return text;
}

}  // namespace

llvm::Error Ranks::Join(double timeout, CommonOptions* options) {
  const std::optional<Launcher> launcher = FindLauncher();
  if (!launcher) return llvm::Error::success();
  llvm::Expected<std::unique_ptr<Communicator>> joined = JoinProcesses(*launcher);
  if (!joined) return joined.takeError();
  communicator_ = std::move(*joined);
  communicator_->set_timeout(timeout);
  if (options->threads == 0) {
    // The processors that this process may use: fewer than there are if the launcher assigns them.
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    options->threads = std::max(1, processors / launcher->local_size);
  }
  if (is_first()) return llvm::Error::success();
  options->without_warnings = true;
  SetMessagePrefix("rank " + std::to_string(communicator_->rank()) + ": ");
  return llvm::Error::success();
}

llvm::Error Ranks::Agree(llvm::Error own) {
  if (communicator_ == nullptr) return own;
  llvm::Expected<std::vector<std::string>> texts = communicator_->AllGather(TextOf(own));
  if (!texts) return llvm::joinErrors(std::move(own), texts.takeError());
  all_have_failed_ = llvm::any_of(*texts, [](const std::string& text) { return !text.empty(); });
  const auto rank = static_cast<size_t>(communicator_->rank());
  if (!all_have_failed_ || (own && (rank == 0 || (*texts)[rank] != texts->front()))) return own;
  llvm::consumeError(std::move(own));
  return llvm::make_error<ReportedByOtherRank>();
}

int Ranks::Finish(llvm::Error error) {
  if (communicator_ == nullptr || !error) return pdl::Finish(std::move(error));
  int status = kUserError;
  if (error.isA<ReportedByOtherRank>()) {
    llvm::consumeError(std::move(error));
  } else {
    status = pdl::Finish(std::move(error));
    PrintKeptDiagnostics();
    if (!all_have_failed_) communicator_->Abort(status);
  }
  // The launcher may end all processes when the first one ends, so each waits until all errors have
  // been printed.
  llvm::consumeError(communicator_->Barrier());
  return status;
}

}  // namespace pdl
