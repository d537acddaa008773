// The index of the largest or smallest element along an axis: argmax, argmin.
#include <algorithm>
#include <type_traits>

#include "kernels/core/isa_dispatch.h"
#include "kernels/core/min_max.h"
#include "kernels/reduction/axes_attributes.h"
#include "kernels/reduction/reduction_kernel.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

constexpr int64_t kSearchGrain = 1 << 16;

// The indices for `inner` columns of `axis` rows.
template <class T, bool kSmallest>
struct ArgMinMaxLoop {
  static PDL_INLINE void Run(const void* in, int64_t axis, int64_t inner, int64_t* out) {
    using C = ComputeType<T>;
    const T* x = static_cast<const T*>(in);
    if (inner == 1) {
      // For bool, the value to search for is known.
      C best;
      if constexpr (std::is_same_v<T, bool>) {
        best = !kSmallest;
      } else {
        best = MinMax<T, kSmallest>::Row(x, axis);
      }
      int64_t i = 0;
      while (i < axis) {
        const C value = Element<T>::Load(x[i]);
        if (value == best || value != value) break;
        ++i;
      }
      *out = i < axis ? i : 0;
      return;
    }
    constexpr int64_t kColumns = 256;
    for (int64_t begin = 0; begin < inner; begin += kColumns) {
      const int64_t n = std::min(kColumns, inner - begin);
      C best[kColumns];
      int64_t place[kColumns];
      for (int64_t j = 0; j < n; ++j) {
        best[j] = Element<T>::Load(x[begin + j]);
        place[j] = 0;
      }
      for (int64_t a = 1; a < axis; ++a) {
        const T* row = x + a * inner + begin;
        for (int64_t j = 0; j < n; ++j) {
          const C value = Element<T>::Load(row[j]);
          const bool beats = MinMax<T, kSmallest>::Beats(value, best[j]);
          const bool better = beats | ((value != value) & (best[j] == best[j]));
          best[j] = better ? value : best[j];
          place[j] = better ? a : place[j];
        }
      }
      for (int64_t j = 0; j < n; ++j) out[begin + j] = place[j];
    }
  }
};

}  // namespace

ArgMinMaxPlan::ArgMinMaxPlan(bool smallest, DType dtype, llvm::ArrayRef<int64_t> sizes,
                             int64_t axis)
    : split_(SplitAtAxis(sizes, axis)), element_size_(DTypeSize(dtype)) {
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    loop_ = smallest ? ChooseIsa<ArgMinMaxLoop<T, true>>() : ChooseIsa<ArgMinMaxLoop<T, false>>();
  });
}

void ArgMinMaxPlan::Run(const void* in, int64_t* out, CPUContext& context) const {
  if (split_.inner == 0) return;
  const int64_t elements = std::max<int64_t>(1, split_.length * split_.inner);
  const int64_t grain = std::max<int64_t>(1, kSearchGrain / elements);
  context.ParallelFor(split_.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const char* block =
          static_cast<const char*>(in) + i * split_.length * split_.inner * element_size_;
      loop_(block, split_.length, split_.inner, out + i * split_.inner);
    }
  });
}

namespace {

template <class Context, bool kSmallest>
class ArgMinMaxOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    Preparation preparation;
    preparation.state = std::make_shared<ArgMinMaxPlan>(kSmallest, input.dtype, input.sizes, axis_);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ArgMinMaxPlan>()->Run(inputs[0]->raw(),
                                                 outputs[0]->template data<int64_t>(), context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = -1;
};

template <class Context>
using ArgmaxOp = ArgMinMaxOp<Context, false>;
template <class Context>
using ArgminOp = ArgMinMaxOp<Context, true>;

llvm::Error InferArgMinMax(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  if (llvm::Error error =
          context.RequireAtLeast(x.dims[*axis], 1, {0}, "the axis must not be empty")) {
    return error;
  }
  Type type(DType::kI64, ReducedDims(x.dims, {*axis}, context.attributes().Bool("keep")));
  type.index_bound = x.dims[*axis];
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct ArgMinMaxMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment) {
    AddComment(comment);
    AddInput("x", "at least one dim").Accepts(kAnySet).Ragged();
    AddOutput("index", "i64, less than the size of the axis; the dims of x without it")
        .OwnDType()
        .HasDType(DType::kI64);
    AddAttr<int64_t>("axis", "the axis; a negative one counts from the end").Default(-1).Axis();
    AddAttr<bool>("keep", "whether to keep the axis, with size 1").Default(false);
    properties().widening = IntegerWidening::kOrder;
    SetInference(InferArgMinMax);
  }
};

struct ArgmaxMaker : ArgMinMaxMaker {
  void Make() override {
    Declare(
        "The index of the largest element along an axis: the first of equal ones, or the first "
        "nan. The axis must not be empty.");
    AddExample("index = argmax([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])  # = [1, 0]");
  }
};

struct ArgminMaker : ArgMinMaxMaker {
  void Make() override {
    Declare(
        "The index of the smallest element along an axis: the first of equal ones, or the first "
        "nan. The axis must not be empty.");
    AddExample("y = argmin([3.0, 1.0, 2.0, 1.0])  # = 1");
  }
};

}  // namespace

void RegisterArgMinMaxOps(OpRegistry& registry) {
  registry.BeginFamily("Reductions");
  registry.RegisterOp<ArgmaxOp, ArgmaxMaker>("argmax");
  registry.RegisterOp<ArgminOp, ArgminMaker>("argmin");
}

}  // namespace pdl
