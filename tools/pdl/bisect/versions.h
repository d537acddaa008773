#ifndef PDL_TOOLS_PDL_BISECT_VERSIONS_H_
#define PDL_TOOLS_PDL_BISECT_VERSIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/diff.h"
#include "tools/pdl/bisect/fed_network.h"

namespace pdl {

/// A difference between two versions of a network that can be applied on its own: a call that
/// changed, with the new calls that only its new form reads; the value of a parameter or state; or
/// an output that is another value.
struct VersionChange {
  Difference difference;
  /// The new calls that it brings, and their source locations.
  std::vector<std::pair<Difference, std::string>> added;
  /// The source locations in both versions; empty if unknown.
  std::string good_place, bad_place;

  /// The calls that change, or the name of the variable or output.
  const Op *good_op = nullptr, *bad_op = nullptr;
  std::string name;
};

/// Two versions of a network, and the networks in between.
class Versions {
 public:
  /// Both have inputs of the same names.
  Versions(FedNetwork good, FedNetwork bad);

  llvm::ArrayRef<VersionChange> changes() const { return changes_; }
  /// The good version with some changes, which are given by ascending indices; its outputs are
  /// those that both versions have. Values of matched calls have the names of the good version. An
  /// Error if the changes do not make a valid network without the others.
  llvm::Expected<FedNetwork> Apply(llvm::ArrayRef<size_t> changes) const;

 private:
  void FindChanges();
  /// The new calls that only the new form of a call or output reads.
  std::vector<const Op*> CallsBroughtBy(llvm::ArrayRef<const Value*> roots) const;
  friend class VersionMixer;

  FedNetwork good_, bad_;
  std::vector<VersionChange> changes_;
  llvm::DenseMap<const Op*, const Op*> match_;        // in both directions
  llvm::DenseMap<const Op*, size_t> change_of_call_;  // by the call of the bad version
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_BISECT_VERSIONS_H_
