// What a Plan knows before anything runs, and which calls that leaves of a graph.
#ifndef PDL_RUNTIME_PLAN_SELECT_H_
#define PDL_RUNTIME_PLAN_SELECT_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include "pdl/graph.h"
#include "pdl/scope.h"
#include "pdl/tensor.h"
#include "runtime/evaluator.h"

namespace pdl {

/// Decides conditions of a graph: values for which IsKnownToPlan holds.
class Conditions {
 public:
  /// `sizes` must outlive this.
  Conditions(const Graph& graph, bool training, SymbolLookup sizes)
      : graph_(graph), training_(training), sizes_(sizes) {}

  /// Whether a bool[] holds; nullopt where it asks for a size that is not known.
  llvm::Expected<std::optional<bool>> Decide(const Value& condition);

 private:
  llvm::Error Compute(const Value& value);
  bool HasSizes(const Op& op) const;

  const Graph& graph_;
  bool training_;
  SymbolLookup sizes_;
  /// Nullopt: asks for a size that is not known.
  llvm::DenseMap<const Value*, std::optional<Tensor>> values_;
};

/// A graph with one side of each plan_select that its outputs and updates need.
struct SelectedGraph {
  Graph graph;
  /// "y = then  # m.pdl:3:5" for each.
  std::vector<std::string> choices;
};

/// `outputs`: names; empty means all. An Error where a condition that decides asks for a size that
/// is not known.
llvm::Expected<SelectedGraph> SelectSides(const Graph& graph, llvm::ArrayRef<std::string> outputs,
                                          bool training, SymbolLookup sizes);

/// The conditions on sizes that some outputs may depend on, and the inputs that have those sizes.
class SizeConditions {
 public:
  static llvm::Expected<SizeConditions> Find(const Graph& graph,
                                             llvm::ArrayRef<std::string> outputs, bool training);

  bool empty() const { return conditions_.empty(); }
  /// The symbols that are asked for.
  llvm::ArrayRef<std::string> symbols() const { return symbols_; }
  /// Their sizes as the inputs in a Scope say; -1 where none does.
  std::vector<int64_t> SizesIn(const Scope& scope) const;
  /// What each condition says: 0, 1, or 2 where a size is not known.
  llvm::Expected<std::vector<uint8_t>> Decide(const Graph& graph, bool training,
                                              SymbolLookup sizes) const;

 private:
  struct Source {
    const Value* input;
    unsigned axis;
  };
  std::vector<const Value*> conditions_;
  std::vector<std::string> symbols_;
  /// For each symbol the dims that have its size; those that are sure to be fed first.
  std::vector<std::vector<Source>> sources_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_PLAN_SELECT_H_
