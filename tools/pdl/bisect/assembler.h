#ifndef PDL_TOOLS_PDL_BISECT_ASSEMBLER_H_
#define PDL_TOOLS_PDL_BISECT_ASSEMBLER_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "tools/pdl/bisect/fed_network.h"
#include "tools/pdl/compare/copy_calls.h"

namespace pdl {

/// Assembles a network from calls of another one. All sizes are those of the values.
class Assembler {
 public:
  /// Both must outlive this.
  Assembler(FedNetwork& to, const FedNetwork& from);

  /// Adds an input, parameter or state of the other network with its value, if that is known.
  /// `name` must be new. An Error if the initial value cannot be computed for the sizes.
  llvm::Error AddVariable(const Value* value, llvm::StringRef name);
  /// Adds a value as an input, or as a parameter if it is a parameter or state, or has a dtype that
  /// .npz files cannot hold. `name` must be new.
  void AddLeaf(const Value* value, const Tensor& tensor, llvm::StringRef name);
  /// Appends a call. An Error if it does not fit its operands, or if one was not added.
  llvm::Error AddCall(const Op& op);

  CallCopier& copier() { return copier_; }

 private:
  /// The type with the sizes of the tensor.
  Type SizedType(const Type& type, llvm::ArrayRef<int64_t> sizes) const;

  FedNetwork& to_;
  const FedNetwork& from_;
  CallCopier copier_;
};

/// The calls of `graph` that compute `roots` from leaves and from values that no call computes, and
/// the data-dependent sizes that no leaf has; operands first.
std::vector<const Op*> CallsFromLeaves(const Graph& graph, llvm::ArrayRef<const Value*> roots,
                                       llvm::function_ref<bool(const Value*)> is_leaf);

/// Substitutes the sizes of the inputs for symbols, and removes calls that no output needs. Names
/// are kept.
llvm::Expected<FedNetwork> WithSizes(const FedNetwork& from);

/// A part of a network: `calls` and those that they need besides, which returns `target` as the
/// output of its name. `target` is a result of `calls`. Values that it reads become inputs and
/// parameters with their values in `recorded`; what is not recorded is computed.
llvm::Expected<FedNetwork> ExtractCalls(const FedNetwork& from,
                                        const llvm::DenseSet<const Op*>& calls, const Value* target,
                                        const llvm::StringMap<Tensor>& recorded);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_ASSEMBLER_H_
