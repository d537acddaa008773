#ifndef PDL_ONNX_IMPORT_STATIC_VALUES_H_
#define PDL_ONNX_IMPORT_STATIC_VALUES_H_

#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// An integer tensor whose elements are known, maybe as sizes with symbols.
struct KnownSizes {
  Sizes sizes;
  std::vector<Dim> elements;  // row-major
};

/// What an import knows of the values of a graph while it grows: constants, and integers computed
/// from sizes. Each call is looked at once, when it is made.
class KnownValues {
 public:
  /// More elements than this are not computed while importing.
  static constexpr int64_t kMaxElements = 1 << 16;
  /// What is computed has this many elements together, those that are read among them. What comes
  /// later is left to the run, but for what has no more than kFewElements.
  static constexpr int64_t kMaxTotal = 1 << 24;
  static constexpr int64_t kFewElements = 256;

  /// Says what a value is: a constant or a parameter.
  void SetConstant(const Value* value, Constant constant);
  void SetSizes(const Value* value, KnownSizes sizes);
  /// Computes the results of a call where its operands are known, by the operator's own kernel, or,
  /// of sizes, where it only moves them or does arithmetic.
  void Visit(const Op& op);

  /// Null where it is not known.
  const Constant* FindConstant(const Value* value) const;
  /// Integers of at most kMaxElements elements; nullopt where they are not known.
  std::optional<KnownSizes> FindSizes(const Value* value) const;

 private:
  /// Whether so many elements may still be computed; counts them.
  bool Spend(int64_t elements) const;
  bool VisitConstants(const Op& op);
  bool VisitMove(const Op& op);
  bool VisitArithmetic(const Op& op);

  llvm::DenseMap<const Value*, Constant> constants_;
  llvm::DenseMap<const Value*, KnownSizes> sizes_;
  mutable int64_t spent_ = 0;
};

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_STATIC_VALUES_H_
