#include "kernels/core/cpu_isa.h"
#include "kernels/core/dnnl_support.h"
#include "kernels/linear/gemm.h"
#include "llvm/ADT/ScopeExit.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

dnnl::memory::desc Matrix(int64_t rows, int64_t columns, int64_t row_stride,
                          int64_t column_stride) {
  return {
      {rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::dims{row_stride, column_stride}};
}

// The row stride for a weight that oneDNN would multiply without packing, as it does without
// AVX-512. It keeps rows that are read together out of the same set of the first-level cache, where
// rows of 1024 floats would be; that halves the time of such matmuls.
int64_t SpreadRow(int64_t columns) {
  constexpr int64_t kFloatsOfPeriod = 64, kPlace = 56;
  return (columns + kFloatsOfPeriod - 1 - kPlace) / kFloatsOfPeriod * kFloatsOfPeriod + kPlace;
}

}  // namespace

// The memory objects of one run.
struct DnnlGemm::Slot {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  dnnl::memory a, b, c, scratch;
  std::array<dnnl_exec_arg_t, 4> arguments;
};

struct DnnlGemm::Impl {
  dnnl::matmul::primitive_desc descriptor;
  dnnl::matmul primitive;
  dnnl::memory::desc plain_b;
  bool packed = false;
  mutable std::array<Slot, 4> slots;

  void Fill(Slot& slot, const void* packed_b) const {
    slot.a = dnnl::memory(descriptor.src_desc(), DnnlEngine(), DNNL_MEMORY_NONE);
    slot.b = dnnl::memory(descriptor.weights_desc(), DnnlEngine(),
                          packed_b ? const_cast<void*>(packed_b) : DNNL_MEMORY_NONE);
    slot.c = dnnl::memory(descriptor.dst_desc(), DnnlEngine(), DNNL_MEMORY_NONE);
    slot.scratch = dnnl::memory(descriptor.scratchpad_desc(), DnnlEngine(), DNNL_MEMORY_NONE);
    slot.arguments = {{{DNNL_ARG_SRC, slot.a.get()},
                       {DNNL_ARG_WEIGHTS, slot.b.get()},
                       {DNNL_ARG_DST, slot.c.get()},
                       {DNNL_ARG_SCRATCHPAD, slot.scratch.get()}}};
  }

  void Execute(const Slot& slot, const float* a, const float* b, float* c, void* scratch) const {
    bool ok = dnnl_memory_set_data_handle(slot.a.get(), const_cast<float*>(a)) == dnnl_success;
    if (!packed) {
      ok &= dnnl_memory_set_data_handle(slot.b.get(), const_cast<float*>(b)) == dnnl_success;
    }
    ok &= dnnl_memory_set_data_handle(slot.c.get(), c) == dnnl_success;
    ok &= dnnl_memory_set_data_handle(slot.scratch.get(), scratch) == dnnl_success;
    if (!ok) InternalError("oneDNN rejected an operand");
    const OneDnnlThread one_thread;
    DnnlExecute(primitive, slot.arguments);
  }
};

DnnlGemm::DnnlGemm() : impl_(std::make_unique<Impl>()) {}
DnnlGemm::~DnnlGemm() = default;

llvm::Expected<std::unique_ptr<DnnlGemm>> DnnlGemm::Create(const GemmShape& shape, bool pack_b) {
  if (llvm::Error error = RequireDnnlMemory()) return error;
  const OneDnnlThread one_thread;
  std::unique_ptr<DnnlGemm> gemm(new DnnlGemm());
  Impl& impl = *gemm->impl_;
  try {
    impl.plain_b = Matrix(shape.k, shape.n, shape.b_row, shape.b_column);
    const dnnl::memory::desc any_b({shape.k, shape.n}, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::any);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto describe = [&](const dnnl::memory::desc& b) {
      const dnnl::matmul::desc product(Matrix(shape.m, shape.k, shape.a_row, shape.a_column), b,
                                       Matrix(shape.m, shape.n, shape.c_row, 1));
      return dnnl::matmul::primitive_desc(product, attributes, DnnlEngine());
    };
    impl.descriptor = describe(pack_b ? any_b : impl.plain_b);
    if (pack_b && CurrentIsa() != Isa::kAvx512 && impl.descriptor.weights_desc() == impl.plain_b)
      impl.descriptor = describe(Matrix(shape.k, shape.n, SpreadRow(shape.n), 1));
    impl.primitive = dnnl::matmul(impl.descriptor);
    impl.packed = impl.descriptor.weights_desc() != impl.plain_b;
    if (!impl.packed) {
      for (Slot& slot : impl.slots) impl.Fill(slot, nullptr);
    }
  } catch (const dnnl::error& error) {
    return MakeDeviceError("oneDNN cannot multiply [{0}, {1}] by [{1}, {2}]: {3}", shape.m, shape.k,
                           shape.n, error.message);
  }
  gemm->scratch_bytes_ = static_cast<int64_t>(impl.descriptor.scratchpad_desc().get_size());
  if (impl.packed) {
    gemm->packed_layout_ = DnnlLayoutName(impl.descriptor.weights_desc());
  }
  return gemm;
}

llvm::Expected<std::shared_ptr<const void>> DnnlGemm::Pack(const float* b) const {
  return DnnlPack(impl_->plain_b, b, impl_->descriptor.weights_desc());
}

void DnnlGemm::SetPacked(std::shared_ptr<const void> packed) {
  packed_ = std::move(packed);
  for (Slot& slot : impl_->slots) impl_->Fill(slot, packed_.get());
}

void DnnlGemm::Run(const float* a, const float* b, float* c, void* scratch) const {
  for (Slot& slot : impl_->slots) {
    if (slot.busy.test_and_set(std::memory_order_acquire)) continue;
    const auto release = llvm::make_scope_exit([&] { slot.busy.clear(std::memory_order_release); });
    impl_->Execute(slot, a, b, c, scratch);
    return;
  }
  // There are more concurrent runs than slots.
  Slot slot;
  impl_->Fill(slot, packed_.get());
  impl_->Execute(slot, a, b, c, scratch);
}

}  // namespace pdl
