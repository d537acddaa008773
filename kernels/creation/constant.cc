// Operators that create tensors with given values: constant, zeros, ones, fill, size, range,
// linspace.
#include <cstring>
#include <limits>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/creation/size_value.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "pdl/op/storage.h"

namespace pdl {
namespace {

constexpr int64_t kFillGrain = 1 << 16;

// Writes n copies of one element.
template <class Context>
void Repeat(const void* element, int64_t element_size, void* out, int64_t n, Context& context) {
  context.ParallelFor(n, kFillGrain, [&](int64_t begin, int64_t end) {
    const auto fill = [&](auto zero) {
      using T = decltype(zero);
      T value;
      std::memcpy(&value, element, sizeof(T));
      std::fill(static_cast<T*>(out) + begin, static_cast<T*>(out) + end, value);
    };
    switch (element_size) {
      case 1:
        return fill(uint8_t{});
      case 2:
        return fill(uint16_t{});
      case 4:
        return fill(uint32_t{});
      default:
        return fill(uint64_t{});
    }
  });
}

template <class T>
T FromInt(int64_t value) {
  return Element<T>::Store(static_cast<ComputeType<T>>(value));
}

// The bytes of an integer converted to an element of a dtype.
uint64_t ElementBits(DType dtype, int64_t value) {
  uint64_t bits = 0;
  VisitDType(AnyTypes(), dtype, [&](auto tag) {
    const auto element = FromInt<typename decltype(tag)::type>(value);
    std::memcpy(&bits, &element, sizeof(element));
  });
  return bits;
}

// --- constant -----------------------------------------------------------------------------------

template <class Context>
class ConstantOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context&) const override {
    if (value_.num_bytes() > 0) {
      std::memcpy(outputs[0]->raw(), value_.data(), static_cast<size_t>(value_.num_bytes()));
    }
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    value_ = attributes.Tensor("value");
    return llvm::Error::success();
  }

 private:
  Constant value_;
};

// Requires that the literal has been read as the dtype that the call requests.
llvm::Error CheckLiteral(InferenceContext& context, const Constant& value) {
  if (!kAnySet.Contains(value.dtype())) {
    return context.FailAtAttribute("value", Code::kOperandDType, "'value' must be {0}, got {1}",
                                   kAnySet.ToString(), DTypeName(value.dtype()));
  }
  if (!context.attributes().Has("dtype")) return llvm::Error::success();
  const DType dtype = context.attributes().Dtype("dtype");
  if (value.dtype() == dtype) return llvm::Error::success();
  return context.FailAtAttribute("value", Code::kDTypeMismatch, "'value' is {0}, 'dtype' is {1}",
                                 DTypeName(value.dtype()), DTypeName(dtype));
}

llvm::Error InferConstant(InferenceContext& context) {
  const Constant& value = context.attributes().Tensor("value");
  if (llvm::Error error = CheckLiteral(context, value)) return error;
  Type type(value.dtype(), {});
  for (const int64_t size : value.sizes()) type.dims.push_back(size);
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct ConstantMaker : OpProtoMaker {
  void Make() override {
    AddComment("A tensor with the elements of a literal.");
    AddOutput("y", "as `value`");
    AddAttr<Constant>("value", "a number, or a nested list of numbers")
        .Positional()
        .DTypeFrom("dtype");
    AddAttr<DType>("dtype",
                   "dtype of the elements; by default i64, or f32 if a number has a decimal point")
        .Optional();
    SetInference(InferConstant);
    AddExample("y = constant([1, 2], dtype=f16)  # = [1.0, 2.0]");
  }
};

// --- zeros, ones, fill --------------------------------------------------------------------------

template <class Context, int64_t kValue>
class RepeatOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    Repeat(&bits_, DTypeSize(outputs[0]->dtype()), outputs[0]->raw(), outputs[0]->num_elements(),
           context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    bits_ = ElementBits(attributes.Dtype("dtype"), kValue);
    return llvm::Error::success();
  }

 private:
  uint64_t bits_ = 0;
};
template <class Context>
using ZerosOp = RepeatOp<Context, 0>;
template <class Context>
using OnesOp = RepeatOp<Context, 1>;

llvm::Error InferAny(InferenceContext& context) { return InferFromAttributes(context, kAnySet); }

struct RepeatMaker : OpProtoMaker {
 protected:
  void Declare(const char* comment) {
    AddComment(comment);
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes").Positional().Ragged();
  }
  void DeclareDType() { AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32); }
};

struct ZerosMaker : RepeatMaker {
  void Make() override {
    Declare("Zeros.");
    DeclareDType();
    SetInference(InferAny);
    AddExample("y = zeros([2, 2])  # = [[0.0, 0.0], [0.0, 0.0]]");
  }
};

struct OnesMaker : RepeatMaker {
  void Make() override {
    Declare("Ones.");
    DeclareDType();
    SetInference(InferAny);
    AddExample("y = ones([2], dtype=i64)  # = [1, 1]");
  }
};

template <class Context>
class FillOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    Repeat(value_.data(), DTypeSize(value_.dtype()), outputs[0]->raw(), outputs[0]->num_elements(),
           context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    value_ = attributes.Tensor("value");
    return llvm::Error::success();
  }

 private:
  Constant value_;
};

llvm::Error InferFill(InferenceContext& context) {
  const Constant& value = context.attributes().Tensor("value");
  if (llvm::Error error = CheckLiteral(context, value)) return error;
  if (!value.sizes().empty()) {
    return context.FailAtAttribute("value", Code::kRank, "'value' must be one number, got {0} dims",
                                   value.sizes().size());
  }
  return InferAny(context);
}

struct FillMaker : RepeatMaker {
  void Make() override {
    Declare("A tensor filled with one number.");
    AddAttr<Constant>("value", "the number").DTypeFrom("dtype");
    DeclareDType();
    SetInference(InferFill);
    AddExample("y = fill([2, 2], value=2.5)  # = [[2.5, 2.5], [2.5, 2.5]]");
  }
};

// --- size ---------------------------------------------------------------------------------------

template <class Context>
class SizeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    llvm::Expected<int64_t> value = EvaluateSize(context, this->attributes());
    if (!value) return value.takeError();
    auto state = std::make_shared<State>();
    state->bits = ElementBits(context.outputs()[0].dtype, *value);
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    Repeat(&context.template state<State>()->bits, DTypeSize(outputs[0]->dtype()),
           outputs[0]->raw(), 1, context);
    return llvm::Error::success();
  }

 private:
  struct State : CallState {
    uint64_t bits = 0;
  };
};

llvm::Error InferSize(InferenceContext& context) {
  if (llvm::Error error = CheckDType(context, "dtype", kNumberSet)) return error;
  if (!NumElements(PackedDims(context.attributes().Dims("dims"))).is_valid()) {
    return context.FailAtAttribute("dims", Code::kDimOverflow,
                                   "the product of the sizes exceeds 64 bits, or divides by zero");
  }
  context.SetOutput(Type(context.attributes().Dtype("dtype"), {}));
  return llvm::Error::success();
}

struct SizeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The product of sizes as a scalar tensor; makes the value of a size symbol available to "
        "other operators. With ragged dims, the number of elements that exist.");
    AddOutput("y", "scalar of `dtype`").DTypeOf("dtype").Rank(0);
    AddAttr<Shape>("dims", "the sizes").Positional().Ragged();
    AddAttr<DType>("dtype", "dtype of the result").Default(DType::kI64);
    SetInference(InferSize);
    AddExample("n = size([2, 3, 4])  # = 24");
  }
};

// --- range, linspace ----------------------------------------------------------------------------

template <class Context>
class RangeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    llvm::Expected<int64_t> start = context.Evaluate(this->attributes().Dims("start")[0]);
    if (!start) return start.takeError();
    auto state = std::make_shared<State>();
    state->start = *start;
    Preparation preparation;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t start = context.template state<State>()->start;
    VisitDType(NumberTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = static_cast<T*>(outputs[0]->raw());
      context.ParallelFor(outputs[0]->num_elements(), kFillGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = FromInt<T>(start + i * step_);
      });
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    step_ = attributes.Int("step");
    return llvm::Error::success();
  }

 private:
  struct State : CallState {
    int64_t start = 0;
  };
  int64_t step_ = 1;
};

llvm::Error InferRange(InferenceContext& context) {
  if (llvm::Error error = CheckDType(context, "dtype", kNumberSet)) return error;
  auto start = OneSize(context, "start");
  if (!start) return start.takeError();
  auto stop = OneSize(context, "stop");
  if (!stop) return stop.takeError();
  const int64_t step = context.attributes().Int("step");
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
    return context.FailAtAttribute("step", Code::kAttributeRange, "'step' must not be {0}", step);
  }
  const int64_t distance = step > 0 ? step : -step;
  Dim count = step > 0 ? *stop - *start : *start - *stop;
  if (!count.ProvablyAtLeast(0)) count = Dim::Max(count, 0);
  if (distance != 1) count = Dim::FloorDiv(count + (distance - 1), distance);
  Type type(context.attributes().Dtype("dtype"), {count});
  if (count.is_constant() && start->is_constant() && count.constant() > 0) {
    const int64_t end = start->constant() + (count.constant() - 1) * step;
    for (const int64_t number : {start->constant(), end}) {
      if (!HoldsInteger(type.dtype, number))
        return context.FailAtAttribute("dtype", Code::kAttributeRange, "{0} does not fit in {1}",
                                       number, DTypeName(type.dtype));
    }
  }
  if (IsInteger(type.dtype) && step > 0 && start->ProvablyAtLeast(0))
    type.index_bound = stop->is_constant() ? Dim::Max(*stop, 0) : *stop;
  context.SetOutput(std::move(type));
  return llvm::Error::success();
}

struct RangeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Evenly spaced numbers in the half-open interval from `start` to `stop`, with spacing "
        "`step`. As in NumPy, the result is empty if `stop` is not in the direction of `step` from "
        "`start`.");
    AddOutput("y", "one dim; numbers of `dtype`").DTypeOf("dtype").Rank(1);
    AddAttr<Shape>("start", "the first number").Positional();
    AddAttr<Shape>("stop", "end of the interval, not included").Positional();
    AddAttr<int64_t>("step", "difference of consecutive numbers; a negative step counts down")
        .Default(1)
        .Positional();
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kI64);
    SetInference(InferRange);
    AddExample("y = range(0, 5)  # = [0, 1, 2, 3, 4]");
    AddExample("y = range(5, 0, -2)  # = [5, 3, 1]");
    AddExample("y = range(3, 1)  # = []");
  }
};

template <class Context>
class LinspaceOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t n = outputs[0]->num_elements();
    const double step = n > 1 ? (stop_ - start_) / static_cast<double>(n - 1) : 0;
    VisitDType(FloatTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = static_cast<T*>(outputs[0]->raw());
      context.ParallelFor(n, kFillGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double x = i > 0 && i == n - 1 ? stop_ : start_ + static_cast<double>(i) * step;
          out[i] = Element<T>::Store(static_cast<ComputeType<T>>(x));
        }
      });
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    start_ = attributes.Float("start");
    stop_ = attributes.Float("stop");
    return llvm::Error::success();
  }

 private:
  double start_ = 0, stop_ = 0;
};

llvm::Error InferLinspace(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "count")) return error;
  if (llvm::Error error = CheckDType(context, "dtype", kFloatSet)) return error;
  for (const char* attribute : {"start", "stop"}) {
    if (llvm::Error error = CheckFinite(context, attribute)) return error;
  }
  auto count = OneSize(context, "count");
  if (!count) return count.takeError();
  context.SetOutput(Type(context.attributes().Dtype("dtype"), {*count}));
  return llvm::Error::success();
}

struct LinspaceMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Evenly spaced numbers from `start` to `stop`, both included. With `count` 1, only "
        "`start`.");
    AddOutput("y", "one dim; numbers of `dtype`").DTypeOf("dtype").Rank(1);
    AddAttr<double>("start", "the first number").Positional();
    AddAttr<double>("stop", "the last number").Positional();
    AddAttr<Shape>("count", "number of elements").Positional();
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    SetInference(InferLinspace);
    AddExample("y = linspace(0.0, 1.0, 5)  # = [0.0, 0.25, 0.5, 0.75, 1.0]");
  }
};

}  // namespace

void RegisterConstantOps(OpRegistry& registry) {
  registry.BeginFamily("Constants");
  registry.RegisterOp<ConstantOp, ConstantMaker>("constant");
  registry.RegisterOp<ZerosOp, ZerosMaker>("zeros");
  registry.RegisterOp<OnesOp, OnesMaker>("ones");
  registry.RegisterOp<FillOp, FillMaker>("fill");
  registry.RegisterOp<SizeOp, SizeMaker>("size");
  registry.RegisterOp<RangeOp, RangeMaker>("range");
  registry.RegisterOp<LinspaceOp, LinspaceMaker>("linspace");
}

}  // namespace pdl
