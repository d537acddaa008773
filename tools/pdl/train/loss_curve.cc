#include "tools/pdl/train/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "ir/escape_markup.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

constexpr int kWidth = 820, kHeight = 460;
constexpr int kLeft = 70, kRight = 24, kTop = 64, kBottom = 48;
/// If a line has more points than pixels, the means of adjacent points are plotted.
constexpr size_t kMaxPoints = 1000;
constexpr std::array<const char*, 6> kColors = {"#2563eb", "#ea580c", "#059669",
                                                "#9333ea", "#dc2626", "#0891b2"};

using Points = std::vector<std::pair<double, double>>;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string Coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

Points Finite(const Curve& curve) {
  Points points;
  for (const auto& [step, value] : curve.points)
    if (std::isfinite(value)) points.emplace_back(static_cast<double>(step), value);
  return points;
}

Points Thinned(const Points& points) {
  if (points.size() <= kMaxPoints) return points;
  Points thinned;
  const size_t share = (points.size() + kMaxPoints - 1) / kMaxPoints;
  for (size_t begin = 0; begin < points.size(); begin += share) {
    const size_t end = std::min(points.size(), begin + share);
    double x = 0, y = 0;
    for (size_t i = begin; i < end; ++i) {
      x += points[i].first;
      y += points[i].second;
    }
    thinned.emplace_back(x / static_cast<double>(end - begin),
                         y / static_cast<double>(end - begin));
  }
  return thinned;
}

/// Means over a window around each point of a twentieth of all steps; near the ends the window is
/// smaller.
Points Smoothed(const Points& points) {
  const double first = points.front().first, last = points.back().first;
  const double reach = (last - first) / 40;
  Points smooth;
  size_t begin = 0;
  for (const auto& [step, value] : points) {
    const double around = std::min({reach, step - first, last - step});
    while (points[begin].first < step - around) ++begin;
    double sum = 0;
    size_t end = begin;
    for (; end < points.size() && points[end].first <= step + around; ++end)
      sum += points[end].second;
    smooth.emplace_back(step, sum / static_cast<double>(end - begin));
  }
  return smooth;
}

/// An axis: maps values to pixels.
class Axis {
 public:
  Axis(double low, double high, bool is_log, double from, double to)
      : low_(low), high_(high), is_log_(is_log), from_(from), to_(to) {}

  double At(double value) const {
    const double share =
        is_log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return from_ + share * (to_ - from_);
  }

  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    if (is_log_) {
      const double decades = std::log10(high_ / low_);
      for (int power = static_cast<int>(std::floor(std::log10(low_)));
           power <= static_cast<int>(std::ceil(std::log10(high_))); ++power) {
        for (double digit : {1.0, 2.0, 5.0}) {
          if (decades > 3 && digit != 1) continue;
          const double tick = digit * std::pow(10, power);
          if (tick >= low_ * 0.999 && tick <= high_ * 1.001) ticks.push_back(tick);
        }
      }
      return ticks;
    }
    const double rough = (high_ - low_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double distance = 10 * power;
    for (double factor : {5.0, 2.0, 1.0})
      if (factor * power >= rough) distance = factor * power;
    for (double tick = std::ceil(low_ / distance - 1e-9) * distance;
         tick <= high_ + distance * 1e-6; tick += distance)
      ticks.push_back(std::abs(tick) < distance * 1e-6 ? 0 : tick);
    return ticks;
  }

 private:
  double low_, high_;
  bool is_log_;
  double from_, to_;
};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Picture {
 public:
  Picture(const std::string& title, const std::vector<Curve>& curves)
      : title_(title), curves_(curves), os_(text_) {}

  std::string Draw() {
    Range steps, values;
    for (const Curve& curve : curves_) {
      points_.push_back(Thinned(Finite(curve)));
      for (const auto& [x, y] : points_.back()) {
        steps.Add(x);
        values.Add(y);
      }
    }
    os_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << ' ' << kHeight
        << "\" width=\"" << kWidth << "\" height=\"" << kHeight
        << "\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    Text(kLeft, 26, title_, "font-size=\"16\" font-weight=\"600\" fill=\"#111827\"");
    if (steps.low > steps.high) {
      Text(kLeft, kHeight / 2, "nothing to show yet", "fill=\"#6b7280\"");
    } else {
      DrawCurves(steps, values);
    }
    os_ << "</svg>\n";
    return os_.str();
  }

 private:
  void Text(double x, double y, const std::string& text, const std::string& style) {
    os_ << "<text x=\"" << Coordinate(x) << "\" y=\"" << Coordinate(y) << "\" " << style << '>'
        << EscapeMarkup(text) << "</text>\n";
  }

  void DrawCurves(Range steps, Range values) {
    if (steps.low == steps.high) {
      steps.low -= 1;
      steps.high += 1;
    }
    const bool is_log = values.low > 0 && values.high / values.low > 30;
    if (is_log) {
      values.low /= 1.1;
      values.high *= 1.1;
    } else {
      double margin = (values.high - values.low) * 0.05;
      if (margin == 0) margin = std::max(std::abs(values.high) * 0.1, 1e-12);
      // Losses are seldom negative: an axis that starts close to 0 starts at 0.
      const bool near_zero = values.low >= 0 && values.low < (values.high - values.low) * 0.3;
      values.low = near_zero ? 0 : values.low - margin;
      values.high += margin;
    }
    const Axis x(steps.low, steps.high, false, kLeft, kWidth - kRight);
    const Axis y(values.low, values.high, is_log, kHeight - kBottom, kTop);
    DrawGrid(x, y);
    for (size_t i = 0; i < curves_.size(); ++i) DrawCurve(i, x, y);
    DrawLegend();
  }

  void DrawGrid(const Axis& x, const Axis& y) {
    for (double tick : y.Ticks()) {
      const std::string at = Coordinate(y.At(tick));
      os_ << "<path d=\"M" << kLeft << ' ' << at << 'H' << kWidth - kRight
          << "\" stroke=\"#e5e7eb\"/>\n";
      Text(kLeft - 8, y.At(tick) + 4, Number(tick), "text-anchor=\"end\" fill=\"#6b7280\"");
    }
    for (double tick : x.Ticks()) {
      if (tick != std::floor(tick)) continue;
      os_ << "<path d=\"M" << Coordinate(x.At(tick)) << ' ' << kHeight - kBottom
          << "v5\" stroke=\"#9ca3af\"/>\n";
      Text(x.At(tick), kHeight - kBottom + 20, std::to_string(static_cast<int64_t>(tick)),
           "text-anchor=\"middle\" fill=\"#6b7280\"");
    }
    os_ << "<path d=\"M" << kLeft << ' ' << kHeight - kBottom << 'H' << kWidth - kRight
        << "\" stroke=\"#9ca3af\"/>\n";
    Text(kWidth - kRight, kHeight - 8, "steps", "text-anchor=\"end\" fill=\"#6b7280\"");
  }

  void Line(const Points& points, const Axis& x, const Axis& y, const std::string& style) {
    os_ << "<path fill=\"none\" stroke-linejoin=\"round\" " << style << " d=\"";
    char command = 'M';
    for (const auto& [step, value] : points) {
      os_ << command << Coordinate(x.At(step)) << ' ' << Coordinate(y.At(value));
      command = 'L';
    }
    os_ << "\"/>\n";
  }

  void DrawCurve(size_t index, const Axis& x, const Axis& y) {
    const Points& points = points_[index];
    const std::string color = kColors[index % kColors.size()];
    if (points.empty()) return;
    const bool is_smoothed = !curves_[index].has_marks && points.size() >= 20;
    if (is_smoothed)
      Line(points, x, y, "stroke=\"" + color + "\" stroke-opacity=\"0.3\" stroke-width=\"1\"");
    Line(is_smoothed ? Smoothed(points) : points, x, y,
         "stroke=\"" + color + "\" stroke-width=\"2\"");
    if (!curves_[index].has_marks && points.size() > 1) return;
    for (const auto& [step, value] : points)
      os_ << "<circle cx=\"" << Coordinate(x.At(step)) << "\" cy=\"" << Coordinate(y.At(value))
          << "\" r=\"" << (points.size() > 60 ? "1.5" : "3") << "\" fill=\"" << color << "\"/>\n";
  }

  void DrawLegend() {
    double at = kLeft;
    for (size_t i = 0; i < curves_.size(); ++i) {
      const Points& points = points_[i];
      if (points.empty()) continue;
      os_ << "<path d=\"M" << Coordinate(at) << " 45h18\" stroke-width=\"3\" stroke=\""
          << kColors[i % kColors.size()] << "\"/>\n";
      const std::string text = curves_[i].name + " " + Number(points.back().second);
      Text(at + 24, 49, text, "fill=\"#374151\"");
      at += 24 + 7.0 * static_cast<double>(text.size()) + 24;
    }
  }

  const std::string& title_;
  const std::vector<Curve>& curves_;
  std::vector<Points> points_;
  std::string text_;
  llvm::raw_string_ostream os_;
};

}  // namespace

std::string LossCurveSvg(const std::string& title, const std::vector<Curve>& curves) {
  return Picture(title, curves).Draw();
}

}  // namespace pdl
