#include "runtime/training/dataset_arrays.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/op/storage.h"
#include "runtime/io/csv.h"
#include "runtime/io/file.h"
#include "runtime/io/npz.h"
#include "runtime/io/scipy.h"

namespace pdl {
namespace {

const Value* FindInput(const Graph& graph, llvm::StringRef name) {
  for (const Value* input : graph.inputs())
    if (input->name() == name) return input;
  return nullptr;
}

/// Reshapes the rows of a table to the dims of its input: x[0] to x[63] become f32[N, 8, 8].
Tensor ShapeRows(Tensor table, const Type& type) {
  if (type.rank() < 2) return table;
  Sizes sizes = {table.size(0)};
  int64_t elements = 1;
  for (const Dim& dim : llvm::ArrayRef<Dim>(type.dims).drop_front()) {
    if (!dim.is_constant() || dim.constant() > INT32_MAX) return table;
    sizes.push_back(dim.constant());
    elements *= dim.constant();
    if (elements > INT32_MAX) return table;
  }
  const int64_t width = table.rank() == 1 ? 1 : table.size(1);
  if (elements != width) return table;
  const Constant constant = table.ToConstant();
  return Tensor::FromConstant(Constant(constant.dtype(), sizes, constant.bytes()));
}

llvm::Expected<DataArrays> ReadTable(llvm::StringRef path, const Graph& graph) {
  DataArrays data;
  data.is_table = true;
  auto dtype_of = [&](llvm::StringRef name) -> std::optional<DType> {
    const Value* input = FindInput(graph, name);
    if (input == nullptr || !input->type().is_plain()) return std::nullopt;
    return input->type().dtype;
  };
  llvm::Expected<std::vector<NamedTensor>> arrays =
      ReadCsv(path, dtype_of, &data.names, &data.lines);
  if (!arrays) return arrays.takeError();
  data.arrays = std::move(*arrays);
  for (auto& [name, tensor] : data.arrays)
    tensor = ShapeRows(std::move(tensor), FindInput(graph, name)->type());
  return data;
}

/// The names of the arrays of all inputs.
llvm::StringSet<> NamesOfParts(const Graph& graph) {
  llvm::StringSet<> names;
  for (const Value* input : graph.inputs())
    for (const PartType& part : PartsOf(input->name(), input->type()))
      names.insert(PartName(input->name(), part.part));
  return names;
}

llvm::Expected<DataArrays> ReadArchive(llvm::StringRef path,
                                       llvm::function_ref<bool(llvm::StringRef)> is_requested) {
  DataArrays data;
  llvm::Expected<std::vector<NamedTensor>> arrays = ReadNpz(path, is_requested, &data.names);
  if (!arrays) return arrays.takeError();
  data.arrays = std::move(*arrays);
  return data;
}

/// Adds a matrix written by SciPy, under the names of pdl for its parts.
llvm::Error AddSciPyMatrix(llvm::StringRef path, const Value& input, DataArrays* data) {
  llvm::Expected<SciPyMatrix> matrix = ReadSciPyMatrix(path);
  if (!matrix) return matrix.takeError();
  const Dim& columns = input.type().dims[1];
  if (columns.is_constant() && matrix->columns != columns.constant())
    return MakeUserError(Code::kTrainingData,
                         "input '{0}' is declared {1}, but {2} holds a matrix with {3} columns",
                         input.name(), input.type().ToString(), path, matrix->columns);
  data->arrays.emplace_back(PartName(input.name(), Part::kOffsets), std::move(matrix->offsets));
  data->arrays.emplace_back(PartName(input.name(), Part::kIndices), std::move(matrix->indices));
  data->arrays.emplace_back(PartName(input.name(), Part::kValues), std::move(matrix->values));
  return llvm::Error::success();
}

llvm::Expected<DataArrays> ReadFolder(llvm::StringRef path, const Graph& graph) {
  const llvm::StringSet<> expected = NamesOfParts(graph);
  DataArrays data;
  llvm::Expected<std::vector<std::string>> files = ListFolder(path);
  if (!files) return files.takeError();
  for (const std::string& file : *files) {
    const llvm::StringRef extension = llvm::sys::path::extension(file);
    const llvm::StringRef name = llvm::sys::path::stem(file);
    if (extension == ".npy") {
      data.names.push_back(name.str());
      if (!expected.contains(name)) continue;
      llvm::Expected<Tensor> tensor = ReadNpy(file);
      if (!tensor) return tensor.takeError();
      data.arrays.emplace_back(name.str(), std::move(*tensor));
    } else if (extension == ".npz") {
      data.names.push_back(name.str());
      const Value* input = FindInput(graph, name);
      if (input == nullptr || !input->type().is_sparse() || input->type().ragged_levels() > 0)
        continue;
      if (llvm::Error error = AddSciPyMatrix(file, *input, &data)) return error;
    }
  }
  return data;
}

}  // namespace

const Tensor* DataArrays::Find(llvm::StringRef name) const {
  for (const NamedTensor& array : arrays)
    if (array.first == name) return &array.second;
  return nullptr;
}

llvm::Expected<DataArrays> ReadDataArrays(llvm::StringRef path, const Graph& graph) {
  if (llvm::sys::fs::is_directory(path)) return ReadFolder(path, graph);
  const llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".npz") {
    const llvm::StringSet<> expected = NamesOfParts(graph);
    return ReadArchive(path, [&](llvm::StringRef name) { return expected.contains(name); });
  }
  if (extension == ".csv") return ReadTable(path, graph);
  if (!llvm::sys::fs::exists(path)) return CannotRead(path, "there is no such file or folder");
  return CannotRead(path, "training data must be a .npz, a folder of .npy files, or a .csv table");
}

}  // namespace pdl
