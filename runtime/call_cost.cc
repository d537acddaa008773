#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/cost.h"
#include "pdl/op/dim.h"

namespace pdl {
namespace {

/// The arguments of DeclareOperations, by the name of the operator.
class DeclaredCounts {
 public:
  void Set(llvm::StringRef op, OperationCount count) {
    std::lock_guard lock(mutex_);
    counts_[op] = count;
  }
  OperationCount Find(llvm::StringRef op) {
    std::lock_guard lock(mutex_);
    return counts_.lookup(op);
  }

 private:
  std::mutex mutex_;
  llvm::StringMap<OperationCount> counts_;
};

DeclaredCounts& Declared() {
  static auto& declared = *new DeclaredCounts;
  return declared;
}

double Bytes(const OperandType& operand) {
  return static_cast<double>(operand.num_elements()) *
         static_cast<double>(DTypeSize(operand.dtype));
}

/// Evaluates the dims of a value; nullopt if one is unknown.
std::optional<OperandType> TypeOf(const Value& value, const llvm::StringMap<int64_t>& symbols) {
  OperandType type{value.type().dtype, {}};
  for (const Dim& dim : value.type().dims) {
    llvm::Expected<int64_t> size =
        dim.Evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
          const auto found = symbols.find(name);
          return found == symbols.end() ? std::nullopt : std::optional(found->second);
        });
    if (!size) {
      llvm::consumeError(size.takeError());
      return std::nullopt;
    }
    type.sizes.push_back(*size);
  }
  return type;
}

/// The types of values, or nullopt if a size of one is unknown.
std::optional<std::vector<OperandType>> TypesOf(llvm::ArrayRef<Value*> values,
                                                const llvm::StringMap<int64_t>& symbols) {
  std::vector<OperandType> types;
  for (const Value* value : values) {
    std::optional<OperandType> type = TypeOf(*value, symbols);
    if (!type) return std::nullopt;
    types.push_back(std::move(*type));
  }
  return types;
}

}  // namespace

void DeclareOperations(llvm::StringRef op, OperationCount count) { Declared().Set(op, count); }

double OperationsOf(const Graph& graph, llvm::ArrayRef<OperandType> inputs) {
  llvm::StringMap<int64_t> symbols;
  for (const auto& [input, type] : llvm::zip(graph.inputs(), inputs))
    for (const auto& [dim, size] : llvm::zip(input->type().dims, type.sizes))
      if (!dim.symbol().empty()) symbols.try_emplace(dim.symbol(), size);
  double operations = 0;
  for (const Op* op : graph.ops()) {
    const auto operands = TypesOf(op->operands(), symbols);
    const auto results = TypesOf(op->results(), symbols);
    if (!operands || !results) continue;
    OperatorArguments call;
    call.def = &op->def();
    call.attributes = op->attribute_values().vec();
    operations += OperationsOf(CallSizes{call, *operands, *results});
  }
  return operations;
}

double OperationsOf(const CallSizes& call) {
  if (const OperationCount count = Declared().Find(call.call.def->name())) return count(call);
  if (call.call.def->properties().moves_elements) return 0;
  int64_t elements = 0;
  for (const OperandType& operand : call.inputs)
    elements = std::max(elements, operand.num_elements());
  for (const OperandType& result : call.outputs)
    elements = std::max(elements, result.num_elements());
  return static_cast<double>(elements);
}

double BytesOf(const CallSizes& call) {
  double written = 0, bytes = 0;
  for (const OperandType& result : call.outputs) written += Bytes(result);
  const bool moves = call.call.def->properties().moves_elements;
  for (const OperandType& operand : call.inputs)
    bytes += moves ? std::min(Bytes(operand), written) : Bytes(operand);
  return bytes + written;
}

}  // namespace pdl
