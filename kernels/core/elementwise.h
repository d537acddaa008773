// UnaryOp and BinaryOp make an operator from a formula (see tile_dispatch.h).
#ifndef PDL_KERNELS_CORE_ELEMENTWISE_H_
#define PDL_KERNELS_CORE_ELEMENTWISE_H_

#include <array>
#include <memory>
#include <type_traits>

#include "kernels/core/strided_copy.h"
#include "kernels/core/tile_dispatch.h"
#include "pdl/op/elementwise.h"

namespace pdl {

/// How an elementwise call iterates over its operands, determined when their sizes are known.
class ElementwiseState : public CallState {
 public:
  ElementwiseState(const Tile& tile, llvm::ArrayRef<OperandType> inputs, const OperandType& output);

  void Run(llvm::ArrayRef<const Tensor*> inputs, Tensor* output, CPUContext& context) const {
    const void* pointers[kMaxElementwiseInputs];
    for (unsigned i = 0; i < num_inputs_; ++i) pointers[i] = inputs[i]->raw();
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
  using Pointers = std::array<const char*, kMaxElementwiseInputs>;

  void RunPieces(const void* const* inputs, void* output, CPUContext& context) const;
  void RunWhole(const Pointers& inputs, char* output, int64_t begin, int64_t end,
                bool stream) const;
  void RunRuns(const Pointers& inputs, char* output, int64_t begin, int64_t end) const;
  void RunGather(const Pointers& inputs, char* output, int64_t begin, int64_t end) const;

  // Members that a small call reads come first.
  bool one_call_ = false;
  unsigned num_inputs_ = 0;
  TileFunction function_ = nullptr;  // for runs, or for tiles
  int64_t num_elements_ = 0;
  Tile tile_;

  Walk walk_ = Walk::kWhole;
  bool exceeds_cache_ = false;
  int64_t output_size_ = 0;                                   // of one element, in bytes
  std::array<int64_t, kMaxElementwiseInputs> input_sizes_{};  // of one element, in bytes
  std::array<bool, kMaxElementwiseInputs> dense_{};  // within a run, or (kGather) completely
  /// The operands broadcast to the output. With kRuns they have the same sizes; with kGather each
  /// is collapsed individually.
  std::array<StridedView, kMaxElementwiseInputs> views_;
  int64_t run_length_ = 0;
  int64_t segments_ = 1;  // into which a long run is split
};

/// Describes the tile of a functor for elements of type T: a functor with `kIsSum` is the sum, one
/// with `kActivation` that activation. A kClamp has members `low` and `high`.
template <class T, class Functor>
void DescribeTile(const Functor& functor, Tile& tile) {
  if constexpr (std::is_same_v<T, float>) {
    if constexpr (requires { Functor::kIsSum; }) tile.is_sum = Functor::kIsSum;
    if constexpr (requires { Functor::kActivation; }) {
      tile.activation.kind = Functor::kActivation;
      if constexpr (Functor::kActivation == RegisterActivation::Kind::kClamp) {
        tile.activation.low = static_cast<float>(functor.low);
        tile.activation.high = static_cast<float>(functor.high);
      }
    }
  }
}

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
      DescribeTile<T>(this->functor(), tile);
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
      DescribeTile<T>(this->functor(), tile);
    });
    return tile;
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_ELEMENTWISE_H_
