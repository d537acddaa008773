#include "runtime/schedule.h"

#include <algorithm>
#include <unordered_map>

#include "ir/passes/block_effects.h"
#include "ir/passes/segments.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"
#include "runtime/call_error.h"
#include "runtime/fusion.h"
#include "runtime/packed_inputs.h"

namespace pdl {
namespace {

/// The maximum number of operands of a fused instruction; operators with more run individually.
constexpr size_t kMaxTileOperands = 3;

struct DimHash {
  size_t operator()(const Dim& dim) const { return dim.Hash(); }
};

class Scheduler {
 public:
  explicit Scheduler(const ScheduleRequest& request)
      : request_(request),
        graph_(*request.graph),
        schedule_(std::make_unique<Schedule>()),
        needed_(graph_),
        at_end_(graph_),
        read_(graph_),
        constant_calls_(graph_, *request.context, request.training, request.constants) {}

  llvm::Expected<std::unique_ptr<const Schedule>> Make() {
    schedule_->device = request_.context->device();
    schedule_->is_body = request_.is_body;
    schedule_->matmul_precision = request_.matmul_precision;
    schedule_->packed = request_.packed;
    schedule_->symbols = graph_.Symbols();
    for (const std::string& symbol : request_.given)
      if (!llvm::is_contained(schedule_->symbols, symbol)) schedule_->symbols.push_back(symbol);
    if (llvm::Error error = ChooseOutputs()) return error;
    FindNeeded();
    if (llvm::Error error = ComputeConstants()) return error;
    AddSources();
    if (llvm::Error error = CreateOperators()) return error;
    AddSteps();
    FindLifetimes();
    AddChecks();
    return std::unique_ptr<const Schedule>(std::move(schedule_));
  }

 private:
  llvm::Error ChooseOutputs() {
    if (request_.outputs.empty()) {
      chosen_.assign(graph_.outputs().begin(), graph_.outputs().end());
      return llvm::Error::success();
    }
    for (const std::string& name : request_.outputs) {
      if (name == kNoOutput) continue;
      if (llvm::Error error = CheckOutput(graph_, name)) return error;
      chosen_.push_back(*graph_.FindOutput(name));
    }
    return llvm::Error::success();
  }

  /// Finds the calls that outputs and updates depend on, and those with side effects; in order.
  void FindNeeded() {
    for (const GraphOutput& output : chosen_) at_end_.insert(output.value);
    for (const GraphUpdate& update : graph_.updates())
      if (update.value != update.state) updates_.push_back(update);
    for (const GraphUpdate& update : updates_) at_end_.insert(update.value);
    needed_ = at_end_;
    for (const GraphUpdate& update : updates_) needed_.insert(update.state);
    auto has_effect = [](const Op& op) { return op.def().properties().has_side_effect; };
    PropagateBackward(graph_.ops(), needed_, has_effect, [&](const Op& op) {
      needed_.InsertAll(op.operands());
      needed_ops_.push_back(&op);
    });
    std::reverse(needed_ops_.begin(), needed_ops_.end());
    FindSizeInputs();
  }

  /// `normal([N, 3])` reads N from an input that is used for nothing else: any input that has N is
  /// suitable, unless a part of an input that is read has it.
  void FindSizeInputs() {
    const std::vector<const Value*> others = OtherParts();
    llvm::StringSet<> known;
    for (const Value* input : graph_.inputs())
      if (needed_.contains(input)) AddSymbols(*input, &known);
    llvm::SetVector<llvm::StringRef> used;
    auto use = [&](llvm::StringRef symbol) {
      if (!known.contains(symbol)) used.insert(symbol);
    };
    for (const Op* op : needed_ops_) {
      ForEachSymbol(*op, use);
      for (const DimCheck& check : op->checks()) ForEachSymbolOf(check, use);
    }
    for (const Value* state : graph_.states())
      if (needed_.contains(state))
        for (const Dim& dim : state->type().dims) dim.ForEachSymbol(use);
    for (const Value* input : graph_.inputs())
      if (needed_.contains(input) && input->type().index_bound && FixedInput(*input) == nullptr)
        input->type().index_bound->ForEachSymbol(use);
    // A constraint is checked if all of its sizes are those of inputs that are read.
    llvm::StringSet<> of_read = known;
    for (const Value* part : others) AddSymbols(*part, &of_read);
    for (const GraphConstraint& constraint : graph_.constraints()) {
      bool is_known = true;
      ForEachSymbolOf(constraint.check,
                      [&](llvm::StringRef s) { is_known &= of_read.contains(s); });
      if (is_known) ForEachSymbolOf(constraint.check, use);
    }
    for (llvm::StringRef symbol : used) {
      const auto has_it = [&](const Value* input) { return HasSymbol(input->type(), symbol); };
      Schedule::SizeSource source{symbol.str(), {}};
      // Another ragged input may be given instead of one with the same lengths.
      const bool is_of_part = llvm::any_of(others, has_it);
      for (const Value* input : graph_.inputs())
        if (has_it(input) && (!is_of_part || request_.packed->IsPart(input->name())))
          source.inputs.push_back(AddSizeInput(input));
      // A symbol that no input has is computed from the data.
      if (!source.inputs.empty()) schedule_->size_sources.push_back(std::move(source));
    }
    for (const Value* part : others) AddSizeInput(part);
  }

  static void AddSymbols(const Value& value, llvm::StringSet<>* symbols) {
    for (const Dim& dim : value.type().dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { symbols->insert(symbol); });
  }
  static void ForEachSymbolOf(const DimCheck& check,
                              llvm::function_ref<void(llvm::StringRef)> visit) {
    for (const Dim* side : {&check.left, &check.right}) side->ForEachSymbol(visit);
  }

  /// Adds the input unless it is there; returns its index in size_inputs.
  unsigned AddSizeInput(const Value* input) {
    std::vector<const Value*>& inputs = schedule_->size_inputs;
    const auto found = llvm::find(inputs, input);
    const auto index = static_cast<unsigned>(found - inputs.begin());
    if (found == inputs.end()) inputs.push_back(input);
    return index;
  }

  /// The parts that are not needed of ragged and sparse inputs of which another part is. They are
  /// given with it, and their sizes are checked as those of a dense input: `sum(x)` does not need
  /// the lengths of x: f32[N, ~T], but `where N > 2` does.
  std::vector<const Value*> OtherParts() const {
    std::vector<const Value*> others;
    if (request_.packed == nullptr || request_.packed->empty()) return others;
    const auto input_of = [&](const Value* part) { return request_.packed->InputOf(part->name()); };
    llvm::StringSet<> read;
    for (const Value* input : graph_.inputs())
      if (needed_.contains(input)) read.insert(input_of(input));
    for (const Value* input : graph_.inputs())
      if (!needed_.contains(input) && read.contains(input_of(input))) others.push_back(input);
    return others;
  }

  SlotId AddSlot(const Value* value, SlotKind kind) {
    auto [entry, is_new] = slot_of_.try_emplace(value, schedule_->slots.size());
    if (!is_new) return entry->second;
    Slot& slot = schedule_->slots.emplace_back();
    slot.kind = kind;
    slot.dtype = value->type().dtype;
    slot.value = value;
    for (const Dim& dim : value->type().dims) slot.dims.push_back(DimIndex(dim));
    return entry->second;
  }

  uint32_t DimIndex(const Dim& dim) {
    auto [entry, is_new] =
        dim_index_.try_emplace(dim, static_cast<uint32_t>(schedule_->dims.size()));
    if (is_new) schedule_->dims.push_back(dim);
    return entry->second;
  }

  /// Computes what is the same in every run, and finds the values that the steps read.
  llvm::Error ComputeConstants() {
    for (const Value* input : graph_.inputs())
      if (const Tensor* fixed = needed_.contains(input) ? FixedInput(*input) : nullptr)
        constant_calls_.AddSource(input, input->name(), *fixed);
    for (const Value* parameter : graph_.parameters()) {
      if (!needed_.contains(parameter) || request_.variable_parameters) continue;
      llvm::Expected<Tensor> tensor = request_.parameter(*parameter);
      if (!tensor) return tensor.takeError();
      constant_calls_.AddSource(parameter, parameter->name(), *tensor);
      parameters_[parameter] = std::move(*tensor);
    }
    if (llvm::Error error = FindFixedStates()) return error;
    constant_calls_.Compute(needed_ops_, at_end_, request_.fold, request_.evaluate);
    read_ = at_end_;
    for (const GraphUpdate& update : updates_) read_.insert(update.state);
    for (const Op* op : needed_ops_)
      if (!constant_calls_.contains(op)) read_.InsertAll(op->operands());
    return llvm::Error::success();
  }

  llvm::Error FindFixedStates() {
    if (!request_.initial_state) return llvm::Error::success();
    llvm::DenseSet<const Value*> updated;
    for (const GraphUpdate& update : updates_) updated.insert(update.state);
    for (const Value* state : graph_.states()) {
      if (!needed_.contains(state) || updated.contains(state)) continue;
      llvm::Expected<Tensor> initial = request_.initial_state(*state);
      if (!initial) return initial.takeError();
      if (!initial->owns_memory()) continue;
      constant_calls_.AddSource(state, state->name(), *initial);
      schedule_->fixed_states.push_back({state, std::move(*initial)});
    }
    return llvm::Error::success();
  }

  const Tensor* FixedInput(const Value& input) const {
    return request_.fixed_input ? request_.fixed_input(input) : nullptr;
  }

  void AddSources() {
    for (const Value* input : graph_.inputs()) {
      if (!needed_.contains(input)) continue;
      if (const Tensor* fixed = FixedInput(*input)) {
        if (read_.contains(input)) AddConstant(input, {*fixed});
      } else {
        schedule_->inputs.push_back(AddSlot(input, SlotKind::kInput));
      }
    }
    for (const Value* parameter : graph_.parameters()) {
      if (!read_.contains(parameter)) continue;
      const SlotId slot = AddSlot(parameter, SlotKind::kParameter);
      schedule_->parameters.push_back(slot);
      schedule_->slots[slot].fixed.tensor = parameters_.lookup(parameter);
    }
    for (const auto& [state, initial] : schedule_->fixed_states)
      if (read_.contains(state)) AddConstant(state, {initial});
    for (const Value* state : graph_.states())
      if (needed_.contains(state) && !constant_calls_.IsSource(state))
        schedule_->states.push_back(AddSlot(state, SlotKind::kState));
    for (const auto& [value, fixed] : constant_calls_.results()) AddConstant(value, fixed);
  }

  void AddConstant(const Value* value, FixedValue fixed) {
    schedule_->slots[AddSlot(value, SlotKind::kConstant)].fixed = std::move(fixed);
  }

  OperatorArguments ArgumentsOf(const Op& op) {
    OperatorArguments arguments;
    arguments.def = &op.def();
    arguments.attributes = op.attribute_values().vec();
    for (const Value* operand : op.operands()) {
      arguments.inputs.push_back(operand->name());
      arguments.input_dtypes.push_back(operand->type().dtype);
    }
    for (const Value* result : op.results()) {
      arguments.outputs.push_back(result->name());
      arguments.output_dtypes.push_back(result->type().dtype);
    }
    arguments.location = graph_.PathToString(op.location());
    arguments.training = request_.training;
    arguments.fuse = request_.fuse;
    arguments.matmul_precision = request_.matmul_precision;
    for (const AttributeValue& value : op.attribute_values())
      if (const auto* body = std::get_if<BlockId>(&value))
        arguments.body = std::make_shared<const Graph>(graph_.ExtractBlock(*body));
    return arguments;
  }

  llvm::Error CreateOperators() {
    const std::vector<CallEffects> effects = EffectsOfBlocks(graph_);
    for (const Op* op : needed_ops_) {
      if (constant_calls_.contains(op)) continue;
      schedule_->has_random |= EffectsOf(*op, effects).random;
      llvm::Expected<std::unique_ptr<OperatorBase>> created =
          CreateOperator(ArgumentsOf(*op), schedule_->device.kind);
      if (!created) return created.takeError();
      calls_.push_back(op);
      kinds_.push_back(request_.fuse ? KindOf(*op, **created) : CallKind::kOther);
      operators_.push_back(std::move(*created));
    }
    return llvm::Error::success();
  }

  static CallKind KindOf(const Op& op, const OperatorBase& created) {
    if (op.def().properties().random || op.def().properties().has_side_effect ||
        op.results().size() != 1)
      return CallKind::kOther;
    if (created.makes_rows()) return CallKind::kRows;
    if (created.makes_pieces()) return CallKind::kPieces;
    const bool tile = op.def().properties().elementwise &&
                      op.operands().size() <= kMaxTileOperands &&
                      TileOf(op, created).dense != nullptr;
    return tile ? CallKind::kTile : CallKind::kOther;
  }

  static Tile TileOf(const Op& op, const OperatorBase& created) {
    llvm::SmallVector<DType, 3> dtypes;
    for (const Value* operand : op.operands()) dtypes.push_back(operand->type().dtype);
    return created.GetTile(dtypes, op.result()->type().dtype);
  }

  void AddSteps() {
    CallGroups groups;
    if (request_.fuse) {
      groups = FormGroups(calls_, kinds_);
    } else {
      for (unsigned i = 0; i < calls_.size(); ++i) groups.push_back({i});
    }
    group_of_.assign(calls_.size(), 0);
    for (unsigned g = 0; g < groups.size(); ++g)
      for (unsigned call : groups[g]) group_of_[call] = g;
    for (unsigned i = 0; i < calls_.size(); ++i) call_index_[calls_[i]] = i;
    for (unsigned g = 0; g < groups.size(); ++g) {
      if (groups[g].size() == 1) {
        AddSingle(groups[g][0]);
      } else {
        AddFused(g, groups[g]);
      }
    }
    MoveStoringSteps();
  }

  /// Whether a step cannot fail for any data: tiles return no Error; other operators declare it.
  static bool CannotFail(const Step& step) {
    if (step.calls.size() > 1) return true;  // a fused group
    const Op& op = *step.calls.front();
    return op.def().properties().cannot_fail || KindOf(op, *step.op) == CallKind::kTile;
  }

  /// Moves in-place state updates to the end: steps that only compute new values of states that
  /// they read, each for a single state, and that cannot fail.
  void MoveStoringSteps() {
    llvm::DenseMap<SlotId, const Value*> state_of;  // null: not for a single state
    for (const GraphUpdate& update : updates_) {
      auto [entry, is_new] = state_of.try_emplace(SlotOf(update.value), update.state);
      if (!is_new) entry->second = nullptr;
    }
    for (const GraphOutput& output : chosen_) state_of[SlotOf(output.value)] = nullptr;
    for (const Step& step : schedule_->steps)
      for (SlotId slot : step.inputs)
        if (auto read = state_of.find(slot); read != state_of.end()) read->second = nullptr;
    auto is_storing = [&](const Step& step) {
      bool reads_a_state = false;
      for (SlotId slot : step.outputs) {
        const Value* state = state_of.lookup(slot);
        if (!state) return false;
        reads_a_state |= llvm::is_contained(step.inputs, SlotOf(state));
      }
      return reads_a_state && CannotFail(step);
    };
    auto first = std::stable_partition(schedule_->steps.begin(), schedule_->steps.end(),
                                       [&](const Step& step) { return !is_storing(step); });
    schedule_->first_storing_step = static_cast<uint32_t>(first - schedule_->steps.begin());
  }

  void AddSingle(unsigned index) {
    const Op* op = calls_[index];
    Step step;
    step.op = std::move(operators_[index]);
    step.calls.push_back(op);
    for (const Value* operand : op->operands()) step.inputs.push_back(SlotOf(operand));
    for (const Value* result : op->results())
      step.outputs.push_back(AddSlot(result, SlotKind::kResult));
    schedule_->steps.push_back(std::move(step));
  }

  /// Whether a value is read outside its group.
  bool IsReadOutside(const Value* value, unsigned group) const {
    if (at_end_.contains(value)) return true;
    return llvm::any_of(value->uses(), [&](const Value::Use& use) {
      auto found = call_index_.find(use.op);
      return found != call_index_.end() && group_of_[found->second] != group;
    });
  }

  void AddFused(unsigned group, llvm::MutableArrayRef<unsigned> members) {
    // The row producer or tiled producer has no operand that the group computes, so it comes first.
    std::stable_partition(members.begin(), members.end(),
                          [&](unsigned member) { return kinds_[member] != CallKind::kTile; });
    Step step;
    std::vector<FusedInstruction> instructions;
    std::vector<std::unique_ptr<OperatorBase>> operators;
    llvm::SmallVector<DType, 8> input_dtypes;
    llvm::DenseMap<const Value*, unsigned> internal, external;
    for (unsigned member : members) {
      const Op* op = calls_[member];
      FusedInstruction instruction;
      if (kinds_[member] == CallKind::kTile) instruction.tile = TileOf(*op, *operators_[member]);
      instruction.dtype = op->result()->type().dtype;
      for (const Value* operand : op->operands()) {
        if (auto found = internal.find(operand); found != internal.end()) {
          instruction.operands.push_back({false, found->second});
          continue;
        }
        auto [entry, is_new] =
            external.try_emplace(operand, static_cast<unsigned>(step.inputs.size()));
        if (is_new) {
          step.inputs.push_back(SlotOf(operand));
          input_dtypes.push_back(operand->type().dtype);
        }
        instruction.operands.push_back({true, entry->second});
      }
      if (IsReadOutside(op->result(), group)) {
        instruction.output = static_cast<int>(step.outputs.size());
        step.outputs.push_back(AddSlot(op->result(), SlotKind::kResult));
      }
      internal[op->result()] = static_cast<unsigned>(instructions.size());
      instructions.push_back(std::move(instruction));
      operators.push_back(std::move(operators_[member]));
      step.calls.push_back(op);
    }
    OperatorArguments arguments;
    arguments.def = &step.calls.back()->def();
    arguments.attributes = step.calls.back()->attribute_values().vec();
    arguments.location = graph_.PathToString(step.calls.front()->location());
    step.op =
        MakeFusedOperator(std::move(instructions), input_dtypes, std::move(operators), arguments);
    schedule_->steps.push_back(std::move(step));
  }

  SlotId SlotOf(const Value* value) const {
    auto found = slot_of_.find(value);
    if (found == slot_of_.end())
      InternalError("'" + value->name() + "' is used before it is computed");
    return found->second;
  }

  void FindLifetimes() {
    for (uint32_t s = 0; s < schedule_->steps.size(); ++s) {
      const Step& step = schedule_->steps[s];
      for (SlotId slot : step.outputs)
        schedule_->slots[slot].first_step = schedule_->slots[slot].last_step = s;
      for (SlotId slot : step.inputs) schedule_->slots[slot].last_step = s;
    }
    for (const GraphOutput& output : chosen_) {
      SlotId slot = SlotOf(output.value);
      schedule_->slots[slot].needed_at_end = true;
      schedule_->outputs.push_back({output.name, slot});
    }
    for (const GraphUpdate& update : updates_) {
      SlotId slot = SlotOf(update.value);
      schedule_->slots[slot].needed_at_end = true;
      Schedule::Update& added = schedule_->updates.emplace_back();
      added = {update.state, slot};
      const Slot& value = schedule_->slots[slot];
      if (value.kind == SlotKind::kResult && value.first_step >= schedule_->first_storing_step)
        added.storing_step = value.first_step;
    }
  }

  void AddChecks() {
    llvm::StringSet<> known;
    for (SlotId input : schedule_->inputs) AddSymbols(*schedule_->slots[input].value, &known);
    for (const Schedule::SizeSource& source : schedule_->size_sources) known.insert(source.symbol);
    for (const std::string& symbol : request_.given) known.insert(symbol);
    for (const GraphConstraint& constraint : graph_.constraints()) {
      // An input that is not needed need not be fed, so its sizes may be unknown.
      bool is_known = true;
      ForEachSymbolOf(constraint.check, [&](llvm::StringRef s) { is_known &= known.contains(s); });
      if (is_known) AddCheck(constraint.check, constraint.location, constraint.check.asked_by);
    }
    for (const Op* op : needed_ops_) {
      for (const DimCheck& check : op->checks()) {
        const llvm::StringRef by = check.asked_by;
        AddCheck(check, op->location(), by.empty() ? WrittenName(op->def()) : by);
      }
    }
  }

  void AddCheck(const DimCheck& check, LocationId location, llvm::StringRef by) {
    std::string where = graph_.PathToString(location);
    // All calls that one call was lowered to require the same.
    const auto key = [&] {
      return where + "|" + by.str() + "|" + check.message + check.left.ToString() + "|" +
             check.right.ToString();
    };
    if (check.asked_by.empty() || asked_.insert(key()).second)
      schedule_->checks.push_back({&check, std::move(where), by.str()});
  }

  const ScheduleRequest& request_;
  const Graph& graph_;
  std::unique_ptr<Schedule> schedule_;
  std::vector<GraphOutput> chosen_;
  std::vector<GraphUpdate> updates_;  // without those that keep the state unchanged
  ValueSet needed_, at_end_, read_;
  ConstantCalls constant_calls_;
  llvm::DenseMap<const Value*, Tensor> parameters_;  // unless the Scope provides them
  std::vector<const Op*> needed_ops_;
  llvm::StringSet<> asked_;  // checks of calls that were lowered
  llvm::DenseMap<const Value*, SlotId> slot_of_;
  std::unordered_map<Dim, uint32_t, DimHash> dim_index_;
  std::vector<const Op*> calls_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;
  std::vector<CallKind> kinds_;
  std::vector<unsigned> group_of_;
  llvm::DenseMap<const Op*, unsigned> call_index_;
};

}  // namespace

llvm::Error CheckSize(const Schedule::Check& check, SymbolLookup lookup) {
  const DimCheck& asked = *check.check;
  auto failed = [&](const std::string& message) {
    return UserErrorAt(check.location, Code::kSizeCheck,
                       check.by.empty() ? message : check.by + ": " + message);
  };
  llvm::Expected<int64_t> left = asked.left.Evaluate(lookup);
  if (!left) return failed(llvm::toString(left.takeError()));
  llvm::Expected<int64_t> right = asked.right.Evaluate(lookup);
  if (!right) return failed(llvm::toString(right.takeError()));
  if (asked.Holds(*left, *right)) return llvm::Error::success();
  return failed(asked.Describe(*left, *right));
}

llvm::Error CheckOutput(const Graph& graph, llvm::StringRef name) {
  if (graph.FindOutput(name)) return llvm::Error::success();
  std::vector<llvm::StringRef> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  const llvm::StringRef near = NearestName(name, names);
  std::string hint;
  if (!near.empty()) {
    hint = "; did you mean '" + near.str() + "'?";
  } else if (!names.empty()) {
    hint = "; it has " + llvm::join(names, ", ");
  }
  return MakeUserError(Code::kUnknownName, "the network has no output '{0}'{1}", name, hint);
}

llvm::Expected<std::unique_ptr<const Schedule>> MakeSchedule(const ScheduleRequest& request) {
  return Scheduler(request).Make();
}

}  // namespace pdl
