// Parses the equations of `einsum`.
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

/// The label of each axis of the operands and of the result; labels are numbers from 0 on. The dims
/// that an ellipsis stands for have labels of their own, aligned at the last dim.
struct EinsumSpec {
  using Labels = llvm::SmallVector<int, 6>;
  std::vector<Labels> operands;
  Labels output;
  /// The size of each label. An axis of literal size 1 that broadcasts to a larger one under an
  /// ellipsis has a label of its own.
  std::vector<Dim> sizes;

  Shape SizesOf(llvm::ArrayRef<int> labels) const;
};

/// Makes an error about an operand, or about the equation if there is none.
using EinsumErrorReporter = llvm::function_ref<llvm::Error(std::optional<unsigned> operand,
                                                           Code code, std::string message)>;
/// Requires two sizes to be equal; the second one is a dim of the operand.
using EinsumRequirement =
    llvm::function_ref<llvm::Error(const Dim& a, const Dim& b, unsigned operand)>;

llvm::Expected<EinsumSpec> ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands,
                                       EinsumErrorReporter report, EinsumRequirement require);
/// For a call whose types have been inferred, so that it cannot fail.
EinsumSpec ParseEinsum(llvm::StringRef equation, llvm::ArrayRef<Shape> operands);

/// The equation, without ellipses, for at most 52 labels.
std::string EinsumEquation(llvm::ArrayRef<EinsumSpec::Labels> operands, llvm::ArrayRef<int> output);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_EINSUM_SPEC_H_
