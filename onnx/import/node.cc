#include "onnx/import/node.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "onnx/model/pdl_names.h"
#include "onnx/model/shortest_number.h"
#include "pdl/op/op_registry.h"

namespace pdl {
Node::Node(Importer& importer, const onnx::NodeProto& proto, OnnxScope& scope, int64_t opset)
    : importer_(importer), proto_(proto), scope_(scope), opset_(opset) {
  location_ = importer.LocationOf(scope.PathTo(proto));
}

// --- Errors -------------------------------------------------------------------------------------

void Node::SetError(Code code, std::string message) {
  if (code_) return;
  code_ = code;
  message_ = std::move(message);
}

void Node::Take(llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const CallError& call) {
        // The limits of an operator are not errors of the model.
        const bool is_limit = call.code() == Code::kOperandDType || call.code() == Code::kRank;
        SetError(is_limit ? Code::kNotSupported : Code::kBadNetwork, call.text());
      },
      [&](const UnknownInputs& unknown) {
        if (!code_) needed_ = unknown.names();
        SetError(unknown.code(), unknown.text());
      },
      [&](const UserError& user) { SetError(user.code(), user.text()); },
      [&](const llvm::ErrorInfoBase& other) { SetError(Code::kBadNetwork, other.message()); });
}

llvm::Error Node::TakeError() {
  if (!code_) return llvm::Error::success();
  const std::string text =
      llvm::formatv("node '{0}' ({1}): {2}", scope_.PathTo(proto_), proto_.op_type(), message_)
          .str();
  if (!needed_.empty()) return llvm::make_error<UnknownInputs>(needed_, text);
  return llvm::make_error<UserError>(*code_, text);
}

void Node::NeedsKnown(unsigned input, Value* value) {
  if (failed() || value == nullptr) return;
  needed_ = importer_.InputsOf(value);
  const std::string what = llvm::formatv("the values of '{0}' must be known at import",
                                         proto_.input(static_cast<int>(input)));
  SetError(Code::kNotSupported,
           needed_.empty() ? what : what + ": set those of " + llvm::join(needed_, ", "));
}

// --- Inputs ---------------------------------------------------------------------------------

bool Node::Has(unsigned input) const {
  if (input >= num_inputs()) return false;
  const std::string& name = proto_.input(static_cast<int>(input));
  return !name.empty() && !importer_.IsMissing(scope_, name);
}

bool Node::IsUsed(unsigned output) const {
  return output < num_outputs() && !proto_.output(static_cast<int>(output)).empty();
}

Value* Node::In(unsigned index) {
  if (!Has(index)) {
    Fail("input {0} is missing", index);
    return nullptr;
  }
  const std::string& name = proto_.input(static_cast<int>(index));
  llvm::Expected<Value*> value = importer_.Find(scope_, name);
  if (!value) {
    Take(value.takeError());
    return nullptr;
  }
  if (*value == nullptr) {
    if (importer_.FindSequence(scope_, name) != nullptr) {
      Unsupported("'{0}' is a list of tensors", name);
    } else {
      Fail("it reads '{0}', which no node before it computes", name);
    }
  }
  return *value;
}

std::vector<Value*> Node::AllIn() {
  std::vector<Value*> all;
  for (unsigned i = 0; i < num_inputs(); ++i) all.push_back(In(i));
  return all;
}

std::vector<Value*> Node::SequenceIn(unsigned index) {
  if (!Has(index)) {
    Fail("input {0} is missing", index);
    return {};
  }
  const std::string& name = proto_.input(static_cast<int>(index));
  const std::vector<Value*>* values = importer_.FindSequence(scope_, name);
  if (values == nullptr) Unsupported("the number of tensors in '{0}' is not known", name);
  return values == nullptr ? std::vector<Value*>() : *values;
}

const Constant* Node::ConstantIn(unsigned index) {
  Value* value = In(index);
  if (value == nullptr) return nullptr;
  const Constant* constant = importer_.FindConstant(value);
  if (constant == nullptr) NeedsKnown(index, value);
  return constant;
}

Shape Node::SizesIn(unsigned index) {
  Value* value = In(index);
  if (value == nullptr) return {};
  std::optional<KnownSizes> known = KnownSizesOf(value);
  if (const Constant* constant = known ? nullptr : importer_.FindConstant(value)) {
    // Some operators take sizes as floats.
    Shape sizes;
    for (int64_t i = 0; i < constant->num_elements() && i < KnownValues::kMaxElements; ++i) {
      const double real = constant->ElementAsDouble(i);
      if (!(std::abs(real) < 1e15) || real != std::floor(real)) {
        Unsupported("'{0}' has {1} instead of a size", proto_.input(static_cast<int>(index)), real);
        return {};
      }
      sizes.emplace_back(static_cast<int64_t>(real));
    }
    return sizes;
  }
  if (!known) {
    NeedsKnown(index, value);
    return {};
  }
  return Shape(known->elements.begin(), known->elements.end());
}

std::vector<int64_t> Node::IntsIn(unsigned index) {
  std::vector<int64_t> values;
  for (const Dim& size : SizesIn(index)) {
    if (!size.is_constant()) {
      Unsupported("'{0}' depends on sizes: {1}", proto_.input(static_cast<int>(index)),
                  size.ToString());
      return {};
    }
    values.push_back(size.constant());
  }
  return values;
}

std::vector<double> Node::RealsIn(unsigned index) {
  const Constant* constant = ConstantIn(index);
  std::vector<double> values;
  if (constant == nullptr) return values;
  if (constant->num_elements() > KnownValues::kMaxElements) {
    Unsupported("'{0}' has too many elements", proto_.input(static_cast<int>(index)));
    return values;
  }
  for (int64_t i = 0; i < constant->num_elements(); ++i)
    values.push_back(constant->ElementAsDouble(i));
  return values;
}

template <class T>
static T OneOf(Node& node, unsigned index, llvm::ArrayRef<T> values) {
  if (values.size() == 1) return values[0];
  if (!node.failed()) node.Fail("input {0} must have one element, not {1}", index, values.size());
  return T(0);
}

Dim Node::SizeIn(unsigned index) { return OneOf<Dim>(*this, index, SizesIn(index)); }
int64_t Node::IntIn(unsigned index) { return OneOf<int64_t>(*this, index, IntsIn(index)); }
double Node::RealIn(unsigned index) { return OneOf<double>(*this, index, RealsIn(index)); }

bool Node::IsKnown(const Value* value) const {
  return value != nullptr && importer_.FindConstant(value) != nullptr;
}

std::optional<KnownSizes> Node::KnownSizesOf(const Value* value) const {
  if (value == nullptr) return std::nullopt;
  return importer_.known().FindSizes(value);
}

std::optional<double> Node::KnownReal(const Value* value) const {
  if (value == nullptr) return std::nullopt;
  if (const Constant* constant = importer_.FindConstant(value))
    return constant->num_elements() == 1 ? std::optional(constant->ElementAsDouble(0))
                                         : std::nullopt;
  // The value may be computed from sizes that are numbers.
  const std::optional<KnownSizes> sizes = KnownSizesOf(value);
  if (!sizes || sizes->elements.size() != 1 || !sizes->elements[0].is_constant())
    return std::nullopt;
  return static_cast<double>(sizes->elements[0].constant());
}

// --- Attributes -----------------------------------------------------------------------------

const onnx::AttributeProto* Node::Attribute(llvm::StringRef name) const {
  for (const onnx::AttributeProto& attribute : proto_.attribute())
    if (attribute.name() == name) return ResolveAttribute(attribute, scope_.call);
  return nullptr;
}

int64_t Node::Int(llvm::StringRef name, int64_t otherwise) const {
  const auto* attribute = Attribute(name);
  return attribute == nullptr ? otherwise : attribute->i();
}

double Node::Float(llvm::StringRef name, double otherwise) const {
  const auto* attribute = Attribute(name);
  return attribute == nullptr ? otherwise : MeantNumber(attribute->f());
}

std::string Node::String(llvm::StringRef name, llvm::StringRef otherwise) const {
  const auto* attribute = Attribute(name);
  return attribute == nullptr ? otherwise.str() : attribute->s();
}

std::vector<int64_t> Node::Ints(llvm::StringRef name) const {
  const auto* attribute = Attribute(name);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> Node::Floats(llvm::StringRef name) const {
  const auto* attribute = Attribute(name);
  if (attribute == nullptr) return {};
  std::vector<double> numbers;
  for (const float number : attribute->floats()) numbers.push_back(MeantNumber(number));
  return numbers;
}

DType Node::TypeAttribute(llvm::StringRef name, DType otherwise) {
  const auto* attribute = Attribute(name);
  if (attribute == nullptr) return otherwise;
  llvm::Expected<DType> dtype = DTypeFromOnnx(static_cast<int32_t>(attribute->i()));
  if (dtype) return *dtype;
  Take(dtype.takeError());
  return otherwise;
}

// --- Calls ----------------------------------------------------------------------------------

Value* Node::Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
                  llvm::ArrayRef<NamedAttribute> attributes) {
  std::vector<Value*> results = CallAll(op, operands, attributes);
  return results.empty() ? nullptr : results.front();
}

std::vector<Value*> Node::CallAll(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
                                  llvm::ArrayRef<NamedAttribute> attributes) {
  if (failed() || llvm::is_contained(operands, nullptr)) {
    if (!failed()) Fail("an input of '{0}' is missing", op);
    return {};
  }
  const OpDef* def = GlobalRegistry().Find(op);
  if (def == nullptr) {
    Unsupported("this build has no operator '{0}'", op);
    return {};
  }
  const OpSignature& signature = def->signature;
  auto values = CompleteAttributes(signature, attributes);
  if (!values) {
    Take(values.takeError());
    return {};
  }
  // Operands of a dtype that the operator does not accept are widened, together with all others of
  // that dtype.
  std::optional<Widening> widened;
  DType narrow{};
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = operands[i]->type().dtype;
    const DTypeSet accepted = signature.InputOf(i, *values).dtypes;
    if (accepted.Contains(dtype)) continue;
    if (const std::optional<Widening> widening =
            WidenFor(def->properties().widening, dtype, accepted)) {
      widened = widening;
      narrow = dtype;
    }
  }
  llvm::SmallVector<Value*, 4> taken(operands);
  if (def->properties().elementwise && taken.size() == 2) UseScalars(taken);
  if (widened)
    for (Value*& operand : taken)
      if (operand->type().dtype == narrow)
        operand = TurnSign(*widened, Cast(operand, widened->dtype));
  if (llvm::is_contained(taken, nullptr)) return {};
  for (Value*& operand : taken) operand = importer_.Inside(operand);

  std::vector<std::string> names(signature.NumResults(*values));
  for (std::string& name : names) name = importer_.NewTemporary();
  if (llvm::Error error =
          importer_.Spend(static_cast<int64_t>(std::max<size_t>(names.size(), 1)))) {
    Take(std::move(error));
    return {};
  }
  CallOptions options;
  options.location = location_;
  options.block = importer_.block();
  llvm::Expected<Op*> made =
      graph().AddOpWithValues(*def, taken, std::move(*values), names, std::move(options));
  if (!made) {
    Take(made.takeError());
    return {};
  }
  importer_.known().Visit(**made);
  std::vector<Value*> results((*made)->results().begin(), (*made)->results().end());
  if (Value* filled = FilledAlike(**made)) results = {filled};
  if (!widened) return results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]->type().dtype == widened->dtype && !signature.output(i).own_dtype)
      results[i] = Cast(TurnSign(*widened, results[i]), narrow);
  }
  return results;
}

Value* Node::TurnSign(const Widening& widening, Value* value) {
  if (!widening.turns_sign || value == nullptr) return value;
  const int64_t highest = INT64_MIN;
  return Call("bitwise_xor", {value, Literal(Constant::Copy(DType::kI64, {}, &highest))});
}

/// The call of `fill` that computes a value; null for other calls.
static const Op* FillOf(const Value* value) {
  const Op* op = value->producer();
  return op != nullptr && op->type() == "fill" ? op : nullptr;
}

Value* Node::FilledAlike(const Op& op) {
  const bool moves = op.type() == "reshape" || op.type() == "unsqueeze" || op.type() == "squeeze" ||
                     op.type() == "transpose" || op.type() == "broadcast_to";
  const Op* fill = moves ? FillOf(op.operands()[0]) : nullptr;
  if (fill == nullptr) return nullptr;
  return Filled(op.result()->type().dims, fill->attributes().Tensor("value"));
}

void Node::UseScalars(llvm::MutableArrayRef<Value*> operands) {
  for (const unsigned i : {0u, 1u}) {
    const Op* fill = FillOf(operands[i]);
    const Type& type = operands[i]->type();
    const Type& other = operands[1 - i]->type();
    if (fill == nullptr || type.rank() > other.rank()) continue;
    bool fits = true;
    for (unsigned d = 0; d < type.rank(); ++d) {
      const Dim& size = type.dims[d];
      fits &= size.is_constant(1) || size == other.dims[other.rank() - type.rank() + d];
    }
    if (!fits) continue;
    Value* scalar = Literal(fill->attributes().Tensor("value"));
    if (scalar != nullptr) operands[i] = scalar;
    return;
  }
}

std::vector<Value*> Node::Scan(
    const Loop& loop, llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> body) {
  llvm::SmallVector<Value*, 8> operands(loop.xs.begin(), loop.xs.end());
  operands.append(loop.init.begin(), loop.init.end());
  if (loop.lengths != nullptr) operands.push_back(loop.lengths);
  if (failed() || llvm::is_contained(operands, nullptr)) {
    if (!failed()) Fail("an input of the loop is missing");
    return {};
  }
  for (Value*& operand : operands) operand = importer_.Inside(operand);
  std::vector<NamedAttribute> attributes = {{"num_init", static_cast<int64_t>(loop.init.size())}};
  if (loop.max_steps) {
    attributes.push_back({"max_steps", Shape{*loop.max_steps}});
  } else {
    attributes.push_back({"axis", loop.axis});
    attributes.push_back({"reverse", loop.reverse});
    attributes.push_back({"num_xs", static_cast<int64_t>(loop.xs.size())});
  }
  const char* const op = loop.max_steps ? "while_loop" : "scan";
  const OpDef& def = *GlobalRegistry().Find(op);
  // The types of a body's inputs do not depend on its calls.
  std::vector<NamedAttribute> without_body = attributes;
  without_body.push_back({"body", BlockId{}});
  auto values = CompleteAttributes(def.signature, without_body);
  llvm::Expected<std::vector<Type>> types =
      values ? graph().BodyTypes(def, operands, *values) : values.takeError();
  if (!types) {
    Take(types.takeError());
    return {};
  }
  const size_t given = loop.xs.size() + loop.init.size();
  size_t num_results = 0;
  const Importer::MadeBody made =
      importer_.MakeBody(llvm::ArrayRef(*types).take_front(given), loop.names,
                         [&](llvm::ArrayRef<Value*> inputs) -> std::vector<Value*> {
                           std::vector<Value*> outputs = body(inputs);
                           if (failed() || llvm::is_contained(outputs, nullptr)) outputs.clear();
                           num_results = outputs.size();
                           return outputs;
                         });
  if (failed()) return {};
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(given), made.captured.begin(),
                  made.captured.end());
  attributes.push_back({"body", made.block});
  attributes.push_back({"num_captured", static_cast<int64_t>(made.captured.size())});
  attributes.push_back({"num_results", static_cast<int64_t>(num_results)});
  return CallAll(op, operands, attributes);
}

Value* Node::Cast(Value* x, DType to) {
  if (x == nullptr || x->type().dtype == to) return x;
  return Call("cast", {x}, {{"to", to}});
}

Value* Node::Reshape(Value* x, llvm::ArrayRef<Dim> dims) {
  if (x == nullptr || llvm::ArrayRef<Dim>(x->type().dims) == dims) return x;
  return Call("reshape", {x}, {{"dims", Shape(dims)}});
}

Value* Node::Transpose(Value* x, llvm::ArrayRef<int64_t> perm) {
  bool is_identity = true;
  for (size_t i = 0; i < perm.size(); ++i) is_identity &= perm[i] == static_cast<int64_t>(i);
  if (x == nullptr || is_identity) return x;
  return Call("transpose", {x}, {{"perm", perm.vec()}});
}

Value* Node::Scalar(double value, DType dtype) { return Literal(Constant::Scalar(dtype, value)); }

Value* Node::Scalar(double value, Value* like) {
  return like == nullptr ? nullptr : Scalar(value, like->type().dtype);
}

Value* Node::Parameter(Constant constant, llvm::StringRef name) {
  if (failed()) return nullptr;
  if (llvm::Error error = importer_.SpendBytes(constant.num_bytes())) {
    Take(std::move(error));
    return nullptr;
  }
  llvm::Expected<Value*> value = importer_.AddConstant(std::move(constant), name);
  if (value) return *value;
  Take(value.takeError());
  return nullptr;
}

Value* Node::Literal(llvm::ArrayRef<int64_t> values) {
  return Literal(Constant::Copy(DType::kI64, {static_cast<int64_t>(values.size())}, values.data()));
}

Value* Node::Filled(llvm::ArrayRef<Dim> dims, const Constant& value) {
  const DType dtype = value.dtype();
  const bool fills = IsFloat(dtype) || dtype == DType::kI32 || dtype == DType::kI64;
  if (fills && dims.size() > 0)
    return Call("fill", {}, {{"dims", Shape(dims)}, {"value", value}, {"dtype", dtype}});
  return Call("broadcast_to", {Literal(value)}, {{"dims", Shape(dims)}});
}

Value* Node::Filled(llvm::ArrayRef<Dim> dims, double value, DType dtype) {
  return Filled(dims, Constant::Scalar(dtype, value));
}

Value* Node::SizeValue(llvm::ArrayRef<Dim> sizes) {
  std::vector<int64_t> numbers;
  for (const Dim& size : sizes)
    if (size.is_constant()) numbers.push_back(size.constant());
  if (numbers.size() == sizes.size()) return Literal(numbers);
  std::vector<Value*> parts;
  for (const Dim& size : sizes) {
    parts.push_back(size.is_constant() ? Scalar(static_cast<double>(size.constant()), DType::kI64)
                                       : Call("size", {}, {{"dims", Shape{size}}}));
    if (parts.back() == nullptr) return nullptr;
    importer_.known().SetSizes(parts.back(), {{}, {size}});
  }
  Value* all = Call("stack", parts);
  if (all == nullptr) return nullptr;
  importer_.known().SetSizes(all, {{static_cast<int64_t>(sizes.size())}, sizes.vec()});
  return all;
}

// --- Outputs --------------------------------------------------------------------------------

void Node::Out(unsigned index, Value* value) {
  if (value == nullptr || failed() || !IsUsed(index)) return;
  const std::string& name = proto_.output(static_cast<int>(index));
  if (!scope_.values.try_emplace(name, value).second || scope_.initializers.contains(name)) {
    Fail("it computes '{0}', which exists already", name);
    return;
  }
  importer_.SuggestName(value, name);
}

void Node::SequenceOut(unsigned index, std::vector<Value*> values) {
  if (failed() || !IsUsed(index)) return;
  const std::string& name = proto_.output(static_cast<int>(index));
  if (llvm::Error error = importer_.Spend(static_cast<int64_t>(values.size())))
    return Take(std::move(error));
  if (!scope_.sequences.try_emplace(name, std::move(values)).second)
    Fail("it computes '{0}', which exists already", name);
}

unsigned Node::Axis(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) {
    Fail("axis {0} is outside a tensor of {1} dims", axis, rank);
    return 0;
  }
  return static_cast<unsigned>(axis < 0 ? axis + size : axis);
}

std::vector<int64_t> Node::Axes(llvm::ArrayRef<int64_t> axes, size_t rank) {
  std::vector<int64_t> result;
  for (const int64_t axis : axes) result.push_back(Axis(axis, rank));
  return result;
}

}  // namespace pdl
