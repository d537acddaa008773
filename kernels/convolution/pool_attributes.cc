#include "kernels/convolution/pool_attributes.h"

namespace pdl {

llvm::Expected<PoolWindow> EvaluatePool(const PrepareContext& context,
                                        const AttributeReader& attributes, const OperandType& whole,
                                        const OperandType& pooled, bool adaptive) {
  const auto in = llvm::ArrayRef<int64_t>(whole.sizes).drop_front(2);
  const auto out = llvm::ArrayRef<int64_t>(pooled.sizes).drop_front(2);
  PoolWindow pool;
  pool.planes = whole.sizes[0] * whole.sizes[1];
  if (adaptive) {
    for (size_t i = 0; i < in.size(); ++i) {
      PoolDim& d = pool.d[3 - in.size() + i];
      d.adaptive = true;
      d.window.in = in[i];
      d.window.out = out[i];
    }
    return pool;
  }
  auto kernel = EvaluateSpatialAttribute(context, attributes, "kernel", in.size());
  if (!kernel) return kernel.takeError();
  auto window = EvaluateWindow(context, attributes, *kernel, in, out);
  if (!window) return window.takeError();
  for (size_t i = 0; i < 3; ++i) pool.d[i].window = window->d[i];
  if (attributes.Has("divisor")) pool.divisor = attributes.Int("divisor");
  if (attributes.Has("count_include_pad")) {
    pool.counts_padding = attributes.Bool("count_include_pad");
  }
  return pool;
}

}  // namespace pdl
