#ifndef PDL_RUNTIME_CONSTANT_RESULTS_H_
#define PDL_RUNTIME_CONSTANT_RESULTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/attribute.h"
#include "pdl/op/device.h"
#include "pdl/op/device_context.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// Results of constant calls, shared by the Plans of a Network. Keys are not synchronized; tensors
/// are.
class ConstantResults {
 public:
  /// Identifies a value. Equal calls with equal operands have equal keys, in whichever graph of the
  /// Network they are.
  using Key = uint32_t;

  /// The key of a value that is known by its name: a parameter.
  Key KeyOf(llvm::StringRef name);
  /// The key of the first result of a call; the keys of its other results follow.
  Key KeyOf(const Op& op, llvm::ArrayRef<Key> operands);
  /// Returns nullopt if the value is not kept.
  std::optional<Tensor> Find(Key key, Device device) const;
  /// Keeps the value for its device. Returns the tensor that is kept.
  Tensor Keep(Key key, Tensor tensor);

 private:
  struct Call {
    const OpDef* def;
    std::vector<AttributeValue> attributes;
    llvm::SmallVector<Key, 4> operands;
    Key key;
  };

  Key next_ = 0;
  std::map<std::string, Key, std::less<>> names_;
  std::unordered_multimap<size_t, Call> calls_;  // by hash
  mutable std::mutex mutex_;
  std::map<std::pair<Key, int64_t>, Tensor> tensors_;  // by key and device
};

class DeferredConstant;

/// A value that is the same in every run.
struct FixedValue {
  /// Empty if the value is deferred.
  Tensor tensor;
  std::shared_ptr<const DeferredConstant> deferred = nullptr;
  /// Identifies a result on the CPU that Plans share.
  std::optional<ConstantResults::Key> key = std::nullopt;
};

/// Calls of which each but the last has one reader, which follows it: a tree.
class DeferredCalls {
 public:
  /// Evaluates a call; operands and results are on the device of the context.
  using Evaluate = std::function<llvm::Expected<std::vector<Tensor>>(
      const Op&, llvm::ArrayRef<Tensor>, DeviceContext&)>;

  /// Adds a value that calls read.
  void AddSource(const Value* value, Tensor tensor);
  /// Adds calls whose last result the next call reads.
  void Add(DeferredCalls calls);
  /// Adds the last call, which has one result; it must outlive this.
  void Add(const Op& op) { ops_.push_back(&op); }
  /// Returns the result of the last call.
  llvm::Expected<Tensor> Compute(const Evaluate& evaluate, DeviceContext& context) const;

 private:
  std::vector<const Op*> ops_;
  llvm::DenseMap<const Value*, Tensor> sources_;
};

/// A large result of constant calls on the CPU, which is computed when it is needed. Kernels that
/// pack a weight need it only while they pack it, so it would take memory for nothing afterwards.
class DeferredConstant {
 public:
  /// `results` must outlive this.
  DeferredConstant(DeferredCalls calls, std::shared_ptr<const DeferredCalls::Evaluate> evaluate,
                   ConstantResults& results, ConstantResults::Key key)
      : calls_(std::move(calls)), evaluate_(std::move(evaluate)), results_(results), key_(key) {}

  /// Returns the value that is kept, or computes it.
  llvm::Expected<Tensor> Get(DeviceContext& context) const;
  /// Keeps a value that Get has returned for all Plans. Returns the tensor that is kept.
  Tensor Keep(Tensor value) const { return results_.Keep(key_, std::move(value)); }

 private:
  const DeferredCalls calls_;
  const std::shared_ptr<const DeferredCalls::Evaluate> evaluate_;
  ConstantResults& results_;
  const ConstantResults::Key key_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_CONSTANT_RESULTS_H_
