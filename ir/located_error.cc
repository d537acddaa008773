#include "ir/located_error.h"

#include "pdl/compiler/file_position.h"

namespace pdl {

template <class Base>
static llvm::Error AddTexts(const Graph& graph, std::unique_ptr<Located<Base>> error) {
  for (const FilePosition& position : FilePositionsOf(error->position()))
    if (auto text = graph.TextOf(position.file)) error->AddText(position.file, std::move(text));
  return llvm::Error(std::move(error));
}

llvm::Error WithTexts(const Graph& graph, llvm::Error error) {
  return llvm::handleErrors(
      std::move(error),
      [&](std::unique_ptr<Located<UserError>> e) { return AddTexts(graph, std::move(e)); },
      [&](std::unique_ptr<Located<DeviceError>> e) { return AddTexts(graph, std::move(e)); });
}

llvm::Error UserErrorAt(const std::string& position, Code code, const std::string& message) {
  if (position.empty()) return llvm::make_error<UserError>(code, message);
  return llvm::make_error<Located<UserError>>(position, code, position + ": " + message);
}

llvm::Error MapMessage(llvm::Error error,
                       llvm::function_ref<std::string(Code, llvm::StringRef)> map) {
  return llvm::handleErrors(
      std::move(error),
      [&](const Located<UserError>& e) -> llvm::Error {
        auto mapped = std::make_unique<Located<UserError>>(
            e.position(), e.code(), e.position() + ": " + map(e.code(), e.rest()));
        mapped->SetTexts(e.texts());
        return llvm::Error(std::move(mapped));
      },
      [&](const UserError& e) -> llvm::Error {
        return llvm::make_error<UserError>(e.code(), map(e.code(), e.text()));
      });
}

}  // namespace pdl
