#ifndef PDL_OP_ATTRIBUTE_READER_H_
#define PDL_OP_ATTRIBUTE_READER_H_

#include <concepts>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/error.h"
#include "pdl/op/op_def.h"

namespace pdl {

/// The C++ types that attributes are read as.
template <typename T>
concept ReadableAttribute =
    std::same_as<T, int64_t> || std::same_as<T, int> || std::same_as<T, double> ||
    std::same_as<T, float> || std::same_as<T, std::string> || std::same_as<T, bool> ||
    std::same_as<T, DType> || std::same_as<T, Shape> || std::same_as<T, Constant> ||
    std::same_as<T, BlockId>;
/// Those that the elements of lists are read as.
template <typename T>
concept ReadableElement = ReadableAttribute<T> && !std::same_as<T, BlockId>;

/// Typed access to one call's attributes. `values` are in declaration order, with defaults filled
/// in. Refers to its arguments, which must outlive it.
class PDL_API AttributeReader {
 public:
  /// If `read` is not null, the bits of the attributes that are read are set in it. It has a bit
  /// for each attribute.
  AttributeReader(const OpSignature& signature, llvm::ArrayRef<AttributeValue> values,
                  llvm::SmallBitVector* read = nullptr)
      : signature_(&signature), values_(values), read_(read) {}

  /// Reads a scalar attribute. A CallError at the attribute if the operator declares no such
  /// attribute, or the value is none, has another type, or does not fit T: an int64_t an int, or a
  /// double a float (a finite one that would become infinite, or one other than 0 that would become
  /// 0).
  template <ReadableAttribute T>
  [[nodiscard]] llvm::Error Get(llvm::StringRef name, T* out) const;
  /// Reads a list attribute. A Shape of constant dims can be read as int64_t, too.
  template <ReadableElement T>
  [[nodiscard]] llvm::Error GetArray(llvm::StringRef name, llvm::SmallVectorImpl<T>* out) const;
  template <ReadableElement T>
  [[nodiscard]] llvm::Error GetArray(llvm::StringRef name, std::vector<T>* out) const {
    llvm::SmallVector<T, 8> elements;
    if (llvm::Error error = GetArray(name, &elements)) return error;
    out->assign(elements.begin(), elements.end());
    return llvm::Error::success();
  }

  /// Creates an error about an attribute for OperatorBase::InitializeAttributes to return:
  /// `FailAtAttribute("scale", Code::kAttributeRange, "'scale' must be even, got {0}", scale)`. The
  /// compiler reports it at the attribute, with the operator's name in front.
  template <typename... Args>
  llvm::Error FailAtAttribute(llvm::StringRef attribute, Code code, const char* format,
                              Args&&... args) const {
    auto error =
        std::make_unique<CallError>(code, llvm::formatv(format, std::forward<Args>(args)...).str());
    error->attribute = attribute.str();
    return llvm::Error(std::move(error));
  }

  /// Returns the value, or null if the operator declares no such attribute.
  const AttributeValue* Find(llvm::StringRef name) const;
  /// Whether the attribute is declared and not none.
  bool Has(llvm::StringRef name) const;

  /// Access for the operator's own code: these throw std::logic_error for a wrong name or type and
  /// for none, which pdl reports as an error of the operator.
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
  llvm::SmallBitVector* read_;
};

/// Whether the number can be converted to f32: a finite one stays finite, and one other than 0 does
/// not become 0.
PDL_API bool FitsFloat(double number);

/// Checks names, types, ranges and choices of the attributes `given` against the signature and
/// fills in defaults. Returns the values in declaration order, or a CallError at the attribute. An
/// int is accepted for a float; a list of ints or a single dim is accepted for a shape.
PDL_API llvm::Expected<std::vector<AttributeValue>> CompleteAttributes(
    const OpSignature& signature, llvm::ArrayRef<NamedAttribute> given);

}  // namespace pdl

#endif  // PDL_OP_ATTRIBUTE_READER_H_
