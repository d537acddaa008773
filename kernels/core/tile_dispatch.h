// Makes a Tile of a formula: compiles its loop for every instruction set and picks one.
//
// A formula is a small functor, written once for all dtypes:
//
//   struct Cosine {
//     double scale;
//     template <class T>
//     T operator()(T x) const { return static_cast<T>(scale) * math::CosReducible(x); }
//     // Only where some floats need a path with branches:
//     bool IsCommon(float x) const { return math::IsReducible(x); }
//     float Rare(float x) const { return static_cast<float>(scale) * math::Cos(x); }
//   };
//
// `Rare` must give the same bits as operator() wherever IsCommon holds.
//
// A functor that derives from SimdFunctor<Formula> computes floats by a formula over the structs of
// simd.h, in place of operator().
#ifndef PDL_KERNELS_CORE_TILE_DISPATCH_H_
#define PDL_KERNELS_CORE_TILE_DISPATCH_H_

#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/core/element.h"
#include "kernels/core/isa_dispatch.h"
#include "kernels/core/simd.h"
#include "pdl/op/tile.h"

namespace pdl {

/// Floats are computed by `Formula<S>()(x)`, with S a struct of simd.h.
template <template <class S> class FormulaOf>
struct SimdFunctor {
  template <class S>
  using Formula = FormulaOf<S>;
};

/// The form of the static function `Loop<S>::Run` for an instruction set, with its struct of
/// simd.h. With PDL_ONE_ISA_FORM, clang gets only the portable one: it does not pass vectors to a
/// function that is not compiled for their set, even if it is always inlined.
template <template <class S> class Loop>
auto ChooseSimd(Isa isa = CurrentIsa()) {
  using Function = decltype(&Loop<simd::Portable>::Run);
#if defined(PDL_ONE_ISA_FORM) && defined(__clang__)
  static_cast<void>(isa);
  return Function(&detail::IsaForms<Loop<simd::Portable>, Function>::Baseline);
#else
  switch (isa) {
    case Isa::kBaseline:
      return Function(&detail::IsaForms<Loop<simd::Portable>, Function>::Baseline);
    case Isa::kAvx2:
      return Function(&detail::IsaForms<Loop<simd::Avx2>, Function>::Avx2);
    case Isa::kAvx512:
      return Function(&detail::IsaForms<Loop<simd::Avx512>, Function>::Avx512);
  }
  __builtin_unreachable();
#endif
}

namespace detail {

template <class F>
concept HasSimdFormula = requires { typename F::template Formula<simd::Portable>; };

/// A loop over a formula of simd.h; f16 and bf16 are converted through a buffer of floats.
template <class F, class S, class Out, class In, bool kStream>
struct SimdTileLoop {
  static constexpr int64_t kLanes = S::kLanes;
  static constexpr int64_t kBuffer = 256;

  static PDL_INLINE void Run(const void* const* inputs, void* output, int64_t n, const void*) {
    const typename F::template Formula<S> formula;
    const In* in = static_cast<const In*>(inputs[0]);
    Out* out = static_cast<Out*>(output);
    if constexpr (std::is_same_v<In, float> && std::is_same_v<Out, float>) {
      int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes) {
        const auto y = formula(S::Load(in + i));
        if constexpr (kStream) {
          S::Stream(out + i, y);
        } else {
          S::Store(out + i, y);
        }
      }
      if (i == n) return;
      alignas(64) float rest[kLanes] = {};
      std::memcpy(rest, in + i, static_cast<size_t>(n - i) * sizeof(float));
      S::Store(rest, formula(S::Load(rest)));
      std::memcpy(out + i, rest, static_cast<size_t>(n - i) * sizeof(float));
    } else {
      alignas(64) float buffer[kBuffer];
      for (int64_t begin = 0; begin < n; begin += kBuffer) {
        const int64_t count = n - begin < kBuffer ? n - begin : kBuffer;
        const int64_t whole = (count + kLanes - 1) / kLanes * kLanes;
        for (int64_t i = 0; i < count; ++i) buffer[i] = Element<In>::Load(in[begin + i]);
        for (int64_t i = count; i < whole; ++i) buffer[i] = 0;
        for (int64_t i = 0; i < whole; i += kLanes) {
          S::Store(buffer + i, formula(S::Load(buffer + i)));
        }
        for (int64_t i = 0; i < count; ++i) out[begin + i] = Element<Out>::Store(buffer[i]);
      }
    }
  }
};

/// SimdTileLoop with all parameters bound but the instruction set.
template <class F, class Out, class In, bool kStream>
struct SimdTileLoops {
  template <class S>
  struct Loop : SimdTileLoop<F, S, Out, In, kStream> {};
};

/// Which operand is a single element, used for all n.
enum class Form { kDense, kScalarLeft, kScalarRight };

template <class F, class T>
concept HasRarePath = std::same_as<T, float> && requires(const F& f, T x) {
  { f.IsCommon(x) } -> std::convertible_to<bool>;
};

template <class F>
PDL_INLINE F Functor(const void* parameters) {
  if constexpr (std::is_empty_v<F>) {
    return F{};
  } else {
    return *static_cast<const F*>(parameters);
  }
}

template <class F, class Out, class In>
PDL_INLINE void UnaryLoop(const In* in, Out* out, int64_t n, const F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Element<Out>::Store(f(Element<In>::Load(in[i])));
  }
}

template <class F, class Out, class In>
PDL_INLINE void Unary(const void* const* inputs, void* output, int64_t n, const void* parameters) {
  const F f = Functor<F>(parameters);
  const In* in = static_cast<const In*>(inputs[0]);
  Out* out = static_cast<Out*>(output);
  if constexpr (HasRarePath<F, typename Element<In>::Compute>) {
    constexpr int64_t kBlock = 1024;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t count = n - begin < kBlock ? n - begin : kBlock;
      int rare = 0;
      for (int64_t i = 0; i < count; ++i) {
        rare |= f.IsCommon(Element<In>::Load(in[begin + i])) ? 0 : 1;
      }
      if (rare == 0) [[likely]] {
        UnaryLoop(in + begin, out + begin, count, f);
        continue;
      }
      for (int64_t i = begin; i < begin + count; ++i) {
        out[i] = Element<Out>::Store(f.Rare(Element<In>::Load(in[i])));
      }
    }
  } else {
    UnaryLoop(in, out, n, f);
  }
}

/// A binary functor that has a shorter formula, with the same results, for a fixed right operand.
template <class F>
concept HasWithRight = requires { F::WithRight::kRight; };

template <class F, class Out, class Left, class Right, Form kForm>
PDL_INLINE void Binary(const void* const* inputs, void* output, int64_t n, const void* parameters) {
  const F f = Functor<F>(parameters);
  const Left* left = static_cast<const Left*>(inputs[0]);
  const Right* right = static_cast<const Right*>(inputs[1]);
  Out* out = static_cast<Out*>(output);
  if constexpr (kForm == Form::kDense) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Element<Out>::Store(f(Element<Left>::Load(left[i]), Element<Right>::Load(right[i])));
    }
  } else if constexpr (kForm == Form::kScalarLeft) {
    const auto x = Element<Left>::Load(*left);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Element<Out>::Store(f(x, Element<Right>::Load(right[i])));
    }
  } else {
    const auto y = Element<Right>::Load(*right);
    if constexpr (HasWithRight<F> && std::is_floating_point_v<std::remove_const_t<decltype(y)>>) {
      if (y == F::WithRight::kRight) {
        const typename F::WithRight g;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
          out[i] = Element<Out>::Store(g(Element<Left>::Load(left[i])));
        }
        return;
      }
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Element<Out>::Store(f(Element<Left>::Load(left[i]), y));
    }
  }
}

template <class F, class Out, class In>
struct UnaryTileLoop {
  static PDL_INLINE void Run(const void* const* inputs, void* output, int64_t n,
                             const void* parameters) {
    Unary<F, Out, In>(inputs, output, n, parameters);
  }
};

template <class F, class Out, class Left, class Right, Form kForm>
struct BinaryTileLoop {
  static PDL_INLINE void Run(const void* const* inputs, void* output, int64_t n,
                             const void* parameters) {
    Binary<F, Out, Left, Right, kForm>(inputs, output, n, parameters);
  }
};

}  // namespace detail

/// The tile of `f`: Out = f(In) for elements of these storage types. `f` must outlive the tile.
template <class Out, class In, class F>
Tile MakeUnaryTile(const F* f, Isa isa = CurrentIsa()) {
  Tile tile;
  if constexpr (detail::HasSimdFormula<F> && std::is_same_v<ComputeType<In>, float>) {
    tile.dense = ChooseSimd<detail::SimdTileLoops<F, Out, In, false>::template Loop>(isa);
    if constexpr (std::is_same_v<In, float> && std::is_same_v<Out, float>) {
      tile.stream = ChooseSimd<detail::SimdTileLoops<F, Out, In, true>::template Loop>(isa);
    }
  } else {
    tile.dense = ChooseIsa<detail::UnaryTileLoop<F, Out, In>>(isa);
  }
  tile.parameters = f;
  return tile;
}

/// The tile of `f`: Out = f(In, In), with forms for a scalar on either side for elements of at
/// least four bytes.
template <class Out, class In, class F>
Tile MakeBinaryTile(const F* f, Isa isa = CurrentIsa()) {
  using detail::BinaryTileLoop;
  using detail::Form;
  Tile tile;
  tile.dense = ChooseIsa<BinaryTileLoop<F, Out, In, In, Form::kDense>>(isa);
  if constexpr (sizeof(In) >= 4) {
    tile.scalar[0] = ChooseIsa<BinaryTileLoop<F, Out, In, In, Form::kScalarLeft>>(isa);
    tile.scalar[1] = ChooseIsa<BinaryTileLoop<F, Out, In, In, Form::kScalarRight>>(isa);
  }
  tile.parameters = f;
  return tile;
}

}  // namespace pdl

#endif  // PDL_KERNELS_CORE_TILE_DISPATCH_H_
