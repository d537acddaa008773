#include "tools/pdl/support/packed_input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/attribute.h"
#include "pdl/op/error.h"
#include "pdl/op/literal.h"
#include "runtime/io/scipy.h"
#include "tools/pdl/support/tensor_archive.h"

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

/// Checks that all elements in a file for a `sparse bool` are 1.
llvm::Error CheckOnes(const Tensor& values, const Type& type, llvm::StringRef name,
                      llvm::StringRef path) {
  const Constant elements = values.ToConstant();
  for (int64_t i = 0; i < elements.num_elements(); ++i)
    if (elements.ElementAsDouble(i) != 1)
      return MakeUserError(Code::kInputType,
                           "declared {0}, a matrix of ones, and element {1} of '{2}' in {3} is {4}",
                           type.ToString(), i, name, path,
                           FloatToString(elements.ElementAsDouble(i)));
  return llvm::Error::success();
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
  if (type.dtype == DType::kBool)
    if (llvm::Error error = CheckOnes(value.values, type, "data", path)) return error;
  return value;
}

/// Whether the arrays are those of a file of SciPy, perhaps of another format than CSR.
bool IsSciPyFile(llvm::ArrayRef<NamedTensor> arrays) {
  return llvm::any_of(arrays, [](const NamedTensor& array) {
    return array.first == "indptr" || array.first == "shape" || array.first == "data";
  });
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
  const auto find = [&](llvm::StringRef array_name) -> const Tensor* {
    for (const NamedTensor& array : arrays)
      if (array.first == array_name) return &array.second;
    return nullptr;
  };
  const llvm::SmallVector<PartType, 4> parts = PartsOf(name, type);
  // The input may be named as one of SciPy's arrays, so its elements do not count.
  const bool has_parts = llvm::any_of(parts, [&](const PartType& part) {
    return part.part != Part::kValues && find(PartName(name, part.part)) != nullptr;
  });
  const bool is_npz = source.ends_with(".npz");
  if (type.ragged_levels() == 0 && !has_parts && is_npz && IsSciPyFile(arrays))
    return PackedFromSciPy(type, source);
  PackedValue value;
  value.type = type;
  for (const PartType& part : parts) {
    const std::string part_name = PartName(name, part.part);
    const Tensor* array = find(part_name);
    if (array == nullptr) {
      const auto names =
          llvm::map_range(arrays, [](const NamedTensor& each) { return each.first; });
      return MakeUserError(
          Code::kMissingInput, "{0} has no array '{1}', which a value of {2} has; it has {3}",
          source, part_name, type.ToString(), arrays.empty() ? "none" : llvm::join(names, ", "));
    }
    if (part.part == Part::kValues) {
      value.values = *array;
      continue;
    }
    llvm::Expected<Tensor> indices = ToIndices(*array, part_name);
    if (!indices) return indices.takeError();
    (part.part == Part::kIndices ? value.indices : value.offsets.emplace_back()) =
        std::move(*indices);
  }
  const Tensor* ones = type.is_sparse() && type.dtype == DType::kBool ? find(name) : nullptr;
  if (ones != nullptr)
    if (llvm::Error error = CheckOnes(*ones, type, name, source)) return error;
  return value;
}

llvm::Expected<PackedValue> ReadPacked(llvm::StringRef name, const Type& type,
                                       llvm::StringRef path) {
  llvm::Expected<std::vector<NamedTensor>> arrays = ReadArchive(path);
  if (!arrays) return arrays.takeError();
  return PackedFromArrays(name, type, *arrays, path);
}

}  // namespace pdl
