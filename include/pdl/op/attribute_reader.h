#ifndef PDL_OP_ATTRIBUTE_READER_H_
#define PDL_OP_ATTRIBUTE_READER_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/op_def.h"

namespace pdl {

/// Typed read of one call's attributes: values in the order of the signature's declarations,
/// defaults filled in. Refers to both; they must outlive it.
class PDL_API AttributeReader {
 public:
  AttributeReader(const OpSignature& signature, llvm::ArrayRef<AttributeValue> values)
      : signature_(&signature), values_(values) {}

  /// Reads a single value; T is int64_t, int, double, float, std::string, bool, DType, Shape,
  /// Constant or BlockId. An Error where the operator declares no such attribute, the value is
  /// none, of another type or (for int) out of T's range.
  template <typename T>
  [[nodiscard]] llvm::Error Get(llvm::StringRef name, T* out) const;
  /// Reads a list; T as above. A Shape of constant dims reads as int64_t too.
  template <typename T>
  [[nodiscard]] llvm::Error GetArray(llvm::StringRef name, llvm::SmallVectorImpl<T>* out) const;

  /// Null where the operator declares no such attribute.
  const AttributeValue* Find(llvm::StringRef name) const;
  /// Declared, and not none.
  bool Has(llvm::StringRef name) const;

  /// For code that knows what it declared: a wrong name or type is an internal error.
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

/// Fills in defaults and checks names, types, ranges and choices of `given` against the signature:
/// the values in the order of its declarations, or a CallError at the attribute. An int is taken
/// where a float is wanted, and a list of ints, or a single dim, where a shape is wanted.
PDL_API llvm::Expected<std::vector<AttributeValue>> CompleteAttributes(
    const OpSignature& signature, llvm::ArrayRef<NamedAttribute> given);

}  // namespace pdl

#endif  // PDL_OP_ATTRIBUTE_READER_H_
