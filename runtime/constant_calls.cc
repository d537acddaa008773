#include "runtime/constant_calls.h"

#include <algorithm>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/op_def.h"
#include "runtime/io/file.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

/// Results up to this size are kept whatever they are computed from.
constexpr int64_t kSmallBytes = int64_t{16} << 20;

int64_t NumberOf(Device device) {
  return int64_t{device.index} * kNumDeviceKinds + static_cast<int64_t>(device.kind);
}

/// The bytes of a value whose dims are constant.
int64_t BytesOf(const Value* value) {
  int64_t bytes = DTypeSize(value->type().dtype);
  for (const Dim& dim : value->type().dims) bytes = SaturatingProduct({bytes, dim.constant()});
  return bytes;
}

}  // namespace

// --- Results that Plans share -------------------------------------------------------------------

ConstantResults::Key ConstantResults::KeyOf(llvm::StringRef name) {
  const auto [entry, is_new] = names_.try_emplace(name.str(), next_);
  next_ += is_new;
  return entry->second;
}

ConstantResults::Key ConstantResults::KeyOf(const Op& op, llvm::ArrayRef<Key> operands) {
  llvm::hash_code hash =
      llvm::hash_combine(&op.def(), llvm::hash_combine_range(operands.begin(), operands.end()));
  for (const AttributeValue& value : op.attribute_values())
    hash = llvm::hash_combine(hash, HashAttribute(value));
  const auto [first, last] = calls_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    const Call& call = entry->second;
    if (call.def == &op.def() && operands.equals(call.operands) &&
        llvm::equal(call.attributes, op.attribute_values(), Identical))
      return call.key;
  }
  const Key key = next_;
  next_ += static_cast<Key>(op.results().size());
  calls_.emplace(
      hash, Call{&op.def(), op.attribute_values().vec(), llvm::SmallVector<Key, 4>(operands), key});
  return key;
}

const Tensor* ConstantResults::Find(Key key, Device device) const {
  const auto found = tensors_.find({key, NumberOf(device)});
  return found == tensors_.end() ? nullptr : &found->second;
}

void ConstantResults::Insert(Key key, Tensor tensor) {
  const int64_t device = NumberOf(tensor.device());
  tensors_.try_emplace({key, device}, std::move(tensor));
}

// --- Constant calls of a graph ------------------------------------------------------------------

ConstantCalls::ConstantCalls(const Graph& graph, Device device, bool training,
                             ConstantResults* shared)
    : device_(device), training_(training), shared_(shared), effects_(EffectsOfBlocks(graph)) {}

void ConstantCalls::AddSource(const Value* value, llvm::StringRef name, Tensor tensor) {
  if (shared_ != nullptr) keys_[value] = shared_->KeyOf(name);
  sources_.insert(value);
  source_bytes_[value] = tensor.num_bytes();
  all_source_bytes_ = SaturatingSum({all_source_bytes_, tensor.num_bytes()});
  known_[value] = std::move(tensor);
}

void ConstantCalls::Compute(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end, bool folds,
                            Evaluate evaluate) {
  needed_.insert(ops.begin(), ops.end());
  do {
    FindCandidates(ops, folds);
    DropLarge(ops, at_end);
  } while (!EvaluateAll(ops, at_end, evaluate));
  for (const Op* op : ops) {
    if (!contains(op)) continue;
    for (const Value* result : op->results()) {
      if (!IsRead(result, at_end)) continue;
      const Tensor* tensor = FindComputed(result);
      results_.emplace_back(result, *tensor);
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
    if (!are_known) continue;
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

void ConstantCalls::DropLarge(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end) {
  int64_t bytes_left = all_source_bytes_;
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

const Tensor* ConstantCalls::FindComputed(const Value* value) const {
  if (const auto found = known_.find(value); found != known_.end()) return &found->second;
  return shared_ == nullptr ? nullptr : shared_->Find(keys_.lookup(value), device_);
}

bool ConstantCalls::EvaluateAll(llvm::ArrayRef<const Op*> ops, const ValueSet& at_end,
                                Evaluate evaluate) {
  // The calls that must be evaluated, and the number of times that each result is read by them.
  llvm::DenseSet<const Op*> missing;
  llvm::DenseMap<const Value*, unsigned> reads;
  for (const Op* op : llvm::reverse(ops)) {
    if (!contains(op) || !llvm::any_of(op->results(), [&](const Value* result) {
          return FindComputed(result) == nullptr &&
                 (reads.contains(result) || IsRead(result, at_end));
        }))
      continue;
    missing.insert(op);
    for (const Value* operand : op->operands()) ++reads[operand];
  }
  for (const Op* op : ops) {
    if (!missing.contains(op)) continue;
    llvm::SmallVector<Tensor, 4> operands;
    for (const Value* operand : op->operands()) operands.push_back(*FindComputed(operand));
    llvm::Expected<std::vector<Tensor>> computed = evaluate(*op, operands);
    if (!computed) {
      // The step reports the error, with its call, if it is computed in a run.
      llvm::consumeError(computed.takeError());
      failed_.insert(op);
      for (const Op* each : ops)
        if (contains(each)) Drop(*each);
      return false;
    }
    for (auto [result, tensor] : llvm::zip_equal(op->results(), *computed)) {
      if (IsRead(result, at_end) && shared_ != nullptr)
        shared_->Insert(keys_.lookup(result), tensor);
      known_[result] = std::move(tensor);
    }
    for (const Value* operand : op->operands()) {
      if (--reads[operand] > 0 || IsRead(operand, at_end)) continue;
      if (operand->producer() != nullptr) {
        known_.erase(operand);
      } else {
        ReleaseFilePages(*FindComputed(operand));
      }
    }
  }
  return true;
}

}  // namespace pdl
