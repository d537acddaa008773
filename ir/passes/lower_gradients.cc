// Lowering of `gradient` by reverse-mode differentiation.
#include <algorithm>

#include "ir/error_text.h"
#include "ir/located_error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

/// How many calls the backward passes of a graph may have. Each gradient that contains others
/// multiplies their number, so a few lines could take any time and memory.
constexpr size_t kMaxCalls = 250'000;
/// And how many more for each call of the graph: a backward pass has a few calls for each.
constexpr size_t kMaxCallsPerCall = 16;

class GradientLowering {
 public:
  GradientLowering(Graph& graph, const OpRegistry& registry) : graph_(graph), registry_(registry) {
    for (const Value* input : graph.inputs())
      for (const Dim& dim : input->type().dims)
        dim.ForEachSymbol([&](llvm::StringRef symbol) { input_symbols_.insert(symbol); });
  }

  llvm::Error Run() {
    is_lowered_.resize(graph_.num_blocks());
    for (uint32_t i = 0; i < is_lowered_.size(); ++i)
      calls_left_ += kMaxCallsPerCall * graph_.block({i}).ops.size();
    for (uint32_t i = 1; i < is_lowered_.size(); ++i)
      if (llvm::Error error = LowerBlock({i})) return error;
    return LowerBlock({});
  }

 private:
  llvm::Error LowerBlock(BlockId id) {
    if (is_lowered_[id.index]) return llvm::Error::success();
    is_lowered_[id.index] = true;
    const std::vector<Op*> ops = graph_.block(id).ops;
    // The gradient of a loop is derived from its body.
    for (const Op* op : ops)
      for (const AttributeValue& value : op->attribute_values())
        if (const auto* body = std::get_if<BlockId>(&value))
          if (llvm::Error error = LowerBlock(*body)) return error;
    if (llvm::none_of(ops, [](const Op* op) { return IsGradient(op->def()); }))
      return llvm::Error::success();
    std::vector<Op*> order, gradients;
    for (Op* op : ops) {
      if (!IsGradient(op->def())) {
        order.push_back(op);
        continue;
      }
      const size_t first = graph_.block(id).ops.size();
      if (llvm::Error error = Replace(*op, order)) return error;
      const auto emitted = llvm::ArrayRef<Op*>(graph_.block(id).ops).drop_front(first);
      KeepChecks(*op, emitted);
      order.insert(order.end(), emitted.begin(), emitted.end());
      gradients.push_back(op);
    }
    order.insert(order.end(), gradients.begin(), gradients.end());
    graph_.SetBlockOps(id, std::move(order));
    graph_.EraseOps(id, [](const Op& op) { return IsGradient(op.def()); });
    return llvm::Error::success();
  }

  /// Appends the backward pass of the calls `before` to the block, and replaces uses of the results
  /// of `gradient`.
  llvm::Error Replace(const Op& gradient, llvm::ArrayRef<Op*> before) {
    const llvm::ArrayRef<Value*> operands = gradient.operands();
    DerivativeRequest request;
    request.block = gradient.block();
    request.outputs = operands[0];
    request.cotangents = operands[1];
    request.inputs = operands.drop_front(2);
    request.ops = before;
    const size_t num_calls = graph_.block(request.block).ops.size();
    request.max_calls = num_calls + calls_left_;
    llvm::Expected<std::vector<Value*>> derivatives = Differentiate(graph_, registry_, request);
    if (!derivatives) return AtGradient(gradient, derivatives.takeError());
    calls_left_ -= std::min(calls_left_, graph_.block(request.block).ops.size() - num_calls);
    std::vector<std::pair<Value*, Value*>> replacements;
    for (auto [result, derivative] : llvm::zip_equal(gradient.results(), *derivatives)) {
      const Type& type = result->type();
      Value* value = derivative;
      if (value == nullptr) {
        value = Call(gradient, "zeros", {}, {{"dims", type.dims}, {"dtype", type.dtype}});
      } else if (value->type().dims != type.dims) {
        value = Call(gradient, "reshape", {value}, {{"dims", type.dims}});
      }
      graph_.SetComment(value, result->comment());
      replacements.push_back({result, value});
    }
    graph_.ReplaceAllUses(replacements);
    return llvm::Error::success();
  }

  /// Puts the position of the `gradient` call before an error of the backward pass.
  llvm::Error AtGradient(const Op& gradient, llvm::Error error) const {
    Code code = Code::kBadGradient;
    error = llvm::handleErrors(std::move(error), [&](std::unique_ptr<UserError> user_error) {
      if (user_error->code() == Code::kTextTooLong) code = Code::kTextTooLong;
      return llvm::Error(std::move(user_error));
    });
    return UserErrorAt(graph_, gradient.location(), code,
                       WithoutCodes(llvm::toString(std::move(error))));
  }

  Value* Call(const Op& gradient, llvm::StringRef name, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes) {
    const OpDef* def = registry_.Find(name);
    if (def == nullptr) InternalError("there is no operator '" + name.str() + "'");
    CallOptions options;
    options.location = gradient.location();
    options.block = gradient.block();
    options.layer_path = gradient.layer_path();
    options.recompute = gradient.recompute();
    llvm::Expected<Op*> call =
        graph_.AddOp(*def, operands, attributes, {graph_.NewName(gradient.result()->name())},
                     std::move(options));
    if (!call) InternalError("lowering of a gradient: " + llvm::toString(call.takeError()));
    return (*call)->result();
  }

  /// Adds the size checks of `gradient` to the calls that replace it.
  void KeepChecks(const Op& gradient, llvm::ArrayRef<Op*> emitted) {
    std::vector<DimCheck> kept;
    for (DimCheck check : gradient.checks()) {
      // Nothing may provide the columns of a sparse matrix, or a data-dependent size.
      bool is_given = true;
      for (const Dim* side : {&check.left, &check.right})
        side->ForEachSymbol([&](llvm::StringRef symbol) {
          is_given &= input_symbols_.contains(symbol) ||
                      (graph_.IsDataSymbol(symbol) && ReadsSize(gradient, symbol));
        });
      const bool is_kept = llvm::any_of(kept, [&](const DimCheck& known) {
        return known.left == check.left && known.right == check.right &&
               known.relation == check.relation;
      });
      if (!is_given || is_kept) continue;
      check.asked_by = gradient.type();
      kept.push_back(std::move(check));
    }
    if (kept.empty()) return;
    for (Op* call : emitted) graph_.AddChecks(call, kept);
    if (!emitted.empty()) return;
    for (DimCheck& check : kept) graph_.AddConstraint({std::move(check), gradient.location()});
  }

  static bool ReadsSize(const Op& op, llvm::StringRef symbol) {
    return llvm::any_of(op.operands(),
                        [&](const Value* operand) { return HasSymbol(operand->type(), symbol); });
  }

  Graph& graph_;
  const OpRegistry& registry_;
  std::vector<bool> is_lowered_;  // by block
  size_t calls_left_ = kMaxCalls;
  llvm::StringSet<> input_symbols_;
};

}  // namespace

bool HasGradients(const Graph& graph) {
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    if (llvm::any_of(graph.block({i}).ops, [](const Op* op) { return IsGradient(op->def()); }))
      return true;
  return false;
}

llvm::Error LowerGradients(Graph& graph, const OpRegistry& registry) {
  if (!HasGradients(graph)) return llvm::Error::success();
  return GradientLowering(graph, registry).Run();
}

}  // namespace pdl
