// Prints the elements of a tensor in NumPy's format.
#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/op/error.h"
#include "pdl/op/half.h"
#include "pdl/op/tensor.h"

namespace pdl {
namespace {

/// The number of digits of a float in a tensor; scalars are printed in full.
constexpr size_t kMaxDigits = 8;
/// Floats from this exponent on are printed with an exponent; 0.0001 is the smallest without one.
constexpr int kMaxExponent = 8;
constexpr int kMaxScalarExponent = 16;

/// Returns "d.ddde-XX": the shortest number that is parsed back to the same element.
std::string Scientific(float value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr};
}
std::string Scientific(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr};
}
template <typename Half>
std::string ScientificHalf(Half value) {
  char text[64];
  for (int precision = 0;; ++precision) {
    char* end = std::to_chars(text, text + sizeof text, static_cast<float>(value),
                              std::chars_format::scientific, precision)
                    .ptr;
    float back = 0;
    std::from_chars(text, end, back);
    if (Half(back).bits == value.bits || precision == 8) return {text, end};
  }
}
std::string Scientific(float16 value) { return ScientificHalf(value); }
std::string Scientific(bfloat16 value) { return ScientificHalf(value); }

template <typename T>
std::string FloatText(T value, bool in_full) {
  const double wide = static_cast<double>(
      static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  if (std::isnan(wide)) return "nan";
  if (std::isinf(wide)) return wide < 0 ? "-inf" : "inf";
  std::string text = Scientific(value);
  size_t e = text.find('e');
  if (!in_full && e > kMaxDigits + 1 + (text[0] == '-')) {
    char rounded[64];
    char* end = std::to_chars(rounded, rounded + sizeof rounded, wide,
                              std::chars_format::scientific, kMaxDigits - 1)
                    .ptr;
    text.assign(rounded, end);
    e = text.find('e');
  }
  std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (char c : llvm::StringRef(text).take_front(e))
    if (c >= '0' && c <= '9') digits += c;
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  int exponent = std::stoi(text.substr(e + 1));
  if (exponent < -4 || exponent >= (in_full ? kMaxScalarExponent : kMaxExponent)) {
    std::string mantissa = digits.substr(0, 1);
    if (digits.size() > 1) mantissa += "." + digits.substr(1);
    return sign + mantissa + text.substr(e);
  }
  if (exponent < 0) return sign + "0." + std::string(-exponent - 1, '0') + digits;
  size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

template <typename T>
T Load(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

std::string ElementText(const Tensor& tensor, int64_t index, bool in_full) {
  const void* data = tensor.raw();
  switch (tensor.dtype()) {
      // clang-format off
    case DType::kF16: return FloatText(Load<float16>(data, index), in_full);
    case DType::kBF16: return FloatText(Load<bfloat16>(data, index), in_full);
    case DType::kF32: return FloatText(Load<float>(data, index), in_full);
    case DType::kF64: return FloatText(Load<double>(data, index), in_full);
    case DType::kI8: return std::to_string(Load<int8_t>(data, index));
    case DType::kI16: return std::to_string(Load<int16_t>(data, index));
    case DType::kI32: return std::to_string(Load<int32_t>(data, index));
    case DType::kI64: return std::to_string(Load<int64_t>(data, index));
    case DType::kU8: return std::to_string(Load<uint8_t>(data, index));
    case DType::kU16: return std::to_string(Load<uint16_t>(data, index));
    case DType::kU32: return std::to_string(Load<uint32_t>(data, index));
    case DType::kU64: return std::to_string(Load<uint64_t>(data, index));
    case DType::kBool: return Load<uint8_t>(data, index) != 0 ? "true" : "false";
      // clang-format on
  }
  InternalError("a tensor of an unknown dtype");
}

class Printer {
 public:
  Printer(const Tensor& tensor, const PrintOptions& options)
      : tensor_(tensor),
        options_(options),
        abbreviates_(tensor.num_elements() > options.threshold) {}

  std::string Print() {
    if (tensor_.num_elements() == 0) return "[]";
    if (tensor_.rank() == 0) return ElementText(tensor_, 0, /*in_full=*/true);
    Collect(0, 0);
    if (tensor_.rank() > 1) Align();
    PrintAxis(0);
    return std::move(text_);
  }

 private:
  /// Calls item(i) for the printed items of an axis, and gap() where some are omitted.
  template <typename Item, typename Gap>
  void ForShown(unsigned axis, Item item, Gap gap) {
    int64_t size = tensor_.size(axis);
    int64_t edge = std::max<int64_t>(options_.edge, 1);
    if (!abbreviates_ || size <= 2 * edge) {
      for (int64_t i = 0; i < size; ++i) item(i);
      return;
    }
    for (int64_t i = 0; i < edge; ++i) item(i);
    gap();
    for (int64_t i = size - edge; i < size; ++i) item(i);
  }

  void Collect(unsigned axis, int64_t index) {
    ForShown(
        axis,
        [&](int64_t i) {
          int64_t inner = index * tensor_.size(axis) + i;
          if (axis + 1 < tensor_.rank()) return Collect(axis + 1, inner);
          elements_.push_back(ElementText(tensor_, inner, /*in_full=*/false));
        },
        [] {});
  }

  /// Pads all elements to one width, with aligned decimal points.
  void Align() {
    bool is_float = IsFloat(tensor_.dtype());
    auto left_of = [&](const std::string& element) {
      size_t point = is_float ? element.find_first_of(".e") : std::string::npos;
      return point == std::string::npos ? element.size() : point;
    };
    size_t left = 0, right = 0;
    for (const std::string& element : elements_) {
      size_t part = left_of(element);
      left = std::max(left, part);
      right = std::max(right, element.size() - part);
    }
    for (std::string& element : elements_) {
      element.insert(0, left - left_of(element), ' ');
      element.resize(left + right, ' ');
    }
  }

  void PrintAxis(unsigned axis) {
    text_ += '[';
    if (axis + 1 == tensor_.rank()) {
      PrintRow(axis);
    } else {
      // As many line breaks as there are axes below, to separate matrices.
      std::string between =
          "," + std::string(tensor_.rank() - axis - 1, '\n') + std::string(axis + 1, ' ');
      bool first = true;
      auto separate = [&] {
        if (!first) text_ += between;
        first = false;
      };
      ForShown(
          axis,
          [&](int64_t) {
            separate();
            PrintAxis(axis + 1);
          },
          [&] {
            separate();
            text_ += "...";
          });
    }
    text_ += ']';
  }

  void PrintRow(unsigned axis) {
    const std::string indent(axis + 1, ' ');
    size_t column = indent.size();
    bool first = true;
    auto add = [&](const std::string& item) {
      if (!first) {
        text_ += ',';
        // Leaves space for the brackets or the comma that follow.
        if (column + 2 + item.size() + axis + 1 > options_.line_width) {
          text_ += '\n' + indent;
          column = indent.size();
        } else {
          text_ += ' ';
          column += 2;
        }
      }
      text_ += item;
      column += item.size();
      first = false;
    };
    ForShown(axis, [&](int64_t) { add(elements_[next_++]); }, [&] { add("..."); });
  }

  const Tensor& tensor_;
  const PrintOptions& options_;
  const bool abbreviates_;
  /// The printed elements, in order.
  std::vector<std::string> elements_;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace

std::string TensorToString(const Tensor& tensor, const PrintOptions& options) {
  assert(tensor.device().kind == DeviceKind::kCPU && "only the CPU's memory can be printed");
  return Printer(tensor, options).Print();
}

}  // namespace pdl
