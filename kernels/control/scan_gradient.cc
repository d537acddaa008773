// The gradient of a loop is a loop in the other direction. Each of its steps recomputes the forward
// step from the carry it received and the results of its matmuls, carries the gradient of that
// carry back, and accumulates the gradients of the captured values. It is a loop like any other, so
// it has a gradient, too.
#include "kernels/control/scan_gradient.h"

#include <optional>
#include <utility>
#include <vector>

#include "ir/passes/block_effects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"

namespace pdl {
namespace {

/// A block under construction.
class BlockBuilder {
 public:
  BlockBuilder(GradientContext& g, llvm::StringRef name)
      : g_(g), graph_(g.graph()), name_(name), id_(graph_.AddBlock()) {}

  BlockId id() const { return id_; }
  Value* Input(const Type& type) {
    return graph_.AddBlockInput(id_, graph_.NewName(name_ + ".in"), type, g_.op().location());
  }
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes) {
    const OpDef* def = g_.registry().Find(op);
    llvm::Expected<Op*> call = graph_.AddOp(*def, operands, attributes,
                                            {graph_.NewName(name_ + "." + op.str())}, Options());
    if (call) return (*call)->result();
    g_.Fail(llvm::toString(call.takeError()));
    return nullptr;
  }
  Value* Zeros(const Type& type) {
    return Call("zeros", {}, {{"dims", type.dims}, {"dtype", type.dtype}});
  }
  /// Copies the calls of another block except `left_out`; its inputs are already in `map`, and the
  /// results are added to `map`. Random calls use the numbers of the original ones. Returns false
  /// after an error.
  bool Copy(const Block& block, llvm::DenseMap<const Value*, Value*>& map, bool with_checks,
            const llvm::DenseSet<const Op*>& left_out = {}) {
    for (const Op* op : block.ops) {
      if (left_out.contains(op)) continue;
      if (!with_checks && op->def().properties().only_checks && !HasUses(block, *op)) continue;
      llvm::SmallVector<Value*, 4> operands;
      for (const Value* operand : op->operands()) operands.push_back(map.lookup(operand));
      std::vector<std::string> names;
      for (const Value* result : op->results()) names.push_back(graph_.NewName(result->name()));
      CallOptions options = Options();
      options.location = op->location();
      llvm::Expected<Op*> copy = graph_.AddOpWithValues(
          op->def(), operands, AttributesWithStream(*op), names, std::move(options));
      if (!copy) {
        g_.Fail(llvm::toString(copy.takeError()));
        return false;
      }
      for (auto [from, to] : llvm::zip_equal(op->results(), (*copy)->results())) map[from] = to;
    }
    return true;
  }

 private:
  static bool HasUses(const Block& block, const Op& op) {
    return llvm::any_of(op.results(), [&](const Value* result) {
      return !result->uses().empty() || llvm::is_contained(block.outputs, result);
    });
  }

  CallOptions Options() const {
    CallOptions options;
    options.location = g_.op().location();
    options.block = id_;
    options.layer_path = g_.op().layer_path();
    return options;
  }

  GradientContext& g_;
  Graph& graph_;
  std::string name_;
  BlockId id_;
};

class ScanBackward {
 public:
  explicit ScanBackward(GradientContext& g)
      : g_(g),
        graph_(g.graph()),
        block_(graph_.block(std::get<BlockId>(*g.attributes().Find("body")))),
        is_packed_(!g.attributes().Find("axis")),
        num_xs_(Count("num_xs")),
        num_init_(Count("num_init")),
        num_captured_(Count("num_captured")),
        num_steps_(Count("num_results") - num_init_),
        by_row_(g.num_inputs() > num_xs_ + num_init_ + num_captured_) {
    if (!is_packed_) {
      const int64_t axis = g.attributes().Int("axis");
      axis_ = axis < 0 ? axis + g.input(0)->type().rank() : axis;
    }
  }

  void Run() {
    FindProducts();
    FindTotals();
    if (!KeepForwardValues()) return;
    if (!MakeBackwardBlock()) return;
    EmitBackwardLoop();
  }

 private:
  /// `result = left @ right`, or `left @ transpose(right)`, where `right` is captured and of
  /// rank 2. Its gradient is one matmul over all steps instead of a sum of small ones.
  struct Product {
    const Op* op;
    unsigned captured;
    bool transposed;
    Value* kept = nullptr;        // the results of all steps; null: they are computed again
    Value* left_steps = nullptr;  // the left operands of all steps
    int left_output = -1;         // or the index of the loop's result that holds them
    int gradient_output = -1;
  };

  /// A carried value that each step adds to without reading it: `after = before + part`. The
  /// gradient of all parts is that of the last value, so that no step needs the value before it.
  /// The backward loop of a scan sums the gradients of captured values in this way.
  struct Total {
    const Op* add = nullptr;  // null: steps return the value as it is
    const Value* part = nullptr;
  };

  unsigned Count(llvm::StringRef name) const {
    return static_cast<unsigned>(g_.attributes().Int(name));
  }
  const Value* XOf(unsigned i) const { return block_.inputs[i]; }
  const Value* StateOf(unsigned j) const { return block_.inputs[num_xs_ + j]; }
  const Value* CapturedOf(unsigned k) const { return block_.inputs[num_xs_ + num_init_ + k]; }
  static bool IsReal(const Value* value) { return IsFloat(value->type().dtype); }

  void FindProducts() {
    for (unsigned k = 0; k < num_captured_; ++k) {
      const Value* captured = CapturedOf(k);
      if (!IsReal(captured) || captured->type().rank() != 2 || axis_ > 1) continue;
      const bool all = llvm::all_of(captured->uses(), [&](const Value::Use& use) {
        const OpDef& def = use.op->def();
        return def.name() == "matmul" && use.operand == 1 && use.op->operands().size() == 2 &&
               use.op->operands()[0] != captured && use.op->operands()[0]->type().rank() == 2 &&
               llvm::all_of(llvm::zip_equal(def.signature.attributes, use.op->attribute_values()),
                            [](auto pair) {
                              const auto& [decl, value] = pair;
                              return decl.name == "transpose_b" ||
                                     Identical(decl.default_value, value);
                            });
      });
      const bool has_rows = llvm::all_of(captured->uses(), [&](const Value::Use& use) {
        return use.op->operands()[0]->type().dims[0] == XOf(0)->type().dims[0];
      });
      if (!all || captured->uses().empty() || (by_row_ && !has_rows)) continue;
      if (llvm::is_contained(block_.outputs, captured)) continue;
      // Uses are in no particular order.
      for (const Op* op : block_.ops)
        if (op->operands().size() == 2 && op->operands()[1] == captured && op->type() == "matmul")
          products_.push_back({op, k, op->attributes().Bool("transpose_b")});
    }
  }
  bool IsProduct(unsigned captured) const {
    return llvm::any_of(products_, [&](const Product& p) { return p.captured == captured; });
  }
  /// Whether the backward loop gets the results of a product instead of computing them again, which
  /// takes longer than to store them. A layer with `recompute=true` in the body asks for less
  /// memory.
  bool IsKept(const Product& product) const {
    return product.op->recompute() == g_.op().recompute();
  }

  void FindTotals() {
    totals_.resize(num_init_);
    for (unsigned j = 0; j < num_init_; ++j) {
      // A value with a row for each sequence has fewer rows in the body than outside of it.
      if (IsReal(StateOf(j)) && !HasRows(j)) totals_[j] = TotalOf(j);
    }
    for (const std::optional<Total>& total : totals_)
      if (total && total->add) additions_.insert(total->add);
  }
  std::optional<Total> TotalOf(unsigned j) const {
    const Value *before = StateOf(j), *after = block_.outputs[j];
    if (llvm::count(block_.outputs, after) != 1) return std::nullopt;
    if (after == before) return before->uses().empty() ? std::optional(Total()) : std::nullopt;
    const Op* add = after->producer();
    if (!add || add->type() != "add" || !after->uses().empty() || before->uses().size() != 1 ||
        llvm::is_contained(block_.outputs, before))
      return std::nullopt;
    const llvm::ArrayRef<Value*> terms = add->operands();
    if (!llvm::is_contained(terms, before)) return std::nullopt;
    const Value* part = terms[terms[0] == before];
    if (part->type().dims != before->type().dims) return std::nullopt;
    return Total{add, part};
  }

  /// Whether state j has a row for each row of a step.
  bool HasRows(unsigned j) const {
    const Shape& dims = StateOf(j)->type().dims;
    return by_row_ && !dims.empty() && dims[0] == Rows();
  }
  /// The number of rows of a step, if they are counted.
  const Dim& Rows() const { return XOf(0)->type().dims[0]; }

  /// The type of state j in each step's results. One whose rank is too small to insert the axis of
  /// the steps gets leading dims of 1; one for all rows of a step is repeated for each row.
  Type StackableType(unsigned j) const {
    const Type& type = StateOf(j)->type();
    Type made(type.dtype, type.dims);
    if (by_row_ && !HasRows(j)) made.dims.insert(made.dims.begin(), Rows());
    while (!by_row_ && made.rank() < axis_) made.dims.insert(made.dims.begin(), Dim(1));
    return made;
  }
  Value* Stackable(BlockBuilder& block, unsigned j, Value* state) {
    const Type type = StackableType(j);
    if (type.rank() == state->type().rank()) return state;
    return block.Call(by_row_ ? "broadcast_to" : "reshape", {state}, {{"dims", type.dims}});
  }
  /// The inverse of Stackable.
  Value* Unstackable(BlockBuilder& block, unsigned j, Value* stacked) {
    const Type& type = StateOf(j)->type();
    if (type.rank() == stacked->type().rank()) return stacked;
    if (by_row_) {
      // A step has at least one row.
      stacked = block.Call(
          "slice", {stacked},
          {{"axes", std::vector<int64_t>{0}}, {"starts", Shape{Dim(0)}}, {"stops", Shape{Dim(1)}}});
    }
    return stacked ? block.Call("reshape", {stacked}, {{"dims", type.dims}}) : nullptr;
  }

  /// Repeats the loop so that it also returns the carry that each step receives, and the results of
  /// its products.
  bool KeepForwardValues() {
    states_.resize(num_init_);
    if (llvm::all_of(totals_, [](const auto& total) { return total.has_value(); }) &&
        llvm::none_of(products_, [&](const Product& product) { return IsKept(product); }))
      return true;
    BlockBuilder block(g_, g_.op().result()->name() + ".states");
    llvm::DenseMap<const Value*, Value*> map;
    for (const Value* input : block_.inputs) map[input] = block.Input(input->type());
    if (!block.Copy(block_, map, /*with_checks=*/true)) return false;
    std::vector<Value*> outputs;
    for (const Value* output : block_.outputs) outputs.push_back(map.lookup(output));
    for (unsigned j = 0; j < num_init_; ++j) {
      if (totals_[j]) continue;
      Value* state = Stackable(block, j, map.lookup(StateOf(j)));
      if (!state) return false;
      outputs.push_back(state);
    }
    for (const Product& product : products_)
      if (IsKept(product)) outputs.push_back(map.lookup(product.op->result()));
    graph_.SetBlockOutputs(block.id(), outputs);
    llvm::SmallVector<Value*, 8> operands;
    for (unsigned i = 0; i < g_.num_inputs(); ++i) operands.push_back(g_.input(i));
    const Op* loop = EmitLoop(operands, block.id(), {num_xs_, num_init_, num_captured_},
                              outputs.size(), g_.attributes().Bool("reverse"));
    if (!loop) return false;
    unsigned next = num_steps_;
    for (unsigned j = 0; j < num_init_; ++j)
      if (!totals_[j]) states_[j] = loop->result(next++);
    for (Product& product : products_)
      if (IsKept(product)) product.kept = loop->result(next++);
    return true;
  }

  struct OperandCounts {
    size_t num_xs, num_init, num_captured;
  };
  const Op* EmitLoop(llvm::ArrayRef<Value*> operands, BlockId body, const OperandCounts& counts,
                     size_t num_results, bool reverse) {
    llvm::SmallVector<NamedAttribute, 8> attributes = {
        {"body", body},
        {"reverse", reverse},
        {"num_xs", static_cast<int64_t>(counts.num_xs)},
        {"num_init", static_cast<int64_t>(counts.num_init)},
        {"num_captured", static_cast<int64_t>(counts.num_captured)},
        {"num_results", static_cast<int64_t>(num_results)}};
    if (!is_packed_) attributes.push_back({"axis", static_cast<int64_t>(axis_)});
    Value* first = g_.Call(g_.op().type(), operands, attributes);
    return first ? first->producer() : nullptr;
  }

  /// The block of one step of the backward loop while it is built.
  struct BackwardStep {
    explicit BackwardStep(GradientContext& g) : block(g, g.op().result()->name() + ".back") {}

    BlockBuilder block;
    llvm::DenseMap<const Value*, Value*> map;  // from values of the body to their copies
    std::vector<Value*> cotangents;            // of the step's results, then of its carry
    llvm::SmallVector<Value*, 4> sums;         // gradients of captured values so far
    llvm::SmallVector<Value*, 4> kept;         // for each product that is kept, its result
  };

  /// Declares the inputs: slices of the sequences, states before the step, results of products,
  /// gradients of the step's results and of the states after it, sums, captured values, gradients
  /// of totals; then copies the body.
  bool CopyForwardStep(BackwardStep& step) {
    BlockBuilder& block = step.block;
    for (unsigned i = 0; i < num_xs_; ++i) step.map[XOf(i)] = block.Input(XOf(i)->type());
    llvm::SmallVector<Value*, 2> stacked(num_init_);
    for (unsigned j = 0; j < num_init_; ++j)
      if (!totals_[j]) stacked[j] = block.Input(StackableType(j));
    for (const Product& product : products_)
      if (product.kept) step.kept.push_back(block.Input(product.op->result()->type()));
    for (unsigned k = 0; k < num_steps_; ++k) {
      if (!g_.output_gradient(k)) continue;
      steps_.push_back(k);
      step.cotangents.push_back(block.Input(Type(block_.outputs[num_init_ + k]->type().dtype,
                                                 block_.outputs[num_init_ + k]->type().dims)));
    }
    for (unsigned j = 0; j < num_init_; ++j) {
      if (!IsReal(StateOf(j)) || totals_[j]) continue;
      carried_.push_back(j);
      step.cotangents.push_back(block.Input(StateOf(j)->type()));
    }
    for (unsigned k = 0; k < num_captured_; ++k) {
      if (!IsReal(CapturedOf(k)) || IsProduct(k)) continue;
      summed_.push_back(k);
      step.sums.push_back(
          block.Input(Type(CapturedOf(k)->type().dtype, CapturedOf(k)->type().dims)));
    }
    for (unsigned k = 0; k < num_captured_; ++k)
      step.map[CapturedOf(k)] = block.Input(CapturedOf(k)->type());
    for (unsigned j = 0; j < num_init_; ++j) {
      if (!totals_[j] || !totals_[j]->part || !g_.output_gradient(num_steps_ + j)) continue;
      added_to_.push_back(j);
      step.cotangents.push_back(block.Input(StateOf(j)->type()));
    }
    for (unsigned j = 0; j < num_init_; ++j) {
      if (totals_[j]) continue;
      Value* state = Unstackable(block, j, stacked[j]);
      if (!state) return false;
      step.map[StateOf(j)] = state;
    }
    return block.Copy(block_, step.map, /*with_checks=*/false, additions_);
  }

  /// The gradients of the sequences, of the states before the step, of summed captured values and
  /// of products, in this order; null where one is zero.
  llvm::Expected<std::vector<Value*>> DifferentiateStep(BackwardStep& step) {
    std::vector<Value*> outputs, inputs;
    for (unsigned k : steps_) outputs.push_back(step.map.lookup(block_.outputs[num_init_ + k]));
    for (unsigned j : carried_) outputs.push_back(step.map.lookup(block_.outputs[j]));
    for (unsigned j : added_to_) outputs.push_back(step.map.lookup(totals_[j]->part));
    for (unsigned i = 0; i < num_xs_; ++i)
      if (IsReal(XOf(i))) inputs.push_back(step.map.lookup(XOf(i)));
    for (unsigned j : carried_) inputs.push_back(step.map.lookup(StateOf(j)));
    for (unsigned k : summed_) inputs.push_back(step.map.lookup(CapturedOf(k)));
    for (const Product& product : products_)
      inputs.push_back(step.map.lookup(product.op->result()));
    llvm::Expected<std::vector<Value*>> gradients =
        Differentiate(graph_, g_.registry(), {step.block.id(), outputs, step.cotangents, inputs});
    if (gradients) UseKeptProducts(step, *gradients);
    return gradients;
  }

  /// Replaces the products of the step by those that the forward loop kept, so that their calls are
  /// dead. Before the differentiation, the gradients would end there.
  void UseKeptProducts(BackwardStep& step, std::vector<Value*>& gradients) {
    std::vector<std::pair<Value*, Value*>> replacements;
    for (const Product& product : products_) {
      if (!product.kept) continue;
      Value*& result = step.map[product.op->result()];
      replacements.push_back({result, step.kept[replacements.size()]});
      result = replacements.back().second;
    }
    graph_.ReplaceAllUses(replacements);
    const llvm::DenseMap<Value*, Value*> kept(replacements.begin(), replacements.end());
    for (Value*& gradient : gradients)
      if (Value* by = kept.lookup(gradient)) gradient = by;
  }

  /// The results of a step: values that are carried back, then those that the loop stacks.
  bool SetStepResults(BackwardStep& step, llvm::ArrayRef<Value*> gradients) {
    std::vector<Value*> results, step_results;
    size_t next = 0;
    for (unsigned i = 0; i < num_xs_; ++i) {
      if (!IsReal(XOf(i))) continue;
      Value* gradient = gradients[next++];
      if (!gradient) continue;
      x_outputs_.push_back({i, step_results.size()});
      step_results.push_back(gradient);
    }
    for (unsigned j : carried_) {
      Value* gradient = gradients[next++];
      if (!gradient) gradient = step.block.Zeros(StateOf(j)->type());
      if (!gradient) return false;
      results.push_back(gradient);
    }
    for (Value* sum : step.sums) {
      Value* gradient = gradients[next++];
      if (gradient) sum = step.block.Call("add", {sum, gradient}, {});
      if (!sum) return false;
      results.push_back(sum);
    }
    for (Product& product : products_) {
      Value* gradient = gradients[next++];
      if (!gradient) continue;
      product.gradient_output = static_cast<int>(step_results.size());
      step_results.push_back(gradient);
      const Value* left = product.op->operands()[0];
      for (unsigned j = 0; j < num_init_; ++j)
        if (left == StateOf(j)) product.left_steps = states_[j];
      // The padding of rows that end earlier may hold anything.
      for (unsigned i = 0; i < num_xs_ && !by_row_; ++i)
        if (left == XOf(i)) product.left_steps = g_.input(i);
      if (product.left_steps) continue;
      product.left_output = static_cast<int>(step_results.size());
      step_results.push_back(step.map.lookup(left));
    }
    num_back_steps_ = step_results.size();
    llvm::append_range(results, step_results);
    graph_.SetBlockOutputs(step.block.id(), results);
    num_back_results_ = results.size();
    return true;
  }

  bool MakeBackwardBlock() {
    BackwardStep step(g_);
    if (!CopyForwardStep(step)) return false;
    llvm::Expected<std::vector<Value*>> gradients = DifferentiateStep(step);
    if (!gradients) {
      g_.Fail(llvm::toString(gradients.takeError()));
      return false;
    }
    back_ = step.block.id();
    return SetStepResults(step, *gradients);
  }

  Value* ZerosLike(Value* value) {
    return g_.Call("zeros", {}, {{"dims", value->type().dims}, {"dtype", value->type().dtype}});
  }

  void EmitBackwardLoop() {
    for (unsigned j = 0; j < num_init_; ++j)
      if (totals_[j]) g_.SetInputGradient(num_xs_ + j, g_.output_gradient(num_steps_ + j));
    if (num_back_results_ == 0) return;
    llvm::SmallVector<Value*, 8> operands;
    for (unsigned i = 0; i < num_xs_; ++i) operands.push_back(g_.input(i));
    for (Value* state : states_)
      if (state) operands.push_back(state);
    for (const Product& product : products_)
      if (product.kept) operands.push_back(product.kept);
    for (unsigned k : steps_) operands.push_back(g_.output_gradient(k));
    const size_t num_xs = operands.size();
    for (unsigned j : carried_) {
      Value* gradient = g_.output_gradient(num_steps_ + j);
      operands.push_back(gradient ? gradient : ZerosLike(g_.input(num_xs_ + j)));
    }
    for (unsigned k : summed_) operands.push_back(ZerosLike(g_.input(num_xs_ + num_init_ + k)));
    const size_t num_init = operands.size() - num_xs;
    const unsigned first_captured = num_xs_ + num_init_, end = first_captured + num_captured_;
    for (unsigned i = first_captured; i < end; ++i) operands.push_back(g_.input(i));
    for (unsigned j : added_to_) operands.push_back(g_.output_gradient(num_steps_ + j));
    const size_t num_captured = operands.size() - num_xs - num_init;
    if (end < g_.num_inputs()) operands.push_back(g_.input(end));  // the lengths, or the offsets
    const Op* loop = EmitLoop(operands, back_, {num_xs, num_init, num_captured}, num_back_results_,
                              !g_.attributes().Bool("reverse"));
    if (!loop) return;
    SetGradients(loop);
  }

  /// Sets the gradients of the inputs from the results of the backward loop.
  void SetGradients(const Op* loop) {
    for (auto [x, output] : x_outputs_)
      g_.SetInputGradient(x, loop->result(static_cast<unsigned>(output)));
    unsigned next = static_cast<unsigned>(num_back_steps_);
    for (unsigned j : carried_) g_.SetInputGradient(num_xs_ + j, loop->result(next++));
    for (unsigned k : summed_) g_.SetInputGradient(num_xs_ + num_init_ + k, loop->result(next++));
    llvm::DenseMap<unsigned, Value*> gradients;
    for (const Product& product : products_) {
      if (product.gradient_output < 0) continue;
      Value* left = product.left_steps ? product.left_steps
                                       : loop->result(static_cast<unsigned>(product.left_output));
      Value* right = loop->result(static_cast<unsigned>(product.gradient_output));
      if (product.transposed) std::swap(left, right);
      Value* gradient = g_.Call("matmul", {AllRows(left), AllRows(right)}, {{"transpose_a", true}});
      Value*& sum = gradients[product.captured];
      sum = sum ? g_.Add(sum, gradient) : gradient;
    }
    for (auto [captured, gradient] : gradients)
      g_.SetInputGradient(num_xs_ + num_init_ + captured, gradient);
  }

  /// Reshapes [.., D] to a matrix.
  Value* AllRows(Value* steps) {
    const Shape& dims = steps->type().dims;
    if (dims.size() == 2) return steps;
    Dim rows = 1;
    for (const Dim& dim : llvm::ArrayRef<Dim>(dims).drop_back()) rows = rows * dim;
    return g_.Call("reshape", {steps}, {{"dims", Shape{rows, dims.back()}}});
  }

  GradientContext& g_;
  Graph& graph_;
  const Block& block_;
  bool is_packed_;
  unsigned num_xs_, num_init_, num_captured_, num_steps_;
  bool by_row_;
  int64_t axis_ = 0;
  llvm::SmallVector<Product, 2> products_;
  std::vector<std::optional<Total>> totals_;  // by state
  llvm::DenseSet<const Op*> additions_;       // those of totals_
  llvm::SmallVector<Value*, 2> states_;  // the carry that each step receives, stacked; no totals
  /// Indices of step results, states, captured values and totals: those with gradients.
  llvm::SmallVector<unsigned, 4> steps_, carried_, summed_, added_to_;
  llvm::SmallVector<std::pair<unsigned, size_t>, 2> x_outputs_;
  BlockId back_;
  size_t num_back_steps_ = 0, num_back_results_ = 0;
};

}  // namespace

void ScanGradient(GradientContext& g) { ScanBackward(g).Run(); }

}  // namespace pdl
