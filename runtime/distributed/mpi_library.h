// The interface between libpdl and its modules for MPI, libpdl_openmpi.so and libpdl_mpich.so. Both
// are compiled from the same source, since the binary interfaces of the two libraries differ. A
// module must come from the same build as libpdl, which the version verifies before anything else
// is called. libpdl loads a module when a launcher of such a library has started the process.
#ifndef PDL_RUNTIME_DISTRIBUTED_MPI_LIBRARY_H_
#define PDL_RUNTIME_DISTRIBUTED_MPI_LIBRARY_H_

#include "pdl/compiler/export.h"
#include "pdl/train/communicator.h"

extern "C" {

/// Returns PDL_PLUGIN_VERSION of "pdl/version.h". Does not start MPI.
PDL_API const char* pdl_mpi_version();

/// Starts MPI, if the program has not, and returns a communicator of all processes, which the
/// caller deletes. On failure returns null and sets `*error` to the reason, which the caller passes
/// to free().
PDL_API pdl::Communicator* pdl_mpi_create(char** error);

}  // extern "C"

namespace pdl {

using MpiVersionFunction = decltype(&pdl_mpi_version);
using MpiCreateFunction = decltype(&pdl_mpi_create);

}  // namespace pdl

#endif  // PDL_RUNTIME_DISTRIBUTED_MPI_LIBRARY_H_
