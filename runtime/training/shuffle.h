#ifndef PDL_RUNTIME_TRAINING_SHUFFLE_H_
#define PDL_RUNTIME_TRAINING_SHUFFLE_H_

#include <cstdint>
#include <vector>

namespace pdl {

/// A permutation of 0 to count - 1, the order of the rows in an epoch. It depends only on the seed
/// and the epoch, and is the same on all machines.
std::vector<int64_t> ShuffledRows(int64_t count, uint64_t seed, uint64_t epoch);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_SHUFFLE_H_
