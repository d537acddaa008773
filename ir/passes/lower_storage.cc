#include "ir/passes/lower_storage.h"
#include "ir/located_error.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/differentiate.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"
#include "pdl/op/symbols.h"

namespace pdl {
namespace {

bool TakesRagged(const AttributeValue& value) {
  const auto* shape = std::get_if<Shape>(&value);
  return shape && llvm::any_of(*shape, [](const Dim& dim) { return dim.is_ragged(); });
}

/// Whether the lowering rule replaces every call, because there is no kernel.
bool HasNoKernel(const OpDef& def) {
  return def.lower && llvm::all_of(def.kernels, [](KernelCreator kernel) { return !kernel; });
}

bool IsPlain(const Op& op) {
  auto is_plain = [](const Value* value) { return value->type().is_plain(); };
  return llvm::all_of(op.operands(), is_plain) && llvm::all_of(op.results(), is_plain) &&
         llvm::none_of(op.attribute_values(), TakesRagged);
}

/// Maps an axis of a type with `levels` ragged dims to an axis of its packed values, in which the
/// ragged dims and the first dim are one dim.
int64_t PackedAxis(int64_t axis, unsigned rank, unsigned levels) {
  if (axis < 0) axis += rank;
  return std::max<int64_t>(axis - levels, 0);
}

CallOptions OptionsOf(const Op& op) {
  CallOptions options;
  options.location = op.location();
  options.block = op.block();
  options.layer_path = op.layer_path();
  options.recompute = op.recompute();
  return options;
}

llvm::Error Unexpected(const Op& op, llvm::Error error) {
  return llvm::createStringError("lowering of '" + op.type() +
                                 "': " + llvm::toString(std::move(error)));
}

}  // namespace

bool IsAlwaysLowered(const OpDef& def) { return IsGradient(def) || HasNoKernel(def); }

bool IsDifferentiable(const OpDef& def) {
  if (def.gradient != nullptr) return true;
  return IsAlwaysLowered(def) && llvm::any_of(def.signature.inputs, [](const InputDecl& input) {
           return input.differentiable;
         });
}

bool NeedsLowering(const Graph& graph) {
  auto needs = [](const Op* op) { return !IsPlain(*op) || HasNoKernel(op->def()); };
  for (uint32_t i = 0; i < graph.num_blocks(); ++i)
    if (llvm::any_of(graph.block({i}).ops, needs)) return true;
  return llvm::any_of(graph.inputs(), [](const Value* v) { return !v->type().is_plain(); });
}

llvm::Expected<Graph> LowerStorage(const Graph& graph, const OpRegistry& registry) {
  return StorageLowering(graph, registry).Run();
}

llvm::Expected<Graph> StorageLowering::Run() {
  for (const std::string& file : graph_.files()) out_.AddFile(file, graph_.TextOf(file));
  for (const Location& location : graph_.locations()) out_.AddLocation(location);
  if (llvm::Error error = CopySources()) return error;
  for (uint32_t i = 1; i < graph_.num_blocks(); ++i) out_.AddBlock();
  for (const Op* op : graph_.ops()) {
    if (llvm::Error error = CopyBlocksOf(*op)) return error;
    if (llvm::Error error = Lower(*op)) return error;
  }
  // Blocks that no call refers to any more.
  for (uint32_t i = 1; i < graph_.num_blocks(); ++i)
    if (llvm::Error error = CopyBlock({i})) return error;
  AddOutputs();
  return std::move(out_);
}

llvm::Error StorageLowering::CopySources() {
  // Intermediate values must not take names of existing values.
  for (const Value* input : graph_.inputs()) {
    for (const PartType& part : PartsOf(input->name(), input->type()))
      out_.ReserveName(PartName(input->name(), part.part));
  }
  for (uint32_t i = 0; i < graph_.num_blocks(); ++i) {
    const Block& block = graph_.block({i});
    if (i != 0)
      for (const Value* input : block.inputs) out_.ReserveName(input->name());
    for (const Op* op : block.ops)
      for (const Value* result : op->results()) out_.ReserveName(result->name());
  }
  for (const Value* input : graph_.inputs())
    if (llvm::Error error = AddInput(*input)) return error;
  for (const Value* input : out_.inputs())
    for (const Dim& dim : input->type().dims)
      dim.ForEachSymbol([&](llvm::StringRef symbol) { known_symbols_.insert(symbol); });
  auto keep = [&](const Value* from, Value* to) {
    out_.SetComment(to, from->comment());
    values_[from] = {from->type(), to, {}, nullptr};
  };
  for (const Value* value : graph_.parameters())
    keep(value,
         out_.AddParameter(value->name(), value->type(), value->variable(), value->location()));
  for (const Value* value : graph_.states())
    keep(value, out_.AddState(value->name(), value->type(), value->variable(), value->location()));
  for (const GraphConstraint& constraint : graph_.constraints()) out_.AddConstraint(constraint);
  return llvm::Error::success();
}

llvm::Error StorageLowering::AddInput(const Value& input) {
  LoweredValue lowered;
  lowered.type = input.type();
  for (const PartType& part : PartsOf(input.name(), input.type())) {
    Value* value = out_.AddInput(PartName(input.name(), part.part), part.type, input.location());
    out_.SetComment(value, input.comment());
    switch (part.part) {
      case Part::kValues:
        lowered.values = value;
        break;
      case Part::kIndices:
        lowered.indices = value;
        break;
      case Part::kOffsets:
      case Part::kInnerOffsets:
      case Part::kInnermostOffsets:
        lowered.offsets.push_back(value);
        break;
    }
  }
  for (unsigned level = 0; level < input.type().ragged_levels(); ++level)
    if (llvm::Error error = AddRows(input, level, lowered.offsets[level])) return error;
  values_[&input] = std::move(lowered);
  return llvm::Error::success();
}

llvm::Error StorageLowering::AddRows(const Value& input, unsigned level, Value* offsets) {
  const Shape& dims = input.type().dims;
  const Dim& ragged = dims[level + 1];
  const Dim outer = level == 0 ? dims[0] : TotalOf(dims[level]);
  auto [entry, is_new] = rows_.try_emplace(ragged.symbol());
  if (is_new) {
    entry->second = {offsets, outer, TotalOf(ragged)};
    return llvm::Error::success();
  }
  // The lengths are equal, which the run checks, so the numbers of rows are, too.
  const Dim& known = entry->second.outer;
  if (known == outer) return llvm::Error::success();
  auto is_total = [](const Dim& dim) { return dim.symbol().starts_with("sum("); };
  if (is_total(known) != is_total(outer)) {
    return UserErrorAt(
        graph_, input.location(), Code::kStorage,
        llvm::formatv("input '{0}' is {1}, but the lengths {2} of another input belong to rows at "
                      "another level",
                      input.name(), input.type().ToString(), ragged.ToString()));
  }
  GraphConstraint equal;
  equal.check.left = outer;
  equal.check.right = known;
  equal.check.message = "inputs with the lengths " + ragged.ToString() + " have equally many rows";
  equal.location = input.location();
  out_.AddConstraint(std::move(equal));
  return llvm::Error::success();
}

/// Inference of a call requires the blocks that it refers to. They are copied after the calls
/// before it, which define the data-dependent sizes of the values that it captures.
llvm::Error StorageLowering::CopyBlocksOf(const Op& op) {
  for (const AttributeValue& value : op.attribute_values())
    if (const auto* block = std::get_if<BlockId>(&value))
      if (llvm::Error error = CopyBlock(*block)) return error;
  return llvm::Error::success();
}

llvm::Error StorageLowering::CopyBlock(BlockId id) {
  if (!copied_.insert(id.index).second) return llvm::Error::success();
  const Block& block = graph_.block(id);
  for (const Value* input : block.inputs)
    values_[input] = {input->type(),
                      out_.AddBlockInput(id, input->name(), input->type(), input->location()),
                      {},
                      nullptr};
  for (const Op* op : block.ops) {
    if (llvm::Error error = CopyBlocksOf(*op)) return error;
    if (llvm::Error error = Lower(*op)) return error;
  }
  std::vector<Value*> outputs;
  for (const Value* output : block.outputs) outputs.push_back(lowered(output).values);
  out_.SetBlockOutputs(id, std::move(outputs));
  return llvm::Error::success();
}

std::vector<std::string> StorageLowering::NamesOf(const Op& op) const {
  std::vector<std::string> names;
  for (const Value* result : op.results()) names.push_back(result->name());
  return names;
}

llvm::Expected<Op*> StorageLowering::Emit(const OpDef& def, llvm::ArrayRef<Value*> operands,
                                          std::vector<AttributeValue> attributes,
                                          llvm::ArrayRef<std::string> names, const Op& at) {
  llvm::Expected<Op*> made =
      out_.AddOpWithValues(def, operands, std::move(attributes), names, OptionsOf(at));
  if (!made) return Unexpected(at, made.takeError());
  return made;
}

llvm::Expected<Op*> StorageLowering::Call(const Op& at, llvm::StringRef name,
                                          llvm::ArrayRef<Value*> operands,
                                          llvm::ArrayRef<NamedAttribute> attributes) {
  const OpDef* def = registry_.Find(name);
  if (!def) return llvm::createStringError("no operator is called '" + name.str() + "'");
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(def->signature, attributes);
  if (!values) return Unexpected(at, values.takeError());
  llvm::SmallVector<std::string, 1> names;
  for (size_t i = 0; i < def->signature.NumResults(*values); ++i)
    names.push_back(out_.NewName(at.result()->name()));
  return Emit(*def, operands, std::move(*values), names, at);
}

llvm::Error StorageLowering::CopyOp(const Op& op) {
  llvm::SmallVector<Value*, 4> operands;
  for (const Value* operand : op.operands()) operands.push_back(lowered(operand).values);
  llvm::Expected<std::vector<AttributeValue>> attributes = PackedAttributes(op);
  if (!attributes) return attributes.takeError();
  llvm::Expected<Op*> copy = Emit(op.def(), operands, std::move(*attributes), NamesOf(op), op);
  if (!copy) return copy.takeError();
  for (auto [from, to] : llvm::zip_equal(op.results(), (*copy)->results())) {
    // A data-dependent size may have been renamed.
    for (auto [old, now] : llvm::zip_equal(from->type().dims, to->type().dims))
      if (old != now && !old.symbol().empty()) renamed_.try_emplace(old.symbol(), now);
    out_.SetComment(to, from->comment());
    values_[from] = {from->type(), to, {}, nullptr};
  }
  return llvm::Error::success();
}

llvm::Error StorageLowering::Lower(const Op& op) {
  if (IsPlain(op) && !HasNoKernel(op.def())) return CopyOp(op);
  const size_t first = out_.block(op.block()).ops.size();
  if (llvm::Error error = LowerOp(op)) return error;
  KeepChecks(op, first);
  return llvm::Error::success();
}

void StorageLowering::KeepChecks(const Op& op, size_t first) {
  // A data-dependent size may not be known to all of the calls that replace it.
  auto reads_size = [&](llvm::StringRef symbol) {
    return llvm::any_of(op.operands(),
                        [&](const Value* operand) { return HasSymbol(operand->type(), symbol); });
  };
  std::vector<DimCheck> kept;
  for (DimCheck check : op.checks()) {
    bool is_known = true;
    for (Dim* side : {&check.left, &check.right}) {
      *side = Substitute(*side, renamed_);
      side->ForEachSymbol([&](llvm::StringRef symbol) {
        is_known &=
            known_symbols_.contains(symbol) || (out_.IsDataSymbol(symbol) && reads_size(symbol));
      });
    }
    // Nothing may provide the columns of a sparse matrix.
    if (!is_known) continue;
    check.asked_by = op.type();
    kept.push_back(std::move(check));
  }
  if (kept.empty()) return;
  const llvm::ArrayRef<Op*> made =
      llvm::ArrayRef<Op*>(out_.block(op.block()).ops).drop_front(first);
  for (Op* call : made) out_.AddChecks(call, kept);
  if (!made.empty()) return;
  for (DimCheck& check : kept) out_.AddConstraint({std::move(check), op.location()});
}

llvm::Error StorageLowering::LowerOp(const Op& op) {
  LoweringContext context(*this, op);
  if (op.def().properties().is_plan_select) return LowerSelect(op);
  if (llvm::Error error = op.def().lower ? op.def().lower(context) : context.LowerPacked())
    return error;
  for (const Value* result : op.results())
    if (values_.count(result) == 0)
      InternalError("the lowering of '" + op.type() + "' sets no '" + result->name() + "'");
  return llvm::Error::success();
}

llvm::Error StorageLowering::LowerSelect(const Op& op) {
  Value* condition = lowered(op.operands()[0]).values;
  const LoweredValue& then = lowered(op.operands()[1]);
  const LoweredValue& otherwise = lowered(op.operands()[2]);
  llvm::Error error = llvm::Error::success();
  auto select = [&](Value* a, Value* b) -> Value* {
    if (error || a == b) return a;
    llvm::Expected<Op*> call = Call(op, op.type(), {condition, a, b}, {});
    if (call) return (*call)->result();
    error = call.takeError();
    return nullptr;
  };
  LoweredValue result = then;
  result.type = op.result()->type();
  result.values = select(then.values, otherwise.values);
  // Equal ragged dims imply equal lengths; sparse rows may differ.
  if (result.type.is_sparse()) {
    result.offsets.back() = select(then.offsets.back(), otherwise.offsets.back());
    result.indices = select(then.indices, otherwise.indices);
  }
  values_[op.result()] = std::move(result);
  return error;
}

Shape StorageLowering::PackedDimsOf(const Shape& dims) const {
  Shape packed = PackedDims(dims);
  if (packed.size() == dims.size()) return packed;
  auto found = rows_.find(dims[dims.size() - packed.size()].symbol());
  if (found != rows_.end()) packed[0] = found->second.total;
  return packed;
}

void StorageLowering::SetResult(const Op& op, unsigned index, Value* values) {
  const Value* result = op.result(index);
  LoweredValue lowered;
  lowered.type = result->type();
  lowered.values = values;
  const Shape& dims = lowered.type.dims;
  for (size_t axis = 1; axis < dims.size() && dims[axis].is_ragged(); ++axis)
    lowered.offsets.push_back(OffsetsOf(dims[axis]));
  out_.SetComment(values, result->comment());
  values_[result] = std::move(lowered);
}

void StorageLowering::SetOffsets(const Op& op, const Dim& ragged, Value* offsets,
                                 const Dim& total) {
  rows_[ragged.symbol()] = {offsets, offsets->type().dims[0] - 1, total};
  for (const Value* result : op.results()) {
    auto found = values_.find(result);
    if (found == values_.end()) continue;
    const Shape& dims = result->type().dims;
    for (size_t level = 0; level < found->second.offsets.size(); ++level)
      if (dims[level + 1] == ragged) found->second.offsets[level] = offsets;
  }
}

llvm::Expected<std::vector<AttributeValue>> StorageLowering::PackedAttributes(const Op& op) {
  std::vector<AttributeValue> values = op.attribute_values().vec();
  const Type* first = op.operands().empty() ? nullptr : &op.operands()[0]->type();
  const unsigned levels = first ? first->ragged_levels() : 0;
  for (auto [decl, value] : llvm::zip_equal(op.def().signature.attributes, values)) {
    if (auto* shape = std::get_if<Shape>(&value)) {
      if (TakesRagged(value)) {
        // The number of rows is that of the lengths.
        const auto found = rows_.find((*shape)[1].symbol());
        if (found != rows_.end() && (*shape)[0] != found->second.outer) {
          GraphConstraint equal;
          equal.check.left = (*shape)[0];
          equal.check.right = found->second.outer;
          equal.check.message = "the number of lengths differs from the number of rows";
          equal.location = op.location();
          out_.AddConstraint(std::move(equal));
        }
        *shape = PackedDimsOf(*shape);
      }
    }
    Substitute(&value, renamed_);
    if (!decl.is_axis || levels == 0) continue;
    if (auto* axis = std::get_if<int64_t>(&value)) {
      *axis = PackedAxis(*axis, first->rank(), levels);
    } else if (auto* axes = std::get_if<std::vector<int64_t>>(&value)) {
      std::vector<int64_t> packed;
      for (const int64_t given : *axes) {
        const int64_t now = PackedAxis(given, first->rank(), levels);
        if (!llvm::is_contained(packed, now)) packed.push_back(now);
      }
      *axes = std::move(packed);
    }
  }
  return values;
}

llvm::Expected<Value*> StorageLowering::AlignRows(const Op& op, unsigned operand, const Type& to) {
  const LoweredValue& from = lowered(op.operands()[operand]);
  const unsigned to_levels = to.ragged_levels();
  const unsigned levels = from.type.ragged_levels();
  const unsigned rank = from.type.rank();
  // If it only has dims after the ragged ones, it is broadcast to every row.
  if (levels == to_levels || rank + to_levels < to.rank()) return from.values;
  // Dims of size 1 correspond to the ragged dims that it lacks: [rows, 1, D] becomes [rows, D].
  LoweringContext context(*const_cast<StorageLowering*>(this), op);
  Shape dims = PackedDimsOf(from.type.dims);
  const size_t ones = std::min<size_t>(to_levels - levels, rank + to_levels - to.rank());
  const bool has_rows = rank == to.rank() && (levels > 0 || !from.type.dims[0].is_constant(1));
  if (!has_rows) {
    // All leading dims are of size 1.
    dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(ones));
    Value* same = context.Call("reshape", {from.values}, {{"dims", dims}});
    if (llvm::Error error = context.TakeError()) return error;
    return same;
  }
  dims.erase(dims.begin() + 1, dims.begin() + 1 + static_cast<std::ptrdiff_t>(ones));
  Value* rows = context.Call("reshape", {from.values}, {{"dims", dims}});
  Value* row_of = context.RowOf(to, to_levels, to_levels - levels);
  Value* repeated = context.Call("gather", {rows, row_of});
  if (llvm::Error error = context.TakeError()) return error;
  return repeated;
}

llvm::Expected<Op*> StorageLowering::CallPacked(const Op& op) {
  llvm::SmallVector<Value*, 4> operands;
  for (unsigned i = 0; i < op.operands().size(); ++i) {
    const LoweredValue& operand = lowered(op.operands()[i]);
    if (operand.type.is_sparse())
      InternalError("'" + op.type() + "' takes sparse operands and has no lowering");
    Value* values = operand.values;
    if (op.def().properties().elementwise) {
      llvm::Expected<Value*> aligned = AlignRows(op, i, op.result()->type());
      if (!aligned) return aligned.takeError();
      values = *aligned;
    }
    operands.push_back(values);
  }
  llvm::Expected<std::vector<AttributeValue>> attributes = PackedAttributes(op);
  if (!attributes) return attributes.takeError();
  return Emit(op.def(), operands, std::move(*attributes), NamesOf(op), op);
}

void StorageLowering::AddOutputs() {
  for (const GraphOutput& output : graph_.outputs()) {
    const LoweredValue& value = lowered(output.value);
    auto add = [&](Part part, Value* dense) {
      out_.AddOutput(PartName(output.name, part), dense, output.comment);
    };
    if (value.values) add(Part::kValues, value.values);
    for (unsigned level = 0; level < value.offsets.size(); ++level)
      add(OffsetsPart(level), value.offsets[level]);
    if (value.indices) add(Part::kIndices, value.indices);
  }
  for (const GraphUpdate& update : graph_.updates())
    out_.AddUpdate(lowered(update.state).values, lowered(update.value).values);
}

// --- LoweringContext ----------------------------------------------------------------------------

const LoweredValue& LoweringContext::input(unsigned index) const {
  return lowering_->lowered(op_->operands()[index]);
}

Value* LoweringContext::Call(llvm::StringRef name, llvm::ArrayRef<Value*> operands,
                             llvm::ArrayRef<NamedAttribute> attributes) {
  if (!error_.empty() || llvm::is_contained(operands, nullptr)) return nullptr;
  llvm::Expected<Op*> call = lowering_->Call(*op_, name, operands, attributes);
  if (call) return (*call)->result();
  error_ = llvm::toString(call.takeError());
  return nullptr;
}

void LoweringContext::Fail(Code code, const llvm::Twine& message) {
  if (!error_.empty()) return;
  code_ = code;
  error_ = (op_->type() + ": " + message).str();
}

void LoweringContext::SetOutput(unsigned index, Value* values) {
  if (!values) return;
  const Shape& declared = result_type(index).dims;
  const Shape dims = lowering_->PackedDimsOf(declared);
  // SetOffsets checks the number of rows.
  const bool fits =
      values->type().dims.size() == dims.size() &&
      llvm::equal(
          llvm::ArrayRef<Dim>(dims).drop_front(declared.size() > dims.size()),
          llvm::ArrayRef<Dim>(values->type().dims).drop_front(declared.size() > dims.size()));
  if (!fits) values = Call("reshape", {values}, {{"dims", dims}});
  if (values) lowering_->SetResult(*op_, index, values);
}

void LoweringContext::SetOffsets(const Dim& ragged, Value* offsets, const Dim& total) {
  if (offsets) lowering_->SetOffsets(*op_, ragged, offsets, total);
}

void LoweringContext::DefineSize(const Dim& symbol, Value* count) {
  Call("data_size", {count}, {{"dims", Shape{symbol}}});
}

Value* LoweringContext::OffsetsOf(const Dim& ragged) const { return lowering_->OffsetsOf(ragged); }

Value* LoweringContext::RowOf(const Type& type, unsigned levels, unsigned up) {
  Value* rows = nullptr;
  for (unsigned level = levels; level > levels - up; --level) {
    const Shape prefix(type.dims.begin(), type.dims.begin() + level + 1);
    const Shape total = lowering_->PackedDimsOf(prefix);
    Value* ids = Call("segment_ids", {OffsetsOf(type.dims[level])}, {{"dims", total}});
    rows = rows ? Call("gather", {ids, rows}) : ids;
  }
  return rows;
}

llvm::Error LoweringContext::LowerPacked() {
  llvm::Expected<Op*> call = lowering_->CallPacked(*op_);
  if (!call) return call.takeError();
  for (unsigned i = 0; i < (*call)->results().size(); ++i) SetOutput(i, (*call)->result(i));
  return TakeError();
}

llvm::Error LoweringContext::TakeError() {
  if (error_.empty()) return llvm::Error::success();
  const std::string message = std::exchange(error_, "");
  if (code_) return UserErrorAt(lowering_->PlaceOf(*op_), *code_, message);
  return llvm::createStringError(message);
}

}  // namespace pdl
