#include "pdl/op/attribute.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/half.h"

namespace pdl {
namespace {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

template <typename T>
constexpr AttributeKind KindOfType() {
  if constexpr (std::is_same_v<T, int64_t>) return AttributeKind::kInt;
  if constexpr (std::is_same_v<T, double>) return AttributeKind::kFloat;
  if constexpr (std::is_same_v<T, std::string>) return AttributeKind::kString;
  if constexpr (std::is_same_v<T, bool>) return AttributeKind::kBool;
  if constexpr (std::is_same_v<T, DType>) return AttributeKind::kDType;
  if constexpr (std::is_same_v<T, Shape>) return AttributeKind::kShape;
  if constexpr (std::is_same_v<T, Constant>) return AttributeKind::kTensor;
  return AttributeKind::kBlock;
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  } else {
    return a == b;
  }
}

template <typename Float>
std::string ShortestFloat(Float value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string ConstantToString(const Constant& constant) {
  llvm::ArrayRef<int64_t> sizes = constant.sizes();
  int64_t index = 0;
  std::string text;
  // Iterative: a level of brackets opens and closes where its index wraps around.
  auto element = [&](int64_t i) -> std::string {
    switch (constant.dtype()) {
      case DType::kF64:
        return FloatToString(constant.values<double>()[i]);
      case DType::kF32:
        return FloatToString(constant.values<float>()[i]);
      case DType::kF16:
      case DType::kBF16:
        return FloatToString(static_cast<float>(constant.ElementAsDouble(i)));
      case DType::kBool:
        return constant.values<bool>()[i] ? "true" : "false";
      case DType::kI64:
        return std::to_string(constant.values<int64_t>()[i]);
      case DType::kU64:
        return std::to_string(constant.values<uint64_t>()[i]);
      default:
        return std::to_string(static_cast<int64_t>(constant.ElementAsDouble(i)));
    }
  };
  if (sizes.empty()) return element(0);
  auto render = [&](auto& self, size_t axis) -> void {
    text += "[";
    for (int64_t i = 0; i < sizes[axis]; ++i) {
      if (i > 0) text += ", ";
      if (axis + 1 == sizes.size()) {
        text += element(index++);
      } else {
        self(self, axis + 1);
      }
    }
    text += "]";
  };
  render(render, 0);
  return text;
}

template <typename T>
std::string ElementToString(const T& value) {
  if constexpr (std::is_same_v<T, int64_t>) return std::to_string(value);
  if constexpr (std::is_same_v<T, double>) return FloatToString(value);
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  if constexpr (std::is_same_v<T, DType>) return DTypeName(value).str();
  if constexpr (std::is_same_v<T, Shape>) return ShapeToString(value);
  if constexpr (std::is_same_v<T, Constant>) return ConstantToString(value);
  if constexpr (std::is_same_v<T, BlockId>) return "block " + std::to_string(value.index);
  if constexpr (std::is_same_v<T, std::string>) {
    std::string text = "\"";
    for (char c : value) {
      if (c == '\n') {
        text += "\\n";
      } else if (c == '\t') {
        text += "\\t";
      } else if (static_cast<unsigned char>(c) < 0x20) {
        text += "\\u{" + llvm::utohexstr(static_cast<unsigned char>(c)) + "}";
      } else {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
      }
    }
    return text + "\"";
  }
}

template <typename T>
llvm::hash_code HashElement(const T& value) {
  if constexpr (std::is_same_v<T, double>) return llvm::hash_value(std::bit_cast<uint64_t>(value));
  if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, bool>)
    return llvm::hash_value(value);
  if constexpr (std::is_same_v<T, std::string>) return llvm::hash_value(llvm::StringRef(value));
  if constexpr (std::is_same_v<T, DType>) return llvm::hash_value(static_cast<int>(value));
  if constexpr (std::is_same_v<T, BlockId>) return llvm::hash_value(value.index);
  if constexpr (std::is_same_v<T, Shape>) {
    llvm::hash_code hash = llvm::hash_value(value.size());
    for (const Dim& dim : value) hash = llvm::hash_combine(hash, dim.Hash());
    return hash;
  }
  if constexpr (std::is_same_v<T, Constant>) {
    llvm::StringRef bytes(static_cast<const char*>(value.data()),
                          static_cast<size_t>(value.num_bytes()));
    return llvm::hash_combine(static_cast<int>(value.dtype()), bytes,
                              llvm::hash_combine_range(value.sizes().begin(), value.sizes().end()));
  }
}

}  // namespace

llvm::StringRef AttributeKindName(AttributeKind kind) {
  constexpr const char* kNames[] = {"none",  "int",   "float",  "string", "bool",
                                    "dtype", "shape", "tensor", "block"};
  return kNames[static_cast<int>(kind)];
}

bool IsNone(const AttributeValue& value) { return value.index() == 0; }

bool IsList(const AttributeValue& value) {
  return std::visit([](const auto& v) { return IsVector<std::decay_t<decltype(v)>>::value; },
                    value);
}

AttributeKind KindOf(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (IsVector<T>::value) {
          return KindOfType<typename T::value_type>();
        } else {
          return KindOfType<T>();
        }
      },
      value);
}

bool Identical(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, std::vector<double>>) {
          return x.size() == y.size() &&
                 std::equal(x.begin(), x.end(), y.begin(), SameBits<double>);
        } else {
          return SameBits(x, y);
        }
      },
      a);
}

size_t HashAttribute(const AttributeValue& value) {
  return std::visit(
      [&](const auto& v) -> size_t {
        using T = std::decay_t<decltype(v)>;
        llvm::hash_code hash = llvm::hash_value(value.index());
        if constexpr (IsVector<T>::value) {
          for (const auto& element : v)
            hash = llvm::hash_combine(hash, HashElement<typename T::value_type>(element));
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          hash = llvm::hash_combine(hash, HashElement(v));
        }
        return hash;
      },
      value);
}

std::string AttributeToString(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "none";
        } else if constexpr (IsVector<T>::value) {
          std::vector<std::string> parts;
          for (const auto& element : v)
            parts.push_back(ElementToString<typename T::value_type>(element));
          return "[" + llvm::join(parts, ", ") + "]";
        } else {
          return ElementToString(v);
        }
      },
      value);
}

std::string FloatToString(double value) { return ShortestFloat(value); }
std::string FloatToString(float value) { return ShortestFloat(value); }

}  // namespace pdl
