#ifndef PDL_RUNTIME_MEMORY_REPORT_H_
#define PDL_RUNTIME_MEMORY_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/export.h"
#include "pdl/op/dim.h"

namespace pdl {

/// A value whose bytes are in the arena while a step runs.
struct LiveValue {
  std::string name;
  std::string type;      // "f32[N, 8]"
  std::string call;      // the operator that computes it
  std::string location;  // of that call: "model.pdl:3:5"; empty if unknown
  Dim bytes;
};

/// A step of a plan during which the live values may need the most bytes.
struct MemoryPeak {
  Dim bytes;
  unsigned step = 0;
  std::string calls;  // the operators of the step: "matmul, relu"
  std::string location;
  /// In the order in which they are computed.
  std::vector<LiveValue> values;
};

/// The memory of a plan for the given sizes, in bytes.
struct PlannedMemory {
  /// The peak of live values, counted while the arena is laid out.
  int64_t values = 0;
  /// The peak of live values and workspaces, each rounded up to 64 bytes.
  int64_t live = 0;
  int64_t arena = 0;
  /// The largest workspace of a step.
  int64_t workspace = 0;
};

/// The memory of one plan: of a network, of one of its segments, or of the body of a loop.
///
/// All formulas hold for all sizes from 1 on. A network may need less than a formula states if
/// sizes coincide: if one is 1, or if two are equal that could differ, values may share memory that
/// do not share it in general.
struct MemoryPart {
  /// Empty for a network without segments; "segment 1 of 2", "body of scan h".
  std::string title;
  /// The decision of the plan for each condition on sizes. The formulas hold for sizes with these
  /// decisions.
  std::vector<std::string> choices;
  /// The peak of intermediate values is the maximum of these. None of them is provably at most
  /// another one.
  std::vector<MemoryPeak> peaks;
  /// Outputs and new values of states, which exist for the duration of the run.
  Dim outputs = 0, new_states = 0;
  /// If all sizes are given.
  std::optional<PlannedMemory> planned;

  /// The peak of intermediate values.
  PDL_API Dim Intermediates() const;
  /// The same for people: "max(8*N + 16, 4*N*T)".
  PDL_API std::string IntermediatesFormula() const;
};

/// The memory of a run of a network on one device.
struct MemoryReport {
  std::vector<MemoryPart> parts;
  /// Bytes of inputs, states and parameters (including results that depend on parameters only,
  /// which replace them), without copies that kernels keep in another layout.
  Dim inputs = 0, states = 0, parameters = 0;

  /// The bytes that a run needs in addition to inputs, states and parameters: outputs, new values
  /// of states, and the peaks of all parts, which keep their arenas until the run ends.
  PDL_API Dim Run() const;
  /// The same for people: "max(8*N + 16, 4*N*T) + 4*N".
  PDL_API std::string RunFormula() const;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_MEMORY_REPORT_H_
