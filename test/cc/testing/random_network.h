#ifndef PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_
#define PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_

#include <cstdint>
#include <string>

namespace pdl {

/// A network made by chance, the same for the same seed, that mostly compiles and runs: inputs of
/// all kinds of storage, sizes that are computed, lists, loops, layers, bodies of loops, both sides
/// of an `if`, parameters, states, gradients and training. Sizes are those of kRandomSizes.
/// `size` is about how many statements it has.
std::string RandomNetwork(uint64_t seed, unsigned size);

/// How large a symbol of such a network is.
int64_t RandomNetworkSize(char symbol);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_
