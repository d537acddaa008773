#include "pdl/train/launcher.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "pdl/version.h"
#include "runtime/distributed/transport_library.h"
#include "runtime/io/file.h"
#include "runtime/own_folder.h"

namespace pdl {
namespace {

using Transport = Launcher::Transport;

/// The number in an environment variable; nullopt if there is none.
std::optional<int> NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text == nullptr || llvm::StringRef(text).getAsInteger(10, number)) return std::nullopt;
  return number;
}

bool IsSet(const char* variable) { return std::getenv(variable) != nullptr; }

/// The number of processes on this machine, and of this one among them.
struct Local {
  std::optional<int> size, rank;
};

Launcher MakeLauncher(std::string name, Transport transport, int size, Local local,
                      std::string failure = "") {
  return {std::move(name), transport,         size, std::max(1, local.size.value_or(1)),
          local.rank,      std::move(failure)};
}

/// A module of libpdl, and the package of its library.
struct TransportModule {
  const char* file;
  const char* package;
};

TransportModule ModuleOf(Transport transport) {
  switch (transport) {
    case Transport::kOpenMpi:
      return {"libpdl_openmpi.so", "libopenmpi3"};
    case Transport::kMpich:
      return {"libpdl_mpich.so", "libmpich12"};
    default:
      return {"libpdl_gloo.so", "libgloo0"};
  }
}

llvm::Expected<TransportCreateFunction> LoadModule(const TransportModule& module) {
  const auto failed = [](std::string why) { return llvm::make_error<RankError>(std::move(why)); };
  llvm::SmallString<256> path(OwnFolder());
  llvm::sys::path::append(path, module.file);
  if (!llvm::sys::fs::exists(path))
    return failed(llvm::formatv("this build has no {0}", module.file));
  // Open MPI's own plugins look for its symbols in the global scope.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    return failed(
        llvm::formatv("{0} (Debian's package of this library is {1})", dlerror(), module.package));
  auto version =
      reinterpret_cast<TransportVersionFunction>(dlsym(library, "pdl_transport_version"));
  auto create = reinterpret_cast<TransportCreateFunction>(dlsym(library, "pdl_transport_create"));
  if (version == nullptr || create == nullptr)
    return failed(llvm::formatv("{0} is not a module of pdl", path));
  if (llvm::StringRef(version()) != PDL_PLUGIN_VERSION)
    return failed(
        llvm::formatv("{0} has version {1}, but this is {2}", path, version(), PDL_PLUGIN_VERSION));
  return create;
}

/// A process among `size` with the variables that torchrun sets, and some other launchers, too.
Launcher FindTorchrun(int size) {
  Launcher launcher = MakeLauncher("torchrun", Transport::kGloo, size,
                                   {NumberIn("LOCAL_WORLD_SIZE"), NumberIn("LOCAL_RANK")});
  const char* host = std::getenv("MASTER_ADDR");
  const std::optional<int> rank = NumberIn("RANK"), port = NumberIn("MASTER_PORT");
  const char* has_store = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  if (host == nullptr || !port || !rank || has_store == nullptr ||
      llvm::StringRef(has_store) != "True") {
    launcher.transport = Transport::kNone;
    launcher.failure =
        "RANK and WORLD_SIZE are set, but not by torchrun, whose store they would find each other "
        "in; give --rank, --world and --rendezvous";
    return launcher;
  }
  launcher.rank = *rank;
  launcher.host = host;
  launcher.port = *port;
  launcher.key_prefix =
      "pdl/" + std::to_string(NumberIn("TORCHELASTIC_RESTART_COUNT").value_or(0)) + "/";
  return launcher;
}

}  // namespace

std::optional<Launcher> FindLauncher() {
  std::optional<Launcher> found;
  if (const auto size = NumberIn("OMPI_COMM_WORLD_SIZE")) {
    found = MakeLauncher(
        "mpirun of Open MPI", Transport::kOpenMpi, *size,
        {NumberIn("OMPI_COMM_WORLD_LOCAL_SIZE"), NumberIn("OMPI_COMM_WORLD_LOCAL_RANK")});
  } else if (const auto tasks = NumberIn("SLURM_STEP_NUM_TASKS"); tasks && *tasks > 1) {
    const bool has_pmix = IsSet("PMIX_RANK"), has_pmi = IsSet("PMI_RANK") || IsSet("PMI_FD");
    found = MakeLauncher(
        "srun",
        has_pmix  ? Transport::kOpenMpi
        : has_pmi ? Transport::kMpich
                  : Transport::kNone,
        NumberIn("PMI_SIZE").value_or(*tasks),
        // Hydra's processes have the SLURM_LOCALID of the proxy that srun has started.
        Local{NumberIn("SLURM_STEP_TASKS_PER_NODE"),
              NumberIn(IsSet("MPI_LOCALRANKID") ? "MPI_LOCALRANKID" : "SLURM_LOCALID")},
        "it was started without MPI; srun --mpi=pmix uses Open MPI, and --mpi=pmi2 MPICH");
  } else if (const auto ranks = NumberIn("PMI_SIZE")) {
    found = MakeLauncher("mpiexec of MPICH", Transport::kMpich, *ranks,
                         {NumberIn("MPI_LOCALNRANKS"), NumberIn("MPI_LOCALRANKID")});
  } else if (const auto world = NumberIn("WORLD_SIZE"); world && IsSet("RANK")) {
    found = FindTorchrun(*world);
  }
  if (!found || found->size < 2) return std::nullopt;
  return found;
}

int Launcher::ThreadsPerProcess() const {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / local_size);
}

int Launcher::OwnGpu(int rank, int gpus) const {
  return gpus > 0 ? local_rank.value_or(rank) % gpus : 0;
}

Launcher StartedByHand(int rank, int size, std::string folder) {
  Launcher launcher = MakeLauncher("--world", Transport::kGloo, size, {});
  launcher.rank = rank;
  launcher.folder = std::move(folder);
  return launcher;
}

Launcher StartedByProgram(Transport transport, const void* communicator, int size) {
  const std::optional<Launcher> found = FindLauncher();
  Launcher launcher =
      MakeLauncher("this program", transport, size,
                   found ? Local{std::min(size, found->local_size), found->local_rank} : Local());
  launcher.mpi_communicator = communicator;
  return launcher;
}

llvm::Expected<std::unique_ptr<Communicator>> JoinProcesses(const Launcher& launcher,
                                                            double timeout) {
  const auto failed = [&](llvm::StringRef why) {
    const bool is_launched = launcher.folder.empty() && launcher.mpi_communicator == nullptr;
    const char* format = is_launched
                             ? "{0} has started {1} processes, which cannot work together: {2}"
                             : "the {1} processes of {0} cannot work together: {2}";
    return llvm::make_error<RankError>(
        llvm::formatv(format, launcher.name, launcher.size, why).str());
  };
  if (launcher.transport == Transport::kNone) return failed(launcher.failure);
  if (!launcher.folder.empty()) {
    std::error_code code = llvm::sys::fs::create_directories(launcher.folder);
    if (!code) code = llvm::sys::fs::access(launcher.folder, llvm::sys::fs::AccessMode::Write);
    if (code) return CannotWrite(launcher.folder, code);
  }
  llvm::Expected<TransportCreateFunction> create = LoadModule(ModuleOf(launcher.transport));
  if (!create) return failed(llvm::toString(create.takeError()));
  Rendezvous rendezvous;
  rendezvous.rank = launcher.rank;
  rendezvous.size = launcher.size;
  rendezvous.folder = launcher.folder.empty() ? nullptr : launcher.folder.c_str();
  rendezvous.host = launcher.host.c_str();
  rendezvous.port = launcher.port;
  rendezvous.key_prefix = launcher.key_prefix.c_str();
  rendezvous.timeout = timeout;
  rendezvous.mpi_communicator = launcher.mpi_communicator;
  char* error = nullptr;
  std::unique_ptr<Communicator> communicator((*create)(&rendezvous, &error));
  const std::string text = error != nullptr ? error : "";
  std::free(error);
  if (communicator == nullptr) return failed(text);
  communicator->set_timeout(timeout);
  if (communicator->size() != launcher.size)
    return failed(llvm::formatv("MPI finds {0} of them: does the launcher belong to another MPI?",
                                communicator->size())
                      .str());
  return communicator;
}

}  // namespace pdl
