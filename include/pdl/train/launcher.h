// Programs that start the processes of a distributed run.
#ifndef PDL_TRAIN_LAUNCHER_H_
#define PDL_TRAIN_LAUNCHER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/train/communicator.h"

namespace pdl {

/// How this process was started as one of several.
struct Launcher {
  /// The library by which the processes communicate.
  enum class Transport : uint8_t { kOpenMpi, kMpich, kGloo, kNone };

  /// For messages: "mpirun of Open MPI".
  std::string name;
  Transport transport = Transport::kNone;
  /// The number of processes, at least 2, and how many of them are on this machine (1 if that is
  /// unknown).
  int size = 2;
  int local_size = 1;
  /// The number of this process among those on this machine, from 0, if it is known.
  std::optional<int> local_rank = {};
  /// For kNone: why the processes cannot communicate.
  std::string failure = {};

  /// For kGloo: this process, and where the processes find each other: a folder that all of them
  /// see, or the store of PyTorch's elastic agent at a host and port, with the prefix of its keys.
  int rank = 0;
  std::string folder = {};
  std::string host = {};
  int port = 0;
  std::string key_prefix = {};

  /// For MPI that the program has started itself: its MPI_Comm; null: all processes.
  const void* mpi_communicator = nullptr;

  /// The processors that this process may use, shared with the others on this machine; at least 1.
  /// There are fewer processors than the machine has if the launcher assigns them.
  PDL_API int ThreadsPerProcess() const;
  /// The index of the GPU that "cuda" means for this process, of a machine with that number
  /// of GPUs: `local_rank`, or `rank` if that is not known, modulo their number. 0 if there is
  /// none.
  PDL_API int OwnGpu(int rank, int gpus) const;
};

/// Finds out from the environment which launcher has started this process: mpirun of Open MPI,
/// mpiexec of MPICH (Hydra), srun of Slurm, or torchrun. Returns nullopt if none has, or if it
/// started a single process.
PDL_API std::optional<Launcher> FindLauncher();

/// Rank `rank` of `size` processes that were started without a launcher, and communicate by Gloo.
/// `folder` is empty or new, and the same for all processes, which see each other's files in it.
PDL_API Launcher StartedByHand(int rank, int size, std::string folder);

/// The processes of an MPI communicator of this program, which has started MPI and ends it.
/// `communicator` points to an MPI_Comm of the library that `transport` means, of `size` processes.
PDL_API Launcher StartedByProgram(Launcher::Transport transport, const void* communicator,
                                  int size);

/// Loads the module of the launcher's transport and joins the other processes. A RankError says why
/// that is impossible: this build has no such module, its library is not installed, or it does not
/// find the other processes, with Gloo within `timeout` seconds. The communicator has that timeout.
PDL_API llvm::Expected<std::unique_ptr<Communicator>> JoinProcesses(const Launcher& launcher,
                                                                    double timeout = 60);

}  // namespace pdl

#endif  // PDL_TRAIN_LAUNCHER_H_
