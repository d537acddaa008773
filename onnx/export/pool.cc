// Export of pooling and resizing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "onnx/export/window.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

/// The dtype in which ONNX Runtime finds the largest element.
DType PoolDType(DType dtype) {
  if (dtype == DType::kI8 || dtype == DType::kU8) return dtype;
  const DType computed = ComputeDType(dtype);
  return IsFloat(computed) ? computed : DType::kF64;
}

struct Pooling {
  ExportedWindow window;
  std::vector<OnnxAttribute> attributes;
  /// Whether ONNX counts windows that pdl does not.
  bool has_more = false;

  /// The windows of a pooled `y` that pdl counts.
  std::string Counted(ExportCall& c, const std::string& y) const {
    if (!has_more) return y;
    const std::vector<int64_t> begin(window.kernel.size(), 0);
    std::vector<int64_t> end, axes(begin.size());
    for (const Dim& dim : Spatial(c.result())) end.push_back(dim.constant());
    std::iota(axes.begin(), axes.end(), 2);
    return c.Node("Slice", {y, c.Ints(begin), c.Ints(end), c.Ints(axes)});
  }
};

/// ONNX Runtime accepts no padding in the attributes that is at least as large as the kernel, which
/// that of a dilated kernel may be. Such padding becomes a call of Pad.
llvm::Error MoveLargePads(ExportCall& c, bool is_ceil, ExportedWindow& window) {
  bool is_large = false, is_known = true;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    is_large |= std::max(window.begin[i], window.end[i]) >= window.kernel[i];
    is_known &= Spatial(c.result())[i].is_constant();
  }
  if (!is_large) return llvm::Error::success();
  // The index of an element of the padded planes is another one.
  if (c.op().type() == "max_pool_index")
    return c.Reject("MaxPool of ONNX Runtime requires 'pad' to be smaller than 'kernel'");
  if (is_ceil && !is_known) return c.Reject("ONNX counts a window that begins in the padding");
  window.padding.assign(window.begin.begin(), window.begin.end());
  window.padding.append(window.end.begin(), window.end.end());
  window.begin.assign(window.kernel.size(), 0);
  window.end = window.begin;
  return llvm::Error::success();
}

/// The attributes of a pooling. ONNX also counts a last window that begins in the padding at the
/// end; if pdl has one window fewer, that padding is reduced so that the window does not fit, or
/// the window is cut off if other dims require ceil_mode.
llvm::Expected<Pooling> ReadPooling(ExportCall& c) {
  const llvm::ArrayRef<Dim> in = Spatial(c.type(0)), out = Spatial(c.result());
  const Shape& given = c.attributes().Dims("kernel");
  Shape kernel;
  for (size_t i = 0; i < in.size(); ++i) kernel.push_back(given[given.size() == 1 ? 0 : i]);
  llvm::Expected<ExportedWindow> read = ReadExportedWindow(c, kernel, in);
  if (!read) return read.takeError();
  Pooling pooling;
  ExportedWindow& window = pooling.window = std::move(*read);
  bool is_ceil = c.attributes().Bool("ceil_mode");
  // With "same" there is nothing to round.
  if (std::holds_alternative<std::string>(*c.attributes().Find("pad"))) {
    is_ceil &= window.same.empty() && window.padding.empty();
  } else if (is_ceil && !window.padding.empty()) {
    return c.Reject("'pad' must be known at export");
  }
  if (is_ceil) {
    bool differs = false, reaches_beyond = false;
    std::vector<int64_t> end;
    for (size_t i = 0; i < window.kernel.size(); ++i) {
      if (!in[i].is_constant() || !out[i].is_constant()) continue;
      const int64_t extent = (window.kernel[i] - 1) * window.dilation[i] + 1;
      const int64_t span = in[i].constant() + window.begin[i] + window.end[i] - extent;
      const int64_t stride = window.stride[i];
      differs |= (span + stride - 1) / stride + 1 != out[i].constant();
      const int64_t reach = (out[i].constant() - 1) * stride + extent - window.begin[i];
      const int64_t used = std::max<int64_t>(reach - in[i].constant(), 0);
      reaches_beyond |= used > window.end[i];
      end.push_back(std::min(used, window.end[i]));
    }
    if (differs) {
      if (end.size() < window.kernel.size())
        return c.Reject("ONNX counts a window that begins in the padding");
      window.end = end;
      is_ceil = reaches_beyond;
    }
    pooling.has_more = differs && is_ceil;
  }
  if (llvm::Error error = MoveLargePads(c, is_ceil, window)) return error;
  pooling.attributes = window.Attributes();
  pooling.attributes.push_back({"ceil_mode", int64_t{is_ceil}});
  return pooling;
}

/// Whether planes have no elements, which pools of ONNX Runtime reject.
bool HasNoElements(ExportCall& c) {
  return llvm::any_of(llvm::drop_begin(c.type(0).dims),
                      [](const Dim& dim) { return dim.is_constant(0); });
}

/// The result of windows that have padding only.
Exported FillWindows(ExportCall& c, double value) {
  llvm::Expected<std::string> sizes = c.Sizes(c.result().dims);
  if (!sizes) return sizes.takeError();
  const DType dtype = RepeatedDType(c.dtype());
  return c.Out(c.Node("Expand", {c.Scalar(value, dtype), *sizes}), dtype);
}

Exported MaxPool(ExportCall& c) {
  const bool has_index = c.op().type() == "max_pool_index";
  if (HasNoElements(c))
    return FillWindows(c, has_index ? -1 : -std::numeric_limits<double>::infinity());
  llvm::Expected<Pooling> pooling = ReadPooling(c);
  if (!pooling) return pooling.takeError();
  const ExportedWindow& window = pooling->window;
  const DType dtype = PoolDType(c.type(0).dtype);
  if (has_index && !window.padding.empty()) return c.Reject("'pad' must be known at export");
  const double lowest = dtype == DType::kI8   ? -128
                        : dtype == DType::kU8 ? 0
                                              : -std::numeric_limits<double>::infinity();
  llvm::Expected<std::string> x = window.Padded(c, c.In(0, dtype), lowest, dtype);
  if (!x) return x.takeError();
  const std::vector<std::string> names =
      c.Nodes("MaxPool", {*x}, pooling->attributes, has_index ? 2 : 1);
  if (!has_index) return c.Out(pooling->Counted(c, names[0]), dtype);
  // ONNX counts indices across all planes.
  llvm::Expected<std::string> plane = c.Number(NumElements(Spatial(c.type(0))), DType::kI64);
  if (!plane) return plane.takeError();
  return c.Node("Mod", {pooling->Counted(c, names[1]), *plane});
}

/// The number of elements that a window covers, padding included.
double NumPositions(const ExportedWindow& window) {
  double count = 1;
  for (const int64_t size : window.kernel) count *= static_cast<double>(size);
  return count;
}

Exported AvgPool(ExportCall& c) {
  if (HasNoElements(c)) return FillWindows(c, 0);
  llvm::Expected<Pooling> pooling = ReadPooling(c);
  if (!pooling) return pooling.takeError();
  const ExportedWindow& window = pooling->window;
  std::vector<OnnxAttribute> attributes = pooling->attributes;
  const DType dtype = ComputeDType(c.dtype());
  const bool has_divisor = c.attributes().Has("divisor");
  const bool is_ceil = c.attributes().Bool("ceil_mode");
  if (has_divisor && is_ceil) return c.Reject("AveragePool has no explicit divisor");
  const bool has_counts =
      !has_divisor && !c.attributes().Bool("count_include_pad") && !window.padding.empty();
  attributes.push_back({"count_include_pad", int64_t{has_counts || has_divisor ||
                                                     c.attributes().Bool("count_include_pad")}});
  llvm::Expected<std::string> x = window.Padded(c, c.In(0, dtype), 0, dtype);
  if (!x) return x.takeError();
  std::string y = c.Node("AveragePool", {*x}, attributes);
  if (has_counts) {
    // The fraction of each window that is not padding. A window may have padding only; its result
    // is 0, not 0 / 0.
    Shape plane = c.type(0).dims;
    plane[0] = plane[1] = 1;
    llvm::Expected<std::string> sizes = c.Sizes(plane);
    if (!sizes) return sizes.takeError();
    const std::string ones = c.Node("Expand", {c.Scalar(1, dtype), *sizes});
    llvm::Expected<std::string> padded = window.Padded(c, ones, 0, dtype);
    if (!padded) return padded.takeError();
    const std::string fraction = c.Node("AveragePool", {*padded}, attributes);
    const std::string smallest = c.Scalar(0.5 / NumPositions(window), dtype);
    y = c.Node("Div", {y, c.Node("Max", {fraction, smallest})});
  }
  if (has_divisor) {
    const auto divisor = static_cast<double>(c.attributes().Int("divisor"));
    y = c.Node("Mul", {y, c.Scalar(NumPositions(window) / divisor, dtype)});
  }
  return c.Out(pooling->Counted(c, y), dtype);
}

Exported LpPool(ExportCall& c) {
  if (HasNoElements(c)) return FillWindows(c, 0);
  llvm::Expected<Pooling> pooling = ReadPooling(c);
  if (!pooling) return pooling.takeError();
  const double p = c.attributes().Float("p");
  if (p != std::floor(p)) return c.Reject("the p of LpPool must be an integer");
  const DType dtype = ComputeDType(c.dtype());
  std::vector<OnnxAttribute> attributes = pooling->attributes;
  attributes.push_back({"p", static_cast<int64_t>(p)});
  llvm::Expected<std::string> x = pooling->window.Padded(c, c.In(0, dtype), 0, dtype);
  if (!x) return x.takeError();
  return c.Out(pooling->Counted(c, c.Node("LpPool", {*x}, attributes)), dtype);
}

/// Reshapes [N, C, S...] to [N, C, product of S].
llvm::Expected<std::string> Planes(ExportCall& c, const std::string& x, const Type& type) {
  return c.Reshape(x, type.dims, {type.dims[0], type.dims[1], NumElements(Spatial(type))});
}

Exported MaxUnpool(ExportCall& c) {
  const DType dtype = WideDType(c.dtype());
  llvm::Expected<std::string> x = Planes(c, c.In(0, dtype), c.type(0));
  if (!x) return x.takeError();
  llvm::Expected<std::string> indices = Planes(c, c.In(1), c.type(1));
  if (!indices) return indices.takeError();
  const Shape& dims = c.result().dims;
  const Shape planes = {dims[0], dims[1], NumElements(Spatial(c.result()))};
  llvm::Expected<std::string> sizes = c.Sizes(planes);
  if (!sizes) return sizes.takeError();
  const std::string zeros = c.Node("Expand", {c.Scalar(0, dtype), *sizes});
  const std::string added = c.Node("ScatterElements", {zeros, *indices, *x},
                                   {{"axis", int64_t{2}}, {"reduction", std::string("add")}});
  llvm::Expected<std::string> y = c.Reshape(added, planes, dims);
  if (!y) return y.takeError();
  return c.Out(*y, dtype);
}

Exported PlaneGather(ExportCall& c) {
  llvm::Expected<std::string> x = Planes(c, c.In(0), c.type(0));
  if (!x) return x.takeError();
  llvm::Expected<std::string> indices = Planes(c, c.In(1), c.type(1));
  if (!indices) return indices.takeError();
  const std::string read = c.Node("GatherElements", {*x, *indices}, {{"axis", int64_t{2}}});
  const Type& like = c.type(1);
  llvm::Expected<std::string> y =
      c.Reshape(read, {like.dims[0], like.dims[1], NumElements(Spatial(like))}, c.result().dims);
  if (!y) return y.takeError();
  return *y;
}

/// Pools one dim after the other: the mean or the largest element of each part. Parts have
/// different lengths, so the indices of each part are listed, and the last one is repeated for
/// shorter parts.
Exported AdaptivePool(ExportCall& c) {
  const bool is_max = c.op().type() == "adaptive_max_pool";
  const DType dtype = ComputeDType(c.dtype());
  const llvm::ArrayRef<Dim> in = Spatial(c.type(0)), out = Spatial(c.result());
  std::string x = c.In(0, dtype);
  const auto is_one = [](const Dim& dim) { return dim.is_constant(1); };
  if (llvm::all_of(out, is_one)) {
    // ONNX Runtime has global pooling of f32 and f16 only.
    if (dtype == DType::kF32 || dtype == DType::kF16)
      return c.Out(c.Node(is_max ? "GlobalMaxPool" : "GlobalAveragePool", {x}), dtype);
    std::vector<int64_t> axes(in.size());
    std::iota(axes.begin(), axes.end(), 2);
    return c.Out(c.Reduce(is_max ? "ReduceMax" : "ReduceMean", x, axes, true), dtype);
  }
  llvm::Expected<std::vector<int64_t>> sizes = c.Fixed(in, "the sizes of the planes");
  if (!sizes) return sizes.takeError();
  llvm::Expected<std::vector<int64_t>> parts = c.Fixed(out, "'size'");
  if (!parts) return parts.takeError();
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t size = (*sizes)[i], count = (*parts)[i], axis = static_cast<int64_t>(i) + 2;
    if (size == count) continue;
    const auto begin = [&](int64_t part) { return part * size / count; };
    const auto end = [&](int64_t part) { return ((part + 1) * size + count - 1) / count; };
    int64_t longest = 0;
    for (int64_t part = 0; part < count; ++part)
      longest = std::max(longest, end(part) - begin(part));
    std::vector<int64_t> element_indices;
    std::vector<double> shares;
    for (int64_t part = 0; part < count; ++part) {
      const int64_t length = end(part) - begin(part);
      for (int64_t k = 0; k < longest; ++k) {
        element_indices.push_back(std::min(begin(part) + k, end(part) - 1));
        shares.push_back(k < length ? 1.0 / static_cast<double>(length) : 0.0);
      }
    }
    const std::string read = c.Node(
        "Gather",
        {x, c.Constant(Constant::Copy(DType::kI64, {count, longest}, element_indices.data()))},
        {{"axis", axis}});
    if (is_max) {
      x = c.Reduce("ReduceMax", read, {axis + 1}, false);
      continue;
    }
    std::vector<int64_t> dims = {count, longest};
    dims.resize(sizes->size() - i + 1, 1);
    std::string weights = c.Constant(Constant::Copy(DType::kF64, dims, shares.data()));
    if (dtype != DType::kF64) weights = c.Cast(weights, dtype);
    x = c.Reduce("ReduceSum", c.Node("Mul", {read, weights}), {axis + 1}, false);
  }
  return c.Out(x, dtype);
}

/// The factors of the spatial dims; none if their sizes are given.
std::vector<double> Factors(ExportCall& c) {
  const size_t rank = Spatial(c.type(0)).size();
  if (c.attributes().Has("scale")) return std::vector<double>(rank, c.attributes().Float("scale"));
  if (!c.attributes().Has("scales")) return {};
  return std::get<std::vector<double>>(*c.attributes().Find("scales"));
}

/// Rejects resizing that ONNX Runtime lacks or computes otherwise. `is_filtered`: antialias has an
/// effect.
llvm::Error CheckResize(ExportCall& c, llvm::ArrayRef<double> factors, bool is_filtered) {
  const AttributeReader& a = c.attributes();
  const bool aligns = a.String("coordinates") == "align_corners";
  if (a.String("mode") == "cubic" && c.type(0).rank() > 4)
    return c.Reject("ONNX Runtime has no cubic interpolation of volumes");
  if (is_filtered && a.String("mode") == "linear" && a.String("outside") == "skip")
    return c.Reject("linear interpolation of ONNX Runtime cannot skip elements outside of x");
  bool keeps_all = !factors.empty(), keeps_scaled = false;
  for (const auto& [factor, from, to] :
       llvm::zip(factors, Spatial(c.type(0)), Spatial(c.result()))) {
    const bool is_known = from.is_constant() && to.is_constant();
    const bool is_exact = is_known && static_cast<double>(from.constant()) * factor ==
                                          static_cast<double>(to.constant());
    if (is_filtered && aligns && factor < 1 && !is_exact)
      return c.Reject("the antialiasing filter would have the width for the rounded size");
    keeps_all &= factor == 1 || (is_known && from == to);
    keeps_scaled |= factor > 1 && (from == to || (is_filtered && !is_known));
  }
  // With antialias it copies each dim that keeps its size, and else only if all do.
  if (!aligns && keeps_scaled && (is_filtered || keeps_all))
    return c.Reject("Resize of ONNX Runtime does not scale dims that keep their sizes");
  return llvm::Error::success();
}

Exported Resize(ExportCall& c) {
  const AttributeReader& a = c.attributes();
  const DType own = c.dtype();
  const DType dtype = own == DType::kBool ? DType::kU8 : ComputeDType(own);
  std::string x = c.In(0, dtype);
  const size_t rank = c.type(0).rank();
  // ONNX Runtime supports cubic interpolation of images only.
  const bool is_cubic = a.String("mode") == "cubic", is_cubic_line = rank == 3 && is_cubic;
  std::string sizes, scales;
  const std::vector<double> given_factors = Factors(c);
  const bool shrinks = given_factors.empty() ||
                       llvm::any_of(given_factors, [](double factor) { return factor < 1; });
  const bool is_filtered = a.Bool("antialias") && shrinks;
  if (llvm::Error error = CheckResize(c, given_factors, is_filtered)) return error;
  // Corners are aligned to those of the result, whose size ONNX does not round with scales.
  if (given_factors.empty() || a.String("coordinates") == "align_corners") {
    Shape dims = c.result().dims;
    if (is_cubic_line) dims.insert(dims.begin() + 2, Dim(1));
    llvm::Expected<std::string> given = c.Sizes(dims);
    if (!given) return given.takeError();
    sizes = *given;
  } else {
    std::vector<float> factors(rank, 1);
    for (size_t i = 2; i < rank; ++i) {
      factors[i] = static_cast<float>(given_factors[i - 2]);
      // 13/9 rounded to f32 is smaller than 13/9, so that 9 elements would become 12.
      const Dim &from = c.type(0).dims[i], &to = c.result().dims[i];
      if (from.is_constant() && to.is_constant() &&
          static_cast<double>(from.constant()) * factors[i] < static_cast<double>(to.constant()))
        factors[i] = std::nextafter(factors[i], std::numeric_limits<float>::infinity());
    }
    if (is_cubic_line) factors.insert(factors.begin() + 2, 1);
    scales = c.Constant(
        Constant::Copy(DType::kF32, {static_cast<int64_t>(factors.size())}, factors.data()));
  }
  if (is_cubic_line) x = c.Unsqueeze(x, {2});
  const llvm::StringRef rounding = a.String("rounding");
  const std::string nearest = (rounding.starts_with("prefer") ? "round_" : "") + rounding.str();
  const std::string y =
      c.Node("Resize", {x, "", scales, sizes},
             {{"mode", a.String("mode").str()},
              {"coordinate_transformation_mode", a.String("coordinates").str()},
              {"nearest_mode", nearest},
              {"cubic_coeff_a", a.Float("cubic_a")},
              {"antialias", int64_t{is_filtered}},
              {"exclude_outside", int64_t{is_cubic && a.String("outside") == "skip"}}});
  return c.Out(is_cubic_line ? c.Squeeze(y, {2}) : y, dtype);
}

constexpr ExportRule kPoolRules[] = {
    {"max_pool", MaxPool},
    {"max_pool_index", MaxPool},
    {"avg_pool", AvgPool},
    {"lp_pool", LpPool},
    {"max_unpool", MaxUnpool},
    {"plane_gather", PlaneGather},
    {"adaptive_avg_pool", AdaptivePool},
    {"adaptive_max_pool", AdaptivePool},
    {"resize", Resize},
};

}  // namespace

llvm::ArrayRef<ExportRule> PoolExportRules() { return kPoolRules; }

}  // namespace pdl
