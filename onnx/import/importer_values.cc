// The values of an import: constants, literals, and names.
#include <algorithm>
#include <numeric>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/importer.h"
#include "onnx/model/pdl_names.h"
#include "pdl/compiler/graph_walk.h"

namespace pdl {
namespace {

/// Constants of at most this many elements become literals in the source.
constexpr int64_t kMaxLiteral = 16;
/// The limit for integers, which the import itself reads.
constexpr int64_t kMaxIntegerLiteral = 256;
/// Limits on the total size of constants that are computed at import: in bytes, and relative to the
/// tensors of the model.
constexpr int64_t kMaxMadeBytes = int64_t{1} << 28;
constexpr int64_t kMaxMadeFactor = 4;

/// Whether a constant is written as a literal. Without elements, that would be lists of empty
/// lists, however many rows it has, and could not express sizes after a 0.
bool IsWritable(const Constant& constant) {
  return constant.num_elements() > 0 || constant.sizes().size() == 1;
}

}  // namespace

llvm::Error Importer::SpendBytes(int64_t bytes) {
  made_bytes_ += std::min(bytes, int64_t{1} << 62);
  if (made_bytes_ <= kMaxMadeBytes + kMaxMadeFactor * tensor_bytes_) return llvm::Error::success();
  return MakeUserError(Code::kNotSupported,
                       "the constants that its operators need have more than {0} bytes plus {1} "
                       "times the size of the tensors of the model",
                       kMaxMadeBytes, kMaxMadeFactor);
}

llvm::Expected<Value*> Importer::Find(OnnxScope& scope, llvm::StringRef name) {
  for (OnnxScope* at = &scope; at != nullptr; at = const_cast<OnnxScope*>(at->parent)) {
    if (auto found = at->values.find(name); found != at->values.end()) return found->second;
    auto tensor = at->initializers.find(name);
    if (tensor == at->initializers.end()) continue;
    // The value is added outside of bodies, so that all scopes can use it.
    OpenBody* const body = std::exchange(body_, nullptr);
    const onnx::SparseTensorProto* sparse = at->sparse.lookup(name);
    llvm::Expected<Value*> value =
        sparse == nullptr ? AddTensor(*tensor->second, name) : AddSparse(*sparse, name);
    body_ = body;
    if (value) at->values[name] = *value;
    return value;
  }
  return nullptr;
}

const std::vector<Value*>* Importer::FindSequence(const OnnxScope& scope,
                                                  llvm::StringRef name) const {
  for (const OnnxScope* at = &scope; at != nullptr; at = at->parent)
    if (auto found = at->sequences.find(name); found != at->sequences.end()) return &found->second;
  return nullptr;
}

bool Importer::IsMissing(const OnnxScope& scope, llvm::StringRef name) const {
  if (scope.call == nullptr) return false;
  for (const OnnxScope* at = &scope; at != nullptr; at = at->parent) {
    if (at->values.contains(name) || at->sequences.contains(name)) return false;
    if (at->missing.contains(name)) return true;
  }
  return false;
}

const Constant* Importer::FindConstant(const Value* value) const {
  while (const Value* outside = outside_.lookup(value)) value = outside;
  if (const Constant* constant = known_.FindConstant(value)) return constant;
  auto found = weights_.find(value);
  return found == weights_.end() ? nullptr : &found->second;
}

llvm::Expected<Op*> Importer::AddLiteral(const Constant& constant) {
  const DType dtype = constant.dtype();
  const bool is_cast =
      dtype == DType::kI16 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64;
  auto add = [&](llvm::StringRef type, llvm::ArrayRef<Value*> operands,
                 llvm::ArrayRef<NamedAttribute> attributes) {
    CallOptions options;
    options.block = block();
    return graph_.AddOp(*GlobalRegistry().Find(type), operands, attributes, {NewTemporary()},
                        options);
  };
  if (!IsWritable(constant)) {
    const uint64_t nothing = 0;
    llvm::Expected<Op*> flat = AddLiteral(Constant::Copy(dtype, {0}, &nothing));
    if (!flat) return flat;
    Shape dims;
    for (const int64_t size : constant.sizes()) dims.emplace_back(size);
    return add("reshape", {(*flat)->result()}, {{"dims", dims}});
  }
  if (!is_cast) return add("constant", {}, {{"value", constant}, {"dtype", dtype}});
  std::vector<int64_t> values;
  for (int64_t i = 0; i < constant.num_elements(); ++i) {
    values.push_back(dtype == DType::kU64
                         ? static_cast<int64_t>(constant.values<uint64_t>()[static_cast<size_t>(i)])
                         : static_cast<int64_t>(constant.ElementAsDouble(i)));
  }
  llvm::Expected<Op*> numbers =
      add("constant", {},
          {{"value", Constant::Copy(DType::kI64, constant.sizes(), values.data())},
           {"dtype", DType::kI64}});
  if (!numbers) return numbers;
  return add("cast", {(*numbers)->result()}, {{"to", dtype}});
}

bool Importer::IsLiteral(const Constant& constant, bool is_named) {
  const int64_t count = constant.num_elements();
  if (!IsFloat(constant.dtype())) return count <= kMaxIntegerLiteral;
  return count <= 1 || (constant.sizes().size() <= 1 && !is_named && count <= kMaxLiteral);
}

bool Importer::IsFoldable(const Constant& constant) {
  return constant.num_elements() <= kMaxLiteral && IsWritable(constant);
}

llvm::Expected<Value*> Importer::AddConstant(Constant constant, llvm::StringRef name) {
  if (llvm::Error error = Spend(1)) return error;
  Value* value = nullptr;
  if (IsLiteral(constant, !name.empty())) {
    llvm::Expected<Op*> op = AddLiteral(constant);
    if (!op) return op.takeError();
    value = (*op)->result();
    known_.SetConstant(value, std::move(constant));
  } else {
    VariableInfo info;
    info.trainable = IsFloat(constant.dtype());
    const std::string tensor = name.empty() ? NewTemporary() : name.str();
    info.weight = WeightRef{options_.weight_file, tensor, ""};
    Type type;
    type.dtype = constant.dtype();
    type.dims.assign(constant.sizes().begin(), constant.sizes().end());
    value = graph_.AddParameter(NewTemporary(), type, std::move(info));
    weights_[value] = std::move(constant);
  }
  if (!name.empty()) SuggestName(value, name);
  return value;
}

llvm::Expected<Value*> Importer::AddTensor(const onnx::TensorProto& tensor, llvm::StringRef name) {
  if (Value* known = parameters_.lookup(&tensor)) return known;
  llvm::Expected<Constant> constant = model_.ReadTensor(tensor);
  if (!constant) return constant.takeError();
  tensor_bytes_ += constant->num_bytes();
  llvm::Expected<Value*> value = AddConstant(std::move(*constant), name);
  if (value && (*value)->kind() == ValueKind::kParameter) parameters_[&tensor] = *value;
  return value;
}

llvm::Expected<Value*> Importer::AddSparse(const onnx::SparseTensorProto& tensor,
                                           llvm::StringRef name) {
  if (Value* known = parameters_.lookup(&tensor.values())) return known;
  llvm::Expected<Constant> constant =
      model_.ReadSparse(tensor, [&](int64_t bytes) { return SpendBytes(bytes); });
  if (!constant) return constant.takeError();
  llvm::Expected<Value*> value = AddConstant(std::move(*constant), name);
  if (value && (*value)->kind() == ValueKind::kParameter) parameters_[&tensor.values()] = *value;
  return value;
}

std::vector<std::string> Importer::InputsOf(Value* value) const {
  auto next = [&](Value* from, AddValue add) {
    if (Value* outside = outside_.lookup(from)) add(outside);
    AddOperands(from, add);
  };
  std::vector<std::string> names;
  auto add_sizes = [&](const Op& op) {
    for (const AttributeValue& attribute : op.attribute_values())
      if (const auto* dims = std::get_if<Shape>(&attribute))
        for (const Dim& dim : *dims)
          dim.ForEachSymbol([&](llvm::StringRef symbol) {
            if (!graph_.IsDataSymbol(symbol) && !llvm::is_contained(names, symbol))
              names.push_back(symbol.str());
          });
  };
  for (const Value* needed : BackwardSlice(value, next, WalkOrder::kDepthFirst)) {
    for (const auto& [name, input] : inputs_)
      if (input == needed) names.push_back(name);
    if (needed->producer() != nullptr) add_sizes(*needed->producer());
  }
  return names;
}

}  // namespace pdl
