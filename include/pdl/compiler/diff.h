// Module: ir
#ifndef PDL_COMPILER_DIFF_H_
#define PDL_COMPILER_DIFF_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

enum class DifferenceKind : uint8_t { kAdded, kRemoved, kChanged };

/// The kind of entity that differs.
enum class DifferenceSubject : uint8_t {
  kConstraint,
  kInput,
  kParameter,
  kState,
  kCall,
  kUpdate,
  kOutput,
  kTraining,
};

/// The name for messages: "constraint", "input", ….
PDL_API llvm::StringRef DifferenceSubjectName(DifferenceSubject subject);

/// One difference between two networks.
struct Difference {
  DifferenceKind kind;
  DifferenceSubject subject;
  /// The entity in the language: "x: f32[N]", "y: f32[N] = cos(x, scale=5.0)"; if it changed, the
  /// old one.
  std::string text;
  /// The changes: "scale: 5.0 -> 2.0". Empty unless `kind` is kChanged.
  std::vector<std::string> changes;
  /// The name of the entity in the new network, or in the old one if it was removed: for calls,
  /// that of the first result; for updates, that of the state. Empty for constraints and trainings,
  /// and where only an order differs.
  std::string name;
};

/// Returns the differences between the computations of two networks, grouped by subject. Inputs,
/// parameters, states and outputs are matched by name. Calls are matched if they compute the same
/// from the same operands, else by the name of their result, else by their index among the calls of
/// their operator. Weights are compared by their hashes if both are known, else by file and tensor
/// name. Locations, comments, layer paths and the names of results are ignored.
PDL_API std::vector<Difference> DiffGraphs(const Graph& before, const Graph& after);

/// Returns the calls of block 0 that DiffGraphs matches, as pairs of a call of `before` and one of
/// `after`, in the order of `after`.
PDL_API std::vector<std::pair<const Op*, const Op*>> MatchCalls(const Graph& before,
                                                                const Graph& after);

}  // namespace pdl

#endif  // PDL_COMPILER_DIFF_H_
