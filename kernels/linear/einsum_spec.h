// The equations of `einsum`, read.
#ifndef PDL_KERNELS_LINEAR_EINSUM_SPEC_H_
#define PDL_KERNELS_LINEAR_EINSUM_SPEC_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/dim.h"
#include "pdl/op/error.h"

namespace pdl {

/// What each axis of the operands and of the result is called: labels are numbers from 0 on. The
/// dims that an ellipsis stands for have labels of their own, counted from the last one.
struct EinsumSpec {
  using Labels = llvm::SmallVector<int, 6>;
  std::vector<Labels> operands;
  Labels output;
  /// The size of each label. An axis of literal size 1 that meets a larger one under an ellipsis
  /// has a label of its own there: it is repeated.
  std::vector<Dim> sizes;

  Shape SizesOf(llvm::ArrayRef<int> labels) const;
};

/// Makes the Error of a complaint at an operand, or at the equation.
using EinsumComplaint = llvm::function_ref<llvm::Error(std::optional<unsigned> operand, Code code,
                                                       std::string message)>;
/// Requires two sizes to be equal; the second is an axis of the operand.
using EinsumRequirement =
    llvm::function_ref<llvm::Error(const Dim& a, const Dim& b, unsigned operand)>;

llvm::Expected<EinsumSpec> ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands,
                                       EinsumComplaint complain, EinsumRequirement require);
/// Of a call that was inferred before.
EinsumSpec ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands);

/// The equation, without ellipses, of a spec with at most 52 labels.
std::string EinsumEquation(llvm::ArrayRef<EinsumSpec::Labels> operands, llvm::ArrayRef<int> output);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_EINSUM_SPEC_H_
