// Code that the kernels of assert_true and check_index share on all devices.
#ifndef PDL_KERNELS_CONTROL_ASSERTION_H_
#define PDL_KERNELS_CONTROL_ASSERTION_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/operator.h"

namespace pdl {

/// The Error of a call of assert_true whose condition, of these sizes, is false at `element`.
PDL_API llvm::Error AssertionFailure(const AttributeReader& attributes, int64_t element,
                                     llvm::ArrayRef<int64_t> sizes);
/// The Error of a call of check_index whose element, of these sizes, is not in 0..below.
PDL_API llvm::Error IndexFailure(int64_t value, int64_t below, int64_t element,
                                 llvm::ArrayRef<int64_t> sizes);

struct IndexCheckState : CallState {
  int64_t below = 0;
};
PDL_API llvm::Expected<Preparation> PrepareIndexCheck(const AttributeReader& attributes,
                                                      const PrepareContext& context);

}  // namespace pdl

#endif  // PDL_KERNELS_CONTROL_ASSERTION_H_
