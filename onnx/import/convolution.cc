// Convolutions, including those of quantized integers.
#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"
#include "onnx/import/windows.h"

namespace pdl {
namespace {

unsigned SpatialRank(Node& n, const Value* x) {
  const unsigned rank = x->type().rank();
  if (rank < 3 || rank > 5) n.Unsupported("{0} spatial dims", static_cast<int>(rank) - 2);
  return rank < 3 ? 0 : rank - 2;
}

std::string WithRank(llvm::StringRef name, unsigned spatial) {
  return (name + llvm::Twine(spatial) + "d").str();
}

llvm::ArrayRef<Dim> KernelOf(const Value* w) {
  return llvm::ArrayRef<Dim>(w->type().dims).drop_front(2);
}

Value* Convolve(Node& n, Value* x, Value* w, Value* bias) {
  if (x == nullptr || w == nullptr) return nullptr;
  const unsigned spatial = SpatialRank(n, x);
  if (n.failed()) return nullptr;
  if (w->type().rank() != spatial + 2) {
    n.Fail("the weights have {0} dims, not {1}", w->type().rank(), spatial + 2);
    return nullptr;
  }
  const Windows windows = ReadWindows(n, spatial, KernelOf(w));
  std::vector<Value*> operands = {x, w};
  if (bias != nullptr) operands.push_back(bias);
  return n.Call(WithRank("conv", spatial), operands,
                {{"stride", windows.stride},
                 {"pad", windows.pad()},
                 {"dilation", windows.dilation},
                 {"groups", n.Int("group", 1)}});
}

void ConvertConv(Node& n) {
  Value* x = n.In(0);
  Value* w = n.In(1);
  n.Out(Convolve(n, x, w, n.OptionalIn(2)));
}

void ConvertConvTranspose(Node& n) {
  Value* x = n.In(0);
  Value* w = n.In(1);
  if (x == nullptr || w == nullptr) return;
  const unsigned spatial = SpatialRank(n, x);
  if (n.failed()) return;
  if (w->type().rank() != spatial + 2) return n.Fail("the weights have {0} dims", w->type().rank());
  Windows windows = ReadWindows(n, spatial, KernelOf(w));
  std::vector<Value*> operands = {x, w};
  if (Value* bias = n.OptionalIn(2)) operands.push_back(bias);
  std::vector<NamedAttribute> attributes = {
      {"stride", windows.stride}, {"dilation", windows.dilation}, {"groups", n.Int("group", 1)}};
  const std::vector<int64_t> extra = n.Ints("output_padding");
  const std::vector<int64_t> shape = n.Ints("output_shape");
  Shape margin(spatial, Dim(0));
  for (unsigned i = 0; i < spatial && i < extra.size(); ++i) margin[i] = extra[i];
  if (windows.auto_pad == "valid") windows.auto_pad.clear();
  if (!shape.empty() || !windows.auto_pad.empty()) {
    // The padding is chosen so that the result has the required size.
    if (!shape.empty() && shape.size() != spatial && shape.size() != spatial + 2)
      return n.Fail("output_shape has {0} entries", shape.size());
    for (unsigned i = 0; i < spatial; ++i) {
      const Dim& size = x->type().dims[2 + i];
      const Dim expected =
          shape.empty() ? size * windows.stride[i] : Dim(shape[shape.size() - spatial + i]);
      const Dim whole = windows.stride[i] * (size - 1) + margin[i] +
                        (windows.kernel[i] - 1) * windows.dilation[i] + 1;
      const Dim total = Dim::Max(whole - expected, 0);
      const Dim half = Dim::FloorDiv(total, 2);
      const bool more_at_end = windows.auto_pad == "same";
      windows.pads[2 * i] = more_at_end ? half : total - half;
      windows.pads[2 * i + 1] = more_at_end ? total - half : half;
      // The requested size is larger than the windows reach.
      margin[i] = margin[i] + Dim::Max(expected - whole, 0);
    }
  }
  attributes.push_back({"pad", windows.pads});
  if (llvm::any_of(margin, [](const Dim& dim) { return !dim.is_constant(0); }))
    attributes.push_back({"output_padding", margin});
  n.Out(n.Call(WithRank("conv_transpose", spatial), operands, attributes));
}

// --- Integers -----------------------------------------------------------------------------------

/// x - zero_point as i32; the zero point is one number, or one for each index of an axis.
Value* WithoutZero(Node& n, Value* x, Value* zero, unsigned axis) {
  Value* wide = n.Cast(x, DType::kI32);
  if (zero == nullptr || wide == nullptr) return wide;
  if (zero->type().rank() == 1 && !zero->type().dims[0].is_constant(1)) {
    if (axis >= x->type().rank()) {
      n.Fail("there is no axis {0} for the zero points", axis);
      return nullptr;
    }
    Shape dims(x->type().rank(), Dim(1));
    dims[axis] = zero->type().dims[0];
    zero = n.Reshape(zero, dims);
  } else if (zero->type().rank() <= 1) {
    zero = n.Reshape(zero, {});
  }
  return n.Sub(wide, n.Cast(zero, DType::kI32));
}

void ConvertConvInteger(Node& n) {
  Value* x = n.In(0);
  Value* w = n.In(1);
  if (x == nullptr || w == nullptr) return;
  n.Out(Convolve(n, WithoutZero(n, x, n.OptionalIn(2), 1), WithoutZero(n, w, n.OptionalIn(3), 0),
                 nullptr));
}

void ConvertQLinearConv(Node& n) {
  Value* x = WithoutZero(n, n.In(0), n.In(2), 1);
  Value* w = WithoutZero(n, n.In(3), n.In(5), 0);
  Value* y = Convolve(n, x, w, n.OptionalIn(8));
  Value* w_scale = n.In(4);
  Value* zero = n.In(7);
  if (y == nullptr || w_scale == nullptr || zero == nullptr) return;
  if (w_scale->type().rank() == 1 && !w_scale->type().dims[0].is_constant(1)) {
    Shape dims(y->type().rank(), Dim(1));
    dims[1] = w_scale->type().dims[0];
    w_scale = n.Reshape(w_scale, dims);
  } else {
    w_scale = n.Reshape(w_scale, {});
  }
  Value* real = n.Mul(n.Cast(y, DType::kF32), n.Mul(n.Reshape(n.In(1), {}), w_scale));
  n.Out(n.Call("quantize", {real, n.Reshape(n.In(6), {}), n.Reshape(zero, {})}));
}

void ConvertCol2Im(Node& n) {
  Value* columns = n.In(0);
  const Shape size = n.SizesIn(1), kernel = n.SizesIn(2);
  if (columns == nullptr || n.failed()) return;
  const Windows windows = ReadWindows(n, static_cast<unsigned>(size.size()), kernel);
  n.Out(n.Call("col2im", {columns},
               {{"size", size},
                {"kernel", kernel},
                {"stride", windows.stride},
                {"pad", windows.pad()},
                {"dilation", windows.dilation}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> ConvolutionRules() {
  static const OnnxRule kRules[] = {{"Conv", ConvertConv},
                                    {"ConvTranspose", ConvertConvTranspose},
                                    {"ConvInteger", ConvertConvInteger},
                                    {"QLinearConv", ConvertQLinearConv},
                                    {"Col2Im", ConvertCol2Im}};
  return kRules;
}

}  // namespace pdl
