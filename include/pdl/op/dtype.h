#ifndef PDL_OP_DTYPE_H_
#define PDL_OP_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/dtype_enum.h"

namespace pdl {

/// The name in the language: "f32", "bf16", "bool".
PDL_API llvm::StringRef DTypeName(DType dtype);
/// The dtype of that name; nullopt if there is none.
PDL_API std::optional<DType> DTypeFromName(llvm::StringRef name);
/// The size of one element in bytes; that of a bool is 1.
PDL_API int64_t DTypeSize(DType dtype);

/// A set of dtypes, such as those that an input accepts.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType dtype) : bits_(1u << static_cast<unsigned>(dtype)) {}
  constexpr bool Contains(DType dtype) const { return bits_ >> static_cast<unsigned>(dtype) & 1u; }
  constexpr bool Intersects(DTypeSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ | b.bits_);
  }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) { return a.bits_ == b.bits_; }
  /// "f16, bf16, f32 or f64".
  PDL_API std::string ToString() const;

 private:
  constexpr explicit DTypeSet(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};

/// Common sets of dtypes.
inline constexpr DTypeSet kFloats =
    DTypeSet(DType::kF16) | DTypeSet(DType::kBF16) | DTypeSet(DType::kF32) | DTypeSet(DType::kF64);
inline constexpr DTypeSet kSignedIntegers =
    DTypeSet(DType::kI8) | DTypeSet(DType::kI16) | DTypeSet(DType::kI32) | DTypeSet(DType::kI64);
inline constexpr DTypeSet kIntegers = kSignedIntegers | DTypeSet(DType::kU8) |
                                      DTypeSet(DType::kU16) | DTypeSet(DType::kU32) |
                                      DTypeSet(DType::kU64);
inline constexpr DTypeSet kNumbers = kFloats | kIntegers;
inline constexpr DTypeSet kAnyDType = kNumbers | DTypeSet(DType::kBool);

}  // namespace pdl

#endif  // PDL_OP_DTYPE_H_
