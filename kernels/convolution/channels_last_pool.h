// Pooling of f32 with channels last.
#ifndef PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_POOL_H_
#define PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_POOL_H_

#include <algorithm>

#include "kernels/convolution/pool_attributes.h"
#include "kernels/convolution/pool_loops.h"
#include "kernels/core/channels_last.h"
#include "kernels/core/grain.h"
#include "kernels/core/isa_dispatch.h"
#include "pdl/op/operator.h"

namespace pdl {

/// Pools lines [begin, end) of the result, where a line is all channels of all positions along the
/// last spatial dim. `row` is scratch for such a line of x. Accumulates in the order of PoolLoop,
/// so the results are identical.
template <class Policy>
struct ChannelsLastPoolLoop {
  static PDL_INLINE void Run(const PoolTable& table, const Policy& policy, int64_t channels,
                             const float* x, float* y, float* row, int64_t begin, int64_t end) {
    const PoolWindow& pool = table.pool;
    const int64_t height = pool.d[1].window.in, length = pool.d[2].window.in * channels;
    const int64_t rows = static_cast<int64_t>(table.ranges[1].size());
    const int64_t planes = static_cast<int64_t>(table.ranges[0].size());
    y += begin * static_cast<int64_t>(table.ranges[2].size()) * channels;
    for (int64_t line = begin; line < end; ++line) {
      const PoolRange& b = table.ranges[1][static_cast<size_t>(line % rows)];
      const PoolRange& a = table.ranges[0][static_cast<size_t>(line / rows % planes)];
      const float* image = x + line / rows / planes * pool.in() * channels;
      // First reduce the rows of the window to one, then each window's part of that row.
      for (int64_t i = 0; i < length; ++i) row[i] = Policy::Start();
      for (int64_t p = 0; p < a.count; ++p) {
        for (int64_t q = 0; q < b.count; ++q) {
          const float* from =
              image + ((a.first + p * a.step) * height + b.first + q * b.step) * length;
#pragma GCC ivdep
          for (int64_t i = 0; i < length; ++i) row[i] = policy.Join(row[i], policy.Load(from[i]));
        }
      }
      for (const PoolRange& c : table.ranges[2]) {
        for (int64_t i = 0; i < channels; ++i) y[i] = Policy::Start();
        for (int64_t r = 0; r < c.count; ++r) {
          const float* from = row + (c.first + r * c.step) * channels;
#pragma GCC ivdep
          for (int64_t i = 0; i < channels; ++i) y[i] = policy.Join(y[i], from[i]);
        }
        const int64_t divisor = pool.Divisor(a, b, c);
        for (int64_t i = 0; i < channels; ++i) y[i] = policy.Finish(y[i], divisor);
        y += channels;
      }
    }
  }
};

/// A piece is a run of lines, with its own scratch memory.
struct ChannelsLastPoolState : CallState {
  explicit ChannelsLastPoolState(const PoolWindow& pool) : table(pool) {}
  PoolTable table;
  int64_t channels = 0, lines = 0, pieces = 1;
  int64_t scratch = 0;  // elements per piece
};

/// A variant of a pooling operator. `PolicyOf::Make(attributes)` makes the policy that reduces a
/// window.
template <class Context, class PolicyOf, bool kAdaptive>
class ChannelsLastPoolOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType y = ChannelsSecond(context.outputs()[0]);
    auto pool = EvaluatePool(context, this->attributes(), ChannelsSecond(context.inputs()[0]), y,
                             kAdaptive);
    if (!pool) return pool.takeError();
    constexpr int64_t kSmallPiece = 1 << 14;  // elements
    auto counted = PoolTable::Count(*pool);
    if (!counted) return counted.takeError();
    auto state = std::make_shared<ChannelsLastPoolState>(*pool);
    state->table.counted = std::move(*counted);
    state->channels = y.sizes[1];
    state->lines = y.sizes[0] * pool->d[0].window.out * pool->d[1].window.out;
    state->pieces = std::clamp<int64_t>(pool->in() * state->channels * y.sizes[0] / kSmallPiece, 1,
                                        std::clamp<int64_t>(state->lines, 1, kMaxPieces));
    state->scratch = (pool->d[2].window.in * state->channels + 15) / 16 * 16;
    Preparation preparation;
    preparation.workspace_bytes =
        state->pieces * state->scratch * static_cast<int64_t>(sizeof(float));
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    const ChannelsLastPoolState& s = *context.template state<ChannelsLastPoolState>();
    const auto policy = PolicyOf::Make(this->attributes());
    using Policy = std::remove_const_t<decltype(policy)>;
    const auto loop = ChooseIsa<ChannelsLastPoolLoop<Policy>>();
    context.ParallelFor(s.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        loop(s.table, policy, s.channels, inputs[0]->template data<float>(),
             outputs[0]->template data<float>(),
             static_cast<float*>(context.workspace()) + piece * s.scratch,
             s.lines * piece / s.pieces, s.lines * (piece + 1) / s.pieces);
      }
    });
    return llvm::Error::success();
  }
};

}  // namespace pdl

#endif  // PDL_KERNELS_CONVOLUTION_CHANNELS_LAST_POOL_H_
