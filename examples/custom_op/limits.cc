// limits(x, where, axis, quantiles): an operator with two results, an optional operand, a list
// attribute and types of its own; it is not elementwise, so it is derived from Operator.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

/// The sizes around the axis: `outer` blocks of `length` rows of `inner` elements.
struct Split : pdl::CallState {
  int64_t outer = 1, length = 1, inner = 1;
};

template <class Context>
class LimitsOp : public pdl::Operator<Context> {
 public:
  /// Called once for each set of sizes; Run finds the result in its context.
  llvm::Expected<pdl::Preparation> Prepare(const pdl::PrepareContext& context) const override {
    const llvm::ArrayRef<int64_t> sizes = context.inputs()[0].sizes;
    const int64_t axis = this->attributes().Int("axis");
    const auto at =
        static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(sizes.size()) : axis);
    auto split = std::make_shared<Split>();
    for (const int64_t size : sizes.take_front(at)) split->outer *= size;
    split->length = sizes[at];
    for (const int64_t size : sizes.drop_front(at + 1)) split->inner *= size;
    pdl::Preparation preparation;
    preparation.state = std::move(split);
    // Run must not allocate. This is one row for each result.
    const pdl::OperandType& x = context.inputs()[0];
    preparation.workspace_bytes = x.num_elements() * static_cast<int64_t>(pdl::DTypeSize(x.dtype));
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context& context) const override {
    const Split& split = *context.template state<Split>();
    const bool* where = inputs.size() > 1 ? inputs[1]->template data<bool>() : nullptr;
    if (inputs[0]->dtype() == pdl::DType::kF32)
      Compute<float>(split, inputs[0]->raw(), where, outputs, context);
    else
      Compute<double>(split, inputs[0]->raw(), where, outputs, context);
    return llvm::Error::success();
  }

 protected:
  /// Called once for each call, before its sizes are known. Checks what ranges cannot express.
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    llvm::SmallVector<double, 2> quantiles;
    if (llvm::Error error = attributes.GetArray<double>("quantiles", &quantiles)) return error;
    if (quantiles.size() != 2 || !(quantiles[0] <= quantiles[1]))
      return attributes.FailAtAttribute("quantiles", pdl::Code::kAttributeRange,
                                        "'quantiles' must be two numbers in increasing order");
    low_ = quantiles[0];
    high_ = quantiles[1];
    return llvm::Error::success();
  }

 private:
  template <class T>
  void Compute(const Split& split, const void* data, const bool* where,
               llvm::MutableArrayRef<pdl::Tensor*> outputs, Context& context) const {
    const T* x = static_cast<const T*>(data);
    T* low = outputs[0]->template data<T>();
    T* high = outputs[1]->template data<T>();
    // Threads compute pieces of at least 64 results. A result does not depend on the pieces.
    T* rows = static_cast<T*>(context.workspace());
    context.ParallelFor(split.outer * split.inner, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / split.inner * split.length * split.inner + i % split.inner;
        T* row = rows + i * split.length;
        int64_t count = 0;
        for (int64_t k = 0; k < split.length; ++k) {
          const int64_t element = first + k * split.inner;
          if (where == nullptr || where[element]) row[count++] = x[element];
        }
        low[i] = Quantile(row, count, low_);
        high[i] = Quantile(row, count, high_);
      }
    });
  }

  /// The element with this share of the others below it; nan of none. Reorders the row.
  template <class T>
  static T Quantile(T* row, int64_t count, double share) {
    if (count == 0) return std::numeric_limits<T>::quiet_NaN();
    const auto at = static_cast<int64_t>(share * static_cast<double>(count - 1));
    std::nth_element(row, row + at, row + count);
    return row[at];
  }

  double low_ = 0, high_ = 1;
};

/// Checks the operands, whose number and dtypes have been compared with the declaration, and sets
/// the types of both results.
llvm::Error InferLimits(pdl::InferenceContext& context) {
  const pdl::Type& x = context.input(0);
  llvm::Expected<unsigned> axis =
      context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (context.has_input(1)) {
    const pdl::Type& where = context.input(1);
    if (where.rank() != x.rank())
      return context.FailAt({0, 1}, pdl::Code::kRank, "'where' must have the dims of 'x', got {0}",
                            where.ToString());
    // Sizes may be symbols: what the compiler cannot decide, each run checks.
    for (unsigned i = 0; i < x.rank(); ++i)
      if (llvm::Error error =
              context.RequireEqual(x.dims[i], where.dims[i], {0, 1}, "'where' and 'x' differ"))
        return error;
  }
  pdl::Type limit = x;
  limit.dims.erase(limit.dims.begin() + *axis);
  context.SetOutput(0, limit);
  context.SetOutput(1, limit);
  return llvm::Error::success();
}

/// The gradient goes to the elements that are equal to a limit. `output_gradient` is null if
/// nothing depends on that result.
void LimitsGradient(pdl::GradientContext& g) {
  const int64_t axis = g.attributes().Int("axis");
  pdl::Value* sum = nullptr;
  for (const unsigned i : {0u, 1u}) {
    if (g.output_gradient(i) == nullptr) continue;
    const auto spread = [&](pdl::Value* limit) {
      const std::vector<int64_t> axes = {axis};
      return g.Call("unsqueeze", {limit}, {{"axes", axes}});
    };
    pdl::Value* hit = g.Call("equal", {g.input(0), spread(g.output(i))});
    pdl::Value* part =
        g.Call("where", {hit, spread(g.output_gradient(i)), g.Scalar(0, g.output_gradient(i))});
    sum = sum == nullptr ? part : g.Add(sum, part);
  }
  g.SetInputGradient(0, sum);
}

struct LimitsMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment(
        "Two quantiles along an axis, by default the least and the largest element. Of elements "
        "that are equal to a quantile, each gets its gradient.");
    AddInput("x", "a tensor of at least one dim")
        .Accepts(pdl::DTypeSet(pdl::DType::kF32) | pdl::DType::kF64);
    AddInput("where", "dims as x; which elements count; default: all")
        .Accepts(pdl::DType::kBool)
        .OwnDType()
        .Selector()
        .Optional();
    AddOutput("low", "the dims of x without the axis; nan where no element counts").DTypeOf("x");
    AddOutput("high", "as low").DTypeOf("x");
    AddAttr<int64_t>("axis", "the axis of x").Default(-1).Axis();
    AddAttr<std::vector<double>>("quantiles", "two shares of the elements, in increasing order")
        .Default({0, 1})
        .AtLeast(0)
        .AtMost(1);
    SetInference(InferLimits);
    SetGradient(LimitsGradient);
    AddExample("low, high = limits([[3.0, 1.0, 2.0]])  # = [1.0]");
  }
};

REGISTER_OP(LimitsOp, LimitsMaker, "limits");

}  // namespace
