// The processes of a distributed Python program.
#ifndef PYTHON_SRC_RANKS_H_
#define PYTHON_SRC_RANKS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pdl/train/communicator.h"
#include "pdl/train/launcher.h"

namespace pdl::python {

/// This process among those that run the same program; possibly the only one. Not thread-safe.
class PyRanks {
 public:
  /// Where the processes come from, if no launcher is to be looked for.
  struct Given {
    /// Processes that were started by hand: see StartedByHand.
    int rank = 0, world = 0;
    std::string rendezvous;
    /// The address of an MPI_Comm, its size, and the name of the MPI library, "Open MPI" or
    /// "MPICH".
    uintptr_t communicator = 0;
    int size = 0;
    std::string library;
  };
  /// Joins the processes. Throws if that is impossible.
  PyRanks(const Given& given, double timeout);

  int rank() const { return communicator_ ? communicator_->rank() : 0; }
  int size() const { return communicator_ ? communicator_->size() : 1; }
  /// The bytes that this process has sent to the others so far.
  int64_t bytes_sent() const { return communicator_ ? communicator_->bytes_sent() : 0; }
  /// Null if this is the only process.
  Communicator* communicator() const { return communicator_.get(); }
  /// The threads of this process if `threads` is 0, so that processes share the processors.
  int ThreadsFor(int threads) const;
  /// See Launcher::OwnGpu; 0 in a single process.
  int OwnGpu() const;

  /// Returns the bytes of all ranks, by rank.
  nanobind::list AllGather(nanobind::bytes own);
  /// See Communicator::CheckAgreement.
  void CheckAgreement(const std::vector<std::pair<std::string, std::string>>& facts);
  /// Leaves the others. With `has_failed`, processes that MPI's launcher has started are ended,
  /// since they would wait for this one: then it does not return.
  void Close(bool has_failed);

 private:
  std::unique_ptr<Communicator> communicator_;
  std::optional<Launcher> launcher_;
  int threads_ = 1;
  bool aborts_ = false;
};

void BindRanks(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_RANKS_H_
