#include "runtime/call_error.h"

#include "pdl/compiler/place.h"

namespace pdl {

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

llvm::StringRef WrittenName(const OpDef& def) {
  return llvm::StringRef(def.name()).split('.').first;
}

template <class Base>
static llvm::Error AddTexts(const Graph& graph, std::unique_ptr<Located<Base>> error) {
  for (const Place& place : PlacesOf(error->position()))
    if (auto text = graph.TextOf(place.file)) error->AddText(place.file, std::move(text));
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

std::string AboutCall(const OperatorArguments& call, llvm::StringRef message) {
  return WrittenName(*call.def).str() + ": " + message.str();
}

llvm::Error AboutCall(const OperatorArguments& call, llvm::Error error) {
  const std::string& position = call.location;
  const auto within = [&](const std::string& inner) {
    return position.empty() ? inner : position + " > " + inner;
  };
  return llvm::handleErrors(
      std::move(error),
      // An error of a call in the body of this one.
      [&](const Located<DeviceError>& e) -> llvm::Error {
        const std::string path = within(e.position());
        return llvm::make_error<Located<DeviceError>>(path, path + ": " + e.rest().str());
      },
      [&](const Located<UserError>& e) -> llvm::Error {
        return UserErrorAt(within(e.position()), e.code(), e.rest().str());
      },
      [&](const DeviceError& e) -> llvm::Error {
        const std::string message = AboutCall(call, e.text());
        if (position.empty()) return llvm::make_error<DeviceError>(message);
        return llvm::make_error<Located<DeviceError>>(position, position + ": " + message);
      },
      [&](const UserError& e) -> llvm::Error {
        return UserErrorAt(position, e.code(), AboutCall(call, e.text()));
      },
      [&](const llvm::ErrorInfoBase& e) -> llvm::Error {
        return UserErrorAt(position, Code::kSizeCheck, AboutCall(call, e.message()));
      });
}

}  // namespace pdl
