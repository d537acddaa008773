#ifndef PDL_RUNTIME_DESCRIBE_STEPS_H_
#define PDL_RUNTIME_DESCRIBE_STEPS_H_

#include <vector>

#include "pdl/compiler/call_description.h"
#include "runtime/binding.h"

namespace pdl {

/// Describes each step of the Schedule with the sizes of a Binding.
std::vector<CallDescription> DescribeSteps(const Binding& binding);

}  // namespace pdl

#endif  // PDL_RUNTIME_DESCRIBE_STEPS_H_
