#include "runtime/weight_store.h"

#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/runtime/weight_source.h"
#include "runtime/call_error.h"
#include "runtime/index_range.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

constexpr int64_t kKeptStateBytes = 1 << 20;
/// Of such a weight, an embedding table for example, a run may read a part only.
constexpr int64_t kLargeWeightBytes = int64_t{16} << 20;

}  // namespace

llvm::Error WeightStore::HasNoValue(const Value& variable) const {
  return AtLocationOf(
      variable,
      MakeUserError(Code::kBadNetwork, "{0} '{1}' has neither an initializer nor a weight",
                    variable.kind() == ValueKind::kState ? "state" : "parameter", variable.name()));
}

llvm::Error WeightStore::AtLocationOf(const Value& variable, llvm::Error error) const {
  return llvm::handleErrors(std::move(error), [&](const UserError& e) {
    return UserErrorAt(graph_.PathToString(variable.location()), e.code(), e.text());
  });
}

llvm::Error WeightStore::WrongType(const Value& variable, DType dtype,
                                   llvm::ArrayRef<int64_t> sizes, const std::string& where) const {
  return AtLocationOf(
      variable,
      MakeUserError(Code::kWeightMismatch, "'{0}' is declared {1}, and {2} is {3}", variable.name(),
                    variable.type().ToString(), where, TensorTypeToString(dtype, sizes)));
}

llvm::Error WeightStore::CheckRange(const Value& variable, const Tensor& tensor) const {
  llvm::Error error = CheckDeclaredRange(variable.type(), tensor, "'" + variable.name() + "'");
  return error ? AtLocationOf(variable, std::move(error)) : llvm::Error::success();
}

llvm::Expected<Tensor> WeightStore::LoadOne(const Value& variable, WeightFilesByName& files) const {
  const WeightRef& ref = *variable.variable().weight;
  auto file = files.find(ref.file);
  if (file == files.end()) {
    // Stored also if it cannot be read, which is reported once and not for each of its tensors.
    file = files.try_emplace(ref.file, std::nullopt).first;
    llvm::Expected<std::string> path = ResolveInFolder(options_.weight_folder, ref.file);
    if (!path) return AtLocationOf(variable, path.takeError());
    llvm::Expected<SafetensorsFile> opened = SafetensorsFile::Open(*path);
    if (!opened) return AtLocationOf(variable, opened.takeError());
    file->second = std::move(*opened);
  }
  std::string where = "'" + ref.tensor + "' in " + ref.file;
  const SafetensorsFile::Entry* entry = file->second->Find(ref.tensor);
  if (!entry)
    return AtLocationOf(variable, MakeUserError(Code::kWeightMismatch,
                                                "'{0}' is loaded from {1}, which does not exist",
                                                variable.name(), where));
  if (!FitsWeight(variable.type(), ref, entry->dtype, entry->sizes))
    return WrongType(variable, entry->dtype, entry->sizes, where);
  Constant value = file->second->Read(*entry);
  if (options_.verify_weights && !ref.sha256.empty() && Sha256(value) != ref.sha256)
    return AtLocationOf(
        variable, MakeUserError(Code::kWeightMismatch,
                                "{0} has changed since '{1}' was compiled (its SHA-256 differs)",
                                where, variable.name()));
  llvm::Expected<Constant> converted = ConvertWeight(value, variable.type().dtype, ref.transpose);
  if (!converted) return converted.takeError();
  Tensor tensor = Tensor::FromConstant(*converted);
  if (llvm::Error error = CheckRange(variable, tensor)) return error;
  // Verifying or converting has read all bytes. The pages of a small weight remain, since it will
  // be packed soon, and mapping them again takes time.
  if (converted->data() != value.data() || value.num_bytes() >= kLargeWeightBytes)
    ReleaseFilePages(Tensor::FromConstant(value));
  return tensor;
}

llvm::Error WeightStore::Load() {
  WeightFilesByName files;
  llvm::Error errors = llvm::Error::success();
  auto load = [&](const Value& variable) {
    if (auto given = options_.weights.find(variable.name()); given != options_.weights.end()) {
      const Constant& value = given->second;
      if (!FitsWeight(variable.type(), WeightRef(), value.dtype(), value.sizes())) {
        errors = llvm::joinErrors(
            std::move(errors),
            WrongType(variable, value.dtype(), value.sizes(), "the value given for it"));
        return;
      }
      Tensor tensor = Tensor::FromConstant(value);
      if (llvm::Error error = CheckRange(variable, tensor)) {
        errors = llvm::joinErrors(std::move(errors), std::move(error));
        return;
      }
      values_[variable.name()] = std::move(tensor);
      return;
    }
    if (!variable.variable().weight) {
      if (variable.kind() == ValueKind::kParameter && !variable.variable().initializer)
        errors = llvm::joinErrors(std::move(errors), HasNoValue(variable));
      return;
    }
    const auto file = files.find(variable.variable().weight->file);
    if (file != files.end() && !file->second) return;
    llvm::Expected<Tensor> loaded = LoadOne(variable, files);
    if (loaded) {
      values_[variable.name()] = std::move(*loaded);
    } else {
      errors = llvm::joinErrors(std::move(errors), loaded.takeError());
    }
  };
  for (const Value* parameter : graph_.parameters()) load(*parameter);
  for (const Value* state : graph_.states()) load(*state);
  return errors;
}

llvm::Expected<Tensor> WeightStore::Initial(const Value& variable, SymbolLookup lookup) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = values_.find(variable.name()); found != values_.end()) return found->second;
  }
  if (const Value* source = SourceOf(variable)) {
    llvm::Expected<Tensor> value = Initial(*source, lookup);
    return value ? ConvertTo(variable.type().dtype, *value) : std::move(value);
  }
  if (!variable.variable().initializer) return HasNoValue(variable);
  llvm::Expected<Tensor> value =
      EvaluateInitializer(graph_, *variable.variable().initializer, variable.name(), lookup,
                          RandomState{options_.seed, 0});
  if (!value) return value.takeError();
  if (llvm::Error error = CheckRange(variable, *value)) return error;
  // A state whose size depends on the run is created for each Scope. So is a large one, whose
  // initial value would otherwise take memory in addition to its current value.
  const bool fixed = variable.type().has_constant_dims();
  const bool is_small = value->num_bytes() <= kKeptStateBytes;
  if (fixed && (variable.kind() != ValueKind::kState || is_small)) {
    std::lock_guard lock(mutex_);
    return values_.try_emplace(variable.name(), *value).first->second;
  }
  return value;
}

llvm::Expected<Tensor> WeightStore::KeptInitial(const Value& state) {
  const Dim bytes = NumElements(state.type().dims) * Dim(DTypeSize(state.type().dtype));
  {
    std::lock_guard lock(mutex_);
    if (const auto kept = values_.find(state.name()); kept != values_.end()) return kept->second;
  }
  // The initial value of another state is computed for each Scope.
  if (!bytes.is_constant() || bytes.constant() > kKeptStateBytes || SourceOf(state) != nullptr)
    return Tensor();
  llvm::Expected<Tensor> value =
      Initial(state, [](llvm::StringRef) -> std::optional<int64_t> { return std::nullopt; });
  if (!value) return value;
  std::lock_guard lock(mutex_);
  const auto kept = values_.find(state.name());
  return kept == values_.end() ? Tensor() : kept->second;
}

const Value* WeightStore::SourceOf(const Value& state) {
  const std::string& name = state.variable().copy_of;
  if (name.empty()) return nullptr;
  std::lock_guard lock(mutex_);
  return values_.contains(state.name()) ? nullptr : graph_.FindValue(name);
}

llvm::Expected<Tensor> ConvertTo(DType dtype, const Tensor& value) {
  if (value.dtype() == dtype) return value;
  llvm::Expected<Constant> converted = ConvertWeight(value.ToConstant(), dtype, false);
  if (!converted) return converted.takeError();
  ReleaseFilePages(value);
  return Tensor::FromConstant(*converted);
}

llvm::Expected<Tensor> WeightStore::OnDevice(const Value& parameter, DeviceContext& context) {
  llvm::Expected<Tensor> value =
      Initial(parameter, [](llvm::StringRef) -> std::optional<int64_t> { return std::nullopt; });
  if (!value || context.device().kind == DeviceKind::kCPU) return value;
  std::string key = DeviceToString(context.device()) + "/" + parameter.name();
  {
    std::lock_guard lock(mutex_);
    if (auto found = device_values_.find(key); found != device_values_.end()) return found->second;
  }
  llvm::Expected<Tensor> moved = MoveToDevice(*value, context);
  if (!moved) return moved.takeError();
  ReleaseFilePages(*value);
  std::lock_guard lock(mutex_);
  return device_values_.try_emplace(key, *moved).first->second;
}

}  // namespace pdl
