#include "kernels/convolution/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/memory.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

// The position of the center of element `o` among the input elements, whose centers are at 0, 1, ….
double SourcePlace(llvm::StringRef coordinates, int64_t o, int64_t from, int64_t to, double scale) {
  const double place = static_cast<double>(o);
  if (coordinates == "asymmetric") return place / scale;
  if (coordinates == "align_corners") {
    return to == 1 ? 0 : place * static_cast<double>(from - 1) / static_cast<double>(to - 1);
  }
  if (coordinates == "pytorch_half_pixel" && to == 1) return 0;
  return (place + 0.5) / scale - 0.5;
}

double Nearest(llvm::StringRef rounding, double place) {
  const double below = std::floor(place);
  if (rounding == "floor") return below;
  if (rounding == "ceil") return std::ceil(place);
  const double rest = place - below;
  if (rounding == "prefer_floor") return rest > 0.5 ? below + 1 : below;
  return rest >= 0.5 ? below + 1 : below;
}

// The cubic kernel that is 1 at 0 and 0 at the other integers, with derivative `a` at 1 (Keys
// 1981).
double Cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return a * (((x - 5) * x + 8) * x - 4);
  return 0;
}

// The taps of a weighted sum: those with nonzero weight, padded with taps of weight 0.
class Taps {
 public:
  Taps(ResizeAxis* axis, bool skip_outside) : axis_(axis), skip_outside_(skip_outside) {}

  void Add(double place, double weight) {
    const double last = static_cast<double>(axis_->from - 1);
    if (weight == 0 || (skip_outside_ && (place < 0 || place > last))) return;
    axis_->places.push_back(static_cast<int64_t>(std::clamp(place, 0.0, last)));
    axis_->weights.push_back(weight);
    sum_ += weight;
    ++count_;
  }
  /// Ends the taps of one element, and normalizes the sum of the weights to 1 unless there are
  /// none.
  void End() {
    for (auto weight = axis_->weights.end() - count_; weight != axis_->weights.end(); ++weight)
      *weight /= sum_;
    axis_->places.resize(axis_->places.size() + static_cast<size_t>(axis_->count - count_));
    axis_->weights.resize(axis_->places.size());
    sum_ = 0;
    count_ = 0;
  }

 private:
  ResizeAxis* axis_;
  bool skip_outside_;
  double sum_ = 0;
  int64_t count_ = 0;
};

// Reserves memory for `count` taps for each of `elements`.
llvm::Error CountTaps(int64_t elements, ResizeAxis* axis) {
  const int64_t taps = SaturatingProduct({elements, axis->count});
  const int64_t bytes = SaturatingProduct({taps, sizeof(int64_t) + sizeof(double)});
  auto counted = CountHostMemory(
      bytes, "the table of taps of a resized axis of " + std::to_string(elements) + " elements");
  if (!counted) return counted.takeError();
  axis->counted = std::move(*counted);
  axis->places.reserve(static_cast<size_t>(taps));
  axis->weights.reserve(static_cast<size_t>(taps));
  return llvm::Error::success();
}

llvm::Error FillTaps(const AttributeReader& attributes, double scale, ResizeAxis* axis) {
  const llvm::StringRef coordinates = attributes.String("coordinates");
  const auto place_of = [&](int64_t o) {
    return SourcePlace(coordinates, o, axis->from, axis->to, scale);
  };
  if (attributes.String("mode") == "nearest") {
    const double last = static_cast<double>(axis->from - 1);
    if (llvm::Error error = CountTaps(axis->to, axis)) return error;
    for (int64_t o = 0; o < axis->to; ++o) {
      const double place = Nearest(attributes.String("rounding"), place_of(o));
      axis->places.push_back(static_cast<int64_t>(std::clamp(place, 0.0, last)));
      axis->weights.push_back(1);
    }
    return llvm::Error::success();
  }
  const bool is_linear = attributes.String("mode") == "linear";
  const double a = attributes.Float("cubic_a");
  // A filter that is wider than the distance between output positions covers every input element.
  const double squeeze = attributes.Bool("antialias") ? std::min(scale, 1.0) : 1.0;
  const double reached = std::ceil((is_linear ? 1.0 : 2.0) / squeeze);
  const auto reach = static_cast<int64_t>(std::min(reached, std::ldexp(1.0, 60)));
  axis->count = 2 * reach;
  if (llvm::Error error = CountTaps(axis->to, axis)) return error;
  Taps taps(axis, attributes.String("outside") == "skip");
  for (int64_t o = 0; o < axis->to; ++o) {
    const double place = place_of(o), below = std::floor(place);
    for (int64_t t = 1 - reach; t <= reach; ++t) {
      const double tap = below + static_cast<double>(t);
      const double x = (tap - place) * squeeze;
      taps.Add(tap, is_linear ? std::max(0.0, 1 - std::abs(x)) : Cubic(x, a));
    }
    taps.End();
  }
  return llvm::Error::success();
}

}  // namespace

bool ScaleAsRatio(double scale, int64_t* numerator, int64_t* denominator) {
  for (int64_t q = 1; q <= 1024; ++q) {
    const double product = scale * static_cast<double>(q);
    const double whole = std::round(product);
    if (whole < 1 || whole > 1e9 || std::abs(product - whole) > 1e-9 * whole) continue;
    *numerator = static_cast<int64_t>(whole);
    *denominator = q;
    return true;
  }
  return false;
}

llvm::Expected<llvm::SmallVector<double, 3>> ResizeScales(const AttributeReader& attributes) {
  llvm::SmallVector<double, 3> scales;
  if (attributes.Has("scale")) scales.push_back(attributes.Float("scale"));
  if (attributes.Has("scales")) {
    if (llvm::Error error = attributes.GetArray("scales", &scales)) return error;
  }
  return scales;
}

llvm::Expected<std::vector<ResizeAxis>> MakeResizeAxes(const AttributeReader& attributes,
                                                       llvm::ArrayRef<int64_t> from,
                                                       llvm::ArrayRef<int64_t> to) {
  llvm::Expected<llvm::SmallVector<double, 3>> scales = ResizeScales(attributes);
  if (!scales) return scales.takeError();
  std::vector<ResizeAxis> axes;
  for (size_t d = 2; d < from.size(); ++d) {
    ResizeAxis axis;
    for (size_t i = 0; i < d; ++i) axis.outer *= to[i];
    for (size_t i = d + 1; i < from.size(); ++i) axis.inner *= from[i];
    axis.from = from[d];
    axis.to = to[d];
    double scale = static_cast<double>(to[d]) / static_cast<double>(std::max<int64_t>(from[d], 1));
    if (!scales->empty()) scale = (*scales)[scales->size() == 1 ? 0 : d - 2];
    if (from[d] == to[d] && scale == 1) continue;
    if (llvm::Error error = FillTaps(attributes, scale, &axis)) return error;
    axes.push_back(std::move(axis));
  }
  return axes;
}

llvm::Expected<ResizeAxis> Transposed(const ResizeAxis& axis) {
  ResizeAxis transposed = axis;
  transposed.from = axis.to;
  transposed.to = axis.from;
  const auto size = static_cast<size_t>(axis.from);
  const auto for_each_tap = [&](auto use) {
    for (int64_t o = 0; o < axis.to; ++o) {
      for (int64_t t = 0; t < axis.count; ++t) {
        const auto i = static_cast<size_t>(o * axis.count + t);
        if (axis.weights[i] != 0) use(static_cast<size_t>(axis.places[i]), o, axis.weights[i]);
      }
    }
  };
  std::vector<int64_t> taps(size, 0);  // number of taps of each element
  for_each_tap([&](size_t place, int64_t, double) { ++taps[place]; });
  transposed.count = 1;
  for (const int64_t of_one : taps) transposed.count = std::max(transposed.count, of_one);
  transposed.places.clear();
  transposed.weights.clear();
  if (llvm::Error error = CountTaps(axis.from, &transposed)) return error;
  const auto most = static_cast<size_t>(transposed.count);
  transposed.places.assign(size * most, 0);
  transposed.weights.assign(size * most, 0);
  std::fill(taps.begin(), taps.end(), 0);
  for_each_tap([&](size_t place, int64_t o, double weight) {
    const size_t i = place * most + static_cast<size_t>(taps[place]++);
    transposed.places[i] = o;
    transposed.weights[i] = weight;
  });
  return transposed;
}

}  // namespace pdl
