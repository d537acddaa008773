#include "kernels/linalg/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace pdl::linalg {
namespace {

// --- copies -------------------------------------------------------------------------------------

// A vector of the baseline, 16 bytes. Blocks of kSide x kSide elements are transposed in registers.
template <class T>
inline constexpr int kSide = static_cast<int>(16 / sizeof(T));
template <class T>
using Quad __attribute__((vector_size(16))) = T;

template <class T>
PDL_INLINE Quad<T> LoadQuad(const T* from) {
  Quad<T> x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}
template <class T>
PDL_INLINE void StoreQuad(T* to, Quad<T> x) {
  std::memcpy(to, &x, sizeof(x));
}

PDL_INLINE void TransposeQuads(Quad<float>* x) {
  const Quad<float> a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  const Quad<float> b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  const Quad<float> c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  const Quad<float> d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}
PDL_INLINE void TransposeQuads(Quad<double>* x) {
  const Quad<double> first = x[0];
  x[0] = __builtin_shufflevector(first, x[1], 0, 2);
  x[1] = __builtin_shufflevector(first, x[1], 1, 3);
}

// The rows of a view; all of them as one, if they are contiguous.
struct Runs {
  int count, length, stride, step;
};
template <class T>
Runs RunsOf(const LaneView<T>& x) {
  if (x.column_stride == 1 && x.row_stride == x.columns) return {1, x.rows * x.columns, 0, 1};
  return {x.rows, x.columns, x.row_stride, x.column_stride};
}

// Calls quads(l, i) for elements [i, i + kSide) of matrices [l, l + kSide), and rest(i) for the
// last elements, which are fewer. A cache line of each matrix is used up before the next one: the
// lines of all matrices may fall into the same set of the cache.
template <class T, class Quads, class Rest>
PDL_INLINE void ForQuads(int length, Quads quads, Rest rest) {
  constexpr int kN = kSide<T>;
  const int complete = length / kN * kN;
  for (int begin = 0; begin < complete; begin += kLanes<T>) {
    const int end = std::min(begin + kLanes<T>, complete);
    for (int l = 0; l < kLanes<T>; l += kN) {
      for (int i = begin; i < end; i += kN) quads(l, i);
    }
  }
  for (int i = complete; i < length; ++i) rest(i);
}

// `length` elements of each matrix; those in the block are `step` apart.
template <class T>
PDL_INLINE void LoadRun(const T* const* from, int64_t begin, int length, int step, Lanes<T>* to) {
  constexpr int kN = kSide<T>;
  ForQuads<T>(
      length,
      [&](int l, int i) {
        Quad<T> x[kN];
        for (int k = 0; k < kN; ++k) x[k] = LoadQuad(from[l + k] + begin + i);
        TransposeQuads(x);
        for (int k = 0; k < kN; ++k) StoreQuad<T>(to[(i + k) * step].v + l, x[k]);
      },
      [&](int i) {
        for (int l = 0; l < kLanes<T>; ++l) to[i * step].v[l] = from[l][begin + i];
      });
}

template <class T>
PDL_INLINE void StoreRun(const Lanes<T>* from, int step, int length, T* const* to, int64_t begin) {
  constexpr int kN = kSide<T>;
  ForQuads<T>(
      length,
      [&](int l, int i) {
        Quad<T> x[kN];
        for (int k = 0; k < kN; ++k) x[k] = LoadQuad(from[(i + k) * step].v + l) + T(0);
        TransposeQuads(x);
        for (int k = 0; k < kN; ++k) StoreQuad<T>(to[l + k] + begin + i, x[k]);
      },
      [&](int i) {
        for (int l = 0; l < kLanes<T>; ++l) to[l][begin + i] = from[i * step].v[l] + T(0);
      });
}

template <class T>
struct FindNonFinite {
  static PDL_INLINE LaneSet Run(const LaneView<T>& x) {
    LaneIndex<T> bad = {};
    for (int i = 0; i < x.rows; ++i) {
      for (int j = 0; j < x.columns; ++j) {
        const Lanes<T>& element = x(i, j);
        ForLanes<T>(
            [&](int l) { bad.v[l] |= Abs(element.v[l]) <= std::numeric_limits<T>::max() ? 0 : 1; });
      }
    }
    LaneSet set = 0;
    for (int l = 0; l < kLanes<T>; ++l) set |= static_cast<LaneSet>(bad.v[l]) << l;
    return set;
  }
};

// --- scaling ------------------------------------------------------------------------------------

template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  // The largest absolute value of a scaled matrix is in [2^26, 2^27).
  static constexpr int kScaled = 26;
};
template <>
struct Format<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr int kScaled = 240;
};

template <class T>
PDL_INLINE T PowerOfTwo(LaneInt<T> exponent) {
  return __builtin_bit_cast(T, (exponent + Format<T>::kBias) << Format<T>::kMantissa);
}

template <class T>
struct MultiplyLoop {
  static PDL_INLINE void Run(const LaneScale<T>& scale, Lanes<T>* x, int count) {
    const LaneScale<T> s = scale;
    for (int i = 0; i < count; ++i) {
      ForLanes<T>([&](int l) { x[i].v[l] = x[i].v[l] * s.first.v[l] * s.second.v[l]; });
    }
  }
};

template <class T>
struct ScaleLoop {
  static PDL_INLINE void Run(Lanes<T>* x, int count, LaneScale<T>* back) {
    using Int = LaneInt<T>;
    using F = Format<T>;
    Lanes<T> largest = {};
    for (int i = 0; i < count; ++i) {
      ForLanes<T>([&](int l) {
        const T value = Abs(x[i].v[l]);
        largest.v[l] = value > largest.v[l] ? value : largest.v[l];
      });
    }
    LaneScale<T> scale;
    LaneScale<T> inverse;
    ForLanes<T>([&](int l) {
      // A denormal is multiplied by 2^kMantissa first, so that its bits have an exponent.
      const T value = largest.v[l];
      const bool denormal = value < std::numeric_limits<T>::min();
      const T normal = denormal ? value * PowerOfTwo<T>(F::kMantissa) : value;
      Int exponent = (__builtin_bit_cast(Int, normal) >> F::kMantissa) - F::kBias;
      exponent -= denormal ? Int(F::kMantissa) : Int(0);
      exponent = value == 0 ? Int(F::kScaled) : exponent;
      const Int shift = F::kScaled - exponent;
      const Int half = shift >> 1;
      scale.first.v[l] = PowerOfTwo<T>(half);
      scale.second.v[l] = PowerOfTwo<T>(shift - half);
      inverse.first.v[l] = PowerOfTwo<T>(-half);
      inverse.second.v[l] = PowerOfTwo<T>(half - shift);
    });
    MultiplyLoop<T>::Run(scale, x, count);
    *back = inverse;
  }
};

// --- vectors ------------------------------------------------------------------------------------

template <class T>
struct SymmetricLoop {
  static PDL_INLINE void Run(const LaneView<T>& x) {
    for (int i = 0; i < x.rows; ++i) {
      for (int j = 0; j < i; ++j) {
        Lanes<T>& below = x(i, j);
        const Lanes<T>& above = x(j, i);
        ForLanes<T>([&](int l) {
          const T a = below.v[l], b = above.v[l];
          below.v[l] = a == b ? a : a / 2 + b / 2;
        });
      }
    }
  }
};

// Insertion of one value after another, by exchanges of adjacent ones.
template <class T>
struct SortLoop {
  static PDL_INLINE void Run(Lanes<T>* values, int n, bool descending, LaneIndex<T>* order) {
    const T sign = descending ? T(-1) : T(1);
    for (int i = 0; i < n; ++i) {
      ForLanes<T>([&](int l) { order[i].v[l] = i; });
      for (int j = i; j > 0; --j) {
        ForLanes<T>([&](int l) {
          const T a = values[j - 1].v[l], b = values[j].v[l];
          const LaneInt<T> p = order[j - 1].v[l], q = order[j].v[l];
          const bool exchange = sign * b < sign * a;
          values[j - 1].v[l] = exchange ? b : a;
          values[j].v[l] = exchange ? a : b;
          order[j - 1].v[l] = exchange ? q : p;
          order[j].v[l] = exchange ? p : q;
        });
      }
    }
  }
};

template <class T>
struct OrientLoop {
  static PDL_INLINE void Run(int n, Lanes<T>* x, int length, Lanes<T>* y, int y_length) {
    for (int j = 0; j < n; ++j) {
      Lanes<T>* vector = x + j * length;
      Lanes<T> limit = {}, sign;
      for (int i = 0; i < length; ++i) {
        ForLanes<T>([&](int l) {
          const T value = Abs(vector[i].v[l]);
          limit.v[l] = value > limit.v[l] ? value : limit.v[l];
        });
      }
      ForLanes<T>([&](int l) {
        limit.v[l] *= T(0.999);
        sign.v[l] = 1;
      });
      for (int i = length; i-- > 0;) {
        ForLanes<T>([&](int l) {
          const T value = vector[i].v[l];
          const T found = value < 0 ? T(-1) : T(1);
          sign.v[l] = Abs(value) >= limit.v[l] ? found : sign.v[l];
        });
      }
      for (int i = 0; i < length; ++i) {
        ForLanes<T>([&](int l) { vector[i].v[l] *= sign.v[l]; });
      }
      for (int i = 0; i < y_length; ++i) {
        ForLanes<T>([&](int l) { y[j * y_length + i].v[l] *= sign.v[l]; });
      }
    }
  }
};

template <class T>
struct ProductLoop {
  // kRows x kColumns elements of c, accumulated in registers.
  template <int kRows, int kColumns>
  static PDL_INLINE void Tile(const LaneView<T>& a, const LaneView<T>& b, const LaneView<T>& c,
                              int i, int j) {
    Lanes<T> sums[kRows][kColumns] = {};
    for (int k = 0; k < a.columns; ++k) {
      for (int x = 0; x < kRows; ++x) {
        const Lanes<T>& left = a(i + x, k);
        for (int y = 0; y < kColumns; ++y) {
          const Lanes<T>& right = b(k, j + y);
          ForLanes<T>([&](int l) { sums[x][y].v[l] += left.v[l] * right.v[l]; });
        }
      }
    }
    for (int x = 0; x < kRows; ++x) {
      for (int y = 0; y < kColumns; ++y) c(i + x, j + y) = sums[x][y];
    }
  }

  template <int kRows>
  static PDL_INLINE void Rows(const LaneView<T>& a, const LaneView<T>& b, const LaneView<T>& c,
                              int i) {
    int j = 0;
    for (; j + 4 <= c.columns; j += 4) Tile<kRows, 4>(a, b, c, i, j);
    for (; j < c.columns; ++j) Tile<kRows, 1>(a, b, c, i, j);
  }

  static PDL_INLINE void Run(const LaneView<T>& a, const LaneView<T>& b, const LaneView<T>& c) {
    int i = 0;
    for (; i + 2 <= c.rows; i += 2) Rows<2>(a, b, c, i);
    if (i < c.rows) Rows<1>(a, b, c, i);
  }
};

}  // namespace

template <class T>
void LoadLanes(const T* const* from, const LaneView<T>& to) {
  const Runs runs = RunsOf(to);
  for (int i = 0; i < runs.count; ++i) {
    LoadRun(from, int64_t{i} * runs.length, runs.length, runs.step, to.data + i * runs.stride);
  }
}

template <class T>
void StoreLanes(const LaneView<T>& from, T* const* to) {
  const Runs runs = RunsOf(from);
  const bool all = std::find(to, to + kLanes<T>, nullptr) == to + kLanes<T>;
  for (int i = 0; i < runs.count; ++i) {
    const Lanes<T>* run = from.data + i * runs.stride;
    const int64_t begin = int64_t{i} * runs.length;
    if (all) {
      StoreRun(run, runs.step, runs.length, to, begin);
      continue;
    }
    for (int l = 0; l < kLanes<T>; ++l) {
      if (to[l] == nullptr) continue;
      for (int k = 0; k < runs.length; ++k) to[l][begin + k] = run[k * runs.step].v[l] + T(0);
    }
  }
}

template <class T>
LaneSet ReplaceNonFinite(const LaneView<T>& x) {
  static const auto find = ChooseIsa<FindNonFinite<T>>();
  const LaneSet set = find(x);
  for (LaneSet rest = set; rest != 0; rest &= rest - 1) {
    const int l = std::countr_zero(rest);
    for (int i = 0; i < x.rows; ++i) {
      for (int j = 0; j < x.columns; ++j) x(i, j).v[l] = i == j ? T(1) : T(0);
    }
  }
  return set;
}

template <class T>
void TakeSymmetricPart(const LaneView<T>& x) {
  static const auto run = ChooseIsa<SymmetricLoop<T>>();
  run(x);
}

template <class T>
void ScaleLanes(Lanes<T>* x, int count, LaneScale<T>* back) {
  static const auto run = ChooseIsa<ScaleLoop<T>>();
  run(x, count, back);
}

template <class T>
void MultiplyLanes(const LaneScale<T>& scale, Lanes<T>* x, int count) {
  static const auto run = ChooseIsa<MultiplyLoop<T>>();
  run(scale, x, count);
}

template <class T>
void SortLanes(Lanes<T>* values, int n, bool descending, LaneIndex<T>* order) {
  static const auto run = ChooseIsa<SortLoop<T>>();
  run(values, n, descending, order);
}

template <class T>
void PermuteLanes(const Lanes<T>* from, const LaneIndex<T>* order, int n, int length,
                  Lanes<T>* to) {
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < kLanes<T>; ++l) {
      const Lanes<T>* vector = from + static_cast<int>(order[j].v[l]) * length;
      for (int i = 0; i < length; ++i) to[j * length + i].v[l] = vector[i].v[l];
    }
  }
}

template <class T>
void OrientLanes(int n, Lanes<T>* x, int length, Lanes<T>* y, int y_length) {
  static const auto run = ChooseIsa<OrientLoop<T>>();
  run(n, x, length, y, y_length);
}

template <class T>
void MultiplyBlocks(const LaneView<T>& a, const LaneView<T>& b, const LaneView<T>& c) {
  static const auto run = ChooseIsa<ProductLoop<T>>();
  run(a, b, c);
}

#define PDL_INSTANTIATE(T)                                                                  \
  template void LoadLanes<T>(const T* const*, const LaneView<T>&);                          \
  template void StoreLanes<T>(const LaneView<T>&, T* const*);                               \
  template LaneSet ReplaceNonFinite<T>(const LaneView<T>&);                                 \
  template void TakeSymmetricPart<T>(const LaneView<T>&);                                   \
  template void ScaleLanes<T>(Lanes<T>*, int, LaneScale<T>*);                               \
  template void MultiplyLanes<T>(const LaneScale<T>&, Lanes<T>*, int);                      \
  template void SortLanes<T>(Lanes<T>*, int, bool, LaneIndex<T>*);                          \
  template void PermuteLanes<T>(const Lanes<T>*, const LaneIndex<T>*, int, int, Lanes<T>*); \
  template void OrientLanes<T>(int, Lanes<T>*, int, Lanes<T>*, int);                        \
  template void MultiplyBlocks<T>(const LaneView<T>&, const LaneView<T>&, const LaneView<T>&);
PDL_INSTANTIATE(float)
PDL_INSTANTIATE(double)
#undef PDL_INSTANTIATE

}  // namespace pdl::linalg
