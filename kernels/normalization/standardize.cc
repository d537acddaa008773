// standardize: normalizes rows to mean 0 and variance 1, then applies gamma and beta.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/wide_gradient.h"
#include "kernels/normalization/moments.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/stream.h"

namespace pdl {
namespace {

// For streaming stores, which are fenced at the end of each piece.
constexpr int64_t kStreamGrainElements = 1 << 18;
constexpr unsigned kGamma = 1, kBeta = 2;

/// The operands of all rows: gamma and beta may be null, and gamma may be a scalar.
struct RowOperands {
  const void *x = nullptr, *gamma = nullptr, *beta = nullptr;
  bool one_gamma = false;
};

struct RowForm {
  int64_t n = 1;  // elements of a row
  double eps = 0;
  bool center = true;
  /// The number of rows that are scaled together while they are in the cache, for one piece of
  /// gamma and beta at a time.
  int64_t rows_at_once = 1;
};
constexpr int64_t kRowsBytes = 128 << 10;
constexpr int64_t kMostRows = 8;

/// The normalization of a row without gamma and beta: (x - mean) * factor + rest.
template <class C>
struct Line {
  C mean, factor, rest;
};

/// Writes normalized floats with streaming stores; the address is aligned, and their number a
/// multiple of kStreamed.
template <class S>
struct StreamLoop {
  template <bool kHasGamma, bool kHasBeta>
  static PDL_INLINE void Weigh(const float* x, const float* gamma, const float* beta,
                               const Line<float>& line, int64_t n, float* y) {
    const auto mean = S::Set(line.mean), factor = S::Set(line.factor), rest = S::Set(line.rest);
    for (int64_t i = 0; i < n; i += S::kLanes) {
      typename S::Floats value = S::Add(S::Mul(S::Sub(S::Load(x + i), mean), factor), rest);
      if constexpr (kHasGamma) value = S::Mul(value, S::Load(gamma + i));
      if constexpr (kHasBeta) value = S::Add(value, S::Load(beta + i));
      S::Stream(y + i, value);
    }
  }

  static PDL_INLINE void Run(const float* x, const float* gamma, const float* beta,
                             const Line<float>& line, int64_t n, float* y) {
    if (gamma != nullptr && beta != nullptr) return Weigh<true, true>(x, gamma, beta, line, n, y);
    if (gamma != nullptr) return Weigh<true, false>(x, gamma, beta, line, n, y);
    if (beta != nullptr) return Weigh<false, true>(x, gamma, beta, line, n, y);
    Weigh<false, false>(x, gamma, beta, line, n, y);
  }
};
constexpr int64_t kStreamed = 32;
using StreamFunction = void (*)(const float* x, const float* gamma, const float* beta,
                                const Line<float>& line, int64_t n, float* y);

template <class T>
struct StandardizeLoop {
  using C = ComputeType<T>;
  static constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  static constexpr int64_t kPiece = 4096 / kSize;

  static PDL_INLINE Line<C> LineOf(const T* x, const RowForm& form) {
    const double count = static_cast<double>(form.n);
    ShiftedSums sums;
    if (form.center) sums.shift = ShiftOf(static_cast<double>(Element<T>::Load(x[0])));
    MomentsRowLoop<T>::Run(x, form.n, &sums);
    if (!form.center) {
      // Adding -0 changes no number and preserves the sign of a zero.
      return {C(0), static_cast<C>(1 / std::sqrt(sums.square / count + form.eps)), C(-0.0)};
    }
    const double inverse = 1 / std::sqrt(sums.Variance(count) + form.eps);
    // The rounding error of the mean may be large compared with small distances from it.
    const C mean = static_cast<C>(sums.Mean(count));
    return {mean, static_cast<C>(inverse),
            static_cast<C>((static_cast<double>(mean) - sums.Mean(count)) * inverse)};
  }

  template <bool kHasGamma, bool kHasBeta>
  static PDL_INLINE void Weigh(const T* x, const T* gamma, const T* beta, const Line<C> line,
                               int64_t n, T* y) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C value = (Element<T>::Load(x[i]) - line.mean) * line.factor + line.rest;
      if constexpr (kHasGamma) value = value * Element<T>::Load(gamma[i]);
      if constexpr (kHasBeta) value = value + Element<T>::Load(beta[i]);
      y[i] = Element<T>::Store(value);
    }
  }

  static PDL_INLINE void Write(const T* x, const T* gamma, const T* beta, const Line<C>& line,
                               int64_t n, T* y) {
    if (gamma != nullptr && beta != nullptr) return Weigh<true, true>(x, gamma, beta, line, n, y);
    if (gamma != nullptr) return Weigh<true, false>(x, gamma, beta, line, n, y);
    if (beta != nullptr) return Weigh<false, true>(x, gamma, beta, line, n, y);
    Weigh<false, false>(x, gamma, beta, line, n, y);
  }

  /// Like Write, with streaming stores.
  static PDL_INLINE void Stream(const T* x, const T* gamma, const T* beta, const Line<C>& line,
                                int64_t n, StreamFunction stream, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      if (n % kStreamed == 0 && reinterpret_cast<uintptr_t>(y) % 64 == 0)
        return stream(x, gamma, beta, line, n, y);
    }
    alignas(64) T buffer[kPiece];
    Write(x, gamma, beta, line, n, buffer);
    StreamCopy(y, buffer, n * kSize);
  }

  /// Writes rows [begin, end) to `out`, with streaming stores if `stream` is given.
  static PDL_INLINE void Run(const RowOperands& operands, const RowForm& form, int64_t begin,
                             int64_t end, StreamFunction stream, void* out) {
    const T* gamma = static_cast<const T*>(operands.gamma);
    const T* beta = static_cast<const T*>(operands.beta);
    const T* scale = operands.one_gamma ? nullptr : gamma;
    const int64_t n = form.n;
    Line<C> lines[kMostRows];
    for (int64_t row = begin; row < end; row += form.rows_at_once) {
      const int64_t rows = std::min(form.rows_at_once, end - row);
      const T* x = static_cast<const T*>(operands.x) + row * n;
      T* y = static_cast<T*>(out) + (row - begin) * n;
      for (int64_t r = 0; r < rows; ++r) {
        lines[r] = LineOf(x + r * n, form);
        if (!operands.one_gamma) continue;
        lines[r].factor *= Element<T>::Load(*gamma);
        lines[r].rest *= Element<T>::Load(*gamma);
      }
      for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t count = std::min(kPiece, n - i);
        const T* scale_here = scale == nullptr ? nullptr : scale + i;
        const T* beta_here = beta == nullptr ? nullptr : beta + i;
        for (int64_t at = i; at < rows * n; at += n) {
          if (stream != nullptr) {
            Stream(x + at, scale_here, beta_here, lines[at / n], count, stream, y + at);
          } else {
            Write(x + at, scale_here, beta_here, lines[at / n], count, y + at);
          }
        }
      }
    }
  }
};

struct StandardizeState : CallState {
  void (*loop)(const RowOperands& operands, const RowForm& form, int64_t begin, int64_t end,
               StreamFunction stream, void* out) = nullptr;
  RowForm form;
  int64_t rows = 1, row_bytes = 0, grain = 1;
  bool one_gamma = false, exceeds_cache = false;
};

template <class Context>
class StandardizeOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    auto state = std::make_shared<StandardizeState>();
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t axis = axis_ < 0 ? axis_ + rank : axis_;
    int64_t& n = state->form.n;
    for (int64_t d = 0; d < rank; ++d) {
      (d < axis ? state->rows : n) *= x.sizes[static_cast<size_t>(d)];
    }
    if (n == 0) state->rows = 0;
    state->form.eps = eps_;
    state->form.center = center_;
    state->row_bytes = n * DTypeSize(x.dtype);
    // A row together with gamma and beta exceeds the first-level cache; a row on its own fits.
    state->one_gamma = context.inputs().size() > kGamma && context.inputs()[kGamma].sizes.empty();
    const bool has_weights =
        context.inputs().size() > kBeta || (context.inputs().size() > kGamma && !state->one_gamma);
    const int64_t bytes = state->rows * state->row_bytes;
    state->exceeds_cache = ExceedsCache(bytes) || (has_weights && bytes > kManyRowBytes);
    if (has_weights && n > 0)
      state->form.rows_at_once = std::clamp<int64_t>(kRowsBytes / state->row_bytes, 1, kMostRows);
    const int64_t elements = state->exceeds_cache ? kStreamGrainElements : kGrainElements;
    state->grain = std::max<int64_t>(1, elements / std::max<int64_t>(n, 1));
    VisitDType(FloatTypes(), x.dtype, [&](auto tag) {
      state->loop = ChooseIsa<StandardizeLoop<typename decltype(tag)::type>>();
    });
    Preparation preparation;
    preparation.rows = state->rows;
    preparation.state = std::move(state);
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  bool makes_rows() const override { return true; }
  void RunRows(const CallState* state, llvm::ArrayRef<const Tensor*> inputs, int64_t begin,
               int64_t end, void* to) const override {
    const StandardizeState& s = *static_cast<const StandardizeState*>(state);
    s.loop(Operands(s, inputs), s.form, begin, end, nullptr, to);
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const StandardizeState& s = *context.template state<StandardizeState>();
    const RowOperands operands = Operands(s, inputs);
    char* out = static_cast<char*>(outputs[0]->raw());
    const StreamFunction stream =
        s.exceeds_cache && operands.x != out ? ChooseSimd<StreamLoop>() : nullptr;
    context.ParallelFor(s.rows, s.grain, [&](int64_t begin, int64_t end) {
      s.loop(operands, s.form, begin, end, stream, out + begin * s.row_bytes);
      if (stream != nullptr) StreamFence();
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    axis_ = attributes.Int("axis");
    eps_ = attributes.Float("eps");
    center_ = attributes.Bool("center");
    return llvm::Error::success();
  }

 private:
  static RowOperands Operands(const StandardizeState& state, llvm::ArrayRef<const Tensor*> inputs) {
    RowOperands operands;
    operands.x = inputs[0]->raw();
    if (inputs.size() > kGamma) operands.gamma = inputs[kGamma]->raw();
    if (inputs.size() > kBeta) operands.beta = inputs[kBeta]->raw();
    operands.one_gamma = state.one_gamma;
    return operands;
  }

  int64_t axis_ = -1;
  double eps_ = 0;
  bool center_ = true;
};

llvm::Error InferStandardize(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (llvm::Error error = context.RequireDenseAxis(0, *axis, "axis")) return error;
  const llvm::ArrayRef<Dim> row = llvm::ArrayRef(x.dims).drop_front(*axis);
  for (unsigned i = 1; i < context.num_inputs(); ++i) {
    const Type& weights = context.input(i);
    if (llvm::Error error = RequireSameDType(context, 0, i)) return error;
    if (i == kGamma && weights.rank() == 0) continue;
    if (weights.rank() != row.size()) {
      return context.FailAt({i}, Code::kRank, "'{0}' must have the dims of x from {1} on, got {2}",
                            context.def().signature.inputs[i].name, *axis, weights.ToString());
    }
    for (unsigned d = 0; d < row.size(); ++d) {
      if (llvm::Error error =
              context.RequireEqual(row[d], weights.dims[d], {0, i},
                                   "the dims of gamma and beta must be those of a row")) {
        return error;
      }
    }
  }
  return InferSameAsFirst(context);
}

// With n = (x - mean) * r and r = 1 / sqrt(variance + eps), y = n * gamma + beta; so dx = r * (dn -
// mean(dn) - n * mean(dn * n)) where dn = dy * gamma. Without `center`, the term mean(dn) is
// omitted.
void StandardizeGradient(GradientContext& g) {
  Value* x = g.input(0);
  Value* dy = g.output_gradient();
  const Type& type = x->type();
  const int64_t given = g.attributes().Int("axis");
  const int64_t axis = given < 0 ? given + type.rank() : given;
  const double eps = g.attributes().Float("eps");
  const bool center = g.attributes().Bool("center");
  std::vector<int64_t> rows, columns;
  Shape broadcast;
  for (int64_t d = 0; d < type.rank(); ++d) {
    (d < axis ? rows : columns).push_back(d);
    broadcast.push_back(d < axis ? type.dims[static_cast<size_t>(d)] : Dim(1));
  }
  const auto mean = [&](Value* value) {
    return g.Call("mean", {value}, {{"axes", columns}, {"keep", true}});
  };
  const auto total = [&](Value* value) {
    return rows.empty() ? value : g.Call("sum", {value}, {{"axes", rows}});
  };
  Value* n = g.output();
  Value* dn = dy;
  if (g.num_inputs() > kGamma) {
    Value* gamma = g.input(kGamma);
    n = g.Call("standardize", {x}, {{"axis", axis}, {"eps", eps}, {"center", center}});
    dn = g.Mul(dy, gamma);
    Value* product = g.Mul(dy, n);
    g.SetInputGradient(kGamma,
                       gamma->type().rank() == 0 ? g.Call("sum", {product}) : total(product));
  }
  if (g.num_inputs() > kBeta) g.SetInputGradient(kBeta, total(dy));
  Value* spread = nullptr;
  Value* inner = dn;
  if (center) {
    Value* moments = g.Call("moments", {x}, {{"keep", rows}});
    if (moments == nullptr) return;
    Value* variance = moments->producer()->result(1);
    spread = variance->type().dims == broadcast
                 ? variance
                 : g.Call("reshape", {variance}, {{"dims", broadcast}});
    inner = g.Sub(dn, mean(dn));
  } else {
    spread = mean(g.Mul(x, x));
  }
  inner = g.Sub(inner, g.Mul(n, mean(g.Mul(dn, n))));
  g.SetInputGradient(0, g.Mul(inner, g.Call("rsqrt", {g.Add(spread, g.Scalar(eps, x))})));
}

struct StandardizeMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Returns (x - mean) / sqrt(variance + eps) * gamma + beta, with the mean and the "
        "population variance over an axis and all axes after it. This is layer normalization (Ba, "
        "Kiros and Hinton, arXiv:1607.06450), or without `center` RMS normalization (Zhang and "
        "Sennrich, arXiv:1910.07467).");
    AddInput("x", "at least one dim").Accepts(kFloatSet).Ragged();
    AddInput("gamma", "the dims of x from the axis on, or a scalar; default: 1")
        .Accepts(kFloatSet)
        .Optional(1);
    AddInput("beta", "the dims of x from the axis on; default: 0").Accepts(kFloatSet).Optional();
    AddOutput("y", "type as x").TypeOf("x");
    AddAttr<int64_t>("axis", "the first of the normalized axes; a negative one counts from the end")
        .Default(-1)
        .Axis();
    AddAttr<double>("eps", "added to the variance").Default(1e-5).AtLeast(0);
    AddAttr<bool>("center",
                  "whether to subtract the mean; if false, it is also taken as 0 in the variance")
        .Default(true);
    SetInference(InferStandardize);
    SetGradient(InWideDType<StandardizeGradient>);
    AddExample(
        "y = standardize([[1.0, 3.0], [0.0, 20.0]], eps=0.0)  # = [[-1.0, 1.0], [-1.0, 1.0]]");
    AddExample("y = standardize([3.0, -3.0], [1.0, 2.0], center=false, eps=0.0)  # = [1.0, -2.0]");
  }
};

}  // namespace

void RegisterStandardizeOps(OpRegistry& registry) {
  registry.BeginFamily("Normalization");
  registry.RegisterOp<StandardizeOp, StandardizeMaker>("standardize");
}

}  // namespace pdl
