// The update of a training step, divided over processes (ZeRO stage 1).
#ifndef PDL_COMPILER_SHARD_UPDATE_H_
#define PDL_COMPILER_SHARD_UPDATE_H_

#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

/// The rank that makes an update.
struct UpdateOwner {
  int rank = 0;
  /// Whether it updates a parameter, which the other ranks get; a state is kept by the owner only.
  bool is_parameter = false;
};
/// By the name of the parameter or state. Those that are not in it are updated by all ranks.
using UpdateOwners = llvm::StringMap<UpdateOwner>;

/// The kind of variable that an update changes: a parameter, a state that only its owner needs, or
/// another state.
enum class UpdateKind : uint8_t { kParameter, kSharded, kCommon };

/// Distributes the updates of parameters and of sharded states over `ranks` ranks, so that each
/// rank needs only the states of its own updates: a parameter, the states that its new value
/// depends on, and what depends on these have one owner. States with one element that depend on no
/// other sharded state are updated by all ranks, and so are parameters without sharded states and
/// everything that a common state depends on. Ranks get about the same number of elements, as far
/// as the sizes of the parameters allow. (Rajbhandari et al., ZeRO: Memory Optimizations Toward
/// Training Trillion Parameter Models, 2020.)
///
/// `update` is SplitStep::update of a step in which all `minimize` statements are active; the types
/// of its parameters and sharded states have constant sizes.
PDL_API UpdateOwners ShareUpdates(const Graph& update, int ranks,
                                  llvm::function_ref<UpdateKind(const Value&)> kind_of);

/// The part of an update that one rank makes.
struct UpdateShard {
  /// Its inputs are the means that it reads.
  Graph update;
  /// By the name of a mean: the rank whose part is its only reader. Those that several read are not
  /// in it.
  llvm::StringMap<int> readers;
};
/// Returns the part of `rank`. Returns a UserError (kBadMinimize) if an update reads a state of
/// another rank.
PDL_API llvm::Expected<UpdateShard> ShardUpdate(const Graph& update, const UpdateOwners& owners,
                                                int rank);

}  // namespace pdl

#endif  // PDL_COMPILER_SHARD_UPDATE_H_
