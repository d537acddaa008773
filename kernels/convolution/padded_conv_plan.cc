// Leaves padding out of convolutions whose plan would multiply it as 0: 0 times infinity is nan.
#include "kernels/convolution/columns.h"
#include "kernels/convolution/conv_plan.h"
#include "kernels/core/all_finite.h"
#include "kernels/core/element.h"
#include "kernels/core/tile_dispatch.h"

namespace pdl {
namespace {

// The index in x of element `k` of window `o`, which are linear row-major indices; -1 in the
// padding.
int64_t PlaceOf(const SlidingWindow& w, int64_t o, int64_t k) {
  const int64_t inner[3] = {w.d[1].out * w.d[2].out, w.d[2].out, 1};
  const int64_t kernel[3] = {w.d[1].kernel * w.d[2].kernel, w.d[2].kernel, 1};
  int64_t place = 0;
  for (int i = 0; i < 3; ++i) {
    const WindowDim& d = w.d[i];
    const int64_t at = d.At(o / inner[i] % d.out, k / kernel[i] % d.kernel);
    if (!d.Has(at)) return -1;
    place = place * d.in + at;
  }
  return place;
}

// Computes one element of y: window `o` of feature `f`.
template <class T>
double WindowSum(const ConvSizes& s, const T* x, const T* w, int64_t image, int64_t f, int64_t o) {
  const int64_t kernel = s.window.kernel(), channels = s.group_channels();
  const int64_t first = image * s.channels + f / s.group_features() * channels;
  double sum = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t place = PlaceOf(s.window, o, k);
    if (place < 0) continue;
    for (int64_t c = 0; c < channels; ++c) {
      sum += static_cast<double>(Element<T>::Load(x[(first + c) * s.window.in() + place])) *
             static_cast<double>(Element<T>::Load(w[(f * channels + c) * kernel + k]));
    }
  }
  return sum;
}

// Computes one element of w: element `k` of the window over the group's channel `c`, for feature
// `f`.
template <class T>
double WeightSum(const ConvSizes& s, const T* x, const T* y, int64_t f, int64_t c, int64_t k) {
  const int64_t out = s.window.out();
  const int64_t channel = f / s.group_features() * s.group_channels() + c;
  double sum = 0;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t place = PlaceOf(s.window, o, k);
    if (place < 0) continue;
    for (int64_t image = 0; image < s.batch; ++image) {
      const int64_t row = image * s.channels + channel;
      sum += static_cast<double>(Element<T>::Load(x[row * s.window.in() + place])) *
             static_cast<double>(Element<T>::Load(y[(image * s.features + f) * out + o]));
    }
  }
  return sum;
}

// Computes each element of the result separately: correct for any operands, but slow.
template <class T>
void RunByElements(ConvKind kind, const ConvSizes& s, llvm::ArrayRef<const Tensor*> inputs,
                   Tensor* output, CPUContext& context) {
  const T* x = static_cast<const T*>(inputs[0]->raw());
  const T* other = static_cast<const T*>(inputs[1]->raw());
  const T* bias = inputs.size() > 2 ? static_cast<const T*>(inputs[2]->raw()) : nullptr;
  T* result = static_cast<T*>(output->raw());
  const int64_t kernel = s.window.kernel(), out = s.window.out();
  context.ParallelFor(output->num_elements(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0;
      if (kind == ConvKind::kForward) {
        const int64_t f = i / out % s.features;
        sum = WindowSum(s, x, other, i / out / s.features, f, i % out);
        if (bias != nullptr) sum += static_cast<double>(Element<T>::Load(bias[f]));
      } else {
        const int64_t channels = s.group_channels();
        sum = WeightSum(s, x, other, i / kernel / channels, i / kernel % channels, i % kernel);
      }
      result[i] = Element<T>::Store(static_cast<ComputeType<T>>(sum));
    }
  });
}

// Runs the inner plan if the operand that padding would be multiplied by is finite.
class PaddedConvPlan : public ConvPlan {
 public:
  PaddedConvPlan(ConvKind kind, const ConvSizes& sizes, std::shared_ptr<const ConvPlan> inner)
      : kind_(kind), sizes_(sizes), inner_(std::move(inner)) {
    Take(inner_->workspace_bytes());
  }

  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output,
           CPUContext& context) const override {
    // Padding of x would be multiplied by w, or by y if w is the result.
    if (AllFinite(*inputs[1], context)) return inner_->Run(inputs, output, context);
    VisitDType(FloatTypes(), output->dtype(), [&](auto tag) {
      RunByElements<typename decltype(tag)::type>(kind_, sizes_, inputs, output, context);
    });
  }

 private:
  ConvKind kind_;
  ConvSizes sizes_;
  std::shared_ptr<const ConvPlan> inner_;
};

}  // namespace

std::shared_ptr<const ConvPlan> LeaveOutPadding(ConvKind kind, const ConvSizes& sizes,
                                                std::shared_ptr<const ConvPlan> plan) {
  return std::make_shared<const PaddedConvPlan>(kind, sizes, std::move(plan));
}

}  // namespace pdl
