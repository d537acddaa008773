// Bodies of loops: functions that are elaborated into a Block of their own, once, whatever the loop
// does. What they use from outside is given to the Block with the call.
#include "frontend/elaborator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "pdl/attribute_reader.h"

namespace pdl {

namespace {

/// Scalars made of scalars that are copied into a body rather than given to it.
constexpr unsigned kMaxCopiedDepth = 64;

}  // namespace

uint32_t Elaborator::HomeOf(const Value* value) const {
  if (const Op* producer = value->producer()) return producer->block().index;
  const auto found = homes_.find(value);
  return found == homes_.end() ? 0 : found->second;
}

Value* Elaborator::InBody(Value* value) {
  if (value == nullptr || body_ == nullptr || HomeOf(value) == body_->block.index) return value;
  if (auto found = body_->inside.find(value); found != body_->inside.end()) return found->second;
  // What an `if` decides by must be known to the Plan inside, too.
  static thread_local unsigned depth = 0;
  const Op* producer = value->producer();
  if (producer != nullptr && IsKnownToPlan(value) && value->type().is_scalar() &&
      depth < kMaxCopiedDepth) {
    ++depth;
    auto leave = llvm::make_scope_exit([&] { --depth; });
    llvm::SmallVector<Value*, 2> operands;
    for (Value* operand : producer->operands()) operands.push_back(InBody(operand));
    llvm::SmallVector<std::string, 1> names;
    for (const Value* result : producer->results()) names.push_back(graph_.NewName(result->name()));
    CallOptions options;
    options.location = producer->location();
    options.block = body_->block;
    options.layer_path = producer->layer_path();
    llvm::Expected<Op*> copy = graph_.AddOpWithValues(
        producer->def(), operands, producer->attribute_values().vec(), names, std::move(options));
    if (copy) {
      for (size_t i = 0; i < names.size(); ++i)
        body_->inside[producer->results()[i]] = (*copy)->results()[i];
      return body_->inside[value];
    }
    llvm::consumeError(copy.takeError());
  }
  Value* outside = value;
  if (body_->outer != nullptr) {
    OpenBody* const here = std::exchange(body_, body_->outer);
    outside = InBody(value);
    body_ = here;
  }
  Value* input = graph_.AddBlockInput(body_->block, graph_.NewName(value->name()), value->type(),
                                      value->location());
  homes_[input] = body_->block.index;
  body_->inside[value] = input;
  body_->captured.push_back(outside);
  return input;
}

void Elaborator::BindBody(const AttributeDecl& decl, const ast::Argument& argument, Call* call) {
  const Datum datum = ReadFunction(argument.value);
  const auto* function = datum.get<Datum::FunctionValue>();
  if (function == nullptr) {
    if (!datum.is_poison())
      Error(Code::kAttributeType, argument.value->range,
            "attribute '" + decl.name + "' of '" + call->def->name() +
                "' must be a function such as cell(size=64), got " + datum.Phrase());
    call->is_poison = true;
    return;
  }
  call->body = *function;
  call->body_place = {argument.name.range, argument.value->range, argument.value, {}};
}

void Elaborator::BindCounted(llvm::ArrayRef<const ast::Argument*> named_inputs, Call* call) {
  const OpSignature& signature = call->def->signature;
  call->counts.assign(signature.inputs.size(), 0);
  call->counts[0] = call->operands.size();
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const InputDecl& input = signature.inputs[i];
    const ast::Argument* argument = named_inputs[i];
    if (argument == nullptr) continue;
    if (i == 0 && call->counts[0] > 0) {
      Error(Code::kOperandCount, argument->name.range,
            "input '" + argument->name.text + "' is given twice: by position and by name");
      call->is_poison = true;
      continue;
    }
    const Datum datum = Evaluate(argument->value);
    if (datum.holds_poison()) {
      call->is_poison = true;
      continue;
    }
    if (!input.repeatable && datum.is<Datum::None>() && input.optional) continue;
    const auto* items = datum.list();
    const auto* list = llvm::dyn_cast<ast::ListExpr>(argument->value);
    const bool is_list =
        input.repeatable && items != nullptr && (items->empty() || datum.holds_tensor());
    if (!is_list) {
      call->operands.push_back({datum, argument->value->range});
      ++call->counts[i];
      continue;
    }
    for (size_t j = 0; j < items->size(); ++j) {
      const bool has_place = list != nullptr && list->items.size() == items->size();
      call->operands.push_back(
          {(*items)[j], has_place ? list->items[j].value->range : argument->value->range});
      ++call->counts[i];
    }
  }
}

Elaborator::Results Elaborator::ApplyTo(const FunctionPtr& function,
                                        llvm::ArrayRef<Operand> operands, SourceRange place,
                                        llvm::StringRef way) {
  if (function->callee.op != nullptr) {
    Call call = function->call;
    call.place = place;
    call.operands.assign(operands.begin(), operands.end());
    return ResultsOf(Emit(call, {}));
  }
  LayerArguments arguments = function->arguments;
  arguments.place = place;
  arguments.operands.assign(operands.begin(), operands.end());
  const bool has_way = !function->path.empty();
  return CallLayer(function->callee, arguments, has_way ? llvm::StringRef(function->path) : way,
                   has_way || frame_->is_instance, function->active, {});
}

bool Elaborator::FillBody(const Call& call, llvm::ArrayRef<Type> types, llvm::StringRef way,
                          BlockId block) {
  const Function& function = *call.body;
  std::vector<llvm::StringRef> names;
  if (function.callee.layer != nullptr) {
    for (const ast::Parameter& parameter : function.callee.layer->parameters)
      if (parameter.type->is_tensor()) names.push_back(parameter.name.text);
  }
  llvm::SmallVector<Operand, 4> operands;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string base = (way + "." + (i < names.size() ? names[i] : "given")).str();
    Value* input = graph_.AddBlockInput(block, graph_.NewName(base), types[i],
                                        LocationAt(call.operands[i].range.begin));
    homes_[input] = block.index;
    operands.push_back({Datum(input), call.operands[i].range});
  }
  const bool is_identity = function.callee.op == nullptr && !function.callee.is_network();
  std::vector<Value*> outputs;
  if (is_identity) {
    for (const Operand& operand : operands) outputs.push_back(operand.datum.tensor());
  } else {
    const std::string base = std::exchange(frame_->base, way.str());
    const Results results = ApplyTo(call.body, operands, call.body_place.value, way);
    frame_->base = base;
    if (results.is_poison()) return false;
    for (const TextFrame::Result& result : results.all) {
      const Datum datum = Use(result, call.body_place.value);
      if (datum.is_poison()) return false;
      Value* value = AsTensor(datum, call.body_place.value, std::nullopt, {});
      if (value == nullptr) return false;
      outputs.push_back(InBody(value));
    }
  }
  graph_.SetBlockOutputs(block, std::move(outputs));
  return true;
}

bool Elaborator::ElaborateBody(Call& call, llvm::SmallVectorImpl<Value*>& operands,
                               Targets targets) {
  const OpSignature& signature = call.def->signature;
  // What the body reads from outside belongs to the last counted input.
  size_t captures = 0, num_given = 0;
  for (size_t i = 0; i < signature.inputs.size(); ++i)
    if (!signature.inputs[i].count.empty()) captures = i;
  for (size_t i = 0; i <= captures; ++i) num_given += call.counts[i];

  const BlockId block = graph_.AddBlock();
  auto attribute = [&](llvm::StringRef name, AttributeValue value) {
    call.attributes.push_back({name.str(), std::move(value)});
    call.places.push_back(call.body_place);
  };
  const AttributeDecl& body_decl = signature.attributes[signature.BlockAttribute()];
  attribute(body_decl.name, block);
  const size_t first_count = call.attributes.size();
  for (size_t i = 0; i <= captures; ++i)
    attribute(signature.inputs[i].count, static_cast<int64_t>(call.counts[i]));
  llvm::Expected<std::vector<AttributeValue>> values =
      CompleteAttributes(signature, call.attributes);
  if (!values) {
    ReportCallError(values.takeError(), call);
    return false;
  }
  llvm::Expected<std::vector<Type>> types = graph_.BodyTypes(*call.def, operands, *values);
  if (!types) {
    ReportCallError(types.takeError(), call);
    return false;
  }

  OpenBody body;
  body.block = block;
  body.outer = body_;
  {
    const bool has_way = !call.body->path.empty() || !call.body->callee.is_network();
    const std::string way =
        has_way
            ? FullName(frame_->base.empty() ? signature.name : frame_->base) + "." + body_decl.name
            : TakeWay(signature.name, !targets.empty()) + "." + body_decl.name;
    body_ = &body;
    // A value that is made once stays in the block where it is made.
    Value* const training = std::exchange(training_, nullptr);
    const bool ok = FillBody(call, llvm::ArrayRef(*types).take_front(num_given), way, block);
    training_ = training;
    body_ = body.outer;
    if (!ok) return false;
  }
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(num_given), body.captured.begin(),
                  body.captured.end());
  call.operands.insert(call.operands.begin() + static_cast<std::ptrdiff_t>(num_given),
                       body.captured.size(), Operand{Datum(), call.body_place.value});
  for (size_t i = 0; i < body.captured.size(); ++i)
    call.operands[num_given + i].datum = Datum(body.captured[i]);
  call.attributes[first_count + captures].value =
      static_cast<int64_t>(call.counts[captures] + body.captured.size());
  if (!signature.results_from.empty())
    attribute(signature.results_from.front(),
              static_cast<int64_t>(graph_.block(block).outputs.size()));
  return true;
}

}  // namespace pdl
