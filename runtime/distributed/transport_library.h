// The interface between libpdl and its modules for communication: libpdl_openmpi.so and
// libpdl_mpich.so, which are compiled from the same source since the binary interfaces of the two
// libraries differ, and libpdl_gloo.so. A module must come from the same build as libpdl, which the
// version verifies before anything else is called. libpdl loads the one that the launcher of the
// process requires.
#ifndef PDL_RUNTIME_DISTRIBUTED_TRANSPORT_LIBRARY_H_
#define PDL_RUNTIME_DISTRIBUTED_TRANSPORT_LIBRARY_H_

#include "pdl/compiler/export.h"
#include "pdl/train/communicator.h"

namespace pdl {

/// How Gloo's processes find each other. MPI's know from their launcher, and use only the last
/// member.
struct Rendezvous {
  int rank = 0, size = 1;
  /// A folder that all processes see, or null: then a store of PyTorch's elastic agent.
  const char* folder = nullptr;
  const char* host = nullptr;
  int port = 0;
  /// Distinguishes the attempts of an agent, which keeps its store when it starts processes again.
  const char* key_prefix = "";
  /// In seconds.
  double timeout = 60;
  /// An MPI_Comm of the processes, from a program that uses MPI itself; null: MPI_COMM_WORLD.
  const void* mpi_communicator = nullptr;
};

}  // namespace pdl

extern "C" {

/// Returns PDL_PLUGIN_VERSION of "pdl/version.h". Does not start the transport.
PDL_API const char* pdl_transport_version();

/// Joins the other processes, and returns a communicator that the caller deletes. MPI is started if
/// the program has not. On failure returns null and sets `*error` to the reason, which the caller
/// passes to free().
PDL_API pdl::Communicator* pdl_transport_create(const pdl::Rendezvous* rendezvous, char** error);

}  // extern "C"

namespace pdl {

using TransportVersionFunction = decltype(&pdl_transport_version);
using TransportCreateFunction = decltype(&pdl_transport_create);

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_TRANSPORT_LIBRARY_H_
