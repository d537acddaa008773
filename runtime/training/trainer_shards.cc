// States of optimizers that are divided over the ranks.
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {

llvm::Error Trainer::Impl::ShareOptimizer(const Graph& step) {
  if (!options.shard_optimizer || !is_distributed()) return llvm::Error::success();
  if (options.average > 0)
    return MakeUserError(Code::kTrainingData,
                         "the states of optimizers cannot be sharded together with moving averages "
                         "of the parameters");
  llvm::Expected<SplitStep> split = SplitTrainingStep(step);
  if (!split) return split.takeError();
  const llvm::StringSet<> needed = VariablesToRun(network);
  const auto kind_of = [&](const Value& variable) {
    const Value* own = network.FindValue(variable.name());
    if (!variable.type().has_constant_dims()) return UpdateKind::kCommon;
    if (own != nullptr && own->kind() == ValueKind::kParameter) return UpdateKind::kParameter;
    return needed.contains(variable.name()) ? UpdateKind::kCommon : UpdateKind::kSharded;
  };
  sharding = {ShareUpdates(split->update, options.communicator->size(), kind_of),
              options.communicator->rank(), options.communicator->size()};
  return llvm::Error::success();
}

std::optional<int> Trainer::Impl::KeeperOf(const Value& value) const {
  if (!sharding) return std::nullopt;
  const auto owner = sharding->owners.find(value.name());
  if (owner == sharding->owners.end() || owner->second.is_parameter) return std::nullopt;
  return owner->second.rank;
}

void Trainer::Impl::DropStatesOfOthers() {
  for (const Value* value : step_network->graph().states())
    if (const auto keeper = KeeperOf(*value); keeper && *keeper != sharding->rank)
      scope.Erase(value->name());
}

llvm::Error Trainer::Impl::GatherStates(Snapshot* snapshot) {
  Communicator& ranks = *options.communicator;
  const bool is_first = ranks.rank() == 0;
  struct Messages {
    std::string own;
    std::vector<std::string> received;
  };
  const auto messages = std::make_shared<Messages>();
  auto& [own, received] = *messages;
  received.resize(static_cast<size_t>(ranks.size()));
  std::vector<std::pair<NamedTensor, size_t>> expected;
  for (const Value* value : step_network->graph().states()) {
    const std::optional<int> keeper = KeeperOf(*value);
    if (!keeper || *keeper == 0) continue;
    if (*keeper == ranks.rank()) {
      llvm::Expected<Tensor> tensor = OnHost(*FindTensor(scope, value->name()), context);
      if (!tensor) return tensor.takeError();
      own.append(static_cast<const char*>(tensor->raw()), static_cast<size_t>(tensor->num_bytes()));
    } else if (is_first) {
      Sizes sizes;
      for (const Dim& dim : value->type().dims) sizes.push_back(dim.constant());
      llvm::Expected<Tensor> tensor = Tensor::AllocateUninitialized(value->type().dtype, sizes);
      if (!tensor) return tensor.takeError();
      std::string& bytes = received[static_cast<size_t>(*keeper)];
      bytes.resize(bytes.size() + static_cast<size_t>(tensor->num_bytes()));
      expected.push_back({{value->name(), std::move(*tensor)}, static_cast<size_t>(*keeper)});
    }
  }
  std::vector<SentBytes> send(received.size());
  send[0] = SentBytes(own.data(), own.size());
  std::vector<ReceivedBytes> receive;
  for (std::string& bytes : received) receive.emplace_back(bytes.data(), bytes.size());
  if (llvm::Error error = ranks.KeepIfFailed(ranks.Exchange(send, receive), messages)) return error;
  std::vector<const char*> from;
  for (const std::string& bytes : received) from.push_back(bytes.data());
  for (auto& [named, keeper] : expected) {
    const auto bytes = static_cast<size_t>(named.second.num_bytes());
    if (bytes > 0) std::memcpy(named.second.raw(), from[keeper], bytes);
    from[keeper] += bytes;
    snapshot->tensors.push_back(std::move(named));
  }
  return llvm::Error::success();
}

}  // namespace pdl
