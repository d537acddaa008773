#ifndef PDL_IR_DIM_PROGRAM_H_
#define PDL_IR_DIM_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/dim_polynomial.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/op/dim.h"

namespace pdl {

/// A Dim that is evaluated for many sizes of its symbols: these are looked up once, and an operand
/// that several expressions share is computed once. It keeps no reference to the Dim.
class DimProgram {
 public:
  /// `index_of` returns the index of a symbol in the sizes of Evaluate, or -1 if it has none.
  DimProgram(const Dim& dim, llvm::function_ref<int(llvm::StringRef)> index_of);

  /// The value that Dim::Evaluate returns; nullopt for its errors: a symbol without a size,
  /// overflow of 64 bits, division by zero.
  std::optional<int64_t> Evaluate(llvm::ArrayRef<int64_t> sizes) const;

 private:
  struct Factor {
    size_t value;  // index in values_
    unsigned power;
  };
  struct Term {
    int64_t coefficient;
    size_t first_factor, num_factors;
  };
  /// Computes a value from earlier ones.
  struct Step {
    enum class Kind : uint8_t { kSize, kSum, kAtom };
    Kind kind;
    DimAtom::Kind of_atom;
    size_t first, second;  // index of a size; first term and number of terms; operands
  };

  size_t AddDim(const Dim& dim, llvm::function_ref<int(llvm::StringRef)> index_of);
  size_t AddAtom(const DimAtom& atom, llvm::function_ref<int(llvm::StringRef)> index_of);
  size_t AddStep(Step step);
  std::optional<int64_t> SumOf(const Step& sum) const;
  std::optional<int64_t> Compute(const Step& step, llvm::ArrayRef<int64_t> sizes) const;

  bool has_value_ = true;
  std::vector<Factor> factors_;
  std::vector<Term> terms_;
  std::vector<Step> steps_;  // the last one computes the Dim
  /// While the program is made.
  llvm::DenseMap<const DimAtom*, size_t> known_;
  /// Of the steps.
  mutable std::vector<int64_t> values_;
};

}  // namespace pdl

#endif  // PDL_IR_DIM_PROGRAM_H_
