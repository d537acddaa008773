#include "pdl/op/storage.h"

#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

Constant ToPlaces(llvm::ArrayRef<int64_t> places) {
  return Constant::Copy(DType::kI64, {static_cast<int64_t>(places.size())}, places.data());
}

Type TypeOf(const Constant& dense) {
  return Type(dense.dtype(), Shape(dense.sizes().begin(), dense.sizes().end()));
}

/// The offsets of `rows` rows of `length` elements each.
Constant EvenOffsets(int64_t rows, int64_t length) {
  std::vector<int64_t> offsets;
  for (int64_t row = 0; row <= rows; ++row) offsets.push_back(row * length);
  return ToPlaces(offsets);
}

}  // namespace

PackedConstant::PackedConstant(Constant dense) : type(TypeOf(dense)), values(std::move(dense)) {}

const Constant& PackedConstant::part(Part part) const {
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

void PackedConstant::SetPart(Part part, Constant constant) {
  switch (part) {
    case Part::kValues:
      values = std::move(constant);
      break;
    case Part::kOffsets:
    case Part::kInnerOffsets:
    case Part::kInnermostOffsets:
      offsets.push_back(std::move(constant));
      break;
    case Part::kIndices:
      indices = std::move(constant);
      break;
  }
}

Type TypeWithSizes(const Type& type, llvm::ArrayRef<int64_t> values,
                   llvm::ArrayRef<int64_t> offsets) {
  Type sized = type;
  sized.index_bound.reset();
  if (!type.is_plain()) sized.dims[0] = offsets[0] - 1;
  if (type.is_sparse()) return sized;
  const unsigned levels = type.ragged_levels();
  for (unsigned axis = levels == 0 ? 0 : levels + 1; axis < type.rank(); ++axis)
    sized.dims[axis] = values[axis - levels];
  return sized;
}

PackedConstant ToSparse(PackedConstant dense, const Type& type) {
  const Constant& values = dense.values;
  const int64_t rows = values.sizes()[0], columns = values.sizes()[1];
  const auto size = static_cast<size_t>(DTypeSize(type.dtype));
  std::vector<int64_t> offsets = {0}, indices;
  std::vector<char> bytes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t i = row * columns + column;
      if (values.ElementAsDouble(i) == 0) continue;
      indices.push_back(column);
      const char* element = static_cast<const char*>(values.data()) + static_cast<size_t>(i) * size;
      bytes.insert(bytes.end(), element, element + size);
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  PackedConstant packed;
  packed.type = type;
  packed.type.dims[0] = dense.type.dims[0];
  if (rows > 0) packed.type.dims.back() = columns;
  const auto count = static_cast<int64_t>(indices.size());
  packed.values = Constant::Copy(type.dtype, {count}, bytes.data());
  packed.offsets = std::move(dense.offsets);
  packed.offsets.push_back(ToPlaces(offsets));
  packed.indices = ToPlaces(indices);
  return packed;
}

llvm::Expected<PackedConstant> Pack(const Constant& dense, const Type& type) {
  auto is_none = [&](const llvm::Twine& reason) {
    return llvm::createStringError(llvm::formatv("declared {0}, got {1}{2}", type.ToString(),
                                                 TypeOf(dense).ToString(), reason.str())
                                       .str());
  };
  if (dense.dtype() != type.dtype || dense.sizes().size() != type.rank()) return is_none("");
  for (unsigned axis = 1; axis < type.rank(); ++axis) {
    const Dim& dim = type.dims[axis];
    if (dim.is_constant() && !dim.is_constant(dense.sizes()[axis]) && dense.sizes()[0] != 0)
      return is_none("");
  }
  if (type.is_sparse()) {
    Type whole = type;
    whole.storage = Storage::kDense;
    if (whole.is_plain()) return ToSparse(dense, type);
    auto rows = Pack(dense, whole);
    if (!rows) return rows.takeError();
    return ToSparse(std::move(*rows), type);
  }
  const unsigned levels = type.ragged_levels();
  PackedConstant packed;
  llvm::SmallVector<int64_t, 4> sizes(dense.sizes().drop_front(levels));
  int64_t rows = dense.sizes()[0];
  for (unsigned level = 1; level <= levels; ++level) {
    packed.offsets.push_back(EvenOffsets(rows, dense.sizes()[level]));
    rows *= dense.sizes()[level];
  }
  sizes[0] = rows;
  packed.values = Constant(dense.dtype(), sizes, dense.bytes());
  packed.type = TypeWithSizes(type, sizes, packed.offsets[0].sizes());
  return packed;
}

llvm::SmallVector<int64_t, 4> SizesWithoutRows(const Type& type) {
  llvm::SmallVector<int64_t, 4> sizes;
  for (const Dim& dim : PackedDims(type.dims))
    sizes.push_back(dim.is_constant() && !sizes.empty() ? dim.constant() : 0);
  return sizes;
}

std::string PartName(llvm::StringRef name, Part part) {
  switch (part) {
    case Part::kValues:
      return name.str();
    case Part::kOffsets:
      return name.str() + ".offsets";
    case Part::kInnerOffsets:
      return name.str() + ".offsets2";
    case Part::kInnermostOffsets:
      return name.str() + ".offsets3";
    case Part::kIndices:
      return name.str() + ".indices";
  }
  return "";
}

Dim TotalOf(const Dim& ragged) {
  return Dim::Symbol(("sum(" + ragged.symbol().drop_front() + ")").str());
}

Shape PackedDims(const Shape& dims) {
  size_t levels = 0;
  while (levels + 1 < dims.size() && dims[levels + 1].is_ragged()) ++levels;
  if (levels == 0) return dims;
  Shape packed(dims.begin() + static_cast<std::ptrdiff_t>(levels), dims.end());
  packed[0] = TotalOf(dims[levels]);
  return packed;
}

llvm::SmallVector<PartType, 4> PartsOf(llvm::StringRef name, const Type& type) {
  llvm::SmallVector<PartType, 4> parts;
  const unsigned levels = type.ragged_levels();
  const Dim count = Dim::Symbol(("count(" + name + ")").str());
  Type values = type;
  values.storage = Storage::kDense;
  values.dims = type.is_sparse() ? Shape{count} : PackedDims(type.dims);
  // All stored elements of a sparse bool tensor are true.
  if (!type.is_sparse() || type.dtype != DType::kBool)
    parts.push_back({Part::kValues, std::move(values)});
  for (unsigned level = 0; level < levels + type.is_sparse(); ++level) {
    const Dim rows = level == 0 ? type.dims[0] : TotalOf(type.dims[level]);
    parts.push_back({OffsetsPart(level), Type(DType::kI64, {rows + 1})});
  }
  if (type.is_sparse()) {
    Type indices(DType::kI64, {count});
    indices.index_bound = type.dims.back();
    parts.push_back({Part::kIndices, std::move(indices)});
  }
  return parts;
}

}  // namespace pdl
