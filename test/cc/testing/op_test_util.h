// Runs single operators, and small graphs of them, without a Network.
#ifndef PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_
#define PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/element.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl::testing {

using Attributes = std::vector<NamedAttribute>;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr DType kFloatDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};

inline Shape ShapeOf(llvm::ArrayRef<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

/// A tensor of the dtype that corresponds to T.
template <class T>
Tensor Make(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<T> values) {
  return Tensor::FromValues<T>(kDTypeOf<T>, sizes, values);
}
/// A tensor of any dtype that can represent the values.
Tensor MakeAs(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values);
/// `n` deterministic pseudorandom numbers in [-1, 1).
std::vector<double> Noise(int64_t n, uint64_t seed = 1);
/// All elements as double.
std::vector<double> Values(const Tensor& tensor);

struct RunOptions {
  int threads = 1;
  /// Run in place if the kernel supports it.
  bool in_place = false;
  /// Declare input 1 as constant, which lets the kernel pack it.
  bool constant_right = false;
  /// See PrepareContext.
  DType matmul_precision = DType::kF32;
  RandomState random = {};
};

/// The results of a call; an Error if the operands are invalid or the call fails.
llvm::Expected<std::vector<Tensor>> TryApply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs,
                                             const Attributes& attributes = {},
                                             const RunOptions& options = {},
                                             llvm::StringRef result_name = "y");
/// The first result; an Error fails the test.
Tensor Apply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs, const Attributes& attributes = {},
             const RunOptions& options = {}, llvm::StringRef result_name = "y");

/// "f32[N, 3]" as inferred, with " if <check>" for each check deferred to run time; or "<code> at
/// <input numbers or attribute>: <message>".
std::string InferText(llvm::StringRef op, llvm::ArrayRef<Type> types,
                      const Attributes& attributes = {});

/// The value of `result`, computed from tensors for the inputs of the graph.
llvm::Expected<Tensor> Evaluate(const Graph& graph, const Value* result,
                                llvm::ArrayRef<std::pair<const Value*, Tensor>> feeds);

}  // namespace pdl::testing

#endif  // PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_
