#include "tools/pdl/support/ranks.h"

#include <limits>

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

/// Sets `number` to a number of at least `min`.
CommandLine::Setter ToNumber(int64_t min, std::optional<int64_t>* number) {
  return [=](llvm::StringRef text) -> llvm::Error {
    return ParseInt(text, min, std::numeric_limits<int>::max()).moveInto(*number);
  };
}

}  // namespace

llvm::Error ProcessArguments::Check() const {
  const bool has_any = rank || world || !rendezvous.empty();
  if (!has_any) return llvm::Error::success();
  if (!rank || !world || rendezvous.empty())
    return MakeUsageError("--rank, --world and --rendezvous are given together");
  if (*rank >= *world)
    return MakeUsageError("--rank {0}: {1} processes have the ranks 0 to {2}", *rank, *world,
                          *world - 1);
  return llvm::Error::success();
}

void AddProcessOptions(CommandLine& line, ProcessArguments* arguments) {
  line.Section("Several processes (mpirun, srun and torchrun are found without these)");
  line.AddValue("--rank", "R", "this is process R, from 0, of those that --world counts",
                ToNumber(0, &arguments->rank));
  line.AddValue("--world", "N", "the number of processes, which communicate by Gloo",
                ToNumber(1, &arguments->world));
  line.AddString("--rendezvous", "FOLDER",
                 "where the processes find each other: a new folder that all of them see",
                 &arguments->rendezvous);
  line.AddValue("--timeout", "SECONDS",
                "end, with status 4, when another process does not answer for this long "
                "(default 60)",
                [arguments](llvm::StringRef text) -> llvm::Error {
                  double& timeout = arguments->timeout;
                  // Negated so that NaN fails.
                  if (text.getAsDouble(timeout) || !(timeout > 0 && timeout <= 1e6))
                    return MakeUsageError("expected a number of seconds above 0, got '{0}'", text);
                  return llvm::Error::success();
                });
}

llvm::Error Ranks::Join(const ProcessArguments& arguments, CommonOptions* options) {
  const std::optional<Launcher> launcher =
      !arguments.world ? FindLauncher()
      : *arguments.world == 1
          ? std::nullopt
          : std::optional(StartedByHand(static_cast<int>(*arguments.rank),
                                        static_cast<int>(*arguments.world), arguments.rendezvous));
  if (!launcher) return llvm::Error::success();
  llvm::Expected<std::unique_ptr<Communicator>> joined =
      JoinProcesses(*launcher, arguments.timeout);
  if (!joined) return joined.takeError();
  communicator_ = std::move(*joined);
  if (options->threads == 0) options->threads = launcher->ThreadsPerProcess();
  if (options->takes_own_gpu)
    options->device.index =
        launcher->OwnGpu(communicator_->rank(), CountDevices(DeviceKind::kCUDA));
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
