// Ragged and sparse values of a run.
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

/// A value as the dense tensors that a Scope holds of it; see PartsOf. A dense value is one tensor.
struct PDL_API PackedValue {
  /// What the network says that it is.
  Type type;
  /// Unused for a sparse tensor of truth values.
  Tensor values;
  /// One for each ragged dim, the outermost first; of a sparse tensor one more, where the elements
  /// of each row begin.
  llvm::SmallVector<Tensor, 3> offsets;
  /// The columns of a sparse tensor.
  Tensor indices;

  /// The parts under `name`, on the CPU. An Error where one is missing, or where offsets are none.
  static llvm::Expected<PackedValue> Find(const Scope& scope, llvm::StringRef name,
                                          const Type& type);
  void Put(Scope* scope, llvm::StringRef name) const;
  static PackedValue FromConstant(const PackedConstant& constant);
  /// With the sizes in its type. The parts lie on the CPU.
  PackedConstant ToConstant() const;
  const Tensor& part(Part part) const;
  /// Its type with the sizes that it has.
  Type SizedType() const;
  /// "f32[2, ~T, 4]": the same, written.
  std::string TypeString() const;
};

/// What is wrong with offsets, or nothing: they begin with 0, never go down, and end at `rows`.
PDL_API std::string FaultOfOffsets(const Tensor& offsets, int64_t rows);

/// Like TensorToString: "[[0.0, 1.0], [2.0]]"; of a sparse matrix "{[0, 3]: 1.5, [1, 0]: 2.0}", of
/// sequences of sparse rows "{[0, 2, 3]: 1.5}".
PDL_API std::string PackedToString(const PackedValue& value, const PrintOptions& options = {});

}  // namespace pdl

#endif  // PDL_RUNTIME_PACKED_VALUE_H_
