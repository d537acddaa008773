#include "pdl/op/symbols.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl {

void ForEachSymbol(const Type& type, llvm::function_ref<void(llvm::StringRef)> visit) {
  for (const Dim& dim : type.dims) dim.ForEachSymbol(visit);
  if (type.index_bound) type.index_bound->ForEachSymbol(visit);
}

void ForEachSymbol(const AttributeValue& value, llvm::function_ref<void(llvm::StringRef)> visit) {
  auto visit_dims = [&](llvm::ArrayRef<Dim> dims) {
    for (const Dim& dim : dims) dim.ForEachSymbol(visit);
  };
  if (const auto* dims = std::get_if<Shape>(&value)) visit_dims(*dims);
  if (const auto* lists = std::get_if<std::vector<Shape>>(&value))
    llvm::for_each(*lists, visit_dims);
}

void ForEachSymbol(const Op& op, llvm::function_ref<void(llvm::StringRef)> visit) {
  for (const Value* result : op.results())
    for (const Dim& dim : result->type().dims) dim.ForEachSymbol(visit);
  for (const AttributeValue& value : op.attribute_values()) ForEachSymbol(value, visit);
}

bool HasSymbol(const Type& type, llvm::StringRef symbol) {
  bool has_it = false;
  for (const Dim& dim : type.dims)
    dim.ForEachSymbol([&](llvm::StringRef name) { has_it |= name == symbol; });
  return has_it;
}

Dim Substitute(const Dim& dim, const llvm::StringMap<Dim>& table) {
  if (table.empty()) return dim;
  return dim.Substitute([&](llvm::StringRef symbol) -> std::optional<Dim> {
    const auto found = table.find(symbol);
    return found == table.end() ? std::nullopt : std::optional(found->second);
  });
}

void Substitute(AttributeValue* value, const llvm::StringMap<Dim>& table) {
  auto substitute = [&](Shape& dims) {
    for (Dim& dim : dims) dim = Substitute(dim, table);
  };
  if (auto* dims = std::get_if<Shape>(value)) substitute(*dims);
  if (auto* lists = std::get_if<std::vector<Shape>>(value)) llvm::for_each(*lists, substitute);
}

std::string DeterminedSymbol(const Dim& dim) {
  std::string symbol;
  llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solution = dim.Solve(0);
  if (solution) return *solution ? (*solution)->first : "";
  // 0 is not one of its sizes.
  llvm::consumeError(solution.takeError());
  dim.ForEachSymbol([&](llvm::StringRef name) { symbol = name.str(); });
  return symbol;
}

llvm::StringSet<> SymbolsOfInputs(const Graph& graph) {
  llvm::StringSet<> symbols;
  for (const Value* input : graph.inputs()) {
    // A sparse value does not state its number of columns.
    for (const Dim& dim :
         llvm::ArrayRef(input->type().dims).drop_back(input->type().is_sparse() ? 1 : 0)) {
      const std::string symbol = DeterminedSymbol(dim);
      if (!symbol.empty()) symbols.insert(symbol);
    }
  }
  return symbols;
}

}  // namespace pdl
