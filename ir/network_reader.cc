#include "ir/network_reader.h"

#include <cmath>

#include "ir/names.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/constraints.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

constexpr int kMaxFiles = 4'000'000;  // an imported model has one for each node
/// Exceeds the layer depth of any source. Each message traverses the calls.
constexpr unsigned kMaxCallDepth = 4096;

/// The beginning of an untrusted name, for messages.
std::string Quoted(llvm::StringRef text) {
  std::string quoted;
  llvm::raw_string_ostream os(quoted);
  llvm::printEscapedString(text.take_front(60), os);
  return quoted;
}

/// Equality except for the index bound.
bool SameTensorType(const Type& a, const Type& b) {
  return a.dtype == b.dtype && a.storage == b.storage && a.dims == b.dims;
}

}  // namespace

bool NetworkReader::IsText(llvm::StringRef text) {
  return llvm::all_of(
      text, [](char c) { return c == '\n' || c == '\t' || IsPrintable(llvm::StringRef(&c, 1)); });
}

llvm::Error NetworkReader::ReadComment(const VarDesc& desc, Value* value) {
  if (!IsText(desc.comment()))
    return Broken("variable '{0}': a comment has a control character", desc.name());
  if (!desc.comment().empty()) graph_.SetComment(value, desc.comment());
  return llvm::Error::success();
}

llvm::Error NetworkReader::BrokenText(const std::string& text) const {
  return MakeUserError(Code::kBadNetwork, "{0}: {1}", file_, text);
}

llvm::Error NetworkReader::InContext(const std::string& where, llvm::Error error) const {
  if (!error) return error;
  Code code = Code::kBadNetwork;
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const UserError& e) {
        code = e.code();
        text = e.text();
      },
      [&](const CallError& e) {
        code = e.code();
        text = e.text();
      },
      [&](const llvm::ErrorInfoBase& e) { text = e.message(); });
  return MakeUserError(code, "{0}: {1}: {2}", file_, where, text);
}

llvm::Error NetworkReader::CheckName(const std::string& name) const {
  if (!IsPath(name)) return Broken("'{0}' is not a valid name for a variable", Quoted(name));
  if (graph_.FindValue(name)) return Broken("two variables have the name '{0}'", name);
  return llvm::Error::success();
}

llvm::Expected<LocationId> NetworkReader::ReadLocation(uint32_t row) const {
  if (row == 0) return kUnknownLocation;
  if (row > graph_.locations().size()) return Broken("there is no location {0}", row);
  return row - 1;
}

uint32_t NetworkReader::HomeOf(const Value* value) const {
  if (const Op* producer = value->producer()) return producer->block().index;
  if (input_homes_.empty()) return 0;
  return input_homes_.lookup(value);
}

llvm::Expected<Value*> NetworkReader::FindIn(uint32_t block, const std::string& name) const {
  Value* value = graph_.FindValue(name);
  if (!value) return Broken("there is no variable '{0}'", name);
  if (HomeOf(value) != block) return Broken("variable '{0}' is not in block {1}", name, block);
  return value;
}

llvm::Expected<Graph> NetworkReader::Read() {
  if (llvm::Error error = ReadSymbols()) return error;
  if (llvm::Error error = ReadLocations()) return error;
  if (llvm::Error error = ReadBlocks()) return error;
  if (llvm::Error error = ReadVariables()) return error;
  if (llvm::Error error = CheckInputSymbols()) return error;
  if (llvm::Error error = ReadBlockEnds()) return error;
  if (llvm::Error error = ReadInitializers()) return error;
  if (llvm::Error error = CheckCopies()) return error;
  if (llvm::Error error = ReadConstraints()) return error;
  if (llvm::Error error = ReadOutputs()) return error;
  if (llvm::Error error = ReadUpdates()) return error;
  if (llvm::Error error = CheckOutputNames()) return error;
  if (llvm::Error error = ReadTrainings()) return error;
  return std::move(graph_);
}

llvm::Error NetworkReader::ReadSymbols() {
  values_.RequireKnownSymbols();
  for (const std::string& symbol : desc_.symbols()) {
    // Inference marks the sizes that it creates with characters that identifiers do not have.
    llvm::StringRef name = symbol;
    name.consume_front("~");
    if (!IsIdentifier(name)) return BrokenText("a symbol has an invalid name");
    if (values_.IsKnownSymbol(symbol)) return Broken("two symbols have the name '{0}'", symbol);
    values_.AddSymbol(symbol);
  }
  if (desc_.incomplete())
    for (const VarDesc& variable : desc_.variables())
      if (variable.role() == VarDesc::INPUT)
        for (const DimDesc& dim : variable.type().dims()) AddInputSymbols(dim);
  return llvm::Error::success();
}

void NetworkReader::AddInputSymbols(const DimDesc& dim) {
  if (dim.value_case() == DimDesc::kSymbol && IsIdentifier(dim.symbol()))
    values_.AddSymbol((dim.ragged() ? "~" : "") + dim.symbol());
  for (const DimDesc& operand : dim.call().operands()) AddInputSymbols(operand);
}

llvm::Error NetworkReader::CheckInputSymbols() const {
  const llvm::StringSet<> known = SymbolsOfInputs(graph_);
  for (const std::string& symbol : graph_.Symbols())
    if (!known.contains(symbol)) return Broken("no input determines '{0}'", symbol);
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadLocations() {
  if (desc_.files_size() > kMaxFiles) return Broken("{0} source files", desc_.files_size());
  llvm::StringSet<> seen;
  for (const std::string& name : desc_.files()) {
    if (!IsPrintable(name)) return BrokenText("a file's name has a control character");
    if (!seen.insert(name).second) return Broken("two source files have the name '{0}'", name);
    graph_.AddFile(name);
  }
  std::vector<unsigned> depths;  // the number of calls that led to each location
  depths.reserve(static_cast<size_t>(desc_.locations_size()));
  for (int i = 0; i < desc_.locations_size(); ++i) {
    const LocationDesc& row = desc_.locations(i);
    if (row.file() >= static_cast<uint32_t>(desc_.files_size()))
      return Broken("location {0} is in file {1} of {2}", i + 1, row.file(), desc_.files_size());
    if (row.origin() > static_cast<uint32_t>(i))
      return Broken("location {0} comes from {1}, which is not before it", i + 1, row.origin());
    depths.push_back(row.origin() == 0 ? 0 : depths[row.origin() - 1] + 1);
    if (depths.back() > kMaxCallDepth)
      return Broken("location {0} is in more than {1} calls", i + 1, kMaxCallDepth);
    graph_.AddLocation({row.file(), row.line(), row.column(),
                        row.origin() == 0 ? kUnknownLocation : row.origin() - 1});
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadBlocks() {
  if (desc_.blocks_size() == 0) return BrokenText("there is no block 0");
  if (desc_.blocks(0).inputs_size() + desc_.blocks(0).outputs_size() > 0)
    return BrokenText("block 0 has inputs or outputs of its own");
  values_.set_num_blocks(static_cast<size_t>(desc_.blocks_size()));
  calls_made_.resize(static_cast<size_t>(desc_.blocks_size()), 0);
  for (int i = 1; i < desc_.blocks_size(); ++i) {
    uint32_t block = graph_.AddBlock().index;
    for (const std::string& name : desc_.blocks(i).inputs())
      if (!block_inputs_.try_emplace(name, block).second)
        return Broken("'{0}' is an input of blocks twice", name);
    EnterHead(block);
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadVariables() {
  for (int i = 0; i < desc_.variables_size();) {
    const VarDesc& desc = desc_.variables(i);
    if (desc.role() == VarDesc::RESULT) {
      llvm::Expected<int> count = ReadResults(i);
      if (!count) return count.takeError();
      i += *count;
    } else {
      if (llvm::Error error = ReadVariable(desc)) return error;
      ++i;
    }
  }
  std::vector<std::string> symbols = graph_.Symbols();
  if (desc_.incomplete() && desc_.symbols().empty()) return llvm::Error::success();
  if (!llvm::equal(symbols, desc_.symbols()))
    return Broken("the inputs introduce the symbols [{0}], not [{1}]", llvm::join(symbols, ", "),
                  llvm::join(desc_.symbols(), ", "));
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadVariable(const VarDesc& desc) {
  if (llvm::Error error = CheckName(desc.name())) return error;
  if (desc.role() == VarDesc::INPUT && block_inputs_.contains(desc.name()))
    AddBlockSymbols(desc.type());
  llvm::Expected<Type> type = values_.ReadType(desc.type());
  if (!type) return InContext("variable '" + desc.name() + "'", type.takeError());
  switch (desc.role()) {
    case VarDesc::INPUT:
      return ReadInput(desc, std::move(*type));
    case VarDesc::PARAMETER:
    case VarDesc::STATE:
      return ReadLearned(desc, std::move(*type));
    default:
      return Broken("variable '{0}': there is no role {1}", desc.name(),
                    static_cast<int>(desc.role()));
  }
}

llvm::Error NetworkReader::ReadInput(const VarDesc& desc, Type type) {
  llvm::Expected<LocationId> location = ReadLocation(desc.location());
  if (!location) return location.takeError();
  auto home = block_inputs_.find(desc.name());
  bool is_fed = home == block_inputs_.end();
  Value* value =
      is_fed ? graph_.AddInput(desc.name(), std::move(type), *location)
             : graph_.AddBlockInput({home->second}, desc.name(), std::move(type), *location);
  if (!is_fed) input_homes_[value] = home->second;
  return ReadComment(desc, value);
}

llvm::Error NetworkReader::ReadLearned(const VarDesc& desc, Type type) {
  std::string where = "variable '" + desc.name() + "'";
  llvm::Expected<LocationId> location = ReadLocation(desc.location());
  if (!location) return location.takeError();
  bool is_parameter = desc.role() == VarDesc::PARAMETER;
  if (!type.is_plain())
    return Broken("{0}: a {1} of the type {2}", where, is_parameter ? "parameter" : "state",
                  type.ToString());
  if (is_parameter && !type.has_constant_dims())
    return Broken("{0}: a parameter of the type {1}", where, type.ToString());
  VariableInfo info;
  if (desc.has_weight()) {
    if (llvm::Error error = ReadWeight(desc, type, &info.weight.emplace())) return error;
  }
  info.weight_decay = desc.weight_decay();
  info.l1 = desc.l1();
  info.gradient_clipping = desc.gradient_clipping();
  info.lr_scale = desc.has_lr_scale() ? desc.lr_scale() : 1;
  info.trainable = !desc.frozen();
  // Negated so that NaN fails.
  if (!(info.weight_decay >= 0 && info.weight_decay <= 1))
    return Broken("{0}: weight_decay must be in 0..=1, got {1}", where,
                  FloatToString(info.weight_decay));
  if (!(info.l1 >= 0))
    return Broken("{0}: l1 must be at least 0, got {1}", where, FloatToString(info.l1));
  if (!(info.gradient_clipping >= 0))
    return Broken("{0}: gradient_clipping must be at least 0, got {1}", where,
                  FloatToString(info.gradient_clipping));
  if (!(info.lr_scale >= 0))
    return Broken("{0}: lr_scale must be at least 0, got {1}", where, FloatToString(info.lr_scale));
  Value* value = is_parameter
                     ? graph_.AddParameter(desc.name(), std::move(type), std::move(info), *location)
                     : graph_.AddState(desc.name(), std::move(type), std::move(info), *location);
  const bool is_copy = !desc.copy_of().empty();
  if (desc.initializer() == 0 && !desc.has_weight() && !is_copy)
    return Broken("{0} '{1}' has neither an initializer nor a weight",
                  is_parameter ? "parameter" : "state", desc.name());
  if (is_copy && is_parameter) return Broken("{0}: a parameter is not a copy", where);
  if (is_copy && (desc.initializer() != 0 || desc.has_weight()))
    return Broken("{0}: a copy has no other initial value", where);
  value->variable().copy_of = desc.copy_of();
  if (desc.initializer() != 0) initializers_.push_back({value, desc.initializer() - 1});
  return ReadComment(desc, value);
}

llvm::Error NetworkReader::ReadWeight(const VarDesc& desc, const Type& type, WeightRef* out) {
  const WeightDesc& weight = desc.weight();
  std::string where = "the weight of '" + desc.name() + "'";
  if (weight.file().empty() || weight.tensor().empty())
    return Broken("{0} has no file or no name", where);
  if (!IsPrintable(weight.file()) || !IsPrintable(weight.tensor()))
    return Broken("{0} has a control character in its name", where);
  bool fits = static_cast<int>(weight.dtype()) == static_cast<int>(type.dtype) &&
              weight.sizes_size() == static_cast<int>(type.rank());
  for (unsigned i = 0; fits && i < type.rank(); ++i)
    fits = type.dims[i].is_constant(weight.sizes(static_cast<int>(i)));
  if (!fits) return Broken("{0} has another type than {1}", where, type.ToString());
  if (!weight.sha256().empty() && weight.sha256().size() != 32)
    return Broken("{0} has a SHA-256 of {1} bytes", where, weight.sha256().size());
  out->file = weight.file();
  if (weight.transpose() && type.rank() != 2)
    return Broken("{0} is transposed, but it is {1}", where, type.ToString());
  out->cast = weight.cast();
  out->transpose = weight.transpose();
  out->tensor = weight.tensor();
  out->sha256 = llvm::toHex(weight.sha256(), /*LowerCase=*/true);
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadBlockEnds() {
  for (uint32_t i = 0; i < graph_.num_blocks(); ++i) {
    if (const OpDesc* call = NextCall(i))
      return InCall(*call, MakeUserError(Code::kBadNetwork, "its results are not variables"));
    if (i == 0) continue;
    if (llvm::Error error = ReadBlockEnd(i)) return error;
  }
  return CheckBlockOrder();
}

llvm::Error NetworkReader::ReadBlockEnd(uint32_t block) {
  const BlockDesc& desc = desc_.blocks(static_cast<int>(block));
  llvm::ArrayRef<Value*> inputs = graph_.block({block}).inputs;
  bool same = inputs.size() == static_cast<size_t>(desc.inputs_size());
  for (size_t j = 0; same && j < inputs.size(); ++j)
    same = inputs[j]->name() == desc.inputs(static_cast<int>(j));
  if (!same) return Broken("the inputs of block {0} are not variables, in their order", block);
  std::vector<Value*> outputs;
  for (const std::string& name : desc.outputs()) {
    llvm::Expected<Value*> value = FindIn(block, name);
    if (!value) return value.takeError();
    outputs.push_back(*value);
  }
  graph_.SetBlockOutputs({block}, std::move(outputs));
  return llvm::Error::success();
}

void NetworkReader::AddBlockSymbols(const TypeDesc& desc) {
  for (const DimDesc& dim : desc.dims())
    if (dim.value_case() == DimDesc::kSymbol && !dim.ragged() && IsIdentifier(dim.symbol()))
      values_.AddSymbol(dim.symbol());
}

llvm::Error NetworkReader::CheckBlockOrder() const {
  // Checks blocks whose callers are all checked, one after another; cycles remain.
  std::vector<uint32_t> callers(graph_.num_blocks(), 0);
  std::vector<std::vector<uint32_t>> called(graph_.num_blocks());
  for (auto [caller, callee] : block_uses_) {
    called[caller].push_back(callee);
    ++callers[callee];
  }
  std::vector<uint32_t> checked;
  for (uint32_t i = 0; i < callers.size(); ++i)
    if (callers[i] == 0) checked.push_back(i);
  for (size_t i = 0; i < checked.size(); ++i)
    for (uint32_t callee : called[checked[i]])
      if (--callers[callee] == 0) checked.push_back(callee);
  if (checked.size() == callers.size()) return llvm::Error::success();
  return BrokenText("blocks call each other recursively");
}

llvm::Error NetworkReader::ReadInitializers() {
  for (auto [value, index] : initializers_) {
    if (index == 0 || index >= graph_.num_blocks())
      return Broken("variable '{0}': there is no block {1} to compute it", value->name(), index);
    const Block& block = graph_.block({index});
    if (!block.inputs.empty() || block.outputs.size() != 1 ||
        !SameTensorType(block.outputs[0]->type(), value->type()))
      return Broken("variable '{0}': block {1} does not compute one {2} without inputs",
                    value->name(), index, value->type().ToString());
    value->variable().initializer = BlockId{index};
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::CheckCopies() {
  llvm::DenseSet<const Value*> checked;  // with the values that they are copied from
  for (const Value* state : graph_.states()) {
    llvm::DenseSet<const Value*> chain;
    for (const Value* copy = state; !copy->variable().copy_of.empty() && !checked.contains(copy);) {
      if (!chain.insert(copy).second)
        return Broken("variable '{0}' is a copy of itself", copy->name());
      const std::string& name = copy->variable().copy_of;
      const Value* source = graph_.FindValue(name);
      if (source == nullptr ||
          (source->kind() != ValueKind::kParameter && source->kind() != ValueKind::kState))
        return Broken("variable '{0}': there is no parameter or state '{1}' to copy", copy->name(),
                      name);
      if (!IsCopyable(source->type(), copy->type()))
        return Broken("variable '{0}' is {1}, a copy of '{2}', which is {3}", copy->name(),
                      copy->type().ToString(), name, source->type().ToString());
      copy = source;
    }
    checked.insert(chain.begin(), chain.end());
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadConstraints() {
  ConstraintSet known;
  for (const DimConstraint& desc : desc_.constraints()) {
    GraphConstraint constraint;
    llvm::Expected<Dim> left = values_.ReadDim(desc.left());
    if (!left) return InContext("a constraint", left.takeError());
    llvm::Expected<Dim> right = values_.ReadDim(desc.right());
    if (!right) return InContext("a constraint", right.takeError());
    llvm::Expected<LocationId> location = ReadLocation(desc.location());
    if (!location) return location.takeError();
    if (desc.relation() < DimConstraint::EQUAL || desc.relation() > DimConstraint::NOT_EQUAL)
      return Broken("a constraint has an unknown relation ({0})",
                    static_cast<int>(desc.relation()));
    if (!IsText(desc.message())) return BrokenText("a constraint has a control character");
    constraint.check = {*left, static_cast<DimCheck::Relation>(desc.relation()), *right,
                        desc.message()};
    constraint.location = *location;
    // In source that is a compile-time error.
    if (known.Decide(constraint.check) == Truth::kFalse)
      return Broken("no sizes satisfy the constraint '{0}'", desc.message());
    known.Add(constraint.check);
    graph_.AddConstraint(std::move(constraint));
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadOutputs() {
  llvm::StringSet<> names;
  for (const OutputDesc& desc : desc_.outputs()) {
    if (!IsPath(desc.name()))
      return Broken("'{0}' is not a valid name for an output", Quoted(desc.name()));
    if (!names.insert(desc.name()).second)
      return Broken("two outputs have the name '{0}'", desc.name());
    if (!IsText(desc.comment()))
      return Broken("output '{0}': a comment has a control character", desc.name());
    llvm::Expected<Value*> value = FindIn(0, desc.variable());
    if (!value) return value.takeError();
    graph_.AddOutput(desc.name(), *value, desc.comment());
  }
  return llvm::Error::success();
}

// A run stores values by name: an output with the name of a state or parameter is what that
// variable holds at the end of the run, as in source.
llvm::Error NetworkReader::CheckOutputNames() const {
  for (const GraphOutput& output : graph_.outputs()) {
    const Value* kept = graph_.FindValue(output.name);
    if (kept == nullptr ||
        (kept->kind() != ValueKind::kState && kept->kind() != ValueKind::kParameter))
      continue;
    const Value* last = kept;
    for (const GraphUpdate& update : graph_.updates())
      if (update.state == kept) last = update.value;
    if (output.value != last)
      return Broken("output '{0}' is '{1}', and there is another variable '{0}' that a run reads",
                    output.name, output.value->name());
  }
  return llvm::Error::success();
}

bool NetworkReader::MayUpdate(const Type& state, const Type& value) {
  if (state.dtype != value.dtype || state.storage != value.storage || state.rank() != value.rank())
    return false;
  for (auto [expected, given] : llvm::zip(state.dims, value.dims)) {
    if (expected == given) continue;
    // The source may have left it to a run-time check.
    if (equal_dims_.empty()) {
      for (const GraphConstraint& constraint : graph_.constraints())
        if (constraint.check.relation == DimCheck::Relation::kEqual)
          equal_dims_.insert(constraint.check.left.ToString() +
                             " == " + constraint.check.right.ToString());
    }
    if (!equal_dims_.contains(given.ToString() + " == " + expected.ToString())) return false;
  }
  return true;
}

llvm::Error NetworkReader::ReadUpdates() {
  llvm::DenseMap<Value*, Value*> seen;
  for (const UpdateDesc& desc : desc_.updates()) {
    llvm::Expected<Value*> state = FindIn(0, desc.state());
    if (!state) return state.takeError();
    llvm::Expected<Value*> value = FindIn(0, desc.value());
    if (!value) return value.takeError();
    if ((*state)->kind() != ValueKind::kState)
      return Broken("update of '{0}', which is not a state", desc.state());
    if (!seen.try_emplace(*state, *value).second)
      return Broken("two updates of '{0}'", desc.state());
    if (!MayUpdate((*state)->type(), (*value)->type()))
      return Broken("update of '{0}', a {1}, with '{2}', a {3}", desc.state(),
                    (*state)->type().ToString(), desc.value(), (*value)->type().ToString());
    graph_.AddUpdate(*state, *value);
  }
  return llvm::Error::success();
}

llvm::Error NetworkReader::ReadTrainings() {
  for (const TrainingDesc& desc : desc_.training()) {
    llvm::Expected<Value*> loss = FindIn(0, desc.loss());
    if (!loss) return loss.takeError();
    const Type& type = (*loss)->type();
    if (type.rank() != 0 || !kFloats.Contains(type.dtype))
      return Broken("the loss '{0}' must be a scalar of floats, got {1}", desc.loss(),
                    type.ToString());
    llvm::Expected<LocationId> location = ReadLocation(desc.location());
    if (!location) return location.takeError();
    GraphTraining training{*loss, {}, std::max(desc.every(), 1u), desc.optimizer(), *location};
    llvm::StringSet<> seen;
    for (const std::string& name : desc.parameters()) {
      llvm::Expected<Value*> parameter = FindIn(0, name);
      if (!parameter) return parameter.takeError();
      if ((*parameter)->kind() != ValueKind::kParameter)
        return Broken("training of '{0}', which is not a parameter", name);
      if (!seen.insert(name).second)
        return Broken("training of '{0}' twice in one statement", name);
      training.parameters.push_back(*parameter);
    }
    if (desc.next_values_size() > 0)
      return Broken("training of '{0}' by new values, which this version of pdl does not support",
                    desc.loss());
    if (!IsText(desc.optimizer())) return BrokenText("an optimizer has a control character");
    graph_.AddTraining(std::move(training));
  }
  return llvm::Error::success();
}

}  // namespace pdl
