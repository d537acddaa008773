#include "pdl/train/dataset.h"

#include <algorithm>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/error.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/op/storage.h"
#include "runtime/index_range.h"
#include "runtime/packed_inputs.h"
#include "runtime/training/dataset_arrays.h"

namespace pdl {
namespace {

template <typename... Args>
llvm::Error Misfit(const char* format, Args&&... args) {
  return MakeUserError(Code::kTrainingData, format, std::forward<Args>(args)...);
}

/// The inputs that losses, updates and scalar outputs depend on.
llvm::DenseSet<const Value*> NeededInputs(const Graph& graph) {
  std::vector<Value*> expected;
  for (const GraphTraining& training : graph.trainings()) expected.push_back(training.loss);
  for (const GraphUpdate& update : graph.updates()) expected.push_back(update.value);
  for (const GraphOutput& output : graph.outputs())
    if (output.value->type().is_scalar()) expected.push_back(output.value);
  const std::vector<Value*> slice = BackwardSlice(expected);
  return {slice.begin(), slice.end()};
}

/// Converts offsets and indices that another program stored as i32 to i64.
Tensor ToPlaces(const Tensor& tensor) {
  if (tensor.dtype() != DType::kI32) return tensor;
  std::vector<int64_t> wide(tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.num_elements());
  return Tensor::FromValues<int64_t>(DType::kI64, tensor.sizes(), wide);
}

/// The index of the row that contains a row of the innermost level.
int64_t OuterRow(const PackedValue& value, int64_t row) {
  for (const Tensor& offsets : llvm::reverse(value.offsets)) {
    const int64_t* begin = offsets.data<int64_t>();
    row = std::upper_bound(begin, begin + offsets.num_elements(), row) - begin - 1;
  }
  return row;
}

/// See Dataset::DescribeRow.
std::string RowText(const LinesOfRows& lines, int64_t row) {
  std::string text = "row " + std::to_string(row);
  const auto after = llvm::upper_bound(
      lines, row, [](int64_t each, const auto& jump) { return each < jump.first; });
  if (after == lines.begin()) return text;
  const auto& [first, line] = *std::prev(after);
  return text + " (line " + std::to_string(line + row - first) + ")";
}

/// Finds the arrays of all inputs and checks them.
class Collector {
 public:
  Collector(llvm::StringRef source, const DataArrays& data, const Graph& graph)
      : source_(source), data_(data), graph_(graph), needed_(NeededInputs(graph)) {}

  llvm::Expected<std::vector<Dataset::Field>> Collect() {
    for (const Value* input : graph_.inputs()) {
      Dataset::Field field{input->name(), {}};
      field.rows.type = input->type();
      bool is_there = true;
      llvm::Error error = CheckFirstDim(*input);
      if (!error) error = Find(*input, &field.rows, &is_there);
      if (!error && is_there) error = Check(field);
      if (!error && is_there) fields_.push_back(std::move(field));
      errors_ = llvm::joinErrors(std::move(errors_), std::move(error));
    }
    if (!errors_) errors_ = CheckLengths();
    if (!errors_ && fields_.empty()) errors_ = Misfit("the network has no input that takes data");
    if (errors_) return std::move(errors_);
    llvm::cantFail(std::move(errors_));
    return std::move(fields_);
  }

  int64_t num_rows() const { return rows_; }

 private:
  llvm::Error CheckFirstDim(const Value& input) {
    const Type& type = input.type();
    if (!needed_.contains(&input) && !IsGiven(input)) return llvm::Error::success();
    const llvm::StringRef symbol = type.rank() == 0 ? "" : type.dims[0].symbol();
    if (symbol.empty())
      return Misfit(
          "input '{0}' is declared {1}: its first dim must be a symbol, such as N, for the rows of "
          "a batch",
          input.name(), type.ToString());
    if (batch_.empty()) {
      batch_ = symbol.str();
      batch_from_ = &input;
    }
    if (symbol == batch_) return llvm::Error::success();
    return Misfit(
        "inputs '{0}' and '{1}' are declared {2} and {3}: the first dims of all inputs must be the "
        "same symbol, for the rows of a batch",
        batch_from_->name(), input.name(), batch_from_->type().ToString(), type.ToString());
  }

  bool IsGiven(const Value& input) const {
    return llvm::any_of(PartsOf(input.name(), input.type()), [&](const PartType& part) {
      return data_.Find(PartName(input.name(), part.part)) != nullptr;
    });
  }

  /// Inputs that share a ragged dim must have the same lengths, row by row.
  llvm::Error CheckLengths() const {
    Scope all;
    for (const Dataset::Field& field : fields_)
      if (!field.rows.type.is_plain()) field.rows.Put(&all, field.name);
    return llvm::handleErrors(PackedInputs(graph_).Check(all), [&](const UserError& e) {
      return MakeUserError(e.code(), "{0}: {1}", source_, e.text());
    });
  }

  llvm::Error Find(const Value& input, PackedValue* rows, bool* is_there) {
    const Type& type = input.type();
    *is_there = IsGiven(input);
    if (!*is_there) {
      if (!needed_.contains(&input)) return llvm::Error::success();
      return Missing(input, input.name());
    }
    for (const PartType& part : PartsOf(input.name(), type)) {
      const std::string name = PartName(input.name(), part.part);
      const Tensor* tensor = data_.Find(name);
      if (part.part == Part::kValues) {
        if (tensor == nullptr) return Missing(input, name);
        rows->values = *tensor;
        continue;
      }
      if (part.part == Part::kIndices) {
        if (tensor == nullptr) return Missing(input, name);
        rows->indices = ToPlaces(*tensor);
        continue;
      }
      // Inputs that share lengths need only one array of offsets.
      if (tensor == nullptr && rows->offsets.size() < type.ragged_levels())
        tensor = FindLengths(type.dims[rows->offsets.size() + 1].ToString());
      if (tensor == nullptr) return Missing(input, name);
      rows->offsets.push_back(ToPlaces(*tensor));
    }
    return llvm::Error::success();
  }

  const Tensor* FindLengths(llvm::StringRef dim) const {
    for (const Value* input : graph_.inputs()) {
      for (unsigned level = 1; level <= input->type().ragged_levels(); ++level) {
        if (input->type().dims[level].ToString() != dim) continue;
        const std::string name = PartName(input->name(), OffsetsPart(level - 1));
        if (const Tensor* tensor = data_.Find(name)) return tensor;
      }
    }
    return nullptr;
  }

  llvm::Error Missing(const Value& input, llvm::StringRef name) const {
    if (data_.is_table && !input.type().is_plain())
      return Misfit(
          "{0} is a table with one line for each row, so it cannot hold input '{1}': {2}; use a "
          ".npz or a folder",
          source_, input.name(), input.type().ToString());
    // Arrays of other inputs are no candidates for a misspelled name.
    std::vector<llvm::StringRef> others;
    for (const std::string& other : data_.names)
      if (llvm::none_of(graph_.inputs(), [&](const Value* each) {
            return llvm::any_of(PartsOf(each->name(), each->type()), [&](const PartType& part) {
              return PartName(each->name(), part.part) == other;
            });
          }))
        others.push_back(other);
    std::string help;
    if (const llvm::StringRef near = NearestName(name, others); !near.empty()) {
      help = ", did you mean '" + near.str() + "'?";
    } else {
      help = data_.names.empty() ? ", it has none" : ", it has " + llvm::join(data_.names, ", ");
    }
    if (data_.is_table) {
      // A vector has a column for each of its elements.
      const bool is_vector = input.type().rank() > 1;
      return Misfit("{0} has no column {1} for input '{2}': {3}{4}", source_,
                    is_vector ? "'" + name.str() + "[0]'" : "'" + name.str() + "'", input.name(),
                    input.type().ToString(), help);
    }
    return Misfit("{0} has no array '{1}' for input '{2}': {3}{4}", source_, name, input.name(),
                  input.type().ToString(), help);
  }

  llvm::Error Check(const Dataset::Field& field) {
    const PackedValue& value = field.rows;
    const Type& type = value.type;
    const bool is_ones = type.is_sparse() && type.dtype == DType::kBool;
    if (!is_ones && value.values.dtype() != type.dtype)
      return Misfit(
          "{0}: input '{1}' is declared {2}, but the array holds {3}: save it as {4}; "
          "nothing is converted silently",
          source_, field.name, type.ToString(), value.values.TypeString(), DTypeName(type.dtype));
    int64_t rows = 0;
    if (type.is_plain()) {
      if (llvm::Error error = CheckSizes(field, value.values, type.dims)) return error;
      rows = value.values.size(0);
    } else {
      if (llvm::Error error = CheckOffsets(field)) return error;
      rows = value.offsets[0].num_elements() - 1;
    }
    if (llvm::Error error = CheckIndexBound(field)) return error;
    if (first_ == nullptr) {
      rows_ = rows;
      first_ = graph_.FindValue(field.name);
      if (rows == 0) return Misfit("{0} has no rows: '{1}' is empty", source_, field.name);
    }
    if (rows == rows_) return llvm::Error::success();
    return Misfit("{0}: input '{1}' has {2} rows, but '{3}' has {4}", source_, field.name, rows,
                  first_->name(), rows_);
  }

  /// Checks the dims after the first one; equal symbols must have equal sizes.
  llvm::Error CheckSizes(const Dataset::Field& field, const Tensor& tensor,
                         llvm::ArrayRef<Dim> dims) {
    auto misfit = [&] {
      return Misfit("{0}: input '{1}' is declared {2}, but the array holds {3}", source_,
                    field.name, field.rows.type.ToString(), tensor.TypeString());
    };
    if (tensor.rank() != dims.size()) return misfit();
    for (unsigned axis = 1; axis < tensor.rank(); ++axis) {
      const int64_t size = tensor.size(axis);
      if (dims[axis].is_constant() && dims[axis].constant() != size) return misfit();
      const llvm::StringRef symbol = dims[axis].symbol();
      if (symbol.empty()) continue;
      const auto [known, is_new] = sizes_.try_emplace(symbol, size, field.name);
      if (known->second.first != size)
        return Misfit("{0}: '{1}' is {2} by input '{3}' and {4} by input '{5}'", source_, symbol,
                      known->second.first, known->second.second, size, field.name);
    }
    return llvm::Error::success();
  }

  llvm::Error CheckOffsets(const Dataset::Field& field) {
    const PackedValue& value = field.rows;
    const Type& type = value.type;
    const Tensor& last = type.is_sparse() ? value.indices : value.values;
    if (last.rank() == 0 || (type.is_sparse() && last.dtype() != DType::kI64))
      return Misfit("{0}: '{1}' must be {2}, but the array holds {3}", source_,
                    PartName(field.name, type.is_sparse() ? Part::kIndices : Part::kValues),
                    type.is_sparse() ? "i64 column indices" : "packed rows", last.TypeString());
    for (size_t level = 0; level < value.offsets.size(); ++level) {
      const bool is_last = level + 1 == value.offsets.size();
      const Tensor& offsets = value.offsets[level];
      const std::string name = PartName(field.name, OffsetsPart(static_cast<unsigned>(level)));
      if (offsets.dtype() != DType::kI64 || offsets.rank() != 1 || offsets.num_elements() == 0)
        return Misfit("{0}: '{1}' must be i64 offsets, one more than rows, but the array holds {2}",
                      source_, name, offsets.TypeString());
      const int64_t rows = is_last ? last.size(0) : value.offsets[level + 1].num_elements() - 1;
      const llvm::StringRef what = is_last && type.is_sparse() ? "elements" : "rows";
      if (const std::string fault = FaultOfOffsets(offsets, rows, what); !fault.empty())
        return MakeUserError(Code::kOffsets, "{0}: '{1}': {2}", source_, name, fault);
    }
    if (!type.is_sparse()) return CheckSizes(field, value.values, PackedDims(type.dims));
    if (type.dtype != DType::kBool && value.values.num_elements() != last.num_elements())
      return Misfit("{0}: '{1}' has {2} elements, but its indices have {3}", source_, field.name,
                    value.values.num_elements(), last.num_elements());
    if (!type.dims.back().is_constant()) return llvm::Error::success();
    const int64_t outside = FindOutside(last, type.dims.back().constant());
    if (outside < 0) return llvm::Error::success();
    return Misfit("{0}: input '{1}' is declared {2}, but row {3} has the column index {4}", source_,
                  field.name, type.ToString(), OuterRow(value, outside),
                  last.data<int64_t>()[outside]);
  }

  llvm::Error CheckIndexBound(const Dataset::Field& field) {
    const Type& type = field.rows.type;
    if (!type.index_bound || !type.index_bound->is_constant() || type.is_sparse())
      return llvm::Error::success();
    const Tensor& values = field.rows.values;
    const int64_t outside = FindOutside(values, type.index_bound->constant());
    if (outside < 0) return llvm::Error::success();
    const int64_t inner = outside / std::max<int64_t>(1, values.num_elements() / values.size(0));
    return MakeUserError(Code::kIndexRange, "{0}: input '{1}' must be in 0..{2}, but {3} has {4}",
                         source_, field.name, type.index_bound->constant(),
                         RowText(data_.lines, OuterRow(field.rows, inner)),
                         static_cast<int64_t>(values.ToConstant().ElementAsDouble(outside)));
  }

  const llvm::StringRef source_;
  const DataArrays& data_;
  const Graph& graph_;
  const llvm::DenseSet<const Value*> needed_;
  llvm::Error errors_ = llvm::Error::success();
  std::vector<Dataset::Field> fields_;
  std::string batch_;
  const Value* batch_from_ = nullptr;
  int64_t rows_ = 0;
  const Value* first_ = nullptr;
  llvm::StringMap<std::pair<int64_t, std::string>>
      sizes_;  // sizes of symbols, and the inputs that determine them
};

}  // namespace

std::string Dataset::DescribeRow(int64_t row) const { return RowText(lines_, row); }

llvm::Expected<Dataset> Dataset::Open(llvm::StringRef path, const Graph& graph) {
  return WithOutOfMemory("reading '" + path.str() + "'", [&] { return Read(path, graph); });
}

llvm::Expected<Dataset> Dataset::Read(llvm::StringRef path, const Graph& graph) {
  llvm::Expected<DataArrays> data = ReadDataArrays(path, graph);
  if (!data) return data.takeError();
  Dataset dataset;
  dataset.source_ = path.str();
  dataset.lines_ = data->lines;
  Collector collector(path, *data, graph);
  llvm::Expected<std::vector<Field>> fields = collector.Collect();
  if (!fields) return fields.takeError();
  dataset.fields_ = std::move(*fields);
  dataset.num_rows_ = collector.num_rows();
  return dataset;
}

llvm::Expected<Dataset> Dataset::FromTensors(llvm::ArrayRef<NamedTensor> tensors,
                                             const Graph& graph, llvm::StringRef source) {
  DataArrays data;
  data.arrays = tensors.vec();
  for (const NamedTensor& tensor : tensors) data.names.push_back(tensor.first);
  Dataset dataset;
  dataset.source_ = source.str();
  Collector collector(source, data, graph);
  llvm::Expected<std::vector<Field>> fields = collector.Collect();
  if (!fields) return fields.takeError();
  dataset.fields_ = std::move(*fields);
  dataset.num_rows_ = collector.num_rows();
  return dataset;
}

}  // namespace pdl
