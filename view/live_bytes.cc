#include <algorithm>
#include <limits>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "pdl/compiler/view.h"
#include "pdl/op/dtype.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

constexpr size_t kToTheEnd = std::numeric_limits<size_t>::max();

/// More than the memory of any machine.
llvm::Error TooMany(llvm::StringRef what) {
  return MakeUserError(Code::kDimOverflow, "{0} more bytes than 63 bits can count", what);
}

/// The bytes of a value; 0 if a size is data-dependent or ragged.
llvm::Expected<int64_t> BytesOf(const Graph& graph, const Value& value,
                                const llvm::StringMap<int64_t>& sizes) {
  const Type& type = value.type();
  bool is_known = type.is_plain();
  int64_t bytes = DTypeSize(type.dtype);
  for (const Dim& dim : type.dims) {
    dim.ForEachSymbol([&](llvm::StringRef symbol) { is_known &= !graph.IsDataSymbol(symbol); });
    if (!is_known) return 0;
    std::string unknown;
    llvm::Expected<int64_t> size =
        dim.Evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
          const auto found = sizes.find(symbol);
          if (found != sizes.end()) return found->second;
          unknown = symbol.str();
          return std::nullopt;
        });
    if (!size && !unknown.empty()) {
      llvm::consumeError(size.takeError());
      return MakeUserError(Code::kMissingInput, "the size {0} is not known: give --size {0}=32",
                           unknown);
    }
    if (!size) return size.takeError();
    if (llvm::MulOverflow(bytes, std::max<int64_t>(*size, 0), bytes))
      return TooMany("'" + value.name() + "': " + type.ToString() + " takes");
  }
  return bytes;
}

/// The index of the last call that needs each value.
llvm::DenseMap<const Value*, size_t> LastUses(const Graph& graph) {
  llvm::DenseMap<const Value*, size_t> last;
  for (auto [i, op] : llvm::enumerate(graph.ops()))
    for (const Value* operand : op->operands()) last[operand] = i;
  for (const GraphOutput& output : graph.outputs()) last[output.value] = kToTheEnd;
  for (const GraphUpdate& update : graph.updates()) last[update.value] = kToTheEnd;
  return last;
}

}  // namespace

llvm::Expected<llvm::StringMap<int64_t>> FindLiveBytes(const Graph& graph,
                                                       const llvm::StringMap<int64_t>& sizes) {
  const llvm::DenseMap<const Value*, size_t> last = LastUses(graph);
  std::vector<int64_t> freed(graph.ops().size());  // after each call
  int64_t live = 0;
  // The caller keeps the inputs.
  for (const Value* input : graph.inputs()) {
    llvm::Expected<int64_t> bytes = BytesOf(graph, *input, sizes);
    if (!bytes) return bytes.takeError();
    if (llvm::AddOverflow(live, *bytes, live)) return TooMany("the inputs take");
  }
  llvm::StringMap<int64_t> result;
  for (auto [i, op] : llvm::enumerate(graph.ops())) {
    for (const Value* value : op->results()) {
      llvm::Expected<int64_t> bytes = BytesOf(graph, *value, sizes);
      if (!bytes) return bytes.takeError();
      if (llvm::AddOverflow(live, *bytes, live))
        return TooMany("with '" + value->name() + "', the live values take");
      const auto found = last.find(value);
      const size_t end = found == last.end() ? i : found->second;
      // At most the bytes that are live then.
      if (end != kToTheEnd) freed[end] += *bytes;
    }
    if (!op->results().empty()) result[op->result()->name()] = live;
    live -= freed[i];
  }
  return result;
}

}  // namespace pdl
