#ifndef PDL_IR_ERROR_TEXT_H_
#define PDL_IR_ERROR_TEXT_H_

#include <string>

namespace pdl {

/// The message without the codes, " [PDL0203]", of errors that it was made from: a message has one
/// code, that of the error that is reported, wherever its parts come from.
std::string WithoutCodes(std::string message);

}  // namespace pdl

#endif  // PDL_IR_ERROR_TEXT_H_
