#include "runtime/call_error.h"

namespace pdl {

llvm::StringRef WrittenName(const OpDef& def) {
  return llvm::StringRef(def.name()).split('.').first;
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
  return llvm::handleErrors(
      std::move(error),
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
