#include "pdl/op/op_registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "ir/names.h"
#include "pdl/op/error.h"

namespace pdl {
namespace internal {

/// -1: registrations are not counted.
static thread_local int registrations = -1;

void RegisterAtProgramStart(OpRegistrar registrar) {
  if (registrations < 0) return registrar(GlobalRegistry());
  ++registrations;
}

CountRegistrations::CountRegistrations() { registrations = 0; }
CountRegistrations::~CountRegistrations() { registrations = -1; }
int CountRegistrations::count() const { return registrations; }

}  // namespace internal

void OpRegistry::Reject(llvm::Error error) {
  if (errors_ != nullptr) {
    *errors_ = llvm::joinErrors(std::move(*errors_), std::move(error));
    return;
  }
  std::fprintf(stderr, "error: %s\n", llvm::toString(std::move(error)).c_str());
  std::abort();
}

const OpDef* OpRegistry::AddTo(llvm::StringMap<std::unique_ptr<OpDef>>& defs,
                               llvm::Expected<OpDef> def) {
  if (!def) return Reject(def.takeError()), nullptr;
  if (def->signature.family.empty()) {
    std::shared_lock lock(mutex_);
    def->signature.family = family_;
  }
  // A Block is a network only once the call is planned.
  if (def->signature.attributes.empty() || def->signature.BlockAttribute() >= 0)
    def->check_attributes = nullptr;
  const std::string name = def->name();
  std::unique_lock lock(mutex_);
  const auto [added, is_new] = defs.try_emplace(name, nullptr);
  if (is_new) {
    added->second = std::make_unique<OpDef>(std::move(*def));
    return added->second.get();
  }
  lock.unlock();
  Reject(MakeUserError(Code::kOperatorUse, "two operators have the name '{0}'", name));
  return nullptr;
}

void OpRegistry::Add(llvm::Expected<OpDef> def) {
  if (def && !IsIdentifier(def->name()))
    return Reject(MakeUserError(Code::kOperatorUse,
                                "'{0}' cannot be the name of an operator: it is not a name of the "
                                "language (letters, digits and '_') or is a reserved word",
                                def->name()));
  const OpDef* added = AddTo(defs_, std::move(def));
  if (added == nullptr || added->properties().onnx_name.empty()) return;
  std::unique_lock lock(mutex_);
  by_onnx_name_.try_emplace(added->properties().onnx_name, added);
}

void OpRegistry::AddInternal(llvm::Expected<OpDef> def) { AddTo(internal_, std::move(def)); }

void OpRegistry::BeginFamily(std::string heading) {
  std::unique_lock lock(mutex_);
  family_ = std::move(heading);
}

void OpRegistry::AddKernel(llvm::StringRef name, DeviceKind device, KernelCreator creator) {
  std::unique_lock lock(mutex_);
  auto found = defs_.find(name);
  if (found == defs_.end()) {
    lock.unlock();
    return Reject(
        MakeUserError(Code::kOperatorUse, "a kernel for '{0}', which is not registered", name));
  }
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
