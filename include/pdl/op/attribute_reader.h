#ifndef PDL_OP_ATTRIBUTE_READER_H_
#define PDL_OP_ATTRIBUTE_READER_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/op_def.h"

namespace pdl {

/// Typed access to one call's attributes. `values` are in declaration order, with defaults filled
/// in. Refers to its arguments, which must outlive it.
class PDL_API AttributeReader {
 public:
  AttributeReader(const OpSignature& signature, llvm::ArrayRef<AttributeValue> values)
      : signature_(&signature), values_(values) {}

  /// Reads a scalar attribute; T is int64_t, int, double, float, std::string, bool, DType, Shape,
  /// Constant or BlockId. An Error if the operator declares no such attribute, or the value is
  /// none, has another type, or does not fit T (int).
  template <typename T>
  [[nodiscard]] llvm::Error Get(llvm::StringRef name, T* out) const;
  /// Reads a list attribute; T as above. A Shape of constant dims can be read as int64_t, too.
  template <typename T>
  [[nodiscard]] llvm::Error GetArray(llvm::StringRef name, llvm::SmallVectorImpl<T>* out) const;

  /// Returns the value, or null if the operator declares no such attribute.
  const AttributeValue* Find(llvm::StringRef name) const;
  /// Whether the attribute is declared and not none.
  bool Has(llvm::StringRef name) const;

  /// Unchecked access for the operator's own code: a wrong name or type is an internal error.
  int64_t Int(llvm::StringRef name) const;
  double Float(llvm::StringRef name) const;
  bool Bool(llvm::StringRef name) const;
  llvm::StringRef String(llvm::StringRef name) const;
  DType Dtype(llvm::StringRef name) const;
  const Shape& Dims(llvm::StringRef name) const;
  const Constant& Tensor(llvm::StringRef name) const;
  llvm::ArrayRef<int64_t> Ints(llvm::StringRef name) const;

  const OpSignature& signature() const { return *signature_; }
  llvm::ArrayRef<AttributeValue> values() const { return values_; }

 private:
  const OpSignature* signature_;
  llvm::ArrayRef<AttributeValue> values_;
};

/// Checks names, types, ranges and choices of the attributes `given` against the signature and
/// fills in defaults. Returns the values in declaration order, or a CallError at the attribute. An
/// int is accepted for a float; a list of ints or a single dim is accepted for a shape.
PDL_API llvm::Expected<std::vector<AttributeValue>> CompleteAttributes(
    const OpSignature& signature, llvm::ArrayRef<NamedAttribute> given);

}  // namespace pdl

#endif  // PDL_OP_ATTRIBUTE_READER_H_
