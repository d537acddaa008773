#ifndef PDL_RUNTIME_CONSTANT_CALLS_H_
#define PDL_RUNTIME_CONSTANT_CALLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"
#include "runtime/constant_results.h"

namespace pdl {

/// Finds the calls of a graph whose results are the same in every run, because they depend on
/// nothing but parameters and constants, and computes the results that other calls read, or defers
/// them. They are no steps of the Schedule.
class ConstantCalls {
 public:
  using Evaluate = DeferredCalls::Evaluate;

  /// `training`: the value of calls that ask for it (OpProperties::is_training_flag). `shared`:
  /// null if no other graph uses the results, which are then not deferred.
  ConstantCalls(const Graph& graph, DeviceContext& context, bool training, ConstantResults* shared);

  /// Adds a value that is the same in every run. `name` identifies it among the graphs that share
  /// results.
  void AddSource(const Value* value, llvm::StringRef name, Tensor tensor);
  bool IsSource(const Value* value) const { return sources_.contains(value); }
  /// Finds the constant calls among `ops`, which are in order, and computes their results that
  /// other calls or the end of the run read. Without `folds`, only calls without operands count.
  /// A call remains a step if it cannot be evaluated because of an Error, if its results would take
  /// more memory than the sources that they are computed from, or if there is little memory.
  void Compute(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end, bool folds,
               std::shared_ptr<const Evaluate> evaluate);

  bool contains(const Op* op) const { return constant_.contains(op); }
  /// The results that steps or the end of the run read, in the order of the calls.
  llvm::ArrayRef<std::pair<const Value*, FixedValue>> results() const { return results_; }

 private:
  void FindCandidates(llvm::ArrayRef<const Op*> ops, bool folds);
  bool MayCompute(const Op& op) const;
  /// The memory that is needed at the same time to compute the call and to pack its results.
  int64_t NeededBytes(const Op& op) const;
  /// Removes candidates whose results would have to be kept and are too large.
  void DropLarge(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end);
  void Drop(const Op& op);
  /// Whether a step or the end of the run reads a result.
  bool IsRead(const Value* result, const ValueSet& at_end) const;
  /// Evaluates the candidates that are read, or defers them; returns false if some have failed,
  /// which are no candidates then.
  bool EvaluateAll(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end,
                   const std::shared_ptr<const Evaluate>& evaluate);
  bool MayDefer(const Op& op) const;
  /// Whether deferring the call would keep a large operand instead of its result.
  bool KeepsOperand(const Op& op, const ValueSet& at_end) const;
  void Defer(const Op& op, const ValueSet& at_end, const std::shared_ptr<const Evaluate>& evaluate);
  llvm::Error EvaluateNow(const Op& op, const ValueSet& at_end, const Evaluate& evaluate);
  /// The value of an operand. No call that is evaluated reads a value with a DeferredConstant.
  llvm::Expected<Tensor> TensorOf(const Value* operand, const Evaluate& evaluate);
  std::optional<FixedValue> FindComputed(const Value* value) const;
  /// The FixedValue of a result; one of both is empty.
  FixedValue Shared(const Value* result, Tensor tensor,
                    std::shared_ptr<const DeferredConstant> deferred) const;

  DeviceContext& context_;
  const bool training_;
  ConstantResults* const shared_;
  const std::vector<CallEffects> effects_;
  llvm::DenseSet<const Value*> sources_;
  llvm::DenseSet<const Op*> needed_, constant_, failed_;
  /// Sources, and results while they are read.
  llvm::DenseMap<const Value*, FixedValue> known_;
  /// Deferred results that only the next call reads.
  llvm::DenseMap<const Value*, DeferredCalls> deferred_;
  llvm::DenseMap<const Value*, ConstantResults::Key> keys_;
  /// The bytes of the sources that a constant value is computed from.
  llvm::DenseMap<const Value*, int64_t> source_bytes_;
  /// Large results may take as much memory as all sources together.
  int64_t all_source_bytes_ = 0;
  /// The memory that the limit allows.
  int64_t available_bytes_ = 0;
  std::vector<std::pair<const Value*, FixedValue>> results_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CONSTANT_CALLS_H_
