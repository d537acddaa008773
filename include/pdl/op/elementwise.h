// Elementwise operators from a formula, for plugins and for libpdl's own kernels.
//
//   struct SoftRamp {
//     double beta = 1;
//     void Initialize(const pdl::AttributeReader& attributes) { beta = attributes.Float("beta"); }
//     template <class T>
//     T operator()(T x) const { … }  // T is float or double
//   };
//   template <class Context>
//   using SoftRampOp = pdl::FloatFormulaOp<Context, SoftRamp>;
//
// Module: kernels
#ifndef PDL_OP_ELEMENTWISE_H_
#define PDL_OP_ELEMENTWISE_H_

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/export.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/half.h"
#include "pdl/op/operator.h"
#include "pdl/op/tile.h"

namespace pdl {

/// The most inputs of an elementwise operator.
inline constexpr unsigned kMaxElementwiseInputs = 3;

/// Decides how a call iterates over its operands, for their sizes. The parameters of `tile` must
/// outlive the result, which only RunElementwise uses. A UserError if `tile` has no function, or if
/// `inputs` (at most kMaxElementwiseInputs) do not broadcast to `output`.
PDL_API llvm::Expected<std::shared_ptr<CallState>> PrepareElementwise(
    const Tile& tile, llvm::ArrayRef<OperandType> inputs, const OperandType& output);

/// Computes `output` by the tile that PrepareElementwise was given, on the threads of `context`.
/// `inputs` and `output` have the types given there; `output` may be the memory of an input with as
/// many bytes. Does not fail.
PDL_API void RunElementwise(const CallState& state, llvm::ArrayRef<const Tensor*> inputs,
                            Tensor* output, CPUContext& context);

/// An elementwise operator with kInputs inputs that broadcast, and one output. A derived class has
/// `Tile GetTile(inputs, output)`, with the functor as the tile's parameters. The planner fuses its
/// calls with their elementwise neighbors if its declaration sets `properties().elementwise`.
///
/// Functor holds the attributes: it may have `void Initialize(const AttributeReader&)`, or, if it
/// checks them, `llvm::Error Initialize(const AttributeReader&)`. The rules of
/// OperatorBase::InitializeAttributes apply.
template <class Context, class Functor, unsigned kInputs>
class ElementwiseOp : public Operator<Context> {
  static_assert(kInputs <= kMaxElementwiseInputs);

 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    const OperandType& output = context.outputs()[0];
    std::array<DType, kInputs> dtypes;
    for (unsigned i = 0; i < kInputs; ++i) dtypes[i] = inputs[i].dtype;
    Preparation preparation;
    auto state = PrepareElementwise(this->GetTile(dtypes, output.dtype), inputs, output);
    if (!state) return state.takeError();
    preparation.state = std::move(*state);
    for (unsigned i = 0; i < kInputs; ++i) {
      if (DTypeSize(inputs[i].dtype) == DTypeSize(output.dtype) &&
          inputs[i].sizes == output.sizes) {
        preparation.in_place.push_back({0, i});
      }
    }
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    RunElementwise(*context.template state<CallState>(), inputs, outputs[0], context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if constexpr (requires { llvm::Error(functor_.Initialize(attributes)); }) {
      return functor_.Initialize(attributes);
    } else {
      if constexpr (requires { functor_.Initialize(attributes); }) functor_.Initialize(attributes);
      return llvm::Error::success();
    }
  }
  const Functor& functor() const { return functor_; }

 private:
  Functor functor_;
};

/// An elementwise operator on f16, bf16, f32 and f64; all inputs and the output have one dtype.
/// Functor has `T operator()(T x, …) const`, with kInputs parameters, for T = float, which f16 and
/// bf16 are computed in, and T = double. Calls with other dtypes are errors when they are prepared,
/// so the inputs should be declared to accept only kFloats.
template <class Context, class Functor, unsigned kInputs = 1>
class FloatFormulaOp : public ElementwiseOp<Context, Functor, kInputs> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType output) const override {
    Tile tile;
    const bool is_same = llvm::all_of(inputs, [&](DType dtype) { return dtype == inputs[0]; });
    if (is_same && inputs[0] == output) tile.dense = FunctionFor(inputs[0]);
    tile.parameters = &this->functor();
    return tile;
  }

 private:
  static TileFunction FunctionFor(DType dtype) {
    constexpr std::make_index_sequence<kInputs> kAll;
    switch (dtype) {
      case DType::kF16:
        return Loop<float16>(kAll);
      case DType::kBF16:
        return Loop<bfloat16>(kAll);
      case DType::kF32:
        return Loop<float>(kAll);
      case DType::kF64:
        return Loop<double>(kAll);
      default:
        return nullptr;
    }
  }

  template <class T, size_t... i>
  static TileFunction Loop(std::index_sequence<i...>) {
    return [](const void* const* inputs, void* output, int64_t n, const void* parameters) {
      using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const Functor formula = *static_cast<const Functor*>(parameters);
      T* y = static_cast<T*>(output);
      for (int64_t k = 0; k < n; ++k)
        y[k] = static_cast<T>(formula(static_cast<Real>(static_cast<const T*>(inputs[i])[k])...));
    };
  }
};

}  // namespace pdl

#endif  // PDL_OP_ELEMENTWISE_H_
