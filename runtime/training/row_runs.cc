#include "runtime/training/row_runs.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/call_error.h"
#include "runtime/training/batch.h"

namespace pdl {
namespace {

/// The symbol that counts the rows; empty if there are no inputs.
llvm::StringRef RowSymbol(const Graph& graph, const Dataset& data) {
  for (const Value* input : graph.inputs())
    for (const Dataset::Field& field : data.fields())
      if (field.name == input->name()) return input->type().dims.front().symbol();
  return "";
}

/// Whether a size other than the first one depends on the symbol.
bool DependsOnRows(const Type& type, llvm::StringRef symbol) {
  bool depends = false;
  for (size_t i = 1; i < type.dims.size(); ++i) {
    type.dims[i].Substitute([&](llvm::StringRef name) -> std::optional<Dim> {
      depends |= name == symbol;
      return std::nullopt;
    });
  }
  return depends;
}

/// The parts of a value that consist of rows, and those that are offsets, in a fixed order.
void ForEachPart(PackedValue& value, llvm::function_ref<void(Tensor&, bool is_offsets)> visit) {
  for (Tensor& offsets : value.offsets) visit(offsets, true);
  if (!(value.type.is_sparse() && value.type.dtype == DType::kBool)) visit(value.values, false);
  if (value.type.is_sparse()) visit(value.indices, false);
}

/// Concatenates along the first axis. Offsets begin with 0; each list continues the one before.
llvm::Expected<Tensor> Concatenate(llvm::ArrayRef<const Tensor*> parts, bool is_offsets) {
  const Tensor& first = *parts.front();
  Sizes sizes(first.sizes().begin(), first.sizes().end());
  sizes[0] = is_offsets ? 1 : 0;
  for (const Tensor* part : parts) {
    if (part->sizes().drop_front() != first.sizes().drop_front())
      return MakeUserError(Code::kShapeMismatch,
                           "the results of two parts of the rows are {0} and {1}",
                           first.TypeString(), part->TypeString());
    sizes[0] += part->size(0) - (is_offsets ? 1 : 0);
  }
  llvm::Expected<Tensor> all = Tensor::AllocateUninitialized(first.dtype(), sizes);
  if (!all) return all;
  if (is_offsets) {
    int64_t* to = all->data<int64_t>();
    int64_t end = *to++ = 0;
    for (const Tensor* part : parts) {
      const llvm::ArrayRef<int64_t> offsets(part->data<int64_t>(), part->size(0));
      for (const int64_t offset : offsets.drop_front()) *to++ = end + offset;
      end += offsets.back();
    }
    return all;
  }
  char* to = static_cast<char*>(all->raw());
  for (const Tensor* part : parts) {
    if (part->num_bytes() > 0) std::memcpy(to, part->raw(), static_cast<size_t>(part->num_bytes()));
    to += part->num_bytes();
  }
  return all;
}

/// Joins the rows of values of one output, of which there is at least one.
llvm::Expected<PackedValue> Join(std::vector<PackedValue> parts) {
  // Also a value without rows, of a run over all of them.
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<std::vector<const Tensor*>> tensors;
  for (PackedValue& part : parts) {
    size_t i = 0;
    ForEachPart(part, [&](Tensor& tensor, bool) {
      if (tensors.size() <= i) tensors.emplace_back();
      tensors[i++].push_back(&tensor);
    });
  }
  PackedValue joined = parts.front();
  llvm::Error error = llvm::Error::success();
  size_t i = 0;
  ForEachPart(joined, [&](Tensor& tensor, bool is_offsets) {
    if (error) return;
    error = Concatenate(tensors[i++], is_offsets).moveInto(tensor);
  });
  if (error) return error;
  return joined;
}

llvm::Expected<std::vector<PackedValue>> JoinEach(std::vector<std::vector<PackedValue>> parts,
                                                  llvm::ArrayRef<std::string> outputs) {
  std::vector<PackedValue> joined;
  for (auto [name, values] : llvm::zip_equal(outputs, parts)) {
    llvm::Expected<PackedValue> all = Join(std::move(values));
    if (!all)
      return MakeUserError(Code::kShapeMismatch, "output '{0}': {1}", name,
                           llvm::toString(all.takeError()));
    joined.push_back(std::move(*all));
  }
  return joined;
}

/// Says which rows a run failed on, if they are not all.
llvm::Error AboutRows(llvm::Error error, const Dataset& data, int64_t first, int64_t last) {
  if (first == 0 && last == data.num_rows() - 1) return error;
  return MapMessage(std::move(error), [&](Code, llvm::StringRef message) {
    return llvm::formatv("rows {0} to {1} of {2}: {3}", first, last, data.source(), message).str();
  });
}

/// The sizes of all tensors of a rank's values, as "2,3;7".
std::string SizesToString(std::vector<PackedValue>& values) {
  std::string text;
  for (PackedValue& value : values) {
    ForEachPart(value, [&](Tensor& tensor, bool) {
      if (!text.empty()) text += ';';
      text += llvm::join(
          llvm::map_range(tensor.sizes(), [](int64_t size) { return std::to_string(size); }), ",");
    });
  }
  return text;
}

/// Allocates the tensors of a rank, whose sizes are `text`, as rank 0 has them for its own rows.
llvm::Expected<std::vector<PackedValue>> Allocate(const std::vector<PackedValue>& own,
                                                  llvm::StringRef text) {
  std::vector<PackedValue> values = own;
  llvm::Error error = llvm::Error::success();
  for (PackedValue& value : values) {
    ForEachPart(value, [&](Tensor& tensor, bool) {
      if (error) return;
      const auto [list, rest] = text.split(';');
      text = rest;
      Sizes sizes;
      for (llvm::StringRef size : llvm::split(list, ','))
        if (size.getAsInteger(10, sizes.emplace_back()))
          error = llvm::make_error<RankError>("a rank has sent invalid sizes");
      if (!error) error = Tensor::AllocateUninitialized(tensor.dtype(), sizes).moveInto(tensor);
    });
  }
  if (error) return error;
  return values;
}

/// Returns an Error if the outputs cannot be computed in parts and joined.
llvm::Error CheckRowOutputs(const Graph& graph, const Dataset& data,
                            llvm::ArrayRef<std::string> outputs) {
  const llvm::StringRef symbol = RowSymbol(graph, data);
  for (const Value* input : graph.inputs()) {
    if (DependsOnRows(input->type(), symbol))
      return MakeUserError(
          Code::kTrainingData,
          "the rows cannot be divided: '{0}' is {1}, of which another size than the "
          "first is the number of rows",
          input->name(), input->type().ToString());
  }
  for (const GraphOutput& output : graph.outputs()) {
    if (!llvm::is_contained(outputs, output.name)) continue;
    const Type& type = output.value->type();
    if (!type.dims.empty() && type.dims.front().symbol() == symbol && !DependsOnRows(type, symbol))
      continue;
    return MakeUserError(
        Code::kTrainingData,
        "output '{0}' is {1}: only an output whose first size is {2}, the number "
        "of rows, and no other, can be computed in parts; --output selects outputs",
        output.name, type.ToString(), symbol);
  }
  return llvm::Error::success();
}

}  // namespace

RowRange RowsOf(int64_t rows, int64_t batch_size, int rank, int ranks) {
  const int64_t batches = (rows - 1) / batch_size + 1;
  const int64_t each = batches / ranks, more = batches % ranks;
  const auto begin = [&](int64_t r) {
    const int64_t batch = each * r + std::min(r, more);
    return batch == batches ? rows : batch * batch_size;
  };
  return {begin(rank), begin(rank + 1)};
}

llvm::Expected<std::vector<PackedValue>> RunRows(const Network& network, const Dataset& data,
                                                 RowRange range, int64_t batch_size,
                                                 DeviceContext* context,
                                                 const RunOptions& options) {
  const bool is_whole = range.end - range.begin == data.num_rows() && batch_size >= data.num_rows();
  if (!is_whole)
    if (llvm::Error error = CheckRowOutputs(network.graph(), data, options.outputs)) return error;
  if (range.is_empty()) return std::vector<PackedValue>();
  std::vector<std::vector<PackedValue>> parts(options.outputs.size());
  Batch batch(data);
  for (int64_t begin = range.begin; begin < range.end; begin += batch_size) {
    std::vector<int64_t> rows(static_cast<size_t>(std::min(batch_size, range.end - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    Scope scope;
    Network::SetRunCount(&scope, static_cast<uint64_t>(begin));
    if (llvm::Error error = batch.Put(rows, &scope)) return error;
    if (llvm::Error error = network.Run(&scope, context, options))
      return AboutRows(std::move(error), data, rows.front(), rows.back());
    for (auto [name, values] : llvm::zip_equal(options.outputs, parts)) {
      llvm::Expected<PackedValue> value =
          PackedValue::Find(scope, name, network.graph().FindOutput(name)->value->type());
      if (!value) return value.takeError();
      values.push_back(std::move(*value));
    }
  }
  return JoinEach(std::move(parts), options.outputs);
}

llvm::Expected<std::vector<PackedValue>> GatherRows(std::vector<PackedValue> own,
                                                    llvm::ArrayRef<std::string> outputs,
                                                    Communicator& communicator) {
  const auto ranks = static_cast<size_t>(communicator.size());
  llvm::Expected<std::vector<std::string>> sizes = communicator.AllGather(SizesToString(own));
  if (!sizes) return sizes.takeError();
  // Rank 0 has rows, and so all tensors.
  const size_t tensors = static_cast<size_t>(llvm::count(sizes->front(), ';')) + 1;
  const auto memory = std::make_shared<std::vector<std::vector<PackedValue>>>(ranks);
  std::vector<std::vector<PackedValue>>& values = *memory;
  values.front() = std::move(own);
  const bool is_first = communicator.rank() == 0;
  for (size_t rank = 1; is_first && rank < ranks; ++rank) {
    if ((*sizes)[rank].empty()) continue;
    llvm::Error error = Allocate(values.front(), (*sizes)[rank]).moveInto(values[rank]);
    if (error) return error;
  }
  // The memory of each rank's tensors; at the others, that of their own.
  std::vector<std::vector<ReceivedBytes>> bytes(ranks);
  for (auto [of_rank, list] : llvm::zip_equal(values, bytes))
    for (PackedValue& value : of_rank)
      ForEachPart(value, [&list = list](Tensor& tensor, bool) {
        list.emplace_back(static_cast<char*>(tensor.raw()),
                          static_cast<size_t>(tensor.num_bytes()));
      });
  for (size_t i = 0; i < tensors; ++i) {
    std::vector<SentBytes> send(ranks);
    std::vector<ReceivedBytes> receive(ranks);
    if (!is_first && !bytes.front().empty()) send.front() = bytes.front()[i];
    for (size_t rank = 1; is_first && rank < ranks; ++rank)
      if (!bytes[rank].empty()) receive[rank] = bytes[rank][i];
    if (llvm::Error error = communicator.KeepIfFailed(communicator.Exchange(send, receive), memory))
      return error;
  }
  if (!is_first) return std::vector<PackedValue>();
  std::vector<std::vector<PackedValue>> parts(outputs.size());
  for (std::vector<PackedValue>& of_rank : values)
    for (auto [part, value] : llvm::zip(parts, of_rank)) part.push_back(std::move(value));
  return JoinEach(std::move(parts), outputs);
}

}  // namespace pdl
