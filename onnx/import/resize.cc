// Resizing of images.
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/resample.h"
#include "onnx/import/rules.h"
#include "onnx/model/shortest_number.h"

namespace pdl {
namespace {

struct Resizing {
  /// For all dims. If there are scales, they determine the coordinates, and if there are no sizes,
  /// the sizes, too.
  std::vector<double> scales;
  Shape sizes;
};

/// The value resized by the operator `resize`; null if an error was reported.
Value* ResizeAll(Node& n, Value* x, const Resizing& resizing, const std::string& coordinates,
                 const std::string& rounding) {
  const Shape& dims = x->type().dims;
  const unsigned rank = x->type().rank();
  const std::string mode = n.String("mode", "nearest");
  // Dims whose size changes are moved after all others, and only these are resized.
  auto stays = [&](unsigned d) {
    return resizing.scales.empty() ? resizing.sizes[d] == dims[d] : resizing.scales[d] == 1;
  };
  std::vector<int64_t> moved, still, perm;
  for (unsigned d = 0; d < rank; ++d) (stays(d) ? still : moved).push_back(d);
  if (moved.empty()) return x;
  if (moved.size() > 3) {
    n.Unsupported("more than 3 dims are resized");
    return nullptr;
  }
  perm = still;
  perm.insert(perm.end(), moved.begin(), moved.end());
  x = n.Transpose(x, perm);
  if (x == nullptr) return nullptr;
  Shape image;
  Dim batch = 1;
  for (const int64_t d : still) batch = batch * dims[static_cast<size_t>(d)];
  image.push_back(batch);
  image.emplace_back(1);
  if (still.size() == 2) {
    image[0] = dims[static_cast<size_t>(still[0])];
    image[1] = dims[static_cast<size_t>(still[1])];
  }
  for (const int64_t d : moved) image.push_back(dims[static_cast<size_t>(d)]);
  std::vector<NamedAttribute> attributes = {
      {"mode", mode == "linear" || mode == "bilinear" ? std::string("linear") : mode},
      {"coordinates", coordinates},
      {"cubic_a", n.Float("cubic_coeff_a", -0.75)},
      {"antialias", mode != "nearest" && n.Int("antialias", 0) != 0},
      {"outside", std::string(n.Int("exclude_outside", 0) != 0 ? "skip" : "edge")}};
  if (mode == "nearest") {
    llvm::StringRef name = rounding;
    name.consume_front("round_");
    attributes.push_back({"rounding", name.str()});
  }
  if (resizing.scales.empty()) {
    Shape size;
    for (const int64_t d : moved) size.push_back(resizing.sizes[static_cast<size_t>(d)]);
    attributes.push_back({"size", size});
  } else {
    std::vector<double> scales;
    for (const int64_t d : moved) scales.push_back(resizing.scales[static_cast<size_t>(d)]);
    attributes.push_back({"scales", scales});
  }
  Value* y = n.Call("resize", {n.Reshape(x, image)}, attributes);
  if (y == nullptr) return nullptr;
  Shape back;
  for (const int64_t d : still) back.push_back(dims[static_cast<size_t>(d)]);
  for (size_t i = 0; i < moved.size(); ++i) back.push_back(y->type().dims[2 + i]);
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return n.Transpose(n.Reshape(y, back), inverse);
}

void EmitResize(Node& n, Value* x, const Resizing& resizing, const std::string& coordinates) {
  if (n.opset() >= 11 || n.String("mode", "nearest") != "nearest") {
    const std::string rounding = n.String("nearest_mode", "round_prefer_floor");
    return n.Out(ResizeAll(n, x, resizing, coordinates, rounding));
  }
  // Without nearest_mode, the nearest element is the next one where an axis becomes smaller, and
  // the one before where it becomes larger (as in ONNX's test case of operator set 10).
  for (const bool smaller : {true, false}) {
    Resizing part = resizing;
    for (double& scale : part.scales)
      if ((scale < 1) != smaller) scale = 1;
    x = ResizeAll(n, x, part, coordinates, smaller ? "ceil" : "floor");
    if (x == nullptr) return;
  }
  n.Out(x);
}

/// Resizes an axis with constant sizes.
Value* ResizeKnownAxis(Node& n, Value* x, unsigned axis, const Resizing& resizing, Resampling r) {
  r.in = x->type().dims[axis].constant();
  const auto in = static_cast<double>(r.in);
  if (!resizing.scales.empty()) {
    r.scale = resizing.scales[axis];
    if (!(r.scale > 0 && r.scale * in < 1e9)) {
      n.Fail("a scale of {0}", r.scale);
      return nullptr;
    }
    r.out = static_cast<int64_t>(std::floor(r.scale * in));
  }
  if (!resizing.sizes.empty()) {
    r.out = resizing.sizes[axis].constant();
    if (resizing.scales.empty()) r.scale = static_cast<double>(r.out) / in;
  }
  const bool stays = r.scale == 1 && r.out == r.in && r.roi_begin == 0 && r.roi_end == 1;
  return stays ? x : ResampleAxis(n, x, axis, r);
}

/// Resizes an axis with symbolic sizes.
Value* ResizeSymbolicAxis(Node& n, Value* x, unsigned axis, const Resizing& resizing,
                          Resampling r) {
  const Dim in = x->type().dims[axis];
  const bool has_roi = r.roi_begin != 0 || r.roi_end != 1;
  r.scale = 0;
  std::optional<Dim> out;
  if (!resizing.scales.empty()) {
    r.scale = resizing.scales[axis];
    if (!(r.scale > 0)) {
      n.Fail("a scale of {0}", r.scale);
      return nullptr;
    }
    out = ScaledSize(in, r.scale);
    if (r.scale == 1 && !has_roi) return x;
  }
  if (!resizing.sizes.empty()) out = resizing.sizes[axis];
  if (!out) {
    n.Unsupported("the size {0} times {1}, which is not a ratio of small integers", in.ToString(),
                  r.scale);
    return nullptr;
  }
  return *out == in && r.scale == 0 && !has_roi ? x : ResampleSymbolicAxis(n, x, axis, r, *out);
}

/// Resizes one axis after the other, for coordinates that the operator `resize` does not support.
void ResizeByAxis(Node& n, Value* x, const Resizing& resizing, llvm::ArrayRef<int64_t> axes,
                  const std::string& coordinates) {
  std::vector<double> roi;
  if (coordinates == "tf_crop_and_resize") {
    roi = n.RealsIn(1);
    if (n.failed()) return;
    if (roi.size() != 2 * axes.size()) return n.Fail("a roi of {0} numbers", roi.size());
    for (const double edge : roi)
      if (!(std::abs(edge) <= 1e100)) return n.Fail("a roi with {0}", edge);
  }
  Resampling r;
  r.mode = n.String("mode", "nearest");
  r.coordinates = coordinates;
  r.rounding = n.String("nearest_mode", "round_prefer_floor");
  r.cubic_a = n.Float("cubic_coeff_a", -0.75);
  r.exclude_outside = n.Int("exclude_outside", 0) != 0;
  r.antialias = r.mode != "nearest" && n.Int("antialias", 0) != 0;
  r.extrapolation_value = n.Float("extrapolation_value", 0);
  for (size_t i = 0; i < axes.size() && x != nullptr; ++i) {
    const auto axis = static_cast<unsigned>(axes[i]);
    if (!roi.empty()) {
      r.roi_begin = roi[i];
      r.roi_end = roi[axes.size() + i];
    }
    const bool is_known = x->type().dims[axis].is_constant() &&
                          (resizing.sizes.empty() || resizing.sizes[axis].is_constant());
    x = is_known ? ResizeKnownAxis(n, x, axis, resizing, r)
                 : ResizeSymbolicAxis(n, x, axis, resizing, r);
  }
  if (x != nullptr) n.Out(x);
}

void ConvertResize(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const unsigned rank = x->type().rank();
  const Shape& dims = x->type().dims;
  std::string coordinates = n.String("coordinate_transformation_mode", "half_pixel");
  if (n.opset() < 11) coordinates = "asymmetric";
  bool by_axis = llvm::is_contained(
      {"tf_crop_and_resize", "half_pixel_symmetric", "tf_half_pixel_for_nn"}, coordinates);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), rank);
  if (axes.empty())
    for (unsigned d = 0; d < rank; ++d) axes.push_back(d);
  const unsigned scales_at = n.opset() < 11 ? 1 : 2;
  Resizing resizing;
  // An empty tensor counts as omitted.
  const bool has_sizes = n.Has(3);
  if (has_sizes) {
    const Shape given = n.SizesIn(3);
    if (n.failed()) return;
    if (given.size() != axes.size()) return n.Fail("the number of sizes must be that of axes");
    resizing.sizes = dims;
    const std::string policy = n.String("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch") {
      for (size_t i = 0; i < axes.size(); ++i)
        resizing.sizes[static_cast<size_t>(axes[i])] = given[i];
    } else {
      std::optional<double> scale;
      for (size_t i = 0; i < axes.size(); ++i) {
        const Dim& size = dims[static_cast<size_t>(axes[i])];
        if (!size.is_constant() || !given[i].is_constant())
          return n.Unsupported("keep_aspect_ratio_policy with unknown sizes");
        if (size.constant() < 1 || given[i].constant() < 1 || given[i].constant() > INT32_MAX)
          return n.Fail("a size of {0} for one of {1}", given[i].constant(), size.constant());
        const double factor =
            static_cast<double>(given[i].constant()) / static_cast<double>(size.constant());
        if (!scale || (policy == "not_larger" ? factor < *scale : factor > *scale)) scale = factor;
      }
      // One scale for all axes; sizes are rounded half up.
      resizing.scales.assign(rank, 1.0);
      for (const int64_t each : axes) {
        const auto axis = static_cast<size_t>(each);
        const double size = *scale * static_cast<double>(dims[axis].constant());
        const double rounded = std::floor(size + 0.5);
        if (!(rounded < 0x1p62))
          return n.Fail("a scale of {0} for a size of {1}", *scale, dims[axis].constant());
        resizing.scales[axis] = *scale;
        resizing.sizes[axis] = static_cast<int64_t>(rounded);
        by_axis |=
            rounded != std::floor(size) || (coordinates == "align_corners" && size != rounded);
      }
      // The operator rounds down, and takes either scales or sizes.
      if (!by_axis) resizing.sizes.clear();
    }
  } else {
    const std::vector<double> given = n.RealsIn(scales_at);
    if (n.failed()) return;
    if (given.size() != axes.size()) return n.Fail("the number of scales must be that of axes");
    resizing.scales.assign(rank, 1.0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      resizing.scales[axis] = ShortestNumber(given[i], DType::kF32);
      // If the size is rounded, the corners of the result are between elements.
      if (coordinates != "align_corners" || given[i] == 1) continue;
      const double size = dims[axis].is_constant()
                              ? static_cast<double>(dims[axis].constant()) * given[i]
                              : given[i];
      by_axis |= size != std::floor(size);
    }
  }
  if (by_axis) return ResizeByAxis(n, x, resizing, axes, coordinates);
  EmitResize(n, x, resizing, coordinates);
}

void ConvertUpsample(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  Resizing resizing;
  resizing.scales = n.opset() >= 9 ? n.RealsIn(1) : n.Floats("scales");
  if (n.failed()) return;
  if (resizing.scales.size() != x->type().rank())
    return n.Fail("the number of scales must be that of dims");
  for (double& scale : resizing.scales) scale = ShortestNumber(scale, DType::kF32);
  EmitResize(n, x, resizing, "asymmetric");
}

}  // namespace

llvm::ArrayRef<OnnxRule> ResizeRules() {
  static const OnnxRule kRules[] = {{"Resize", ConvertResize}, {"Upsample", ConvertUpsample}};
  return kRules;
}

}  // namespace pdl
