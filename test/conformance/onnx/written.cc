#include "test/conformance/onnx/written.h"

#include <cstring>

#include "llvm/Support/FormatVariadic.h"
#include "onnx/import/text.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/format.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"

namespace pdl::testing {

llvm::Expected<Graph> CompileWritten(const std::string& text) {
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>("written.pdl", text);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  CompileResult result = Compile(request);
  if (!result.graph) {
    std::string errors;
    for (const Diagnostic& error : result.diagnostics.all()) errors += error.message + "; ";
    return llvm::createStringError("the text: " + errors + "\n" + text);
  }
  return std::move(*result.graph);
}

llvm::Expected<WrittenNetwork> WriteAndCompile(const ImportedModel& model) {
  const ImportedText text = WriteImportedText(model, "weights.safetensors");
  llvm::Expected<Graph> graph = CompileWritten(text.text);
  if (!graph) return graph.takeError();
  Diagnostics none;
  if (FormatText(std::make_shared<const SourceFile>("written.pdl", text.text), &none) != text.text)
    return llvm::createStringError("the text is not laid out as pdl fmt does:\n" + text.text);
  WrittenNetwork written{
      std::move(*graph), {}, static_cast<int64_t>(llvm::StringRef(text.text).count('\n'))};
  for (const auto& [name, constant] : text.tensors) written.weights[name] = constant;
  return written;
}

llvm::Error CheckEmitted(const Graph& graph) {
  llvm::Expected<Graph> again = CompileWritten(EmitPdl(graph));
  if (!again) return llvm::createStringError("--emit=pdl: " + llvm::toString(again.takeError()));
  return llvm::Error::success();
}

llvm::Expected<llvm::StringMap<Constant>> RunOnce(Graph graph, llvm::StringMap<Constant> weights,
                                                  const llvm::StringMap<Constant>& feeds) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  NetworkOptions options;
  for (auto& entry : weights) options.weights[entry.getKey()] = std::move(entry.second);
  auto network = Network::Create(std::move(graph), std::move(options), GlobalRegistry());
  if (!network) return network.takeError();
  Scope scope;
  for (const auto& entry : feeds)
    scope.Create(entry.getKey())->Set(Tensor::FromConstant(entry.second));
  CPUContext context(1);
  if (llvm::Error error = (*network)->Run(&scope, &context)) return error;
  llvm::StringMap<Constant> outputs;
  for (const std::string& name : names) {
    const Constant value = scope.Find(name)->Get<Tensor>()->ToConstant();
    outputs[name] = Constant::Copy(value.dtype(), value.sizes(), value.data());
  }
  return outputs;
}

std::string BitDifference(const llvm::StringMap<Constant>& a, const llvm::StringMap<Constant>& b) {
  for (const auto& entry : a) {
    const auto found = b.find(entry.getKey());
    if (found == b.end()) return ("there is no output '" + entry.getKey() + "'").str();
    const Constant &x = entry.second, &y = found->second;
    if (x.dtype() != y.dtype() || x.sizes() != y.sizes())
      return ("'" + entry.getKey() + "' has another type").str();
    if (x.num_bytes() == 0 ||
        std::memcmp(x.data(), y.data(), static_cast<size_t>(x.num_bytes())) == 0)
      continue;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const auto size = static_cast<size_t>(DTypeSize(x.dtype()));
      const size_t at = static_cast<size_t>(i) * size;
      if (std::memcmp(static_cast<const char*>(x.data()) + at,
                      static_cast<const char*>(y.data()) + at, size) != 0)
        return llvm::formatv("element {0} of '{1}' is {2} and {3}", i, entry.getKey(),
                             FloatToString(x.ElementAsDouble(i)),
                             FloatToString(y.ElementAsDouble(i)))
            .str();
    }
  }
  return "";
}

}  // namespace pdl::testing
