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

/// The kinds of mistakes, each with a stable number: `PDL0203` ("pdl/codes.def").
enum class Code : uint16_t {
#define PDL_CODE(enumerator, number, title, explanation) enumerator = number,
#include "pdl/op/codes.def"
#undef PDL_CODE
};

/// "PDL0203".
PDL_API std::string CodeName(Code code);
/// One line: what kind of mistake it is.
PDL_API llvm::StringRef CodeTitle(Code code);
/// What `pdl explain` prints: why it is a mistake and how to mend it, with an example.
PDL_API llvm::StringRef CodeExplanation(Code code);
/// The code written "PDL0203" or "203", if there is one.
PDL_API std::optional<Code> CodeFromName(llvm::StringRef name);
/// All codes, by number.
PDL_API llvm::ArrayRef<Code> AllCodes();

/// The user's mistake where there is no source text to point into: a wrong file, a wrong input.
/// Prints as "message [PDL0501]".
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

/// The device failed: out of memory, no such device, a library's error. Exit status 3.
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

/// A mistake in one call, found by checking or inference; says which operands or which attribute it
/// is about, so that whoever knows the source can point there.
class PDL_API CallError : public llvm::ErrorInfo<CallError> {
 public:
  static char ID;
  CallError(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  Code code() const { return code_; }
  /// Without the operator's name in front.
  const std::string& text() const { return message_; }
  /// Flat indices of the operands it is about, the main one first; empty where it is about the call
  /// or an attribute.
  llvm::SmallVector<unsigned, 2> inputs;
  /// The attribute it is about, or empty.
  std::string attribute;
  /// Where it is about one element of a list attribute.
  std::optional<unsigned> element;
  /// Set where the message is whole and wants no "<operator>: " in front.
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

/// Our own bug: prints "internal error: …" and aborts.
[[noreturn]] PDL_API void InternalError(const std::string& message);

/// ", did you mean 'x'?"-style help: the candidate nearest to `name`, or empty where none is near.
PDL_API llvm::StringRef NearestName(llvm::StringRef name,
                                    llvm::ArrayRef<llvm::StringRef> candidates);
/// "; did you mean 'x'?" of that candidate, or nothing where none is near.
PDL_API std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

}  // namespace pdl

#endif  // PDL_OP_ERROR_H_
