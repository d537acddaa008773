// The words of 32 bits that packed operands of f32 matmuls consist of: floats, or pairs of adjacent
// elements of the inner dim, rounded to bf16.
#ifndef PDL_KERNELS_LINEAR_PANEL_WORDS_H_
#define PDL_KERNELS_LINEAR_PANEL_WORDS_H_

#include <cstdint>

#include "pdl/op/operator.h"

namespace pdl {

/// The words of packed operands.
enum class WordKind : uint8_t {
  kFloat,
  /// The right operand of pairs, the left one of floats.
  kBf16Weights,
  /// Both of pairs; requires HasBf16Products().
  kBf16Pairs,
};
/// How a call by a constant operand 1 is multiplied. If bf16 is the dtype of the operands, or
/// permitted by matmul_precision(), as pairs where that is faster than f32, else with weights of
/// half the size.
WordKind ChooseWords(const PrepareContext& context);
constexpr int64_t ElementsOf(WordKind kind) { return kind == WordKind::kFloat ? 1 : 2; }
/// The words of `elements` adjacent elements; the last pair may consist of an element and 0.
constexpr int64_t WordsOf(WordKind kind, int64_t elements) {
  return (elements + ElementsOf(kind) - 1) / ElementsOf(kind);
}

/// See Preparation::matmul_precision.
constexpr DType PrecisionOf(WordKind kind) {
  return kind == WordKind::kFloat ? DType::kF32 : DType::kBF16;
}

/// Rounds n adjacent elements to nearest, ties to even, and writes them as pairs, in the memory of
/// floats. Subnormal numbers become 0. Requires HasBf16Products().
void ToBf16Pairs(const float* from, int64_t n, float* to);
/// Two rows of n elements: element j of both, rounded, becomes pair to[j]. A null second row is 0.
void ToBf16PairsOfRows(const float* first, const float* second, int64_t n, float* to);

}  // namespace pdl

#endif  // PDL_KERNELS_LINEAR_PANEL_WORDS_H_
