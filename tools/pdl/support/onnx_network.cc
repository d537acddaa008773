#include "tools/pdl/support/onnx_network.h"

#include <map>

#include "pdl/op/tensor.h"

namespace pdl {

std::vector<std::pair<std::string, std::string>> SizesAsSettings(const Graph& graph,
                                                                 const Scope& fed) {
  std::map<std::string, std::string> sizes;
  for (const Value* input : graph.inputs()) {
    const Variable* variable = fed.Find(input->name());
    const auto* tensor = variable == nullptr ? nullptr : variable->Get<Tensor>();
    if (tensor == nullptr || tensor->rank() != input->type().rank()) continue;
    for (unsigned i = 0; i < tensor->rank(); ++i)
      if (const llvm::StringRef symbol = input->type().dims[i].symbol(); !symbol.empty())
        sizes.try_emplace(symbol.str(), std::to_string(tensor->size(i)));
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace pdl
