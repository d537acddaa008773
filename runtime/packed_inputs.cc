#include "runtime/packed_inputs.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {
namespace {

/// Returns null if there is none on the CPU.
const Tensor* FindOnCpu(const Scope& scope, llvm::StringRef name) {
  const Variable* variable = scope.Find(name);
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  return tensor && tensor->device().kind == DeviceKind::kCPU ? tensor : nullptr;
}

/// Whether a tensor has the dtype, the rank, and those sizes of `type` that are constant.
bool Fits(const Tensor& tensor, const Type& type) {
  if (tensor.dtype() != type.dtype || tensor.rank() != type.rank()) return false;
  for (unsigned axis = 0; axis < tensor.rank(); ++axis)
    if (type.dims[axis].is_constant() && !type.dims[axis].is_constant(tensor.size(axis)))
      return false;
  return true;
}

}  // namespace

PackedInputs::PackedInputs(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    const Type& type = input->type();
    if (type.is_plain()) continue;
    Input& added = inputs_.emplace_back(Input{input->name(), type, std::nullopt});
    for (const PartType& part : PartsOf(input->name(), type)) {
      input_of_[PartName(input->name(), part.part)] = input->name();
      if (part.part == Part::kValues) added.elements = part.type;
    }
    for (unsigned level = 1; level <= type.ragged_levels(); ++level) {
      const std::string dim = type.dims[level].ToString();
      auto found = llvm::find_if(lengths_, [&](const Lengths& each) { return each.dim == dim; });
      if (found == lengths_.end()) found = lengths_.insert(found, {dim, {}, {}});
      found->inputs.push_back(input->name());
      found->names.push_back(PartName(input->name(), OffsetsPart(level - 1)));
    }
  }
  for (const GraphOutput& output : graph.outputs()) {
    if (output.value->type().is_plain()) continue;
    std::vector<std::string>& parts = outputs_[output.name];
    for (const PartType& part : PartsOf(output.name, output.value->type()))
      parts.push_back(PartName(output.name, part.part));
  }
}

llvm::Error PackedInputs::Check(const Scope& scope) const {
  for (const Input& input : inputs_) {
    const Type& type = input.type;
    const Variable* variable = input.elements ? scope.Find(input.name) : nullptr;
    const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
    if (tensor && !Fits(*tensor, *input.elements))
      return MakeUserError(Code::kInputType, "input '{0}' is declared {1}, got elements {2}",
                           input.name, type.ToString(), tensor->TypeString());
    auto check = [&](const Tensor* offsets, int64_t count, llvm::StringRef what) -> llvm::Error {
      const std::string fault = FaultOfOffsets(*offsets, count, what);
      if (fault.empty()) return llvm::Error::success();
      return MakeUserError(Code::kOffsets, "input '{0}', {1}: {2}", input.name, type.ToString(),
                           fault);
    };
    const unsigned num_offsets = type.ragged_levels() + type.is_sparse();
    for (unsigned level = 0; level < num_offsets; ++level) {
      const bool is_last = level + 1 == num_offsets;
      const Part inner = !is_last           ? OffsetsPart(level + 1)
                         : type.is_sparse() ? Part::kIndices
                                            : Part::kValues;
      const Tensor* offsets = FindOnCpu(scope, PartName(input.name, OffsetsPart(level)));
      const Tensor* rows = FindOnCpu(scope, PartName(input.name, inner));
      if (offsets == nullptr || rows == nullptr || rows->rank() == 0) continue;
      if (llvm::Error error = check(offsets, rows->size(0) - (is_last ? 0 : 1),
                                    is_last && type.is_sparse() ? "elements" : "rows"))
        return error;
    }
  }
  for (const Lengths& lengths : lengths_) {
    const Tensor* first = nullptr;
    size_t from = 0;
    for (size_t i = 0; i < lengths.names.size(); ++i) {
      const Tensor* offsets = FindOnCpu(scope, lengths.names[i]);
      // A tensor that cannot be offsets is rejected by its type.
      if (!offsets || offsets->dtype() != DType::kI64 || offsets->rank() != 1) continue;
      if (!first) {
        first = offsets;
        from = i;
        continue;
      }
      if (offsets->raw() == first->raw()) continue;
      if (offsets->num_elements() != first->num_elements())
        return MakeUserError(
            Code::kOffsets,
            "inputs '{0}' and '{1}' share the lengths {2}, but have {3} and {4} of them",
            lengths.inputs[from], lengths.inputs[i], lengths.dim, first->num_elements() - 1,
            offsets->num_elements() - 1);
      const int64_t* a = first->data<int64_t>();
      const int64_t* b = offsets->data<int64_t>();
      for (int64_t row = 0; row + 1 < first->num_elements(); ++row) {
        if (a[row + 1] == b[row + 1]) continue;
        return MakeUserError(Code::kOffsets,
                             "inputs '{0}' and '{1}' share the lengths {2}, but row {3} has {4} in "
                             "the one and {5} in the other",
                             lengths.inputs[from], lengths.inputs[i], lengths.dim, row,
                             a[row + 1] - a[row], b[row + 1] - b[row]);
      }
    }
  }
  return llvm::Error::success();
}

std::vector<std::string> PackedInputs::Expand(llvm::ArrayRef<std::string> outputs) const {
  std::vector<std::string> names;
  for (const std::string& output : outputs) {
    auto found = outputs_.find(output);
    if (found == outputs_.end()) {
      names.push_back(output);
    } else {
      names.insert(names.end(), found->second.begin(), found->second.end());
    }
  }
  return names;
}

std::string PackedInputs::Describe(const Scope& scope, llvm::StringRef name) const {
  for (const Input& input : inputs_) {
    bool is_part = false, is_given = false;
    for (const PartType& part : PartsOf(input.name, input.type)) {
      const std::string part_name = PartName(input.name, part.part);
      is_part |= part_name == name;
      is_given |= scope.Find(part_name) != nullptr;
    }
    if (is_part && !is_given) return "'" + input.name + "': " + input.type.ToString();
  }
  return "";
}

llvm::ArrayRef<std::string> PackedInputs::InputsWithLengths(llvm::StringRef offsets) const {
  for (const Lengths& lengths : lengths_)
    if (llvm::is_contained(lengths.names, offsets)) return lengths.inputs;
  return {};
}

const Tensor* PackedInputs::FindInstead(const Scope& scope, llvm::StringRef name) const {
  for (const Lengths& lengths : lengths_) {
    if (!llvm::is_contained(lengths.names, name)) continue;
    for (const std::string& other : lengths.names) {
      const Variable* variable = scope.Find(other);
      if (const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr) return tensor;
    }
  }
  return nullptr;
}

}  // namespace pdl
