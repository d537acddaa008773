#ifndef PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_
#define PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_

#include <cstdint>
#include <string>

namespace pdl {

/// Random source that grammar/Pdl.g4 accepts, generated from its productions and determined by the
/// seed. It is not meaningful. Blanks, line breaks and comments appear wherever they are allowed,
/// and soft keywords are used as names. It has about `size` statements.
std::string RandomProgram(uint64_t seed, unsigned size);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_PROGRAM_H_
