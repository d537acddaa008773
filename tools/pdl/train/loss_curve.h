#ifndef PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_
#define PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace pdl {

/// One line of a picture: values by step, in the order of the steps.
struct Curve {
  std::string name;
  /// Drawn with a mark at each point; else as it is, pale, with its running mean over it.
  bool has_marks = false;
  std::vector<std::pair<int64_t, double>> points;
};

/// A picture of the curves over steps, as SVG that needs nothing else. The axis of values is
/// logarithmic where they are positive and far apart. Values that are not finite are left out.
std::string LossCurveSvg(const std::string& title, const std::vector<Curve>& curves);

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_TRAIN_LOSS_CURVE_H_
