#include "frontend/packed_literal.h"

#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

using Parts = std::vector<std::pair<Part, Constant>>;

Constant ToOffsets(const std::vector<int64_t>& offsets) {
  return Constant::Copy(DType::kI64, {static_cast<int64_t>(offsets.size())}, offsets.data());
}

llvm::Expected<Parts> ToRaggedParts(const Datum& literal, const Type& type) {
  const unsigned levels = type.ragged_levels();
  std::vector<Datum> rows = {literal};
  Parts parts;
  for (unsigned level = 0; level <= levels; ++level) {
    std::vector<Datum> inner;
    std::vector<int64_t> offsets = {0};
    for (const Datum& row : rows) {
      if (row.list() == nullptr) {
        return llvm::createStringError(
            llvm::formatv("a value of {0} is lists in lists, {1} deep, got {2} at depth {3}",
                          type.ToString(), levels + 1, row.Phrase(), level)
                .str());
      }
      inner.insert(inner.end(), row.list()->begin(), row.list()->end());
      offsets.push_back(static_cast<int64_t>(inner.size()));
    }
    if (level > 0)
      parts.emplace_back(level == 1 ? Part::kOffsets : Part::kInnerOffsets, ToOffsets(offsets));
    rows = std::move(inner);
  }
  if (rows.empty()) {
    // Nothing says what a row would be but the type.
    llvm::SmallVector<int64_t, 4> sizes;
    for (const Dim& dim : PackedDims(type.dims))
      sizes.push_back(dim.is_constant() && !sizes.empty() ? dim.constant() : 0);
    parts.emplace_back(Part::kValues, Constant::Copy(type.dtype, sizes, nullptr));
    return parts;
  }
  llvm::Expected<Constant> values = ToConstant(Datum(std::move(rows)), type.dtype);
  if (!values) return values.takeError();
  parts.emplace_back(Part::kValues, std::move(*values));
  return parts;
}

llvm::Expected<Parts> ToSparseParts(const Datum& literal, const Type& type) {
  llvm::Expected<Constant> dense = ToConstant(literal, type.dtype);
  if (!dense) return dense.takeError();
  if (dense->sizes().size() != 2) {
    return llvm::createStringError("a value of " + type.ToString() +
                                   " is a list of rows as long as each other");
  }
  const int64_t rows = dense->sizes()[0], columns = dense->sizes()[1];
  if (rows > 0 && type.dims[1].is_constant() && type.dims[1].constant() != columns) {
    return llvm::createStringError(llvm::formatv("a row of {0} has {1} elements, got {2}",
                                                 type.ToString(), type.dims[1].constant(), columns)
                                       .str());
  }
  const size_t size = static_cast<size_t>(DTypeSize(type.dtype));
  std::vector<int64_t> offsets = {0}, indices;
  std::vector<char> values;
  for (int64_t i = 0; i < rows * columns; ++i) {
    if (dense->ElementAsDouble(i) != 0) {
      indices.push_back(i % columns);
      const char* element = static_cast<const char*>(dense->data()) + static_cast<size_t>(i) * size;
      values.insert(values.end(), element, element + size);
    }
    if (i % columns == columns - 1) offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  Parts parts;
  const auto count = static_cast<int64_t>(indices.size());
  if (type.dtype != DType::kBool)
    parts.emplace_back(Part::kValues, Constant::Copy(type.dtype, {count}, values.data()));
  parts.emplace_back(Part::kOffsets, ToOffsets(offsets));
  parts.emplace_back(Part::kIndices, Constant::Copy(DType::kI64, {count}, indices.data()));
  return parts;
}

}  // namespace

llvm::Expected<Parts> ToParts(const Datum& literal, const Type& type) {
  return type.is_sparse() ? ToSparseParts(literal, type) : ToRaggedParts(literal, type);
}

}  // namespace pdl
