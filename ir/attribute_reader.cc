#include "pdl/op/attribute_reader.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "pdl/op/error.h"
#include "pdl/op/op_proto_maker.h"

namespace pdl {
namespace {

llvm::StringRef Article(llvm::StringRef noun) {
  return noun.starts_with("i") || noun.starts_with("a") ? "an" : "a";
}

std::string Describe(AttributeKind kind, bool is_list) {
  llvm::StringRef name = AttributeKindName(kind);
  if (is_list) return ("a list of " + name + "s").str();
  return (Article(name) + " " + name).str();
}

std::string DescribeValue(const AttributeValue& value) {
  return IsNone(value) ? "none" : Describe(KindOf(value), IsList(value));
}

llvm::Error ReadError(const OpSignature& signature, llvm::StringRef name, const llvm::Twine& what,
                      Code code = Code::kOperatorUse) {
  auto error = std::make_unique<CallError>(
      code, llvm::formatv("attribute '{0}' of '{1}' {2}", name, signature.name, what.str()).str());
  error->attribute = name.str();
  error->is_whole = true;
  return llvm::Error(std::move(error));
}

/// Converts a stored element to the requested type; returns false if it does not fit.
template <typename T, typename Stored>
bool Narrow(const Stored& stored, T* out) {
  if constexpr (std::is_same_v<T, int>) {
    if (stored < std::numeric_limits<int>::min() || stored > std::numeric_limits<int>::max())
      return false;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (!FitsFloat(stored)) return false;
  }
  *out = static_cast<T>(stored);
  return true;
}

/// "does not fit in 32 bits", for types that may be too narrow.
template <typename T>
const char* TooNarrow() {
  return std::is_same_v<T, float> ? "does not fit in f32" : "does not fit in 32 bits";
}

}  // namespace

bool FitsFloat(double number) {
  const auto rounded = static_cast<float>(number);
  return std::isfinite(rounded) == std::isfinite(number) && (rounded == 0) == (number == 0);
}

const AttributeValue* AttributeReader::Find(llvm::StringRef name) const {
  int index = signature_->FindAttribute(name);
  if (index < 0) return nullptr;
  if (read_ != nullptr) read_->set(static_cast<unsigned>(index));
  return &values_[static_cast<size_t>(index)];
}

bool AttributeReader::Has(llvm::StringRef name) const {
  const AttributeValue* value = Find(name);
  return value && !IsNone(*value);
}

template <ReadableAttribute T>
llvm::Error AttributeReader::Get(llvm::StringRef name, T* out) const {
  const AttributeValue* value = Find(name);
  if (!value) return ReadError(*signature_, name, "is not declared");
  if (IsNone(*value)) return ReadError(*signature_, name, "was not given");
  const auto* stored = std::get_if<typename AttributeTraits<T>::stored>(value);
  if (!stored)
    return ReadError(*signature_, name,
                     "is " + llvm::Twine(DescribeValue(*value)) + ", but was read as " +
                         Describe(AttributeTraits<T>::kind, false));
  if (!Narrow(*stored, out))
    return ReadError(*signature_, name,
                     "is " + llvm::Twine(AttributeToString(*value)) + ", which " + TooNarrow<T>(),
                     Code::kLiteral);
  return llvm::Error::success();
}

template <ReadableElement T>
llvm::Error AttributeReader::GetArray(llvm::StringRef name, llvm::SmallVectorImpl<T>* out) const {
  const AttributeValue* value = Find(name);
  if (!value) return ReadError(*signature_, name, "is not declared");
  if (IsNone(*value)) return ReadError(*signature_, name, "was not given");
  out->clear();
  if constexpr (std::is_same_v<T, int64_t>) {
    if (const Shape* shape = std::get_if<Shape>(value)) {
      for (const Dim& dim : *shape) {
        if (!dim.is_constant())
          return ReadError(*signature_, name,
                           "holds " + llvm::Twine(dim.ToString()) + ", which is not a number");
        out->push_back(dim.constant());
      }
      return llvm::Error::success();
    }
  }
  const auto* stored = std::get_if<std::vector<typename AttributeTraits<T>::stored>>(value);
  if (!stored)
    return ReadError(*signature_, name,
                     "is " + llvm::Twine(DescribeValue(*value)) + ", but was read as " +
                         Describe(AttributeTraits<T>::kind, true));
  for (const auto& element : *stored) {
    T converted;
    if (!Narrow(element, &converted))
      return ReadError(*signature_, name, llvm::Twine("has a number that ") + TooNarrow<T>(),
                       Code::kLiteral);
    out->push_back(std::move(converted));
  }
  return llvm::Error::success();
}

// clang-format off
#define PDL_INSTANTIATE(T)                                                                        \
  template PDL_API llvm::Error AttributeReader::Get<T>(llvm::StringRef, T*) const;
PDL_INSTANTIATE(int) PDL_INSTANTIATE(int64_t) PDL_INSTANTIATE(float) PDL_INSTANTIATE(double)
PDL_INSTANTIATE(bool) PDL_INSTANTIATE(std::string) PDL_INSTANTIATE(DType) PDL_INSTANTIATE(Shape)
PDL_INSTANTIATE(Constant) PDL_INSTANTIATE(BlockId)
#undef PDL_INSTANTIATE
#define PDL_INSTANTIATE(T)                                                                        \
  template PDL_API llvm::Error AttributeReader::GetArray<T>(llvm::StringRef,                      \
                                                            llvm::SmallVectorImpl<T>*) const;
PDL_INSTANTIATE(int) PDL_INSTANTIATE(int64_t) PDL_INSTANTIATE(float) PDL_INSTANTIATE(double)
PDL_INSTANTIATE(bool) PDL_INSTANTIATE(std::string) PDL_INSTANTIATE(DType) PDL_INSTANTIATE(Shape)
PDL_INSTANTIATE(Constant)
#undef PDL_INSTANTIATE
    // clang-format on

    namespace {

  template <typename T>
  const T& Expect(const AttributeReader& reader, llvm::StringRef name) {
    const AttributeValue* value = reader.Find(name);
    const T* typed = value ? std::get_if<T>(value) : nullptr;
    if (typed) return *typed;
    const std::string read = "'" + reader.signature().name + "' reads the attribute '" + name.str();
    if (!value) throw std::logic_error(read + "', which it does not declare");
    if (IsNone(*value)) throw std::logic_error(read + "', which is none in this call: see Has");
    throw std::logic_error(read + "' as another type than its own, " + DescribeValue(*value));
  }

}  // namespace

int64_t AttributeReader::Int(llvm::StringRef name) const { return Expect<int64_t>(*this, name); }
double AttributeReader::Float(llvm::StringRef name) const { return Expect<double>(*this, name); }
bool AttributeReader::Bool(llvm::StringRef name) const { return Expect<bool>(*this, name); }
DType AttributeReader::Dtype(llvm::StringRef name) const { return Expect<DType>(*this, name); }
llvm::StringRef AttributeReader::String(llvm::StringRef name) const {
  return Expect<std::string>(*this, name);
}
const Shape& AttributeReader::Dims(llvm::StringRef name) const {
  return Expect<Shape>(*this, name);
}
const Constant& AttributeReader::Tensor(llvm::StringRef name) const {
  return Expect<Constant>(*this, name);
}
llvm::ArrayRef<int64_t> AttributeReader::Ints(llvm::StringRef name) const {
  return Expect<std::vector<int64_t>>(*this, name);
}

}  // namespace pdl
