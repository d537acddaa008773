#include "tools/pdl/bisect/reduce.h"

#include <algorithm>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/load.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/bisect/assembler.h"
#include "tools/pdl/bisect/delta_debug.h"

namespace pdl {
namespace {

/// The most parts of a network that Reduce tries to run.
constexpr int kMaxTried = 1000;

/// The calls that a value is computed by, nearest first.
llvm::SmallVector<const Op*, 0> CallsBefore(const Value* target) {
  llvm::SetVector<const Op*> calls;
  for (const Value* value : BackwardSlice({const_cast<Value*>(target)}))
    if (value->producer() != nullptr) calls.insert(value->producer());
  return calls.takeVector();
}

/// A network that was saved, with the inputs next to it.
llvm::Expected<FedNetwork> ReadBack(llvm::StringRef path, const CommonOptions& common,
                                    bool has_inputs) {
  Side side;
  side.path = path.str();
  side.options = common;
  side.options.settings.clear();
  side.options.sizes.clear();
  side.options.weights.clear();
  side.options.folder.clear();
  side.options.training_step = false;
  side.options.precision.clear();
  if (llvm::Error error = Open(side)) return error;
  RunInputs inputs;
  if (has_inputs)
    if (llvm::Error error = inputs.Add(InputsPath(path))) return error;
  if (llvm::Error error = FeedOne(inputs, side)) return error;
  return ToFedNetwork(side);
}

}  // namespace

llvm::Expected<bool> FalseIfUserError(llvm::Error error) {
  if (llvm::Error other =
          llvm::handleErrors(std::move(error), [](const UserError&) {}, [](const CallError&) {}))
    return other;
  return false;
}

llvm::Expected<std::optional<FedNetwork>> Reduce(const FedNetwork& from, const Value* target,
                                                 const RunSetup& setup, ShowsIt shows) {
  const llvm::SmallVector<const Op*, 0> calls = CallsBefore(target);
  llvm::StringMap<Tensor> recorded;
  const auto extract = [&](llvm::ArrayRef<size_t> subset) {
    llvm::DenseSet<const Op*> kept = {calls.front()};
    for (const size_t i : subset) kept.insert(calls[i + 1]);
    return ExtractCalls(from, kept, target, recorded);
  };
  int tried = 0;
  const auto shows_subset = [&](llvm::ArrayRef<size_t> subset) -> llvm::Expected<bool> {
    if (++tried > kMaxTried) return false;
    llvm::Expected<FedNetwork> part = extract(subset);
    if (!part) return FalseIfUserError(part.takeError());
    return shows(*part);
  };
  // The nearest calls: one, two, four and so on until they show it.
  std::vector<size_t> subset;
  for (size_t count = 1;; count = std::min(2 * count, calls.size())) {
    llvm::SetVector<const Value*> values;
    for (const Op* op : llvm::ArrayRef(calls).take_front(count)) {
      values.insert(op->operands().begin(), op->operands().end());
      values.insert(op->results().begin(), op->results().end());
    }
    // Values that a Plan knows are not recorded, but computed again.
    for (size_t i = 0; i < values.size(); ++i)
      if (IsKnownToPlan(values[i]) && values[i]->producer() != nullptr)
        values.insert(values[i]->producer()->operands().begin(),
                      values[i]->producer()->operands().end());
    auto seen = RecordValues(from, setup, values.getArrayRef());
    if (!seen) return seen.takeError();
    recorded = std::move(*seen);
    subset.clear();
    for (size_t i = 0; i + 1 < count; ++i) subset.push_back(i);
    llvm::Expected<bool> shown = shows_subset(subset);
    if (!shown) return shown.takeError();
    if (*shown) break;
    if (count == calls.size()) return std::nullopt;
  }
  if (!subset.empty()) {
    llvm::Expected<std::vector<size_t>> fewest = DeltaDebug(subset.size(), shows_subset);
    if (!fewest) return fewest.takeError();
    subset = std::move(*fewest);
  }
  llvm::Expected<FedNetwork> part = extract(subset);
  if (!part) return part.takeError();
  return std::optional(std::move(*part));
}

std::string InputsPath(llvm::StringRef path) {
  llvm::SmallString<128> inputs(path);
  llvm::sys::path::replace_extension(inputs, ".npz");
  return std::string(inputs);
}

llvm::Error WriteAndCheck(const FedNetwork& fed, llvm::StringRef path, const RunSetup& setup,
                          const CommonOptions& common, ShowsIt shows) {
  auto network = MakeNetwork(fed, setup);
  if (!network) return network.takeError();
  if (llvm::Error error = SaveNetwork(**network, path, {})) return error;
  std::vector<NamedTensor> inputs;
  for (const Value* input : fed.graph.inputs())
    inputs.emplace_back(input->name(), fed.inputs.lookup(input->name()));
  if (!inputs.empty())
    if (llvm::Error error = WriteNpz(InputsPath(path), inputs)) return error;
  llvm::Expected<FedNetwork> saved = ReadBack(path, common, !inputs.empty());
  if (!saved) return saved.takeError();
  saved->precision = fed.precision;
  llvm::Expected<bool> shown = shows(*saved);
  if (!shown) return shown.takeError();
  if (*shown) return llvm::Error::success();
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      "'" + path + "' was written, but does not show it when it is read back");
}

}  // namespace pdl
