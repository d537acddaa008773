#ifndef PDL_OP_TYPE_H_
#define PDL_OP_TYPE_H_

#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "pdl/compiler/export.h"
#include "pdl/op/dim.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// How the elements of a tensor are kept.
enum class Storage : uint8_t {
  kDense = 0,
  kSparse = 1,  // CSR: the rows of a matrix [N, D], or of sequences, [N, ~T, D]
};

/// The type of a value: what is known of a tensor before it exists. Rank and dtype always are,
/// dims up to their symbols. `f32[N, ~T, D]` is N sequences, each of its own length, and
/// `f32[N, ~S, ~T, D]` N sequences of sequences: ragged dims come right after the first dim.
struct PDL_API Type {
  DType dtype = DType::kF32;
  Storage storage = Storage::kDense;
  Shape dims;
  /// For integers: every element lies in [0, index_bound). Checked where the value is fed.
  std::optional<Dim> index_bound;

  Type() = default;
  Type(DType dtype_in, llvm::ArrayRef<Dim> dims_in) : dtype(dtype_in), dims(dims_in) {}

  unsigned rank() const { return static_cast<unsigned>(dims.size()); }
  bool is_scalar() const { return dims.empty(); }
  bool is_sparse() const { return storage == Storage::kSparse; }
  /// How many dims are ragged: 0, 1 or 2 in a type that has no fault.
  unsigned ragged_levels() const;
  /// Every dim has one size, and every element is there.
  bool is_plain() const { return !is_sparse() && ragged_levels() == 0; }
  /// What no value can be: ragged dims out of place, a sparse tensor that is no matrix. Empty where
  /// there is nothing of the kind.
  std::string Fault() const;
  /// "f32[N, 784]", "i64[N] in 0..10".
  std::string ToString() const;
};

PDL_API bool operator==(const Type& a, const Type& b);
inline bool operator!=(const Type& a, const Type& b) { return !(a == b); }

}  // namespace pdl

#endif  // PDL_OP_TYPE_H_
