#include "tools/pdl/bench/result.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/bench/statistics.h"
#include "tools/pdl/support/parse_json.h"

namespace pdl {
namespace {

/// The version of the form of the file.
constexpr int64_t kVersion = 1;
constexpr double kSignificance = 0.01;

struct Share {
  const char* name;
  double share;
};
constexpr Share kShares[] = {{"min", 0},    {"p50", 0.5},  {"p90", 0.9},
                             {"p95", 0.95}, {"p99", 0.99}, {"max", 1}};

llvm::Error BadFile(llvm::StringRef path, const llvm::Twine& reason) {
  return MakeUserError(Code::kBadFile, "'{0}' is no result of pdl bench: {1}", path, reason.str());
}

llvm::Expected<BenchSettings> ReadSettings(llvm::StringRef path, const llvm::json::Object& object) {
  BenchSettings settings;
  const auto mode = object.getString("mode"), device = object.getString("device");
  const auto streams = object.getInteger("streams"), threads = object.getInteger("threads");
  const llvm::json::Object* sizes = object.getObject("sizes");
  if (!mode || !device || !streams || !threads || !sizes)
    return BadFile(path, "it has no mode, device, streams, threads or sizes");
  settings.mode = mode->str();
  settings.device = device->str();
  // Older files have none.
  if (const auto precision = object.getString("precision")) settings.precision = precision->str();
  if (const auto network = object.getString("network")) settings.network = network->str();
  settings.training = object.getBoolean("training").value_or(false);
  settings.streams = *streams;
  settings.threads = *threads;
  for (const auto& [name, value] : *sizes) {
    const auto size = value.getAsInteger();
    if (!size) return BadFile(path, "the size of '" + name.str() + "' is not an integer");
    settings.sizes[name.str()] = *size;
  }
  return settings;
}

/// Writes the measurements as attributes of an object.
void WriteTimes(const BenchResult& result, llvm::json::OStream& json) {
  std::vector<double> sorted = result.times;
  llvm::sort(sorted);
  json.attribute("runs", static_cast<int64_t>(result.times.size()));
  json.attribute("runs_per_second", result.throughput);
  json.attributeObject("milliseconds", [&] {
    for (const Share& share : kShares) json.attribute(share.name, Percentile(sorted, share.share));
  });
  json.attributeArray("samples", [&] {
    for (double sample : result.samples) json.value(sample);
  });
}

}  // namespace

void WriteResult(const BenchResult& result, const BenchPeer* peer, llvm::raw_ostream& os) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("version", kVersion);
    json.attribute("network", result.settings.network);
    json.attribute("mode", result.settings.mode);
    json.attribute("device", result.settings.device);
    json.attribute("precision", result.settings.precision);
    json.attribute("training", result.settings.training);
    json.attribute("streams", result.settings.streams);
    json.attribute("threads", result.settings.threads);
    json.attributeObject("sizes", [&] {
      for (const auto& [name, size] : result.settings.sizes) json.attribute(name, size);
    });
    WriteTimes(result, json);
    if (peer == nullptr) return;
    json.attributeObject("against", [&] {
      json.attribute("program", peer->program);
      WriteTimes(peer->result, json);
      const BenchChange change = CompareResults(peer->result, result, 0);
      json.attribute("ratio", change.ratio);
      json.attribute("p_value", change.p_value);
    });
  });
  os << '\n';
}

llvm::Expected<BenchResult> ReadResult(llvm::StringRef path) {
  constexpr unsigned kMaxDepth = 8;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = ReadFile(path);
  if (!buffer) return buffer.takeError();
  llvm::Expected<llvm::json::Value> value = ParseJson((*buffer)->getBuffer(), kMaxDepth);
  if (!value) return BadFile(path, llvm::toString(value.takeError()));
  const llvm::json::Object* object = value->getAsObject();
  if (object == nullptr || object->getInteger("version") != kVersion)
    return BadFile(path, "it has no version " + llvm::Twine(kVersion));
  llvm::Expected<BenchSettings> settings = ReadSettings(path, *object);
  if (!settings) return settings.takeError();
  BenchResult result;
  result.settings = std::move(*settings);
  result.throughput = object->getNumber("runs_per_second").value_or(0);
  const llvm::json::Array* samples = object->getArray("samples");
  if (samples == nullptr || samples->empty()) return BadFile(path, "it has no samples");
  for (const llvm::json::Value& sample : *samples) {
    const auto number = sample.getAsNumber();
    if (!number || !std::isfinite(*number) || *number <= 0)
      return BadFile(path, "a sample is not a time");
    result.samples.push_back(*number);
  }
  return result;
}

void PrintResult(const BenchResult& result, llvm::raw_ostream& os) {
  std::vector<double> sorted = result.times;
  llvm::sort(sorted);
  const BenchSettings& settings = result.settings;
  os << llvm::formatv("{0} {1} on {2}, {3} {4} of {5} {6}\n", sorted.size(),
                      sorted.size() == 1 ? "run" : "runs", settings.device, settings.streams,
                      settings.streams == 1 ? "stream" : "streams", settings.threads,
                      settings.threads == 1 ? "thread" : "threads");
  for (const Share& share : kShares)
    os << llvm::formatv("  {0} {1,12:f4} ms\n", share.name, Percentile(sorted, share.share));
  os << llvm::formatv("  {0:f2} runs per second\n", result.throughput);
}

BenchChange CompareResults(const BenchResult& old_result, const BenchResult& new_result,
                           double tolerance) {
  BenchChange change;
  change.ratio = Median(new_result.samples) / Median(old_result.samples);
  change.p_value = RankSumPValue(old_result.samples, new_result.samples);
  const bool is_significant = change.p_value < kSignificance;
  change.is_slower = is_significant && change.ratio > 1 + tolerance;
  change.is_faster = is_significant && change.ratio < 1 / (1 + tolerance);
  return change;
}

llvm::Error CheckSameSettings(const BenchSettings& old_settings,
                              const BenchSettings& new_settings) {
  auto differs = [](const char* what, const std::string& before, const std::string& now) {
    return MakeUserError(Code::kInputType, "the baseline has another {0}: {1}, not {2}", what,
                         before, now);
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  // A version of the network may be in another folder, or come from standard input.
  const auto is_other = [](llvm::StringRef a, llvm::StringRef b) {
    const auto is_named = [](llvm::StringRef path) { return !path.empty() && path != "-"; };
    return is_named(a) && is_named(b) &&
           llvm::sys::path::filename(a) != llvm::sys::path::filename(b);
  };
  if (is_other(old_settings.network, new_settings.network))
    return differs("network", old_settings.network, new_settings.network);
  if (old_settings.mode != new_settings.mode)
    return differs("mode", old_settings.mode, new_settings.mode);
  if (old_settings.device != new_settings.device)
    return differs("device", old_settings.device, new_settings.device);
  if (old_settings.precision != new_settings.precision)
    return differs("precision", old_settings.precision, new_settings.precision);
  if (old_settings.training != new_settings.training)
    return differs("value of --training", old_settings.training ? "true" : "false",
                   new_settings.training ? "true" : "false");
  if (old_settings.streams != new_settings.streams)
    return differs("number of streams", number(old_settings.streams), number(new_settings.streams));
  if (old_settings.threads != new_settings.threads)
    return differs("number of threads", number(old_settings.threads), number(new_settings.threads));
  auto sizes = [](const BenchSettings& settings) {
    std::string text;
    for (const auto& [name, size] : settings.sizes)
      text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(size);
    return text.empty() ? std::string("none") : text;
  };
  if (old_settings.sizes != new_settings.sizes)
    return differs("set of sizes", sizes(old_settings), sizes(new_settings));
  return llvm::Error::success();
}

}  // namespace pdl
