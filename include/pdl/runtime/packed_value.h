// Ragged and sparse values in a run.
// Module: runtime
#ifndef PDL_RUNTIME_PACKED_VALUE_H_
#define PDL_RUNTIME_PACKED_VALUE_H_

#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/storage.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/scope.h"

namespace pdl {

/// A value as the dense tensors that represent it in a Scope; see PartsOf. A dense value is one
/// tensor.
struct PDL_API PackedValue {
  /// The type that the network declares.
  Type type;
  /// Unused for a sparse bool tensor.
  Tensor values;
  /// One for each ragged dim, outermost first. A sparse tensor has one more, with the beginning of
  /// each row's elements.
  llvm::SmallVector<Tensor, 3> offsets;
  /// The column indices of a sparse tensor.
  Tensor indices;

  /// Reads the parts of the value `name`, which must be on the CPU. An Error if one is missing or
  /// the offsets are invalid.
  static llvm::Expected<PackedValue> Find(const Scope& scope, llvm::StringRef name,
                                          const Type& type);
  void Put(Scope* scope, llvm::StringRef name) const;
  static PackedValue FromConstant(const PackedConstant& constant);
  /// Converts to a constant whose type has the actual sizes. The parts must be on the CPU.
  PackedConstant ToConstant() const;
  const Tensor& part(Part part) const;
  /// The type with the actual sizes.
  Type SizedType() const;
  /// SizedType() as a string: "f32[2, ~T, 4]".
  std::string TypeString() const;
};

/// Returns why offsets are invalid, or an empty string: they begin with 0, never decrease, and end
/// with `count`, the number of the things that they divide, which `what` names: "rows", or the
/// "elements" of a sparse tensor.
PDL_API std::string FaultOfOffsets(const Tensor& offsets, int64_t count,
                                   llvm::StringRef what = "rows");

/// Formats a value like TensorToString: "[[0.0, 1.0], [2.0]]"; a sparse matrix as "{[0, 3]: 1.5,
/// [1, 0]: 2.0}", sequences of sparse rows as "{[0, 2, 3]: 1.5}".
PDL_API std::string PackedToString(const PackedValue& value, const PrintOptions& options = {});

}  // namespace pdl

#endif  // PDL_RUNTIME_PACKED_VALUE_H_
