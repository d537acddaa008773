#ifndef PDL_TOOLS_PDL_SUPPORT_RANKS_H_
#define PDL_TOOLS_PDL_SUPPORT_RANKS_H_

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "llvm/Support/Error.h"
#include "pdl/train/communicator.h"
#include "tools/pdl/support/command_line.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// Options of a run by several processes.
struct ProcessArguments {
  /// In seconds.
  double timeout = 60;
  /// Given together, for processes that no launcher has started.
  std::optional<int64_t> rank, world;
  std::string rendezvous;

  /// The Error is about the command line.
  llvm::Error Check() const;
};
void AddProcessOptions(CommandLine& line, ProcessArguments* arguments);

/// The processes that a launcher has started to train together; or this process only.
class Ranks {
 public:
  /// Joins the other processes if a launcher or the user has started several, and adapts the
  /// options: ranks share the processors and the GPUs of a machine, and only rank 0 prints
  /// warnings.
  llvm::Error Join(const ProcessArguments& arguments, CommonOptions* options);

  /// Null if this is the only process.
  Communicator* communicator() const { return communicator_.get(); }
  bool is_first() const { return communicator_ == nullptr || communicator_->rank() == 0; }

  /// Returns success if no rank has an error. Otherwise all ranks return an Error: their own, or
  /// ReportedByOtherRank if they have none, or the same one as rank 0.
  llvm::Error Agree(llvm::Error own);
  /// Replaces the value by that of rank 0.
  template <typename T>
  llvm::Error TakeFromFirst(T* value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (communicator_ == nullptr) return llvm::Error::success();
    return communicator_->Broadcast(0, {reinterpret_cast<char*>(value), sizeof(T)});
  }
  /// Prints the Error, if there is one, and returns the exit status. Ends the other ranks if they
  /// do not know of the Error.
  int Finish(llvm::Error error);

 private:
  std::unique_ptr<Communicator> communicator_;
  bool all_have_failed_ = false;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_RANKS_H_
