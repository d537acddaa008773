#include "model/status.h"

#include <algorithm>
#include <utility>

#include "ir/error_text.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/file_position.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/op/out_of_memory.h"
#include "runtime/call_error.h"

namespace pdl {
namespace {

Status::Detail DetailOf(const Diagnostics& diagnostics) {
  Status::Detail detail;
  llvm::raw_string_ostream os(detail.text);
  diagnostics.Render(os);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::kError) continue;
    if (diagnostic.code != Code{}) detail.code = CodeName(diagnostic.code);
    detail.message = diagnostic.message;
    if (diagnostic.file != nullptr) {
      const SourcePosition position = diagnostic.file->PositionOf(diagnostic.primary.begin);
      detail.file = diagnostic.file->name().str();
      detail.line = static_cast<int>(position.line);
      detail.column = static_cast<int>(position.column);
    }
    break;
  }
  return detail;
}

Status::Detail DetailOf(const UserError& error) {
  Status::Detail detail;
  detail.kind = error.code() == Code::kCancelled ? Status::Kind::kCancelled : Status::Kind::kError;
  detail.code = CodeName(error.code());
  detail.message = WithoutCodes(error.text());
  detail.text = error.message() + "\n";
  return detail;
}

Status::Detail DetailOf(const DeviceError& error) {
  Status::Detail detail;
  detail.kind = Status::Kind::kDeviceError;
  detail.message = error.text();
  detail.text = error.text() + "\n";
  return detail;
}

Status::Detail Plain(std::string message) {
  Status::Detail detail;
  detail.text = message + "\n";
  detail.message = WithoutCodes(std::move(message));
  return detail;
}

/// The position is the innermost one, as in errors of the compiler.
template <class Base>
Status::Detail DetailOfLocated(const Located<Base>& error) {
  Status::Detail detail = DetailOf(static_cast<const Base&>(error));
  detail.message = WithoutCodes(error.rest().str());
  const FilePosition inner = FilePositionsOf(error.position()).back();
  detail.file = inner.file.str();
  detail.line = static_cast<int>(inner.line);
  detail.column = static_cast<int>(inner.column);
  if (const std::optional<Diagnostic> diagnostic = DiagnosticOf(error)) {
    detail.text.clear();
    llvm::raw_string_ostream os(detail.text);
    diagnostic->Render(os);
  }
  return detail;
}

}  // namespace

Status OutOfMemoryStatus(const llvm::Twine& doing) {
  static const Status& without_memory =
      *new Status(ToStatus(OutOfMemory("calling a function of pdl")));
  try {
    return ToStatus(OutOfMemory(doing.str()));
  } catch (const std::bad_alloc&) {
    return without_memory;
  }
}

namespace {
/// Makes the Status that is kept while memory is available.
[[maybe_unused]] const Status kMadeAtStart = OutOfMemoryStatus("starting");
}  // namespace

Status ToStatus(llvm::Error error) {
  if (!error) return {};
  Status::Detail first;
  bool has_one = false;
  std::string text;
  auto add = [&](Status::Detail detail) {
    text += detail.text;
    if (!std::exchange(has_one, true)) first = std::move(detail);
  };
  llvm::handleAllErrors(
      std::move(error), [&](const SourceErrors& e) { add(DetailOf(e.diagnostics())); },
      [&](const Located<UserError>& e) { add(DetailOfLocated(e)); },
      [&](const UserError& e) { add(DetailOf(e)); },
      [&](const Located<DeviceError>& e) { add(DetailOfLocated(e)); },
      [&](const DeviceError& e) { add(DetailOf(e)); },
      [&](const llvm::ErrorInfoBase& e) { add(Plain(e.message())); });
  first.text = llvm::StringRef(text).rtrim('\n').str();
  std::replace(first.message.begin(), first.message.end(), '\n', ' ');  // of the name of a file
  return Status(std::make_shared<const Status::Detail>(std::move(first)));
}

static const std::string& Nothing() {
  static const std::string& nothing = *new std::string;
  return nothing;
}

Status::Kind Status::kind() const { return detail_ ? detail_->kind : Kind::kOk; }
const std::string& Status::code() const { return detail_ ? detail_->code : Nothing(); }
const std::string& Status::message() const { return detail_ ? detail_->message : Nothing(); }
const std::string& Status::file() const { return detail_ ? detail_->file : Nothing(); }
int Status::line() const { return detail_ ? detail_->line : 0; }
int Status::column() const { return detail_ ? detail_->column : 0; }
std::string Status::ToString() const { return detail_ ? detail_->text : "ok"; }

}  // namespace pdl
