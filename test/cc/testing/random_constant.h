#ifndef PDL_TEST_CC_TESTING_RANDOM_CONSTANT_H_
#define PDL_TEST_CC_TESTING_RANDOM_CONSTANT_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/op/constant.h"
#include "test/cc/testing/random_source.h"

namespace pdl {

/// Random elements: floats of about 1 in most tensors, in some also zeros of both signs,
/// infinities, nan, subnormal and huge numbers; integers in [0, bound), or small ones of both signs
/// if `bound` is 0.
Constant RandomConstant(DType dtype, llvm::ArrayRef<int64_t> sizes, int64_t bound,
                        RandomSource& random);

/// A tensor with the elements `element(index)` in row-major order, converted to `dtype`.
Constant MakeConstant(DType dtype, llvm::ArrayRef<int64_t> sizes,
                      llvm::function_ref<double(int64_t index)> element);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_CONSTANT_H_
