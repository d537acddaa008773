// Pooling.
#include "onnx/import/node.h"
#include "onnx/import/rules.h"
#include "onnx/import/windows.h"

namespace pdl {
namespace {

std::vector<NamedAttribute> PoolAttributes(Node& n, const Windows& windows) {
  return {{"kernel", windows.kernel},
          {"stride", windows.stride},
          {"pad", windows.pad()},
          {"dilation", windows.dilation},
          {"ceil_mode", n.Int("ceil_mode", 0) != 0}};
}

bool CheckRank(Node& n, const Value* x) {
  if (x == nullptr || n.failed()) return false;
  const unsigned rank = x->type().rank();
  if (rank < 3 || rank > 5) n.Unsupported("{0} spatial dims", static_cast<int>(rank) - 2);
  return !n.failed();
}

/// Converts indices in a plane to column-major order.
Value* ByColumns(Node& n, Value* index, const Shape& dims) {
  auto size = [&](const Dim& dim) { return n.Reshape(n.SizeValue({dim}), {}); };
  Value* column_major = nullptr;
  for (size_t d = 2; d < dims.size(); ++d) {
    Dim before = 1, after = 1;
    for (size_t i = 2; i < d; ++i) before = before * dims[i];
    for (size_t i = d + 1; i < dims.size(); ++i) after = after * dims[i];
    Value* at = n.Call("mod", {n.Call("floor_div", {index, size(after)}), size(dims[d])});
    Value* part = n.Mul(at, size(before));
    column_major = column_major == nullptr ? part : n.Add(column_major, part);
  }
  return column_major;
}

void ConvertMaxPool(Node& n) {
  Value* x = n.In(0);
  if (!CheckRank(n, x)) return;
  const Windows windows = ReadWindows(n, x->type().rank() - 2);
  const std::vector<NamedAttribute> attributes = PoolAttributes(n, windows);
  n.Out(0, n.Call("max_pool", {x}, attributes));
  if (!n.IsUsed(1)) return;
  // ONNX counts indices in the entire tensor, pdl in the plane of a channel.
  Value* index = n.Call("max_pool_index", {x}, attributes);
  if (index == nullptr) return;
  const Shape& dims = x->type().dims;
  if (n.Int("storage_order", 0) != 0) index = ByColumns(n, index, dims);
  const Dim plane = NumElements(llvm::ArrayRef<Dim>(dims).drop_front(2));
  Value* first = n.Call("range", {}, {{"start", Shape{0}}, {"stop", Shape{dims[0] * dims[1]}}});
  Shape planes = {dims[0], dims[1]};
  while (planes.size() < dims.size()) planes.emplace_back(1);
  first = n.Mul(first, n.Reshape(n.SizeValue({plane}), {}));
  n.Out(1, n.Add(index, n.Reshape(first, planes)));
}

void ConvertAveragePool(Node& n) {
  Value* x = n.In(0);
  if (!CheckRank(n, x)) return;
  const Windows windows = ReadWindows(n, x->type().rank() - 2);
  std::vector<NamedAttribute> attributes = PoolAttributes(n, windows);
  attributes.push_back({"count_include_pad", n.Int("count_include_pad", 0) != 0});
  n.Out(n.Call("avg_pool", {x}, attributes));
}

void ConvertLpPool(Node& n) {
  Value* x = n.In(0);
  if (!CheckRank(n, x)) return;
  const Windows windows = ReadWindows(n, x->type().rank() - 2);
  std::vector<NamedAttribute> attributes = PoolAttributes(n, windows);
  attributes.push_back({"p", static_cast<double>(n.Int("p", 2))});
  n.Out(n.Call("lp_pool", {x}, attributes));
}

void ConvertGlobalPool(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  std::vector<int64_t> axes;
  for (unsigned i = 2; i < x->type().rank(); ++i) axes.push_back(i);
  if (n.op_type() == "GlobalLpPool") {
    const auto p = static_cast<double>(n.Int("p", 2));
    Value* sum = n.Call("sum", {n.Call("pow", {n.Call("abs", {x}), n.Scalar(p, x)})},
                        {{"axes", axes}, {"keep", true}});
    return n.Out(n.Call("pow", {sum, n.Scalar(1 / p, x)}));
  }
  n.Out(n.Call(n.op_type() == "GlobalMaxPool" ? "max" : "mean", {x},
               {{"axes", axes}, {"keep", true}}));
}

void ConvertMaxUnpool(Node& n) {
  Value* x = n.In(0);
  Value* index = n.In(1);
  if (!CheckRank(n, x) || index == nullptr) return;
  const Windows windows = ReadWindows(n, x->type().rank() - 2);
  const Shape& dims = x->type().dims;
  Shape natural;
  for (unsigned i = 0; i < windows.spatial; ++i) {
    natural.push_back((dims[2 + i] - 1) * windows.stride[i] + windows.kernel[i] -
                      windows.pads[2 * i] - windows.pads[2 * i + 1]);
  }
  Shape size = natural;
  if (n.Has(2)) {
    const Shape expected = n.SizesIn(2);
    if (n.failed()) return;
    if (expected.size() != dims.size())
      return n.Fail("output_shape has {0} entries", expected.size());
    size.assign(expected.begin() + 2, expected.end());
  }
  // ONNX counts indices in the entire result of natural size, pdl in a plane.
  const Dim plane = NumElements(natural);
  Value* local = n.Call("mod", {index, n.Reshape(n.SizeValue({plane}), {})});
  Value* y = n.Call("max_unpool", {x, local}, {{"size", natural}});
  if (size == natural) return n.Out(y);
  // A larger result is padded with zeros at the end.
  std::vector<int64_t> axes;
  Shape before, after;
  for (unsigned i = 0; i < windows.spatial; ++i) {
    axes.push_back(2 + i);
    before.emplace_back(0);
    after.push_back(size[i] - natural[i]);
  }
  n.Out(n.Call("pad", {y}, {{"before", before}, {"after", after}, {"axes", axes}}));
}

}  // namespace

llvm::ArrayRef<OnnxRule> PoolingRules() {
  static const OnnxRule kRules[] = {{"MaxPool", ConvertMaxPool},
                                    {"AveragePool", ConvertAveragePool},
                                    {"LpPool", ConvertLpPool},
                                    {"GlobalAveragePool", ConvertGlobalPool},
                                    {"GlobalMaxPool", ConvertGlobalPool},
                                    {"GlobalLpPool", ConvertGlobalPool},
                                    {"MaxUnpool", ConvertMaxUnpool}};
  return kRules;
}

}  // namespace pdl
