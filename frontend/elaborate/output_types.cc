#include "pdl/compiler/output_types.h"

#include <memory>

#include "frontend/elaborate/elaborator.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

std::vector<OutputType> FindOutputTypes(
    const CompileRequest& request, llvm::StringRef callee, llvm::ArrayRef<Type> inputs,
    llvm::ArrayRef<std::pair<std::string, std::string>> attributes, Diagnostics* diagnostics) {
  std::string text = request.file ? request.file->text().str() + "\n" : "";
  std::string arguments;
  auto add = [&](const llvm::Twine& argument) {
    arguments += (llvm::Twine(arguments.empty() ? "" : ", ") + argument).str();
  };
  for (const auto& [index, type] : llvm::enumerate(inputs)) {
    const std::string name = "input_" + std::to_string(index);
    text += "input " + name + ": " + type.ToString() + "\n";
    add(name);
  }
  for (const auto& [name, value] : attributes) add(name + "=" + value);
  text += (callee + "(" + arguments + ")\n").str();

  CompileRequest whole = request;
  whole.file = std::make_shared<const SourceFile>("<call>", std::move(text));
  const std::unique_ptr<Ast> ast = Parse(whole.file, diagnostics);
  Elaborator elaborator(whole, *ast, diagnostics);
  const Graph graph = elaborator.Run();
  diagnostics->Sort();
  std::vector<OutputType> outputs;
  if (diagnostics->has_errors()) return outputs;
  for (const CallResult& result : elaborator.last_results())
    if (const Value* value = result.datum.tensor()) outputs.push_back({result.name, value->type()});
  return outputs;
}

}  // namespace pdl
