#include "pdl/op/op_registry.h"

#include <algorithm>
#include <mutex>

#include "pdl/op/error.h"

namespace pdl {

void OpRegistry::Add(OpDef def) {
  std::unique_lock lock(mutex_);
  std::string name = def.name();
  if (def.signature.family.empty()) def.signature.family = family_;
  const auto [added, is_new] = defs_.try_emplace(name, std::make_unique<OpDef>(std::move(def)));
  if (!is_new) InternalError("two operators have the name '" + name + "'");
  const OpDef* record = added->second.get();
  const std::string& onnx_name = record->properties().onnx_name;
  if (!onnx_name.empty()) by_onnx_name_.try_emplace(onnx_name, record);
}

void OpRegistry::AddInternal(OpDef def) {
  std::unique_lock lock(mutex_);
  std::string name = def.name();
  if (!internal_.try_emplace(name, std::make_unique<OpDef>(std::move(def))).second)
    InternalError("two internal operators have the name '" + name + "'");
}

void OpRegistry::BeginFamily(std::string heading) {
  std::unique_lock lock(mutex_);
  family_ = std::move(heading);
}

void OpRegistry::AddKernel(llvm::StringRef name, DeviceKind device, KernelCreator creator) {
  std::unique_lock lock(mutex_);
  auto found = defs_.find(name);
  if (found == defs_.end())
    InternalError("a kernel for '" + name.str() + "', which is not registered");
  found->second->kernels[static_cast<size_t>(device)] = creator;
}

const OpDef* OpRegistry::Find(llvm::StringRef name) const {
  std::shared_lock lock(mutex_);
  auto found = defs_.find(name);
  return found == defs_.end() ? nullptr : found->second.get();
}

const OpDef* OpRegistry::FindByOnnxName(llvm::StringRef name) const {
  std::shared_lock lock(mutex_);
  return by_onnx_name_.lookup(name);
}

const OpDef* OpRegistry::FindInternal(llvm::StringRef name) const {
  std::shared_lock lock(mutex_);
  auto found = internal_.find(name);
  return found == internal_.end() ? nullptr : found->second.get();
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::shared_lock lock(mutex_);
  std::vector<const OpDef*> all;
  for (const auto& entry : defs_) all.push_back(entry.second.get());
  std::sort(all.begin(), all.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  return all;
}

}  // namespace pdl
