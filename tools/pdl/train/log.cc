#include "tools/pdl/train/log.h"

#include <unistd.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "runtime/io/file.h"
#include "tools/pdl/support/parse_json.h"

namespace pdl {

llvm::Expected<std::unique_ptr<TrainLog>> TrainLog::Open(Options options, int64_t step,
                                                         int64_t epoch) {
  std::unique_ptr<TrainLog> log(new TrainLog(std::move(options)));
  const bool is_several = log->options_.losses.size() > 1;
  for (const std::string& loss : log->options_.losses) {
    log->training_.push_back({is_several ? loss : "training", false, {}});
    log->validation_.push_back({is_several ? loss + ", validation" : "validation", true, {}});
  }
  if (llvm::Error error = log->ReadLines(step, epoch)) return error;
  auto lines = JsonLines::Open(log->options_.folder + "/metrics.jsonl", llvm::sys::fs::OF_Append);
  if (!lines) return lines.takeError();
  log->lines_ = std::move(*lines);
  const double now = TimeOfRecord();
  const std::string events =
      llvm::formatv("{0}/events.out.tfevents.{1}.pdl.{2}", log->options_.folder,
                    static_cast<int64_t>(now), static_cast<int64_t>(getpid()));
  llvm::Expected<EventFile> file = EventFile::Create(events, now);
  if (!file) return file.takeError();
  log->events_.emplace(std::move(*file));
  if (step > 0)
    if (llvm::Error error = log->events_->AddRestart(step + 1, now)) return error;
  return log;
}

namespace {

/// The files in a folder whose names satisfy `is_one`.
llvm::Expected<std::vector<std::string>> FindFilesIn(
    llvm::StringRef folder, llvm::function_ref<bool(llvm::StringRef)> is_one) {
  llvm::Expected<std::vector<std::string>> files = ListFolder(folder);
  if (files)
    llvm::erase_if(
        *files, [&](const std::string& file) { return !is_one(llvm::sys::path::filename(file)); });
  return files;
}

llvm::Error RemoveFiles(llvm::Expected<std::vector<std::string>> files) {
  if (!files) return files.takeError();
  for (const std::string& file : *files)
    if (std::error_code failed = llvm::sys::fs::remove(file)) return CannotWrite(file, failed);
  return llvm::Error::success();
}

constexpr llvm::StringLiteral kFiles[] = {"last.safetensors", "best.safetensors", "metrics.jsonl",
                                          "loss.svg"};

}  // namespace

llvm::Expected<std::vector<std::string>> TrainLog::FilesIn(llvm::StringRef folder) {
  return FindFilesIn(folder, [](llvm::StringRef name) {
    return llvm::is_contained(kFiles, name) ||
           (name.starts_with("events.out.tfevents.") && name.contains(".pdl"));
  });
}

llvm::Error TrainLog::Clear(llvm::StringRef folder) { return RemoveFiles(FilesIn(folder)); }

llvm::Error TrainLog::RemoveTemporaries(llvm::StringRef folder) {
  return RemoveFiles(FindFilesIn(folder, [](llvm::StringRef name) {
    return name.ends_with(".tmp") && llvm::any_of(kFiles, [&](llvm::StringRef file) {
             return name.starts_with(file) && name.drop_front(file.size()).starts_with(".");
           });
  }));
}

llvm::Error TrainLog::ReadLines(int64_t step, int64_t epoch) {
  const std::string path = options_.folder + "/metrics.jsonl";
  llvm::Expected<bool> exists = FileExists(path);
  if (!exists) return exists.takeError();
  if (!*exists) return llvm::Error::success();
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = ReadFile(path);
  if (!buffer) return buffer.takeError();
  std::string kept;
  llvm::StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    const auto [line, after] = rest.split('\n');
    rest = after;
    llvm::Expected<llvm::json::Value> value = ParseJson(line, /*max_depth=*/2);
    if (!value) {
      // An incomplete last line of a run that was killed.
      llvm::consumeError(value.takeError());
      continue;
    }
    const llvm::json::Object* object = value->getAsObject();
    if (object == nullptr || object->getInteger("step").value_or(0) > step) continue;
    const bool is_epoch = object->get("best") != nullptr;
    if (is_epoch && object->getInteger("epoch").value_or(0) > epoch) continue;
    kept += line.str() + "\n";
    Draw(*object);
  }
  if (kept == (*buffer)->getBuffer()) return llvm::Error::success();
  return WriteFileAtomically(path, kept);
}

void TrainLog::Draw(const llvm::json::Object& line) {
  const std::optional<int64_t> step = line.getInteger("step");
  if (!step) return;
  auto add = [&](llvm::StringRef part, std::vector<Curve>& curves) {
    const llvm::json::Object* metrics = line.getObject(part);
    if (metrics == nullptr) return;
    for (size_t i = 0; i < options_.losses.size(); ++i)
      if (std::optional<double> value = metrics->getNumber(options_.losses[i]))
        curves[i].points.emplace_back(*step, *value);
  };
  // The means of an epoch are not points of the training curve.
  if (line.get("best") == nullptr) add("training", training_);
  add("validation", validation_);
}

llvm::Error TrainLog::WriteLine(const llvm::json::Value& line) {
  if (llvm::Error error = lines_->Write(line)) return error;
  Draw(*line.getAsObject());
  return llvm::Error::success();
}

bool TrainLog::IsLogged(int64_t step) const {
  int64_t every = options_.every;
  if (every == 0)
    for (every = 1; step > 200 * every;) every *= 10;
  return step % every == 0;
}

llvm::Error TrainLog::AddStep(const StepReport& report) {
  if (!report.is_skipped && (!IsLogged(report.step) || report.metrics.empty()))
    return llvm::Error::success();
  const double now = TimeOfRecord();
  llvm::json::Object line{{"step", report.step},
                          {"epoch", report.epoch},
                          {"time", now},
                          {"training", ToJson(report.metrics)}};
  std::vector<std::pair<std::string, double>> scalars;
  if (report.loss_scale > 0) {
    line["loss_scale"] = report.loss_scale;
    scalars.emplace_back("loss_scale", report.loss_scale);
  }
  if (report.is_skipped) line["skipped"] = true;
  if (llvm::Error error = WriteLine(std::move(line))) return error;
  for (const Metric& metric : report.metrics)
    scalars.emplace_back("training/" + metric.name, metric.value);
  return events_->AddScalars(report.step, now, scalars);
}

llvm::Error TrainLog::AddEpoch(const EpochReport& report, double rows_per_second) {
  const double now = TimeOfRecord();
  llvm::json::Object line{{"step", report.step},
                          {"epoch", report.epoch},
                          {"time", now},
                          {"rows_per_second", rows_per_second},
                          {"best", report.is_best},
                          {"training", ToJson(report.training)}};
  if (!report.validation.empty()) line["validation"] = ToJson(report.validation);
  if (llvm::Error error = WriteLine(std::move(line))) return error;
  std::vector<std::pair<std::string, double>> scalars = {{"rows_per_second", rows_per_second}};
  for (const Metric& metric : report.training)
    scalars.emplace_back("epoch/" + metric.name, metric.value);
  for (const Metric& metric : report.validation)
    scalars.emplace_back("validation/" + metric.name, metric.value);
  return events_->AddScalars(report.step, now, scalars);
}

llvm::Error TrainLog::Finish() {
  llvm::Error closed = lines_->Close();
  return llvm::joinErrors(WriteCurves(), std::move(closed));
}

llvm::Error TrainLog::WriteCurves() const {
  std::vector<Curve> curves;
  for (size_t i = 0; i < training_.size(); ++i) {
    curves.push_back(training_[i]);
    if (!validation_[i].points.empty()) curves.push_back(validation_[i]);
  }
  return WriteFileAtomically(options_.folder + "/loss.svg", LossCurveSvg(options_.title, curves));
}

}  // namespace pdl
