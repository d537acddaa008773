// The strided views of depth_to_space and space_to_depth, shared by all devices.
#ifndef PDL_KERNELS_CONVOLUTION_DEPTH_SPACE_H_
#define PDL_KERNELS_CONVOLUTION_DEPTH_SPACE_H_

#include <algorithm>

#include "kernels/core/strided_copy.h"

namespace pdl {

/// A view of x, which has these sizes, whose order is that of the result's elements. `dcr`: the
/// position in the block is the outer index of the channels.
inline StridedView DepthSpaceView(llvm::ArrayRef<int64_t> sizes, int64_t block, bool dcr,
                                  bool to_space) {
  const llvm::ArrayRef<int64_t> spatial = sizes.drop_front(2);
  const size_t rank = spatial.size();
  int64_t places = 1;
  for (size_t i = 0; i < rank; ++i) places *= block;
  StridedView view;
  if (to_space) {
    // x is [N, C, block..., size...] or [N, block..., C, size...]; y is [N, C, (size, block)...].
    const int64_t channels = sizes[1] / places;
    int64_t plane = 1;
    for (const int64_t size : spatial) plane *= size;
    view.sizes = {sizes[0], channels};
    view.strides = {sizes[1] * plane, dcr ? plane : places * plane};
    int64_t size_stride = plane, block_stride = (dcr ? channels * places : places) * plane;
    for (size_t i = 0; i < rank; ++i) {
      size_stride /= std::max<int64_t>(1, spatial[i]);
      block_stride /= block;
      view.sizes.append({spatial[i], block});
      view.strides.append({size_stride, block_stride});
    }
    return view;
  }
  // x is [N, C, (size, block)...]; y is [N, C, block..., size...] or [N, block..., C, size...].
  llvm::SmallVector<int64_t, 6> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  view.sizes.push_back(sizes[0]);
  view.strides.push_back(strides[0]);
  const auto add_channels = [&] {
    view.sizes.push_back(sizes[1]);
    view.strides.push_back(strides[1]);
  };
  if (!dcr) add_channels();
  for (size_t i = 0; i < rank; ++i) {
    view.sizes.push_back(block);
    view.strides.push_back(strides[2 + i]);
  }
  if (dcr) add_channels();
  for (size_t i = 0; i < rank; ++i) {
    view.sizes.push_back(spatial[i] / block);
    view.strides.push_back(strides[2 + i] * block);
  }
  return view;
}

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_DEPTH_SPACE_H_
