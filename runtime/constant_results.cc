#include "runtime/constant_results.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/io/file.h"

namespace pdl {
namespace {

int64_t NumberOf(Device device) {
  return int64_t{device.index} * kNumDeviceKinds + static_cast<int64_t>(device.kind);
}

}  // namespace

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

std::optional<Tensor> ConstantResults::Find(Key key, Device device) const {
  std::lock_guard lock(mutex_);
  const auto found = tensors_.find({key, NumberOf(device)});
  return found == tensors_.end() ? std::nullopt : std::optional(found->second);
}

Tensor ConstantResults::Keep(Key key, Tensor tensor) {
  const std::pair place(key, NumberOf(tensor.device()));
  std::lock_guard lock(mutex_);
  return tensors_.try_emplace(place, std::move(tensor)).first->second;
}

void DeferredCalls::AddSource(const Value* value, Tensor tensor) {
  sources_.try_emplace(value, std::move(tensor));
}

void DeferredCalls::Add(DeferredCalls calls) {
  // The shorter list is appended, so that this takes O(n log n) for all n calls of a tree, and so
  // that few values exist at the same time.
  if (calls.ops_.size() > ops_.size()) std::swap(calls, *this);
  ops_.insert(ops_.end(), calls.ops_.begin(), calls.ops_.end());
  for (auto& [value, tensor] : calls.sources_) AddSource(value, std::move(tensor));
}

llvm::Expected<Tensor> DeferredCalls::Compute(const Evaluate& evaluate,
                                              DeviceContext& context) const {
  llvm::DenseMap<const Value*, Tensor> computed;
  for (const Op* op : ops_) {
    llvm::SmallVector<Tensor, 4> operands;
    for (const Value* operand : op->operands()) {
      if (const auto found = computed.find(operand); found != computed.end()) {
        operands.push_back(std::move(found->second));
        computed.erase(found);
      } else {
        operands.push_back(sources_.lookup(operand));
      }
    }
    llvm::Expected<std::vector<Tensor>> results = evaluate(*op, operands, context);
    if (!results) return results.takeError();
    for (const Tensor& operand : operands) ReleaseFilePages(operand);
    computed[op->result(0)] = std::move(results->front());
  }
  return std::move(computed[ops_.back()->result(0)]);
}

llvm::Expected<Tensor> DeferredConstant::Get(DeviceContext& context) const {
  if (std::optional<Tensor> kept = results_.Find(key_, context.device())) return std::move(*kept);
  return calls_.Compute(*evaluate_, context);
}

}  // namespace pdl
