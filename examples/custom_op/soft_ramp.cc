// soft_ramp(x, beta): an operator outside of libpdl, built as a plugin.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "pdl/op/gradient.h"
#include "pdl/op/half.h"
#include "pdl/op/inference.h"
#include "pdl/op/register_op.h"

namespace {

/// The formula over a contiguous run of elements. f16 and bf16 are computed as float.
template <typename T>
void SoftRampTile(const void* const* inputs, void* output, int64_t n, const void* parameters) {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto* x = static_cast<const T*>(inputs[0]);
  auto* y = static_cast<T*>(output);
  const Real beta = static_cast<Real>(*static_cast<const double*>(parameters));
  for (int64_t i = 0; i < n; ++i) {
    // log(1 + exp(scaled)) in the form that does not overflow.
    const Real scaled = beta * static_cast<Real>(x[i]);
    const Real log = std::max(scaled, Real(0)) + std::log1p(std::exp(-std::abs(scaled)));
    y[i] = static_cast<T>(log / beta);
  }
}

template <typename Context>
class SoftRampOp : public pdl::Operator<Context> {
 public:
  /// The tile function lets the planner fuse the call with other elementwise calls.
  pdl::Tile GetTile(llvm::ArrayRef<pdl::DType> inputs, pdl::DType) const override {
    pdl::Tile tile;
    tile.parameters = &beta_;
    switch (inputs[0]) {
      case pdl::DType::kF16:
        tile.dense = &SoftRampTile<pdl::float16>;
        break;
      case pdl::DType::kBF16:
        tile.dense = &SoftRampTile<pdl::bfloat16>;
        break;
      case pdl::DType::kF32:
        tile.dense = &SoftRampTile<float>;
        break;
      default:
        tile.dense = &SoftRampTile<double>;
        break;
    }
    return tile;
  }

  llvm::Expected<pdl::Preparation> Prepare(const pdl::PrepareContext&) const override {
    pdl::Preparation preparation;
    preparation.in_place.push_back({0, 0});
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const pdl::Tensor*> inputs,
                  llvm::MutableArrayRef<pdl::Tensor*> outputs, Context& context) const override {
    const pdl::Tensor& x = *inputs[0];
    pdl::Tensor& y = *outputs[0];
    const pdl::Tile tile = GetTile({x.dtype()}, y.dtype());
    const int64_t size = pdl::DTypeSize(x.dtype());
    context.ParallelFor(x.num_elements(), 1 << 14, [&](int64_t begin, int64_t end) {
      const void* piece = x.template data<char>() + begin * size;
      tile.dense(&piece, y.template data<char>() + begin * size, end - begin, tile.parameters);
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const pdl::AttributeReader& attributes) override {
    return attributes.Get("beta", &beta_);
  }

 private:
  double beta_ = 1;
};

void SoftRampGradient(pdl::GradientContext& g) {
  pdl::Value* scaled = g.Mul(g.input(0), g.Scalar(g.attributes().Float("beta"), g.input(0)));
  g.SetInputGradient(0, g.Mul(g.output_gradient(), g.Call("sigmoid", {scaled})));
}

struct SoftRampMaker : pdl::OpProtoMaker {
  void Make() override {
    AddComment("log(1 + exp(beta * x)) / beta, element by element: a smooth relu.");
    AddInput("x", "any numbers").Accepts(pdl::kFloats);
    AddOutput("y", "above 0; type as x");
    AddAttr<double>("beta", "the larger, the nearer to relu").Default(1).AtLeast(0.01).AtMost(100);
    properties().elementwise = true;
    SetInference(pdl::InferSameAsFirst);
    SetGradient(SoftRampGradient);
  }
};

REGISTER_OP(SoftRampOp, SoftRampMaker, "soft_ramp");

}  // namespace
