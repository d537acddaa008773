#ifndef PDL_IR_DIFFER_H_
#define PDL_IR_DIFFER_H_

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/diff.h"

namespace pdl {

/// A block without the names of its results, for comparison with a block of another graph.
std::string BlockText(const Graph& graph, BlockId id);

/// Compares two graphs. Single use. diff_match.cc matches calls, diff.cc finds the differences of
/// matched calls.
class Differ {
 public:
  Differ(const Graph& before, const Graph& after) : before_(before), after_(after) {}

  std::vector<Difference> Run() {
    CompareConstraints();
    MatchAll();
    CompareCalls();
    CompareUpdates();
    CompareOutputs();
    CompareTrainings();
    return std::move(result_);
  }

  /// The matched calls, in the order of the new graph.
  std::vector<std::pair<const Op*, const Op*>> Pairs() {
    MatchAll();
    std::vector<std::pair<const Op*, const Op*>> pairs;
    for (const Op* op : after_.ops())
      if (const Op* other = match_.lookup(op)) pairs.emplace_back(other, op);
    return pairs;
  }

 private:
  void Add(DifferenceKind kind, DifferenceSubject subject, std::string text,
           std::vector<std::string> changes = {}, llvm::StringRef name = "") {
    result_.push_back({kind, subject, std::move(text), std::move(changes), name.str()});
  }
  void MatchValues(const Value* before, const Value* after) {
    after_of_[before] = after;
    before_of_[after] = before;
  }
  bool AreSame(const Value* before, const Value* after) const {
    return after_of_.lookup(before) == after;
  }

  /// Compares and matches inputs, parameters and states, then matches calls.
  void MatchAll() {
    CompareValues(DifferenceSubject::kInput, before_.inputs(), after_.inputs());
    CompareValues(DifferenceSubject::kParameter, before_.parameters(), after_.parameters());
    CompareValues(DifferenceSubject::kState, before_.states(), after_.states());
    MatchCalls();
  }
  void CompareConstraints();
  void CompareValues(DifferenceSubject subject, llvm::ArrayRef<Value*> before,
                     llvm::ArrayRef<Value*> after);
  std::vector<std::string> VariableChanges(const Value& before, const Value& after) const;

  void MatchCalls();
  void MatchForward();
  void MatchByName(bool same_type);
  void MatchBySequence();
  void Match(const Op* before, const Op* after);
  bool AreAlike(const Op& before, const Op& after) const;
  bool IsMatched(const Op* op) const { return match_.contains(op); }
  bool HaveEqualAttributes(const Op& before, const Op& after) const;
  std::string Key(const Op& op, bool is_after) const;
  void CompareCalls();
  std::vector<std::string> CallChanges(const Op& before, const Op& after) const;
  void CompareUpdates();
  void CompareOutputs();
  void CompareTrainings();
  std::vector<std::string> TrainingChanges(const GraphTraining& before,
                                           const GraphTraining& after) const;
  void CompareOrder(DifferenceSubject subject, llvm::ArrayRef<llvm::StringRef> before,
                    llvm::ArrayRef<llvm::StringRef> after);

  const Graph& before_;
  const Graph& after_;
  std::vector<Difference> result_;
  llvm::DenseMap<const Value*, const Value*> after_of_, before_of_;
  llvm::DenseMap<const Op*, const Op*> match_;  // in both directions
};

}  // namespace pdl

#endif  // PDL_IR_DIFFER_H_
