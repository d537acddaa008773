// Elementwise operators of more than two operands, which broadcast: add_n, where.
#include <algorithm>

#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/zero_rule.h"

namespace pdl {
namespace {

// --- add_n --------------------------------------------------------------------------------------

// Integers wrap around.
struct Sum {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
    } else {
      return x + y;
    }
  }
};
constexpr Sum kSum;

Tile SumTile(DType dtype) {
  Tile tile;
  VisitDType(NumberTypes(), dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    tile = MakeBinaryTile<T, T>(&kSum);
  });
  return tile;
}

// (x + y) + z, rounded after each sum, like two calls of add.
template <class T>
struct SumOfThreeLoop {
  static PDL_INLINE void Run(const void* const* inputs, void* output, int64_t n, const void*) {
    const T* x = static_cast<const T*>(inputs[0]);
    const T* y = static_cast<const T*>(inputs[1]);
    const T* z = static_cast<const T*>(inputs[2]);
    T* out = static_cast<T*>(output);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T sum = Element<T>::Store(kSum(Element<T>::Load(x[i]), Element<T>::Load(y[i])));
      out[i] = Element<T>::Store(kSum(Element<T>::Load(sum), Element<T>::Load(z[i])));
    }
  }
};

// Adds the operands to the result one after another; the first three at once if there are as many.
struct AddNState : CallState {
  struct Step {
    unsigned operand;  // the first operand that is added
    unsigned count;    // two or three operands, or one that is added to the result
    ElementwiseState walk;
  };
  std::vector<Step> steps;
};

template <class Context>
class AddNOp : public Operator<Context> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType output) const override {
    if (inputs.size() == 2) return SumTile(output);
    Tile tile;
    if (inputs.size() != 3) return tile;
    VisitDType(NumberTypes(), output, [&](auto tag) {
      tile.dense = ChooseIsa<SumOfThreeLoop<typename decltype(tag)::type>>();
    });
    return tile;
  }

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    const OperandType& output = context.outputs()[0];
    Preparation preparation;
    if (inputs.size() == 1) {
      preparation.aliases.push_back({0, 0});
      return preparation;
    }
    auto state = std::make_shared<AddNState>();
    const unsigned first = std::min<unsigned>(3, static_cast<unsigned>(inputs.size()));
    llvm::SmallVector<DType, 3> dtypes(first, output.dtype);
    state->steps.push_back(
        {0, first,
         ElementwiseState(GetTile(dtypes, output.dtype), inputs.take_front(first), output)});
    for (unsigned i = first; i < inputs.size(); ++i) {
      state->steps.push_back(
          {i, 1, ElementwiseState(SumTile(output.dtype), {output, inputs[i]}, output)});
    }
    // If there are more steps, their operands are still needed when the first step writes.
    for (unsigned i = 0; i < first && inputs.size() == first; ++i) {
      if (inputs[i].sizes == output.sizes) preparation.in_place.push_back({0, i});
    }
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (inputs.size() == 1) {
      if (inputs[0]->raw() == outputs[0]->raw()) return llvm::Error::success();
      return context.CopyWithin(outputs[0]->raw(), inputs[0]->raw(), inputs[0]->num_bytes());
    }
    for (const AddNState::Step& step : context.template state<AddNState>()->steps) {
      if (step.count == 1) {
        const Tensor* operands[] = {outputs[0], inputs[step.operand]};
        step.walk.Run(operands, outputs[0], context);
      } else if (step.count == 2) {
        step.walk.Run(inputs, outputs[0], context);
      } else {
        step.walk.Run(inputs, outputs[0], context);
      }
    }
    return llvm::Error::success();
  }
};

struct AddNMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The sum of one or more tensors, added from left to right. Integers wrap around. "
        "Broadcasts as in NumPy, along dims of constant size 1.");
    AddInput("x", "one or more tensors of the same dtype").Accepts(kNumberSet).Repeatable();
    AddOutput("y", "dtype as x, the broadcast dims of all inputs").DTypeOf("x");
    properties().elementwise = true;
    properties().is_identity = true;
    properties().zero_rule = SumAtZero;
    SetInference(InferElementwise);
    SetGradient([](GradientContext& g) {
      for (unsigned i = 0; i < g.num_inputs(); ++i) {
        g.SetInputGradient(i, g.SumTo(g.output_gradient(), g.input(i)));
      }
    });
    AddExample("y = add_n([1.0, 2.0], [10.0, 20.0], [100.0, 200.0])  # = [111.0, 222.0]");
  }
};

// --- where --------------------------------------------------------------------------------------

// Selection moves bytes, so the loops depend only on element sizes. Bit i of kSingle: operand i is
// a single element that is used for all.
template <class Bits, unsigned kSingle>
struct ChoiceLoop {
  static PDL_INLINE void Run(const void* const* inputs, void* output, int64_t n, const void*) {
    const uint8_t* condition = static_cast<const uint8_t*>(inputs[0]);
    const Bits* x = static_cast<const Bits*>(inputs[1]);
    const Bits* y = static_cast<const Bits*>(inputs[2]);
    Bits* out = static_cast<Bits*>(output);
    if constexpr ((kSingle & 1) != 0) {
      const Bits* chosen = *condition != 0 ? x : y;
      for (int64_t i = 0; i < n; ++i) out[i] = chosen[i];
      return;
    }
    const Bits x0 = n > 0 ? *x : Bits(0), y0 = n > 0 ? *y : Bits(0);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const Bits a = (kSingle & 2) != 0 ? x0 : x[i];
      const Bits b = (kSingle & 4) != 0 ? y0 : y[i];
      out[i] = condition[i] != 0 ? a : b;
    }
  }
};

template <class Bits>
Tile ChoiceTile() {
  Tile tile;
  tile.dense = ChooseIsa<ChoiceLoop<Bits, 0>>();
  tile.scalar[0] = ChooseIsa<ChoiceLoop<Bits, 1>>();
  tile.scalar[1] = ChooseIsa<ChoiceLoop<Bits, 2>>();
  tile.scalar[2] = ChooseIsa<ChoiceLoop<Bits, 4>>();
  return tile;
}

struct Choice {};

template <class Context>
class WhereOp : public ElementwiseOp<Context, Choice, 3> {
 public:
  Tile GetTile(llvm::ArrayRef<DType>, DType output) const override {
    switch (DTypeSize(output)) {
      case 1:
        return ChoiceTile<uint8_t>();
      case 2:
        return ChoiceTile<uint16_t>();
      case 4:
        return ChoiceTile<uint32_t>();
      default:
        return ChoiceTile<uint64_t>();
    }
  }
};

llvm::Error InferWhere(InferenceContext& context) {
  if (llvm::Error error = RequireSameDType(context, 1, 2)) return error;
  const Type& x = context.input(1);
  const Type& y = context.input(2);
  auto branches = BroadcastDims(context, x.dims, y.dims, 1, 2);
  if (!branches) return branches.takeError();
  auto dims = BroadcastDims(context, *branches, context.input(0).dims, 1, 0);
  if (!dims) return dims.takeError();
  Type type(x.dtype, *dims);
  if (x.index_bound == y.index_bound) type.index_bound = x.index_bound;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

AtZero ChoiceAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  return operands[1] == operands[2] ? UnlessBroadcast(op, operands[1]) : AtZero();
}

struct WhereMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "x where the condition is true, y elsewhere. Broadcasts as in NumPy, along dims of "
        "constant size 1.");
    AddInput("condition", "bool elements").Accepts(DType::kBool).OwnDType().Selector();
    AddInput("x", "selected where the condition is true").Accepts(kAnySet);
    AddInput("y", "selected where the condition is false; dtype as x").Accepts(kAnySet);
    AddOutput("z", "dtype as x, the broadcast dims of all inputs").DTypeOf("x");
    properties().elementwise = true;
    properties().moves_elements = true;
    properties().widening = IntegerWidening::kModular;
    properties().zero_rule = ChoiceAtZero;
    SetInference(InferWhere);
    SetGradient([](GradientContext& g) {
      if (!IsFloat(g.output()->type().dtype)) return;
      Value* condition = g.input(0);
      Value* dz = g.output_gradient();
      Value* zero = g.Scalar(0, dz);
      g.SetInputGradient(1, g.SumTo(g.Call("where", {condition, dz, zero}), g.input(1)));
      g.SetInputGradient(2, g.SumTo(g.Call("where", {condition, zero, dz}), g.input(2)));
    });
    AddExample("z = where([true, false, true], [1.0, 2.0, 3.0], 0.0)  # = [1.0, 0.0, 3.0]");
  }
};

}  // namespace

void RegisterNaryOps(OpRegistry& registry) {
  registry.BeginFamily("Elementwise, several inputs");
  registry.RegisterOp<AddNOp, AddNMaker>("add_n");
  registry.RegisterOp<WhereOp, WhereMaker>("where");
}

}  // namespace pdl
