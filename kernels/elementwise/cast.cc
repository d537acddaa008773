// cast: conversion to another dtype.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/zero_rule.h"

namespace pdl {

// clang-format off
template <> inline constexpr DType kDTypeOf<int16_t> = DType::kI16;
template <> inline constexpr DType kDTypeOf<uint16_t> = DType::kU16;
template <> inline constexpr DType kDTypeOf<uint32_t> = DType::kU32;
template <> inline constexpr DType kDTypeOf<uint64_t> = DType::kU64;
// clang-format on

namespace {

// Includes the dtypes that no operator computes with, so that they can be cast to one that is
// supported.
using StoredTypes = TypeList<float16, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t,
                             uint8_t, uint16_t, uint32_t, uint64_t, bool>;

// Rounds x to a float toward 0, and sets the last bit if that is inexact (round to odd): rounding
// the result to f16 or bf16 is then the same as rounding x directly.
PDL_INLINE float RoundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = static_cast<double>(nearest);
  const uint32_t bits = math::detail::Bits(nearest);
  const uint32_t shorter = bits - (math::Abs(back) > math::Abs(x) ? 1u : 0u);
  return math::detail::FloatOf((back == x) | (x != x) ? bits : (shorter | 1u));
}

// As NumPy does on x86: numbers out of range of int32 or int64 become the smallest integer; shorter
// integers take the low bits of an int32. A uint32 or uint64 in range is converted exactly.
template <class To, class From>
PDL_INLINE To RealToInteger(From x) {
  constexpr bool kIsWide = sizeof(To) == 8 || std::is_same_v<To, uint32_t>;
  using Wide = std::conditional_t<kIsWide, int64_t, int32_t>;
  constexpr From kEnd = kIsWide ? From(0x1p63) : From(0x1p31);
  // A double may be between -2^31 - 1 and -2^31, and is then rounded toward 0 to the latter.
  constexpr bool kHasRest = sizeof(Wide) == 4 && sizeof(From) == 8;
  if constexpr (std::is_same_v<To, uint64_t>) {
    const bool is_upper = (x >= kEnd) & (x < 2 * kEnd);
    const From rest = is_upper ? x - kEnd : x;
    const bool fits = (rest < kEnd) & (rest >= -kEnd);
    const Wide wide = fits ? static_cast<Wide>(rest) : std::numeric_limits<Wide>::min();
    return static_cast<To>(wide) + (is_upper ? uint64_t{1} << 63 : 0);
  } else {
    const bool fits = (x < kEnd) & (kHasRest ? x > -kEnd - From(1) : x >= -kEnd);
    const Wide wide = fits ? static_cast<Wide>(x) : std::numeric_limits<Wide>::min();
    return static_cast<To>(wide);
  }
}

template <class To>
struct Conversion {
  template <class From>
  ComputeType<To> operator()(From x) const {
    constexpr bool kFromReal = std::is_floating_point_v<From>;
    constexpr bool kToHalf = !std::is_same_v<ComputeType<To>, To>;
    if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (kToHalf && sizeof(From) >= 4 && !std::is_same_v<From, float>) {
      return RoundToOdd(static_cast<double>(x));
    } else if constexpr (kFromReal && std::is_integral_v<To>) {
      return RealToInteger<To>(x);
    } else {
      return static_cast<ComputeType<To>>(x);
    }
  }
};

template <class From>
Tile TileFrom(DType to) {
  Tile tile;
  VisitDType(StoredTypes(), to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    static const Conversion<To> conversion;
    tile = MakeUnaryTile<To, From>(&conversion);
  });
  return tile;
}

template <class Context>
class CastOp : public Operator<Context> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType output) const override {
    Tile tile;
    VisitDType(StoredTypes(), inputs[0],
               [&](auto tag) { tile = TileFrom<typename decltype(tag)::type>(output); });
    return tile;
  }

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& input = context.inputs()[0];
    const OperandType& output = context.outputs()[0];
    Preparation preparation;
    preparation.state = std::make_shared<ElementwiseState>(GetTile({input.dtype}, output.dtype),
                                                           context.inputs(), output);
    if (input.dtype == output.dtype) {
      preparation.aliases.push_back({0, 0});
    } else if (DTypeSize(input.dtype) == DTypeSize(output.dtype)) {
      preparation.in_place.push_back({0, 0});
    }
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    context.template state<ElementwiseState>()->Run(inputs, outputs[0], context);
    return llvm::Error::success();
  }
};

llvm::Error InferCast(InferenceContext& context) {
  context.SetOutput(Type(context.attributes().Dtype("to"), context.input(0).dims));
  return llvm::Error::success();
}

void CastGradient(GradientContext& g) {
  const DType from = g.input(0)->type().dtype;
  if (!IsFloat(from) || !IsFloat(g.output()->type().dtype)) return;
  g.SetInputGradient(0, g.Call("cast", {g.output_gradient()}, {{"to", from}}));
}

// If `op` undoes a cast from 16 bits to f32, which is exact, returns the value before both casts;
// else null.
const Value* BeforeCasts(const Op& op, const AtZero& operand) {
  if (operand.kind != AtZero::Kind::kSame) return nullptr;
  const Op* widened = operand.same->producer();
  if (!widened || &widened->def() != &op.def() || !IsFloat(widened->result()->type().dtype))
    return nullptr;
  const Value* original = widened->operands()[0];
  const DType dtype = original->type().dtype;
  const bool is_exact =
      IsFloat(dtype) && DTypeSize(dtype) == 2 && DTypeSize(widened->result()->type().dtype) > 2;
  return is_exact && dtype == op.result()->type().dtype ? original : nullptr;
}

AtZero CastAtZero(const Op& op, llvm::ArrayRef<AtZero> operands) {
  if (const Value* original = BeforeCasts(op, operands[0])) return AtZero::Same(original);
  return ZeroIfFirstIs(op, operands);
}

std::optional<Dim> SizeAsInteger(const Op& op, llvm::ArrayRef<Dim> elements) {
  if (op.result()->type().dtype == DType::kBool) return std::nullopt;
  return elements[0];
}

struct CastMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Converts each element to another dtype. Real numbers are truncated to integers; a number "
        "other than 0 becomes true. Integers wrap around; a real number out of range of i32 or "
        "i64, or nan, becomes the smallest integer. i16, u16, u32 and u64, which no other operator "
        "supports, can be converted to and from other dtypes with it.");
    AddInput("x", "elements of any rank").Accepts(SetOf(StoredTypes()));
    AddOutput("y", "dims as x").DTypeOf("to");
    AddAttr<DType>("to", "the new dtype");
    properties().elementwise = true;
    properties().zero_rule = CastAtZero;
    properties().size_arithmetic = SizeAsInteger;
    SetInference(InferCast);
    SetGradient(CastGradient);
    AddExample("y = cast([1.75, -1.75], to=i32)  # = [1, -1]");
  }
};

}  // namespace

void RegisterCastOps(OpRegistry& registry) {
  registry.BeginFamily("Casts");
  registry.RegisterOp<CastOp, CastMaker>("cast");
}

}  // namespace pdl
