#ifndef PDL_OP_ERROR_H_
#define PDL_OP_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// The kinds of errors, each with a stable number such as `PDL0203` ("pdl/op/codes.def").
enum class Code : uint16_t {
#define PDL_CODE(enumerator, number, title) enumerator = number,
#include "pdl/op/codes.def"
#undef PDL_CODE
};

/// "PDL0203".
PDL_API std::string CodeName(Code code);
/// A one-line description of the kind of error.
PDL_API llvm::StringRef CodeTitle(Code code);
/// The explanation that `pdl explain` prints: why it is an error and how to fix it, with a wrong
/// and a right example. Indented lines are an example, see ir/explanations.def.
PDL_API llvm::StringRef CodeExplanation(Code code);
/// Parses "PDL0203" or "203"; nullopt if there is no such code.
PDL_API std::optional<Code> CodeFromName(llvm::StringRef name);
/// All codes, by number.
PDL_API llvm::ArrayRef<Code> AllCodes();

/// An error of the user without a position in a source: a bad file, a bad input. Printed as
/// "message [PDL0501]".
class PDL_API UserError : public llvm::ErrorInfo<UserError> {
 public:
  static char ID;
  UserError(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code() const { return code_; }
  const std::string& text() const { return message_; }
  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;

 private:
  Code code_;
  std::string message_;
};

/// A failure of the device: out of memory, no such device, an error of a library. Exit status 3.
class PDL_API DeviceError : public llvm::ErrorInfo<DeviceError> {
 public:
  static char ID;
  explicit DeviceError(std::string message) : message_(std::move(message)) {}
  const std::string& text() const { return message_; }
  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;

 private:
  std::string message_;
};

/// An error in one call, found by checks or inference. Refers to operands or an attribute, so that
/// code that knows the source can point to them.
class PDL_API CallError : public llvm::ErrorInfo<CallError> {
 public:
  static char ID;
  CallError(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  /// The message, without the operator's name in front.
  const std::string& text() const { return message_; }
  /// Flat indices of the operands it refers to, the main one first; empty if it refers to the call
  /// or an attribute.
  llvm::SmallVector<unsigned, 2> inputs;
  /// The attribute it refers to, or empty.
  std::string attribute;
  /// The index of the element it refers to in a list attribute.
  std::optional<unsigned> element;
  /// Whether the message is complete, so that no "<operator>: " is put in front.
  bool is_whole = false;

  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;

 private:
  Code code_;
  std::string message_;
};

/// `MakeUserError(Code::kMissingInput, "no value for input '{0}'", name)`.
template <typename... Args>
llvm::Error MakeUserError(Code code, const char* format, Args&&... args) {
  return llvm::make_error<UserError>(code,
                                     llvm::formatv(format, std::forward<Args>(args)...).str());
}
template <typename... Args>
llvm::Error MakeDeviceError(const char* format, Args&&... args) {
  return llvm::make_error<DeviceError>(llvm::formatv(format, std::forward<Args>(args)...).str());
}

/// Reports a bug in pdl: prints "internal error: …" and aborts.
[[noreturn]] PDL_API void InternalError(const std::string& message);

/// Returns the candidate most similar to `name`, or an empty string if none is similar.
PDL_API llvm::StringRef NearestName(llvm::StringRef name,
                                    llvm::ArrayRef<llvm::StringRef> candidates);
/// Returns "; did you mean 'x'?" with the candidate most similar to `name`, or an empty string if
/// none is similar.
PDL_API std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

}  // namespace pdl

#endif  // PDL_OP_ERROR_H_
