// Random choices: bernoulli, randperm.
#include <algorithm>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/creation/permutation.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/philox.h"

namespace pdl {
namespace {

// --- bernoulli ----------------------------------------------------------------------------------

// Elements [begin, begin + n); begin is a multiple of a block.
template <class T, class Out>
struct BernoulliLoop {
  static constexpr bool kDouble = sizeof(T) == 8;
  static constexpr int64_t kPerBlock = kDouble ? 2 : 4;

  static PDL_INLINE void Run(random::Stream stream, const void* in, int64_t begin, int64_t n,
                             void* out_raw) {
    const T* p = static_cast<const T*>(in) + begin;
    Out* out = static_cast<Out*>(out_raw) + begin;
    for (int64_t i = 0; i < n; i += kPerBlock) {
      const random::Words words =
          random::Philox(stream, static_cast<uint64_t>((begin + i) / kPerBlock));
      ComputeType<T> units[kPerBlock];
      if constexpr (kDouble) {
        units[0] = random::UnitDouble(words.w0, words.w1);
        units[1] = random::UnitDouble(words.w2, words.w3);
      } else {
        units[0] = random::UnitFloat(words.w0);
        units[1] = random::UnitFloat(words.w1);
        units[2] = random::UnitFloat(words.w2);
        units[3] = random::UnitFloat(words.w3);
      }
      const int64_t count = std::min(kPerBlock, n - i);
      for (int64_t j = 0; j < count; ++j) {
        const bool one = units[j] < Element<T>::Load(p[i + j]);
        out[i + j] = Element<Out>::Store(static_cast<ComputeType<Out>>(one));
      }
    }
  }
};

template <class Context>
class BernoulliOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    auto state = std::make_shared<State>();
    VisitDType(FloatTypes(), context.inputs()[0].dtype, [&](auto in) {
      VisitDType(AnyTypes(), context.outputs()[0].dtype, [&](auto out) {
        using In = typename decltype(in)::type;
        using Out = typename decltype(out)::type;
        state->loop = ChooseIsa<BernoulliLoop<In, Out>>();
      });
    });
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    constexpr int64_t kElements = 1 << 12;  // a multiple of every block size
    const int64_t n = outputs[0]->num_elements();
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, this->stream_key());
    const auto loop = context.template state<State>()->loop;
    context.ParallelFor((n + kElements - 1) / kElements, 1, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kElements;
      loop(stream, inputs[0]->raw(), first, std::min(n, end * kElements) - first,
           outputs[0]->raw());
    });
    return llvm::Error::success();
  }

 private:
  struct State : CallState {
    void (*loop)(random::Stream stream, const void* in, int64_t begin, int64_t n,
                 void* out) = nullptr;
  };
};

llvm::Error InferBernoulli(InferenceContext& context) {
  const Type& p = context.input(0);
  DType dtype = p.dtype;
  if (context.attributes().Has("dtype")) {
    if (llvm::Error error = CheckDType(context, "dtype", kAnySet)) return error;
    dtype = context.attributes().Dtype("dtype");
  }
  context.SetOutput(Type(dtype, p.dims));
  return llvm::Error::success();
}

struct BernoulliMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Samples each element from a Bernoulli distribution: 1 with probability x, else 0; 0 for "
        "nan. The values depend only on x, the seed, the number of runs so far, and the name of "
        "the result. The gradient is 0.");
    AddInput("x", "probabilities, in [0, 1]").Accepts(kFloatSet);
    AddOutput("y", "0 or 1; dims as x").DimsOf("x");
    AddAttr<DType>("dtype", "dtype of the result; by default that of x").Optional();
    AddExample("y = bernoulli([0.0, 1.0])  # = [0.0, 1.0]");
    properties().random = true;
    SetInference(InferBernoulli);
    SetGradient([](GradientContext& g) {
      const Type& x = g.input(0)->type();
      g.SetInputGradient(0, g.Call("zeros", {}, {{"dims", x.dims}, {"dtype", x.dtype}}));
    });
  }
};

// --- randperm -----------------------------------------------------------------------------------

template <class Context>
class RandpermOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    int64_t* out = outputs[0]->template data<int64_t>();
    const int64_t n = outputs[0]->num_elements();
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, this->stream_key());
    const random::Permutation permutation = random::MakePermutation(stream, n);
    context.ParallelFor(n, 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<int64_t>(permutation.At(static_cast<uint64_t>(i)));
      }
    });
    return llvm::Error::success();
  }
};

llvm::Error InferRandperm(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "n")) return error;
  auto n = OneSize(context, "n");
  if (!n) return n.takeError();
  Type type(DType::kI64, {*n});
  type.index_bound = *n;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct RandpermMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "A random permutation of the numbers below n. It depends only on the seed, the number of "
        "runs so far, and the name of the result.");
    AddOutput("y", "i64[n], a permutation of 0, 1, ..., n - 1").HasDType(DType::kI64).Rank(1);
    AddAttr<Shape>("n", "number of elements").Positional();
    AddExample("y = sum(randperm(5))  # = 10");
    properties().random = true;
    SetInference(InferRandperm);
  }
};

}  // namespace

void RegisterRandomChoiceOps(OpRegistry& registry) {
  registry.BeginFamily("Random numbers");
  registry.RegisterOp<BernoulliOp, BernoulliMaker>("bernoulli");
  registry.RegisterOp<RandpermOp, RandpermMaker>("randperm");
}

}  // namespace pdl
