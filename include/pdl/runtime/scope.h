#ifndef PDL_RUNTIME_SCOPE_H_
#define PDL_RUNTIME_SCOPE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/op/variable.h"

namespace pdl {

/// The names that a run can see. A child finds its parent's Variables and hides those of the same
/// name. Not synchronized: threads that run one Network use a Scope each (children of one parent
/// that nobody changes, say).
class PDL_API Scope {
 public:
  /// `parent` must outlive this.
  explicit Scope(const Scope* parent = nullptr);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// The Variable of that name in this Scope, made where there is none.
  Variable* Create(llvm::StringRef name);
  /// This Scope's, or the nearest parent's; null where there is none.
  const Variable* Find(llvm::StringRef name) const;
  /// This Scope's only.
  Variable* FindLocal(llvm::StringRef name);
  bool Erase(llvm::StringRef name);
  /// This Scope's names, sorted.
  std::vector<std::string> Names() const;
  const Scope* parent() const { return parent_; }
  /// A number that grows whenever a name is added or erased here or in a parent, and that a Scope
  /// made later at the same address does not repeat.
  uint64_t version() const { return parent_ ? std::max(version_, parent_->version()) : version_; }

 private:
  const Scope* parent_;
  llvm::StringMap<std::unique_ptr<Variable>> variables_;
  uint64_t version_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_SCOPE_H_
