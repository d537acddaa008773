#include "frontend/elaborate/packed_literal.h"

#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

llvm::Expected<PackedConstant> ToRagged(const Datum& literal, const Type& type) {
  const unsigned levels = type.ragged_levels();
  std::vector<Datum> rows = {literal};
  PackedConstant packed;
  for (unsigned level = 0; level <= levels; ++level) {
    std::vector<Datum> inner;
    std::vector<int64_t> offsets = {0};
    for (const Datum& row : rows) {
      if (row.list() == nullptr) {
        return llvm::createStringError(
            llvm::formatv("a value of {0} is lists in lists, {1} deep, got {2} at depth {3}",
                          type.ToString(), type.rank(), row.Phrase(), level)
                .str());
      }
      inner.insert(inner.end(), row.list()->begin(), row.list()->end());
      offsets.push_back(static_cast<int64_t>(inner.size()));
    }
    if (level > 0) {
      packed.offsets.push_back(
          Constant::Copy(DType::kI64, {static_cast<int64_t>(offsets.size())}, offsets.data()));
    }
    rows = std::move(inner);
  }
  if (rows.empty()) {
    packed.values = Constant::Copy(type.dtype, SizesWithoutRows(type), nullptr);
  } else {
    llvm::Expected<Constant> values = ToConstant(Datum(std::move(rows)), type.dtype);
    if (!values) return values.takeError();
    packed.values = std::move(*values);
  }
  if (packed.values.sizes().size() + levels != type.rank()) {
    return llvm::createStringError(llvm::formatv("a value of {0} is lists {1} deep, got {2}",
                                                 type.ToString(), type.rank(),
                                                 packed.values.sizes().size() + levels)
                                       .str());
  }
  packed.type = TypeWithSizes(type, packed.values.sizes(), packed.offsets[0].sizes());
  return packed;
}

}  // namespace

unsigned RaggedLevels(const Datum& literal) {
  if (literal.list() == nullptr) return 0;
  unsigned levels = 0, depth = 0;
  for (std::vector<const Datum*> lists = {&literal}; !lists.empty(); ++depth) {
    std::vector<const Datum*> inner;
    for (const Datum* list : lists) {
      if (list->list() == nullptr) return levels;  // numbers, or an error
      if (list->list()->size() != lists.front()->list()->size()) levels = depth;
      for (const Datum& item : *list->list()) inner.push_back(&item);
    }
    lists = std::move(inner);
  }
  return levels;
}

Type RaggedType(const Datum& literal, DType dtype) {
  Shape dims;
  std::vector<const Datum*> lists = {&literal};
  while (!lists.empty() && lists.front()->list() != nullptr) {
    dims.push_back(Dim(static_cast<int64_t>(lists.front()->list()->size())));
    std::vector<const Datum*> inner;
    for (const Datum* list : lists) {
      if (list->list() == nullptr) break;
      for (const Datum& item : *list->list()) inner.push_back(&item);
    }
    lists = std::move(inner);
  }
  const unsigned levels = RaggedLevels(literal);
  for (unsigned level = 1; level <= levels && level < dims.size(); ++level)
    dims[level] = Dim::Symbol("~" + std::string(level, 'T'));
  return Type(dtype, std::move(dims));
}

llvm::Expected<PackedConstant> ToPacked(const Datum& literal, const Type& type) {
  if (!type.is_sparse()) return ToRagged(literal, type);
  if (type.ragged_levels() > 0) {
    Type whole = type;
    whole.storage = Storage::kDense;
    llvm::Expected<PackedConstant> rows = ToRagged(literal, whole);
    if (!rows) return rows.takeError();
    return ToSparse(std::move(*rows), type);
  }
  llvm::Expected<Constant> dense = ToConstant(literal, type.dtype);
  if (!dense) return dense.takeError();
  return Pack(*dense, type);
}

}  // namespace pdl
