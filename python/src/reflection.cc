#include "reflection.h"

#include <nanobind/stl/string.h>

#include "errors.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/keywords.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/plugin.h"
#include "pdl/version.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

/// The output of `pdl ops --format=json`.
std::string Declarations() {
  return OpProtosToJson(GlobalRegistry(), DescribeLayers(*StandardLayers()));
}

/// The output of `pdl ops --format=proto`.
nb::bytes DeclarationsProto() {
  const std::string bytes = SerializeOpProtos(GlobalRegistry(), DescribeLayers(*StandardLayers()));
  return nb::bytes(bytes.data(), bytes.size());
}

std::string Explain(const std::string& name) {
  const std::optional<Code> code = CodeFromName(name);
  if (!code) throw nb::key_error(name.c_str());
  return CodeTitle(*code).str() + "\n\n" + CodeExplanation(*code).str();
}

}  // namespace

void BindReflection(nb::module_& module) {
  module.def("declarations", &Declarations);
  module.def("declarations_proto", &DeclarationsProto);
  module.def(
      "is_keyword", [](const std::string& word) { return IsKeyword(word); }, nb::arg("word"));
  module.def("explain", &Explain, nb::arg("code"), "The explanation of an error code, 'PDL0203'.");
  module.def(
      "load_plugin", [](const Path& path) { Check(LoadPlugin(path.bytes)); }, nb::arg("path"));
  module.def("code_name", [](int code) { return CodeName(static_cast<Code>(code)); });
  module.attr("__version__") = version_string;
}

}  // namespace pdl::python
