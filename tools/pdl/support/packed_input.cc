#include "tools/pdl/support/packed_input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/attribute.h"
#include "pdl/op/error.h"
#include "pdl/op/literal.h"
#include "runtime/io/scipy.h"

namespace pdl {
namespace {

Tensor ToTensor(llvm::ArrayRef<int64_t> values) {
  return Tensor::FromValues<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())}, values);
}

/// The items of "[a, [b, c], d]"; an Error if `text` is not a list.
llvm::Expected<std::vector<llvm::StringRef>> ItemsOf(llvm::StringRef text, const Type& type) {
  text = text.trim();
  const llvm::StringRef whole = text;
  auto no_list = [&]() -> llvm::Error {
    return MakeUserError(Code::kLiteral, "a value of {0} is a list of lists, found '{1}'",
                         type.ToString(), whole.take_front(20));
  };
  if (!text.consume_front("[") || !text.consume_back("]")) return no_list();
  std::vector<llvm::StringRef> items;
  if (text.trim().empty()) return items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth < 0) return no_list();
    if (text[i] != ',' || depth > 0) continue;
    items.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  if (depth != 0) return no_list();
  items.push_back(text.drop_front(begin).trim());
  return items;
}

llvm::Expected<PackedValue> ParseRagged(llvm::StringRef text, const Type& type) {
  PackedValue value;
  value.type = type;
  llvm::Expected<std::vector<llvm::StringRef>> rows = ItemsOf(text, type);
  if (!rows) return rows.takeError();
  for (unsigned level = 0; level < type.ragged_levels(); ++level) {
    std::vector<int64_t> offsets = {0};
    std::vector<llvm::StringRef> inner;
    for (llvm::StringRef row : *rows) {
      llvm::Expected<std::vector<llvm::StringRef>> items = ItemsOf(row, type);
      if (!items) return items.takeError();
      inner.insert(inner.end(), items->begin(), items->end());
      offsets.push_back(static_cast<int64_t>(inner.size()));
    }
    value.offsets.push_back(ToTensor(offsets));
    rows = std::move(inner);
  }
  if (rows->empty()) {
    llvm::Expected<Tensor> nothing = Tensor::Allocate(type.dtype, SizesWithoutRows(type));
    if (!nothing) return nothing.takeError();
    value.values = std::move(*nothing);
    return value;
  }
  llvm::Expected<Tensor> values = ParseLiteral("[" + llvm::join(*rows, ",") + "]", type.dtype);
  if (!values) return values.takeError();
  value.values = std::move(*values);
  return value;
}

/// Converts i32 indices to i64: SciPy writes i32 if the values fit.
llvm::Expected<Tensor> ToIndices(const Tensor& tensor, llvm::StringRef what) {
  if (tensor.dtype() == DType::kI64) return tensor;
  if (tensor.dtype() != DType::kI32)
    return MakeUserError(Code::kInputType, "{0} must be i64 or i32, got {1}", what,
                         tensor.TypeString());
  std::vector<int64_t> wide(tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.num_elements());
  return Tensor::FromValues<int64_t>(DType::kI64, tensor.sizes(), wide);
}

/// The value of a sparse input in a file of SciPy.
llvm::Expected<PackedValue> PackedFromSciPy(const Type& type, llvm::StringRef path) {
  llvm::Expected<SciPyMatrix> matrix = ReadSciPyMatrix(path);
  if (!matrix) return matrix.takeError();
  const Dim& columns = type.dims[1];
  if (columns.is_constant() && columns.constant() != matrix->columns)
    return MakeUserError(Code::kInputType, "declared {0}, and {1} holds a matrix of {2} columns",
                         type.ToString(), path, matrix->columns);
  PackedValue value;
  value.type = type;
  value.type.dims[1] = matrix->columns;
  llvm::Expected<Tensor> offsets = ToIndices(matrix->offsets, "indptr");
  if (!offsets) return offsets.takeError();
  llvm::Expected<Tensor> indices = ToIndices(matrix->indices, "indices");
  if (!indices) return indices.takeError();
  value.offsets.push_back(std::move(*offsets));
  value.indices = std::move(*indices);
  value.values = std::move(matrix->values);
  if (type.dtype != DType::kBool) return value;
  const Constant elements = value.values.ToConstant();
  for (int64_t i = 0; i < elements.num_elements(); ++i)
    if (elements.ElementAsDouble(i) != 1)
      return MakeUserError(
          Code::kInputType,
          "declared {0}, a matrix of ones, and element {1} of 'data' in {2} is {3}",
          type.ToString(), i, path, FloatToString(elements.ElementAsDouble(i)));
  return value;
}

}  // namespace

llvm::Expected<PackedValue> ParsePackedLiteral(llvm::StringRef text, const Type& type) {
  if (!type.is_sparse()) return ParseRagged(text, type);
  if (type.ragged_levels() > 0) {
    Type whole = type;
    whole.storage = Storage::kDense;
    llvm::Expected<PackedValue> rows = ParseRagged(text, whole);
    if (!rows) return rows.takeError();
    return PackedValue::FromConstant(ToSparse(rows->ToConstant(), type));
  }
  llvm::Expected<Tensor> dense = ParseLiteral(text, type.dtype);
  if (!dense) return dense.takeError();
  llvm::Expected<PackedConstant> packed = Pack(dense->ToConstant(), type);
  if (!packed) return MakeUserError(Code::kLiteral, "{0}", llvm::toString(packed.takeError()));
  return PackedValue::FromConstant(*packed);
}

llvm::Expected<PackedValue> PackedFromArrays(llvm::StringRef name, const Type& type,
                                             llvm::ArrayRef<NamedTensor> arrays,
                                             llvm::StringRef source) {
  if (type.ragged_levels() == 0) return PackedFromSciPy(type, source);
  auto find = [&](llvm::StringRef array_name) -> llvm::Expected<Tensor> {
    std::vector<llvm::StringRef> names;
    for (const NamedTensor& array : arrays) {
      if (array.first == array_name) return array.second;
      names.push_back(array.first);
    }
    return MakeUserError(Code::kMissingInput,
                         "{0} has no array '{1}', which a value of {2} has; {3}", source,
                         array_name, type.ToString(),
                         names.empty() ? "it has none" : "it has " + llvm::join(names, ", "));
  };
  PackedValue value;
  value.type = type;
  for (const PartType& part : PartsOf(name, type)) {
    const std::string part_name = PartName(name, part.part);
    llvm::Expected<Tensor> array = find(part_name);
    if (!array) return array.takeError();
    if (part.part == Part::kValues) {
      value.values = std::move(*array);
      continue;
    }
    llvm::Expected<Tensor> indices = ToIndices(*array, part_name);
    if (!indices) return indices.takeError();
    (part.part == Part::kIndices ? value.indices : value.offsets.emplace_back()) =
        std::move(*indices);
  }
  return value;
}

llvm::Expected<PackedValue> ReadPacked(llvm::StringRef name, const Type& type,
                                       llvm::StringRef path) {
  if (type.ragged_levels() == 0) return PackedFromSciPy(type, path);
  llvm::Expected<std::vector<NamedTensor>> arrays = ReadNpz(path);
  if (!arrays) return arrays.takeError();
  return PackedFromArrays(name, type, *arrays, path);
}

}  // namespace pdl
