// The initializer `orthogonal`.
#include "kernels/creation/orthogonal.h"

#include <cmath>

#include "kernels/core/element.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/linalg/dense_solvers.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "runtime/philox.h"

namespace pdl {
namespace {

// The orthogonal factor of a random normal matrix whose triangular factor has a positive diagonal
// is uniformly distributed over the orthogonal matrices (Mezzadri, arXiv:math-ph/0609050).
template <class Context>
class OrthogonalOp : public Operator<Context> {
 public:
  llvm::Error Run(llvm::ArrayRef<const Tensor*>, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const int64_t n = outputs[0]->num_elements();
    if (n == 0) return llvm::Error::success();
    const random::OrthogonalVectors vectors(outputs[0]->sizes());
    const int64_t length = vectors.length;
    linalg::Matrix<double> x(length, vectors.count), q(length, vectors.count);
    const random::Stream stream =
        random::MakeStream(context.random().seed, context.random().run_count, this->stream_key());
    context.ParallelFor((n + 1) / 2, 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto pair = random::NormalsOf(random::Philox(stream, static_cast<uint64_t>(i)));
        x.data()[2 * i] = pair.first;
        if (2 * i + 1 < n) x.data()[2 * i + 1] = pair.second;
      }
    });
    linalg::FactorQr(&x, &q);
    VisitDType(FloatTypes(), outputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* out = static_cast<T*>(outputs[0]->raw());
      for (int64_t j = 0; j < vectors.count; ++j) {
        const double factor = std::signbit(x(j, j)) ? -gain_ : gain_;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t at = vectors.are_columns ? i * vectors.count + j : j * length + i;
          out[at] = Element<T>::Store(static_cast<ComputeType<T>>(factor * q(i, j)));
        }
      }
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    gain_ = attributes.Float("gain");
    return llvm::Error::success();
  }

 private:
  double gain_ = 1;
};

llvm::Error InferOrthogonal(InferenceContext& context) {
  if (llvm::Error error = CheckFinite(context, "gain")) return error;
  const Shape& dims = context.attributes().Dims("dims");
  if (dims.size() < 2) {
    return context.FailAtAttribute(
        "dims", Code::kRank, "'dims' must have two sizes or more, got {0}", ShapeToString(dims));
  }
  return InferFromAttributes(context, kFloatSet);
}

struct OrthogonalMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Initial values of a weight (Saxe et al., arXiv:1312.6120): a random matrix with "
        "orthogonal rows of norm `gain`, or orthogonal columns if it has more rows than columns. "
        "The rows are along the first dim, the columns along all others. The values depend only on "
        "the seed, the number of runs so far, and the name of the result.");
    AddOutput("y", "tensor with sizes `dims` and dtype `dtype`").DTypeOf("dtype").DimsOf("dims");
    AddAttr<Shape>("dims", "the sizes, two or more").Positional();
    AddAttr<double>("gain", "scaling factor").Default(1).AtLeast(0);
    AddAttr<DType>("dtype", "dtype of the elements").Default(DType::kF32);
    AddExample("w = orthogonal([2, 5])\ny = round(w @ transpose(w))  # = [[1.0, 0.0], [0.0, 1.0]]");
    properties().random = true;
    SetInference(InferOrthogonal);
  }
};

}  // namespace

void RegisterOrthogonalOps(OpRegistry& registry) {
  registry.BeginFamily("Random numbers");
  registry.RegisterOp<OrthogonalOp, OrthogonalMaker>("orthogonal");
}

}  // namespace pdl
