#include "feed.h"

#include <nanobind/stl/string.h>

#include "errors.h"
#include "pdl/error.h"
#include "pdl/storage.h"
#include "tensor.h"

namespace nb = nanobind;

namespace pdl::python {

nb::object Intern(const std::string& text) {
  PyObject* string = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (!string) throw nb::python_error();
  PyUnicode_InternInPlace(&string);
  return nb::steal(string);
}

Feed::Feed(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    for (const PartType& part : PartsOf(input->name(), input->type())) {
      std::string name = PartName(input->name(), part.part);
      nb::object key = Intern(name);
      inputs_.push_back({std::move(name), part.type.dtype, std::move(key)});
    }
  }
}

unsigned Feed::Find(nb::handle name) const {
  for (unsigned i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].key.is(name)) return i;
  const auto text = nb::cast<std::string>(name);
  llvm::SmallVector<llvm::StringRef, 8> names;
  for (unsigned i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name == text) return i;
    names.push_back(inputs_[i].name);
  }
  const llvm::StringRef near = NearestName(text, names);
  Raise(MakeUserError(Code::kSurplusInput, "the network has no input '{0}'{1}", text,
                      near.empty() ? "" : "; did you mean '" + near.str() + "'?"));
}

FedTensors Feed::Read(nb::handle dict) const {
  FedTensors tensors;
  PyObject *name = nullptr, *array = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict.ptr(), &position, &name, &array)) {
    const unsigned input = Find(name);
    std::optional<Tensor> tensor = ImportTensor(array);
    if (!tensor) {
      // Numbers, lists, and what else NumPy makes an array of.
      nb::object made =
          nb::module_::import_("pdl._arrays")
              .attr("to_array")(nb::handle(array), DTypeName(inputs_[input].dtype).str());
      tensor = ImportTensor(made);
      if (!tensor) throw nb::type_error("an input must be an array");
    }
    tensors.emplace_back(input, std::move(*tensor));
  }
  return tensors;
}

void Feed::Put(const FedTensors& tensors, Scope* scope) const {
  for (const auto& [input, tensor] : tensors) scope->Create(inputs_[input].name)->Set(tensor);
}

void Feed::Clear(const FedTensors& tensors, Scope* scope) const {
  for (const auto& [input, tensor] : tensors)
    if (Variable* variable = scope->FindLocal(inputs_[input].name)) {
      const Tensor* held = variable->Get<Tensor>();
      if (held && held->raw() == tensor.raw()) variable->Clear();
    }
}

}  // namespace pdl::python
