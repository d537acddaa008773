// Reductions over the rows of each segment: segment_pool, segment_softmax.
#include <algorithm>
#include <cmath>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/vector_math.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/sequence/segment.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

// Columns that are processed at a time.
constexpr int64_t kColumns = 128;

enum class Pool { kSum, kMean, kSqrt, kMax, kMin, kFirst, kLast };

Pool PoolFromName(llvm::StringRef name) {
  return name == "sum"     ? Pool::kSum
         : name == "mean"  ? Pool::kMean
         : name == "sqrt"  ? Pool::kSqrt
         : name == "max"   ? Pool::kMax
         : name == "min"   ? Pool::kMin
         : name == "first" ? Pool::kFirst
                           : Pool::kLast;
}

int64_t RowSize(const Tensor& x) {
  int64_t size = 1;
  for (const int64_t n : x.sizes().drop_front()) size *= n;
  return size;
}

int64_t SegmentGrain(const Tensor& x, int64_t segments) {
  return std::max<int64_t>(
      1, kGrainElements * std::max<int64_t>(segments, 1) / std::max<int64_t>(x.num_elements(), 1));
}

// Pools `width` columns of the rows from `begin` to `end` into `results`.
template <class T>
void PoolColumns(Pool pool, const T* x, int64_t begin, int64_t end, int64_t row_size, int64_t width,
                 ComputeType<T>* results) {
  using C = ComputeType<T>;
  if (pool == Pool::kFirst || pool == Pool::kLast) {
    const T* row = x + (pool == Pool::kFirst ? begin : end - 1) * row_size;
    for (int64_t j = 0; j < width; ++j) results[j] = Element<T>::Load(row[j]);
    return;
  }
  for (int64_t j = 0; j < width; ++j) results[j] = Element<T>::Load(x[begin * row_size + j]);
  for (int64_t i = begin + 1; i < end; ++i) {
    const T* row = x + i * row_size;
    for (int64_t j = 0; j < width; ++j) {
      const C value = Element<T>::Load(row[j]);
      if (pool == Pool::kMax) {
        results[j] = value > results[j] || value != value ? value : results[j];
      } else if (pool == Pool::kMin) {
        results[j] = value < results[j] || value != value ? value : results[j];
      } else {
        results[j] += value;
      }
    }
  }
  const C count = static_cast<C>(end - begin);
  if (pool == Pool::kMean)
    for (int64_t j = 0; j < width; ++j) results[j] /= count;
  if (pool == Pool::kSqrt)
    for (int64_t j = 0; j < width; ++j) results[j] /= std::sqrt(count);
}

template <class Context>
class SegmentPoolOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const Tensor& x = *inputs[0];
    const RowSegments segments(*inputs[1], x.size(0));
    const int64_t row_size = RowSize(x);
    VisitDType(FloatTypes(), x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const T* from = x.data<T>();
      T* to = outputs[0]->template data<T>();
      context.ParallelFor(
          segments.count, SegmentGrain(x, segments.count), [&](int64_t first, int64_t last) {
            C results[kColumns];
            for (int64_t segment = first; segment < last; ++segment) {
              const auto [begin, end] = segments[segment];
              for (int64_t column = 0; column < row_size; column += kColumns) {
                const int64_t width = std::min(kColumns, row_size - column);
                if (begin == end) {
                  std::fill_n(results, width, static_cast<C>(empty_));
                } else {
                  PoolColumns(pool_, from + column, begin, end, row_size, width, results);
                }
                T* row = to + segment * row_size + column;
                for (int64_t j = 0; j < width; ++j) row[j] = Element<T>::Store(results[j]);
              }
            }
          });
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    pool_ = PoolFromName(attributes.String("kind"));
    empty_ = attributes.Float("empty");
    return llvm::Error::success();
  }

 private:
  Pool pool_ = Pool::kSum;
  double empty_ = 0;
};

template <class Context>
class SegmentSoftmaxOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext&) const override {
    Preparation preparation;
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const Tensor& x = *inputs[0];
    const RowSegments segments(*inputs[1], x.size(0));
    const int64_t row_size = RowSize(x);
    VisitDType(FloatTypes(), x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      const T* from = x.data<T>();
      T* to = outputs[0]->template data<T>();
      // Rows that are not in any segment.
      std::fill_n(to, segments.begin() * row_size, T());
      std::fill_n(to + segments.end() * row_size, (segments.rows - segments.end()) * row_size, T());
      context.ParallelFor(
          segments.count, SegmentGrain(x, segments.count), [&](int64_t first, int64_t last) {
            C largest[kColumns], sums[kColumns];
            for (int64_t segment = first; segment < last; ++segment) {
              const auto [begin, end] = segments[segment];
              if (begin == end) continue;
              for (int64_t column = 0; column < row_size; column += kColumns) {
                const int64_t width = std::min(kColumns, row_size - column);
                PoolColumns(Pool::kMax, from + column, begin, end, row_size, width, largest);
                std::fill_n(sums, width, C(0));
                for (int64_t i = begin; i < end; ++i) {
                  const T* row = from + i * row_size + column;
                  for (int64_t j = 0; j < width; ++j)
                    sums[j] += math::Exp(Element<T>::Load(row[j]) - largest[j]);
                }
                for (int64_t i = begin; i < end; ++i) {
                  const T* row = from + i * row_size + column;
                  T* out = to + i * row_size + column;
                  for (int64_t j = 0; j < width; ++j)
                    out[j] = Element<T>::Store(math::Exp(Element<T>::Load(row[j]) - largest[j]) /
                                               sums[j]);
                }
              }
            }
          });
    });
    return llvm::Error::success();
  }
};

llvm::Error RequireRows(InferenceContext& context) {
  if (context.input(0).rank() > 0) return llvm::Error::success();
  return context.FailAt({0}, Code::kRank, "'x' must have at least one dim, got {0}",
                        context.input(0).ToString());
}

llvm::Error InferSegmentPool(InferenceContext& context) {
  if (llvm::Error error = RequireRows(context)) return error;
  auto segments = InferSegments(context, 1);
  if (!segments) return segments.takeError();
  Type type(context.input(0).dtype, context.input(0).dims);
  type.dims[0] = *segments;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

llvm::Error InferSegmentSoftmax(InferenceContext& context) {
  if (llvm::Error error = RequireRows(context)) return error;
  if (auto segments = InferSegments(context, 1); !segments) return segments.takeError();
  return InferSameAsFirst(context);
}

// Repeats each row of `values` for all rows of its segment; 0 for the rows outside of all segments.
Value* Repeat(GradientContext& g, Value* values) {
  const Shape rows = {g.input(0)->type().dims[0]};
  const Dim segments = g.input(1)->type().dims[0] - 1;
  Value* ids = g.Call("segment_ids", {g.input(1)}, {{"dims", rows}});
  // Row `segments` is 0.
  Value* none = g.Call("size", {}, {{"dims", Shape{segments}}, {"dtype", DType::kI64}});
  Shape dims = values->type().dims;
  dims[0] = 1;
  Value* zero = g.Call("zeros", {}, {{"dims", dims}, {"dtype", values->type().dtype}});
  Value* extended = g.Call("concat", {values, zero}, {{"axis", int64_t{0}}});
  return g.Call("gather",
                {extended, g.Call("where", {InSegments(g, g.input(1), rows[0]), ids, none})});
}

// The offsets without the last one (the starts of segments), or without the first one (the ends).
Value* OffsetsFrom(GradientContext& g, bool begins) {
  const Shape start = {begins ? Dim(0) : Dim(1)};
  const Dim count = g.input(1)->type().dims[0];
  const Shape stop = {begins ? count - 1 : count};
  return g.Call("slice", {g.input(1)},
                {{"axes", std::vector<int64_t>{0}},
                 {"starts", start},
                 {"stops", stop},
                 {"steps", std::vector<int64_t>{1}}});
}

// Reshapes [K] to [K, 1, …] with the rank of x.
Value* AsColumn(GradientContext& g, Value* vector) {
  if (vector == nullptr) return nullptr;
  Shape dims(g.input(0)->type().rank(), Dim(1));
  dims[0] = vector->type().dims[0];
  return g.Call("reshape", {vector}, {{"dims", dims}});
}

// Makes counts safe to divide by: the gradient of a segment without rows is not used, but must not
// be nan if it is differentiated again.
Value* AtLeastOne(GradientContext& g, Value* count) {
  return g.Call("maximum", {count, g.Scalar(1, count)});
}

void EmitSegmentPoolGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* dy = g.output_gradient();
  const DType dtype = x->type().dtype;
  const llvm::StringRef kind = g.attributes().String("kind");
  if (kind == "sum") return g.SetInputGradient(0, Repeat(g, dy));
  if (kind == "max" || kind == "min") {
    // The gradient goes to the rows that were selected, in equal parts if there are several.
    Value* chosen = g.Call("equal", {x, Repeat(g, g.output())});
    Value* count = g.Call("segment_pool", {CastTo(g, chosen, dtype), g.input(1)},
                          {{"kind", std::string("sum")}});
    Value* share = Repeat(g, g.Div(dy, AtLeastOne(g, count)));
    return g.SetInputGradient(0, g.Call("where", {chosen, share, g.Scalar(0, dy)}));
  }
  if (kind == "mean" || kind == "sqrt") {
    Value* lengths =
        g.Call("cast", {g.Sub(OffsetsFrom(g, false), OffsetsFrom(g, true))}, {{"to", dtype}});
    if (kind == "sqrt") lengths = g.Call("sqrt", {lengths});
    return g.SetInputGradient(0, Repeat(g, g.Div(dy, AsColumn(g, AtLeastOne(g, lengths)))));
  }
  // The gradient goes to the first or last row of each segment.
  const Shape rows = {x->type().dims[0]};
  Value* index = Repeat(g, OffsetsFrom(g, kind == "first"));
  const Constant one = Constant::Scalar(DType::kI64, 1);
  if (kind == "last")
    index = g.Sub(index, g.Call("constant", {}, {{"value", one}, {"dtype", DType::kI64}}));
  Value* all = g.Call("range", {}, {{"start", Shape{Dim(0)}}, {"stop", rows}});
  Value* chosen = AsColumn(g, g.Call("equal", {index, all}));
  g.SetInputGradient(0, g.Call("where", {chosen, Repeat(g, dy), g.Scalar(0, dy)}));
}

// Lengths may leave the range of f16; the other kinds only move elements.
void SegmentPoolGradient(GradientContext& g) {
  const llvm::StringRef kind = g.attributes().String("kind");
  if (kind == "sum" || kind == "first" || kind == "last") return EmitSegmentPoolGradient(g);
  EmitWide(g, EmitSegmentPoolGradient);
}

void SegmentSoftmaxGradient(GradientContext& g) {
  Value* product = g.Mul(g.output_gradient(), g.output());
  Value* sum = g.Call("segment_pool", {product, g.input(1)}, {{"kind", std::string("sum")}});
  g.SetInputGradient(0, g.Sub(product, g.Mul(g.output(), Repeat(g, sum))));
}

struct SegmentRowsMaker : OpProtoMaker {
 protected:
  void DeclareInputs() {
    AddInput("x", "rows, [R, ...]").Accepts(kFloatSet);
    AddInput("offsets",
             "[N + 1], the start of each segment, then the end of the last one; from 0 on")
        .Accepts(DType::kI64)
        .OwnDType();
  }
};

struct SegmentPoolMaker : SegmentRowsMaker {
  void Make() override {
    AddComment(
        "Reduces the rows of each segment to one row: their sum, mean, sum divided by the square "
        "root of their number, elementwise maximum or minimum, or the first or last row. The "
        "maximum or minimum is nan if any element is nan.");
    DeclareInputs();
    AddOutput("y", "[N, ...]; dtype as x").DTypeOf("x");
    AddAttr<std::string>("kind", "the reduction")
        .Default("sum")
        .OneOf({"sum", "mean", "sqrt", "max", "min", "first", "last"});
    AddAttr<double>("empty", "value of the elements of segments without rows").Default(0);
    SetInference(InferSegmentPool);
    SetGradient(SegmentPoolGradient);
    AddExample("y = segment_pool([1.0, 2.0, 4.0], [0, 2, 2, 3])  # = [3.0, 0.0, 4.0]");
  }
};

struct SegmentSoftmaxMaker : SegmentRowsMaker {
  void Make() override {
    AddComment(
        "Softmax over the rows of each segment, separately for each column. Large numbers do not "
        "overflow.");
    DeclareInputs();
    AddOutput("y", "type as x").TypeOf("x");
    SetInference(InferSegmentSoftmax);
    SetGradient(SegmentSoftmaxGradient);
    AddExample("y = segment_softmax([0.0, 0.0, 7.0], [0, 2, 3])  # = [0.5, 0.5, 1.0]");
  }
};

}  // namespace

void RegisterSegmentPoolOps(OpRegistry& registry) {
  registry.BeginFamily("Ragged and sparse values");
  registry.RegisterOp<SegmentPoolOp, SegmentPoolMaker>("segment_pool");
  registry.RegisterOp<SegmentSoftmaxOp, SegmentSoftmaxMaker>("segment_softmax");
}

}  // namespace pdl
