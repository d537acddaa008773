#ifndef PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_
#define PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_

#include <cstdint>
#include <string>

namespace pdl {

/// A text that grammar/Pdl.g4 accepts, made from its productions by chance: the same for the same
/// seed. It means nothing. Blanks, line breaks and comments stand wherever they may, and words that
/// are keywords only in their place serve as names. `size` is about how many statements it has.
std::string RandomProgram(uint64_t seed, unsigned size);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_
