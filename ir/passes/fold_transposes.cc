// Matmuls of transposed matrices: the kernel reads an operand in either order of its last two axes.
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"

namespace pdl {
namespace {

/// Whether a call only swaps the last two axes of its operand.
bool SwapsLastAxes(const Op& op) {
  if (op.type() != "transpose") return false;
  const auto rank = static_cast<int64_t>(op.result()->type().rank());
  if (rank < 2) return false;
  const auto* perm = std::get_if<std::vector<int64_t>>(op.attributes().Find("perm"));
  if (perm == nullptr) return true;
  for (auto [axis, from] : llvm::enumerate(*perm)) {
    const int64_t to = static_cast<int64_t>(axis);
    const int64_t expected = to < rank - 2 ? to : 2 * rank - 3 - to;
    if ((from < 0 ? from + rank : from) != expected) return false;
  }
  return true;
}

/// Reads the operands of a matmul through the transposes that compute them.
void FoldInto(Graph& graph, Op& op) {
  constexpr llvm::StringLiteral kFlags[] = {"transpose_a", "transpose_b"};
  llvm::SmallVector<Value*, 2> operands(op.operands().begin(), op.operands().end());
  std::vector<AttributeValue> attributes = op.attribute_values().vec();
  bool has_changed = false;
  for (auto [flag, operand] : llvm::zip_equal(kFlags, operands)) {
    const auto decl = llvm::find_if(op.def().signature.attributes,
                                    [&](const AttributeDecl& each) { return each.name == flag; });
    AttributeValue& value =
        attributes[static_cast<size_t>(decl - op.def().signature.attributes.begin())];
    while (operand->producer() != nullptr && SwapsLastAxes(*operand->producer())) {
      value = !std::get<bool>(value);
      operand = operand->producer()->operands()[0];
      has_changed = true;
    }
  }
  if (has_changed) graph.RewriteOp(&op, op.def(), operands, std::move(attributes));
}

}  // namespace

void FoldTransposes(Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    for (Op* op : graph.block({i}).ops)
      if (op->type() == "matmul") FoldInto(graph, *op);
}

}  // namespace pdl
