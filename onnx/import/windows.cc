#include "onnx/import/windows.h"

namespace pdl {

Windows ReadWindows(Node& n, unsigned spatial, llvm::ArrayRef<Dim> kernel) {
  Windows windows;
  windows.spatial = spatial;
  auto read = [&](llvm::StringRef name, int64_t otherwise, size_t count) {
    Shape shape;
    for (const int64_t size : n.Ints(name)) shape.emplace_back(size);
    if (shape.empty()) shape.assign(count, Dim(otherwise));
    if (shape.size() != count) n.Fail("{0} has {1} entries, not {2}", name, shape.size(), count);
    shape.resize(count, Dim(otherwise));
    return shape;
  };
  windows.kernel = kernel.empty() || n.HasAttribute("kernel_shape")
                       ? read("kernel_shape", 1, spatial)
                       : Shape(kernel);
  windows.stride = read("strides", 1, spatial);
  windows.dilation = read("dilations", 1, spatial);
  const Shape pads = read("pads", 0, 2 * spatial);
  for (unsigned i = 0; i < spatial; ++i) {
    windows.pads.push_back(pads[i]);
    windows.pads.push_back(pads[spatial + i]);
  }
  const std::string word = n.String("auto_pad", "NOTSET");
  if (word == "SAME_UPPER") windows.auto_pad = "same";
  if (word == "SAME_LOWER") windows.auto_pad = "same_lower";
  if (word == "VALID") windows.auto_pad = "valid";
  return windows;
}

}  // namespace pdl
