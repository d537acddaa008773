#include "runtime/training/checkpoint.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "pdl/train/trainer.h"
#include "runtime/io/file.h"
#include "runtime/io/json_outline.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kProgress("pdl.progress");
constexpr llvm::StringLiteral kNetwork("pdl.network");
/// The first files of version 1 lack it.
constexpr llvm::StringLiteral kVersion("pdl.checkpoint_version");

/// An upper bound for the number of steps, epochs or rows of a run.
constexpr int64_t kMaxCount = int64_t{1} << 53;

// Numbers are stored in JSON as the integers of their bits, so that they are read back exactly.
int64_t ToBits(double value) { return std::bit_cast<int64_t>(value); }
int64_t ToBits(uint64_t value) { return std::bit_cast<int64_t>(value); }

/// The counters of the end of a run, by their names in a file.
template <class Progress>
auto Ends(Progress& progress) {
  return std::array{std::pair(llvm::StringRef("last_epoch"), &progress.last_epoch),
                    std::pair(llvm::StringRef("last_step"), &progress.last_step),
                    std::pair(llvm::StringRef("patience"), &progress.patience)};
}

/// Reads what selects the best epoch; returns false if it is incomplete. `integer` returns the
/// member with a name; its second argument: whether it is a counter.
bool ReadBest(const llvm::json::Object& object,
              llvm::function_ref<int64_t(llvm::StringRef, bool)> integer,
              TrainingProgress* progress) {
  const std::optional<llvm::StringRef> watched = object.getString("watched");
  progress->watched = watched.value_or("").str();
  progress->best.best = std::bit_cast<double>(integer("best", false));
  progress->best.stale = integer("stale", true);
  if (object.get("measured_batch") != nullptr)
    progress->measured_batch = integer("measured_batch", true);
  if (object.get("best_part") != nullptr)
    progress->best_part = std::bit_cast<double>(integer("best_part", false));
  return watched.has_value();
}

}  // namespace

std::string ProgressToJson(const TrainingProgress& progress) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  auto write_hashes = [&](llvm::StringRef name, const std::optional<Fingerprints>& hashes) {
    if (!hashes) return;
    json.attributeObject(name, [&] {
      for (const auto& [array, hash] : *hashes) json.attribute(array, hash);
    });
  };
  json.object([&] {
    json.attribute("step", progress.step);
    json.attribute("epoch", progress.epoch);
    json.attribute("batch", progress.batch);
    json.attribute("runs", ToBits(progress.runs));
    json.attribute("seed", ToBits(progress.seed));
    json.attribute("rows", progress.rows);
    json.attribute("batch_size", progress.batch_size);
    if (progress.micro_batch != 0) json.attribute("micro_batch", progress.micro_batch);
    json.attribute("shuffle", progress.shuffle);
    json.attribute("drop_last", progress.drop_last);
    write_hashes("data", progress.data);
    write_hashes("validation", progress.validation);
    write_hashes("weights", progress.weights);
    json.attribute("precision", DTypeName(progress.precision));
    if (progress.average != 0) json.attribute("average", ToBits(progress.average));
    for (const auto& [name, value] : Ends(progress))
      if (*value != 0) json.attribute(name, std::min(*value, kMaxCount));
    json.attribute("watched", progress.watched);
    json.attribute("best", ToBits(progress.best.best));
    json.attribute("stale", progress.best.stale);
    if (progress.measured_batch != 0) json.attribute("measured_batch", progress.measured_batch);
    if (progress.best_part) json.attribute("best_part", ToBits(*progress.best_part));
    json.attributeArray("sums", [&] {
      for (double sum : progress.sums) json.value(ToBits(sum));
    });
    json.attributeArray("summed_rows", [&] {
      for (int64_t rows : progress.summed_rows) json.value(rows);
    });
  });
  os.flush();
  return text;
}

std::optional<TrainingProgress> ProgressFromJson(llvm::StringRef text) {
  if (OutlineJson(text).depth > 2) return std::nullopt;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  const llvm::json::Object* object = json->getAsObject();
  if (object == nullptr) return std::nullopt;
  TrainingProgress progress;
  bool ok = true;
  // Counters are incremented and multiplied by batch sizes, so they must not be too large.
  auto is_count = [](int64_t value) { return value >= 0 && value <= kMaxCount; };
  auto integer = [&](llvm::StringRef name, bool natural = true) {
    const std::optional<int64_t> value = object->getInteger(name);
    ok &= value.has_value() && (!natural || is_count(*value));
    return value.value_or(0);
  };
  auto truth = [&](llvm::StringRef name) {
    const std::optional<bool> value = object->getBoolean(name);
    ok &= value.has_value();
    return value.value_or(false);
  };
  progress.step = integer("step");
  progress.epoch = integer("epoch");
  progress.batch = integer("batch");
  progress.runs = std::bit_cast<uint64_t>(integer("runs", false));
  progress.seed = std::bit_cast<uint64_t>(integer("seed", false));
  progress.rows = integer("rows");
  progress.batch_size = integer("batch_size");
  if (object->get("micro_batch") != nullptr) progress.micro_batch = integer("micro_batch");
  progress.shuffle = truth("shuffle");
  progress.drop_last = truth("drop_last");
  // Files of earlier versions have no hashes and no precision.
  auto hashes = [&](llvm::StringRef name) -> std::optional<Fingerprints> {
    const llvm::json::Value* value = object->get(name);
    if (value == nullptr) return std::nullopt;
    Fingerprints read;
    ok &= value->getAsObject() != nullptr;
    if (!ok) return std::nullopt;
    for (const auto& [array, hash] : *value->getAsObject()) {
      ok &= hash.getAsString().has_value();
      read[array.str()] = hash.getAsString().value_or("").str();
    }
    return read;
  };
  progress.data = hashes("data");
  progress.validation = hashes("validation");
  progress.weights = hashes("weights");
  const std::optional<DType> precision =
      DTypeFromName(object->getString("precision").value_or("f32"));
  ok &= precision.has_value();
  progress.precision = precision.value_or(DType::kF32);
  if (object->get("average") != nullptr) {
    progress.average = std::bit_cast<double>(integer("average", false));
    ok &= progress.average > 0 && progress.average < 1;
  }
  for (const auto& [name, value] : Ends(progress))
    if (object->get(name) != nullptr) *value = integer(name);
  ok &= ReadBest(*object, integer, &progress);
  auto integers = [&](llvm::StringRef name, auto use) {
    const llvm::json::Array* array = object->getArray(name);
    ok &= array != nullptr;
    for (const llvm::json::Value& each : array ? *array : llvm::json::Array()) {
      const std::optional<int64_t> value = each.getAsInteger();
      ok &= value.has_value();
      use(value.value_or(0));
    }
  };
  integers("sums", [&](int64_t bits) { progress.sums.push_back(std::bit_cast<double>(bits)); });
  integers("summed_rows", [&](int64_t rows) { progress.summed_rows.push_back(rows); });
  ok &= llvm::all_of(progress.summed_rows, is_count);
  if (!ok || progress.sums.size() != progress.summed_rows.size()) return std::nullopt;
  return progress;
}

bool IsCheckpoint(const SafetensorsFile& file) { return !file.FindMetadata(kProgress).empty(); }

llvm::Error WriteCheckpoint(llvm::StringRef path, const Checkpoint& checkpoint) {
  const std::vector<NamedText> metadata = {{kVersion.str(), std::to_string(kCheckpointVersion)},
                                           {kNetwork.str(), checkpoint.network},
                                           {kProgress.str(), ProgressToJson(checkpoint.progress)}};
  return WriteSafetensors(path, checkpoint.tensors, metadata);
}

llvm::Expected<Checkpoint> ReadCheckpoint(llvm::StringRef path) {
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file) return file.takeError();
  if (!IsCheckpoint(*file))
    return MakeUserError(
        Code::kCheckpoint,
        "'{0}' is not a checkpoint: it has tensors, but no metadata about the progress of a run",
        path);
  const llvm::StringRef stored_version = file->FindMetadata(kVersion);
  int version = 1;
  if (!stored_version.empty() && (stored_version.getAsInteger(10, version) || version < 1))
    return CannotRead(path, "its metadata '{0}' is broken", kVersion);
  if (version > kCheckpointVersion)
    return MakeUserError(
        Code::kCheckpoint,
        "'{0}' is a checkpoint of format version {1}, but this version of pdl reads {2}", path,
        version, kCheckpointVersion);
  Checkpoint checkpoint;
  std::optional<TrainingProgress> read = ProgressFromJson(file->FindMetadata(kProgress));
  if (!read) return CannotRead(path, "its metadata '{0}' is broken", kProgress);
  checkpoint.progress = std::move(*read);
  checkpoint.network = file->FindMetadata(kNetwork).str();
  for (const SafetensorsFile::Entry& entry : file->entries())
    checkpoint.tensors.emplace_back(entry.name, Tensor::FromConstant(file->Read(entry)));
  return checkpoint;
}

}  // namespace pdl
