#include "feed.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>

#include "errors.h"
#include "gil.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/dim.h"
#include "pdl/op/error.h"
#include "pdl/op/storage.h"
#include "tensor.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {

nb::object Intern(const std::string& text) {
  PyObject* string = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (!string) throw nb::python_error();
  PyUnicode_InternInPlace(&string);
  return nb::steal(string);
}

Feed::Feed(const Graph& graph) {
  std::optional<Dim> rows;
  for (const Value* input : graph.inputs()) {
    if (!input->type().dims.empty()) {
      const Dim& first = input->type().dims[0];
      has_rows_ &= !first.symbol().empty() && (!rows || *rows == first);
      rows = first;
    }
    const auto parts = PartsOf(input->name(), input->type());
    for (const PartType& part : parts) {
      std::string name = PartName(input->name(), part.part);
      nb::object key = Intern(name);
      // The size of the outermost offsets determines the number of rows of a ragged or sparse
      // value.
      const bool is_offsets = part.part == Part::kOffsets;
      const bool is_first = parts.size() == 1 ? !input->type().dims.empty() : is_offsets;
      inputs_.push_back({std::move(name), input->name(), static_cast<unsigned>(parts.size()),
                         input->type().ToString(), part.type.dtype, std::move(key), is_first,
                         is_offsets});
    }
  }
}

unsigned Feed::Find(nb::handle name) const {
  for (unsigned i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].key.is(name)) return i;
  if (!nb::isinstance<nb::str>(name)) {
    const std::string message =
        "the name of an input must be a string, not " + std::string(Py_TYPE(name.ptr())->tp_name);
    throw nb::type_error(message.c_str());
  }
  const std::string text = TextOf(name);
  llvm::SmallVector<llvm::StringRef, 8> names;
  for (unsigned i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name == text) return i;
    names.push_back(inputs_[i].name);
  }
  // A sparse bool matrix has no part with the name of the input.
  for (unsigned i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].declared == text) return i;
  const llvm::StringRef near = NearestName(text, names);
  Raise(MakeUserError(Code::kSurplusInput, "the network has no input '{0}'{1}", text,
                      near.empty() ? "" : "; did you mean '" + near.str() + "'?"));
}

/// Converts values that are not arrays: numbers and lists, and ragged and sparse values, which give
/// a tensor for each part.
void Feed::Convert(unsigned input, nb::handle given, FedTensors* tensors) const {
  const Input& target = inputs_[input];
  const nb::object made = CallIn("pdl._arrays", "to_input", given, target.declared, target.type);
  if (std::optional<Tensor> tensor = ImportTensor(made))
    tensors->emplace_back(input, std::move(*tensor));
  else
    AddParts(target, made, tensors);
}

void Feed::AddParts(const Input& target, nb::handle value, FedTensors* tensors) const {
  const auto parts = nb::cast<nb::dict>(CallPython(nb::object(value.attr("parts"))));
  unsigned found = 0;
  for (auto [suffix, part] : parts) {
    const std::string name = target.declared + nb::cast<std::string>(suffix);
    for (unsigned i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].name != name) continue;
      std::optional<Tensor> tensor = ImportTensor(part);
      if (!tensor)
        throw nb::type_error(
            ("the parts of input '" + target.declared +
             "' must be arrays, such as those that pdl.ragged and pdl.sparse make from lists")
                .c_str());
      tensors->emplace_back(i, std::move(*tensor));
      ++found;
    }
  }
  if (found != nb::len(parts) || found != target.num_parts)
    Raise(MakeUserError(Code::kInputType, "input '{0}' is declared {1}, got {2}", target.declared,
                        target.type, nb::cast<std::string>(value.attr("type"))));
}

bool Feed::IsPart(unsigned input, nb::handle name, nb::handle mapping) const {
  // A sparse bool matrix has no part with the name of the input.
  if (!inputs_[input].key.equal(name)) return false;
  return llvm::any_of(inputs_, [&](const Input& other) {
    return &other != &inputs_[input] && other.declared == inputs_[input].declared &&
           PyDict_Contains(mapping.ptr(), other.key.ptr()) == 1;
  });
}

FedTensors Feed::Read(nb::handle mapping) const {
  FedTensors tensors;
  PyObject *name = nullptr, *array = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(mapping.ptr(), &position, &name, &array)) {
    // Owned, since the conversion may modify the dict.
    const nb::object held = nb::borrow(array);
    const unsigned input = Find(name);
    std::optional<Tensor> tensor;
    try {
      tensor = ImportTensor(held);
    } catch (const nb::builtin_exception&) {
      // Convert reports it, with the name of the input.
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
    }
    if (tensor && (inputs_[input].num_parts == 1 || IsPart(input, name, mapping)))
      tensors.emplace_back(input, std::move(*tensor));
    else
      Convert(input, held, &tensors);
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

llvm::Error Feed::WithConversion(llvm::Error error, const FedTensors& tensors) const {
  return llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> e) -> llvm::Error {
    std::string hint;
    for (const auto& [input, tensor] : tensors) {
      const Input& declared = inputs_[input];
      const std::string begin = "input '" + declared.name + "' is declared ";
      if (tensor.dtype() == declared.dtype || e->code() != Code::kInputType ||
          !llvm::StringRef(e->text()).starts_with(begin))
        continue;
      const std::string dtype = DTypeName(declared.dtype).str();
      hint = declared.num_parts > 1 ? "; its elements must be converted to " + dtype
                                    : "; pdl.tensor(array, dtype=\"" + dtype + "\") converts it";
    }
    if (hint.empty()) return llvm::Error(std::move(e));
    return MakeUserError(e->code(), "{0}{1}", e->text(), hint);
  });
}

std::vector<std::string> Feed::Missing(const FedTensors& tensors) const {
  std::vector<std::string> names;
  for (const Input& one : inputs_) {
    const bool is_fed =
        llvm::any_of(tensors, [&](const auto& fed) { return &inputs_[fed.first] == &one; });
    if (!is_fed && !llvm::is_contained(names, one.declared)) names.push_back(one.declared);
  }
  return names;
}

llvm::Expected<std::vector<std::string>> Feed::RowInputs() const {
  std::vector<std::string> names;
  for (const Input& input : inputs_)
    if (input.has_rows) names.push_back(input.declared);
  if (has_rows_ && !names.empty()) return names;
  return MakeUserError(Code::kTrainingData,
                       "a batch cannot be computed in parts: that requires that the first dims of "
                       "all inputs are the same symbol");
}

int64_t Feed::CountRows(const FedTensors& tensors) const {
  if (!has_rows_) return 1;
  for (const auto& [input, tensor] : tensors)
    if (inputs_[input].has_rows && tensor.rank() > 0)
      return std::max<int64_t>(tensor.size(0) - (inputs_[input].is_offsets ? 1 : 0), 0);
  return 1;
}

}  // namespace pdl::python
