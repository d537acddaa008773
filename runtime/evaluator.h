#ifndef PDL_RUNTIME_EVALUATOR_H_
#define PDL_RUNTIME_EVALUATOR_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/device_context.h"
#include "pdl/op/symbols.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Computes one call by itself on the CPU: constant folding, and calls whose results never change.
/// `result_name` is the key of a random stream (by default the first result's name).
llvm::Expected<std::vector<Tensor>> EvaluateCall(const Graph& graph, const Op& op,
                                                 llvm::ArrayRef<Tensor> operands,
                                                 SymbolLookup lookup, RandomState random,
                                                 llvm::StringRef result_name = "");

/// The same of Constants.
llvm::Expected<std::vector<Constant>> EvaluateConstants(const Graph& graph, const Op& op,
                                                        llvm::ArrayRef<Constant> operands,
                                                        SymbolLookup lookup, RandomState random);

/// Computes a block without inputs, an initializer, and gives its one output. A random call draws
/// the stream of `name`.
llvm::Expected<Tensor> EvaluateInitializer(const Graph& graph, BlockId block, llvm::StringRef name,
                                           SymbolLookup lookup, RandomState random);

/// The copy of a CPU tensor on a device; the tensor itself where that is the CPU.
llvm::Expected<Tensor> MoveToDevice(const Tensor& tensor, DeviceContext& context);

}  // namespace pdl

#endif  // PDL_RUNTIME_EVALUATOR_H_
