#include "pdl/compiler/graph.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/file_position.h"
#include "pdl/op/error.h"
#include "pdl/op/operator_arguments.h"

namespace pdl {

Graph::Graph() { blocks_.emplace_back(); }
Graph::Graph(Graph&&) = default;  // NOLINT(performance-noexcept-move-constructor)
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Value* Graph::NewValue() {
  Value* value = new (value_memory_.Allocate()) Value;
  value->number_ = static_cast<uint32_t>(values_.size());
  values_.push_back(value);
  return value;
}

Op* Graph::NewOp() { return new (op_memory_.Allocate()) Op; }

Value* Graph::NewValue(llvm::StringRef name, Type type, ValueKind kind, LocationId location) {
  Value* value = NewValue();
  value->name_ = name.str();
  value->type_ = std::move(type);
  value->kind_ = kind;
  value->location_ = location;
  if (!names_.try_emplace(name, value).second)
    InternalError("two values have the name '" + name.str() + "'");
  return value;
}

void Graph::Use(Op* op, llvm::ArrayRef<Value*> operands) {
  op->operands_.assign(operands.begin(), operands.end());
  op->use_slots_.clear();
  for (unsigned i = 0; i < operands.size(); ++i) {
    op->use_slots_.push_back(static_cast<unsigned>(operands[i]->uses_.size()));
    operands[i]->uses_.push_back({op, i});
  }
}

void Graph::Unuse(Op* op) {
  for (unsigned i = 0; i < op->operands_.size(); ++i) {
    // The last use moves to the index of the removed one.
    auto& uses = op->operands_[i]->uses_;
    unsigned slot = op->use_slots_[i];
    uses[slot] = uses.back();
    uses[slot].op->use_slots_[uses[slot].operand] = slot;
    uses.pop_back();
  }
  op->operands_.clear();
  op->use_slots_.clear();
}

Value* Graph::AddInput(llvm::StringRef name, Type type, LocationId location) {
  Value* value = NewValue(name, std::move(type), ValueKind::kInput, location);
  blocks_[0].inputs.push_back(value);
  auto take = [&](llvm::StringRef symbol) { symbols_.try_emplace(symbol, 2); };
  for (const Dim& dim : value->type_.dims) dim.ForEachSymbol(take);
  if (value->type_.index_bound) value->type_.index_bound->ForEachSymbol(take);
  return value;
}

Value* Graph::AddVariable(llvm::StringRef name, Type type, ValueKind kind, VariableInfo info,
                          LocationId location) {
  Value* value = NewValue(name, std::move(type), kind, location);
  value->variable_ = std::make_unique<VariableInfo>(std::move(info));
  return value;
}

Value* Graph::AddParameter(llvm::StringRef name, Type type, VariableInfo info,
                           LocationId location) {
  return parameters_.emplace_back(
      AddVariable(name, std::move(type), ValueKind::kParameter, std::move(info), location));
}

Value* Graph::AddState(llvm::StringRef name, Type type, VariableInfo info, LocationId location) {
  return states_.emplace_back(
      AddVariable(name, std::move(type), ValueKind::kState, std::move(info), location));
}

// The symbol for a placeholder made by InferenceContext::FreshSymbol; nullopt for other names.
static std::optional<Dim> FreshDim(llvm::StringRef name, llvm::ArrayRef<Dim> fresh) {
  unsigned index;
  name.consume_front("~");
  if (!name.consume_front("?") || name.getAsInteger(10, index)) return std::nullopt;
  return fresh[index];
}

llvm::Expected<std::string> Graph::SymbolToDefine(const InferenceContext& context,
                                                  const CallOptions& options) const {
  const bool defines = context.def().properties().defines_size;
  if (!defines && context.fresh_symbols().empty()) return "";
  if (options.block.index != 0)
    return context.Fail(Code::kUnknownSize,
                        "a size of its result is data-dependent, which is not allowed in loops and "
                        "initializers");
  if (!defines) return "";
  const llvm::StringRef symbol = context.attributes().Dims("dims")[0].symbol();
  if (symbols_.contains(symbol))
    return context.FailAtAttribute("dims", Code::kUnknownSize, "'{0}' is a size already", symbol);
  return symbol.str();
}

void Graph::ForEachDefiner(const Op& op, llvm::function_ref<void(Op*)> visit) const {
  if (data_symbols_.empty()) return;
  auto find = [&](llvm::StringRef symbol) {
    auto found = data_symbols_.find(symbol);
    if (found != data_symbols_.end() && found->second && found->second != &op) visit(found->second);
  };
  auto visit_shape = [&](llvm::ArrayRef<Dim> shape) {
    for (const Dim& dim : shape) dim.ForEachSymbol(find);
  };
  for (const Value* result : op.results_) {
    visit_shape(result->type_.dims);
    if (result->type_.index_bound) visit_shape(*result->type_.index_bound);
  }
  for (const DimCheck& check : op.checks_) visit_shape({check.left, check.right});
  for (const AttributeValue& value : op.attributes_) {
    if (const auto* shape = std::get_if<Shape>(&value)) visit_shape(*shape);
    if (const auto* shapes = std::get_if<std::vector<Shape>>(&value))
      for (const Shape& shape : *shapes) visit_shape(shape);
    if (const auto* block = std::get_if<BlockId>(&value)) {
      for (const Value* input : blocks_[block->index].inputs) visit_shape(input->type_.dims);
      for (const Op* inner : blocks_[block->index].ops) ForEachDefiner(*inner, visit);
    }
  }
}

bool Graph::DependsOnData(const Dim& dim) const {
  bool depends = false;
  if (!data_symbols_.empty())
    dim.ForEachSymbol([&](llvm::StringRef symbol) { depends |= data_symbols_.contains(symbol); });
  return depends;
}

bool Graph::IsCallKnownToPlan(const OpDef& def, llvm::ArrayRef<Value*> operands,
                              llvm::ArrayRef<AttributeValue> attributes) const {
  if (def.properties().random || def.properties().has_side_effect) return false;
  if (!llvm::all_of(operands, IsKnownToPlan)) return false;
  return llvm::none_of(attributes, [&](const AttributeValue& value) {
    auto depends = [&](const Dim& dim) { return DependsOnData(dim); };
    if (const Shape* shape = std::get_if<Shape>(&value)) return llvm::any_of(*shape, depends);
    if (const auto* shapes = std::get_if<std::vector<Shape>>(&value))
      return llvm::any_of(*shapes, [&](const Shape& s) { return llvm::any_of(s, depends); });
    return std::holds_alternative<BlockId>(value);
  });
}

static bool HoldsTensor(const AttributeValue& value) {
  return std::holds_alternative<Constant>(value) ||
         std::holds_alternative<std::vector<Constant>>(value);
}

llvm::Error Graph::CheckByOperator(const InferenceContext& context, llvm::ArrayRef<Value*> operands,
                                   llvm::ArrayRef<std::string> result_names) {
  if (context.def().check_attributes == nullptr) return llvm::Error::success();
  const auto has_dtype = [](DType dtype, const Value* operand) {
    return operand->type().dtype == dtype;
  };
  const auto is_of = [](DType dtype, const Type& type) { return type.dtype == dtype; };
  const llvm::ArrayRef<AttributeValue> attributes = context.attributes().values();
  const auto last = accepted_.find(&context.def());
  if (last != accepted_.end() && llvm::equal(last->second.input_dtypes, operands, has_dtype) &&
      llvm::equal(last->second.output_dtypes, context.outputs(), is_of) &&
      llvm::equal(last->second.attributes, attributes, Identical))
    return llvm::Error::success();
  OperatorArguments call;
  call.def = &context.def();
  call.attributes = attributes.vec();
  for (const Value* operand : operands) {
    call.inputs.push_back(operand->name());
    call.input_dtypes.push_back(operand->type().dtype);
  }
  call.outputs = result_names.vec();
  for (const Type& type : context.outputs()) call.output_dtypes.push_back(type.dtype);
  // A failure of a device is not an error of the call.
  if (llvm::Error error =
          llvm::handleErrors(context.def().check_attributes(call), [](const DeviceError&) {}))
    return error;
  // A tensor attribute would keep its bytes alive.
  if (llvm::none_of(attributes, HoldsTensor)) {
    accepted_[&context.def()] = {std::move(call.attributes), std::move(call.input_dtypes),
                                 std::move(call.output_dtypes)};
  }
  return llvm::Error::success();
}

llvm::Expected<Op*> Graph::AddOp(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                 llvm::ArrayRef<NamedAttribute> attributes,
                                 llvm::ArrayRef<std::string> result_names, CallOptions options) {
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(def.signature, attributes);
  if (!values) return values.takeError();
  return AddOpWithValues(def, operands, std::move(*values), result_names, std::move(options));
}

llvm::Expected<Op*> Graph::AddOpWithValues(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                           std::vector<AttributeValue> attributes,
                                           llvm::ArrayRef<std::string> result_names,
                                           CallOptions options) {
  llvm::SmallVector<const Type*, 4> types;
  for (Value* operand : operands) types.push_back(&operand->type_);
  InferenceContext context(def, types, attributes, operands, this);
  if (llvm::Error error = Infer(context)) return error;
  if (result_names.size() != context.outputs().size())
    InternalError("'" + def.name() + "' needs a name for each of its results");
  if (llvm::Error error = CheckByOperator(context, operands, result_names)) return error;

  llvm::Expected<std::string> defined = SymbolToDefine(context, options);
  if (!defined) return defined.takeError();
  std::vector<Type> results = context.TakeOutputs();
  std::vector<DimCheck> checks = context.TakeChecks();
  llvm::SmallVector<Dim, 2> fresh;
  if (!context.fresh_symbols().empty()) {
    for (const std::string& hint : context.fresh_symbols())
      fresh.push_back(Dim::Symbol(NewSymbol(hint)));
    auto rename = [&](llvm::StringRef name) { return FreshDim(name, fresh); };
    for (Type& type : results) {
      for (Dim& dim : type.dims) dim = dim.Substitute(rename);
      if (type.index_bound) type.index_bound = type.index_bound->Substitute(rename);
    }
    for (DimCheck& check : checks) {
      check.left = check.left.Substitute(rename);
      check.right = check.right.Substitute(rename);
    }
  }

  bool known = !def.properties().defines_size && IsCallKnownToPlan(def, operands, attributes);
  Op* op = NewOp();
  op->def_ = &def;
  op->attributes_ = std::move(attributes);
  op->checks_ = std::move(checks);
  op->layer_path_ = std::move(options.layer_path);
  op->location_ = options.location;
  op->block_ = options.block;
  op->recompute_ = options.recompute;
  Use(op, operands);
  for (const Dim& symbol : fresh) data_symbols_[symbol.symbol()] = op;
  if (!defined->empty()) {
    symbols_.try_emplace(*defined, 2);
    data_symbols_[*defined] = op;
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    Value* value =
        NewValue(result_names[i], std::move(results[i]), ValueKind::kResult, options.location);
    value->producer_ = op;
    value->result_index_ = i;
    value->known_to_plan_ = known && llvm::none_of(value->type_.dims, [&](const Dim& dim) {
                              return DependsOnData(dim);
                            });
    op->results_.push_back(value);
  }
  blocks_[options.block.index].ops.push_back(op);
  return op;
}

BlockId Graph::AddBlock() {
  blocks_.emplace_back();
  return {static_cast<uint32_t>(blocks_.size() - 1)};
}

Value* Graph::AddBlockInput(BlockId block, llvm::StringRef name, Type type, LocationId location) {
  // A size that no input of the network has is local to the block.
  for (const Dim& dim : type.dims)
    dim.ForEachSymbol([&](llvm::StringRef symbol) {
      if (symbols_.try_emplace(symbol, 2).second) data_symbols_[symbol] = nullptr;
    });
  return blocks_[block.index].inputs.emplace_back(
      NewValue(name, std::move(type), ValueKind::kInput, location));
}

llvm::Expected<std::vector<Type>> Graph::BodyTypes(const OpDef& def,
                                                   llvm::ArrayRef<Value*> operands,
                                                   llvm::ArrayRef<AttributeValue> attributes) {
  llvm::SmallVector<const Type*, 4> types;
  for (Value* operand : operands) types.push_back(&operand->type_);
  InferenceContext context(def, types, attributes, operands, this);
  llvm::Expected<std::vector<Type>> given = def.body(context);
  if (!given) return given.takeError();
  llvm::SmallVector<Dim, 1> fresh;
  for (const std::string& hint : context.fresh_symbols()) {
    fresh.push_back(Dim::Symbol(NewSymbol(hint)));
    data_symbols_[fresh.back().symbol()] = nullptr;
  }
  for (Type& type : *given)
    for (Dim& dim : type.dims)
      dim = dim.Substitute([&](llvm::StringRef name) { return FreshDim(name, fresh); });
  return given;
}

void Graph::AddOutput(llvm::StringRef name, Value* value, std::string comment) {
  outputs_.push_back({name.str(), value, std::move(comment)});
}

void Graph::ClearOutputs() {
  outputs_.clear();
  updates_.clear();
  update_of_.clear();
}

void Graph::MakeState(Value* parameter) {
  parameters_.erase(llvm::find(parameters_, parameter));
  states_.push_back(parameter);
  parameter->kind_ = ValueKind::kState;
}

void Graph::AddUpdate(Value* state, Value* value) {
  auto [entry, is_new] = update_of_.try_emplace(state, updates_.size());
  if (is_new) {
    updates_.push_back({state, value});
  } else {
    updates_[entry->second].value = value;
  }
}

std::string Graph::NewName(llvm::StringRef base) {
  if (!names_.contains(base) && !reserved_names_.contains(base)) return base.str();
  unsigned& suffix = next_suffix_.try_emplace(base, 2).first->second;
  for (;; ++suffix) {
    std::string name = (base + "_" + llvm::Twine(suffix)).str();
    if (names_.contains(name) || reserved_names_.contains(name)) continue;
    ++suffix;
    return name;
  }
}

std::string Graph::NewSymbol(llvm::StringRef base) {
  auto [entry, is_new] = symbols_.try_emplace(base, 2);
  if (is_new) return base.str();
  for (unsigned& suffix = entry->second;; ++suffix) {
    std::string symbol = (base + "_" + llvm::Twine(suffix)).str();
    if (symbols_.try_emplace(symbol, 2).second) return symbol;
  }
}

LocationId Graph::AddLocation(Location location) {
  locations_.push_back(location);
  return static_cast<LocationId>(locations_.size() - 1);
}

uint32_t Graph::AddFile(llvm::StringRef name, std::shared_ptr<const std::string> text) {
  if (text) texts_[name] = std::move(text);
  // A source has few files. An imported model has one for each node: many, and all different. So
  // only the first and the last ones are compared.
  constexpr size_t kCompared = 64;
  const size_t last = files_.size() - std::min(files_.size(), kCompared);
  for (size_t i = 0; i < files_.size(); i = i + 1 == kCompared ? std::max(i + 1, last) : i + 1)
    if (files_[i] == name) return static_cast<uint32_t>(i);
  files_.push_back(name.str());
  return static_cast<uint32_t>(files_.size() - 1);
}

std::vector<std::string> Graph::Symbols() const {
  std::vector<std::string> symbols;
  llvm::StringSet<> seen;
  auto add = [&](llvm::StringRef name) {
    if (seen.insert(name).second) symbols.push_back(name.str());
  };
  for (const Value* input : inputs()) {
    for (const Dim& dim : input->type().dims) dim.ForEachSymbol(add);
    if (input->type().index_bound) input->type().index_bound->ForEachSymbol(add);
  }
  return symbols;
}

Value* Graph::FindValue(llvm::StringRef name) const {
  auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

const GraphOutput* Graph::FindOutput(llvm::StringRef name) const {
  for (const GraphOutput& output : outputs_)
    if (output.name == name) return &output;
  return nullptr;
}

std::string Graph::LocationToString(LocationId id) const {
  if (id >= locations_.size()) return "";
  const Location& location = locations_[id];
  return FilePositionToString({files_[location.file], location.line, location.column});
}

std::string Graph::PathToString(LocationId id) const {
  llvm::SmallVector<LocationId, 4> way;  // from the innermost to the outermost
  for (; id < locations_.size(); id = locations_[id].origin) way.push_back(id);
  constexpr size_t kShownAtEachEnd = 2;
  std::string path;
  for (size_t i = 0; i < way.size(); ++i) {
    if (i > 0) path += " > ";
    if (i >= kShownAtEachEnd && i + kShownAtEachEnd < way.size()) {
      path += "...";
      i = way.size() - kShownAtEachEnd - 1;
      continue;
    }
    path += LocationToString(way[way.size() - 1 - i]);
  }
  return path;
}

void Graph::ReplaceAllUses(Value* from, Value* to) {
  if (from != to) ReplaceAllUses({{from, to}});
}

void Graph::ReplaceAllUses(llvm::ArrayRef<std::pair<Value*, Value*>> replacements) {
  llvm::DenseMap<const Value*, Value*> now;
  for (auto [from, to] : replacements) {
    now[from] = to;
    for (const Value::Use& use : from->uses_) {
      use.op->operands_[use.operand] = to;
      use.op->use_slots_[use.operand] = static_cast<unsigned>(to->uses_.size());
      to->uses_.push_back(use);
    }
    from->uses_.clear();
  }
  auto replace = [&](Value*& value) {
    if (auto found = now.find(value); found != now.end()) value = found->second;
  };
  for (GraphOutput& output : outputs_) replace(output.value);
  for (GraphUpdate& update : updates_) replace(update.value);
  for (GraphTraining& training : trainings_) {
    replace(training.loss);
    for (GraphUpdate& update : training.updates) replace(update.value);
  }
  for (Block& block : blocks_) llvm::for_each(block.outputs, replace);
}

void Graph::ForgetDefiners(const llvm::DenseSet<Op*>& erased) {
  llvm::SmallVector<std::string, 2> gone;
  for (const auto& entry : data_symbols_)
    if (entry.second && erased.contains(entry.second)) gone.push_back(entry.first().str());
  for (const std::string& symbol : gone) data_symbols_.erase(symbol);
}

void Graph::CutOff(llvm::function_ref<bool(const Op&)> before) {
  llvm::DenseSet<Op*> erased;
  std::vector<Op*> kept;
  for (Op* op : blocks_[0].ops) {
    if (before(*op)) {
      erased.insert(op);
    } else {
      kept.push_back(op);
    }
  }
  ForgetDefiners(erased);
  for (Op* op : erased) Unuse(op);
  for (Op* op : blocks_[0].ops) {
    if (!erased.contains(op)) continue;
    for (Value* result : op->results_) {
      if (result->uses_.empty()) {
        names_.erase(result->name_);
        continue;
      }
      result->kind_ = ValueKind::kInput;
      result->producer_ = nullptr;
      result->result_index_ = 0;
      result->known_to_plan_ = false;
      blocks_[0].inputs.push_back(result);
    }
    op->results_.clear();
    op->attributes_.clear();
  }
  blocks_[0].ops = std::move(kept);
}

void Graph::SwapNames(Value* a, Value* b) {
  std::swap(a->name_, b->name_);
  names_[a->name_] = a;
  names_[b->name_] = b;
}

void Graph::EraseOps(BlockId block, llvm::function_ref<bool(const Op&)> dead) {
  llvm::DenseSet<Op*> erased;
  std::vector<Op*> kept;
  for (Op* op : blocks_[block.index].ops) {
    if (dead(*op)) {
      erased.insert(op);
    } else {
      kept.push_back(op);
    }
  }
  if (erased.empty()) return;
  ForgetDefiners(erased);
  for (Op* op : erased) Unuse(op);
  for (Op* op : erased) {
    for (Value* result : op->results_) {
      if (!result->uses_.empty()) InternalError("'" + result->name_ + "' is erased but used");
      names_.erase(result->name_);
    }
    op->attributes_.clear();
  }
  blocks_[block.index].ops = std::move(kept);
}

void Graph::SetBlockOutputs(BlockId block, std::vector<Value*> outputs) {
  blocks_[block.index].outputs = std::move(outputs);
}

void Graph::SetBlockInputs(BlockId block, std::vector<Value*> inputs) {
  const llvm::DenseSet<const Value*> kept(inputs.begin(), inputs.end());
  for (const Value* input : blocks_[block.index].inputs)
    if (!kept.contains(input)) names_.erase(input->name_);
  blocks_[block.index].inputs = std::move(inputs);
}

void Graph::SetBlockOps(BlockId block, std::vector<Op*> ops) {
  blocks_[block.index].ops = std::move(ops);
}

void Graph::RewriteOp(Op* op, const OpDef& def, llvm::ArrayRef<Value*> operands,
                      std::vector<AttributeValue> attributes) {
  llvm::SmallVector<const Type*, 4> types;
  for (Value* operand : operands) types.push_back(&operand->type_);
  InferenceContext context(def, types, attributes, operands, this);
  if (llvm::Error error = Infer(context))
    InternalError("a rewrite of '" + op->type() + "': " + llvm::toString(std::move(error)));
  if (context.outputs().size() != op->results_.size())
    InternalError("a rewrite of '" + op->type() + "' has another number of results");
  for (size_t i = 0; i < op->results_.size(); ++i)
    if (context.outputs()[i] != op->results_[i]->type_)
      InternalError("a rewrite of '" + op->type() + "' changes the type of '" +
                    op->results_[i]->name_ + "'");
  Unuse(op);
  op->def_ = &def;
  op->attributes_ = std::move(attributes);
  const std::vector<DimCheck> before = std::exchange(op->checks_, context.TakeChecks());
  Use(op, operands);
  AddChecks(op, before);
}

void Graph::AddChecks(Op* op, llvm::ArrayRef<DimCheck> checks) {
  std::vector<DimCheck> all;
  for (const DimCheck& check : checks) {
    const auto is_same = [&](const DimCheck& known) {
      return known.left == check.left && known.right == check.right &&
             known.relation == check.relation && known.asked_by == check.asked_by;
    };
    if (!check.asked_by.empty() && llvm::none_of(op->checks_, is_same)) all.push_back(check);
  }
  if (all.empty()) return;
  all.insert(all.end(), op->checks_.begin(), op->checks_.end());
  op->checks_ = std::move(all);
}

}  // namespace pdl
