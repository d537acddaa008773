// Convolutions by im2col and matmul, for dtypes that oneDNN does not support.
#include <algorithm>

#include "kernels/convolution/columns.h"
#include "kernels/convolution/conv_plan.h"
#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/linear/gemm.h"

namespace pdl {
namespace {

using PlainTypes = TypeList<double, int8_t, int32_t, int64_t, uint8_t>;

// A task is one group of channels of one image; for the weights, some channels of one group.
template <class T>
class PlainConvPlan : public ConvPlan {
 public:
  PlainConvPlan(ConvKind kind, const ConvSizes& sizes) : kind_(kind), s_(sizes) {
    if (kind == ConvKind::kWeights) {
      channels_per_task_ = std::max<int64_t>(1, s_.group_channels() / kMaxPieces);
      const int64_t blocks = (s_.group_channels() + channels_per_task_ - 1) / channels_per_task_;
      tasks_ = s_.groups * blocks;
      columns_ = SaturatingProduct({channels_per_task_, s_.window.kernel(), s_.window.out()});
      sums_ = s_.group_features() * channels_per_task_ * s_.window.kernel();
    } else {
      channels_per_task_ = s_.group_channels();
      tasks_ = s_.batch * s_.groups;
      columns_ = SaturatingProduct({s_.group_channels(), s_.window.kernel(), s_.window.out()});
    }
    pieces_ = std::min(tasks_, kMaxPieces);
    Take(SaturatingProduct({pieces_, SaturatingSum({columns_, sums_}), int64_t{sizeof(T)}}));
  }

  bool multiplies_padding() const override {
    return std::is_floating_point_v<T> && kind_ != ConvKind::kTransposed;
  }
  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
           CPUContext& context) const override {
    T* workspace = static_cast<T*>(context.workspace());
    const auto data = [&](unsigned i) { return static_cast<const T*>(inputs[i]->raw()); };
    const T* bias = inputs.size() > 2 ? data(2) : nullptr;
    T* result = static_cast<T*>(output->raw());
    context.ParallelFor(pieces_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        T* columns = workspace + piece * (columns_ + sums_);
        const int64_t last = tasks_ * (piece + 1) / pieces_;
        for (int64_t task = tasks_ * piece / pieces_; task < last; ++task) {
          if (kind_ == ConvKind::kForward) Forward(task, data(0), data(1), bias, result, columns);
          if (kind_ == ConvKind::kTransposed) Spread(task, data(0), data(1), bias, result, columns);
          if (kind_ == ConvKind::kWeights) Weights(task, data(0), data(1), result, columns);
        }
      }
    });
  }

 private:
  // y = w im2col(x), for one image and group.
  void Forward(int64_t task, const T* x, const T* w, const T* bias, T* y, T* columns) const {
    const int64_t group = task % s_.groups;
    const int64_t rows = s_.group_channels() * s_.window.kernel();
    x += task * s_.group_channels() * s_.window.in();
    y += task * s_.group_features() * s_.window.out();
    w += group * s_.group_features() * rows;
    for (int64_t c = 0; c < s_.group_channels(); ++c) {
      ToColumns(s_.window, x + c * s_.window.in(),
                columns + c * s_.window.kernel() * s_.window.out());
    }
    GemmShape shape;
    shape.m = s_.group_features();
    shape.k = rows;
    shape.n = shape.b_row = shape.c_row = s_.window.out();
    shape.a_row = rows;
    shape.a_column = shape.b_column = 1;
    PlainGemm(kDTypeOf<T>)(shape, w, columns, y);
    AddBias(bias, group * s_.group_features(), s_.group_features(), s_.window.out(), y);
  }

  // x = col2im(w^T y), for one image and group.
  void Spread(int64_t task, const T* y, const T* w, const T* bias, T* x, T* columns) const {
    const int64_t group = task % s_.groups;
    const int64_t rows = s_.group_channels() * s_.window.kernel();
    x += task * s_.group_channels() * s_.window.in();
    y += task * s_.group_features() * s_.window.out();
    w += group * s_.group_features() * rows;
    GemmShape shape;
    shape.m = rows;
    shape.k = s_.group_features();
    shape.n = shape.b_row = shape.c_row = s_.window.out();
    shape.a_row = shape.b_column = 1;
    shape.a_column = rows;
    PlainGemm(kDTypeOf<T>)(shape, w, y, columns);
    std::fill_n(x, s_.group_channels() * s_.window.in(), T{});
    for (int64_t c = 0; c < s_.group_channels(); ++c) {
      AddColumns(s_.window, columns + c * s_.window.kernel() * s_.window.out(),
                 x + c * s_.window.in());
    }
    AddBias(bias, group * s_.group_channels(), s_.group_channels(), s_.window.in(), x);
  }

  // w = the sum over the images of y im2col(x)^T, for some channels of one group.
  void Weights(int64_t task, const T* x, const T* y, T* w, T* rows) const {
    const int64_t blocks = tasks_ / s_.groups;
    const int64_t group = task / blocks;
    const int64_t first = task % blocks * channels_per_task_;
    const int64_t channels = std::min(channels_per_task_, s_.group_channels() - first);
    const int64_t kernel = s_.window.kernel();
    T* sums = rows + columns_;
    GemmShape shape;
    shape.m = s_.group_features();
    shape.k = shape.a_row = s_.window.out();
    shape.n = shape.b_row = shape.c_row = channels * kernel;
    shape.a_column = shape.b_column = 1;
    w += group * s_.group_features() * s_.group_channels() * kernel + first * kernel;
    for (int64_t n = 0; n < s_.batch; ++n) {
      const T* image = x + (n * s_.channels + group * s_.group_channels() + first) * s_.window.in();
      for (int64_t c = 0; c < channels; ++c) {
        ToRows(s_.window, image + c * s_.window.in(), shape.n, rows + c * kernel);
      }
      PlainGemm(kDTypeOf<T>)(
          shape, y + (n * s_.features + group * s_.group_features()) * s_.window.out(), rows, sums);
      for (int64_t f = 0; f < shape.m; ++f) {
        T* to = w + f * s_.group_channels() * kernel;
        const T* from = sums + f * shape.n;
        for (int64_t i = 0; i < shape.n; ++i) to[i] = n == 0 ? from[i] : Sum(to[i], from[i]);
      }
    }
  }

  static T Sum(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }

  static void AddBias(const T* bias, int64_t first, int64_t channels, int64_t plane, T* y) {
    if (bias == nullptr) return;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < plane; ++i) y[c * plane + i] = Sum(y[c * plane + i], bias[first + c]);
    }
  }

  ConvKind kind_;
  ConvSizes s_;
  int64_t channels_per_task_ = 1;
  int64_t tasks_ = 1, pieces_ = 1;
  int64_t columns_ = 0, sums_ = 0;  // elements of a piece's workspace
};

}  // namespace

llvm::Expected<std::shared_ptr<const ConvPlan>> MakePlainConvPlan(const PrepareContext& context,
                                                                  ConvKind kind,
                                                                  const ConvSizes& sizes) {
  std::shared_ptr<const ConvPlan> plan;
  VisitDType(PlainTypes(), context.inputs()[0].dtype, [&](auto tag) {
    plan = std::make_shared<const PlainConvPlan<typename decltype(tag)::type>>(kind, sizes);
  });
  return plan;
}

}  // namespace pdl
