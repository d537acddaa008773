#include "tools/pdl/train/console.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

using namespace std::chrono_literals;
constexpr auto kBetweenBars = 100ms;
constexpr auto kBetweenLines = 10s;
constexpr int kBarWidth = 20;

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Joins strings other than empty ones, such as the metrics of a network that has none.
std::string Joined(std::vector<std::string> texts, llvm::StringRef separator) {
  llvm::erase(texts, "");
  return llvm::join(texts, separator);
}

}  // namespace

std::string DurationToString(double seconds) {
  const int64_t whole = static_cast<int64_t>(std::ceil(seconds));
  char text[48];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%d:%02d", static_cast<int>(whole / 60),
                  static_cast<int>(whole % 60));
  } else {
    std::snprintf(text, sizeof text, "%lld:%02d:%02d", static_cast<long long>(whole / 3600),
                  static_cast<int>(whole / 60 % 60), static_cast<int>(whole % 60));
  }
  return text;
}

std::string MetricsToString(llvm::ArrayRef<Metric> metrics) {
  std::string text;
  for (const Metric& metric : metrics) {
    char number[32];
    // The sign of a nan has no meaning.
    std::snprintf(number, sizeof number, "%.4g",
                  std::isnan(metric.value) ? std::fabs(metric.value) : metric.value);
    if (!text.empty()) text += ", ";
    text += metric.name;
    text += ' ';
    text += number;
  }
  return text;
}

std::string GroupedToString(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

TrainConsole::TrainConsole(Options options)
    : options_(options),
      begin_(Clock::now()),
      epoch_begin_(begin_),
      epoch_end_(begin_),
      last_shown_(begin_) {}

double TrainConsole::RowsPerSecond() const {
  const double seconds = Seconds(epoch_end_ - epoch_begin_);
  return seconds > 0 ? static_cast<double>(epoch_rows_) / seconds : 0;
}

std::string TrainConsole::Speed() const {
  return GroupedToString(std::llround(RowsPerSecond())) + " rows/s";
}

std::string TrainConsole::TimeLeft(int64_t step) const {
  int64_t last = options_.steps;
  if (options_.epochs > 0) {
    const int64_t end = options_.epochs * options_.batches;
    last = last > 0 ? std::min(last, end) : end;
  }
  const int64_t done = step - options_.first_step;
  if (last <= step || done == 0) return "";
  const double seconds =
      Seconds(Clock::now() - begin_) / static_cast<double>(done) * static_cast<double>(last - step);
  return ", " + DurationToString(seconds) + " left";
}

void TrainConsole::ShowStep(const StepReport& report) {
  epoch_rows_ += report.rows;
  ++epoch_steps_;
  epoch_skipped_ += report.is_skipped ? 1 : 0;
  num_skipped_ += report.is_skipped ? 1 : 0;
  const auto now = epoch_end_ = Clock::now();
  if (options_.is_quiet || options_.is_silent ||
      (options_.is_terminal ? now - last_shown_ < kBetweenBars : now - last_shown_ < kBetweenLines))
    return;
  last_shown_ = now;
  std::string line = "epoch " + std::to_string(report.epoch);
  if (options_.epochs > 0) line += "/" + std::to_string(options_.epochs);
  if (options_.is_terminal) {
    const int64_t full = kBarWidth * report.batch / std::max<int64_t>(1, report.batches);
    line += " [";
    for (int64_t i = 0; i < kBarWidth; ++i) line += i < full ? '=' : i == full ? '>' : ' ';
    line += "]";
  }
  line += " " + std::to_string(report.batch) + "/" + std::to_string(report.batches) + ": " +
          Joined({MetricsToString(report.metrics), Speed()}, ", ") + TimeLeft(report.step);
  if (!options_.is_terminal) {
    llvm::errs() << line << '\n';
    return;
  }
  // A line that is wrapped could not be erased.
  const unsigned columns = llvm::sys::Process::StandardErrColumns();
  if (columns > 1 && line.size() >= columns) line.resize(columns - 1);
  llvm::errs() << '\r' << line << "\033[K";
  has_bar_ = true;
}

void TrainConsole::Erase() {
  if (has_bar_) llvm::errs() << "\r\033[K";
  has_bar_ = false;
}

void TrainConsole::ShowEpoch(const EpochReport& report) {
  Erase();
  std::string line = "epoch " + std::to_string(report.epoch);
  if (options_.epochs > 0) line += "/" + std::to_string(options_.epochs);
  std::string validation = MetricsToString(report.validation);
  if (!validation.empty()) validation = "validation: " + validation;
  if (!report.is_complete())
    line += " (" + GroupedToString(report.batches_done) + " of " + GroupedToString(report.batches) +
            " batches)";
  const std::string skipped = epoch_skipped_ == 0
                                  ? ""
                                  : GroupedToString(epoch_skipped_) + " of " +
                                        GroupedToString(epoch_steps_) + " steps skipped";
  line += ": " + Joined({MetricsToString(report.training), validation, skipped, Speed()}, "; ");
  if (!options_.is_quiet) line += TimeLeft(report.step);
  if (report.is_best) line += " (best)";
  if (!options_.is_silent) llvm::errs() << line << '\n';
  epoch_begin_ = last_shown_ = Clock::now();
  epoch_rows_ = epoch_steps_ = epoch_skipped_ = 0;
}

}  // namespace pdl
