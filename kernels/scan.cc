// Operators that go along an axis and remember: cumsum, cumprod.
#include <algorithm>

#include "kernels/all_ops.h"
#include "kernels/element.h"
#include "kernels/isa_dispatch.h"
#include "pdl/gradient.h"
#include "pdl/inference.h"
#include "pdl/op_proto_maker.h"
#include "pdl/operator.h"

namespace pdl {
namespace {

constexpr int64_t kGrainElements = 1 << 14;
constexpr int64_t kColumns = 64;

// Floats are accumulated in double, integers wrap around.
template <class T, bool kProduct>
struct ScanLoop {
  using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  static PDL_INLINE Acc Step(Acc acc, T x) {
    const Acc value = static_cast<Acc>(Element<T>::Load(x));
    return kProduct ? acc * value : acc + value;
  }
  static PDL_INLINE T Result(Acc acc) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(acc);
    } else {
      return Element<T>::Store(static_cast<ComputeType<T>>(acc));
    }
  }

  // `n` neighbouring columns of `axis` rows that lie `stride` elements apart (less than 0:
  // backwards). `in` and `out` may be the same.
  static PDL_INLINE void Run(const void* in_raw, int64_t axis, int64_t stride, int64_t n,
                             bool exclusive, void* out_raw) {
    const T* in = static_cast<const T*>(in_raw);
    T* out = static_cast<T*>(out_raw);
    Acc acc[kColumns];
    for (int64_t j = 0; j < n; ++j) acc[j] = Acc(kProduct ? 1 : 0);
    for (int64_t a = 0; a < axis; ++a, in += stride, out += stride) {
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        const Acc before = acc[j];
        acc[j] = Step(before, in[j]);
        out[j] = Result(exclusive ? before : acc[j]);
      }
    }
  }
};

struct ScanState : CallState {
  void (*loop)(const void* in, int64_t axis, int64_t stride, int64_t n, bool exclusive,
               void* out) = nullptr;
  int64_t outer = 1, axis = 1, inner = 1, element_size = 1;
};

template <class Context, bool kProduct>
class ScanOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<ScanState>();
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
    for (int64_t d = 0; d < rank; ++d) {
      (d < axis   ? state->outer
       : d > axis ? state->inner
                  : state->axis) *= x.sizes[static_cast<size_t>(d)];
    }
    state->element_size = DTypeSize(x.dtype);
    VisitDType(NumberTypes(), x.dtype, [&](auto tag) {
      state->loop = ChooseIsa<ScanLoop<typename decltype(tag)::type, kProduct>>();
    });
    Preparation preparation;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const ScanState& s = *context.template state<ScanState>();
    const char* in = static_cast<const char*>(inputs[0]->raw());
    char* out = static_cast<char*>(outputs[0]->raw());
    if (inputs[0]->num_elements() == 0) return llvm::Error::success();
    const int64_t blocks = (s.inner + kColumns - 1) / kColumns;
    const int64_t grain =
        std::max<int64_t>(1, kGrainElements / (s.axis * std::min(kColumns, s.inner)));
    context.ParallelFor(s.outer * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t column = task % blocks * kColumns;
        const int64_t first = reverse_ ? s.axis - 1 : 0;
        const int64_t at = ((task / blocks * s.axis + first) * s.inner + column) * s.element_size;
        s.loop(in + at, s.axis, reverse_ ? -s.inner : s.inner, std::min(kColumns, s.inner - column),
               exclusive_, out + at);
      }
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    exclusive_ = attributes.Bool("exclusive");
    reverse_ = attributes.Bool("reverse");
    return llvm::Error::success();
  }

 private:
  int64_t axis_ = -1;
  bool exclusive_ = false, reverse_ = false;
};
template <class Context>
using CumsumOp = ScanOp<Context, false>;
template <class Context>
using CumprodOp = ScanOp<Context, true>;

llvm::Error InferScan(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  return InferSameAsFirst(context);
}

struct ScanMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment) {
    AddComment(comment);
    AddInput("x", "at least one dim").Accepts(kNumberSet);
    AddOutput("y", "type as x");
    AddAttr<int64_t>("axis", "the axis, a negative one from the end").Default(-1);
    AddAttr<bool>("exclusive", "of the elements before each place, without the one at it")
        .Default(false);
    AddAttr<bool>("reverse", "from the end of the axis to its start").Default(false);
    SetInference(InferScan);
  }
};

struct CumsumMaker : ScanMaker {
  void Make() override {
    Declare("The sums of the first elements along an axis. Integers wrap around.");
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.input(0)->type().dtype)) return;
      g.SetInputGradient(0, g.Call("cumsum", {g.output_gradient()},
                                   {{"axis", g.attributes().Int("axis")},
                                    {"exclusive", g.attributes().Bool("exclusive")},
                                    {"reverse", !g.attributes().Bool("reverse")}}));
    });
  }
};

struct CumprodMaker : ScanMaker {
  void Make() override {
    Declare("The products of the first elements along an axis. Integers wrap around.");
  }
};

}  // namespace

void RegisterScanOps(OpRegistry& registry) {
  registry.BeginFamily("Scans");
  registry.RegisterOp<CumsumOp, CumsumMaker>("cumsum");
  registry.RegisterOp<CumprodOp, CumprodMaker>("cumprod");
}

}  // namespace pdl
