#include "runtime/call_error.h"

namespace pdl {

llvm::StringRef WrittenName(const OpDef& def) {
  return llvm::StringRef(def.name()).split('.').first;
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
