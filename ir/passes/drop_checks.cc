#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

bool IsUnusedCheck(const Op& op) {
  return op.def().properties().only_checks &&
         llvm::all_of(op.results(), [](const Value* result) { return result->uses().empty(); });
}

}  // namespace

void DropUnreadChecks(Graph& graph, llvm::ArrayRef<std::string> outputs) {
  ValueSet read(graph);
  ValueSet returned(graph);
  for (const GraphOutput& output : graph.outputs()) {
    returned.insert(output.value);
    if (llvm::is_contained(outputs, output.name)) read.insert(output.value);
  }
  for (const GraphUpdate& update : graph.updates()) read.insert(update.value);
  auto has_effect = [](const Op& op) {
    return op.def().properties().has_side_effect && !op.def().properties().only_checks;
  };
  PropagateBackward(graph.ops(), read, has_effect,
                    [&](const Op& op) { read.InsertAll(op.operands()); });
  auto is_unread = [&](const Value* value) {
    return value->kind() == ValueKind::kInput && !read.contains(value);
  };
  graph.EraseOps({}, [&](const Op& op) {
    return IsUnusedCheck(op) && !returned.ContainsAny(op.results()) &&
           !read.ContainsAny(op.results()) && llvm::any_of(BackwardSlice(op.operands()), is_unread);
  });
}

void DropChecks(Graph& graph) {
  ValueSet kept(graph);
  for (const GraphOutput& output : graph.outputs()) kept.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) kept.insert(update.value);
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) kept.InsertAll(graph.block({i}).outputs);
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    graph.EraseOps(
        {i}, [&](const Op& op) { return IsUnusedCheck(op) && !kept.ContainsAny(op.results()); });
}

}  // namespace pdl
