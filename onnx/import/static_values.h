#ifndef PDL_ONNX_IMPORT_STATIC_VALUES_H_
#define PDL_ONNX_IMPORT_STATIC_VALUES_H_

#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/tensor.h"

namespace pdl {

/// An integer tensor whose elements are known, possibly as symbolic sizes.
struct KnownSizes {
  Sizes sizes;
  std::vector<Dim> elements;  // row-major
};

/// The known values of a graph during import: constants, and integers computed from sizes. Each
/// call is visited once, when it is added.
class KnownValues {
 public:
  /// Larger tensors are not computed at import.
  static constexpr int64_t kMaxElements = 1 << 16;
  /// The most elements that are computed in total, including those that are read. Later values are
  /// computed only if they have at most kFewElements elements.
  static constexpr int64_t kMaxTotal = 1 << 24;
  static constexpr int64_t kFewElements = 256;

  /// Sets the value of a constant or a parameter.
  void SetConstant(const Value* value, Constant constant);
  void SetSizes(const Value* value, KnownSizes sizes);
  /// Computes the results of a call if its operands are known: with the kernel of the operator, or,
  /// for symbolic sizes, if the call only moves them or does arithmetic with them.
  void Visit(const Op& op);

  /// Null if it is not known.
  const Constant* FindConstant(const Value* value) const;
  /// Integers of at most kMaxElements elements; nullopt if they are not known.
  std::optional<KnownSizes> FindSizes(const Value* value) const;

 private:
  /// Counts elements; returns whether so many more may be computed.
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
