#include "pdl/op/dtype.h"

#include <vector>

#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

struct Entry {
  DType dtype;
  const char* name;
  int64_t size;
};
constexpr Entry kEntries[] = {
    {DType::kF16, "f16", 2},   {DType::kBF16, "bf16", 2}, {DType::kF32, "f32", 4},
    {DType::kF64, "f64", 8},   {DType::kI8, "i8", 1},     {DType::kI16, "i16", 2},
    {DType::kI32, "i32", 4},   {DType::kI64, "i64", 8},   {DType::kU8, "u8", 1},
    {DType::kU16, "u16", 2},   {DType::kU32, "u32", 4},   {DType::kU64, "u64", 8},
    {DType::kBool, "bool", 1},
};
constexpr const Entry& EntryOf(DType dtype) { return kEntries[static_cast<int>(dtype) - 1]; }

}  // namespace

llvm::StringRef DTypeName(DType dtype) { return EntryOf(dtype).name; }

int64_t DTypeSize(DType dtype) { return EntryOf(dtype).size; }

std::optional<DType> DTypeFromName(llvm::StringRef name) {
  for (const Entry& entry : kEntries)
    if (name == entry.name) return entry.dtype;
  return std::nullopt;
}

std::string DTypeSet::ToString() const {
  std::vector<llvm::StringRef> names;
  for (const Entry& entry : kEntries)
    if (Contains(entry.dtype)) names.push_back(entry.name);
  if (names.empty()) return "nothing";
  if (names.size() == 1) return names[0].str();
  std::string last = names.back().str();
  names.pop_back();
  return llvm::join(names, ", ") + " or " + last;
}

}  // namespace pdl
