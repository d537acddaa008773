#ifndef PDL_TEST_CC_TESTING_TEST_OPS_H_
#define PDL_TEST_CC_TESTING_TEST_OPS_H_

#include "pdl/op/op_registry.h"

namespace pdl {

/// Some operators for tests of the front end: declarations and inference without kernels.
void RegisterTestOps(OpRegistry* registry);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_TEST_OPS_H_
