#include "kernels/convolution/dnnl_conv.h"

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "kernels/core/dnnl_support.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

using Layout = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

constexpr int kNumOperands = 3;

size_t ResultOf(ConvKind kind) {
  return kind == ConvKind::kForward      ? DnnlConv::kY
         : kind == ConvKind::kTransposed ? DnnlConv::kX
                                         : DnnlConv::kW;
}

// The first spatial dim passed to oneDNN: it gets at least two, for which it has its best code.
int FirstDim(const SlidingWindow& window) {
  const WindowDim& d = window.d[0];
  return d.in == 1 && d.out == 1 && d.kernel == 1 && d.begin == 0 ? 1 : 0;
}

struct Geometry {
  Dims x, w, y;
  Dims x_strides, w_strides, y_strides;
  Dims stride, dilation, begin, end;

  explicit Geometry(const DnnlConvShape& shape) {
    const ConvSizes& s = shape.sizes;
    const int first = FirstDim(s.window);
    x = {s.batch, s.channels};
    y = {s.batch, s.features};
    if (s.groups > 1) w = {s.groups};
    w.insert(w.end(), {s.group_features(), s.group_channels()});
    for (int i = first; i < 3; ++i) {
      const WindowDim& d = s.window.d[i];
      x.push_back(d.in);
      y.push_back(d.out);
      w.push_back(d.kernel);
      stride.push_back(d.stride);
      dilation.push_back(d.dilation - 1);
      begin.push_back(d.begin);
      // The distance that the last window extends beyond the end.
      end.push_back(std::max<int64_t>(0, d.At(d.out - 1, d.kernel - 1) + 1 - d.in));
    }
    x_strides = Strides(x, 0, shape.x_stride);
    y_strides = Strides(y, 0, shape.y_stride);
    if (shape.channels_last) {
      x_strides = ChannelsLastStrides(x);
      y_strides = ChannelsLastStrides(y);
    }
    w_strides = Strides(w, s.groups > 1 ? 1 : 0, shape.w_stride);
    if (s.groups > 1) w_strides[0] = w_strides[1] * w[1];
  }

  // The largest number passed to oneDNN, whose code keeps many of them in 32 bits.
  int64_t Largest() const {
    int64_t largest = 0;
    for (const Dims* dims : {&x, &w, &y, &stride, &dilation, &begin, &end})
      for (const int64_t each : *dims) largest = std::max(largest, each);
    return largest;
  }

  // Row-major strides up to dim `outer`, whose stride is given.
  static Dims Strides(const Dims& dims, size_t outer, int64_t outer_stride) {
    Dims strides(dims.size(), 1);
    for (size_t i = dims.size() - 1; i-- > outer;) strides[i] = strides[i + 1] * dims[i + 1];
    strides[outer] = outer_stride;
    return strides;
  }

  static Dims ChannelsLastStrides(const Dims& dims) {
    Dims strides(dims.size());
    strides[1] = 1;
    int64_t stride = dims[1];
    for (size_t i = dims.size() - 1; i > 1; --i) {
      strides[i] = stride;
      stride *= dims[i];
    }
    strides[0] = stride;
    return strides;
  }
};

Layout Plain(const Dims& dims, const Dims& strides) {
  return {dims, dnnl::memory::data_type::f32, strides};
}
Layout Any(const Dims& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory Unset(const Layout& layout) { return {layout, DnnlEngine(), DNNL_MEMORY_NONE}; }

// A reorder between layouts.
struct Reorder {
  dnnl::reorder primitive;
  Layout scratch;

  Reorder() = default;
  Reorder(const Layout& from, const Layout& to) {
    const dnnl::reorder::primitive_desc descriptor(DnnlEngine(), from, DnnlEngine(), to,
                                                   UserScratch());
    primitive = dnnl::reorder(descriptor);
    scratch = descriptor.scratchpad_desc();
  }
};

}  // namespace

// The memory objects of one run.
struct DnnlConv::Slot {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::array<dnnl::memory, kNumOperands> plain, arranged;
  std::array<dnnl::memory, kNumOperands> arrange_scratch, restore_scratch;
  dnnl::memory bias, scratch;
};

struct DnnlConv::Impl {
  std::array<Layout, kNumOperands> plain, arranged;
  std::array<Reorder, kNumOperands> arrange, restore;
  Layout bias, scratch;
  bool has_bias = false;
  bool multiplies_padding = false;
  std::array<int, kNumOperands> arguments = {};
  dnnl::primitive primitive;
  mutable std::array<Slot, 4> slots;

  void Make(const DnnlConvShape& shape);
  template <class Descriptor>
  void Take(const Descriptor& descriptor, const std::array<Layout, kNumOperands>& layouts);
  void Fill(Slot& slot) const;

  // Calls run(slot) with a slot that no other thread uses.
  template <class Body>
  void WithSlot(Body run) const {
    const OneDnnlThread one_thread;
    for (Slot& slot : slots) {
      if (slot.busy.test_and_set(std::memory_order_acquire)) continue;
      const auto release =
          llvm::make_scope_exit([&] { slot.busy.clear(std::memory_order_release); });
      run(slot);
      return;
    }
    // There are more concurrent runs than slots.
    Slot slot;
    Fill(slot);
    run(slot);
  }

  static void Set(const dnnl::memory& memory, const void* data) {
    if (dnnl_memory_set_data_handle(memory.get(), const_cast<void*>(data)) != dnnl_success) {
      InternalError("oneDNN rejected an operand");
    }
  }
  static void Execute(const dnnl::primitive& primitive, llvm::ArrayRef<dnnl_exec_arg_t> arguments) {
    DnnlExecute(primitive, arguments);
  }
};

template <class Descriptor>
void DnnlConv::Impl::Take(const Descriptor& descriptor,
                          const std::array<Layout, kNumOperands>& layouts) {
  arranged = layouts;
  scratch = descriptor.scratchpad_desc();
  // oneDNN's direct loops over windows leave padding out, but im2col stores it as zeros. The
  // gradient with respect to x does not read padding.
  const llvm::StringRef name = descriptor.impl_info_str();
  multiplies_padding =
      !std::is_same_v<Descriptor, dnnl::convolution_backward_data::primitive_desc> &&
      (name.contains("gemm") || name.contains("wino"));
}

void DnnlConv::Impl::Make(const DnnlConvShape& shape) {
  const Geometry g(shape);
  plain = {Plain(g.x, g.x_strides), Plain(g.w, g.w_strides), Plain(g.y, g.y_strides)};
  has_bias = shape.has_bias;
  const auto direct = dnnl::algorithm::convolution_direct;
  const Layout x = shape.channels_last ? plain[kX] : Any(g.x);
  const Layout y = shape.channels_last ? plain[kY] : Any(g.y);
  const auto forward = [&](dnnl::algorithm algorithm) {
    const auto inference = dnnl::prop_kind::forward_inference;
    if (!has_bias) {
      return dnnl::convolution_forward::desc(inference, algorithm, x, Any(g.w), y, g.stride,
                                             g.dilation, g.begin, g.end);
    }
    bias =
        Layout({shape.sizes.features}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x);
    return dnnl::convolution_forward::desc(inference, algorithm, x, Any(g.w), bias, y, g.stride,
                                           g.dilation, g.begin, g.end);
  };
  if (shape.kind == ConvKind::kForward) {
    const dnnl::convolution_forward::primitive_desc descriptor(
        forward(dnnl::algorithm::convolution_auto), UserScratch(), DnnlEngine());
    Take(descriptor, {descriptor.src_desc(), descriptor.weights_desc(), descriptor.dst_desc()});
    primitive = dnnl::convolution_forward(descriptor);
    arguments = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    return;
  }
  const dnnl::convolution_forward::primitive_desc hint(forward(direct), DnnlEngine());
  if (shape.kind == ConvKind::kTransposed) {
    const dnnl::convolution_backward_data::primitive_desc descriptor(
        {direct, Any(g.x), Any(g.w), Any(g.y), g.stride, g.dilation, g.begin, g.end}, UserScratch(),
        DnnlEngine(), hint);
    Take(descriptor,
         {descriptor.diff_src_desc(), descriptor.weights_desc(), descriptor.diff_dst_desc()});
    primitive = dnnl::convolution_backward_data(descriptor);
    arguments = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
    return;
  }
  const dnnl::convolution_backward_weights::primitive_desc descriptor(
      {direct, Any(g.x), Any(g.w), Any(g.y), g.stride, g.dilation, g.begin, g.end}, UserScratch(),
      DnnlEngine(), hint);
  Take(descriptor,
       {descriptor.src_desc(), descriptor.diff_weights_desc(), descriptor.diff_dst_desc()});
  primitive = dnnl::convolution_backward_weights(descriptor);
  arguments = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
}

void DnnlConv::Impl::Fill(Slot& slot) const {
  for (size_t i = 0; i < kNumOperands; ++i) {
    slot.plain[i] = Unset(plain[i]);
    slot.arranged[i] = Unset(arranged[i]);
    if (plain[i] == arranged[i]) continue;
    if (arrange[i].primitive) slot.arrange_scratch[i] = Unset(arrange[i].scratch);
    if (restore[i].primitive) slot.restore_scratch[i] = Unset(restore[i].scratch);
  }
  if (has_bias) slot.bias = Unset(bias);
  slot.scratch = Unset(scratch);
}

DnnlConv::DnnlConv() : impl_(std::make_unique<Impl>()) {}
DnnlConv::~DnnlConv() = default;

llvm::Expected<std::unique_ptr<DnnlConv>> DnnlConv::Create(const DnnlConvShape& shape) {
  if (llvm::Error error = RequireDnnlMemory()) return error;
  const OneDnnlThread one_thread;
  std::unique_ptr<DnnlConv> conv(new DnnlConv());
  Impl& impl = *conv->impl_;
  if (const int64_t largest = Geometry(shape).Largest(); largest > INT32_MAX) {
    return MakeDeviceError(
        "oneDNN cannot convolve {0} channels to {1}: a size, stride, dilation or "
        "padding of {2} does not fit 32 bits",
        shape.sizes.channels, shape.sizes.features, largest);
  }
  try {
    impl.Make(shape);
    size_t scratch = impl.scratch.get_size();
    for (size_t i = 0; i < kNumOperands; ++i) {
      conv->bytes_[i] = static_cast<int64_t>(impl.arranged[i].get_size());
      conv->arranged_[i] = impl.plain[i] != impl.arranged[i];
      if (!conv->arranged_[i]) continue;
      // Some layouts of weights cannot be reordered back.
      if (i == ResultOf(shape.kind)) {
        impl.restore[i] = Reorder(impl.arranged[i], impl.plain[i]);
      } else {
        impl.arrange[i] = Reorder(impl.plain[i], impl.arranged[i]);
      }
      const Reorder& reorder = impl.arrange[i].primitive ? impl.arrange[i] : impl.restore[i];
      scratch = std::max(scratch, reorder.scratch.get_size());
    }
    conv->scratch_bytes_ = static_cast<int64_t>(scratch);
    for (Slot& slot : impl.slots) impl.Fill(slot);
  } catch (const dnnl::error& error) {
    return MakeDeviceError("oneDNN cannot convolve {0} channels to {1}: {2}", shape.sizes.channels,
                           shape.sizes.features, error.message);
  }
  return conv;
}

bool DnnlConv::multiplies_padding() const { return impl_->multiplies_padding; }

std::string DnnlConv::weight_layout() const { return DnnlLayoutName(impl_->arranged[kW]); }

llvm::Expected<std::shared_ptr<const void>> DnnlConv::PackWeight(const float* w) const {
  return DnnlPack(impl_->plain[kW], w, impl_->arranged[kW]);
}

void DnnlConv::Arrange(Operand operand, const float* plain, float* arranged, void* scratch) const {
  impl_->WithSlot([&](const Slot& slot) {
    Impl::Set(slot.plain[operand], plain);
    Impl::Set(slot.arranged[operand], arranged);
    Impl::Set(slot.arrange_scratch[operand], scratch);
    Impl::Execute(impl_->arrange[operand].primitive,
                  {{DNNL_ARG_FROM, slot.plain[operand].get()},
                   {DNNL_ARG_TO, slot.arranged[operand].get()},
                   {DNNL_ARG_SCRATCHPAD, slot.arrange_scratch[operand].get()}});
  });
}

void DnnlConv::Restore(Operand operand, const float* arranged, float* plain, void* scratch) const {
  impl_->WithSlot([&](const Slot& slot) {
    Impl::Set(slot.plain[operand], plain);
    Impl::Set(slot.arranged[operand], arranged);
    Impl::Set(slot.restore_scratch[operand], scratch);
    Impl::Execute(impl_->restore[operand].primitive,
                  {{DNNL_ARG_FROM, slot.arranged[operand].get()},
                   {DNNL_ARG_TO, slot.plain[operand].get()},
                   {DNNL_ARG_SCRATCHPAD, slot.restore_scratch[operand].get()}});
  });
}

void DnnlConv::Run(const float* x, const float* w, const float* y, const float* bias,
                   void* scratch) const {
  const std::array<const float*, kNumOperands> data = {x, w, y};
  impl_->WithSlot([&](const Slot& slot) {
    std::array<dnnl_exec_arg_t, 5> arguments;
    size_t count = 0;
    for (size_t i = 0; i < kNumOperands; ++i) {
      Impl::Set(slot.arranged[i], data[i]);
      arguments[count++] = {impl_->arguments[i], slot.arranged[i].get()};
    }
    Impl::Set(slot.scratch, scratch);
    arguments[count++] = {DNNL_ARG_SCRATCHPAD, slot.scratch.get()};
    if (impl_->has_bias) {
      Impl::Set(slot.bias, bias);
      arguments[count++] = {DNNL_ARG_BIAS, slot.bias.get()};
    }
    Impl::Execute(impl_->primitive, llvm::ArrayRef(arguments).take_front(count));
  });
}

}  // namespace pdl
