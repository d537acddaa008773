#include "pdl/op/literal.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"

namespace pdl {
namespace {

/// The maximum number of dims of a tensor.
constexpr size_t kMaxDepth = 64;

llvm::Error DoesNotFit(llvm::StringRef number, DType dtype) {
  return MakeUserError(Code::kLiteral, "{0} does not fit {1}", number, DTypeName(dtype));
}

template <typename T>
llvm::Error AppendInteger(llvm::StringRef text, DType dtype, std::vector<char>& bytes) {
  T value = 0;
  if (text.getAsInteger(10, value)) return DoesNotFit(text, dtype);
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
  return llvm::Error::success();
}

template <typename T, typename Wide>
llvm::Error AppendFloat(llvm::StringRef text, double number, DType dtype,
                        std::vector<char>& bytes) {
  const T value(static_cast<Wide>(number));
  // "inf" has no digit.
  if (std::isinf(static_cast<Wide>(value)) && llvm::any_of(text, llvm::isDigit))
    return DoesNotFit(text, dtype);
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
  return llvm::Error::success();
}

/// Accepts decimal numbers, inf and nan, but not "1e".
bool ReadNumber(llvm::StringRef text, double& number) {
  const bool is_cut_off =
      text.ends_with_insensitive("e") || text.ends_with("+") || text.ends_with("-");
  return !is_cut_off && !text.getAsDouble(number);
}

class LiteralParser {
 public:
  LiteralParser(llvm::StringRef text, DType dtype) : rest_(text), dtype_(dtype) {}

  llvm::Expected<Tensor> Parse() {
    if (llvm::Error error = ParseItems()) return error;
    if (!rest_.trim().empty()) return Unexpected();
    Sizes sizes;
    for (const int64_t size : sizes_) sizes.push_back(std::max<int64_t>(size, 0));
    llvm::Expected<Tensor> tensor = Tensor::Allocate(dtype_, sizes);
    if (tensor && !bytes_.empty()) std::memcpy(tensor->raw(), bytes_.data(), bytes_.size());
    return tensor;
  }

 private:
  /// Parses numbers and brackets up to the end of the outermost list. counts_ has the number of
  /// items so far of each open list.
  llvm::Error ParseItems() {
    do {
      rest_ = rest_.ltrim();
      if (!counts_.empty() && counts_.back() == 0 && rest_.consume_front("]")) {
        if (llvm::Error error = Close()) return error;
      } else if (rest_.consume_front("[")) {
        if (llvm::Error error = Open()) return error;
        continue;
      } else if (llvm::Error error = ParseElement()) {
        return error;
      }
      // An item is complete, and possibly the lists around it.
      while (!counts_.empty()) {
        rest_ = rest_.ltrim();
        ++counts_.back();
        if (rest_.consume_front(",")) break;
        if (!rest_.consume_front("]")) return Unexpected();
        if (llvm::Error error = Close()) return error;
      }
    } while (!counts_.empty());
    return llvm::Error::success();
  }

  llvm::Error Open() {
    counts_.push_back(0);
    if (counts_.size() > kMaxDepth)
      return MakeUserError(Code::kLiteral, "lists are nested more than {0} deep", kMaxDepth);
    if (has_elements_ && counts_.size() > sizes_.size()) return Uneven();
    if (counts_.size() > sizes_.size()) sizes_.push_back(-1);
    return llvm::Error::success();
  }

  llvm::Error Close() {
    const int64_t count = counts_.pop_back_val();
    int64_t& size = sizes_[counts_.size()];
    if (size >= 0 && size != count)
      return MakeUserError(Code::kLiteral, "lists at the same depth have {0} and {1} items", size,
                           count);
    size = count;
    return llvm::Error::success();
  }

  llvm::Error ParseElement() {
    if (counts_.size() != sizes_.size()) return Uneven();
    has_elements_ = true;
    const llvm::StringRef text = rest_.take_until(
        [](char c) { return c == ',' || c == ']' || c == '[' || llvm::isSpace(c); });
    double number = 0;
    const bool is_word = text == "true" || text == "false";
    if (!is_word && !ReadNumber(text, number)) return Unexpected();
    rest_ = rest_.drop_front(text.size());
    if (is_word != (dtype_ == DType::kBool)) {
      return MakeUserError(Code::kLiteral, "{0} is not a value of {1}{2}", text, DTypeName(dtype_),
                           is_word ? "" : "; expected true or false");
    }
    switch (dtype_) {
        // clang-format off
      case DType::kBool: bytes_.push_back(text == "true" ? 1 : 0); return llvm::Error::success();
      case DType::kI8: return AppendInteger<int8_t>(text, dtype_, bytes_);
      case DType::kI16: return AppendInteger<int16_t>(text, dtype_, bytes_);
      case DType::kI32: return AppendInteger<int32_t>(text, dtype_, bytes_);
      case DType::kI64: return AppendInteger<int64_t>(text, dtype_, bytes_);
      case DType::kU8: return AppendInteger<uint8_t>(text, dtype_, bytes_);
      case DType::kU16: return AppendInteger<uint16_t>(text, dtype_, bytes_);
      case DType::kU32: return AppendInteger<uint32_t>(text, dtype_, bytes_);
      case DType::kU64: return AppendInteger<uint64_t>(text, dtype_, bytes_);
      case DType::kF16: return AppendFloat<float16, float>(text, number, dtype_, bytes_);
      case DType::kBF16: return AppendFloat<bfloat16, float>(text, number, dtype_, bytes_);
      case DType::kF32: return AppendFloat<float, float>(text, number, dtype_, bytes_);
      case DType::kF64: return AppendFloat<double, double>(text, number, dtype_, bytes_);
        // clang-format on
    }
    InternalError("a dtype without elements");
  }

  llvm::Error Uneven() const {
    return MakeUserError(Code::kLiteral, "numbers and lists are mixed at the same depth");
  }
  llvm::Error Unexpected() const {
    const llvm::StringRef rest = rest_.trim();
    if (rest.empty() && !counts_.empty())
      return MakeUserError(Code::kLiteral, "a list is not closed: ']' is missing at the end");
    return MakeUserError(Code::kLiteral,
                         "expected a literal such as 3.5 or [[1, 2], [3, 4]], got {0}",
                         rest.empty() ? "nothing" : ("'" + rest.take_front(20) + "'").str());
  }

  llvm::StringRef rest_;
  const DType dtype_;
  llvm::SmallVector<int64_t, 4> counts_;
  /// By depth; -1 if no list of that depth is complete.
  llvm::SmallVector<int64_t, 4> sizes_;
  bool has_elements_ = false;
  std::vector<char> bytes_;
};

}  // namespace

bool LooksLikeLiteral(llvm::StringRef text) {
  double number;
  return text.ltrim().starts_with("[") || text == "true" || text == "false" ||
         ReadNumber(text.trim(), number);
}

llvm::Expected<Tensor> ParseLiteral(llvm::StringRef text, DType dtype) {
  return LiteralParser(text, dtype).Parse();
}

}  // namespace pdl
