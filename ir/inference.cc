#include "pdl/op/inference.h"

#include <algorithm>
#include <climits>

#include "ir/operator_code.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/symbols.h"

namespace pdl {

InferenceContext::InferenceContext(const OpDef& def, llvm::ArrayRef<const Type*> operands,
                                   llvm::ArrayRef<AttributeValue> attributes,
                                   llvm::ArrayRef<Value*> values, const Graph* graph)
    : def_(&def),
      operands_(operands),
      attributes_(def.signature, attributes),
      values_(values),
      graph_(graph),
      outputs_(def.signature.NumResults(attributes)),
      is_set_(static_cast<unsigned>(outputs_.size())) {}

void InferenceContext::ThrowNoOperand(unsigned index) const {
  throw std::out_of_range(llvm::formatv("it reads operand {0} of {1}", index, num_inputs()).str());
}

bool InferenceContext::is_known_to_plan(unsigned index) const {
  return values_.empty() || IsKnownToPlan(values_[index]);
}

const Block* InferenceContext::FindBlock(llvm::StringRef attribute) const {
  const AttributeValue* value = attributes_.Find(attribute);
  const auto* id = value ? std::get_if<BlockId>(value) : nullptr;
  if (!id || !graph_ || id->index == 0 || id->index >= graph_->num_blocks()) return nullptr;
  return &graph_->block(*id);
}

void InferenceContext::SetOutput(unsigned index, Type type) {
  if (index >= outputs_.size()) {
    sets_other_ = true;
    return;
  }
  outputs_[index] = std::move(type);
  is_set_.set(index);
}

llvm::Error InferenceContext::CheckOutputsAreSet() const {
  if (sets_other_)
    return Fail(Code::kOperatorUse, "its inference sets more results than {0}", outputs_.size());
  const int missing = is_set_.find_first_unset();
  if (missing < 0) return llvm::Error::success();
  return Fail(Code::kOperatorUse, "its inference sets no type for output '{0}'",
              def_->signature.output(static_cast<size_t>(missing)).name);
}

llvm::Error InferenceContext::MakeCallError(Code code, llvm::ArrayRef<unsigned> inputs,
                                            llvm::StringRef attribute, std::string message) const {
  auto error = std::make_unique<CallError>(code, std::move(message));
  error->inputs.assign(inputs.begin(), inputs.end());
  error->attribute = attribute.str();
  return llvm::Error(std::move(error));
}

std::string DimCheck::Describe(int64_t left_size, int64_t right_size) const {
  auto side = [](const Dim& dim, int64_t size) {
    return (dim.is_constant() ? "" : dim.ToString() + " = ") + std::to_string(size);
  };
  const std::string a = side(left, left_size);
  const std::string b = side(right, right_size);
  switch (relation) {
    case Relation::kAtLeast:
      // A bool has no size to report.
      if (right.is_constant(1) && left.ProvablyAtLeast(0) && left.ProvablyAtMost(1)) return message;
      return message + ": " + a + " is less than " + b;
    case Relation::kNotEqual:
      return message + ": " + (left.is_constant() ? b : a);
    case Relation::kEqual:
      break;
  }
  if (right.is_constant()) return message + ": " + a + ", not " + b;
  if (left.is_constant()) return message + ": " + b + ", not " + a;
  return message + ": " + a + " and " + b;
}

llvm::Error InferenceContext::RequireEqual(const Dim& a, const Dim& b,
                                           llvm::ArrayRef<unsigned> inputs,
                                           llvm::StringRef message) {
  if (a == b) return llvm::Error::success();
  Dim difference = a - b;
  if (difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1) || a.is_ragged() ||
      b.is_ragged())
    return FailAt(inputs, Code::kShapeMismatch, "{0}: {1} and {2}", message, a.ToString(),
                  b.ToString());
  checks_.push_back({a, DimCheck::Relation::kEqual, b, message.str()});
  return llvm::Error::success();
}

llvm::Error InferenceContext::RequireMultiple(const Dim& a, const Dim& b,
                                              llvm::ArrayRef<unsigned> inputs,
                                              llvm::StringRef message) {
  const Dim rest = Dim::Mod(a, b);
  // Report the original sizes, not the remainder.
  if (rest.is_constant() && !rest.is_constant(0))
    return FailAt(inputs, Code::kShapeMismatch, "{0}: {1} and {2}", message, a.ToString(),
                  b.ToString());
  return RequireEqual(rest, 0, inputs, message);
}

llvm::Error InferenceContext::RequireAtLeast(const Dim& a, const Dim& b,
                                             llvm::ArrayRef<unsigned> inputs,
                                             llvm::StringRef message) {
  Dim difference = a - b;
  if (a == b || difference.ProvablyAtLeast(0)) return llvm::Error::success();
  if (a.is_ragged() || b.is_ragged())
    return FailAt(inputs, Code::kShapeMismatch, "{0}: {1} and {2} are not comparable", message,
                  a.ToString(), b.ToString());
  if (difference.ProvablyAtMost(-1))
    return FailAt(inputs, Code::kShapeMismatch, "{0}: {1} is less than {2}", message, a.ToString(),
                  b.ToString());
  checks_.push_back({a, DimCheck::Relation::kAtLeast, b, message.str()});
  return llvm::Error::success();
}

llvm::Expected<unsigned> InferenceContext::NormalizeAxis(int64_t axis, unsigned rank,
                                                         llvm::StringRef attribute) {
  int64_t signed_rank = rank;
  if (axis < -signed_rank || axis >= signed_rank) {
    if (rank == 0) return FailAtAttribute(attribute, Code::kAxis, "a scalar has no axis {0}", axis);
    return FailAtAttribute(attribute, Code::kAxis, "axis {0} is outside {1}..={2}", axis,
                           -signed_rank, signed_rank - 1);
  }
  return static_cast<unsigned>(axis < 0 ? axis + signed_rank : axis);
}

llvm::Expected<llvm::SmallVector<unsigned, 4>> InferenceContext::NormalizeAxes(
    llvm::StringRef attribute, unsigned rank) {
  llvm::SmallVector<unsigned, 4> axes;
  if (!attributes_.Has(attribute)) {
    for (unsigned i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (int64_t axis : attributes_.Ints(attribute)) {
    llvm::Expected<unsigned> normal = NormalizeAxis(axis, rank, attribute);
    if (!normal) return normal.takeError();
    if (llvm::is_contained(axes, *normal))
      return FailAtAttribute(attribute, Code::kAxis, "axis {0} is named twice", *normal);
    axes.push_back(*normal);
  }
  llvm::sort(axes);
  return axes;
}

llvm::Error InferenceContext::RequireDenseAxis(unsigned input, unsigned axis,
                                               llvm::StringRef attribute) const {
  const Type& type = this->input(input);
  const unsigned levels = type.ragged_levels();
  if (levels == 0 || axis > levels) return llvm::Error::success();
  return FailAtAttribute(attribute, Code::kStorage,
                         "axis {0} of {1} is not after its ragged dim{2}", axis, type.ToString(),
                         levels == 1 ? "" : "s");
}

Dim InferenceContext::FreshSymbol(llvm::StringRef hint) {
  // '?' is not allowed in names, so the placeholder is unique until it is renamed.
  const std::string ragged = hint.starts_with("~") ? "~" : "";
  const std::string placeholder = ragged + "?" + std::to_string(fresh_symbols_.size());
  fresh_symbols_.push_back(hint.str());
  return Dim::Symbol(placeholder);
}

namespace {

llvm::Error CheckOperandCount(const InferenceContext& context) {
  const OpSignature& signature = context.def().signature;
  unsigned count = context.num_inputs();
  unsigned least = signature.MinOperands(), most = signature.MaxOperands();
  if (signature.has_counts()) {
    llvm::ArrayRef<AttributeValue> values = context.attributes().values();
    // The inputs after the counted ones have one operand each, or are omitted.
    size_t needed = signature.FirstOperand(signature.inputs.size(), values);
    size_t optional = 0;
    for (const InputDecl& input : signature.inputs) optional += input.optional;
    if (count <= needed && count + optional >= needed) return llvm::Error::success();
    return context.Fail(Code::kOperandCount, "takes {0} inputs according to its counts, got {1}",
                        needed, count);
  }
  if (count >= least && count <= most) return llvm::Error::success();
  std::string expected = std::to_string(least);
  if (most == UINT_MAX) {
    expected = "at least " + expected;
  } else if (most != least) {
    expected += " to " + std::to_string(most);
  }
  std::string names;
  for (const InputDecl& input : signature.inputs)
    names += (names.empty() ? "" : ", ") + input.name + (input.repeatable ? "..." : "");
  std::string message =
      "takes " + expected +
      (std::max(least, 1U) == 1 && (most == 1 || most == UINT_MAX) ? " input" : " inputs");
  if (!names.empty()) message += " (" + names + ")";
  return context.Fail(Code::kOperandCount, "{0}, got {1}", message, count);
}

llvm::Error CheckOperands(const InferenceContext& context) {
  const OpSignature& signature = context.def().signature;
  for (unsigned i = 0; i < context.num_inputs(); ++i) {
    const InputDecl& decl = signature.InputOf(i, context.attributes().values());
    const Type& type = context.input(i);
    if (!decl.dtypes.Contains(type.dtype))
      return context.FailAt({i}, Code::kOperandDType, "'{0}' must be {1}, got {2}", decl.name,
                            decl.dtypes.ToString(), type.ToString());
    if (type.is_sparse() && !decl.accepts_sparse)
      return context.FailAt({i}, Code::kStorage, "'{0}' must be dense, got {1}", decl.name,
                            type.ToString());
    const unsigned levels = type.ragged_levels();
    if (levels < decl.min_ragged_levels)
      return context.FailAt({i}, Code::kStorage, "'{0}' must have {1} ragged dim, got {2}",
                            decl.name, decl.ragged_levels == 1 ? "one" : "a", type.ToString());
    if (levels > decl.ragged_levels)
      return context.FailAt({i}, Code::kStorage, "'{0}' takes {1}, got {2}", decl.name,
                            decl.ragged_levels == 0 ? "no ragged dims" : "at most 1 ragged dim",
                            type.ToString());
  }
  return llvm::Error::success();
}

/// Ragged dims are not sizes: operators that are given sizes accept them only if declared.
llvm::Error CheckDimsInAttributes(const InferenceContext& context) {
  llvm::ArrayRef<AttributeDecl> decls = context.def().signature.attributes;
  for (auto [decl, value] : llvm::zip_equal(decls, context.attributes().values())) {
    if (decl.takes_ragged) continue;
    llvm::ArrayRef<Shape> shapes;
    if (const auto* shape = std::get_if<Shape>(&value)) shapes = *shape;
    if (const auto* list = std::get_if<std::vector<Shape>>(&value)) shapes = *list;
    for (const Shape& shape : shapes) {
      if (llvm::none_of(shape, [](const Dim& dim) { return dim.is_ragged(); })) continue;
      return context.FailAtAttribute(decl.name, Code::kStorage,
                                     "'{0}' takes no ragged dims, got {1}", decl.name,
                                     ShapeToString(shape));
    }
  }
  return llvm::Error::success();
}

/// The dtype that an operator computes in; nullopt if no operand is a float.
std::optional<DType> ComputeDType(const InferenceContext& context) {
  for (unsigned i = 0; i < context.num_inputs(); ++i) {
    const DType dtype = context.input(i).dtype;
    if (kFloats.Contains(dtype)) return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  }
  return std::nullopt;
}

llvm::Error CheckFits(const InferenceContext& context, const AttributeDecl& decl, double value,
                      std::optional<unsigned> element) {
  if (FitsFloat(value)) return llvm::Error::success();
  const std::string where = element ? "element " + std::to_string(*element) + " of " : "";
  auto error = std::make_unique<CallError>(
      Code::kLiteral,
      llvm::formatv("{0}attribute '{1}' of '{2}' must fit f32, in which it is used, got {3}, which "
                    "would become {4}",
                    where, decl.name, context.def().name(), FloatToString(value),
                    FloatToString(static_cast<float>(value))));
  error->attribute = decl.name;
  error->element = element;
  error->is_whole = true;
  return llvm::Error(std::move(error));
}

/// Floats that are used in f32 must not become infinite or 0 there.
llvm::Error CheckFloatAttributes(const InferenceContext& context) {
  llvm::ArrayRef<AttributeDecl> decls = context.def().signature.attributes;
  std::optional<DType> dtype;
  for (auto [decl, value] : llvm::zip_equal(decls, context.attributes().values())) {
    if (decl.kind != AttributeKind::kFloat || decl.in_double) continue;
    if (!dtype) dtype = ComputeDType(context);
    if (dtype != DType::kF32) return llvm::Error::success();
    if (const auto* number = std::get_if<double>(&value)) {
      if (llvm::Error error = CheckFits(context, decl, *number, std::nullopt)) return error;
    } else if (const auto* list = std::get_if<std::vector<double>>(&value)) {
      for (unsigned i = 0; i < list->size(); ++i)
        if (llvm::Error error = CheckFits(context, decl, (*list)[i], i)) return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error CheckOutputs(const InferenceContext& context) {
  for (const Type& type : context.outputs()) {
    Dim known_bytes = DTypeSize(type.dtype);
    for (const Dim& dim : type.dims) {
      if (!dim.is_valid())
        return context.Fail(Code::kDimOverflow,
                            "a size of the result overflows 64 bits or divides by zero");
      if (dim.ProvablyAtMost(-1))
        return context.Fail(Code::kDimOverflow, "a size of the result is negative: {0}",
                            dim.ToString());
      if (dim.is_constant()) known_bytes = known_bytes * dim;
    }
    if (const std::string fault = type.Fault(); !fault.empty())
      return context.Fail(Code::kStorage, "the result would be {0}, but {1}", type.ToString(),
                          fault);
    if (!known_bytes.is_valid())
      return context.Fail(Code::kDimOverflow, "the result {0} has more than 2**63 bytes",
                          type.ToString());
  }
  return llvm::Error::success();
}

/// Whether a run can compute the size: each of its symbols is one of an operand or an attribute, or
/// is new.
bool HasKnownSymbols(const InferenceContext& context, const Type& type) {
  llvm::StringSet<> known;
  const auto add = [&](llvm::StringRef symbol) { known.insert(symbol); };
  for (unsigned i = 0; i < context.num_inputs(); ++i) ForEachSymbol(context.input(i), add);
  for (const AttributeValue& value : context.attributes().values()) ForEachSymbol(value, add);
  bool all = true;
  ForEachSymbol(type, [&](llvm::StringRef symbol) {
    all &= known.contains(symbol) || symbol.ltrim('~').starts_with("?");
  });
  return all;
}

/// Requires that each operand broadcasts to the result.
llvm::Error CheckBroadcasts(InferenceContext& context) {
  const Type result = context.outputs()[0];
  for (unsigned i = 0; i < context.num_inputs(); ++i) {
    const Type& type = context.input(i);
    if (type.rank() > result.rank())
      return context.FailAt({i}, Code::kBroadcast, "{0} does not broadcast to {1}", type.ToString(),
                            result.ToString());
    for (unsigned axis = 0; axis < type.rank(); ++axis) {
      const Dim& dim = type.dims[axis];
      if (dim.is_constant(1)) continue;
      if (llvm::Error error = context.RequireEqual(
              dim, result.dims[result.rank() - type.rank() + axis], {i}, "sizes do not broadcast"))
        return error;
    }
  }
  return llvm::Error::success();
}

/// Checks of operators outside libpdl, which no test compares with their declarations.
llvm::Error CheckExternal(InferenceContext& context) {
  const OpSignature& signature = context.def().signature;
  llvm::SmallVector<const Type*, 4> operands, results;
  for (unsigned i = 0; i < context.num_inputs(); ++i) operands.push_back(&context.input(i));
  for (const Type& type : context.outputs()) results.push_back(&type);
  const std::string fault =
      FaultOfOutputs(signature, operands, context.attributes().values(), results);
  if (!fault.empty()) return context.Fail(Code::kOperatorUse, "{0}", fault);
  for (const auto& [i, type] : llvm::enumerate(context.outputs()))
    if (!HasKnownSymbols(context, type))
      return context.Fail(
          Code::kOperatorUse,
          "output '{0}' is {1}, with a size that is that of no operand or attribute",
          signature.output(i).name, type.ToString());
  return signature.properties.elementwise ? CheckBroadcasts(context) : llvm::Error::success();
}

/// The lengths of an operand belong to its rows and are not broadcast to others.
llvm::Error CheckRowsOfRagged(const InferenceContext& context) {
  const Type& result = context.outputs()[0];
  for (unsigned i = 0; i < context.num_inputs(); ++i) {
    const Type& type = context.input(i);
    if (type.ragged_levels() > 0 && type.dims[0].is_constant(1) && !result.dims[0].is_constant(1))
      return context.FailAt({i}, Code::kBroadcast, "the row of {0} does not broadcast to {1}",
                            type.ToString(), result.dims[0].ToString());
  }
  return llvm::Error::success();
}

}  // namespace

llvm::Error Infer(InferenceContext& context) {
  if (llvm::Error error = CheckOperandCount(context)) return error;
  if (llvm::Error error = CheckOperands(context)) return error;
  if (llvm::Error error = CheckDimsInAttributes(context)) return error;
  if (llvm::Error error = CheckFloatAttributes(context)) return error;
  llvm::Error failure = ConvertExceptions([&] { return context.def().infer(context); },
                                          [&](const char* what) {
                                            return context.Fail(Code::kOperatorUse,
                                                                "its inference failed: {0}", what);
                                          });
  if (failure) return failure;
  if (llvm::Error error = context.CheckOutputsAreSet()) return error;
  if (llvm::Error error = CheckOutputs(context)) return error;
  if (context.def().is_external())
    if (llvm::Error error = CheckExternal(context)) return error;
  return context.def().properties().elementwise ? CheckRowsOfRagged(context)
                                                : llvm::Error::success();
}

llvm::Expected<Type> InferBroadcast(InferenceContext& context) {
  Type result = context.input(0);
  result.index_bound.reset();
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& other = context.input(i);
    if (other.dtype != result.dtype)
      return context.FailAt({0, i}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                            DTypeName(result.dtype), DTypeName(other.dtype));
    if (other.rank() > result.rank())
      result.dims.insert(result.dims.begin(), other.rank() - result.rank(), Dim(1));
    unsigned offset = result.rank() - other.rank();
    for (unsigned axis = 0; axis < other.rank(); ++axis) {
      Dim& mine = result.dims[offset + axis];
      const Dim& theirs = other.dims[axis];
      if (mine == theirs || theirs.is_constant(1)) continue;
      if (mine.is_constant(1)) {
        mine = theirs;
        continue;
      }
      Dim difference = mine - theirs;
      if (difference.ProvablyAtLeast(1) || difference.ProvablyAtMost(-1) || mine.is_ragged() ||
          theirs.is_ragged())
        return context.FailAt({0, i}, Code::kBroadcast, "sizes do not broadcast: {0} and {1}",
                              mine.ToString(), theirs.ToString());
      if (llvm::Error error = context.RequireEqual(mine, theirs, {0, i}, "sizes do not broadcast"))
        return error;
      // Of two sizes that must be equal, keep the known one.
      if (theirs.is_constant()) mine = theirs;
    }
  }
  return result;
}

llvm::Error InferSameAsFirst(InferenceContext& context) {
  Type type = context.input(0);
  type.index_bound.reset();
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

}  // namespace pdl
