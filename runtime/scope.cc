#include "pdl/runtime/scope.h"

#include <algorithm>
#include <atomic>

namespace pdl {
namespace {

uint64_t NextVersion() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Scope::Scope(const Scope* parent) : parent_(parent), version_(NextVersion()) {}

Variable* Scope::Create(llvm::StringRef name) {
  std::unique_ptr<Variable>& variable = variables_[name];
  if (!variable) {
    variable = std::make_unique<Variable>();
    version_ = NextVersion();
  }
  return variable.get();
}

const Variable* Scope::Find(llvm::StringRef name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    auto found = scope->variables_.find(name);
    if (found != scope->variables_.end()) return found->second.get();
  }
  return nullptr;
}

Variable* Scope::FindLocal(llvm::StringRef name) {
  auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second.get();
}

bool Scope::Erase(llvm::StringRef name) {
  if (!variables_.erase(name)) return false;
  version_ = NextVersion();
  return true;
}

std::vector<std::string> Scope::Names() const {
  std::vector<std::string> names;
  names.reserve(variables_.size());
  for (const auto& entry : variables_) names.push_back(entry.getKey().str());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pdl
