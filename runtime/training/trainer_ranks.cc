// Communication between the ranks of a distributed run, apart from gradients.
#include <cstring>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "pdl/op/error.h"
#include "pdl/version.h"
#include "runtime/training/trainer_impl.h"

namespace pdl {
namespace {

std::string ToText(const std::optional<Fingerprints>& hashes) {
  std::string text;
  if (hashes)
    for (const auto& [name, hash] : *hashes) text += name + " " + hash + " ";
  return text;
}

/// Broadcasts a string of rank 0, which may have any length.
llvm::Expected<std::string> BroadcastText(llvm::StringRef own, Communicator& communicator) {
  struct Message {
    uint64_t length;
    std::string text;
  };
  const auto message = std::make_shared<Message>(Message{own.size(), own.str()});
  const auto broadcast = [&](void* data, size_t size) {
    return communicator.KeepIfFailed(
        communicator.Broadcast(0, ReceivedBytes(static_cast<char*>(data), size)), message);
  };
  if (llvm::Error error = broadcast(&message->length, sizeof(message->length))) return error;
  message->text.resize(message->length);
  if (llvm::Error error = broadcast(message->text.data(), message->text.size())) return error;
  return std::move(message->text);
}

}  // namespace

llvm::Expected<std::vector<double>> GatherByTurns(llvm::ArrayRef<double> own, size_t width,
                                                  Communicator& communicator) {
  llvm::Expected<std::vector<std::string>> texts = communicator.AllGather(
      llvm::StringRef(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)));
  if (!texts) return texts.takeError();
  size_t bytes = 0;
  for (const std::string& text : *texts) bytes += text.size();
  std::vector<double> all(bytes / sizeof(double));
  const size_t item = width * sizeof(double), ranks = texts->size();
  for (size_t i = 0; width > 0 && i < all.size() / width; ++i)
    std::memcpy(&all[i * width], (*texts)[i % ranks].data() + i / ranks * item, item);
  return all;
}

llvm::Error Trainer::Impl::ErrorOfAll(llvm::Error error) const {
  if (!error || !is_distributed() || options.communicator->rank() == 0) return error;
  llvm::consumeError(std::move(error));
  return llvm::make_error<ReportedByOtherRank>();
}

llvm::Error Trainer::Impl::JoinRanks() {
  if (!is_distributed() || std::exchange(has_joined, true)) return llvm::Error::success();
  if (llvm::Error error = CompareRanks()) return error;
  if (llvm::Error error = JoinDevice()) return error;
  if (llvm::Error error = TakeStateOfRank0()) return error;
  step_begin = std::chrono::steady_clock::now();
  if (!sharding) return llvm::Error::success();
  DropStatesOfOthers();
  const auto sent = std::make_shared<decltype(saves)>(saves);
  const ReceivedBytes bytes(reinterpret_cast<char*>(sent.get()), sizeof(saves));
  llvm::Error error =
      options.communicator->KeepIfFailed(options.communicator->Broadcast(0, bytes), sent);
  if (!error) saves = *sent;
  return error;
}

llvm::Error Trainer::Impl::JoinDevice() {
  if (options.cpu_sums || has_joined_device) return llvm::Error::success();
  if (llvm::Error error = context.JoinRanks(is_distributed() ? options.communicator : nullptr)
                              .moveInto(device_ranks))
    return error;
  has_joined_device = true;
  return llvm::Error::success();
}

llvm::Error Trainer::Impl::CompareRanks() const {
  const std::string length =
      llvm::formatv("{0} epochs, {1} steps, patience {2}, monitor {3}", options.epochs,
                    options.steps, options.patience, options.monitor);
  const std::string states = llvm::formatv("{0} {1}", options.shard_optimizer, options.save_every);
  const std::string checks = llvm::formatv("{0} {1}", options.check_finite, options.check_indices);
  const std::string batches =
      llvm::formatv("{0} {1} {2} {3}", options.batch_size, options.micro_batch, options.shuffle,
                    options.drop_last);
  const bool adds_on_cpu = options.cpu_sums || context.device().kind == DeviceKind::kCPU;
  const std::pair<llvm::StringRef, std::string> facts[] = {
      {"version of pdl", PDL_PLUGIN_VERSION},
      {"network", fingerprint},
      {"data", llvm::formatv("{0} {1}", data.num_rows(), ToText(progress.data))},
      {"validation data", ToText(progress.validation)},
      {"initial weights", ToText(progress.weights)},
      {"seed", std::to_string(options.seed)},
      {"batches", batches},
      {"buckets of gradients", std::to_string(steps.begin()->second.micro_batches->buckets_hash())},
      {"device that adds gradients", adds_on_cpu ? "cpu" : "cuda"},
      {"precision", DTypeName(options.network.precision).str()},
      {"decay of the averages", FloatToString(options.average)},
      {"number of epochs or steps, patience or monitor", length},
      {"checks", checks},
      {"sharding of optimizers, or the steps at which to save", states}};
  llvm::Error error = options.communicator->CheckAgreement(facts);
  return error.isA<UserError>() ? ErrorOfAll(std::move(error)) : std::move(error);
}

llvm::Error Trainer::Impl::TakeStateOfRank0() {
  Communicator& ranks = *options.communicator;
  const bool is_first = ranks.rank() == 0;
  Snapshot snapshot = TakeOwnSnapshot();
  llvm::Expected<std::string> text =
      BroadcastText(is_first ? ProgressToJson(snapshot.progress) : "", ranks);
  if (!text) return text.takeError();
  llvm::json::Array described;
  for (const auto& [name, tensor] : snapshot.tensors)
    described.push_back(llvm::json::Array{name, static_cast<int64_t>(tensor.dtype()),
                                          llvm::json::Array(tensor.sizes())});
  std::string own;
  llvm::raw_string_ostream(own) << llvm::json::Value(std::move(described));
  llvm::Expected<std::string> tensors = BroadcastText(own, ranks);
  if (!tensors) return tensors.takeError();
  llvm::Expected<llvm::json::Value> list = llvm::json::parse(*tensors);
  if (!list) return list.takeError();
  size_t index = 0;
  for (const llvm::json::Value& item : *list->getAsArray()) {
    const llvm::json::Array& each = *item.getAsArray();
    Sizes sizes;
    for (const llvm::json::Value& size : *each[2].getAsArray())
      sizes.push_back(*size.getAsInteger());
    llvm::Expected<Tensor> tensor =
        is_first ? OnHost(snapshot.tensors[index++].second, context)
                 : Tensor::Allocate(static_cast<DType>(*each[1].getAsInteger()), sizes);
    if (!tensor) return tensor.takeError();
    const ReceivedBytes bytes(static_cast<char*>(tensor->raw()),
                              static_cast<size_t>(tensor->num_bytes()));
    if (llvm::Error error =
            ranks.KeepIfFailed(ranks.Broadcast(0, bytes), std::make_shared<Tensor>(*tensor)))
      return error;
    if (!is_first) scope.Create(*each[0].getAsString())->Set(std::move(*tensor));
  }
  if (is_first) return llvm::Error::success();
  std::optional<TrainingProgress> read = ProgressFromJson(*text);
  if (!read) return llvm::make_error<RankError>("the progress that rank 0 sent is broken");
  llvm::Expected<Monitor> parsed = Monitor::Parse(read->watched, names.all);
  if (!parsed) return parsed.takeError();
  monitor = std::move(*parsed);
  progress = std::move(*read);
  has_order = false;
  Network::SetRunCount(&scope, progress.runs);
  return llvm::Error::success();
}

}  // namespace pdl
