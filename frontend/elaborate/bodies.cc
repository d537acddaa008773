#include "frontend/elaborate/bodies.h"

#include "frontend/elaborate/budget.h"
#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/expressions.h"
#include "frontend/elaborate/functions.h"
#include "frontend/elaborate/literals.h"
#include "frontend/elaborate/name_table.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/elaborate/sugar.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/symbols.h"

namespace pdl {

namespace {

/// Limits the depth of scalar computations that are copied into a body rather than passed to it.
constexpr unsigned kMaxCopiedDepth = 64;

/// The name of a body's input for a value from outside, which no parameter of the body has.
std::string OuterName(llvm::StringRef path, llvm::StringRef name) {
  return (path + ".outer." + name).str();
}

}  // namespace

uint32_t Bodies::HomeOf(const Value* value) const {
  if (const Op* producer = value->producer()) return producer->block().index;
  const auto found = values_.homes.find(value);
  return found == values_.homes.end() ? 0 : found->second;
}

Value* Bodies::InBody(Value* value) {
  if (value == nullptr || at_.body == nullptr || HomeOf(value) == at_.body->block.index)
    return value;
  if (auto found = at_.body->inside.find(value); found != at_.body->inside.end())
    return found->second;
  // A value that decides an `if` must also be known to the Plan inside the body.
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
    options.block = at_.body->block;
    options.layer_path = producer->layer_path();
    llvm::Expected<Op*> copy = graph_.AddOpWithValues(
        producer->def(), operands, producer->attribute_values().vec(), names, std::move(options));
    if (copy) {
      for (size_t i = 0; i < names.size(); ++i)
        at_.body->inside[producer->results()[i]] = (*copy)->results()[i];
      return at_.body->inside[value];
    }
    llvm::consumeError(copy.takeError());
  }
  Value* outside = value;
  if (at_.body->outer != nullptr) {
    OpenBody* const here = std::exchange(at_.body, at_.body->outer);
    outside = InBody(value);
    at_.body = here;
  }
  const llvm::StringRef own = llvm::StringRef(value->name()).rsplit('.').second;
  const std::string name = OuterName(at_.body->path, own.empty() ? value->name() : own);
  Value* input =
      graph_.AddBlockInput(at_.body->block, graph_.NewName(name), value->type(), value->location());
  values_.homes[input] = at_.body->block.index;
  at_.body->inside[value] = input;
  at_.body->captured.push_back(outside);
  return input;
}

Value* Bodies::OuterValueWith(llvm::StringRef symbol, bool in_bodies_only) const {
  Value* found = nullptr;
  auto consider = [&](Value* value) {
    if (!value->type().is_plain()) return false;
    for (const Dim& dim : value->type().dims) {
      if (dim.symbol() == symbol) {
        found = value;
        return true;
      }
      if (found == nullptr && DeterminedSymbol(dim) == symbol) found = value;
    }
    return false;
  };
  auto search = [&](llvm::ArrayRef<Value*> inputs, llvm::ArrayRef<Op*> ops) {
    return llvm::any_of(inputs, consider) ||
           llvm::any_of(ops, [&](const Op* op) { return llvm::any_of(op->results(), consider); });
  };
  for (const OpenBody* body = at_.body->outer; body != nullptr; body = body->outer) {
    const Block& block = graph_.block(body->block);
    if (search(block.inputs, block.ops)) return found;
  }
  if (!in_bodies_only) search(graph_.inputs(), graph_.ops());
  return found;
}

Value* Bodies::MakeValueWith(llvm::StringRef symbol, SourceRange place) {
  const OpDef* def = callees_.FindOperator(sugar::kFirstStep);
  if (def == nullptr) return nullptr;
  CallOptions options;
  options.location = at_.AddLocation(graph_, place.begin);
  llvm::Expected<Op*> made = graph_.AddOp(
      *def, {}, {{sugar::kDims.str(), Shape{Dim::Symbol(symbol)}}, {"dtype", DType::kBool}},
      {graph_.NewName("size")}, std::move(options));
  if (made) return (*made)->result();
  llvm::consumeError(made.takeError());
  return nullptr;
}

bool Bodies::CaptureSizes(SourceRange place) {
  const Block& block = graph_.block(at_.body->block);
  llvm::StringSet<> known, found;
  auto learn = [&](const Value* input) {
    for (const Dim& dim : input->type().dims) known.insert(DeterminedSymbol(dim));
  };
  llvm::for_each(block.inputs, learn);
  std::vector<std::string> missing;
  for (const Op* op : block.ops)
    for (const AttributeValue& value : op->attribute_values())
      ForEachSymbol(value, [&](llvm::StringRef symbol) {
        if (!known.contains(symbol) && found.insert(symbol).second) missing.push_back(symbol.str());
      });
  for (const std::string& symbol : missing) {
    if (known.contains(symbol)) continue;
    if (llvm::StringRef(symbol).starts_with("~")) {
      report_.Error(Code::kBody, place,
                    "no value in the body of a loop is ragged, but a function that is given to it "
                    "has the size " +
                        symbol);
      return false;
    }
    if (at_.IsRepeated() && !budget_.Spend(graph_.ops().size() / 8, place)) return false;
    // A value that is made for the size of an input needs no other input.
    const bool is_of_data = graph_.IsDataSymbol(symbol);
    Value* value = OuterValueWith(symbol, /*in_bodies_only=*/!is_of_data);
    if (value == nullptr) value = MakeValueWith(symbol, place);
    if (value != nullptr) learn(InBody(value));
  }
  return true;
}

bool Bodies::ElaborateBody(Call& call, llvm::SmallVectorImpl<Value*>& operands, Targets targets) {
  const OpSignature& signature = call.def->signature;
  // Captured values belong to the last counted input.
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
    report_.ReportCallError(values.takeError(), call);
    return false;
  }
  llvm::Expected<std::vector<Type>> types = graph_.BodyTypes(*call.def, operands, *values);
  if (!types) {
    report_.ReportCallError(types.takeError(), call);
    return false;
  }

  OpenBody body;
  body.block = block;
  body.outer = at_.body;
  {
    const bool has_path = !call.body->path.empty() || !call.body->callee.is_network();
    body.path =
        has_path ? at_.frame->FullName(at_.frame->base.empty() ? signature.name : at_.frame->base) +
                       "." + body_decl.name
                 : names_.TakePath(signature.name, !targets.empty()) + "." + body_decl.name;
    at_.body = &body;
    // A value that is created once stays in the block where it was created.
    Value* const training = std::exchange(training_.training, nullptr);
    const bool ok = FillBody(call, llvm::ArrayRef(*types).take_front(num_given), body.path, block);
    training_.training = training;
    at_.body = body.outer;
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

bool Bodies::FillBody(const Call& call, llvm::ArrayRef<Type> types, llvm::StringRef path,
                      BlockId block) {
  const Function& function = *call.body;
  // An assertion in the body is part of the loop, not of the branch that the loop is in.
  Journal* const journal = std::exchange(at_.journal, nullptr);
  auto restore = llvm::make_scope_exit([&] { at_.journal = journal; });
  std::vector<llvm::StringRef> names;
  if (function.callee.layer != nullptr) {
    for (const ast::Parameter& parameter : function.callee.layer->parameters)
      if (parameter.type->is_tensor()) names.push_back(parameter.name.text);
  }
  llvm::SmallVector<Operand, 4> operands;
  for (size_t i = 0; i < types.size(); ++i) {
    const llvm::StringRef own = i < names.size() ? names[i] : "given";
    std::string base = (path + "." + own).str();
    // In flat source, a parameter of the body and the input that it is given to.
    if (graph_.FindValue(base) != nullptr) base = OuterName(path, own);
    Value* input = graph_.AddBlockInput(block, graph_.NewName(base), types[i],
                                        at_.AddLocation(graph_, call.operands[i].range.begin));
    values_.homes[input] = block.index;
    operands.push_back({Datum(input), call.operands[i].range});
  }
  const bool is_identity = function.callee.op == nullptr && !function.callee.is_network();
  std::vector<Value*> outputs;
  if (is_identity) {
    for (const Operand& operand : operands) outputs.push_back(operand.datum.tensor());
  } else {
    const std::string base = std::exchange(at_.frame->base, path.str());
    const CallResults results =
        functions_.ApplyTo(call.body, operands, call.body_place.value, path);
    at_.frame->base = base;
    if (results.is_poison()) return false;
    for (const CallResult& result : results.all) {
      const Datum datum = expressions_.Use(result, call.body_place.value);
      if (datum.is_poison()) return false;
      Value* value = literals_.AsTensor(datum, call.body_place.value, std::nullopt, {});
      if (value == nullptr) return false;
      outputs.push_back(InBody(value));
    }
  }
  graph_.SetBlockOutputs(block, std::move(outputs));
  return CaptureSizes(call.body_place.value);
}

}  // namespace pdl
