#ifndef PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_
#define PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_

#include <cstdint>
#include <string>

namespace pdl {

/// A random network, determined by the seed, that mostly compiles and runs: inputs of all kinds of
/// storage, computed sizes, lists, loops, layers, bodies of loops, both sides of `if`, parameters,
/// states, gradients and training. It has about `size` statements. Symbols have the sizes
/// kRandomSizes.
std::string RandomNetwork(uint64_t seed, unsigned size);

/// The size of a symbol of such a network.
int64_t RandomNetworkSize(char symbol);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_NETWORK_H_
