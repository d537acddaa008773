#ifndef PDL_TEST_CC_TESTING_RANDOM_NAMES_H_
#define PDL_TEST_CC_TESTING_RANDOM_NAMES_H_

#include <cstdint>
#include <string>

namespace pdl {

/// Random source, determined by the seed: statements of all kinds that share a few names. Most
/// programs have errors: names are defined twice, have another kind than their uses require, or are
/// undefined; a few statements are broken.
std::string RandomNames(uint64_t seed);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_NAMES_H_
