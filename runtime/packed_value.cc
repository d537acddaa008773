#include "pdl/runtime/packed_value.h"

#include <algorithm>

#include "llvm/Support/FormatVariadic.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// Rows `begin` to `end` of a tensor, which must outlive the result.
Tensor RowsOf(const Tensor& tensor, int64_t begin, int64_t end) {
  Sizes sizes(tensor.sizes().begin(), tensor.sizes().end());
  sizes[0] = end - begin;
  int64_t row_bytes = DTypeSize(tensor.dtype());
  for (const int64_t size : tensor.sizes().drop_front()) row_bytes *= size;
  Tensor rows;
  char* data = static_cast<char*>(const_cast<void*>(tensor.raw()));
  rows.Borrow(tensor.dtype(), sizes, data + begin * row_bytes, tensor.device());
  return rows;
}

class RaggedPrinter {
 public:
  RaggedPrinter(const PackedValue& value, const PrintOptions& options)
      : value_(value),
        options_(options),
        abbreviates_(value.values.num_elements() > options.threshold) {
    // Rows are abbreviated as in a complete tensor of that size.
    if (abbreviates_) options_.threshold = std::min(options_.threshold, int64_t{6});
  }

  std::string Print() {
    PrintRows(0, 0, value_.offsets[0].num_elements() - 1);
    return std::move(text_);
  }

 private:
  void PrintRows(unsigned level, int64_t begin, int64_t end) {
    const int64_t edge = std::max<int64_t>(options_.edge, 1);
    const bool has_gap = abbreviates_ && end - begin > 2 * edge;
    // As many line breaks as there are axes below, to separate matrices.
    const unsigned below = value_.type.rank() - level - 1;
    const std::string between = "," + std::string(below, '\n') + std::string(level + 1, ' ');
    text_ += '[';
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) text_ += between;
      if (has_gap && i == begin + edge) {
        text_ += "..." + between;
        i = end - edge;
      }
      const int64_t* offsets = value_.offsets[level].data<int64_t>();
      if (level + 1 < value_.offsets.size()) {
        PrintRows(level + 1, offsets[i], offsets[i + 1]);
      } else {
        PrintSequence(level, RowsOf(value_.values, offsets[i], offsets[i + 1]));
      }
    }
    text_ += ']';
  }

  /// Prints a tensor with its lines indented by the enclosing brackets.
  void PrintSequence(unsigned level, const Tensor& rows) {
    PrintOptions options = options_;
    options.line_width -= std::min(options.line_width / 2, level + 1);
    const std::string text = TensorToString(rows, options);
    for (size_t i = 0; i < text.size(); ++i) {
      text_ += text[i];
      if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '\n')
        text_ += std::string(level + 1, ' ');
    }
  }

  const PackedValue& value_;
  PrintOptions options_;
  const bool abbreviates_;
  std::string text_;
};

/// The indices of a row, such as "0, 3, " for the fourth row of the first sequence.
std::string PlaceOf(const PackedValue& value, int64_t row) {
  std::string place;
  for (size_t level = value.offsets.size() - 1; level-- > 0;) {
    const int64_t* begins = value.offsets[level].data<int64_t>();
    const int64_t* end = begins + value.offsets[level].num_elements();
    const int64_t outer = std::upper_bound(begins, end, row) - begins - 1;
    place = std::to_string(row - begins[outer]) + ", " + place;
    row = outer;
  }
  return std::to_string(row) + ", " + place;
}

std::string SparseToString(const PackedValue& value, const PrintOptions& options) {
  const int64_t* offsets = value.offsets.back().data<int64_t>();
  const int64_t* columns = value.indices.data<int64_t>();
  const int64_t count = value.indices.num_elements();
  const int64_t edge = std::max<int64_t>(options.edge, 1);
  const bool has_gap = count > options.threshold && count > 2 * edge;
  std::string text = "{";
  int64_t row = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    if (has_gap && i == edge) {
      text += "..., ";
      i = count - edge;
    }
    while (offsets[row + 1] <= i) ++row;
    text += llvm::formatv("[{0}{1}]", PlaceOf(value, row), columns[i]);
    if (value.type.dtype == DType::kBool) continue;
    Tensor element;
    element.Borrow(value.values.dtype(), {}, RowsOf(value.values, i, i + 1).raw(), {});
    text += ": " + TensorToString(element);
  }
  return text + "}";
}

}  // namespace

std::string FaultOfOffsets(const Tensor& offsets, int64_t count, llvm::StringRef what) {
  if (offsets.dtype() != DType::kI64 || offsets.rank() != 1 || offsets.num_elements() == 0)
    return "offsets must be i64[N + 1], got " + offsets.TypeString();
  const int64_t* values = offsets.data<int64_t>();
  if (values[0] != 0) return llvm::formatv("offsets must begin with 0, got {0}", values[0]);
  for (int64_t i = 1; i < offsets.num_elements(); ++i)
    if (values[i] < values[i - 1])
      return llvm::formatv("offsets must not decrease, but after {0} comes {1}", values[i - 1],
                           values[i]);
  const int64_t end = values[offsets.num_elements() - 1];
  if (end == count) return "";
  return llvm::formatv("the offsets end at {0}, but there are {1} {2}", end, count, what);
}

llvm::Expected<PackedValue> PackedValue::Find(const Scope& scope, llvm::StringRef name,
                                              const Type& type) {
  PackedValue value;
  value.type = type;
  for (const PartType& part : PartsOf(name, type)) {
    const std::string part_name = PartName(name, part.part);
    const Variable* variable = scope.Find(part_name);
    const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
    if (!tensor)
      return MakeUserError(Code::kMissingInput, "'{0}' is {1}, but there is no '{2}'", name,
                           type.ToString(), part_name);
    switch (part.part) {
      case Part::kValues:
        value.values = *tensor;
        break;
      case Part::kIndices:
        value.indices = *tensor;
        break;
      case Part::kOffsets:
      case Part::kInnerOffsets:
      case Part::kInnermostOffsets:
        value.offsets.push_back(*tensor);
        break;
    }
  }
  for (size_t level = 0; level < value.offsets.size(); ++level) {
    const bool is_last = level + 1 == value.offsets.size();
    const int64_t rows = !is_last           ? value.offsets[level + 1].num_elements() - 1
                         : type.is_sparse() ? value.indices.num_elements()
                                            : value.values.size(0);
    const llvm::StringRef what = is_last && type.is_sparse() ? "elements" : "rows";
    if (const std::string fault = FaultOfOffsets(value.offsets[level], rows, what); !fault.empty())
      return MakeUserError(Code::kOffsets, "'{0}': {1}", name, fault);
  }
  return value;
}

const Tensor& PackedValue::part(Part part) const {
  switch (part) {
    case Part::kOffsets:
      return offsets[0];
    case Part::kInnerOffsets:
      return offsets[1];
    case Part::kInnermostOffsets:
      return offsets[2];
    case Part::kIndices:
      return indices;
    default:
      return values;
  }
}

void PackedValue::Put(Scope* scope, llvm::StringRef name) const {
  for (const PartType& each : PartsOf(name, type))
    scope->Create(PartName(name, each.part))->Set(part(each.part));
}

PackedValue PackedValue::FromConstant(const PackedConstant& constant) {
  PackedValue value;
  value.type = constant.type;
  value.values = Tensor::FromConstant(constant.values);
  for (const Constant& offsets : constant.offsets)
    value.offsets.push_back(Tensor::FromConstant(offsets));
  if (constant.type.is_sparse()) value.indices = Tensor::FromConstant(constant.indices);
  return value;
}

PackedConstant PackedValue::ToConstant() const {
  if (type.is_plain()) return values.ToConstant();
  PackedConstant constant;
  constant.type = SizedType();
  for (const PartType& each : PartsOf("", type))
    constant.SetPart(each.part, part(each.part).ToConstant());
  return constant;
}

Type PackedValue::SizedType() const {
  return TypeWithSizes(type, values.sizes(),
                       offsets.empty() ? llvm::ArrayRef<int64_t>() : offsets[0].sizes());
}

std::string PackedValue::TypeString() const {
  return type.is_plain() ? values.TypeString() : SizedType().ToString();
}

std::string PackedToString(const PackedValue& value, const PrintOptions& options) {
  if (value.type.is_sparse()) return SparseToString(value, options);
  if (value.type.is_plain()) return TensorToString(value.values, options);
  return RaggedPrinter(value, options).Print();
}

}  // namespace pdl
