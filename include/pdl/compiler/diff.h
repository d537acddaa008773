// Module: ir
#ifndef PDL_COMPILER_DIFF_H_
#define PDL_COMPILER_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"

namespace pdl {

enum class DifferenceKind : uint8_t { kAdded, kRemoved, kChanged };

/// What a difference is about.
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

/// "constraint", "input", …, as people read it.
PDL_API llvm::StringRef DifferenceSubjectName(DifferenceSubject subject);

/// One difference between two networks.
struct Difference {
  DifferenceKind kind;
  DifferenceSubject subject;
  /// The thing itself: "x: f32[N]", "y: f32[N] = cos(x, scale=5.0)"; where it changed, as it was.
  std::string text;
  /// What changed: "scale: 5.0 -> 2.0"; empty unless kind is kChanged.
  std::vector<std::string> changes;
};

/// How two networks differ in what they compute, by subject. Inputs, parameters, states and outputs
/// are the same ones where their names are. Calls are the same where they compute the same from the
/// same, or have the same name, or else the same place among the calls of their operator. Weights
/// are compared by their hashes where both are known, else by where they lie. Locations, comments,
/// layer paths and the names of results do not count.
PDL_API std::vector<Difference> DiffGraphs(const Graph& before, const Graph& after);

}  // namespace pdl

#endif  // PDL_COMPILER_DIFF_H_
