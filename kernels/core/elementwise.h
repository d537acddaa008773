// UnaryOp and BinaryOp make an operator from a formula (see tile_dispatch.h).
#ifndef PDL_KERNELS_CORE_ELEMENTWISE_H_
#define PDL_KERNELS_CORE_ELEMENTWISE_H_

#include <array>
#include <memory>
#include <type_traits>

#include "kernels/core/strided_copy.h"
#include "kernels/core/tile_dispatch.h"
#include "pdl/op/operator.h"

namespace pdl {

/// How an elementwise call iterates over its operands, determined when their sizes are known.
class ElementwiseState : public CallState {
 public:
  static constexpr unsigned kMaxInputs = 3;

  ElementwiseState(const Tile& tile, llvm::ArrayRef<OperandType> inputs, const OperandType& output);

  template <unsigned kInputs>
  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output, CPUContext& context) const {
    const void* pointers[kInputs];
    for (unsigned i = 0; i < kInputs; ++i) pointers[i] = inputs[i]->raw();
    if (one_call_) [[likely]] {
      function_(pointers, output->raw(), num_elements_, tile_.parameters);
    } else {
      RunPieces(pointers, output->raw(), context);
    }
  }

 private:
  /// The unit of iteration.
  enum class Walk {
    kWhole,   // all elements in one run
    kRuns,    // runs along the innermost dim, in which each operand is dense or a single element
    kGather,  // tiles; operands that are not dense are first copied
  };
  using Pointers = std::array<const char*, kMaxInputs>;

  void RunPieces(const void* const* inputs, void* output, CPUContext& context) const;
  void RunWhole(const Pointers& inputs, char* output, int64_t begin, int64_t end,
                bool stream) const;
  void RunRuns(const Pointers& inputs, char* output, int64_t begin, int64_t end) const;
  void RunGather(const Pointers& inputs, char* output, int64_t begin, int64_t end) const;

  // Members that a small call reads come first.
  bool one_call_ = false;
  TileFunction function_ = nullptr;  // for runs, or for tiles
  int64_t num_elements_ = 0;
  Tile tile_;

  Walk walk_ = Walk::kWhole;
  unsigned num_inputs_ = 0;
  bool exceeds_cache_ = false;
  int64_t output_size_ = 0;                        // of one element, in bytes
  std::array<int64_t, kMaxInputs> input_sizes_{};  // of one element, in bytes
  std::array<bool, kMaxInputs> dense_{};           // within a run, or (kGather) completely
  /// The operands broadcast to the output. With kRuns they have the same sizes; with kGather each
  /// is collapsed individually.
  std::array<StridedView, kMaxInputs> views_;
  int64_t run_length_ = 0;
  int64_t segments_ = 1;  // into which a long run is split
};

/// An elementwise operator of kInputs inputs, which broadcast. Derived classes provide its Tile.
/// `Functor` may have `void Initialize(const AttributeReader&)`.
template <class Context, class Functor, unsigned kInputs>
class ElementwiseOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    const OperandType& output = context.outputs()[0];
    std::array<DType, kInputs> dtypes;
    for (unsigned i = 0; i < kInputs; ++i) dtypes[i] = inputs[i].dtype;
    Preparation preparation;
    preparation.state =
        std::make_shared<ElementwiseState>(this->GetTile(dtypes, output.dtype), inputs, output);
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
    context.template state<ElementwiseState>()->template Run<kInputs>(inputs, outputs[0], context);
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    if constexpr (requires { functor_.Initialize(attributes); }) functor_.Initialize(attributes);
    return llvm::Error::success();
  }
  const Functor& functor() const { return functor_; }

 private:
  Functor functor_;
};

/// An elementwise operator of one input. `Types` lists the element types; the result has type
/// Result, or the type of the input if that is void.
template <class Context, class Functor, class Types, class Result = void>
class UnaryOp : public ElementwiseOp<Context, Functor, 1> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType) const override {
    Tile tile;
    VisitDType(Types(), inputs[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Out = std::conditional_t<std::is_void_v<Result>, T, Result>;
      tile = MakeUnaryTile<Out, T>(&this->functor());
    });
    return tile;
  }
};

/// An elementwise operator of two inputs of one dtype. Otherwise as UnaryOp.
template <class Context, class Functor, class Types, class Result = void>
class BinaryOp : public ElementwiseOp<Context, Functor, 2> {
 public:
  Tile GetTile(llvm::ArrayRef<DType> inputs, DType) const override {
    Tile tile;
    VisitDType(Types(), inputs[0], [&](auto tag) {
      using T = typename decltype(tag)::type;
      using Out = std::conditional_t<std::is_void_v<Result>, T, Result>;
      tile = MakeBinaryTile<Out, T>(&this->functor());
    });
    return tile;
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ELEMENTWISE_H_
