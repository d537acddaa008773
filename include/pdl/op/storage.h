// How ragged and sparse values are kept: as dense tensors, each under a name of its own.
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

/// Which of the dense tensors of a value.
enum class Part : uint8_t {
  /// The elements, one row after another; of a sparse tensor those that are there.
  kValues,
  /// Where each row begins, and where the last one ends: from 0 on, never smaller than before.
  kOffsets,
  /// The same one level further in: of what the rows themselves are made of.
  kInnerOffsets,
  kInnermostOffsets,
  /// The column of each element of a sparse tensor.
  kIndices,
};

/// "x", "x.offsets", "x.offsets2", "x.offsets3", "x.indices".
PDL_API std::string PartName(llvm::StringRef name, Part part);

/// The offsets of a level: of the first ragged dim 0, and so on. A sparse tensor has one level more
/// than it has ragged dims: which elements a row has.
inline Part OffsetsPart(unsigned level) {
  return level == 0 ? Part::kOffsets : level == 1 ? Part::kInnerOffsets : Part::kInnermostOffsets;
}

/// A part, and the dense type that it has.
struct PartType {
  Part part;
  Type type;
};

/// The dense tensors that a value of `type` called `name` is kept as:
///
///     f32[N, 4]            x: f32[N, 4]
///     f32[N, ~T, 4]        x: f32[sum(T), 4]   x.offsets: i64[N + 1]
///     f32[N, ~S, ~T, 4]    x: f32[sum(T), 4]   x.offsets: i64[N + 1]   x.offsets2: i64[sum(S) + 1]
///     sparse f32[N, D]     x: f32[count(x)]    x.offsets: i64[N + 1]   x.indices: i64[count(x)]
///     sparse bool[N, D]                        x.offsets: i64[N + 1]   x.indices: i64[count(x)]
///     sparse f32[N, ~T, D] x: f32[count(x)]    x.offsets: i64[N + 1]   x.offsets2: i64[sum(T) + 1]
///                                                                      x.indices: i64[count(x)]
PDL_API llvm::SmallVector<PartType, 4> PartsOf(llvm::StringRef name, const Type& type);

/// A known value of any type, as the constants that it is kept as. A dense value is one constant.
struct PDL_API PackedConstant {
  /// With the sizes that it has: `f32[2, ~T, 4]`.
  Type type;
  /// Unused for a sparse tensor of truth values.
  Constant values;
  /// One for each ragged dim, the outermost first; of a sparse tensor one more, where the elements
  /// of each row begin.
  llvm::SmallVector<Constant, 3> offsets;
  /// The columns of a sparse tensor.
  Constant indices;

  PackedConstant() = default;
  PackedConstant(Constant dense);  // NOLINT: a dense value is one
  const Constant& part(Part part) const;
  /// One of the parts that PartsOf lists.
  void SetPart(Part part, Constant constant);
};

/// `type` with the sizes of a value that is kept as `values` and `offsets` of these sizes. Columns
/// of a sparse tensor stay what they are.
PDL_API Type TypeWithSizes(const Type& type, llvm::ArrayRef<int64_t> values,
                           llvm::ArrayRef<int64_t> offsets);

/// A dense value as one of a ragged or sparse `type`: sequences as long as each other; of rows that
/// are sparse the elements that are not 0. The Error (plain text) says why it is none.
PDL_API llvm::Expected<PackedConstant> Pack(const Constant& dense, const Type& type);

/// A value of the dense type that has the dims of a sparse `type`, as one of that: its elements
/// that are not 0.
PDL_API PackedConstant ToSparse(PackedConstant dense, const Type& type);

/// The sizes of the values of a ragged type without rows: as far as the type tells.
PDL_API llvm::SmallVector<int64_t, 4> SizesWithoutRows(const Type& type);

/// How many rows a ragged dim has in all: the symbol `sum(T)` of `~T`.
PDL_API Dim TotalOf(const Dim& ragged);

/// The dims of the packed values of a ragged type; those of a dense one are its own.
PDL_API Shape PackedDims(const Shape& dims);

}  // namespace pdl

#endif  // PDL_OP_STORAGE_H_
