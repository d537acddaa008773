#include "runtime/call_error.h"

#include "pdl/op/error.h"

namespace pdl {

llvm::StringRef WrittenName(const OpDef& def) {
  return llvm::StringRef(def.name()).split('.').first;
}

std::string AboutCall(const OperatorArguments& call, llvm::StringRef message) {
  std::string place = call.location.empty() ? "" : call.location + ": ";
  return place + WrittenName(*call.def).str() + ": " + message.str();
}

llvm::Error AboutCall(const OperatorArguments& call, llvm::Error error) {
  return llvm::handleErrors(
      std::move(error),
      [&](const DeviceError& e) -> llvm::Error {
        return MakeDeviceError("{0}", AboutCall(call, e.text()));
      },
      [&](const UserError& e) -> llvm::Error {
        return MakeUserError(e.code(), "{0}", AboutCall(call, e.text()));
      },
      [&](const llvm::ErrorInfoBase& e) -> llvm::Error {
        return MakeUserError(Code::kSizeCheck, "{0}", AboutCall(call, e.message()));
      });
}

}  // namespace pdl
