// Arithmetic, comparisons, logic, bits and casts.
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "onnx/import/node.h"
#include "onnx/import/rules.h"
#include "onnx/model/shortest_number.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

// The operands of a binary node. Before version 7, the second one may be aligned at an axis.
std::pair<Value*, Value*> Operands(Node& n) {
  Value* a = n.In(0);
  Value* b = n.In(1);
  if (n.opset() >= 7 || !n.HasAttribute("axis") || a == nullptr || b == nullptr) return {a, b};
  const unsigned axis = n.Axis(n.Int("axis", 0), a->type().rank());
  Shape dims = b->type().dims;
  while (dims.size() + axis < a->type().rank()) dims.emplace_back(1);
  return {a, n.Reshape(b, dims)};
}

// Calls the operator whose `onnx_name` is that of the node.
void ConvertSameName(Node& n) {
  const OpDef* def = GlobalRegistry().FindByOnnxName(n.op_type());
  if (def->signature.inputs.size() == 2) {
    const auto [a, b] = Operands(n);
    return n.Out(n.Call(def->name(), {a, b}));
  }
  std::vector<Value*> operands;
  for (unsigned i = 0; i < def->signature.inputs.size(); ++i) operands.push_back(n.In(i));
  n.Out(n.Call(def->name(), operands));
}

bool IsSize(Node& n, Value* value) {
  const std::optional<KnownSizes> known = n.KnownSizesOf(value);
  return known &&
         llvm::all_of(known->elements, [](const Dim& dim) { return dim.ProvablyAtLeast(0); });
}

/// Clears the highest bit of a 64-bit number, which is the sign of an i64.
Value* WithoutSign(Node& n, Value* x) {
  const int64_t all = INT64_MAX;
  return n.Call("bitwise_and", {x, n.Literal(Constant::Copy(DType::kI64, {}, &all))});
}

/// a / b of u64 by a division of i64, for which a is halved so that it is not negative.
Value* DivideU64(Node& n, Value* a, Value* b) {
  Value* x = n.Cast(a, DType::kI64);
  Value* y = n.Cast(b, DType::kI64);
  Value* one = n.Scalar(1, DType::kI64);
  Value* half = WithoutSign(n, n.Call("shift_right", {x, one}));
  Value* nearly = n.Call("shift_left", {n.Call("floor_div", {half, y}), one});
  Value* rest = n.Cast(n.Sub(x, n.Mul(nearly, y)), DType::kU64);
  Value* is_one_more = n.Cast(n.Call("greater_equal", {rest, b}), DType::kI64);
  // If the highest bit of b is set, the quotient is 0 or 1.
  Value* is_large = n.Call("less", {y, n.Scalar(0, DType::kI64)});
  Value* fits = n.Cast(n.Call("greater_equal", {a, b}), DType::kI64);
  return n.Cast(n.Call("where", {is_large, fits, n.Add(nearly, is_one_more)}), DType::kU64);
}

bool IsU64(const Value* value) { return value != nullptr && value->type().dtype == DType::kU64; }

/// Whether a value consists of sizes that are not all numbers.
bool IsOpenSize(Node& n, Value* value) {
  const std::optional<KnownSizes> known = n.KnownSizesOf(value);
  return known && llvm::any_of(known->elements, [](const Dim& dim) { return !dim.is_constant(); });
}

bool IsPositive(Node& n, Value* value) {
  const std::optional<KnownSizes> known = n.KnownSizesOf(value);
  return known &&
         llvm::all_of(known->elements, [](const Dim& dim) { return dim.ProvablyAtLeast(1); });
}

/// Divides sizes that may be negative, rounding towards 0.
Value* DivideSizes(Node& n, Value* a, Value* b) {
  Value* zero = n.Scalar(0, a);
  Value* positive = n.Call("floor_div", {n.Call("maximum", {a, zero}), b});
  Value* negative = n.Call("floor_div", {n.Call("maximum", {n.Call("neg", {a}), zero}), b});
  return n.Sub(positive, negative);
}

void ConvertDiv(Node& n) {
  const auto [a, b] = Operands(n);
  if (a == nullptr || b == nullptr || IsFloat(a->type().dtype)) {
    n.Out(n.Call("div", {a, b}));
  } else if (IsU64(a) && IsU64(b)) {
    n.Out(DivideU64(n, a, b));
  } else if (IsUnsigned(a->type().dtype) || (IsSize(n, a) && IsSize(n, b))) {
    n.Out(n.Call("floor_div", {a, b}));
  } else if (a->type().dtype == b->type().dtype && IsOpenSize(n, a) && IsPositive(n, b)) {
    n.Out(DivideSizes(n, a, b));
  } else {
    // Rounds towards 0: fmod has the sign of a.
    n.Out(n.Call("floor_div", {n.Sub(a, n.Call("fmod", {a, b})), b}));
  }
}

void ConvertMod(Node& n) {
  Value* a = n.In(0);
  Value* b = n.In(1);
  if (IsU64(a) && IsU64(b)) return n.Out(n.Sub(a, n.Mul(DivideU64(n, a, b), b)));
  n.Out(n.Call(n.Int("fmod", 0) != 0 ? "fmod" : "mod", {a, b}));
}

void ConvertPow(Node& n) {
  auto [x, y] = Operands(n);
  if (x == nullptr || y == nullptr) return;
  const DType dtype = x->type().dtype;
  DType common = dtype;
  if (y->type().dtype != dtype && !IsFloat(dtype) && IsFloat(y->type().dtype)) common = DType::kF64;
  n.Out(n.Cast(n.Call("pow", {n.Cast(x, common), n.Cast(y, common)}), dtype));
}

// Sum, Mean, Max, Min.
void ConvertVariadic(Node& n) {
  std::vector<Value*> all = n.AllIn();
  if (all.empty()) return n.Fail("it has no inputs");
  const llvm::StringRef op = n.op_type() == "Max"   ? "maximum"
                             : n.op_type() == "Min" ? "minimum"
                                                    : "add";
  Value* result = all[0];
  for (size_t i = 1; i < all.size(); ++i) result = n.Call(op, {result, all[i]});
  if (n.op_type() == "Mean")
    result = n.Div(result, n.Scalar(static_cast<double>(all.size()), result));
  n.Out(result);
}

/// The larger or the smaller of two sizes if a node selects it by comparing them; otherwise null.
Value* SelectSize(Node& n, const Value* condition, Value* x, Value* y) {
  const Op* compared = condition == nullptr ? nullptr : condition->producer();
  const std::optional<KnownSizes> xs = n.KnownSizesOf(x), ys = n.KnownSizesOf(y);
  if (compared == nullptr || !xs || !ys || !IsInteger(x->type().dtype)) return nullptr;
  const bool is_greater = compared->type() == "greater" || compared->type() == "greater_equal";
  const bool is_less = compared->type() == "less" || compared->type() == "less_equal";
  if (!is_greater && !is_less) return nullptr;
  const std::optional<KnownSizes> left = n.KnownSizesOf(compared->operands()[0]);
  const std::optional<KnownSizes> right = n.KnownSizesOf(compared->operands()[1]);
  if (!left || !right) return nullptr;
  const auto same = [](const KnownSizes& a, const KnownSizes& b) {
    return a.sizes == b.sizes && a.elements == b.elements;
  };
  const bool in_order = same(*xs, *left) && same(*ys, *right);
  if (!in_order && !(same(*xs, *right) && same(*ys, *left))) return nullptr;
  return n.Call(is_greater == in_order ? "maximum" : "minimum", {x, y});
}

void ConvertWhere(Node& n) {
  Value* condition = n.In(0);
  Value* x = n.In(1);
  Value* y = n.In(2);
  if (Value* size = SelectSize(n, condition, x, y)) return n.Out(size);
  n.Out(n.Call("where", {condition, x, y}));
}

void ConvertIsInf(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const bool negative = n.Int("detect_negative", 1) != 0;
  const bool positive = n.Int("detect_positive", 1) != 0;
  Value* found = n.Call("isinf", {x});
  if (!negative || !positive) {
    const llvm::StringRef side = positive ? "greater" : "less";
    found = n.Call("logical_and", {found, n.Call(side, {x, n.Scalar(0, x)})});
    if (!negative && !positive) found = n.Call("logical_and", {found, n.Scalar(0, DType::kBool)});
  }
  n.Out(found);
}

void ConvertBitShift(Node& n) {
  const std::string direction = n.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return n.Fail("direction is '{0}'", direction);
  Value* x = n.In(0);
  Value* shift = n.In(1);
  if (direction == "LEFT" || !IsU64(x) || !IsU64(shift))
    return n.Out(n.Call(direction == "LEFT" ? "shift_left" : "shift_right", {x, shift}));
  // A shift by one clears the sign.
  Value* count = n.Cast(shift, DType::kI64);
  Value* zero = n.Scalar(0, DType::kI64);
  Value* one = n.Scalar(1, DType::kI64);
  Value* first = WithoutSign(n, n.Call("shift_right", {n.Cast(x, DType::kI64), one}));
  Value* rest = n.Call("maximum", {n.Sub(count, one), zero});
  Value* shifted = n.Cast(n.Call("shift_right", {first, rest}), DType::kU64);
  n.Out(n.Call("where", {n.Call("equal", {count, zero}), x, shifted}));
}

void ConvertCast(Node& n) { n.Out(n.Cast(n.In(0), n.TypeAttribute("to", DType::kF32))); }

// Integers of the same size keep their bits in a cast; bool has only one.
void ConvertBitCast(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const DType from = x->type().dtype, to = n.TypeAttribute("to", from);
  if (DTypeSize(from) != DTypeSize(to)) return n.Unsupported("elements of another size");
  if (from != to && (!(IsInteger(from) || from == DType::kBool) || !IsInteger(to)))
    return n.Unsupported("the bits of {0} as {1}", DTypeName(from), DTypeName(to));
  n.Out(n.Cast(x, to));
}

void ConvertBinarizer(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  n.Out(n.Cast(n.Call("greater", {x, n.Scalar(n.Float("threshold", 0), x)}), x->type().dtype));
}

void ConvertCastLike(Node& n) {
  Value* like = n.In(1);
  if (like != nullptr) n.Out(n.Cast(n.In(0), like->type().dtype));
}

void ConvertIdentity(Node& n) {
  if (n.num_inputs() > 0 && n.scope().sequences.contains(n.proto().input(0)))
    return n.SequenceOut(0, n.SequenceIn(0));
  n.Out(n.In(0));
}

// Models are imported for inference, in which nothing is dropped.
void ConvertDropout(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  if (n.opset() >= 12 && n.Has(2)) {
    const std::optional<double> training = n.KnownReal(n.In(2));
    const std::optional<double> ratio = n.Has(1) ? n.KnownReal(n.In(1)) : 0.5;
    if (!training || (*training != 0 && ratio != 0.0)) {
      if (!training) n.IntsIn(2);
      if (!ratio) n.RealIn(1);
      return n.Unsupported("training mode uses random numbers, which cannot be reproduced");
    }
  }
  n.Out(0, x);
  if (n.IsUsed(1)) n.Out(1, n.Filled(x->type().dims, 1, DType::kBool));
}

void ConvertClip(Node& n) {
  Value* x = n.In(0);
  if (x == nullptr) return;
  const double infinity = std::numeric_limits<double>::infinity();
  if (n.opset() < 11) {
    const double low = n.Float("min", -infinity), high = n.Float("max", infinity);
    std::vector<NamedAttribute> bounds;
    if (n.HasAttribute("min")) bounds.push_back({"low", low});
    if (n.HasAttribute("max")) bounds.push_back({"high", high});
    if (low == 0 && !n.HasAttribute("max")) return n.Out(n.Call("relu", {x}));
    return n.Out(n.Call("clip", {x}, bounds));
  }
  // Constant bounds become attributes.
  const bool has_low = n.Has(1), has_high = n.Has(2);
  const bool is_known = (!has_low || n.KnownReal(n.In(1))) && (!has_high || n.KnownReal(n.In(2)));
  if (IsFloat(x->type().dtype) && is_known) {
    const DType dtype = x->type().dtype;
    const double low = has_low ? ShortestNumber(*n.KnownReal(n.In(1)), dtype) : -infinity;
    const double high = has_high ? ShortestNumber(*n.KnownReal(n.In(2)), dtype) : infinity;
    if (low == 0 && high == infinity) return n.Out(n.Call("relu", {x}));
    std::vector<NamedAttribute> bounds;
    if (low > -infinity) bounds.push_back({"low", low});
    if (high < infinity) bounds.push_back({"high", high});
    return n.Out(bounds.empty() ? x : n.Call("clip", {x}, bounds));
  }
  if (has_low) x = n.Call("maximum", {x, n.In(1)});
  if (has_high) x = n.Call("minimum", {x, n.In(2)});
  n.Out(x);
}

}  // namespace

llvm::ArrayRef<OnnxRule> ElementwiseRules() {
  static const OnnxRule kRules[] = {
      {"Div", ConvertDiv},           {"Mod", ConvertMod},
      {"Pow", ConvertPow},           {"Sum", ConvertVariadic},
      {"Mean", ConvertVariadic},     {"Max", ConvertVariadic},
      {"Min", ConvertVariadic},      {"Where", ConvertWhere},
      {"IsInf", ConvertIsInf},       {"BitShift", ConvertBitShift},
      {"Cast", ConvertCast, 6},      {"CastLike", ConvertCastLike},
      {"BitCast", ConvertBitCast},   {"Binarizer", ConvertBinarizer, 1, "ai.onnx.ml"},
      {"Identity", ConvertIdentity}, {"Dropout", ConvertDropout},
      {"Clip", ConvertClip}};
  return kRules;
}

const OnnxRule& SameNameRule() {
  static const OnnxRule kRule = {"", ConvertSameName};
  return kRule;
}

}  // namespace pdl
