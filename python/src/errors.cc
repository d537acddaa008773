#include "errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "gil.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/train/communicator.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

[[noreturn]] void Throw(nb::object exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

[[noreturn]] void RaiseDiagnostics(const Diagnostics& diagnostics, Positions positions,
                                   bool is_device) {
  const bool is_shown = positions == Positions::kShown;
  nb::list mistakes;
  for (const Diagnostic& one : diagnostics.all()) {
    if (one.severity != Severity::kError) continue;
    nb::list notes;
    for (const DiagnosticNote& note : one.notes)
      if (is_shown || !note.file) notes.append(Shown(note.text));
    const std::string file = one.file ? one.file->name().str() : "";
    const SourcePosition place =
        one.file ? one.file->PositionOf(one.primary.begin) : SourcePosition{.line = 0, .column = 0};
    mistakes.append(nb::make_tuple(static_cast<int>(one.code), Shown(one.message), notes,
                                   Path{file}, place.line, place.column));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostics.Render(stream);
  Throw(CallIn("pdl.errors", "of_mistakes", mistakes, Shown(text), is_shown, is_device));
}

}  // namespace

void Raise(llvm::Error error, Positions positions) {
  if (error.isA<SourceErrors>()) {
    llvm::handleAllErrors(std::move(error), [&](const SourceErrors& errors) {
      Raise(errors.diagnostics(), positions);
    });
  }
  Diagnostics diagnostics;
  bool is_located = true, is_device = false, is_rank = false;
  llvm::visitErrors(error, [&](const llvm::ErrorInfoBase& info) {
    std::optional<Diagnostic> diagnostic = DiagnosticOf(info);
    if (diagnostic) diagnostics.Add(std::move(*diagnostic));
    is_located &= diagnostic.has_value();
    is_device |= info.isA<DeviceError>();
    is_rank |= info.isA<RankError>();
  });
  if (is_located) {
    llvm::consumeError(std::move(error));
    RaiseDiagnostics(diagnostics, positions, is_device);
  }
  std::string message;
  int code = 0;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& info) {
    if (!message.empty()) message += '\n';
    message += info.message();
    if (info.isA<UserError>() && code == 0)
      code = static_cast<int>(static_cast<const UserError&>(info).code());
    if (info.isA<CallError>() && code == 0)
      code = static_cast<int>(static_cast<const CallError&>(info).code());
  });
  Throw(CallIn("pdl.errors", "of_error", code, Shown(message), is_device, is_rank));
}

void Raise(const Diagnostics& diagnostics, Positions positions) {
  RaiseDiagnostics(diagnostics, positions, /*is_device=*/false);
}

}  // namespace pdl::python
