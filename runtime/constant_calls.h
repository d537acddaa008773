#ifndef PDL_RUNTIME_CONSTANT_CALLS_H_
#define PDL_RUNTIME_CONSTANT_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/attribute.h"
#include "pdl/op/device.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Results of constant calls, shared by the Plans of a Network: each is computed once for each
/// device. Not synchronized.
class ConstantResults {
 public:
  /// Identifies a value. Equal calls with equal operands have equal keys, in whichever graph of the
  /// Network they are.
  using Key = uint32_t;

  /// The key of a value that is known by its name: a parameter.
  Key KeyOf(llvm::StringRef name);
  /// The key of the first result of a call; the keys of its other results follow.
  Key KeyOf(const Op& op, llvm::ArrayRef<Key> operands);
  /// Null if it was not computed.
  const Tensor* Find(Key key, Device device) const;
  void Insert(Key key, Tensor tensor);

 private:
  struct Call {
    const OpDef* def;
    std::vector<AttributeValue> attributes;
    llvm::SmallVector<Key, 4> operands;
    Key key;
  };

  Key next_ = 0;
  std::map<std::string, Key, std::less<>> names_;
  std::unordered_multimap<size_t, Call> calls_;        // by hash
  std::map<std::pair<Key, int64_t>, Tensor> tensors_;  // by key and device
};

/// Finds the calls of a graph whose results are the same in every run, because they depend on
/// nothing but parameters and constants, and computes the results that other calls read. They are
/// no steps of the Schedule.
class ConstantCalls {
 public:
  /// Evaluates a call; its operands and results are on the device of the Plan.
  using Evaluate =
      llvm::function_ref<llvm::Expected<std::vector<Tensor>>(const Op&, llvm::ArrayRef<Tensor>)>;

  /// `training`: the value of calls that ask for it (OpProperties::is_training_flag). `shared`:
  /// null if no other graph uses the results.
  ConstantCalls(const Graph& graph, Device device, bool training, ConstantResults* shared);

  /// Adds a value that is the same in every run. `name` identifies it among the graphs that share
  /// results.
  void AddSource(const Value* value, llvm::StringRef name, Tensor tensor);
  bool IsSource(const Value* value) const { return sources_.contains(value); }
  /// Finds the constant calls among `ops`, which are in order, and computes their results that
  /// other calls or the end of the run read. Without `folds`, only calls without operands count.
  /// A call remains a step if it cannot be evaluated because of an Error, or if its results would
  /// take more memory than the sources that they are computed from.
  void Compute(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end, bool folds,
               Evaluate evaluate);

  bool contains(const Op* op) const { return constant_.contains(op); }
  /// The computed results that steps or the end of the run read, in the order of the calls.
  llvm::ArrayRef<std::pair<const Value*, Tensor>> results() const { return results_; }

 private:
  void FindCandidates(llvm::ArrayRef<const Op*> ops, bool folds);
  bool MayCompute(const Op& op) const;
  /// Removes candidates whose results would have to be kept and are too large.
  void DropLarge(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end);
  void Drop(const Op& op);
  /// Whether a step or the end of the run reads a result.
  bool IsRead(const Value* result, const ValueSet& at_end) const;
  /// Evaluates the candidates that are read; returns false if one has failed.
  bool EvaluateAll(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end, Evaluate evaluate);
  const Tensor* FindComputed(const Value* value) const;

  const Device device_;
  const bool training_;
  ConstantResults* const shared_;
  const std::vector<CallEffects> effects_;
  llvm::DenseSet<const Value*> sources_;
  llvm::DenseSet<const Op*> needed_, constant_, failed_;
  /// The tensors of sources, and of results while they are read.
  llvm::DenseMap<const Value*, Tensor> known_;
  llvm::DenseMap<const Value*, ConstantResults::Key> keys_;
  /// The bytes of the sources that a constant value is computed from.
  llvm::DenseMap<const Value*, int64_t> source_bytes_;
  /// Large results may take as much memory as all sources together.
  int64_t all_source_bytes_ = 0;
  std::vector<std::pair<const Value*, Tensor>> results_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CONSTANT_CALLS_H_
