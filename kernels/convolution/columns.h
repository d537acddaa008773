// im2col and col2im: with the windows of an image as columns of a matrix, a convolution is a
// matmul.
#ifndef PDL_KERNELS_CONVOLUTION_COLUMNS_H_
#define PDL_KERNELS_CONVOLUTION_COLUMNS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/convolution/sliding_window.h"
#include "kernels/core/element.h"
#include "kernels/core/rounding.h"

namespace pdl {

/// The windows [first, last) of one dim whose element `i` is in the tensor, not in the padding.
struct WindowRange {
  int64_t first = 0, last = 0;

  WindowRange() = default;
  WindowRange(const WindowDim& d, int64_t i) {
    const int64_t shift = d.begin - i * d.dilation;  // index = o * stride - shift
    const auto count_below = [&](int64_t place) {
      const int64_t n = place + shift;
      return n <= 0 ? 0 : std::min(d.out, DivideUp(n, d.stride));
    };
    first = count_below(0);
    last = count_below(d.in);
  }
};

/// Calls visit(column, range, index) for each kernel element and each row of windows of one
/// channel. The row is stored in the columns from `column` on. For window o of `range` the element
/// is x[index + o * stride]; the other windows have it in the padding.
template <class Visit>
PDL_INLINE void ForEachWindowRow(const SlidingWindow& w, Visit visit) {
  const WindowDim &a = w.d[0], &b = w.d[1], &c = w.d[2];
  int64_t column = 0;
  for (int64_t i = 0; i < a.kernel; ++i) {
    for (int64_t j = 0; j < b.kernel; ++j) {
      for (int64_t k = 0; k < c.kernel; ++k) {
        const WindowRange range(c, k);
        for (int64_t x = 0; x < a.out; ++x) {
          for (int64_t y = 0; y < b.out; ++y, column += c.out) {
            const int64_t p = a.At(x, i), q = b.At(y, j);
            const bool inside = a.Has(p) && b.Has(q);
            visit(column, inside ? range : WindowRange(), (p * b.in + q) * c.in + c.At(0, k));
          }
        }
      }
    }
  }
}

/// Writes columns[kernel, out] of one channel x[in].
template <class T>
void ToColumns(const SlidingWindow& w, const T* x, T* columns) {
  const int64_t stride = w.d[2].stride, out = w.d[2].out;
  ForEachWindowRow(w, [&](int64_t column, const WindowRange& range, int64_t place) {
    T* row = columns + column;
    std::fill(row, row + range.first, T{});
    std::fill(row + range.last, row + out, T{});
    if (stride == 1) {
      std::copy(x + place + range.first, x + place + range.last, row + range.first);
      return;
    }
    for (int64_t o = range.first; o < range.last; ++o) row[o] = x[place + o * stride];
  });
}

/// Like ToColumns, but with a row for each window: element (o, k) is rows[o * row_stride + k].
template <class T>
void ToRows(const SlidingWindow& w, const T* x, int64_t row_stride, T* rows) {
  const int64_t stride = w.d[2].stride, out = w.d[2].out, windows = w.out();
  ForEachWindowRow(w, [&](int64_t column, const WindowRange& range, int64_t place) {
    T* to = rows + column % windows * row_stride + column / windows;
    for (int64_t o = 0; o < out; ++o) {
      const bool inside = o >= range.first && o < range.last;
      to[o * row_stride] = inside ? x[place + o * stride] : T{};
    }
  });
}

/// The reverse of ToColumns: adds the columns of one channel to the elements that they were read
/// from. Integers wrap around.
template <class T, class Sum>
void AddColumns(const SlidingWindow& w, const T* columns, Sum* x) {
  const int64_t stride = w.d[2].stride;
  ForEachWindowRow(w, [&](int64_t column, const WindowRange& range, int64_t place) {
    const T* row = columns + column;
    for (int64_t o = range.first; o < range.last; ++o) {
      Sum& to = x[place + o * stride];
      if constexpr (std::is_integral_v<Sum>) {
        to = static_cast<Sum>(static_cast<uint64_t>(to) + static_cast<uint64_t>(row[o]));
      } else {
        to += Element<T>::Load(row[o]);
      }
    }
  });
}

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_COLUMNS_H_
