#ifndef PDL_TOOLS_PDL_SUPPORT_HASH_WEIGHTS_H_
#define PDL_TOOLS_PDL_SUPPORT_HASH_WEIGHTS_H_

#include "pdl/compiler/load.h"

namespace pdl {

/// Computes the missing hashes of all weights that can be read, for DiffGraphs.
void HashWeights(LoadedNetwork& network);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_HASH_WEIGHTS_H_
