#include "kernels/control/scan_inference.h"

#include "kernels/core/inference_helpers.h"
#include "pdl/compiler/graph.h"

namespace pdl {
namespace {

/// The types of the slices that the body receives at each step of a call.
class ScanTypes {
 public:
  explicit ScanTypes(InferenceContext& context)
      : context_(context),
        is_conditional_(context.attributes().Find("max_steps") != nullptr),
        is_packed_(!context.attributes().Find("axis") && !is_conditional_),
        num_xs_(is_conditional_ ? 0 : Count("num_xs")),
        num_init_(Count("num_init")),
        num_captured_(Count("num_captured")) {}

  unsigned num_xs() const { return num_xs_; }
  unsigned num_init() const { return num_init_; }
  unsigned num_given() const { return num_xs_ + num_init_ + num_captured_; }
  /// Whether each row has a length of its own, so that a step may have fewer rows than the batch.
  bool by_row() const { return by_row_; }

  /// Reads and checks all operands except the captured ones.
  llvm::Error Read() {
    if (is_conditional_) return ReadConditional();
    if (num_xs_ == 0)
      return context_.Fail(Code::kOperandCount, "requires at least one sequence to iterate over");
    const bool has_lengths = context_.num_inputs() > num_given();
    if (is_packed_) return ReadPacked();
    const Type& first = context_.input(0);
    if (first.rank() == 0)
      return context_.FailAt({0}, Code::kRank, "'xs' must have an axis to iterate over, got {0}",
                             first.ToString());
    llvm::Expected<unsigned> axis =
        context_.NormalizeAxis(context_.attributes().Int("axis"), first.rank(), "axis");
    if (!axis) return axis.takeError();
    axis_ = *axis;
    is_ragged_ = first.ragged_levels() > 0;
    for (unsigned i = 0; i < num_xs_; ++i)
      if (context_.input(i).ragged_levels() > 1)
        return context_.FailAt({i}, Code::kStorage, "'xs' takes at most 1 ragged dim, got {0}",
                               context_.input(i).ToString());
    by_row_ = is_ragged_ || has_lengths;
    steps_ = first.dims[axis_];
    if (is_ragged_ && axis_ != 1)
      return context_.FailAtAttribute("axis", Code::kStorage,
                                      "the steps of {0} are along its axis 1", first.ToString());
    if (is_ragged_ && has_lengths)
      return context_.FailAt({num_given()}, Code::kStorage, "{0} is ragged and has its own lengths",
                             first.ToString());
    if (by_row_ && (first.rank() < 2 || axis_ > 1))
      return context_.FailAtAttribute(
          "axis", Code::kAxis, "with lengths, the rows and the steps must be the first two axes");
    if (by_row_) rows_ = first.dims[1 - axis_];
    for (unsigned i = 1; i < num_xs_; ++i) {
      const Type& other = context_.input(i);
      if (other.rank() <= axis_ || (by_row_ && other.rank() < 2))
        return context_.FailAt({i}, Code::kRank, "'xs' must have the axis {0}, got {1}", axis_,
                               other.ToString());
      if (llvm::Error error =
              context_.RequireEqual(steps_, other.dims[axis_], {0, i}, "numbers of steps differ"))
        return error;
      if (!by_row_) continue;
      if (llvm::Error error =
              context_.RequireEqual(rows_, other.dims[1 - axis_], {0, i}, "numbers of rows differ"))
        return error;
    }
    return has_lengths ? CheckLengths(rows_, "lengths", "[N]") : llvm::Error::success();
  }

  /// The type of the slice of a sequence that the body receives; `rows` is its number of rows.
  Type SliceOf(const Type& type, const Dim& rows) const {
    Type slice = type;
    if (!by_row_) {
      slice.dims.erase(slice.dims.begin() + axis_);
    } else {
      slice.dims.erase(slice.dims.begin());
      if (!is_packed_) slice.dims.erase(slice.dims.begin());
      slice.dims.insert(slice.dims.begin(), rows);
    }
    return slice;
  }

  /// The type that the body receives for a carried value, if each row carries its own.
  Type RowsOf(const Type& type, const Dim& rows) const {
    Type slice(type.dtype, type.dims);
    if (by_row_ && type.rank() > 0) slice.dims[0] = rows;
    return slice;
  }
  /// If steps have rows, requires operand `input` to have one row for each sequence.
  llvm::Error RequireRows(unsigned input) {
    const Type& type = context_.input(input);
    if (!by_row_ || type.rank() == 0) return llvm::Error::success();
    return context_.RequireEqual(type.dims[0], rows_, {input},
                                 "a carried value must have one row for each sequence");
  }

  /// The stacked results of all steps, each of type `slice`; none if they cannot be stacked.
  std::optional<Type> StackOf(const Type& slice) const {
    Type stacked(slice.dtype, slice.dims);
    if (slice.index_bound) stacked.index_bound = slice.index_bound;
    if (!by_row_) {
      if (slice.rank() < axis_) return std::nullopt;
      stacked.dims.insert(stacked.dims.begin() + axis_, steps_);
      return stacked;
    }
    stacked.dims[0] = rows_;
    if (is_packed_) {
      stacked.dims[0] = steps_;
    } else {
      stacked.dims.insert(stacked.dims.begin() + axis_, steps_);
    }
    return stacked;
  }

 private:
  unsigned Count(llvm::StringRef name) const {
    return static_cast<unsigned>(context_.attributes().Int(name));
  }

  llvm::Error ReadConditional() {
    if (llvm::Error error = CheckDims(context_, "max_steps")) return error;
    const Shape& steps = context_.attributes().Dims("max_steps");
    if (steps.size() != 1)
      return context_.FailAtAttribute("max_steps", Code::kRank,
                                      "'max_steps' must be one size, got {0}", steps.size());
    steps_ = steps[0];
    if (num_init_ == 0)
      return context_.Fail(Code::kOperandCount,
                           "requires the condition, bool[], as the first value of 'init'");
    const Type& condition = context_.input(0);
    if (condition.dtype == DType::kBool && condition.is_scalar()) return llvm::Error::success();
    return context_.FailAt({0}, Code::kRank,
                           "the first value of 'init' is the condition, which must be bool[], got "
                           "{0}",
                           condition.ToString());
  }

  llvm::Error ReadPacked() {
    by_row_ = true;
    const unsigned offsets = num_given();
    if (context_.num_inputs() <= offsets || context_.input(offsets).rank() != 1)
      return CheckLengths(0, "offsets", "[N + 1]");
    rows_ = context_.input(offsets).dims[0] - 1;
    if (llvm::Error error = CheckLengths(rows_ + 1, "offsets", "[N + 1]")) return error;
    for (unsigned i = 0; i < num_xs_; ++i) {
      if (context_.input(i).rank() == 0)
        return context_.FailAt({i}, Code::kRank, "'xs' must have rows, got {0}",
                               context_.input(i).ToString());
      if (i == 0) continue;
      if (llvm::Error error =
              context_.RequireEqual(context_.input(0).dims[0], context_.input(i).dims[0], {0, i},
                                    "numbers of rows differ"))
        return error;
    }
    steps_ = context_.input(0).dims[0];
    return llvm::Error::success();
  }

  llvm::Error CheckLengths(const Dim& size, llvm::StringRef name, llvm::StringRef dims) {
    const unsigned index = num_given();
    if (context_.num_inputs() <= index)
      return context_.Fail(Code::kOperandCount, "requires '{0}': i64{1}", name, dims);
    const Type& type = context_.input(index);
    if (type.dtype != DType::kI64 || type.rank() != 1)
      return context_.FailAt({index}, Code::kRank, "'{0}' must be i64{1}, got {2}", name, dims,
                             type.ToString());
    if (is_packed_) {
      return context_.RequireAtLeast(type.dims[0], 1, {index},
                                     "the offsets must have one element more than there are rows");
    }
    return context_.RequireEqual(type.dims[0], size, {index},
                                 "there must be one length for each row");
  }

  InferenceContext& context_;
  bool is_conditional_;
  bool is_packed_;
  unsigned num_xs_, num_init_, num_captured_;
  bool by_row_ = false;
  bool is_ragged_ = false;
  unsigned axis_ = 0;
  Dim steps_, rows_;
};

bool Mentions(const Type& type, llvm::StringRef symbol) {
  bool found = false;
  auto look = [&](const Dim& dim) {
    dim.ForEachSymbol([&](llvm::StringRef name) { found |= name == symbol; });
  };
  llvm::for_each(type.dims, look);
  if (type.index_bound) look(*type.index_bound);
  return found;
}

}  // namespace

llvm::Expected<std::vector<Type>> ScanBodyTypes(InferenceContext& context) {
  ScanTypes types(context);
  if (llvm::Error error = types.Read()) return error;
  const Dim rows = types.by_row() ? context.FreshSymbol("rows") : Dim();
  std::vector<Type> given;
  for (unsigned i = 0; i < types.num_given(); ++i) {
    const Type& type = context.input(i);
    if (i >= types.num_xs() && i < types.num_xs() + types.num_init())
      if (llvm::Error error = types.RequireRows(i)) return error;
    given.push_back(i < types.num_xs()                      ? types.SliceOf(type, rows)
                    : i < types.num_xs() + types.num_init() ? types.RowsOf(type, rows)
                                                            : type);
  }
  return given;
}

namespace {

/// Checks of one call of scan or segment_scan against its body.
class BodyInference {
 public:
  BodyInference(InferenceContext& context, ScanTypes& types, const Block& body)
      : context_(context), types_(types), body_(body) {}

  llvm::Error Infer() {
    if (llvm::Error error = ReadRows()) return error;
    for (unsigned i = 0; i < types_.num_given(); ++i)
      if (llvm::Error error = CheckInput(i)) return error;
    for (const Op* op : body_.ops)
      if (llvm::Error error = CheckOp(*op)) return error;
    if (llvm::Error error = CheckCounts()) return error;
    for (unsigned j = 0; j < types_.num_init(); ++j)
      if (llvm::Error error = InferCarried(j)) return error;
    for (unsigned k = 0; k < num_steps(); ++k)
      if (llvm::Error error = InferStacked(k)) return error;
    return llvm::Error::success();
  }

 private:
  template <class... Args>
  llvm::Error Fail(const char* format, Args&&... args) {
    return context_.FailAtAttribute("body", Code::kBody, format, std::forward<Args>(args)...);
  }
  unsigned num_steps() const {
    return static_cast<unsigned>(body_.outputs.size()) - types_.num_init();
  }

  /// Sets rows_, the symbol that the body has for the number of rows of a step.
  llvm::Error ReadRows();
  llvm::Error CheckInput(unsigned i);
  llvm::Error CheckOp(const Op& op);
  llvm::Error CheckCounts();
  llvm::Error InferCarried(unsigned j);
  llvm::Error InferStacked(unsigned k);

  InferenceContext& context_;
  ScanTypes& types_;
  const Block& body_;
  Dim rows_;
};

llvm::Error BodyInference::ReadRows() {
  if (body_.inputs.size() != types_.num_given())
    return Fail("the body takes {0} values, but is given {1}", body_.inputs.size(),
                types_.num_given());
  if (!types_.by_row()) return llvm::Error::success();
  const Shape& dims = body_.inputs[0]->type().dims;
  if (dims.empty() || dims[0].symbol().empty() || dims[0].is_ragged())
    return Fail("the body takes {0}, which has no symbolic number of rows",
                body_.inputs[0]->type().ToString());
  rows_ = dims[0];
  for (unsigned i = 0; i < context_.num_inputs(); ++i)
    if (Mentions(context_.input(i), rows_.symbol()))
      return Fail("the number of rows {0} of the body must be a symbol of its own",
                  rows_.ToString());
  return llvm::Error::success();
}

llvm::Error BodyInference::CheckInput(unsigned i) {
  const Type& given = context_.input(i);
  const Type& taken = body_.inputs[i]->type();
  const bool is_carried = i >= types_.num_xs() && i < types_.num_xs() + types_.num_init();
  const bool is_captured = i >= types_.num_xs() + types_.num_init();
  if (is_captured && !given.is_plain())
    return context_.FailAt({i}, Code::kStorage,
                           "the body of a loop can only capture dense values, got {0}",
                           given.ToString());
  const Type expected = is_captured  ? given
                        : is_carried ? types_.RowsOf(given, rows_)
                                     : types_.SliceOf(given, rows_);
  if (taken == expected) return is_carried ? types_.RequireRows(i) : llvm::Error::success();
  // A value may also be carried for all rows together, of any shape.
  if (is_carried && taken == Type(given.dtype, given.dims)) return llvm::Error::success();
  return Fail("the body takes {0} as its value {1}, but is given {2}", taken.ToString(), i + 1,
              expected.ToString());
}

llvm::Error BodyInference::CheckOp(const Op& op) {
  for (const DimCheck& check : op.checks()) {
    const Type sides(DType::kI64, {check.left, check.right});
    if (types_.by_row() && check.relation == DimCheck::Relation::kEqual &&
        Mentions(sides, rows_.symbol()))
      return Fail(
          "'{0}' in the body requires {1} == {2}, but a step may have fewer rows than the batch",
          op.type(), check.left.ToString(), check.right.ToString());
  }
  if (op.def().properties().has_side_effect && !op.def().properties().only_checks)
    return Fail("'{0}' has a side effect, which the body of a loop must not have", op.type());
  return llvm::Error::success();
}

llvm::Error BodyInference::CheckCounts() {
  const size_t num_results = body_.outputs.size();
  if (num_results != static_cast<size_t>(context_.attributes().Int("num_results")))
    return Fail("the body returns {0} values, but the call has {1} results", num_results,
                context_.attributes().Int("num_results"));
  if (num_results < types_.num_init())
    return Fail("the body returns {0} values, but carries {1}", num_results, types_.num_init());
  if (num_results == 0) return Fail("the body returns no values");
  return llvm::Error::success();
}

llvm::Error BodyInference::InferCarried(unsigned j) {
  const Type& before = body_.inputs[types_.num_xs() + j]->type();
  const Type& after = body_.outputs[j]->type();
  if (after.dtype != before.dtype || after.dims != before.dims || !after.is_plain())
    return Fail("a carried value has type {0}, but the body returns {1} as its value {2}",
                before.ToString(), after.ToString(), j + 1);
  const Type& first = context_.input(types_.num_xs() + j);
  context_.SetOutput(num_steps() + j, Type(first.dtype, first.dims));
  return llvm::Error::success();
}

llvm::Error BodyInference::InferStacked(unsigned k) {
  const Type& step = body_.outputs[types_.num_init() + k]->type();
  if (types_.by_row()) {
    if (step.rank() == 0 || step.dims[0] != rows_)
      return Fail(
          "each result of a step must have one row for each row of the step, but the body returns "
          "{0}",
          step.ToString());
    Type rest = step;
    rest.dims.erase(rest.dims.begin());
    if (Mentions(rest, rows_.symbol()))
      return Fail("the body returns {0}, whose rows change in size", step.ToString());
  }
  std::optional<Type> stacked = types_.StackOf(step);
  if (!step.is_plain() || !stacked)
    return Fail(
        "results of type {0} cannot be stacked: they lack the dims before the axis of the steps",
        step.ToString());
  context_.SetOutput(k, std::move(*stacked));
  return llvm::Error::success();
}

}  // namespace

llvm::Error InferBlockScan(InferenceContext& context) {
  ScanTypes types(context);
  if (llvm::Error error = types.Read()) return error;
  const Block* body = context.FindBlock("body");
  if (!body)
    return context.FailAtAttribute("body", Code::kBody,
                                   "a loop can only be used in a network, not called on its own");
  return BodyInference(context, types, *body).Infer();
}

}  // namespace pdl
