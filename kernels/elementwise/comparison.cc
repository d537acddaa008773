// Comparisons and logic, with bool results: equal, not_equal, less, less_equal, greater,
// greater_equal, logical_and, logical_or, logical_xor, logical_not, isnan, isinf, isfinite.
#include <limits>
#include <optional>

#include "kernels/core/elementwise.h"
#include "kernels/core/inference_helpers.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// The result of comparing sizes, which may have symbols: 1 or 0 if it is the same for all values of
// the symbols, else none.
std::optional<Dim> Decided(bool is_true, bool is_false) {
  if (is_true) return Dim(1);
  return is_false ? std::optional<Dim>(0) : std::nullopt;
}
std::optional<Dim> Negated(std::optional<Dim> truth) {
  if (truth) truth = Dim(1) - *truth;
  return truth;
}
// Sizes with symbols are compared as integers; they never encode a negative number.
std::optional<Dim> SizesEqual(const Op&, llvm::ArrayRef<Dim> x) {
  const Dim difference = x[0] - x[1];
  return Decided(x[0] == x[1], difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1));
}
std::optional<Dim> SizesLess(const Op&, llvm::ArrayRef<Dim> x) {
  const Dim difference = x[0] - x[1];
  return Decided(difference.ProvablyAtMost(-1), difference.ProvablyAtLeast(0));
}
std::optional<Dim> SizesGreater(const Op&, llvm::ArrayRef<Dim> x) {
  const Dim difference = x[0] - x[1];
  return Decided(difference.ProvablyAtLeast(1), difference.ProvablyAtMost(0));
}

struct ComparisonMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment, DTypeSet dtypes) {
    AddComment(std::string(comment) + " Broadcasts as in NumPy, along dims of constant size 1.");
    AddInput("x", "left operand").Accepts(dtypes);
    AddInput("y", "right operand; dtype as x").Accepts(dtypes);
    AddOutput("z", "bool, the broadcast dims of x and y").HasDType(DType::kBool);
    properties().elementwise = true;
    SetInference(InferComparison);
  }
};

struct Equal {
  template <class T>
  bool operator()(T x, T y) const {
    return x == y;
  }
};
template <class Context>
using EqualOp = BinaryOp<Context, Equal, AnyTypes, bool>;
struct EqualMaker : ComparisonMaker {
  void Make() override {
    Declare("x == y; false if either is nan.", kAnySet);
    properties().commutative = true;
    properties().widening = IntegerWidening::kModular;
    properties().size_arithmetic = SizesEqual;
    properties().onnx_name = "Equal";
    AddExample("z = equal([1, 2], [1, 3])  # = [true, false]");
  }
};

struct NotEqual {
  template <class T>
  bool operator()(T x, T y) const {
    return x != y;
  }
};
template <class Context>
using NotEqualOp = BinaryOp<Context, NotEqual, AnyTypes, bool>;
struct NotEqualMaker : ComparisonMaker {
  void Make() override {
    Declare("x != y; true if either is nan.", kAnySet);
    properties().commutative = true;
    properties().widening = IntegerWidening::kModular;
    properties().size_arithmetic = [](const Op& op, llvm::ArrayRef<Dim> x) {
      return Negated(SizesEqual(op, x));
    };
    AddExample("z = not_equal([1, 2], [1, 3])  # = [false, true]");
  }
};

struct Less {
  template <class T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};
template <class Context>
using LessOp = BinaryOp<Context, Less, NumberTypes, bool>;
struct LessMaker : ComparisonMaker {
  void Make() override {
    Declare("x < y; false if either is nan.", kNumberSet);
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = SizesLess;
    properties().onnx_name = "Less";
    AddExample("z = less([1, 2, 3], 2)  # = [true, false, false]");
  }
};

struct LessEqual {
  template <class T>
  bool operator()(T x, T y) const {
    return x <= y;
  }
};
template <class Context>
using LessEqualOp = BinaryOp<Context, LessEqual, NumberTypes, bool>;
struct LessEqualMaker : ComparisonMaker {
  void Make() override {
    Declare("x <= y; false if either is nan.", kNumberSet);
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = [](const Op& op, llvm::ArrayRef<Dim> x) {
      return Negated(SizesGreater(op, x));
    };
    properties().onnx_name = "LessOrEqual";
    AddExample("z = less_equal([1, 2, 3], 2)  # = [true, true, false]");
  }
};

struct Greater {
  template <class T>
  bool operator()(T x, T y) const {
    return x > y;
  }
};
template <class Context>
using GreaterOp = BinaryOp<Context, Greater, NumberTypes, bool>;
struct GreaterMaker : ComparisonMaker {
  void Make() override {
    Declare("x > y; false if either is nan.", kNumberSet);
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = SizesGreater;
    properties().onnx_name = "Greater";
    AddExample("z = greater([1, 2, 3], 2)  # = [false, false, true]");
  }
};

struct GreaterEqual {
  template <class T>
  bool operator()(T x, T y) const {
    return x >= y;
  }
};
template <class Context>
using GreaterEqualOp = BinaryOp<Context, GreaterEqual, NumberTypes, bool>;
struct GreaterEqualMaker : ComparisonMaker {
  void Make() override {
    Declare("x >= y; false if either is nan.", kNumberSet);
    properties().widening = IntegerWidening::kOrder;
    properties().size_arithmetic = [](const Op& op, llvm::ArrayRef<Dim> x) {
      return Negated(SizesLess(op, x));
    };
    properties().onnx_name = "GreaterOrEqual";
    AddExample("z = greater_equal([1, 2, 3], 2)  # = [false, true, true]");
  }
};

using BoolType = TypeList<bool>;

struct And {
  bool operator()(bool x, bool y) const { return x & y; }
};
template <class Context>
using AndOp = BinaryOp<Context, And, BoolType>;
struct AndMaker : ComparisonMaker {
  void Make() override {
    Declare("True where both x and y are true.", DType::kBool);
    properties().commutative = true;
    properties().onnx_name = "And";
    AddExample("z = logical_and([true, true], [true, false])  # = [true, false]");
  }
};

struct Or {
  bool operator()(bool x, bool y) const { return x | y; }
};
template <class Context>
using OrOp = BinaryOp<Context, Or, BoolType>;
struct OrMaker : ComparisonMaker {
  void Make() override {
    Declare("True where x or y is true.", DType::kBool);
    properties().commutative = true;
    properties().onnx_name = "Or";
    AddExample("z = logical_or([true, false], [false, false])  # = [true, false]");
  }
};

struct Xor {
  bool operator()(bool x, bool y) const { return x != y; }
};
template <class Context>
using XorOp = BinaryOp<Context, Xor, BoolType>;
struct XorMaker : ComparisonMaker {
  void Make() override {
    Declare("True where exactly one of x and y is true.", DType::kBool);
    properties().commutative = true;
    properties().onnx_name = "Xor";
    AddExample("y = logical_xor([true, true], [true, false])  # = [false, true]");
  }
};

struct Not {
  bool operator()(bool x) const { return !x; }
};
template <class Context>
using NotOp = UnaryOp<Context, Not, BoolType>;
struct NotMaker : OpProtoMaker {
  void Make() override {
    AddComment("True where x is false, elementwise.");
    AddInput("x", "bool elements").Accepts(DType::kBool);
    AddOutput("y", "bool, dims as x");
    properties().elementwise = true;
    properties().onnx_name = "Not";
    SetInference(InferSameAsFirst);
    AddExample("y = logical_not([true, false])  # = [false, true]");
  }
};

struct IsNan {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
template <class Context>
using IsNanOp = UnaryOp<Context, IsNan, FloatTypes, bool>;

struct IsInfinite {
  template <class T>
  bool operator()(T x) const {
    return math::Abs(x) == std::numeric_limits<T>::infinity();
  }
};
template <class Context>
using IsInfOp = UnaryOp<Context, IsInfinite, FloatTypes, bool>;

struct IsFinite {
  template <class T>
  bool operator()(T x) const {
    return math::Abs(x) < std::numeric_limits<T>::infinity();
  }
};
template <class Context>
using IsFiniteOp = UnaryOp<Context, IsFinite, FloatTypes, bool>;

struct PredicateMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment) {
    AddComment(comment);
    AddInput("x", "any numbers").Accepts(kFloatSet);
    AddOutput("y", "bool, dims as x").HasDType(DType::kBool);
    properties().elementwise = true;
    SetInference([](InferenceContext& context) -> llvm::Error {
      context.SetOutput(Type(DType::kBool, context.input(0).dims));
      return llvm::Error::success();
    });
  }
};
struct IsNanMaker : PredicateMaker {
  void Make() override {
    Declare("True where x is nan, elementwise.");
    properties().onnx_name = "IsNaN";
    AddExample("y = isnan([1.0, -inf, nan])  # = [false, false, true]");
  }
};
struct IsInfMaker : PredicateMaker {
  void Make() override {
    Declare("True where x is inf or -inf, elementwise.");
    properties().onnx_name = "IsInf";
    AddExample("y = isinf([1.0, -inf, nan])  # = [false, true, false]");
  }
};
struct IsFiniteMaker : PredicateMaker {
  void Make() override {
    Declare("True where x is neither nan nor infinite, elementwise.");
    AddExample("y = isfinite([1.0, inf, nan])  # = [true, false, false]");
  }
};

}  // namespace

void RegisterComparisonOps(OpRegistry& registry) {
  registry.BeginFamily("Comparisons and logic");
  registry.RegisterOp<EqualOp, EqualMaker>("equal");
  registry.RegisterOp<NotEqualOp, NotEqualMaker>("not_equal");
  registry.RegisterOp<LessOp, LessMaker>("less");
  registry.RegisterOp<LessEqualOp, LessEqualMaker>("less_equal");
  registry.RegisterOp<GreaterOp, GreaterMaker>("greater");
  registry.RegisterOp<GreaterEqualOp, GreaterEqualMaker>("greater_equal");
  registry.RegisterOp<AndOp, AndMaker>("logical_and");
  registry.RegisterOp<OrOp, OrMaker>("logical_or");
  registry.RegisterOp<XorOp, XorMaker>("logical_xor");
  registry.RegisterOp<NotOp, NotMaker>("logical_not");
  registry.RegisterOp<IsNanOp, IsNanMaker>("isnan");
  registry.RegisterOp<IsInfOp, IsInfMaker>("isinf");
  registry.RegisterOp<IsFiniteOp, IsFiniteMaker>("isfinite");
}

}  // namespace pdl
