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

/// Evaluates a single call on the CPU, for constant folding and initializers. An Error if an index
/// is out of range.
/// `result_name` is the key of its random stream (by default the first result's name). `context`: a
/// CPU context whose threads to use; null: those of a new one.
llvm::Expected<std::vector<Tensor>> EvaluateCall(const Graph& graph, const Op& op,
                                                 llvm::ArrayRef<Tensor> operands,
                                                 SymbolLookup lookup, RandomState random,
                                                 llvm::StringRef result_name = "",
                                                 const DeviceContext* context = nullptr);

/// The same for Constants.
llvm::Expected<std::vector<Constant>> EvaluateConstants(const Graph& graph, const Op& op,
                                                        llvm::ArrayRef<Constant> operands,
                                                        SymbolLookup lookup, RandomState random);

/// Evaluates an initializer, a block without inputs, and returns its single output. A random call
/// uses the random stream of `name`.
llvm::Expected<Tensor> EvaluateInitializer(const Graph& graph, BlockId block, llvm::StringRef name,
                                           SymbolLookup lookup, RandomState random);

/// As EvaluateCall, with operands and results on the context's device, for a call whose sizes are
/// constant.
llvm::Expected<std::vector<Tensor>> EvaluateConstantCall(const Graph& graph, const Op& op,
                                                         llvm::ArrayRef<Tensor> operands,
                                                         bool training, RandomState random,
                                                         DeviceContext& context);

/// Copies a CPU tensor to a device; returns the tensor itself if that is the CPU.
llvm::Expected<Tensor> MoveToDevice(const Tensor& tensor, DeviceContext& context);

}  // namespace pdl

#endif  // PDL_RUNTIME_EVALUATOR_H_
