// einsum: sums of products along named axes. It has no kernel: it is lowered to matmuls, sums and
// transpositions before a network is planned.
#include "kernels/core/element.h"
#include "kernels/linear/einsum_spec.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/gradient.h"
#include "pdl/op/inference.h"
#include "pdl/op/lowering.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using Labels = EinsumSpec::Labels;
constexpr size_t kMostLabels = 52;

llvm::Error InferEinsum(InferenceContext& context) {
  std::vector<Shape> dims;
  for (unsigned i = 0; i < context.num_inputs(); ++i) {
    if (context.input(i).dtype != context.input(0).dtype) {
      return context.FailAt({0, i}, Code::kDTypeMismatch, "dtypes differ: {0} and {1}",
                            DTypeName(context.input(0).dtype), DTypeName(context.input(i).dtype));
    }
    dims.push_back(context.input(i).dims);
  }
  auto spec = ParseEinsum(
      context.attributes().String("equation"), dims,
      [&](std::optional<unsigned> operand, Code code, const std::string& message) {
        return operand ? context.FailAt({*operand}, code, "{0}", message)
                       : context.FailAtAttribute("equation", code, "{0}", message);
      },
      [&](const Dim& a, const Dim& b, unsigned operand) {
        return context.RequireEqual(a, b, {operand}, "dims with the same label differ");
      });
  if (!spec) return spec.takeError();
  if (spec->sizes.size() > kMostLabels) {
    return context.FailAtAttribute("equation", Code::kRank,
                                   "the equation has {0} labels, the limit is {1}",
                                   spec->sizes.size(), kMostLabels);
  }
  context.SetOutput(Type(context.input(0).dtype, spec->SizesOf(spec->output)));
  return llvm::Error::success();
}

/// A value whose axes have distinct labels, and calls that transform it. `Context` is a
/// LoweringContext or a GradientContext.
template <class Context>
class Labelled {
 public:
  Labelled(Context& context, const EinsumSpec& spec, Value* value, Labels labels)
      : context_(&context), spec_(&spec), value_(value), labels_(std::move(labels)) {}

  Value* value() const { return value_; }
  llvm::ArrayRef<int> labels() const { return labels_; }
  bool has(int label) const { return llvm::is_contained(labels_, label); }

  void Transpose(llvm::ArrayRef<int> order) {
    if (llvm::ArrayRef<int>(labels_) == order) return;
    std::vector<int64_t> perm;
    for (const int label : order) perm.push_back(llvm::find(labels_, label) - labels_.begin());
    value_ = context_->Call("transpose", {value_}, {{"perm", perm}});
    labels_.assign(order.begin(), order.end());
  }

  Value* Reshaped(const Shape& dims) const {
    if (value_ == nullptr || value_->type().dims == dims) return value_;
    return context_->Call("reshape", {value_}, {{"dims", dims}});
  }

  /// Sums over all labels except those that `keeps` selects.
  void SumTo(llvm::function_ref<bool(int label)> keeps) {
    std::vector<int64_t> axes;
    bool sums = false;
    Labels kept;
    for (size_t axis = 0; axis < labels_.size(); ++axis) {
      if (keeps(labels_[axis])) {
        kept.push_back(labels_[axis]);
        continue;
      }
      axes.push_back(static_cast<int64_t>(axis));
      sums |= !spec_->sizes[static_cast<size_t>(labels_[axis])].is_constant(1);
    }
    if (axes.empty()) return;
    if (sums && value_ != nullptr) {
      const DType dtype = value_->type().dtype;
      value_ = context_->Call("sum", {value_}, {{"axes", axes}});
      // Sums of integers are i64.
      if (value_ != nullptr && value_->type().dtype != dtype) {
        value_ = context_->Call("cast", {value_}, {{"to", dtype}});
      }
    }
    labels_ = std::move(kept);
    value_ = Reshaped(spec_->SizesOf(labels_));
  }

  /// Broadcasts the value to the labels of `order`, which include its own.
  void SpreadTo(llvm::ArrayRef<int> order) {
    Labels present;
    Shape dims;
    for (const int label : order) {
      if (has(label)) present.push_back(label);
      dims.push_back(has(label) ? spec_->sizes[static_cast<size_t>(label)] : Dim(1));
    }
    Transpose(present);
    value_ = Reshaped(dims);
    const Shape all = spec_->SizesOf(order);
    if (dims != all) value_ = context_->Call("broadcast_to", {value_}, {{"dims", all}});
    labels_.assign(order.begin(), order.end());
  }

 private:
  Context* context_;
  const EinsumSpec* spec_;
  Value* value_;
  Labels labels_;
};

// True where the indices along axes `a` and `b` of `dims` are equal; the other axes have size 1.
template <class Context>
Value* DiagonalMask(Context& context, const Shape& dims, size_t a, size_t b) {
  const auto places = [&](size_t axis) {
    Shape shape(dims.size(), Dim(1));
    shape[axis] = dims[axis];
    Value* range =
        context.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", Shape{dims[axis]}}});
    return context.Call("reshape", {range}, {{"dims", shape}});
  };
  return context.Call("equal", {places(a), places(b)});
}

// --- Lowering -----------------------------------------------------------------------------------

using Lowered = Labelled<LoweringContext>;

Value* Zero(LoweringContext& l, DType dtype) {
  return l.Call("zeros", {}, {{"dims", Shape{}}, {"dtype", dtype}});
}

// Removes repeated labels from an operand: elements off their diagonal are masked out, and all axes
// but the first are summed over.
Lowered TakeDiagonals(LoweringContext& l, const EinsumSpec& spec, Value* value, Labels labels) {
  for (size_t b = 0; b < labels.size() && value != nullptr;) {
    const size_t a = static_cast<size_t>(llvm::find(labels, labels[b]) - labels.begin());
    if (a == b) {
      ++b;
      continue;
    }
    const DType dtype = value->type().dtype;
    Value* mask = DiagonalMask(l, value->type().dims, a, b);
    value = l.Call("where", {mask, value, Zero(l, dtype)});
    value = l.Call("sum", {value}, {{"axes", std::vector<int64_t>{static_cast<int64_t>(b)}}});
    if (value != nullptr && value->type().dtype != dtype) {
      value = l.Call("cast", {value}, {{"to", dtype}});
    }
    labels.erase(labels.begin() + static_cast<ptrdiff_t>(b));
  }
  return {l, spec, value, std::move(labels)};
}

// The product of two operands, summed over the labels for which `needs` is false.
Lowered Contract(LoweringContext& l, const EinsumSpec& spec, Lowered a, Lowered b,
                 llvm::function_ref<bool(int label)> needs) {
  a.SumTo([&](int label) { return needs(label) || b.has(label); });
  b.SumTo([&](int label) { return needs(label) || a.has(label); });
  Labels batch, rows, columns, inner;
  for (const int label : a.labels()) {
    (!b.has(label) ? rows : needs(label) ? batch : inner).push_back(label);
  }
  for (const int label : b.labels()) {
    if (!a.has(label)) columns.push_back(label);
  }
  const auto joined = [](llvm::ArrayRef<Labels> parts) {
    Labels all;
    for (const Labels& part : parts) all.append(part.begin(), part.end());
    return all;
  };
  const Labels result = joined({batch, rows, columns});
  if (inner.empty()) {
    const auto with_ones = [&](const Lowered& x) {
      Shape dims;
      for (const int label : result) {
        dims.push_back(x.has(label) ? spec.sizes[static_cast<size_t>(label)] : Dim(1));
      }
      return x.Reshaped(dims);
    };
    a.Transpose(joined({batch, rows}));
    b.Transpose(joined({batch, columns}));
    return {l, spec, l.Call("mul", {with_ones(a), with_ones(b)}), result};
  }
  // If the axes of an operand are already in transposed order, the matmul transposes it.
  const bool transpose_a = a.labels() == llvm::ArrayRef<int>(joined({batch, inner, rows}));
  const bool transpose_b = b.labels() == llvm::ArrayRef<int>(joined({batch, columns, inner}));
  if (!transpose_a) a.Transpose(joined({batch, rows, inner}));
  if (!transpose_b) b.Transpose(joined({batch, inner, columns}));
  const auto size = [&](const Labels& labels) { return NumElements(spec.SizesOf(labels)); };
  const auto matrices = [&](const Labels& first, const Labels& second, bool turned) {
    Shape dims;
    if (!batch.empty()) dims.push_back(size(batch));
    dims.push_back(size(turned ? second : first));
    dims.push_back(size(turned ? first : second));
    return dims;
  };
  Value* product = l.Call("matmul",
                          {a.Reshaped(matrices(rows, inner, transpose_a)),
                           b.Reshaped(matrices(inner, columns, transpose_b))},
                          {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  if (product != nullptr) {
    product = l.Call("reshape", {product}, {{"dims", spec.SizesOf(result)}});
  }
  return {l, spec, product, result};
}

llvm::Error LowerEinsum(LoweringContext& l) {
  std::vector<Shape> dims;
  for (unsigned i = 0; i < l.num_inputs(); ++i) dims.push_back(l.input(i).type.dims);
  const EinsumSpec spec = ParseEinsum(l.attributes().String("equation"), dims);
  Lowered result = TakeDiagonals(l, spec, l.input(0).values, spec.operands[0]);
  for (unsigned i = 1; i < l.num_inputs(); ++i) {
    const auto needs = [&](int label) {
      const auto has = [&](const Labels& labels) { return llvm::is_contained(labels, label); };
      return has(spec.output) ||
             llvm::any_of(llvm::ArrayRef<Labels>(spec.operands).drop_front(i + 1), has);
    };
    result = Contract(l, spec, std::move(result),
                      TakeDiagonals(l, spec, l.input(i).values, spec.operands[i]), needs);
  }
  result.SumTo([&](int label) { return llvm::is_contained(spec.output, label); });
  result.Transpose(spec.output);
  l.SetOutput(result.value());
  return l.TakeError();
}

// --- Gradient -----------------------------------------------------------------------------------

// The gradient of an operand is an einsum of the other operands and dy with the operand's labels,
// as far as those have them. It is broadcast along the remaining labels, and 0 off a diagonal.
void EinsumGradient(GradientContext& g) {
  const DType dtype = g.input(0)->type().dtype;
  if (!IsFloat(dtype)) return;
  std::vector<Shape> dims;
  for (unsigned i = 0; i < g.num_inputs(); ++i) dims.push_back(g.input(i)->type().dims);
  const EinsumSpec spec = ParseEinsum(g.attributes().String("equation"), dims);
  for (unsigned k = 0; k < g.num_inputs(); ++k) {
    llvm::SmallVector<Value*, 4> values = {g.output_gradient()};
    std::vector<Labels> terms = {spec.output};
    for (unsigned i = 0; i < g.num_inputs(); ++i) {
      if (i == k) continue;
      values.push_back(g.input(i));
      terms.push_back(spec.operands[i]);
    }
    Labels different, known;
    for (const int label : spec.operands[k]) {
      if (llvm::is_contained(different, label)) continue;
      different.push_back(label);
      const auto has = [&](const Labels& term) { return llvm::is_contained(term, label); };
      if (llvm::any_of(terms, has)) known.push_back(label);
    }
    Value* value = g.Call("einsum", values, {{"equation", EinsumEquation(terms, known)}});
    Labelled<GradientContext> gradient(g, spec, value, known);
    gradient.SpreadTo(different);
    Value* dx = gradient.value();
    // A repeated label is inserted as an axis of size 1, broadcast, and masked to the diagonal.
    Labels labels = different;
    for (size_t axis = 0; axis < spec.operands[k].size() && dx != nullptr; ++axis) {
      const int label = spec.operands[k][axis];
      const size_t first =
          static_cast<size_t>(llvm::find(spec.operands[k], label) - spec.operands[k].begin());
      if (first == axis) continue;
      labels.insert(labels.begin() + static_cast<ptrdiff_t>(axis), label);
      const Shape now = spec.SizesOf(labels);
      Shape with_one = now;
      with_one[axis] = 1;
      dx = g.Call("reshape", {dx}, {{"dims", with_one}});
      Value* mask = DiagonalMask(g, now, first, axis);
      dx = g.Call("where", {mask, dx, g.Scalar(0, dx)});
    }
    g.SetInputGradient(k, dx);
  }
}

struct EinsumMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Multiplies elements whose axes have equal labels, and sums over the labels that the "
        "result lacks, like NumPy's einsum: \"ij,jk->ik\" is a matmul. A label that occurs twice "
        "in an operand takes its diagonal, and `...` stands for axes that broadcast. Without "
        "\"->\" the result has the labels that occur once, in alphabetical order. It is computed "
        "by matmuls, two operands at a time from left to right. Integers wrap around.");
    AddInput("x", "one or more operands, all of the same dtype").Accepts(kNumberSet).Repeatable();
    AddOutput("y", "dtype as x; the dims that the equation gives").DTypeOf("x");
    AddAttr<std::string>("equation", "the labels of the axes of each operand, and of the result");
    AddExample(
        "y = einsum([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0], equation=\"ij,j->i\")  # = [21.0, "
        "43.0]");
    SetInference(InferEinsum);
    SetGradient(EinsumGradient);
    SetLowering(LowerEinsum);
  }
};

}  // namespace

void RegisterEinsumOps(OpRegistry& registry) {
  registry.BeginFamily("Linear algebra");
  registry.Add(EinsumMaker().Build("einsum"));
}

}  // namespace pdl
