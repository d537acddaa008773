#ifndef PDL_FRONTEND_REPL_REPL_VALUES_H_
#define PDL_FRONTEND_REPL_REPL_VALUES_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/elaborate/fingerprint.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/repl.h"
#include "pdl/op/storage.h"

namespace pdl {

/// The values that a session knows: fed, or computed once and kept until their inputs change.
class ReplValues {
 public:
  explicit ReplValues(ReplHost& host) : host_(host) {}

  struct Found {
    /// Absent if it depends on an input that was not fed.
    std::optional<PackedConstant> value;
    /// The names of these inputs.
    std::vector<std::string> missing;
  };
  /// The values of these names in `graph`; unknown ones are computed in one run. Returns the Error
  /// of the run.
  llvm::Expected<std::vector<Found>> Get(const Graph& graph, llvm::ArrayRef<std::string> names);
  /// Gives an input, parameter or state a value.
  void Feed(const Value* value, PackedConstant given);
  /// Gives `training` a value.
  void SetTraining(bool training) { training_ = training; }
  /// Begins the next run: states get their updated values. On an Error, which is that of a run,
  /// nothing is changed.
  llvm::Error Advance(const Graph& graph);
  /// Why an input, parameter or state cannot have that value; empty if it can.
  static std::string Misfit(llvm::StringRef name, const Type& type, const PackedConstant& given);
  /// The sizes of symbols determined by fed values, without the value fed to `except`.
  llvm::StringMap<int64_t> KnownSizes(const Graph& graph, const Value& except) const;
  Fingerprints Describe(const Graph& graph) const;
  /// Removes values that are not part of this graph.
  void KeepOnly(const Graph& graph);
  void Clear();
  /// Given values, by name: those that are not computed from the source. A copy allows going back.
  struct Given {
    PackedConstant value;
    uint64_t version;
  };
  using Givens = llvm::StringMap<Given>;
  const Givens& givens() const { return given_; }
  void Restore(Givens givens) { given_ = std::move(givens); }
  bool training() const { return training_; }

  /// Calls that were run since the last ClearCounts, and how long that took.
  size_t num_calls() const { return num_calls_; }
  double milliseconds() const { return milliseconds_; }
  void ClearCounts() { num_calls_ = 0, milliseconds_ = 0; }

 private:
  /// The size of a symbol, as determined by fed inputs.
  struct Size {
    std::optional<int64_t> size;      // if a dim is just the symbol
    std::optional<Constant> offsets;  // of a ragged dim
    uint64_t fingerprint = 0;
  };
  using Sizes = llvm::StringMap<Size>;

  Sizes FindSizes(const Graph& graph, const Value* except = nullptr) const;
  static bool Fits(const PackedConstant& given, const Type& type, const Sizes& sizes);
  const Given* FindGiven(const Value* leaf, const Sizes& sizes) const;
  Fingerprints Describe(const Graph& graph, const Sizes& sizes) const;
  const PackedConstant* Find(const Value* value, uint64_t fingerprint, const Sizes& sizes) const;

  struct Requested;
  /// The values to compute for these names; known ones go to `found`, with the names of missing
  /// inputs.
  Requested FindRequested(const Graph& graph, llvm::ArrayRef<std::string> names,
                          const Fingerprints& prints, const Sizes& sizes,
                          std::vector<Found>* found) const;
  /// Reduces the graph to the required values, with known values as inputs; returns these by name.
  static llvm::StringMap<PackedConstant> Narrow(
      const Requested& requested, llvm::function_ref<const PackedConstant*(const Value*)> find,
      Graph* graph);

  ReplHost& host_;
  std::unordered_map<uint64_t, PackedConstant> known_;  // by fingerprint
  Givens given_;                                        // by name
  uint64_t version_ = 0;
  bool training_ = false;
  size_t num_calls_ = 0;
  double milliseconds_ = 0;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_REPL_VALUES_H_
