#include "pdl/runtime/profile_report.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "pdl/compiler/file_position.h"
#include "runtime/memory.h"
#include "runtime/profile_format.h"

namespace pdl {
namespace {

/// The least time for the work of one call, and whether the operations determine it.
std::pair<double, bool> LeastTime(const CallDescription& call, const DevicePeak& peak) {
  const CallCost& cost = call.cost;
  const bool has_bf16_peak = call.matmul_precision == DType::kBF16 && peak.bf16_operations > 0;
  const bool is_cached = cost.bytes <= static_cast<double>(peak.cache_size);
  const double compute = cost.operations / (has_bf16_peak ? peak.bf16_operations : peak.operations);
  const double memory = cost.bytes / (is_cached ? peak.cache_bytes : peak.memory_bytes);
  return {std::max(compute, memory), compute > memory};
}

/// The innermost position of a path without the column: "model.pdl:3".
std::string LineOf(llvm::StringRef path) {
  const FilePosition position = FilePositionsOf(path).back();
  return position.line == 0 ? position.file.str()
                            : position.file.str() + ":" + std::to_string(position.line);
}

std::string NameOf(const RunProfile::Step& step, ProfileBy by) {
  switch (by) {
    case ProfileBy::kCall:
      return step.result.empty() ? step.calls : step.calls + " -> " + step.result;
    case ProfileBy::kOp:
      return step.calls;
    case ProfileBy::kLine:
      return step.place.empty() ? "(no line)" : LineOf(step.place);
    case ProfileBy::kLayer:
      return step.layer.empty() ? "(no layer)" : step.layer;
  }
  return "";
}

}  // namespace

std::string TimeOf(double seconds) {
  if (seconds >= 1) return llvm::formatv("{0:f3} s", seconds);
  if (seconds >= 1e-3) return llvm::formatv("{0:f3} ms", seconds * 1e3);
  return llvm::formatv("{0:f3} us", seconds * 1e6);
}

std::string Giga(double per_second) {
  return per_second > 0 ? llvm::formatv("{0:f1}", per_second * 1e-9).str() : "-";
}

std::string Percent(double fraction) { return llvm::formatv("{0:f1}", 100 * fraction); }

std::string BoundOf(const ProfileReport::Row& row) {
  if (row.of_bound == 0) return "-";
  return row.is_bound_by_compute ? "compute" : "memory";
}

ProfileReport::ProfileReport(const TimedRuns& runs, std::optional<DevicePeak> peak, ProfileBy by)
    : peak_(peak), runs_(runs.runs()) {
  const double count = static_cast<double>(std::max<int64_t>(1, runs.runs()));
  seconds_ = runs.seconds() / count;
  struct Bounds {
    double compute = 0, memory = 0;
  };
  llvm::StringMap<size_t> index;
  std::vector<Bounds> bounds_of;  // by row
  Bounds total;
  for (const RunProfile::Step& step : runs.steps().steps()) {
    const auto [entry, is_new] = index.try_emplace(NameOf(step, by), rows_.size());
    if (is_new) {
      bounds_of.emplace_back();
      rows_.emplace_back().name = entry->getKey().str();
      if (by == ProfileBy::kCall) rows_.back().place = step.place;
      if (by == ProfileBy::kCall) rows_.back().layer = step.layer;
    }
    Row& row = rows_[entry->second];
    Bounds& bounds = bounds_of[entry->second];
    const double calls = static_cast<double>(step.runs) / count;
    for (Row* sum : {&row, &total_}) {
      sum->seconds += step.seconds / count;
      sum->calls += calls;
      sum->cost.operations += step.cost.operations * calls;
      sum->cost.bytes += step.cost.bytes * calls;
    }
    if (!peak_) continue;
    const auto [bound, is_compute] = LeastTime(step, *peak_);
    for (Bounds* sum : {&bounds, &total})
      (is_compute ? sum->compute : sum->memory) += bound * calls;
  }
  const auto finish = [&](Row* row, const Bounds& bounds) {
    if (seconds_ > 0) row->share = row->seconds / seconds_;
    if (row->seconds > 0) row->of_bound = (bounds.compute + bounds.memory) / row->seconds;
    row->is_bound_by_compute = bounds.compute > bounds.memory;
  };
  for (auto [row, bounds] : llvm::zip_equal(rows_, bounds_of)) finish(&row, bounds);
  finish(&total_, total);
  between_ = std::max(0.0, seconds_ - total_.seconds);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
}

void ProfileReport::PrintPeak(llvm::raw_ostream& os) const {
  if (!peak_) {
    os << "The peak of this device is not measured: there is no roofline.\n";
    return;
  }
  os << llvm::formatv(
      "Measured peak of {0} {1}: {2} GFLOP/s in f32,{3} {4} GB/s from memory, {5} GB/s from {6} of "
      "cache.\n",
      peak_->threads, peak_->threads == 1 ? "thread" : "threads", Giga(peak_->operations),
      peak_->bf16_operations > 0 ? " " + Giga(peak_->bf16_operations) + " in bf16," : "",
      Giga(peak_->memory_bytes), Giga(peak_->cache_bytes), BytesToString(peak_->cache_size));
}

void ProfileReport::PrintTable(llvm::raw_ostream& os, size_t max_rows) const {
  os << llvm::formatv("{0} {1}, {2} each. ", runs_, runs_ == 1 ? "run" : "runs", TimeOf(seconds_));
  PrintPeak(os);
  const auto print = [&](llvm::StringRef time, llvm::StringRef share, llvm::StringRef calls,
                         llvm::StringRef flops, llvm::StringRef bytes, llvm::StringRef of_bound,
                         llvm::StringRef bound, const llvm::Twine& name) {
    os << llvm::formatv("{0,12} {1,6} {2,7} {3,9} {4,7} {5,7} {6,-7}  {7}\n", time, share, calls,
                        flops, bytes, of_bound, bound, name.str());
  };
  const auto print_row = [&](const Row& row) {
    const double seconds = std::max(row.seconds, 1e-12);
    std::string name = row.name;
    if (!row.place.empty()) name += "  # " + row.place;
    print(TimeOf(row.seconds), Percent(row.share), llvm::formatv("{0:f0}", row.calls).str(),
          Giga(row.cost.operations / seconds), Giga(row.cost.bytes / seconds),
          row.of_bound > 0 ? Percent(row.of_bound) : "-", BoundOf(row), name);
  };
  print("time", "%", "calls", "GFLOP/s", "GB/s", "% peak", "bound", "");
  Row rest;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i < max_rows) {
      print_row(rows_[i]);
      continue;
    }
    rest.seconds += rows_[i].seconds;
    rest.share += rows_[i].share;
    rest.calls += rows_[i].calls;
    rest.cost.operations += rows_[i].cost.operations;
    rest.cost.bytes += rows_[i].cost.bytes;
  }
  if (rows_.size() > max_rows) {
    rest.name = llvm::formatv("{0} more rows", rows_.size() - max_rows);
    print_row(rest);
  }
  print(TimeOf(between_), Percent(seconds_ > 0 ? between_ / seconds_ : 0), "", "", "", "", "",
        "between the calls");
  Row sum = total_;
  sum.name = "all calls";
  print_row(sum);
}

void ProfileReport::PrintJson(llvm::raw_ostream& os) const {
  llvm::json::OStream json(os, 1);
  const auto print_row = [&](const Row& row) {
    json.attribute("seconds", row.seconds);
    json.attribute("share", row.share);
    json.attribute("calls", row.calls);
    json.attribute("operations", row.cost.operations);
    json.attribute("bytes", row.cost.bytes);
    if (row.of_bound == 0) return;
    json.attribute("of_bound", row.of_bound);
    json.attribute("bound", BoundOf(row));
  };
  json.object([&] {
    json.attribute("runs", runs_);
    json.attribute("seconds", seconds_);
    json.attribute("between", between_);
    if (peak_) {
      json.attributeObject("peak", [&] {
        json.attribute("threads", peak_->threads);
        json.attribute("operations_per_second", peak_->operations);
        if (peak_->bf16_operations > 0)
          json.attribute("bf16_operations_per_second", peak_->bf16_operations);
        json.attribute("memory_bytes_per_second", peak_->memory_bytes);
        json.attribute("cache_bytes_per_second", peak_->cache_bytes);
        json.attribute("cache_size", peak_->cache_size);
      });
    }
    json.attributeArray("rows", [&] {
      for (const Row& row : rows_) {
        json.object([&] {
          json.attribute("name", row.name);
          if (!row.place.empty()) json.attribute("place", row.place);
          if (!row.layer.empty()) json.attribute("layer", row.layer);
          print_row(row);
        });
      }
    });
    json.attributeObject("total", [&] { print_row(total_); });
  });
  os << '\n';
}

}  // namespace pdl
