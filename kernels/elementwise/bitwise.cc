// Bitwise operators on integers: bitwise_and, bitwise_or, bitwise_xor, bitwise_not, shift_left,
// shift_right.
#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/inference.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using BitTypes = TypeList<int8_t, int32_t, int64_t, uint8_t, bool>;
constexpr DTypeSet kBitSet = SetOf(BitTypes());

struct BitwiseMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, DTypeSet dtypes, const char* right) {
    AddComment(std::string(comment) + " Broadcasts as in NumPy, along dims of constant size 1.");
    AddInput("x", "left operand").Accepts(dtypes);
    AddInput("y", right).Accepts(dtypes);
    AddOutput("z", "dtype as x, the broadcast dims of x and y").DTypeOf("x");
    properties().elementwise = true;
    SetInference(InferElementwise);
  }
  void DeclareBits(const char* comment) {
    Declare(comment, kBitSet, "right operand; dtype as x");
    properties().commutative = true;
    properties().widening = IntegerWidening::kModular;
  }
  void DeclareShift(const char* comment) {
    Declare(comment, kIntegerSet, "number of bits to shift by; dtype as x");
  }
};

struct BitAnd {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
template <class Context>
using BitAndOp = BinaryOp<Context, BitAnd, BitTypes>;
struct BitAndMaker : BitwiseMaker {
  void Make() override {
    DeclareBits("Bitwise and: the bits that are set in both operands.");
    properties().onnx_name = "BitwiseAnd";
    AddExample("y = bitwise_and([6, 5], [3, 4])  # = [2, 4]");
  }
};

struct BitOr {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
template <class Context>
using BitOrOp = BinaryOp<Context, BitOr, BitTypes>;
struct BitOrMaker : BitwiseMaker {
  void Make() override {
    DeclareBits("Bitwise or: the bits that are set in at least one operand.");
    properties().onnx_name = "BitwiseOr";
    AddExample("y = bitwise_or([6, 5], [3, 4])  # = [7, 5]");
  }
};

struct BitXor {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};
template <class Context>
using BitXorOp = BinaryOp<Context, BitXor, BitTypes>;
struct BitXorMaker : BitwiseMaker {
  void Make() override {
    DeclareBits("Bitwise exclusive or: the bits that are set in exactly one operand.");
    properties().onnx_name = "BitwiseXor";
    AddExample("y = bitwise_xor([6, 5], [3, 4])  # = [5, 1]");
  }
};

struct BitNot {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};
template <class Context>
using BitNotOp = UnaryOp<Context, BitNot, BitTypes>;
struct BitNotMaker : OpProtoMaker {
  void Make() override {
    AddComment("Inverts each bit, elementwise: -1 - x for a signed integer.");
    AddInput("x", "integers or bool").Accepts(kBitSet);
    AddOutput("y", "type as x");
    properties().elementwise = true;
    properties().widening = IntegerWidening::kModular;
    properties().onnx_name = "BitwiseNot";
    SetInference(InferSameAsFirst);
    AddExample("y = bitwise_not([0, 5])  # = [-1, -6]");
  }
};

// The shift count, or the number of bits if the count is larger or negative.
template <class T>
PDL_INLINE uint64_t ShiftCount(T y) {
  const uint64_t shift = static_cast<uint64_t>(y);
  return shift < sizeof(T) * 8 ? shift : sizeof(T) * 8;
}

struct ShiftLeft {
  template <class T>
  T operator()(T x, T y) const {
    const uint64_t shift = ShiftCount(y);
    return shift < sizeof(T) * 8 ? static_cast<T>(static_cast<uint64_t>(x) << shift) : T(0);
  }
};
template <class Context>
using ShiftLeftOp = BinaryOp<Context, ShiftLeft, IntegerTypes>;
struct ShiftLeftMaker : BitwiseMaker {
  void Make() override {
    DeclareShift(
        "Shifts the bits of x left by y, as in NumPy; the result is 0 if y is negative or at least "
        "the number of bits.");
    properties().widening = IntegerWidening::kModular;
    AddExample("y = shift_left([1, 5], [4, 1])  # = [16, 10]");
  }
};

struct ShiftRight {
  template <class T>
  T operator()(T x, T y) const {
    const uint64_t shift = ShiftCount(y);
    // A shift by all bits but one has the same result as any larger shift: copies of the sign.
    const uint64_t most = sizeof(T) * 8 - 1;
    const T shifted = static_cast<T>(x >> (shift < most ? shift : most));
    return std::is_signed_v<T> || shift <= most ? shifted : T(0);
  }
};
template <class Context>
using ShiftRightOp = BinaryOp<Context, ShiftRight, IntegerTypes>;
struct ShiftRightMaker : BitwiseMaker {
  void Make() override {
    DeclareShift(
        "Shifts the bits of x right by y and fills with copies of the sign bit, as in NumPy: x // "
        "2**y. If y is negative or at least the number of bits, the result is 0, or -1 for "
        "negative x.");
    AddExample("y = shift_right([16, -5], [3, 1])  # = [2, -3]");
  }
};

}  // namespace

void RegisterBitwiseOps(OpRegistry& registry) {
  registry.BeginFamily("Bits");
  registry.RegisterOp<BitAndOp, BitAndMaker>("bitwise_and");
  registry.RegisterOp<BitOrOp, BitOrMaker>("bitwise_or");
  registry.RegisterOp<BitXorOp, BitXorMaker>("bitwise_xor");
  registry.RegisterOp<BitNotOp, BitNotMaker>("bitwise_not");
  registry.RegisterOp<ShiftLeftOp, ShiftLeftMaker>("shift_left");
  registry.RegisterOp<ShiftRightOp, ShiftRightMaker>("shift_right");
}

}  // namespace pdl
