#ifndef PDL_FRONTEND_ELABORATE_NAME_TABLE_H_
#define PDL_FRONTEND_ELABORATE_NAME_TABLE_H_

#include "frontend/elaborate/elaboration_state.h"

namespace pdl {

class Reporter;

/// Names of the open frame: what they stand for, which are taken, and their full names in the
/// graph.
class NameTable {
 public:
  NameTable(Position& at, Graph& graph, ValueState& values, std::deque<std::string>& saved,
            Reporter& report)
      : at_(at), graph_(graph), values_(values), saved_(saved), report_(report) {}

  /// Reserves the names of the file's values, so that no part of another is called so.
  void CollectNames(llvm::ArrayRef<const ast::Statement*> statements);
  /// Gives a name its value from here on.
  void Assign(llvm::StringRef name, Datum datum);
  /// A view of the text that lasts as long as the elaboration.
  llvm::StringRef Save(const llvm::Twine& text) { return saved_.emplace_back(text.str()); }
  /// The names in the graph of names of this frame; "_" stays.
  llvm::SmallVector<std::string, 1> FullNames(llvm::ArrayRef<ast::Identifier> names) const;
  /// From here on the names are poison.
  void Poison(llvm::ArrayRef<ast::Identifier> names);
  /// From here on a name that nothing has defined is poison; it stays free.
  void PoisonUndefined(llvm::ArrayRef<ast::Identifier> names);
  /// The same for all names that statements which are not elaborated would assign.
  void PoisonAssigned(llvm::ArrayRef<const ast::Statement*> statements);
  /// A new input, parameter, state or attr; false where the name is taken, which was reported.
  bool Declare(const ast::Identifier& name);
  /// A path to parameters that no other call of this frame has.
  std::string TakeWay(llvm::StringRef own, bool is_outermost);
  /// What a state is now: its last update, or itself.
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
