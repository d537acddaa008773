#include "pdl/op/type.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/op_def.h"

namespace pdl {

unsigned Type::ragged_levels() const {
  return static_cast<unsigned>(llvm::count_if(dims, [](const Dim& d) { return d.is_ragged(); }));
}

std::string Type::Fault() const {
  const unsigned levels = ragged_levels();
  if (is_sparse() && levels == 0 && rank() != 2)
    return "a sparse matrix has 2 dims, not " + std::to_string(rank());
  if (levels == 0) return "";
  if (levels > kMaxRaggedLevels)
    return "a tensor has at most 2 ragged dims, not " + std::to_string(levels);
  for (unsigned i = 0; i < rank(); ++i) {
    const bool in_place = i == 1 || (i == 2 && dims[1].is_ragged());
    if (dims[i].is_ragged() && !in_place)
      return "the ragged dim " + dims[i].ToString() +
             " does not come right after the first dim or another ragged one";
  }
  if (levels == 2 && dims[1] == dims[2])
    return "two ragged dims of one tensor have the name " + dims[1].ToString();
  if (is_sparse() && rank() != 2 + levels)
    return "a sparse tensor has 2 dims besides its ragged ones, not " +
           std::to_string(rank() - levels);
  return "";
}

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
