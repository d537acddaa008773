#ifndef PDL_FRONTEND_ELABORATE_NAME_TABLE_H_
#define PDL_FRONTEND_ELABORATE_NAME_TABLE_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Reporter;

/// Names of the current frame: their values, the names that are taken, and their full names in the
/// graph.
class NameTable {
 public:
  NameTable(Position& at, Graph& graph, ValueState& values, std::deque<std::string>& saved,
            Reporter& report)
      : at_(at), graph_(graph), values_(values), saved_(saved), report_(report) {}

  /// Reserves the names of the file's values, so that no derived name clashes with them.
  void CollectNames(llvm::ArrayRef<const ast::Statement*> statements);
  /// Reserves the names of the parameters and states that statements of a layer declare, so that
  /// they do not depend on the names of its intermediate values. Returns their number.
  size_t ReserveVariables(llvm::ArrayRef<const ast::Statement*> statements);
  /// Sets the value of a name from here on.
  void Assign(llvm::StringRef name, Datum datum);
  /// Sets what a name of `layer NAME = …` refers to from here on.
  void AssignLayer(llvm::StringRef name, LayerName layer);
  /// The same without a note in the journal; nullopt: the name is not one of a layer.
  void SetLayer(llvm::StringRef name, const std::optional<LayerName>& layer);
  std::optional<LayerName> FindLayer(llvm::StringRef name) const;
  /// Reports a name of a layer that is another one in each branch of an `if` that a Plan decides,
  /// and returns false then.
  bool CheckLayer(llvm::StringRef name, SourceRange range);
  /// Copies a string into storage that lives as long as the elaboration.
  llvm::StringRef Save(const llvm::Twine& text) { return saved_.emplace_back(text.str()); }
  /// The full names in the graph for names of this frame; "_" stays.
  llvm::SmallVector<std::string, 1> FullNames(llvm::ArrayRef<ast::Identifier> names) const;
  /// Makes the names poison from here on.
  void Poison(llvm::ArrayRef<ast::Identifier> names);
  /// Makes names that are not defined poison from here on; they may still be defined.
  void PoisonUndefined(llvm::ArrayRef<ast::Identifier> names);
  /// The same for all names assigned by statements that are not elaborated.
  void PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements);
  /// Declares an input, parameter, state or attr; reports an error and returns false if the name is
  /// taken.
  bool Declare(const ast::Identifier& name);
  /// A path for parameters that no other call of this frame uses.
  std::string TakePath(llvm::StringRef own, bool is_outermost);
  /// The current value of a state: its last update, or the state itself.
  Value* CurrentState(Value* state);

 private:
  Position& at_;
  Graph& graph_;
  ValueState& values_;
  std::deque<std::string>& saved_;
  Reporter& report_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_NAME_TABLE_H_
