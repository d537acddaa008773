#include "errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/train/communicator.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

[[noreturn]] void Throw(nb::object exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

nb::object Make(const char* function, nb::args arguments) {
  return nb::module_::import_("pdl.errors").attr(function)(*arguments);
}

}  // namespace

void Raise(llvm::Error error) {
  if (error.isA<SourceErrors>()) {
    llvm::handleAllErrors(std::move(error),
                          [](const SourceErrors& errors) { Raise(errors.diagnostics()); });
  }
  if (error.isA<UserError>()) {
    Diagnostics diagnostics;
    llvm::visitErrors(error, [&](const llvm::ErrorInfoBase& info) {
      if (std::optional<Diagnostic> diagnostic = DiagnosticOf(info))
        diagnostics.Add(std::move(*diagnostic));
    });
    if (diagnostics.has_errors()) {
      llvm::consumeError(std::move(error));
      Raise(diagnostics);
    }
  }
  std::string message;
  int code = 0;
  bool is_device = false, is_rank = false;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& info) {
    if (!message.empty()) message += '\n';
    message += info.message();
    if (info.isA<UserError>() && code == 0)
      code = static_cast<int>(static_cast<const UserError&>(info).code());
    if (info.isA<CallError>() && code == 0)
      code = static_cast<int>(static_cast<const CallError&>(info).code());
    is_device |= info.isA<DeviceError>();
    is_rank |= info.isA<RankError>();
  });
  Throw(Make("of_error", nb::borrow<nb::args>(nb::make_tuple(code, message, is_device, is_rank))));
}

void Raise(const Diagnostics& diagnostics) {
  nb::list mistakes;
  for (const Diagnostic& one : diagnostics.all()) {
    if (one.severity != Severity::kError) continue;
    nb::list notes;
    for (const DiagnosticNote& note : one.notes) notes.append(note.text);
    const std::string file = one.file ? one.file->name().str() : "";
    const SourcePosition place =
        one.file ? one.file->PositionOf(one.primary.begin) : SourcePosition{.line = 0, .column = 0};
    mistakes.append(nb::make_tuple(static_cast<int>(one.code), one.message, notes, file, place.line,
                                   place.column));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostics.Render(stream);
  Throw(Make("of_mistakes", nb::borrow<nb::args>(nb::make_tuple(mistakes, text))));
}

}  // namespace pdl::python
