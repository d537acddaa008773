#ifndef PDL_TEST_CC_TESTING_ROUNDING_H_
#define PDL_TEST_CC_TESTING_ROUNDING_H_

#include "llvm/ADT/StringRef.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// The distance from 1 to the next number of a floating-point dtype.
double Epsilon(DType dtype);

/// By how many Epsilons of the largest element of its result, a call of `op` may be rounded
/// differently by another plan; 0 if results have the same bits in all of them.
double RoundingOf(llvm::StringRef op);

/// The same for another instruction set.
double RoundingOfIsas(llvm::StringRef op);

/// Whether results of `op` are sums of many elements, or of products of two operands' elements,
/// which may cancel: then the error is relative to the terms.
bool AddsElements(llvm::StringRef op);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_ROUNDING_H_
