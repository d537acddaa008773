// Values that a Plan knows before anything runs, and the calls of a graph that remain given these.
#ifndef PDL_IR_PASSES_PLAN_SELECT_H_
#define PDL_IR_PASSES_PLAN_SELECT_H_

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/passes.h"

namespace pdl {

/// Evaluates conditions of a graph: values for which IsKnownToPlan holds.
class Conditions {
 public:
  /// `sizes` and `evaluate` must outlive this.
  Conditions(const Graph& graph, bool training, SymbolLookup sizes, SizedEvaluator evaluate)
      : graph_(graph), training_(training), sizes_(sizes), evaluate_(evaluate) {}

  /// Evaluates a bool[]; nullopt if it depends on an unknown size.
  llvm::Expected<std::optional<bool>> Decide(const Value& condition);

 private:
  llvm::Error Compute(const Value& value);
  bool HasSizes(const Op& op) const;

  const Graph& graph_;
  bool training_;
  SymbolLookup sizes_;
  SizedEvaluator evaluate_;
  /// Nullopt if it depends on an unknown size.
  llvm::DenseMap<const Value*, std::optional<Constant>> values_;
};

/// The size-dependent conditions that some outputs may depend on, and the inputs that determine
/// those sizes.
class SizeConditions {
 public:
  static llvm::Expected<SizeConditions> Find(const Graph& graph,
                                             llvm::ArrayRef<std::string> outputs, bool training,
                                             SizedEvaluator evaluate);

  bool empty() const { return conditions_.empty(); }
  /// The symbols in the conditions.
  llvm::ArrayRef<std::string> symbols() const { return symbols_; }
  /// A dim of an input that contains a symbol.
  struct Source {
    const Value* input;
    unsigned axis;
  };
  /// The dims that determine the symbol of that index; those of inputs that are always given come
  /// first.
  llvm::ArrayRef<Source> sources(size_t symbol) const { return sources_[symbol]; }
  /// The value of each condition: 0, 1, or 2 if a size is not known.
  llvm::Expected<std::vector<uint8_t>> Decide(const Graph& graph, bool training, SymbolLookup sizes,
                                              SizedEvaluator evaluate) const;

 private:
  std::vector<Value*> conditions_;
  std::vector<std::string> symbols_;
  std::vector<std::vector<Source>> sources_;  // by symbol
};

}  // namespace pdl

#endif  // PDL_IR_PASSES_PLAN_SELECT_H_
