// Export of convolutions and of im2col.
#include "onnx/export/window.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

using Exported = llvm::Expected<ExportedNames>;

const Dim& Entry(const Shape& shape, size_t i) { return shape[shape.size() == 1 ? 0 : i]; }

const std::string* PadWord(ExportCall& c) {
  return std::get_if<std::string>(c.attributes().Find("pad"));
}

/// Reads the padding; "same" pads to get ceil(size / stride) windows.
llvm::Error ReadPads(ExportCall& c, llvm::ArrayRef<Dim> in, ExportedWindow* window) {
  const size_t rank = window->kernel.size();
  const std::string* word = PadWord(c);
  Shape begin, end;
  bool is_known = true, is_auto = word != nullptr, is_empty = false;
  for (size_t i = 0; i < rank; ++i) {
    Dim before = 0, after = 0;
    if (!word) {
      const Shape& pad = c.attributes().Dims("pad");
      const bool is_pair = pad.size() == 2 * rank;
      before = is_pair ? pad[2 * i] : Entry(pad, i);
      after = is_pair ? pad[2 * i + 1] : Entry(pad, i);
    } else if (*word != "valid") {
      const int64_t extent = (window->kernel[i] - 1) * window->dilation[i] + 1;
      const int64_t stride = window->stride[i];
      const Dim out = Dim::FloorDiv(in[i] + (stride - 1), stride);
      const Dim total =
          extent <= 1 ? Dim(0) : Dim::Max((out - 1) * Dim(stride) + extent - in[i], 0);
      before = Dim::FloorDiv(total, 2);
      after = total - before;
      if (*word == "same_lower") std::swap(before, after);
      // ONNX Runtime rejects or ignores dilation with auto_pad, and pads too little if the stride
      // is larger than the window.
      is_auto &= window->dilation[i] == 1 && extent >= stride;
      // There is no window, and the padding of none is too small for one.
      is_empty |= in[i].is_constant() && in[i].constant() == 0;
    }
    is_known &= before.is_constant() && after.is_constant();
    begin.push_back(before);
    end.push_back(after);
  }
  for (size_t i = 0; i < rank; ++i) {
    window->begin.push_back(is_known ? begin[i].constant() : 0);
    window->end.push_back(is_known ? end[i].constant() : 0);
  }
  if (is_known && !is_empty) return llvm::Error::success();
  if (is_auto || is_empty) {
    window->same = *word == "same" ? "SAME_UPPER" : "SAME_LOWER";
    return llvm::Error::success();
  }
  window->padding = begin;
  window->padding.append(end.begin(), end.end());
  return llvm::Error::success();
}

}  // namespace

std::vector<OnnxAttribute> ExportedWindow::Attributes() const {
  std::vector<OnnxAttribute> attributes = {
      {"kernel_shape", kernel}, {"strides", stride}, {"dilations", dilation}};
  if (!same.empty()) {
    attributes.push_back({"auto_pad", same});
    return attributes;
  }
  std::vector<int64_t> pads = begin;
  pads.insert(pads.end(), end.begin(), end.end());
  attributes.push_back({"pads", pads});
  return attributes;
}

llvm::Expected<std::string> ExportedWindow::Padded(ExportCall& c, const std::string& x, double fill,
                                                   DType dtype) const {
  if (padding.empty()) return x;
  llvm::Expected<std::string> sizes = c.Sizes(padding);
  if (!sizes) return sizes.takeError();
  // With axes: without them, ONNX Runtime moves the padding into the window, whose limits it may
  // exceed.
  std::vector<int64_t> axes(kernel.size());
  std::iota(axes.begin(), axes.end(), 2);
  return c.Node("Pad", {x, *sizes, c.Scalar(fill, dtype), c.Ints(axes)});
}

llvm::Expected<std::vector<int64_t>> SpatialEntries(ExportCall& c, llvm::StringRef name,
                                                    size_t rank) {
  const Shape& given = c.attributes().Dims(name);
  Shape all;
  for (size_t i = 0; i < rank; ++i) all.push_back(Entry(given, i));
  return c.Fixed(all, "'" + name.str() + "'");
}

llvm::Expected<ExportedWindow> ReadExportedWindow(ExportCall& c, llvm::ArrayRef<Dim> kernel,
                                                  llvm::ArrayRef<Dim> in) {
  ExportedWindow window;
  llvm::Expected<std::vector<int64_t>> sizes = c.Fixed(kernel, "the size of the window");
  if (!sizes) return sizes.takeError();
  window.kernel = window.stride = *sizes;
  if (c.attributes().Has("stride")) {
    llvm::Expected<std::vector<int64_t>> stride = SpatialEntries(c, "stride", kernel.size());
    if (!stride) return stride.takeError();
    window.stride = *stride;
  }
  llvm::Expected<std::vector<int64_t>> dilation = SpatialEntries(c, "dilation", kernel.size());
  if (!dilation) return dilation.takeError();
  window.dilation = *dilation;
  if (llvm::Error error = ReadPads(c, in, &window)) return error;
  return window;
}

namespace {

/// ONNX Runtime convolves only floats.
DType ConvDType(DType dtype) {
  const DType computed = ComputeDType(dtype);
  return IsFloat(computed) ? computed : DType::kF32;
}

/// Without input channels the result is the bias; ONNX Runtime would leave it uninitialized.
Exported WithoutChannels(ExportCall& c) {
  llvm::Expected<std::string> sizes = c.Sizes(c.result().dims);
  if (!sizes) return sizes.takeError();
  std::string value = c.Scalar(0, c.dtype());
  if (c.num_inputs() > 2) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i <= static_cast<int64_t>(Spatial(c.result()).size()); ++i)
      axes.push_back(i);
    value = c.Unsqueeze(c.In(2), axes);
  }
  return c.Node("Expand", {value, *sizes});
}

Exported Conv(ExportCall& c) {
  llvm::Expected<ExportedWindow> window =
      ReadExportedWindow(c, Spatial(c.type(1)), Spatial(c.type(0)));
  if (!window) return window.takeError();
  if (c.type(1).dims[1].is_constant(0)) return WithoutChannels(c);
  const DType dtype = ConvDType(c.dtype());
  llvm::Expected<std::string> x = window->Padded(c, c.In(0, dtype), 0, dtype);
  if (!x) return x.takeError();
  std::vector<std::string> inputs = {*x};
  for (unsigned i = 1; i < c.num_inputs(); ++i) inputs.push_back(c.In(i, dtype));
  std::vector<OnnxAttribute> attributes = window->Attributes();
  attributes.push_back({"group", c.attributes().Int("groups")});
  return c.Out(c.Node("Conv", inputs, attributes), dtype);
}

/// Chooses the padding at the end so that the result has the declared size.
Exported ConvTranspose(ExportCall& c) {
  const llvm::ArrayRef<Dim> in = Spatial(c.type(0)), out = Spatial(c.result());
  llvm::Expected<std::vector<int64_t>> kernel =
      c.Fixed(Spatial(c.type(1)), "the size of the window");
  if (!kernel) return kernel.takeError();
  const size_t rank = kernel->size();
  llvm::Expected<std::vector<int64_t>> stride = SpatialEntries(c, "stride", rank);
  if (!stride) return stride.takeError();
  llvm::Expected<std::vector<int64_t>> dilation = SpatialEntries(c, "dilation", rank);
  if (!dilation) return dilation.takeError();
  std::vector<int64_t> begin, end, more;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = ((*kernel)[i] - 1) * (*dilation)[i] + 1;
    const Dim whole = (in[i] - 1) * Dim((*stride)[i]) + extent;
    // The number of elements cut off on both sides; a negative number of them is added at the end.
    const Dim cut = whole - out[i];
    if (!cut.is_constant())
      return c.Reject("the padding that 'pad' and 'size' result in must be known");
    Dim first = 0;
    if (const std::string* word = PadWord(c)) {
      const int64_t total = std::max<int64_t>(extent - (*stride)[i], 0);
      first = *word == "valid" ? 0 : *word == "same" ? total / 2 : total - total / 2;
    } else {
      const Shape& pad = c.attributes().Dims("pad");
      first = pad.size() == 2 * rank ? pad[2 * i] : Entry(pad, i);
    }
    if (!first.is_constant()) return c.Reject("'pad' must be known at export");
    const int64_t rest = cut.constant() - first.constant();
    begin.push_back(first.constant());
    end.push_back(std::max<int64_t>(rest, 0));
    more.push_back(std::max<int64_t>(-rest, 0));
  }
  begin.insert(begin.end(), end.begin(), end.end());
  const DType dtype = ConvDType(c.dtype());
  std::vector<std::string> inputs;
  for (unsigned i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.In(i, dtype));
  return c.Out(c.Node("ConvTranspose", inputs,
                      {{"kernel_shape", *kernel},
                       {"strides", *stride},
                       {"dilations", *dilation},
                       {"pads", begin},
                       {"output_padding", more},
                       {"group", c.attributes().Int("groups")}}),
               dtype);
}

/// The window of a call of im2col or col2im, over the spatial dims `image`.
llvm::Expected<ExportedWindow> ColumnWindow(ExportCall& c, llvm::ArrayRef<Dim> image) {
  const Shape& given = c.attributes().Dims("kernel");
  Shape kernel;
  for (size_t i = 0; i < image.size(); ++i) kernel.push_back(Entry(given, i));
  return ReadExportedWindow(c, kernel, image);
}

/// A convolution with one-hot weights.
Exported Im2Col(ExportCall& c) {
  const Shape& dims = c.type(0).dims;
  llvm::Expected<ExportedWindow> window = ColumnWindow(c, Spatial(c.type(0)));
  if (!window) return window.takeError();
  if (!dims[1].is_constant()) return c.Reject("the number of channels must be known");
  const int64_t channels = dims[1].constant();
  if (channels == 0) return c.Reject("there must be a channel");
  int64_t kernel_size = 1;
  for (int64_t size : window->kernel) kernel_size *= size;
  std::vector<float> weights(static_cast<size_t>(channels * kernel_size * kernel_size), 0);
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t offset = 0; offset < kernel_size; ++offset)
      weights[static_cast<size_t>((channel * kernel_size + offset) * kernel_size + offset)] = 1;
  std::vector<int64_t> sizes = {channels * kernel_size, 1};
  sizes.insert(sizes.end(), window->kernel.begin(), window->kernel.end());
  const DType dtype = ConvDType(c.dtype());
  const std::string w = c.Constant(Constant::Copy(DType::kF32, sizes, weights.data()));
  std::vector<OnnxAttribute> attributes = window->Attributes();
  attributes.push_back({"group", channels});
  llvm::Expected<std::string> x = window->Padded(c, c.In(0, dtype), 0, dtype);
  if (!x) return x.takeError();
  const std::string y =
      c.Node("Conv", {*x, dtype == DType::kF32 ? w : c.Cast(w, dtype)}, attributes);
  // The spatial sizes of the result become one axis.
  llvm::Expected<std::string> columns = c.Reshape(y, {}, c.result().dims);
  if (!columns) return columns.takeError();
  return c.Out(*columns, dtype);
}

Exported Col2Im(ExportCall& c) {
  llvm::Expected<ExportedWindow> window = ColumnWindow(c, Spatial(c.result()));
  if (!window) return window.takeError();
  if (!window->same.empty() || !window->padding.empty())
    return c.Reject("'pad' must be known at export");
  // ONNX Runtime computes dilated windows of 2 dims only correctly; a line is an image of one row.
  const size_t rank = window->kernel.size();
  const bool is_dilated = llvm::any_of(window->dilation, [](int64_t size) { return size != 1; });
  if (is_dilated && rank > 2)
    return c.Reject("Col2Im of ONNX Runtime is wrong for dilated windows of 3 dims");
  const bool is_line = is_dilated && rank == 1;
  Shape sizes(Spatial(c.result()).begin(), Spatial(c.result()).end());
  if (is_line) {
    sizes.insert(sizes.begin(), Dim(1));
    for (std::vector<int64_t>* ones : {&window->kernel, &window->stride, &window->dilation})
      ones->insert(ones->begin(), 1);
    for (std::vector<int64_t>* zeros : {&window->begin, &window->end})
      zeros->insert(zeros->begin(), 0);
  }
  llvm::Expected<std::string> image = c.Sizes(sizes);
  if (!image) return image.takeError();
  const DType dtype = ConvDType(c.dtype());
  std::vector<int64_t> pads = window->begin;
  pads.insert(pads.end(), window->end.begin(), window->end.end());
  const std::string y =
      c.Node("Col2Im", {c.In(0, dtype), *image, c.Ints(window->kernel)},
             {{"dilations", window->dilation}, {"pads", pads}, {"strides", window->stride}});
  return c.Out(is_line ? c.Squeeze(y, {2}) : y, dtype);
}

constexpr ExportRule kWindowRules[] = {
    {"conv1d", Conv},
    {"conv2d", Conv},
    {"conv3d", Conv},
    {"conv_transpose1d", ConvTranspose},
    {"conv_transpose2d", ConvTranspose},
    {"conv_transpose3d", ConvTranspose},
    {"im2col", Im2Col},
    {"col2im", Col2Im},
};

}  // namespace

llvm::ArrayRef<ExportRule> WindowExportRules() { return kWindowRules; }

}  // namespace pdl
