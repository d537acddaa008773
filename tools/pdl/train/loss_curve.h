#ifndef PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_
#define PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pdl {

/// A line of a plot: values by step, sorted by step.
struct Curve {
  std::string name;
  /// Plotted with a mark at each point; otherwise pale, with its running mean on top.
  bool has_marks = false;
  std::vector<std::pair<int64_t, double>> points;
};

/// A self-contained SVG plot of the curves over steps. The axis of values is logarithmic if they
/// are positive and span several magnitudes. Values that are not finite are skipped.
std::string LossCurveSvg(const std::string& title, const std::vector<Curve>& curves);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_
