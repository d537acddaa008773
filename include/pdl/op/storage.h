// The representation of ragged and sparse values: several dense tensors, each with its own name.
// Module: ir
#ifndef PDL_OP_STORAGE_H_
#define PDL_OP_STORAGE_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"
#include "pdl/op/type.h"

namespace pdl {

/// One of the dense tensors that represent a value.
enum class Part : uint8_t {
  /// The elements, row after row; of a sparse tensor, the stored ones.
  kValues,
  /// The beginning of each row and the end of the last one: begins with 0 and never decreases.
  kOffsets,
  /// The same for the next inner level, the rows of which the outer rows consist.
  kInnerOffsets,
  kInnermostOffsets,
  /// The column index of each element of a sparse tensor.
  kIndices,
};

/// "x", "x.offsets", "x.offsets2", "x.offsets3", "x.indices".
PDL_API std::string PartName(llvm::StringRef name, Part part);

/// The offsets of a level; 0 is the first ragged dim. A sparse tensor has one more level than
/// ragged dims: the elements of each row.
inline Part OffsetsPart(unsigned level) {
  return level == 0 ? Part::kOffsets : level == 1 ? Part::kInnerOffsets : Part::kInnermostOffsets;
}

/// A part and its dense type.
struct PartType {
  Part part;
  Type type;
};

/// Returns the dense tensors that represent a value of `type` with the name `name`:
///
///     f32[N, 4]            x: f32[N, 4]
///     f32[N, ~T, 4]        x: f32[sum(T), 4]   x.offsets: i64[N + 1]
///     f32[N, ~S, ~T, 4]    x: f32[sum(T), 4]   x.offsets: i64[N + 1]   x.offsets2: i64[sum(S) + 1]
///     sparse f32[N, D]     x: f32[count(x)]    x.offsets: i64[N + 1]   x.indices: i64[count(x)]
///     sparse bool[N, D]                        x.offsets: i64[N + 1]   x.indices: i64[count(x)]
///     sparse f32[N, ~T, D] x: f32[count(x)]    x.offsets: i64[N + 1]   x.offsets2: i64[sum(T) + 1]
///                                                                      x.indices: i64[count(x)]
PDL_API llvm::SmallVector<PartType, 4> PartsOf(llvm::StringRef name, const Type& type);

/// A known value of any type, as the constants of its parts. A dense value is one constant.
struct PDL_API PackedConstant {
  /// The type with its actual sizes: `f32[2, ~T, 4]`.
  Type type;
  /// Unused for a sparse bool tensor.
  Constant values;
  /// One for each ragged dim, outermost first. A sparse tensor has one more, with the beginning of
  /// each row's elements.
  llvm::SmallVector<Constant, 3> offsets;
  /// The column indices of a sparse tensor.
  Constant indices;

  PackedConstant() = default;
  PackedConstant(Constant dense);  // NOLINT: a dense value is one
  const Constant& part(Part part) const;
  /// `part` must be one of those that PartsOf lists.
  void SetPart(Part part, Constant constant);
};

/// Returns `type` with the sizes of a value whose `values` and `offsets` have these sizes. The
/// number of columns of a sparse tensor is not changed.
PDL_API Type TypeWithSizes(const Type& type, llvm::ArrayRef<int64_t> values,
                           llvm::ArrayRef<int64_t> offsets);

/// Converts a dense value to a ragged or sparse `type`: all sequences have equal lengths; sparse
/// rows store the elements that are not 0. The Error is a plain string that says why this is not
/// possible.
PDL_API llvm::Expected<PackedConstant> Pack(const Constant& dense, const Type& type);

/// Converts a value of a dense type to the sparse `type` with the same dims: stores the elements
/// that are not 0.
PDL_API PackedConstant ToSparse(PackedConstant dense, const Type& type);

/// Returns the sizes of the values of a ragged type that has no rows, as far as `type` determines
/// them.
PDL_API llvm::SmallVector<int64_t, 4> SizesWithoutRows(const Type& type);

/// The total number of rows of a ragged dim: the symbol `sum(T)` of `~T`.
PDL_API Dim TotalOf(const Dim& ragged);

/// The dims of the packed values of a ragged type; for a dense type, `dims` itself.
PDL_API Shape PackedDims(const Shape& dims);

}  // namespace pdl

#endif  // PDL_OP_STORAGE_H_
