#include "pdl/storage.h"

namespace pdl {

std::string PartName(llvm::StringRef name, Part part) {
  switch (part) {
    case Part::kValues:
      return name.str();
    case Part::kOffsets:
      return name.str() + ".offsets";
    case Part::kInnerOffsets:
      return name.str() + ".offsets2";
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

llvm::SmallVector<PartType, 3> PartsOf(llvm::StringRef name, const Type& type) {
  llvm::SmallVector<PartType, 3> parts;
  auto offsets = [&](Part part, const Dim& rows) {
    parts.push_back({part, Type(DType::kI64, {rows + 1})});
  };
  if (type.is_sparse()) {
    const Dim count = Dim::Symbol(("count(" + name + ")").str());
    if (type.dtype != DType::kBool) parts.push_back({Part::kValues, Type(type.dtype, {count})});
    offsets(Part::kOffsets, type.dims[0]);
    Type indices(DType::kI64, {count});
    indices.index_bound = type.dims[1];
    parts.push_back({Part::kIndices, std::move(indices)});
    return parts;
  }
  Type values = type;
  values.dims = PackedDims(type.dims);
  parts.push_back({Part::kValues, std::move(values)});
  const unsigned levels = type.ragged_levels();
  if (levels > 0) offsets(Part::kOffsets, type.dims[0]);
  if (levels > 1) offsets(Part::kInnerOffsets, TotalOf(type.dims[1]));
  return parts;
}

}  // namespace pdl
