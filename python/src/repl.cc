#include "repl.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/analysis.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/repl.h"
#include "pdl/compiler/repl_host.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "tensor.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

/// The C++ object of pdl._pdl.ReplCore. Used by one thread at a time, except for Cancel.
class PyRepl {
 public:
  PyRepl(const std::string& device, int threads, uint64_t seed)
      : host_({.seed = seed, .threads = threads},
              Get(CreateDeviceContext(Get(DeviceFromName(device)), threads))),
        request_(host_.Request()),
        session_(request_, host_) {
    host_.CancelBy(&cancelled_);
  }

  nb::tuple Execute(const std::string& text) {
    cancelled_ = false;
    return ToPython([&] {
      WithoutGil without_gil;
      return session_.Execute(text);
    }());
  }

  nb::tuple Share(const std::string& name, nb::handle array) {
    Constant value = CopyOf(array);
    return ToPython([&] {
      WithoutGil without_gil;
      return session_.Share(name, std::move(value));
    }());
  }

  void Cancel() { cancelled_ = true; }

  std::pair<size_t, std::vector<std::pair<std::string, std::string>>> Complete(
      const std::string& text, size_t cursor) const {
    size_t begin = 0;
    std::vector<std::pair<std::string, std::string>> found;
    for (ReplCompletion& each : session_.Complete(text, std::min(cursor, text.size()), &begin))
      found.emplace_back(std::move(each.text), std::move(each.display));
    return {begin, std::move(found)};
  }

  /// The documentation of the name at `cursor` of `text`, or of the call around it.
  std::string Inspect(const std::string& text, size_t cursor) const {
    CompileRequest request = request_;
    const std::string before = session_.text().str();
    request.file = std::make_shared<const SourceFile>("repl", before + text);
    const auto at = static_cast<uint32_t>(before.size() + std::min(cursor, text.size()));
    WithoutGil without_gil;
    const AnalysisResult result = SourceAnalysis::Run(request);
    // The cursor may be after the name.
    for (const uint32_t offset : {at, at == 0 ? at : at - 1})
      if (const std::optional<HoverContent> hover = result.analysis->Hover(offset))
        return hover->markdown;
    if (const auto call = result.analysis->SignatureAt(request.file, at, at))
      return "```pdl\n" + call->label + "\n```\n\n" + call->documentation;
    return "";
  }

  /// The names of values that `text` reads before it defines them.
  std::vector<std::string> NamesIn(const std::string& text) const {
    auto file = std::make_shared<const SourceFile>("repl", text);
    std::vector<std::string> names, defined;
    for (const SemanticToken& token :
         SemanticTokensOf(file, *request_.registry, request_.library.get())) {
      using Kind = SemanticToken::Kind;
      if (token.kind != Kind::kValue && token.kind != Kind::kInput &&
          token.kind != Kind::kParameter && token.kind != Kind::kState && token.kind != Kind::kSize)
        continue;
      std::string name = file->text().slice(token.range.begin, token.range.end).str();
      std::vector<std::string>& list = token.is_definition ? defined : names;
      if (!llvm::is_contained(names, name) && !llvm::is_contained(defined, name))
        list.push_back(std::move(name));
    }
    return names;
  }

  std::string text() const { return session_.text().str(); }
  std::vector<std::string> names() const { return session_.names(); }

 private:
  /// (output, errors, whether it failed, quit, [(label, type, parts, begin, end)]), with offsets in
  /// bytes of `output`.
  static nb::tuple ToPython(const ReplReply& reply) {
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    reply.diagnostics.Render(stream);
    if (!reply.error.empty()) stream << "error: " << reply.error << "\n";
    nb::list values;
    for (const ReplReply::ShownValue& shown : reply.values) {
      nb::list parts;
      for (const PartType& part : PartsOf("", shown.value.type))
        parts.append(nb::cast(PyTensor{Tensor::FromConstant(shown.value.part(part.part)),
                                       /*read_only=*/true}));
      values.append(
          nb::make_tuple(shown.label, shown.value.type.ToString(), parts, shown.begin, shown.end));
    }
    return nb::make_tuple(nb::bytes(reply.output.data(), reply.output.size()), errors,
                          reply.failed(), reply.quit, values);
  }

  std::atomic<bool> cancelled_ = false;
  NetworkReplHost host_;
  CompileRequest request_;
  ReplSession session_;
};

}  // namespace

void BindRepl(nb::module_& module) {
  nb::class_<PyRepl>(module, "ReplCore")
      .def(nb::init<const std::string&, int, uint64_t>(), nb::arg("device") = "cpu",
           nb::arg("threads") = 0, nb::arg("seed") = 0)
      .def("execute", &PyRepl::Execute, nb::arg("text"))
      .def("share", &PyRepl::Share, nb::arg("name"), nb::arg("array"))
      .def("cancel", &PyRepl::Cancel)
      .def("complete", &PyRepl::Complete, nb::arg("text"), nb::arg("cursor"))
      .def("inspect", &PyRepl::Inspect, nb::arg("text"), nb::arg("cursor"))
      .def("names_in", &PyRepl::NamesIn, nb::arg("text"))
      .def_prop_ro("text", &PyRepl::text)
      .def_prop_ro("names", &PyRepl::names);
  module.def(
      "needs_more_lines", [](const std::string& text) { return NeedsMoreLines(text); },
      nb::arg("text"));
}

}  // namespace pdl::python
