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

/// The Variables that a run can access, by name. A child Scope finds its parent's Variables and
/// hides those with the same name. Not thread-safe: threads that run one Network use one Scope each
/// (for example, children of a common parent that is not modified).
class PDL_API Scope {
 public:
  /// `parent` must outlive this.
  explicit Scope(const Scope* parent = nullptr);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Returns the Variable of that name in this Scope; creates it if there is none.
  Variable* Create(llvm::StringRef name);
  /// Returns the Variable in this Scope, or in the nearest parent; null if there is none.
  const Variable* Find(llvm::StringRef name) const;
  /// As Find, in this Scope only.
  Variable* FindLocal(llvm::StringRef name);
  bool Erase(llvm::StringRef name);
  /// The names in this Scope, sorted.
  std::vector<std::string> Names() const;
  const Scope* parent() const { return parent_; }
  /// A number that increases whenever a name is added or erased here or in a parent. A later Scope
  /// at the same address never has the same number.
  uint64_t version() const { return parent_ ? std::max(version_, parent_->version()) : version_; }

 private:
  const Scope* parent_;
  llvm::StringMap<std::unique_ptr<Variable>> variables_;
  uint64_t version_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_SCOPE_H_
