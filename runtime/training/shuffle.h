#ifndef PDL_RUNTIME_TRAINING_SHUFFLE_H_
#define PDL_RUNTIME_TRAINING_SHUFFLE_H_

#include <cstdint>
#include <vector>

namespace pdl {

/// The numbers 0 to count - 1 in the order in which an epoch takes the rows: the same for a seed
/// and an epoch on every machine.
std::vector<int64_t> ShuffledRows(int64_t count, uint64_t seed, uint64_t epoch);

}  // namespace pdl

#endif  // PDL_RUNTIME_TRAINING_SHUFFLE_H_
