// A profile as a page of HTML: the roofline as a plot, and the table.
#include <algorithm>
#include <cmath>

#include "ir/escape_markup.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/runtime/profile_report.h"
#include "runtime/profile_format.h"

namespace pdl {
namespace {

constexpr llvm::StringLiteral kStyle = R"(<style>
:root { color-scheme: light dark; --line: #8888; --compute: #d9622b; --memory: #2b7fd9; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
th:last-child, td:last-child { text-align: left; overflow-wrap: anywhere; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
td:last-child { white-space: normal; }
.bar { background: linear-gradient(90deg, #d9a02b66 var(--share), transparent 0); }
svg { width: 100%; height: auto; font-size: 12px; }
svg text { fill: currentColor; }
svg line, svg polyline { stroke: var(--line); fill: none; }
svg polyline { stroke: currentColor; stroke-width: 2; }
.compute { fill: var(--compute); fill-opacity: .6; color: var(--compute); }
.memory { fill: var(--memory); fill-opacity: .6; color: var(--memory); }
small { opacity: .7; }
</style>
)";

/// A plot with logarithmic axes: operations per byte, and operations per second.
class Plot {
 public:
  static constexpr double kWidth = 900, kHeight = 380, kLeft = 60, kBottom = 40;

  Plot(double least_x, double most_x, double least_y, double most_y)
      : least_x_(std::floor(std::log10(least_x))),
        most_x_(std::ceil(std::log10(most_x))),
        least_y_(std::floor(std::log10(least_y))),
        most_y_(std::ceil(std::log10(most_y))) {}

  double X(double x) const {
    return kLeft + (kWidth - kLeft) * (std::log10(x) - least_x_) / (most_x_ - least_x_);
  }
  double Y(double y) const {
    return (kHeight - kBottom) * (1 - (std::log10(y) - least_y_) / (most_y_ - least_y_));
  }
  double least_x() const { return std::pow(10, least_x_); }
  double most_x() const { return std::pow(10, most_x_); }

  void PrintAxes(llvm::raw_ostream& os) const {
    for (double power = least_x_; power <= most_x_; ++power) {
      const double x = X(std::pow(10, power));
      os << llvm::formatv("<line x1='{0:f1}' x2='{0:f1}' y1='0' y2='{1:f1}'/>", x,
                          kHeight - kBottom);
      PrintLabel(x, kHeight - kBottom + 15, "middle", PowerOf10(power), os);
    }
    for (double power = least_y_; power <= most_y_; ++power) {
      const double y = Y(std::pow(10, power));
      os << llvm::formatv("<line x1='{0:f1}' x2='{1:f1}' y1='{2:f1}' y2='{2:f1}'/>", kLeft, kWidth,
                          y);
      PrintLabel(kLeft - 5, y + 4, "end", PowerOf10(power), os);
    }
    PrintLabel((kWidth + kLeft) / 2, kHeight - 5, "middle", "operations per byte", os);
    PrintLabel(5, 12, "start", "FLOP/s", os);
  }

  /// The speed that `operations` and `bytes` per second allow.
  void PrintRoof(double operations, double bytes, llvm::StringRef name,
                 llvm::raw_ostream& os) const {
    const double ridge = std::clamp(operations / bytes, least_x(), most_x());
    os << llvm::formatv("<polyline points='{0:f1},{1:f1} {2:f1},{3:f1} {4:f1},{5:f1}'><title>",
                        X(least_x()), Y(least_x() * bytes), X(ridge), Y(operations), X(most_x()),
                        Y(operations));
    os << name << "</title></polyline>\n";
  }

 private:
  static std::string PowerOf10(double power) { return llvm::formatv("10^{0:f0}", power); }
  static void PrintLabel(double x, double y, llvm::StringRef anchor, llvm::StringRef label,
                         llvm::raw_ostream& os) {
    os << llvm::formatv("<text x='{0:f1}' y='{1:f1}' text-anchor='{2}'>{3}</text>\n", x, y, anchor,
                        label);
  }

  double least_x_, most_x_, least_y_, most_y_;
};

}  // namespace

void ProfileReport::PrintPlot(llvm::raw_ostream& os) const {
  const auto has_point = [](const Row& row) {
    return row.cost.operations > 0 && row.cost.bytes > 0 && row.seconds > 0;
  };
  double least_x = 0.1, most_x = 100, least_y = peak_->operations;
  for (const Row& row : rows_) {
    if (!has_point(row)) continue;
    least_x = std::min(least_x, row.cost.operations / row.cost.bytes);
    most_x = std::max(most_x, row.cost.operations / row.cost.bytes);
    least_y = std::min(least_y, row.cost.operations / row.seconds);
  }
  least_y = std::min(least_y, std::pow(10, std::floor(std::log10(least_x))) * peak_->memory_bytes);
  const double most_y = std::max(peak_->operations, peak_->bf16_operations);
  const Plot plot(least_x, most_x, least_y, 1.01 * most_y);
  os << llvm::formatv("<svg viewBox='0 -10 {0:f0} {1:f0}' role='img'>\n", Plot::kWidth + 10,
                      Plot::kHeight + 10);
  plot.PrintAxes(os);
  plot.PrintRoof(peak_->operations, peak_->memory_bytes, "memory", os);
  plot.PrintRoof(peak_->operations, peak_->cache_bytes, "cache", os);
  if (peak_->bf16_operations > 0)
    plot.PrintRoof(peak_->bf16_operations, peak_->cache_bytes, "cache, in bf16", os);
  for (const Row& row : rows_) {
    if (!has_point(row)) continue;
    os << llvm::formatv("<circle class='{0}' cx='{1:f1}' cy='{2:f1}' r='{3:f1}'><title>",
                        BoundOf(row), plot.X(row.cost.operations / row.cost.bytes),
                        plot.Y(row.cost.operations / row.seconds),
                        3 + 25 * std::sqrt(std::min(1.0, row.share)));
    os << EscapeMarkup(row.name + " " + row.place) << "</title></circle>\n";
  }
  os << "</svg>\n<p><small>Each circle is a row of the table; its area is its time. The lines are "
        "the speeds that memory, caches and arithmetic allow.</small></p>\n";
}

void ProfileReport::PrintHtml(llvm::raw_ostream& os, llvm::StringRef title) const {
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
     << EscapeMarkup(title) << "</title>\n"
     << kStyle << "</head><body>\n<h1>" << EscapeMarkup(title) << "</h1>\n<p>";
  os << llvm::formatv("{0} {1}, {2} each. ", runs_, runs_ == 1 ? "run" : "runs", TimeOf(seconds_));
  PrintPeak(os);
  os << "</p>\n";
  if (peak_) PrintPlot(os);
  os << "<table><thead><tr><th>time</th><th>%</th><th>calls</th><th>GFLOP/s</th><th>GB/s</th>"
        "<th>% peak</th><th>bound</th><th>call</th></tr></thead><tbody>\n";
  const auto print = [&](const Row& row) {
    const double seconds = std::max(row.seconds, 1e-12);
    os << "<tr><td class=\"bar\" style=\"--share:" << Percent(row.share) << "%\">"
       << TimeOf(row.seconds) << "</td>";
    for (const std::string& cell :
         {Percent(row.share), llvm::formatv("{0:f0}", row.calls).str(),
          Giga(row.cost.operations / seconds), Giga(row.cost.bytes / seconds),
          row.of_bound > 0 ? Percent(row.of_bound) : std::string("-"), BoundOf(row)})
      os << "<td>" << cell << "</td>";
    os << "<td>" << EscapeMarkup(row.name);
    for (const std::string& detail : {row.place, row.layer})
      if (!detail.empty()) os << " <small>" << EscapeMarkup(detail) << "</small>";
    os << "</td></tr>\n";
  };
  for (const Row& row : rows_) print(row);
  Row between;
  between.name = "between the calls";
  between.seconds = between_;
  if (seconds_ > 0) between.share = between_ / seconds_;
  print(between);
  Row all = total_;
  all.name = "all calls";
  print(all);
  os << "</tbody></table>\n</body></html>\n";
}

}  // namespace pdl
