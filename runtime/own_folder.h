#ifndef PDL_RUNTIME_OWN_FOLDER_H_
#define PDL_RUNTIME_OWN_FOLDER_H_

#include <string>

namespace pdl {

/// The folder of the library or program that contains this code, in which its modules are.
std::string OwnFolder();

}  // namespace pdl

#endif  // PDL_RUNTIME_OWN_FOLDER_H_
