#include "kernels/linalg/lane_qr.h"

#include <algorithm>

#include "kernels/linalg/lane_reflector.h"

namespace pdl::linalg {
namespace {

template <class T>
struct QrLoop {
  static PDL_INLINE void Run(Lanes<T>* x, int rows, int columns, int rank, Lanes<T>* taus,
                             Lanes<T>* q) {
    const int count = std::min(rows, columns);
    FactorQr(x, rows, columns, taus);
    FormBasis(x, rows, taus, count, 0, q, rows, rank);
    for (int j = 0; j < columns; ++j) {
      for (int i = j + 1; i < rows; ++i) x[j * rows + i] = Lanes<T>{};
    }
    for (int i = 0; i < count; ++i) {
      Lanes<T> sign;
      ForLanes<T>([&](int l) { sign.v[l] = x[i * rows + i].v[l] < 0 ? T(-1) : T(1); });
      for (int j = i; j < columns; ++j) {
        ForLanes<T>([&](int l) { x[j * rows + i].v[l] *= sign.v[l]; });
      }
      for (int j = 0; j < rows; ++j) {
        ForLanes<T>([&](int l) { q[i * rows + j].v[l] *= sign.v[l]; });
      }
    }
  }
};

}  // namespace

template <class T>
LaneQr<T>::LaneQr(int rows, int columns, int rank)
    : rows_(rows),
      columns_(columns),
      rank_(rank),
      x_(AllocateLanes<T>(rows * columns)),
      q_(AllocateLanes<T>(rows * rank)),
      taus_(AllocateLanes<T>(std::min(rows, columns))) {}

template <class T>
void LaneQr<T>::Factor() {
  static const auto run = ChooseIsa<QrLoop<T>>();
  LaneScale<T> back;
  ScaleLanes(x_.get(), rows_ * columns_, &back);
  run(x_.get(), rows_, columns_, rank_, taus_.get(), q_.get());
  MultiplyLanes(back, x_.get(), rows_ * columns_);
}

template class LaneQr<float>;
template class LaneQr<double>;

}  // namespace pdl::linalg
