#include "pdl/type.h"

namespace pdl {

std::string Type::ToString() const {
  std::string text = storage == Storage::kSparse ? "sparse " : "";
  text += DTypeName(dtype);
  text += ShapeToString(dims);
  if (index_bound) text += " in 0.." + index_bound->ToString();
  return text;
}

bool operator==(const Type& a, const Type& b) {
  return a.dtype == b.dtype && a.storage == b.storage && a.dims == b.dims &&
         a.index_bound == b.index_bound;
}

}  // namespace pdl
