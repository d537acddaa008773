// Convolutions: by im2col and cuBLASLt for floats with one group, else with one thread for each
// element.
#include <memory>

#include "kernels/convolution/columns.cuh"
#include "kernels/convolution/conv_sizes.h"
#include "kernels/cuda/cublas_gemm.h"
#include "pdl/op/op_registry.h"
namespace pdl::cuda {
namespace {

/// The columns that are in the workspace at a time have at most this many bytes, or are those of
/// one image.
constexpr int64_t kMostColumns = int64_t{256} << 20;

template <class T>
__device__ __forceinline__ SumType<T> Load(T x) {
  return static_cast<SumType<T>>(Element<T>::Load(x));
}
template <class T>
__device__ __forceinline__ T Store(SumType<T> sum) {
  return Element<T>::Store(static_cast<ComputeType<T>>(sum));
}

// --- one thread per element ---------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    ForwardKernel(const __grid_constant__ ConvSizes s, const T* x, const T* w, const T* bias,
                  T* y) {
  const int64_t kernel = s.window.kernel(), out = s.window.out(), in = s.window.in();
  const int64_t channels = s.group_channels();
  for (int64_t i = ThreadNumber(); i < s.y_elements(); i += ThreadStep()) {
    const Place3 o(i % out, s.window.d[1].out, s.window.d[2].out);
    const int64_t feature = i / out % s.features, image = i / out / s.features;
    const int64_t group = feature / s.group_features();
    const T* from = x + (image * s.channels + group * channels) * in;
    const T* weights = w + feature * channels * kernel;
    SumType<T> sum = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t place =
          PlaceInPlane(s.window, o, Place3(k, s.window.d[1].kernel, s.window.d[2].kernel));
      if (place < 0) continue;
      for (int64_t c = 0; c < channels; ++c)
        sum += Load(from[c * in + place]) * Load(weights[c * kernel + k]);
    }
    if (bias != nullptr) sum += Load(bias[feature]);
    y[i] = Store<T>(sum);
  }
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    TransposedKernel(const __grid_constant__ ConvSizes s, const T* y, const T* w, const T* bias,
                     T* x) {
  const int64_t kernel = s.window.kernel(), out = s.window.out(), in = s.window.in();
  const int64_t features = s.group_features(), channels = s.group_channels();
  for (int64_t i = ThreadNumber(); i < s.x_elements(); i += ThreadStep()) {
    const Place3 place(i % in, s.window.d[1].in, s.window.d[2].in);
    const int64_t channel = i / in % s.channels, image = i / in / s.channels;
    const int64_t group = channel / channels;
    const T* from = y + (image * s.features + group * features) * out;
    const T* weights = w + (group * features * channels + channel % channels) * kernel;
    SumType<T> sum = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t window =
          WindowAt(s.window, place, Place3(k, s.window.d[1].kernel, s.window.d[2].kernel));
      if (window < 0) continue;
      for (int64_t f = 0; f < features; ++f)
        sum += Load(from[f * out + window]) * Load(weights[f * channels * kernel + k]);
    }
    if (bias != nullptr) sum += Load(bias[channel]);
    x[i] = Store<T>(sum);
  }
}

/// A block for each weight; the sums of its threads are accumulated in a fixed order.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    WeightsKernel(const __grid_constant__ ConvSizes s, const T* x, const T* y, T* w) {
  __shared__ SumType<T> sums[kBlockThreads];
  const int64_t kernel = s.window.kernel(), out = s.window.out(), in = s.window.in();
  const int64_t channels = s.group_channels();
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t i = blockIdx.x; i < s.w_elements(); i += gridDim.x) {
    const Place3 k(i % kernel, s.window.d[1].kernel, s.window.d[2].kernel);
    const int64_t feature = i / kernel / channels;
    const int64_t channel = feature / s.group_features() * channels + i / kernel % channels;
    SumType<T> sum = 0;
    for (int64_t j = thread; j < s.batch * out; j += kBlockThreads) {
      const int64_t image = j / out;
      const int64_t place =
          PlaceInPlane(s.window, Place3(j % out, s.window.d[1].out, s.window.d[2].out), k);
      if (place < 0) continue;
      sum += Load(x[(image * s.channels + channel) * in + place]) *
             Load(y[(image * s.features + feature) * out + j % out]);
    }
    __syncthreads();  // the previous sums are still being read
    sums[thread] = sum;
    __syncthreads();
    for (int half = kBlockThreads / 2; half > 0; half /= 2) {
      if (thread < half) sums[thread] += sums[thread + half];
      __syncthreads();
    }
    if (thread == 0) w[i] = Store<T>(sums[0]);
  }
}

// --- im2col and matmul --------------------------------------------------------------------------

/// Adds each channel's bias to y: rows of `row` elements, `channels` rows per image.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    AddBiasKernel(int64_t count, int64_t channels, int64_t row, const T* bias, T* y) {
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep())
    y[i] = Store<T>(Load(y[i]) + Load(bias[i / row % channels]));
}

/// Transposes y[images, features, row] to [features, images, row].
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    FeaturesFirstKernel(int64_t images, int64_t features, int64_t row, const T* y, T* turned) {
  const int64_t count = images * features * row;
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep()) {
    const int64_t feature = i / row / images, image = i / row % images;
    turned[i] = y[(image * features + feature) * row + i % row];
  }
}

/// The sum of `parts` consecutive arrays of `count` elements.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    AddPartsKernel(int64_t count, int64_t parts, const T* from, T* to) {
  for (int64_t i = ThreadNumber(); i < count; i += ThreadStep()) {
    SumType<T> sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += Load(from[p * count + i]);
    to[i] = Store<T>(sum);
  }
}

struct ConvState : CallState {
  ConvSizes sizes;
  /// Matmuls for `images` images at a time, and for the remainder; null if no matmul is used.
  int64_t images = 0;
  std::unique_ptr<CublasGemm> gemm, last_gemm;
  /// x is used directly as its columns.
  bool is_pointwise = false;
  /// Offsets into the workspace, in bytes.
  int64_t columns_at = 0, turned_at = 0, parts_at = 0, gemm_at = 0;

  int64_t rows() const { return sizes.channels * sizes.window.kernel(); }
  int64_t chunks() const { return (sizes.batch + images - 1) / images; }
};

bool IsPointwise(const SlidingWindow& w) {
  for (const WindowDim& d : w.d) {
    if (d.kernel != 1 || d.stride != 1 || d.begin != 0 || d.in != d.out) return false;
  }
  return true;
}

template <ConvKind kWhich>
class ConvOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const DType dtype = context.inputs()[0].dtype;
    if (auto error = RequireDType(Numbers(), dtype, *this)) return error;
    auto sizes = EvaluateConv(context, attributes(), kWhich);
    if (!sizes) return sizes.takeError();
    auto state = std::make_shared<ConvState>();
    state->sizes = *sizes;
    Preparation preparation;
    const bool is_empty =
        sizes->x_elements() == 0 || sizes->y_elements() == 0 || sizes->w_elements() == 0;
    if (IsFloat(dtype) && sizes->groups == 1 && !is_empty) {
      const auto& device = static_cast<const CUDAContext&>(context.device());
      auto bytes = MakeProducts(device, dtype, *state);
      if (!bytes) return bytes.takeError();
      preparation.workspace_bytes = *bytes;
    }
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const ConvState& state = *context.state<ConvState>();
    return VisitDType(Numbers(), outputs[0]->dtype(), [&](auto tag) -> llvm::Error {
      using T = typename decltype(tag)::Type;
      const T* first = static_cast<const T*>(inputs[0]->raw());
      const T* second = static_cast<const T*>(inputs[1]->raw());
      const T* bias = inputs.size() > 2 ? static_cast<const T*>(inputs[2]->raw()) : nullptr;
      T* result = static_cast<T*>(outputs[0]->raw());
      if (state.gemm == nullptr) return RunDirect(state, first, second, bias, result, context);
      for (int64_t chunk = 0; chunk < state.chunks(); ++chunk) {
        if (auto error = RunChunk(state, chunk, first, second, bias, result, context)) return error;
      }
      if (kWhich != ConvKind::kWeights || state.chunks() == 1) return llvm::Error::success();
      const int64_t count = state.sizes.w_elements();
      return Launch(context, type().c_str(), &AddPartsKernel<T>, GridFor(context, count),
                    dim3(kBlockThreads), count, state.chunks(),
                    Workspace<T>(context, state.parts_at), result);
    });
  }

 private:
  template <class T>
  static T* Workspace(const CUDAContext& context, int64_t at) {
    return reinterpret_cast<T*>(static_cast<char*>(context.workspace()) + at);
  }

  /// The matmul for this many images.
  static GemmProblem ProblemFor(DType dtype, const ConvState& state, int64_t images) {
    const ConvSizes& s = state.sizes;
    const int64_t rows = state.rows(), out = s.window.out();
    GemmProblem problem;
    problem.dtype = dtype;
    if (kWhich == ConvKind::kWeights) {
      problem.m = s.features;
      problem.n = rows;
      problem.k = images * out;
      problem.transpose_b = true;
      return problem;
    }
    const bool is_forward = kWhich == ConvKind::kForward;
    problem.m = is_forward ? s.features : rows;
    problem.n = out;
    problem.k = is_forward ? rows : s.features;
    problem.transpose_a = !is_forward;
    problem.batch = images;
    problem.b_stride = problem.k * out;
    problem.c_stride = problem.m * out;
    return problem;
  }

  /// Sets the matmuls and the offsets into the workspace; returns the size of the workspace.
  static llvm::Expected<int64_t> MakeProducts(const CUDAContext& device, DType dtype,
                                              ConvState& state) {
    const ConvSizes& s = state.sizes;
    const int64_t element = DTypeSize(dtype), out = s.window.out();
    const int64_t image_bytes = state.rows() * out * element;
    state.images = std::clamp<int64_t>(kMostColumns / image_bytes, 1, s.batch);
    state.is_pointwise = kWhich != ConvKind::kWeights && IsPointwise(s.window);
    auto gemm = CublasGemm::Create(device, ProblemFor(dtype, state, state.images));
    if (!gemm) return gemm.takeError();
    if (*gemm == nullptr) return 0;
    int64_t gemm_bytes = (*gemm)->workspace_bytes();
    if (const int64_t rest = s.batch % state.images; rest != 0) {
      auto last = CublasGemm::Create(device, ProblemFor(dtype, state, rest));
      if (!last) return last.takeError();
      if (*last == nullptr) return 0;
      gemm_bytes = std::max(gemm_bytes, (*last)->workspace_bytes());
      state.last_gemm = std::move(*last);
    }
    state.gemm = std::move(*gemm);
    int64_t bytes = 0;
    const auto take = [&](int64_t count) {
      const int64_t at = bytes;
      bytes += (count + 255) / 256 * 256;
      return at;
    };
    if (!state.is_pointwise) state.columns_at = take(state.images * image_bytes);
    if (kWhich == ConvKind::kWeights) {
      state.turned_at = take(state.images * s.features * out * element);
      if (state.chunks() > 1) state.parts_at = take(state.chunks() * s.w_elements() * element);
    }
    state.gemm_at = take(gemm_bytes);
    return bytes;
  }

  template <class T>
  llvm::Error RunDirect(const ConvState& state, const T* first, const T* second, const T* bias,
                        T* result, CUDAContext& context) const {
    const ConvSizes& s = state.sizes;
    const char* name = type().c_str();
    const dim3 block(kBlockThreads);
    switch (kWhich) {
      case ConvKind::kForward:
        return Launch(context, name, &ForwardKernel<T>, GridFor(context, s.y_elements()), block, s,
                      first, second, bias, result);
      case ConvKind::kTransposed:
        return Launch(context, name, &TransposedKernel<T>, GridFor(context, s.x_elements()), block,
                      s, first, second, bias, result);
      case ConvKind::kWeights:
        return Launch(context, name, &WeightsKernel<T>, GridFor(context, s.w_elements(), 1), block,
                      s, first, second, result);
    }
    return llvm::Error::success();
  }

  template <class T>
  llvm::Error RunChunk(const ConvState& state, int64_t chunk, const T* first, const T* second,
                       const T* bias, T* result, CUDAContext& context) const {
    const ConvSizes& s = state.sizes;
    const int64_t begin = chunk * state.images;
    const int64_t images = std::min(state.images, s.batch - begin);
    const CublasGemm& gemm = images == state.images ? *state.gemm : *state.last_gemm;
    const int64_t rows = state.rows(), out = s.window.out();
    const int64_t x_image = s.channels * s.window.in(), y_image = s.features * out;
    T* columns = Workspace<T>(context, state.columns_at);
    void* scratch = Workspace<char>(context, state.gemm_at);
    const char* name = type().c_str();
    const dim3 block(kBlockThreads);
    // The matmul for the weights takes the columns of all images side by side.
    const ColumnLayout layout = kWhich == ConvKind::kWeights
                                    ? ColumnLayout{images, s.channels, out, images * out}
                                    : ColumnLayout{images, s.channels, rows * out, out};
    const auto to_columns = [&](const T* x) {
      return Launch(context, name, &ToColumnsKernel<T>, GridFor(context, images * rows * out),
                    block, s.window, layout, x_image, x, columns);
    };
    if constexpr (kWhich == ConvKind::kForward) {
      const T* from = first + begin * x_image;
      T* y = result + begin * y_image;
      if (!state.is_pointwise) {
        if (auto error = to_columns(from)) return error;
        from = columns;
      }
      if (auto error = gemm.Run(context, second, from, y, scratch)) return error;
      if (bias == nullptr) return llvm::Error::success();
      const int64_t count = images * y_image;
      return Launch(context, name, &AddBiasKernel<T>, GridFor(context, count), block, count,
                    s.features, out, bias, y);
    } else if constexpr (kWhich == ConvKind::kTransposed) {
      T* x = result + begin * x_image;
      T* to = state.is_pointwise ? x : columns;
      if (auto error = gemm.Run(context, second, first + begin * y_image, to, scratch))
        return error;
      const int64_t count = images * x_image;
      if (!state.is_pointwise)
        return Launch(context, name, &AddColumnsKernel<T>, GridFor(context, count), block, s.window,
                      layout, columns, bias, x);
      if (bias == nullptr) return llvm::Error::success();
      return Launch(context, name, &AddBiasKernel<T>, GridFor(context, count), block, count,
                    s.channels, s.window.in(), bias, x);
    } else {
      T* turned = Workspace<T>(context, state.turned_at);
      if (auto error = to_columns(first + begin * x_image)) return error;
      if (auto error =
              Launch(context, name, &FeaturesFirstKernel<T>, GridFor(context, images * y_image),
                     block, images, s.features, out, second + begin * y_image, turned))
        return error;
      T* to = state.chunks() == 1 ? result
                                  : Workspace<T>(context, state.parts_at) + chunk * s.w_elements();
      return gemm.Run(context, turned, columns, to, scratch);
    }
  }
};

}  // namespace

void AddConvolutionKernels(OpRegistry& registry) {
  for (const char* name : {"conv1d", "conv2d", "conv3d"})
    registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<ConvOp<ConvKind::kForward>>);
  for (const char* name : {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
    registry.AddKernel(name, DeviceKind::kCUDA, &CreateKernel<ConvOp<ConvKind::kTransposed>>);
  registry.AddKernel("conv_weight_grad", DeviceKind::kCUDA,
                     &CreateKernel<ConvOp<ConvKind::kWeights>>);
}

}  // namespace pdl::cuda
