#ifndef PDL_TEST_CC_TESTING_RANDOM_NAMES_H_
#define PDL_TEST_CC_TESTING_RANDOM_NAMES_H_

#include <cstdint>
#include <string>

namespace pdl {

/// A text of statements of all kinds that share a few names, made by chance: the same for the same
/// seed. Most have errors: names are defined twice, are of another kind than what uses them, or are
/// defined by nothing; a few statements are broken.
std::string RandomNames(uint64_t seed);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_NAMES_H_
