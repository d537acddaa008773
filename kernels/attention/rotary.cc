// rotary_embedding: rotates pairs of elements by angles proportional to the position.
#include <algorithm>
#include <cmath>

#include "kernels/core/grain.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/indexing/along_axis.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

template <class T>
struct RotateLoop {
  using C = ComputeType<T>;
  // One row: `pairs` pairs whose elements are `distance` apart; consecutive pairs are `step` apart.
  static PDL_INLINE void Run(const T* x, const C* cosine, const C* sine, int64_t pairs,
                             int64_t distance, int64_t step, T* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < pairs; ++i) {
      const C a = Element<T>::Load(x[i * step]), b = Element<T>::Load(x[i * step + distance]);
      y[i * step] = Element<T>::Store(a * cosine[i] - b * sine[i]);
      y[i * step + distance] = Element<T>::Store(b * cosine[i] + a * sine[i]);
    }
  }
};

// x is `rows` rows of `length` elements, of which the first 2 * `pairs` are rotated.
struct RotaryState : CallState {
  int64_t rows = 1, length = 0, pairs = 0, positions = 0;
  // Maps a row to the index of its position.
  Sizes row_sizes, position_strides;
};

template <class Context>
class RotaryOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const OperandType& positions = context.inputs()[1];
    auto state = std::make_shared<RotaryState>();
    state->length = x.sizes.back();
    state->pairs =
        (this->attributes().Has("width") ? this->attributes().Int("width") : state->length) / 2;
    state->positions = positions.num_elements();
    const auto strides = RowMajorStrides(positions.sizes);
    const size_t rank = x.sizes.size() - 1, missing = rank - positions.sizes.size();
    for (size_t d = 0; d < rank; ++d) {
      state->rows *= x.sizes[d];
      state->row_sizes.push_back(x.sizes[d]);
      const bool is_repeated = d < missing || positions.sizes[d - missing] == 1;
      state->position_strides.push_back(is_repeated ? 0 : strides[d - missing]);
    }
    Preparation preparation;
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      using C = ComputeType<typename decltype(tag)::type>;
      preparation.workspace_bytes =
          state->positions * state->pairs * 2 * static_cast<int64_t>(sizeof(C));
    });
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const RotaryState& s = *context.template state<RotaryState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    VisitDType(FloatTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      using C = ComputeType<T>;
      C* table = static_cast<C*>(context.workspace());
      FillTable(s, *inputs[1], table, context);
      const auto rotate = ChooseIsa<RotateLoop<T>>();
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = static_cast<T*>(outputs[0]->raw());
      const int64_t grain = std::max<int64_t>(1, kGrainElements / s.length);
      context.ParallelFor(s.rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = x + row * s.length;
          T* to = y + row * s.length;
          const C* cosine =
              table + AlongAxis::Offset(row, s.row_sizes, s.position_strides) * s.pairs * 2;
          rotate(from, cosine, cosine + s.pairs, s.pairs, interleaved_ ? 1 : s.pairs,
                 interleaved_ ? 2 : 1, to);
          if (from != to) std::copy(from + s.pairs * 2, from + s.length, to + s.pairs * 2);
        }
      });
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    interleaved_ = attributes.Bool("interleaved");
    base_ = attributes.Float("base");
    return llvm::Error::success();
  }

 private:
  // For each position the cosines, then the sines.
  template <class C>
  void FillTable(const RotaryState& s, const Tensor& positions, C* table, Context& context) const {
    const bool is_wide = positions.dtype() == DType::kI64;
    const int64_t grain = std::max<int64_t>(1, 512 / std::max<int64_t>(1, s.pairs));
    context.ParallelFor(s.positions, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double position =
            is_wide ? static_cast<double>(static_cast<const int64_t*>(positions.raw())[i])
                    : static_cast<double>(static_cast<const int32_t*>(positions.raw())[i]);
        C* cosine = table + i * s.pairs * 2;
        for (int64_t p = 0; p < s.pairs; ++p) {
          const double share = static_cast<double>(p) / static_cast<double>(s.pairs);
          const double angle = position * std::pow(base_, -share);
          cosine[p] = static_cast<C>(std::cos(angle));
          cosine[s.pairs + p] = static_cast<C>(std::sin(angle));
        }
      }
    });
  }

  bool interleaved_ = false;
  double base_ = 10000;
};

llvm::Error InferRotary(InferenceContext& context) {
  const Type& x = context.input(0);
  const Type& positions = context.input(1);
  if (x.rank() < 2) {
    return context.FailAt({0}, Code::kRank, "'x' must have at least two dims, got {0}",
                          x.ToString());
  }
  const Dim& length = x.dims.back();
  if (context.attributes().Has("width")) {
    const int64_t width = context.attributes().Int("width");
    if (width % 2 != 0 || (length - width).ProvablyAtMost(-1)) {
      return context.FailAtAttribute("width", Code::kAttributeRange,
                                     "'width' must be even and at most {0}, got {1}",
                                     length.ToString(), width);
    }
    if (llvm::Error error = context.RequireAtLeast(
            length, width, {0}, "the rows of x must not be shorter than 'width'")) {
      return error;
    }
  } else if (llvm::Error error = context.RequireMultiple(
                 length, 2, {0}, "the length of the rows of x must be even")) {
    return error;
  }
  const unsigned rank = x.rank() - 1;
  if (positions.rank() > rank) {
    return context.FailAt({0, 1}, Code::kRank, "'positions' must broadcast to {0}, got {1}",
                          ShapeToString(llvm::ArrayRef<Dim>(x.dims).drop_back()),
                          positions.ToString());
  }
  for (unsigned d = 0; d < positions.rank(); ++d) {
    if (positions.dims[d].is_constant(1)) continue;
    if (llvm::Error error =
            context.RequireEqual(positions.dims[d], x.dims[rank - positions.rank() + d], {0, 1},
                                 "there must be a position for each row")) {
      return error;
    }
  }
  return InferSameAsFirst(context);
}

// Rotates by the negative angle.
void RotaryGradient(GradientContext& g) {
  std::vector<NamedAttribute> attributes = {{"base", g.attributes().Float("base")},
                                            {"interleaved", g.attributes().Bool("interleaved")}};
  if (g.attributes().Has("width")) attributes.push_back({"width", g.attributes().Int("width")});
  g.SetInputGradient(
      0, g.Call("rotary_embedding", {g.output_gradient(), g.Neg(g.input(1))}, attributes));
}

struct RotaryMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Rotary position embedding (Su et al., arXiv:2104.09864): pair i of the elements of each "
        "row is rotated by the angle position * base ** (-2 i / width), so that dot products of "
        "rows depend on the distance of their positions.");
    AddInput("x", "[..., T, D]").Accepts(kFloatSet);
    AddInput("positions", "the positions of the rows; broadcasts to [..., T]")
        .Accepts(kIndexSet)
        .OwnDType();
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<double>(
        "base",
        "the base of the wavelengths; the angular frequency decreases from 1 to nearly 1 / base")
        .Default(10000)
        .GreaterThan(0)
        .InDouble();
    AddAttr<bool>(
        "interleaved",
        "whether pairs are adjacent elements; else element i is paired with element i + width / 2")
        .Default(false);
    AddAttr<int64_t>(
        "width",
        "the number of elements of a row that are rotated, which must be even; default: all")
        .Optional()
        .AtLeast(0);
    AddExample(
        "y = rotary_embedding([[1.0, 0.0], [1.0, 2.0]], [0, 0])  # = [[1.0, 0.0], [1.0, 2.0]]");
    SetInference(InferRotary);
    SetGradient(RotaryGradient);
  }
};

}  // namespace

void RegisterRotaryOps(OpRegistry& registry) {
  registry.BeginFamily("Attention");
  registry.RegisterOp<RotaryOp, RotaryMaker>("rotary_embedding");
}

}  // namespace pdl
