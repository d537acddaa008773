#ifndef PDL_OP_TYPE_H_
#define PDL_OP_TYPE_H_

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/export.h"
#include "pdl/op/dim.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// How the elements of a tensor are stored.
enum class Storage : uint8_t {
  kDense = 0,
  kSparse = 1,  // CSR: a matrix [N, D], or sequences of sparse rows, [N, ~T, D]
};

/// The static type of a value: dtype, rank, and dims up to their symbols. `f32[N, ~T, D]` is N
/// sequences of individual lengths, `f32[N, ~S, ~T, D]` N sequences of sequences: ragged dims
/// immediately follow the first dim.
struct PDL_API Type {
  DType dtype = DType::kF32;
  Storage storage = Storage::kDense;
  Shape dims;
  /// For integers: every element is in [0, index_bound). Checked for inputs of a run.
  std::optional<Dim> index_bound;

  Type() = default;
  Type(DType dtype_in, llvm::ArrayRef<Dim> dims_in) : dtype(dtype_in), dims(dims_in) {}

  unsigned rank() const { return static_cast<unsigned>(dims.size()); }
  bool is_scalar() const { return dims.empty(); }
  /// Whether no size depends on a symbol.
  bool has_constant_dims() const {
    return llvm::all_of(dims, [](const Dim& dim) { return dim.is_constant(); });
  }
  bool is_sparse() const { return storage == Storage::kSparse; }
  /// The number of ragged dims: 0, 1 or 2 in a valid type.
  unsigned ragged_levels() const;
  /// Whether the type is dense: neither ragged nor sparse.
  bool is_plain() const { return !is_sparse() && ragged_levels() == 0; }
  /// Describes why the type is invalid (misplaced ragged dims, a sparse tensor that is not a
  /// matrix); empty if it is valid.
  std::string Fault() const;
  /// "f32[N, 784]", "i64[N] in 0..10".
  std::string ToString() const;
};

/// Equality of all components, including the index bound.
PDL_API bool operator==(const Type& a, const Type& b);
inline bool operator!=(const Type& a, const Type& b) { return !(a == b); }

}  // namespace pdl

#endif  // PDL_OP_TYPE_H_
