#ifndef PDL_VIEW_LEVELS_H_
#define PDL_VIEW_LEVELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "pdl/compiler/graph.h"

namespace pdl::view {

enum class NodeKind : uint8_t {
  kInput,     // a value that a level reads from outside
  kCall,      // one call; opens if it has a body, as loops do
  kLayer,     // the calls of a layer
  kPart,      // consecutive calls of a level that is too large to be shown at once
  kOutput,    // an output of the network, or a value that a level returns
  kUpdate,    // an update of a state
  kTraining,  // a `minimize` statement
};

inline constexpr uint32_t kNone = UINT32_MAX;

/// A box of the picture.
struct Node {
  NodeKind kind = NodeKind::kCall;
  /// The operator, the layer, or the name of the value.
  std::string title;
  /// For a call that is all of a layer: the layer. For a training: the optimizer.
  std::string subtitle;
  /// The calls inside: a range of consecutive calls of a block.
  llvm::ArrayRef<Op*> ops;
  /// The values that it reads from its level, and those that others of its level read; without
  /// parameters, states and inlined constants.
  std::vector<const Value*> reads, results;
  /// The parameters and states that it reads, each once.
  std::vector<const Value*> variables;
  /// The level inside, or kNone.
  uint32_t level = kNone;
};

/// The values that one node reads from another one of its level.
struct Edge {
  uint32_t from, to;  // indices in the level
  std::vector<const Value*> values;
};

/// The visible part of an open box: consecutive nodes, and their edges, at most one for each pair.
struct Level {
  /// The node that opens to it; kNone for the network.
  uint32_t owner = kNone;
  uint32_t first = 0, count = 0;
  std::vector<Edge> edges;
};

/// A network as nested levels. The first level is the network; a level precedes those inside it.
struct Levels {
  std::vector<Node> nodes;
  std::vector<Level> levels;
};

/// A value's name without the path of a layer; if that is empty, of the layer that computes it.
llvm::StringRef ShortName(const Value& value, llvm::StringRef layer = "");

/// Whether a call is shown as an operand where it is used, rather than as a node: scalar literals,
/// such as the 2 of `x * 2`.
bool IsInlined(const Op& op);

/// Divides a network into levels. A level has at most about a hundred calls and layers: larger ones
/// are divided into parts. The graph must outlive the result.
Levels FindLevels(const Graph& graph);

}  // namespace pdl::view

#endif  // PDL_VIEW_LEVELS_H_
