#include "test/cc/testing/perturbation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "pdl/op/half.h"
#include "test/cc/testing/rounding.h"

namespace pdl {

double LargestOf(const Constant& values) {
  double largest = 0;
  for (int64_t i = 0; i < values.num_elements(); ++i)
    if (const double value = values.ElementAsDouble(i); std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  return largest;
}

bool IsFinite(const Constant& values) {
  for (int64_t i = 0; i < values.num_elements(); ++i)
    if (!std::isfinite(values.ElementAsDouble(i))) return false;
  return true;
}

bool MayOverflow(const Constant& values, bool in_onnx) {
  if (!kFloats.Contains(values.dtype())) return false;
  const double limit = values.dtype() == DType::kF64              ? 1e150
                       : values.dtype() == DType::kF16 && in_onnx ? 200
                                                                  : 1e18;
  return LargestOf(values) >= limit;
}

const Constant* LiteralOf(const Graph& graph, const Value* value) {
  const Op* op = value->producer();
  if (value->kind() == ValueKind::kParameter || value->kind() == ValueKind::kState) {
    const std::optional<BlockId>& initializer = value->variable().initializer;
    if (!initializer || graph.block(*initializer).ops.size() != 1) return nullptr;
    op = graph.block(*initializer).ops.front();
  }
  if (op == nullptr) return nullptr;
  const AttributeValue* given = op->attributes().Find("value");
  return given == nullptr ? nullptr : std::get_if<Constant>(given);
}

Perturbation::Perturbation(uint64_t seed, const RandomGraph& network,
                           std::function<double(llvm::StringRef)> rounding, double at_least)
    : random_(seed), rounding_(std::move(rounding)), at_least_(at_least) {
  const Graph& graph = network.graph;
  for (const Value* input : graph.inputs())
    NoteOperand(input->name(), network.inputs.lookup(input->name()).values);
  for (const auto& variables : {graph.parameters(), graph.states()})
    for (const Value* variable : variables)
      if (const Constant* literal = LiteralOf(graph, variable))
        NoteOperand(variable->name(), *literal);
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Op* op : graph.block({i}).ops) {
      for (const Value* result : op->results()) {
        ops_[result->name()] = op;
        if (const Constant* literal = LiteralOf(graph, result))
          NoteOperand(result->name(), *literal);
      }
    }
  }
}

template <typename T>
void Perturbation::Perturb(const Result& result, const Constant& before, double error) {
  // f16 and bf16 are computed in f32.
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  // The tensor is the memory that the next call reads, since the run is on the CPU.
  T* const elements = const_cast<T*>(result.tensor.data<T>());
  const Op* op = ops_.lookup(result.name);
  const bool is_attention = op != nullptr && op->type() == "attention";
  // A partial sum may overflow to one infinity and meet the other one, depending on its order; and
  // a product may, unless it is added without being rounded.
  const double limit{std::numeric_limits<Wide>::max()};
  const double term = is_attention ? LargestProduct(*op) : LargestTerm(result);
  const bool has_huge_terms = term >= limit / 1024;
  // Keys that causality masks are multiplied by 0 if they are in the same panel.
  const bool spreads = is_attention && op->attributes().Bool("causal") && !IsFinite(before);
  for (int64_t i = 0; i < before.num_elements(); ++i) {
    const uint64_t random = random_();
    const double sign = random % 2 == 0 ? 1 : -1;
    const double value{static_cast<Wide>(elements[i])};
    if (std::isfinite(value)) {
      // Few elements get one of their neighbors, since comparisons depend on the last bit: the
      // error is that of the largest element.
      const double neighbor = 0.75 * Epsilon(result.tensor.dtype()) * std::abs(value);
      const bool is_neighbor = random / 2 % 4 == 0;
      elements[i] = T(static_cast<Wide>(value + sign * (is_neighbor ? neighbor : error)));
      const bool is_near_limit = has_huge_terms || std::abs(value) >= limit / 1024;
      if (sign > 0 && (spreads || (may_overflow_ && is_near_limit))) elements[i] = T(NAN);
    } else if ((may_overflow_ || spreads) && sign > 0) {
      elements[i] = T(std::isnan(value) ? HUGE_VALF : NAN);
    }
  }
}

llvm::Error Perturbation::See(const Result& result) {
  const Constant before = result.tensor.ToConstant();
  const double units = rounding_(result.op);
  if (units != 0 && kFloats.Contains(result.tensor.dtype())) {
    const double epsilon = Epsilon(result.tensor.dtype());
    // f16 and bf16 are summed in f32.
    const double sum_epsilon = std::min(epsilon, Epsilon(DType::kF32));
    const double error = units * epsilon * std::max(LargestOf(before), at_least_) +
                         units * sum_epsilon * LargestTerm(result) +
                         AngleError(result, LargestOf(before));
    may_overflow_ = may_overflow_ || MayOverflow(before);
    switch (result.tensor.dtype()) {
      case DType::kF16:
        Perturb<float16>(result, before, error);
        break;
      case DType::kBF16:
        Perturb<bfloat16>(result, before, error);
        break;
      case DType::kF32:
        Perturb<float>(result, before, error);
        break;
      default:
        Perturb<double>(result, before, error);
    }
  }
  NoteOperand(result.name, before);
  return llvm::Error::success();
}

void Perturbation::NoteOperand(llvm::StringRef name, const Constant& values) {
  largest_[name] = LargestOf(values);
  may_overflow_ = may_overflow_ || MayOverflow(values);
}

double Perturbation::LargestTerm(const Result& result) const {
  const Op* op = ops_.lookup(result.name);
  return op == nullptr || !AddsElements(op->type()) ? 0 : LargestProduct(*op);
}

double Perturbation::LargestProduct(const Op& op) const {
  double product = 1;
  for (const Value* operand : op.operands().take_front(2))
    product *= largest_.lookup(operand->name());
  return product;
}

double Perturbation::AngleError(const Result& result, double largest) const {
  const Op* op = ops_.lookup(result.name);
  if (op == nullptr || op->type() != "rotary_embedding") return 0;
  const double speed = std::max(1.0, 1 / op->attributes().Float("base"));
  return Epsilon(DType::kF32) * largest_.lookup(op->operands()[1]->name()) * speed * largest;
}

}  // namespace pdl
