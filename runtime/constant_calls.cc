#include "runtime/constant_calls.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/op_def.h"
#include "runtime/io/file.h"
#include "runtime/memory.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

/// Results up to this size are kept whatever they are computed from.
constexpr int64_t kSmallBytes = int64_t{16} << 20;
/// Results from this size on are deferred if possible.
constexpr int64_t kDeferredBytes = int64_t{64} << 10;

/// The bytes of a value whose dims are constant.
int64_t BytesOf(const Value* value) {
  int64_t bytes = DTypeSize(value->type().dtype);
  for (const Dim& dim : value->type().dims) bytes = SaturatingProduct({bytes, dim.constant()});
  return bytes;
}

}  // namespace

ConstantCalls::ConstantCalls(const Graph& graph, DeviceContext& context, bool training,
                             ConstantResults* shared)
    : context_(context), training_(training), shared_(shared), effects_(EffectsOfBlocks(graph)) {}

void ConstantCalls::AddSource(const Value* value, llvm::StringRef name, Tensor tensor) {
  if (shared_ != nullptr) keys_[value] = shared_->KeyOf(name);
  sources_.insert(value);
  source_bytes_[value] = tensor.num_bytes();
  all_source_bytes_ = SaturatingSum({all_source_bytes_, tensor.num_bytes()});
  known_[value] = {std::move(tensor)};
}

void ConstantCalls::Compute(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end, bool folds,
                            std::shared_ptr<const Evaluate> evaluate) {
  needed_.insert(ops.begin(), ops.end());
  available_bytes_ = MemoryLimit() - HostMemoryInUse();
  do {
    FindCandidates(ops, folds);
    DropLarge(ops, at_end);
  } while (!EvaluateAll(ops, at_end, evaluate));
  for (const Op* op : ops) {
    if (!contains(op)) continue;
    for (const Value* result : op->results()) {
      if (!IsRead(result, at_end)) continue;
      results_.emplace_back(result, *FindComputed(result));
    }
  }
}

void ConstantCalls::FindCandidates(llvm::ArrayRef<const Op*> ops, bool folds) {
  constant_.clear();
  for (const Op* op : ops) {
    if (!MayCompute(*op) || (!folds && !op->operands().empty())) continue;
    int64_t bytes = 0;
    llvm::SmallVector<ConstantResults::Key, 4> operands;
    const bool are_known = llvm::all_of(op->operands(), [&](const Value* operand) {
      const auto source = source_bytes_.find(operand);
      if (source == source_bytes_.end()) return false;
      bytes = SaturatingSum({bytes, source->second});
      if (shared_ != nullptr) operands.push_back(keys_.lookup(operand));
      return true;
    });
    if (!are_known || NeededBytes(*op) > available_bytes_) continue;
    constant_.insert(op);
    const bool asks = op->def().properties().is_training_flag;
    for (auto [i, result] : llvm::enumerate(op->results())) {
      source_bytes_[result] = bytes;
      if (shared_ == nullptr) continue;
      keys_[result] = asks ? shared_->KeyOf(training_ ? "#training" : "#inference")
                           : shared_->KeyOf(*op, operands) + static_cast<uint32_t>(i);
    }
  }
}

bool ConstantCalls::MayCompute(const Op& op) const {
  if (failed_.contains(&op) || !EffectsOf(op, effects_).IsRepeatable()) return false;
  const OpProperties& properties = op.def().properties();
  if (op.def().kernel(DeviceKind::kCPU) == nullptr && !properties.is_training_flag) return false;
  return IsIndependentOfSizes(op);
}

int64_t ConstantCalls::NeededBytes(const Op& op) const {
  int64_t bytes = 0;
  for (const Value* operand : op.operands())
    if (!sources_.contains(operand)) bytes = SaturatingSum({bytes, BytesOf(operand)});
  // Packing a result takes as much memory again.
  for (const Value* result : op.results())
    bytes = SaturatingSum({bytes, SaturatingProduct({2, BytesOf(result)})});
  return bytes;
}

void ConstantCalls::DropLarge(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end) {
  // Runs need memory, too.
  int64_t bytes_left = std::min(all_source_bytes_, available_bytes_ / 2);
  for (const Op* op : llvm::reverse(ops)) {
    if (!contains(op)) continue;
    int64_t bytes = 0;
    for (const Value* result : op->results())
      if (IsRead(result, at_end)) bytes = SaturatingSum({bytes, BytesOf(result)});
    if (bytes <= kSmallBytes) continue;
    if (bytes <= std::min(source_bytes_.lookup(op->result(0)), bytes_left)) {
      bytes_left -= bytes;
    } else {
      // Its operands are read by a step now.
      Drop(*op);
    }
  }
}

void ConstantCalls::Drop(const Op& op) {
  constant_.erase(&op);
  for (const Value* result : op.results()) source_bytes_.erase(result);
}

bool ConstantCalls::IsRead(const Value* result, const ValueSet& at_end) const {
  return at_end.contains(result) || llvm::any_of(result->uses(), [&](const Value::Use& use) {
           return needed_.contains(use.op) && !contains(use.op);
         });
}

std::optional<FixedValue> ConstantCalls::FindComputed(const Value* value) const {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  if (shared_ == nullptr) return std::nullopt;
  std::optional<Tensor> kept = shared_->Find(keys_.lookup(value), context_.device());
  return kept ? std::optional(Shared(value, std::move(*kept), nullptr)) : std::nullopt;
}

FixedValue ConstantCalls::Shared(const Value* result, Tensor tensor,
                                 std::shared_ptr<const DeferredConstant> deferred) const {
  FixedValue value{std::move(tensor), std::move(deferred)};
  if (shared_ != nullptr && context_.device().kind == DeviceKind::kCPU)
    value.key = keys_.lookup(result);
  return value;
}

bool ConstantCalls::MayDefer(const Op& op) const {
  if (shared_ == nullptr || context_.device().kind != DeviceKind::kCPU || op.results().size() != 1)
    return false;
  // Weights are floating-point, and calls of integers may fail for their values.
  const OpProperties& properties = op.def().properties();
  return (properties.elementwise || properties.moves_elements) && !op.def().check_indices &&
         IsFloat(op.result()->type().dtype) && BytesOf(op.result()) >= kDeferredBytes;
}

bool ConstantCalls::EvaluateAll(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end,
                                const std::shared_ptr<const Evaluate>& evaluate) {
  deferred_.clear();
  // The calls that must be evaluated, and the number of times that each result is read by them.
  llvm::DenseSet<const Op*> missing, may_defer;
  llvm::DenseMap<const Value*, unsigned> reads;
  // Values that a deferred call reads.
  llvm::DenseSet<const Value*> read_later;
  for (const Op* op : llvm::reverse(ops)) {
    if (!contains(op) || !llvm::any_of(op->results(), [&](const Value* result) {
          return !FindComputed(result) && (reads.contains(result) || IsRead(result, at_end));
        }))
      continue;
    missing.insert(op);
    // Each result is read once, so that none is computed twice for the same value.
    const unsigned times = reads.lookup(op->result(0));
    const bool is_read_once = times == 0 || (times == 1 && read_later.contains(op->result(0)) &&
                                             !IsRead(op->result(0), at_end));
    if (is_read_once && MayDefer(*op)) {
      may_defer.insert(op);
      read_later.insert(op->operands().begin(), op->operands().end());
    }
    for (const Value* operand : op->operands()) ++reads[operand];
  }
  // Results of calls that have failed, and of those that read them.
  llvm::DenseSet<const Value*> lacking;
  const auto is_lacking = [&](const Value* value) { return lacking.contains(value); };
  for (const Op* op : ops) {
    if (!missing.contains(op)) continue;
    if (llvm::any_of(op->operands(), is_lacking)) {
      lacking.insert(op->results().begin(), op->results().end());
      continue;
    }
    if (may_defer.contains(op) && !KeepsOperand(*op, at_end)) {
      Defer(*op, at_end, evaluate);
    } else if (llvm::Error error = EvaluateNow(*op, at_end, *evaluate)) {
      // The step reports the error, with its call, if it is computed in a run.
      llvm::consumeError(std::move(error));
      failed_.insert(op);
      lacking.insert(op->results().begin(), op->results().end());
    }
    for (const Value* operand : op->operands())
      if (--reads[operand] == 0 && operand->producer() != nullptr && !IsRead(operand, at_end))
        known_.erase(operand);
  }
  if (lacking.empty()) return true;
  for (const Op* op : ops) {
    if (!contains(op)) continue;
    Drop(*op);
    for (const Value* result : op->results()) known_.erase(result);
  }
  return false;
}

bool ConstantCalls::KeepsOperand(const Op& op, const ValueSet& at_end) const {
  return llvm::any_of(op.operands(), [&](const Value* operand) {
    return operand->producer() != nullptr && !IsRead(operand, at_end) &&
           BytesOf(operand) >= kDeferredBytes && !deferred_.contains(operand);
  });
}

void ConstantCalls::Defer(const Op& op, const ValueSet& at_end,
                          const std::shared_ptr<const Evaluate>& evaluate) {
  DeferredCalls calls;
  for (const Value* operand : op.operands()) {
    if (const auto found = deferred_.find(operand); found != deferred_.end()) {
      calls.Add(std::move(found->second));
      deferred_.erase(found);
    } else {
      calls.AddSource(operand, FindComputed(operand)->tensor);
    }
  }
  calls.Add(op);
  const Value* result = op.result(0);
  if (!IsRead(result, at_end)) {
    deferred_[result] = std::move(calls);
    return;
  }
  known_[result] = Shared(result, {},
                          std::make_shared<const DeferredConstant>(std::move(calls), evaluate,
                                                                   *shared_, keys_.lookup(result)));
}

llvm::Expected<Tensor> ConstantCalls::TensorOf(const Value* operand, const Evaluate& evaluate) {
  if (const auto found = deferred_.find(operand); found != deferred_.end())
    return found->second.Compute(evaluate, context_);
  return FindComputed(operand)->tensor;
}

llvm::Error ConstantCalls::EvaluateNow(const Op& op, const ValueSet& at_end,
                                       const Evaluate& evaluate) {
  llvm::SmallVector<Tensor, 4> operands;
  for (const Value* operand : op.operands()) {
    llvm::Expected<Tensor> tensor = TensorOf(operand, evaluate);
    if (!tensor) return tensor.takeError();
    operands.push_back(std::move(*tensor));
  }
  llvm::Expected<std::vector<Tensor>> computed = evaluate(op, operands, context_);
  if (!computed) return computed.takeError();
  for (auto [result, tensor] : llvm::zip_equal(op.results(), *computed)) {
    if (IsRead(result, at_end) && shared_ != nullptr)
      tensor = shared_->Keep(keys_.lookup(result), tensor);
    known_[result] = Shared(result, std::move(tensor), nullptr);
  }
  for (const Tensor& operand : operands) ReleaseFilePages(operand);
  return llvm::Error::success();
}

}  // namespace pdl
