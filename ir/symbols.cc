#include "pdl/op/symbols.h"

namespace pdl {

void ForEachSymbol(const Type& type, llvm::function_ref<void(llvm::StringRef)> visit) {
  for (const Dim& dim : type.dims) dim.ForEachSymbol(visit);
  if (type.index_bound) type.index_bound->ForEachSymbol(visit);
}

void ForEachSymbol(const Op& op, llvm::function_ref<void(llvm::StringRef)> visit) {
  auto visit_shape = [&](const Shape& shape) {
    for (const Dim& dim : shape) dim.ForEachSymbol(visit);
  };
  for (const Value* result : op.results()) visit_shape(result->type().dims);
  for (const AttributeValue& attribute : op.attribute_values()) {
    if (const auto* shape = std::get_if<Shape>(&attribute)) visit_shape(*shape);
    if (const auto* shapes = std::get_if<std::vector<Shape>>(&attribute)) {
      for (const Shape& shape : *shapes) visit_shape(shape);
    }
  }
}

bool HasSymbol(const Type& type, llvm::StringRef symbol) {
  bool has_it = false;
  for (const Dim& dim : type.dims)
    dim.ForEachSymbol([&](llvm::StringRef name) { has_it |= name == symbol; });
  return has_it;
}

llvm::StringSet<> SymbolsOfInputs(const Graph& graph) {
  llvm::StringSet<> symbols;
  for (const Value* input : graph.inputs()) {
    // A sparse value does not state its number of columns.
    for (const Dim& dim :
         llvm::ArrayRef(input->type().dims).drop_back(input->type().is_sparse() ? 1 : 0)) {
      llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solution = dim.Solve(0);
      const bool is_linear = !solution || solution->has_value();
      if (!solution) llvm::consumeError(solution.takeError());
      if (is_linear) dim.ForEachSymbol([&](llvm::StringRef symbol) { symbols.insert(symbol); });
    }
  }
  return symbols;
}

}  // namespace pdl
