#ifndef PDL_IR_ERROR_TEXT_H_
#define PDL_IR_ERROR_TEXT_H_

#include <string>

namespace pdl {

/// Removes the codes, " [PDL0203]", of nested errors from a message: it gets one code, that of the
/// reported error.
std::string WithoutCodes(std::string message);

}  // namespace pdl

#endif  // PDL_IR_ERROR_TEXT_H_
