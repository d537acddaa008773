#include <omp.h>
#include <dnnl.hpp>

#include <cstdlib>

#include "kernels/cpu_isa.h"
#include "kernels/gemm.h"
#include "llvm/Support/xxhash.h"
#include "pdl/error.h"

namespace pdl {
namespace {

// oneDNN threads its work by itself unless it may only use one; its own threading would make the
// sums depend on the count of threads.
class OneThread {
 public:
  OneThread() : saved_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(saved_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int saved_;
};

const dnnl::engine& Engine() {
  static const dnnl::engine engine = [] {
    if (CurrentIsa() == Isa::kAvx2) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    if (CurrentIsa() == Isa::kBaseline) dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl_stream_t Stream() {
  thread_local const dnnl::stream stream(Engine());
  return stream.get();
}

dnnl::memory::desc Matrix(int64_t rows, int64_t columns, int64_t row_stride,
                          int64_t column_stride) {
  return {
      {rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::dims{row_stride, column_stride}};
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
    slot.a = dnnl::memory(descriptor.src_desc(), Engine(), DNNL_MEMORY_NONE);
    slot.b = dnnl::memory(descriptor.weights_desc(), Engine(),
                          packed_b ? const_cast<void*>(packed_b) : DNNL_MEMORY_NONE);
    slot.c = dnnl::memory(descriptor.dst_desc(), Engine(), DNNL_MEMORY_NONE);
    slot.scratch = dnnl::memory(descriptor.scratchpad_desc(), Engine(), DNNL_MEMORY_NONE);
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
    const OneThread one_thread;
    ok &=
        dnnl_primitive_execute(primitive.get(), Stream(), 4, slot.arguments.data()) == dnnl_success;
    if (!ok) InternalError("oneDNN refused a product that it had prepared");
  }
};

DnnlGemm::DnnlGemm() : impl_(std::make_unique<Impl>()) {}
DnnlGemm::~DnnlGemm() = default;

llvm::Expected<std::unique_ptr<DnnlGemm>> DnnlGemm::Create(const GemmShape& shape, bool pack_b) {
  const OneThread one_thread;
  std::unique_ptr<DnnlGemm> gemm(new DnnlGemm());
  Impl& impl = *gemm->impl_;
  try {
    impl.plain_b = Matrix(shape.k, shape.n, shape.b_row, shape.b_column);
    const dnnl::memory::desc any_b({shape.k, shape.n}, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::any);
    const dnnl::matmul::desc product(Matrix(shape.m, shape.k, shape.a_row, shape.a_column),
                                     pack_b ? any_b : impl.plain_b,
                                     Matrix(shape.m, shape.n, shape.c_row, 1));
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    impl.descriptor = {product, attributes, Engine()};
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
    const dnnl_memory_desc_t& layout = impl.descriptor.weights_desc().data;
    const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(&layout), sizeof(layout));
    gemm->packed_layout_ = llvm::formatv("dnnl-{0:x}", llvm::xxh3_64bits(bytes)).str();
  }
  return gemm;
}

llvm::Expected<std::shared_ptr<const void>> DnnlGemm::Pack(const float* b) const {
  const dnnl::memory::desc layout = impl_->descriptor.weights_desc();
  const size_t bytes = (layout.get_size() + 63) / 64 * 64;
  std::shared_ptr<void> packed(std::aligned_alloc(64, bytes), std::free);
  if (packed == nullptr)
    return MakeDeviceError("no memory for a packed weight of {0} bytes", bytes);
  const OneThread one_thread;
  try {
    dnnl::memory from(impl_->plain_b, Engine(), const_cast<float*>(b));
    dnnl::memory to(layout, Engine(), packed.get());
    dnnl::stream stream(Engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  } catch (const dnnl::error& error) {
    return MakeDeviceError("oneDNN cannot pack a weight: {0}", error.message);
  }
  return packed;
}

void DnnlGemm::SetPacked(std::shared_ptr<const void> packed) {
  packed_ = std::move(packed);
  for (Slot& slot : impl_->slots) impl_->Fill(slot, packed_.get());
}

void DnnlGemm::Run(const float* a, const float* b, float* c, void* scratch) const {
  for (Slot& slot : impl_->slots) {
    if (slot.busy.test_and_set(std::memory_order_acquire)) continue;
    impl_->Execute(slot, a, b, c, scratch);
    slot.busy.clear(std::memory_order_release);
    return;
  }
  // More runs at once than there are slots.
  Slot slot;
  impl_->Fill(slot, packed_.get());
  impl_->Execute(slot, a, b, c, scratch);
}

}  // namespace pdl
