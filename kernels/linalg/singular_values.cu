// Singular values: svd.
#include "kernels/linalg/singular_values.cuh"
#include "pdl/op/op_registry.h"

namespace pdl::cuda {
namespace {

using namespace linalg;

struct OrientedSvdCall : SvdCall {
  int64_t signs_at = 0;
};

class SvdOp : public Operator<CUDAContext> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto call = std::make_shared<OrientedSvdCall>();
    if (auto error = call->PrepareSvd(*this, context, full_)) return error;
    call->signs_at = call->Take(call->count * call->rank, DTypeSize(context.inputs()[0].dtype));
    return PreparationOf(std::move(call));
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CUDAContext& context) const override {
    return VisitMatrix(inputs[0]->dtype(),
                       [&](auto t) { return RunEach<decltype(t)>(*inputs[0], outputs, context); });
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    full_ = attributes.Bool("full_matrices");
    return llvm::Error::success();
  }

 private:
  template <class T>
  llvm::Error RunEach(const Tensor& x, llvm::MutableArrayRef<Tensor*> outputs,
                      CUDAContext& context) const {
    const OrientedSvdCall& call = *context.state<OrientedSvdCall>();
    if (x.num_elements() == 0) {
      if (auto error = StoreIdentity<T>(context, call, call.rows, call.columns_u, outputs[0]))
        return error;
      return StoreIdentity<T>(context, call, call.rows_vt, call.columns, outputs[2]);
    }
    if (auto error = call.Decompose<T>(x, context)) return error;
    const T* u = call.U<T>(context);
    T* signs = call.Memory<T>(context, call.signs_at);
    const int* is_bad = call.Memory<int>(context, call.bad_at);
    const IndexMap<1> each = EachItsOwn(call.count);
    const StoreShape store_u{call.count,       call.rows,  call.columns_u,
                             call.LayoutOfU(), Part::kAll, call.rank};
    if (auto error = Orient<T>(context, call, store_u, call.rank, u, signs)) return error;
    if (auto error = Store<T>(context, call, store_u, each, u, is_bad, signs, outputs[0]))
      return error;
    const StoreShape store_s{call.count, call.rank, 1, ColumnMajor(call.rank, 1)};
    if (auto error = Store<T>(context, call, store_s, each, call.Memory<T>(context, call.s_at),
                              is_bad, nullptr, outputs[1]))
      return error;
    const StoreShape store_vt{call.count, call.rows_vt, call.columns, call.LayoutOfVt(),
                              Part::kAll, call.rank,    true};
    return Store<T>(context, call, store_vt, each, call.Vt<T>(context), is_bad, signs, outputs[2]);
  }

  bool full_ = false;
};

}  // namespace

void AddSingularValuesKernels(OpRegistry& registry) {
  registry.AddKernel("svd", DeviceKind::kCUDA, &CreateKernel<SvdOp>);
}

}  // namespace pdl::cuda
