#include "onnx/import/composites.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "onnx/model/shortest_number.h"

namespace pdl {
namespace {

/// The number of a scalar constant.
std::optional<double> NumberOf(const Value* value) {
  const Op* op = value->producer();
  if (op == nullptr || op->type() != "constant") return std::nullopt;
  const Constant& constant = op->attributes().Tensor("value");
  if (constant.num_elements() != 1 || !IsFloat(value->type().dtype)) return std::nullopt;
  return ShortestNumber(constant.ElementAsDouble(0), constant.dtype());
}

/// Equal up to the rounding of a model's f32 constants.
bool IsNear(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }
bool IsNumber(const Value* value, double expected) {
  const std::optional<double> number = NumberOf(value);
  return number && IsNear(*number, expected);
}

const Op* Producer(const Value* value, llvm::StringRef type) {
  const Op* op = value->producer();
  return op != nullptr && op->type() == type ? op : nullptr;
}

/// The operands of nested multiplications: the product of all numbers, and all other factors.
struct Product {
  double number = 1;
  std::vector<const Value*> factors;
};
void Collect(const Value* value, Product* product, int depth) {
  if (const std::optional<double> number = NumberOf(value)) {
    product->number *= *number;
    return;
  }
  const Op* op = value->producer();
  // A product with other uses is a factor of its own.
  const bool is_shared = depth > 0 && value->uses().size() != 1;
  if (op != nullptr && depth < 4 && !is_shared && op->type() == "mul") {
    for (const Value* operand : op->operands()) Collect(operand, product, depth + 1);
    return;
  }
  if (op != nullptr && depth < 4 && !is_shared && op->type() == "div") {
    if (const std::optional<double> number = NumberOf(op->operands()[1]); number && *number != 0) {
      Collect(op->operands()[0], product, depth + 1);
      product->number /= *number;
      return;
    }
  }
  product->factors.push_back(value);
}

Product ProductOf(const Value* value) {
  Product product;
  Collect(value, &product, 0);
  return product;
}

/// The other operand of a sum with a number.
const Value* PlusNumber(const Value* value, double number) {
  const Op* sum = Producer(value, "add");
  if (sum == nullptr) return nullptr;
  for (const unsigned i : {0u, 1u})
    if (IsNumber(sum->operands()[i], number)) return sum->operands()[1 - i];
  return nullptr;
}

/// Whether value is x + 0.044715 * x**3.
bool IsCubic(const Value* value, const Value* x) {
  const Op* sum = Producer(value, "add");
  if (sum == nullptr) return false;
  for (const unsigned i : {0u, 1u}) {
    if (sum->operands()[i] != x) continue;
    const Product product = ProductOf(sum->operands()[1 - i]);
    if (!IsNear(product.number, 0.044715)) continue;
    if (product.factors.size() == 3 &&
        llvm::all_of(product.factors, [&](const Value* f) { return f == x; }))
      return true;
    if (product.factors.size() != 1) continue;
    const Op* power = Producer(product.factors[0], "pow");
    if (power != nullptr && power->operands()[0] == x && IsNumber(power->operands()[1], 3))
      return true;
  }
  return false;
}

/// Finds x * 0.5 * (1 + erf(x / sqrt(2))), or the same with tanh.
std::optional<Composite> FindGelu(const Op& op) {
  if (op.type() != "mul") return std::nullopt;
  const Product product = ProductOf(op.result());
  if (product.factors.size() != 2 || !IsNear(product.number, 0.5)) return std::nullopt;
  for (const unsigned i : {0u, 1u}) {
    const Value* x = product.factors[i];
    const Value* curve = PlusNumber(product.factors[1 - i], 1);
    if (curve == nullptr || curve->producer() == nullptr) continue;
    const Op& bend = *curve->producer();
    if (bend.type() != "erf" && bend.type() != "tanh") continue;
    const Product inside = ProductOf(bend.operands()[0]);
    if (inside.factors.size() != 1) continue;
    const bool is_exact =
        bend.type() == "erf" && inside.factors[0] == x && IsNear(inside.number, std::sqrt(0.5));
    const bool is_tanh = bend.type() == "tanh" && IsCubic(inside.factors[0], x) &&
                         IsNear(inside.number, std::sqrt(2 / M_PI));
    if (!is_exact && !is_tanh) continue;
    Composite gelu{"gelu", {x}, {}, {}};
    if (is_tanh) gelu.attributes.push_back({"approximate", true});
    return gelu;
  }
  return std::nullopt;
}

/// The operand of a mean over the last axis with `keep`.
const Value* MeanedOf(const Value* value) {
  const Op* mean = Producer(value, "mean");
  if (mean == nullptr || !mean->attributes().Bool("keep") || !mean->attributes().Has("axes"))
    return nullptr;
  const auto axes = mean->attributes().Ints("axes");
  const Value* x = mean->operands()[0];
  const bool is_last =
      axes.size() == 1 && (axes[0] == -1 || axes[0] + 1 == static_cast<int64_t>(x->type().rank()));
  return is_last ? x : nullptr;
}

bool IsSquareOf(const Value* value, const Value* x) {
  const Op* op = value->producer();
  if (op == nullptr || op->operands()[0] != x) return false;
  if (op->type() == "square") return true;
  if (op->type() == "mul") return op->operands()[1] == x;
  return op->type() == "pow" && IsNumber(op->operands()[1], 2);
}

/// Finds (x - mean(x)) / sqrt(mean((x - mean(x))**2) + eps) over the last axis.
std::optional<Composite> FindStandardize(const Op& op) {
  if (op.type() != "div") return std::nullopt;
  const Op* centred = Producer(op.operands()[0], "sub");
  const Op* root = Producer(op.operands()[1], "sqrt");
  if (centred == nullptr || root == nullptr) return std::nullopt;
  const Value* x = centred->operands()[0];
  if (MeanedOf(centred->operands()[1]) != x) return std::nullopt;
  const Op* sum = Producer(root->operands()[0], "add");
  if (sum == nullptr) return std::nullopt;
  for (const unsigned i : {0u, 1u}) {
    const std::optional<double> eps = NumberOf(sum->operands()[i]);
    const Value* square = MeanedOf(sum->operands()[1 - i]);
    if (!eps || *eps < 0 || square == nullptr || square->producer() == nullptr) continue;
    // The difference may be computed twice.
    const Value* difference = square->producer()->operands()[0];
    const Op* again = Producer(difference, "sub");
    if (again == nullptr || again->operands()[0] != x || MeanedOf(again->operands()[1]) != x ||
        !IsSquareOf(square, difference))
      continue;
    double meant = *eps;
    if (llvm::StringRef(FloatToString(static_cast<float>(*eps))).getAsDouble(meant)) meant = *eps;
    return Composite{"standardize", {x}, {{"axis", int64_t{-1}}, {"eps", meant}}, {}};
  }
  return std::nullopt;
}

/// Finds softmax(scale * q k^T + mask) v.
std::optional<Composite> FindAttention(const Op& op) {
  if (op.type() != "matmul" || op.attributes().Bool("transpose_a") ||
      op.attributes().Bool("transpose_b"))
    return std::nullopt;
  const Op* softmax = Producer(op.operands()[0], "softmax");
  if (softmax == nullptr) return std::nullopt;
  const Value* v = op.operands()[1];
  const auto rank = static_cast<int64_t>(v->type().rank());
  const int64_t axis = softmax->attributes().Int("axis");
  if (axis != -1 && axis + 1 != rank) return std::nullopt;
  const Value* scores = softmax->operands()[0];
  const Value* mask = nullptr;
  auto product_of = [](const Value* value) -> const Op* {
    const Product product = ProductOf(value);
    return product.factors.size() == 1 ? Producer(product.factors[0], "matmul") : nullptr;
  };
  if (const Op* sum = Producer(scores, "add")) {
    for (const unsigned i : {0u, 1u}) {
      if (product_of(sum->operands()[i]) == nullptr) continue;
      scores = sum->operands()[i];
      mask = sum->operands()[1 - i];
      break;
    }
  }
  const Op* matmul = product_of(scores);
  if (matmul == nullptr || matmul->attributes().Bool("transpose_a")) return std::nullopt;
  const Product q = ProductOf(matmul->operands()[0]);
  const Product k = ProductOf(matmul->operands()[1]);
  if (q.factors.size() != 1 || k.factors.size() != 1) return std::nullopt;
  const Value* keys = k.factors[0];
  const Value* queries = q.factors[0];
  if (queries->type().rank() != v->type().rank() || keys->type().rank() != v->type().rank() ||
      rank < 2 || rank > 4 || !IsFloat(queries->type().dtype))
    return std::nullopt;
  Composite attention{"attention", {queries, keys, v}, {}, {}};
  if (!matmul->attributes().Bool("transpose_b")) {
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < rank; ++i) perm.push_back(i);
    if (const Op* transpose = Producer(keys, "transpose");
        transpose != nullptr && transpose->attributes().Has("perm")) {
      const auto given = transpose->attributes().Ints("perm");
      perm.assign(given.begin(), given.end());
      for (int64_t& at : perm)
        if (at < 0) at += rank;
      attention.operands[1] = transpose->operands()[0];
    }
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    bool is_identity = true;
    for (size_t i = 0; i < perm.size(); ++i) is_identity &= perm[i] == static_cast<int64_t>(i);
    if (!is_identity) attention.transpose = perm;
  }
  // Heads are dim -3 of each of q, k and v.
  const double scale = ProductOf(scores).number * q.number * k.number;
  const Dim& width = queries->type().dims.back();
  if (!width.is_constant() || !IsNear(scale, 1 / std::sqrt(static_cast<double>(width.constant()))))
    attention.attributes.push_back({"scale", scale});
  if (mask != nullptr) {
    const Type& type = mask->type();
    if (type.dtype != queries->type().dtype || type.rank() > queries->type().rank())
      return std::nullopt;
    attention.operands.push_back(nullptr);  // the operand `past` is omitted
    attention.operands.push_back(mask);
  }
  return attention;
}

}  // namespace

std::optional<Composite> FindComposite(const Op& op) {
  if (auto gelu = FindGelu(op)) return gelu;
  if (auto standardize = FindStandardize(op)) return standardize;
  return FindAttention(op);
}

}  // namespace pdl
