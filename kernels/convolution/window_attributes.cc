#include "kernels/convolution/window_attributes.h"

namespace pdl {
namespace {

// The padding of one dim if the attribute is a string.
struct Padding {
  Dim begin, end;
};
Padding WordPadding(llvm::StringRef word, const Dim& in, const Dim& extent, const Dim& stride) {
  if (word == "valid") return {0, 0};
  const Dim out = Dim::FloorDiv(in + stride - 1, stride);
  const Dim total = Dim::Max((out - 1) * stride + extent - in, 0);
  const Dim half = Dim::FloorDiv(total, 2);
  return word == "same" ? Padding{half, total - half} : Padding{total - half, half};
}

// Entry `i` of an attribute that has one entry for all dims or one for each.
const Dim& Entry(const Shape& shape, unsigned i) { return shape[shape.size() == 1 ? 0 : i]; }

const std::string* Word(const AttributeReader& attributes) {
  return std::get_if<std::string>(attributes.Find("pad"));
}

// The padding at the begin and the end of dim `i`, for an attribute whose length has been checked.
Padding PadEntry(const Shape& pad, unsigned i, unsigned rank) {
  if (pad.size() == 2 * rank) return {pad[2 * i], pad[2 * i + 1]};
  return {Entry(pad, i), Entry(pad, i)};
}

}  // namespace

void WindowMaker::AddKernel() {
  AddAttr<Shape>("kernel", "the window's sizes: one for all dims, or one for each");
}

void WindowMaker::AddStride(bool is_kernel) {
  if (is_kernel) {
    AddAttr<Shape>(
        "stride",
        "the step between windows: one for all dims, or one for each; default: the kernel")
        .Optional();
  } else {
    AddAttr<Shape>("stride", "the step between windows: one for all dims, or one for each")
        .Default({1});
  }
}

void WindowMaker::AddPadAndDilation() {
  AddAttr<Shape>("pad",
                 "the padding around x: one number for all sides, one for each dim, or begin and "
                 "end for each dim. \"same\": as much as gives size / stride windows, rounded up, "
                 "with an odd element at the end (\"same_lower\": at the begin); \"valid\": none")
      .OneOf({"same", "same_lower", "valid"})
      .Default({0});
  AddAttr<Shape>("dilation",
                 "the step between the elements of a window: one for all dims, or one for each")
      .Default({1});
}

llvm::Error RequireEntryAtLeast(InferenceContext& context, llvm::StringRef attribute,
                                const Dim& entry, int64_t least) {
  if (entry.ProvablyAtMost(least - 1)) {
    return context.FailAtAttribute(attribute, Code::kAttributeRange,
                                   "'{0}' must be at least {1}, got {2}", attribute, least,
                                   entry.ToString());
  }
  const std::string message = llvm::formatv("'{0}' is too small", attribute).str();
  return context.RequireAtLeast(entry, least, {}, message);
}

llvm::Error RequireSpatialRank(InferenceContext& context, unsigned input, unsigned rank) {
  const Type& type = context.input(input);
  if (rank == 0 ? type.rank() >= 3 && type.rank() <= 5 : type.rank() == rank + 2) {
    return llvm::Error::success();
  }
  const char* names[] = {"[N, C, ...] with 1 to 3 spatial dims", "[N, C, L]", "[N, C, H, W]",
                         "[N, C, D, H, W]"};
  return context.FailAt({input}, Code::kRank, "'{0}' must be {1}, got {2}",
                        context.def().signature.inputs[input].name, names[rank], type.ToString());
}

llvm::Expected<Shape> ReadSpatialAttribute(InferenceContext& context, llvm::StringRef name,
                                           unsigned rank, int64_t least) {
  const Shape& given = context.attributes().Dims(name);
  if (given.size() != 1 && given.size() != rank) {
    return context.FailAtAttribute(
        name, Code::kRank, "'{0}' must have one entry, or one for each of {1} dims, got {2}", name,
        rank, given.size());
  }
  Shape entries;
  for (unsigned i = 0; i < rank; ++i) {
    entries.push_back(Entry(given, i));
    if (llvm::Error error = RequireEntryAtLeast(context, name, entries.back(), least)) {
      return error;
    }
  }
  return entries;
}

llvm::Expected<WindowDims> ReadWindow(InferenceContext& context, llvm::ArrayRef<Dim> kernel,
                                      llvm::ArrayRef<Dim> in) {
  const unsigned rank = static_cast<unsigned>(kernel.size());
  WindowDims window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.stride = window.kernel;
  if (context.attributes().Has("stride")) {
    auto stride = ReadSpatialAttribute(context, "stride", rank, 1);
    if (!stride) return stride.takeError();
    window.stride = std::move(*stride);
  }
  auto dilation = ReadSpatialAttribute(context, "dilation", rank, 1);
  if (!dilation) return dilation.takeError();
  window.dilation = std::move(*dilation);

  if (const std::string* word = Word(context.attributes())) {
    for (unsigned i = 0; i < rank; ++i) {
      const Padding padding = WordPadding(*word, in[i], window.Extent(i), window.stride[i]);
      window.begin.push_back(padding.begin);
      window.end.push_back(padding.end);
    }
    return window;
  }
  const Shape& pad = context.attributes().Dims("pad");
  if (pad.size() != 1 && pad.size() != rank && pad.size() != 2 * rank) {
    return context.FailAtAttribute(
        "pad", Code::kRank,
        "'pad' must have one entry, or one or two for each of {0} dims, got {1}", rank, pad.size());
  }
  for (const Dim& entry : pad) {
    if (llvm::Error error = RequireEntryAtLeast(context, "pad", entry, 0)) return error;
  }
  for (unsigned i = 0; i < rank; ++i) {
    const Padding padding = PadEntry(pad, i, rank);
    window.begin.push_back(padding.begin);
    window.end.push_back(padding.end);
  }
  return window;
}

llvm::Expected<Shape> CountWindows(InferenceContext& context, const WindowDims& window,
                                   llvm::ArrayRef<Dim> in, unsigned input) {
  const std::string* word = Word(context.attributes());
  const bool same = word != nullptr && *word != "valid";
  Shape out;
  for (unsigned i = 0; i < window.rank(); ++i) {
    const Dim& stride = window.stride[i];
    if (same) {
      out.push_back(Dim::FloorDiv(in[i] + stride - 1, stride));
      continue;
    }
    const Dim padded = in[i] + window.begin[i] + window.end[i];
    if (llvm::Error error = context.RequireAtLeast(padded, window.Extent(i), {input},
                                                   "the window must fit into the padded size")) {
      return error;
    }
    out.push_back(Dim::FloorDiv(padded - window.Extent(i), stride) + 1);
  }
  return out;
}

llvm::Expected<Sizes> EvaluateSpatialAttribute(const PrepareContext& context,
                                               const AttributeReader& attributes,
                                               llvm::StringRef name, size_t rank) {
  Sizes sizes;
  for (unsigned i = 0; i < rank; ++i) {
    llvm::Expected<int64_t> size = context.Evaluate(Entry(attributes.Dims(name), i));
    if (!size) return size.takeError();
    sizes.push_back(*size);
  }
  return sizes;
}

llvm::Expected<SlidingWindow> EvaluateWindow(const PrepareContext& context,
                                             const AttributeReader& attributes,
                                             llvm::ArrayRef<int64_t> kernel,
                                             llvm::ArrayRef<int64_t> in,
                                             llvm::ArrayRef<int64_t> out) {
  const size_t rank = kernel.size();
  Sizes stride(kernel);
  if (attributes.Has("stride")) {
    auto given = EvaluateSpatialAttribute(context, attributes, "stride", rank);
    if (!given) return given.takeError();
    stride = std::move(*given);
  }
  auto dilation = EvaluateSpatialAttribute(context, attributes, "dilation", rank);
  if (!dilation) return dilation.takeError();
  SlidingWindow window;
  for (unsigned i = 0; i < rank; ++i) {
    WindowDim& d = window.d[3 - rank + i];
    d.in = in[i];
    if (!out.empty()) d.out = out[i];
    d.kernel = kernel[i];
    d.stride = stride[i];
    d.dilation = (*dilation)[i];
    const Dim extent = (d.kernel - 1) * d.dilation + 1;
    const std::string* word = Word(attributes);
    const Padding padding = word != nullptr
                                ? WordPadding(*word, d.in, extent, d.stride)
                                : PadEntry(attributes.Dims("pad"), i, static_cast<unsigned>(rank));
    llvm::Expected<int64_t> begin = context.Evaluate(padding.begin);
    if (!begin) return begin.takeError();
    d.begin = *begin;
    llvm::Expected<int64_t> end = context.Evaluate(padding.end);
    if (!end) return end.takeError();
    d.end = *end;
    // A stride or dilation that is never applied may have any value, but libraries take 32 bits.
    constexpr int64_t kLongest = INT32_MAX;
    if (d.kernel <= 1 && d.dilation > kLongest) d.dilation = 1;
    if (!out.empty() && d.out <= 1 && d.stride > kLongest) d.stride = 1;
    if (!out.empty()) continue;
    auto count =
        context.Evaluate(Dim::FloorDiv(padding.begin + d.in + padding.end - extent, d.stride) + 1);
    if (!count) return count.takeError();
    d.out = *count;
  }
  return window;
}

}  // namespace pdl
