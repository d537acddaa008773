// Runs single operators and small graphs of them without a Network.
#ifndef PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_
#define PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_

#include <functional>
#include <string>
#include <vector>

#include "kernels/core/element.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl::testing {

using Attributes = std::vector<NamedAttribute>;

/// A tensor of that element type.
template <class T>
Tensor Make(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<T> values) {
  return Tensor::FromValues<T>(kDTypeOf<T>, sizes, values);
}
/// A tensor of any dtype with numbers that it can hold.
Tensor MakeAs(DType dtype, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<double> values);
/// `n` different-looking numbers in [-1, 1], always the same.
std::vector<double> Noise(int64_t n, uint64_t seed = 1);
/// All elements as doubles.
std::vector<double> Values(const Tensor& tensor);

struct RunOptions {
  int threads = 1;
  /// Write results over inputs wherever the kernel allows.
  bool in_place = false;
  /// Tell the kernel that input 1 is a weight.
  bool constant_right = false;
  RandomState random = {};
};

/// The results of one call; whatever is wrong with it is the Error.
llvm::Expected<std::vector<Tensor>> TryApply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs,
                                             const Attributes& attributes = {},
                                             const RunOptions& options = {},
                                             llvm::StringRef result_name = "y");
/// The first result; an Error fails the test.
Tensor Apply(llvm::StringRef op, llvm::ArrayRef<Tensor> inputs, const Attributes& attributes = {},
             const RunOptions& options = {}, llvm::StringRef result_name = "y");

/// "f32[N, 3]" as inference gives it, with " if <check>" for each check left for later; or
/// "<code> at <input numbers or attribute>: <message>".
std::string InferText(llvm::StringRef op, llvm::ArrayRef<Type> types,
                      const Attributes& attributes = {});

/// The value of `result` where each Input of the graph has the tensor given.
llvm::Expected<Tensor> Evaluate(const Graph& graph, const Value* result,
                                llvm::ArrayRef<std::pair<const Value*, Tensor>> feeds);

}  // namespace pdl::testing

#endif  // PDL_TEST_CC_TESTING_OP_TEST_UTIL_H_
