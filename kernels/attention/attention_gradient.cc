// attention_gradient: the probabilities are recomputed, block by block, from the log-sum-exp that
// attention returned (Dao et al., arXiv:2205.14135).
#include "kernels/attention/attention_blocks.h"
#include "kernels/attention/attention_cost.h"
#include "kernels/attention/attention_formula.h"
#include "kernels/attention/attention_inference.h"
#include "kernels/core/formula_gradient.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/indexing/index_range.h"
#include "pdl/op/op_proto_maker.h"

namespace pdl {

llvm::Error CheckAttention(InferenceContext& context, unsigned past, unsigned mask) {
  const Type &q = context.input(0), &k = context.input(1), &v = context.input(2);
  const unsigned rank = q.rank();
  for (const unsigned i : {1u, 2u}) {
    if (llvm::Error error = RequireSameDType(context, 0, i)) return error;
    if (context.input(i).rank() != rank) {
      return context.FailAt({0, i}, Code::kRank, "ranks differ: {0} and {1}", rank,
                            context.input(i).rank());
    }
  }
  if (rank < 2) {
    return context.FailAt({0}, Code::kRank, "'q' must have at least two dims, got {0}",
                          q.ToString());
  }
  const auto require = [&](unsigned i, unsigned j, unsigned d, const char* message) {
    return context.RequireEqual(context.input(i).dims[d], context.input(j).dims[d], {i, j},
                                message);
  };
  for (unsigned d = 0; d + 3 < rank; ++d) {
    if (llvm::Error error = require(0, 1, d, "leading sizes differ")) return error;
    if (llvm::Error error = require(0, 2, d, "leading sizes differ")) return error;
  }
  if (llvm::Error error = require(0, 1, rank - 1, "queries and keys differ in depth")) {
    return error;
  }
  if (llvm::Error error = require(1, 2, rank - 2, "there must be one value for each key")) {
    return error;
  }
  if (rank > 2) {
    if (llvm::Error error =
            require(1, 2, rank - 3, "keys and values have different numbers of heads")) {
      return error;
    }
    const Dim &heads = q.dims[rank - 3], &groups = k.dims[rank - 3];
    if (groups.is_constant(0) && !heads.is_constant(0)) {
      return context.FailAt({0, 1}, Code::kShapeMismatch,
                            "{0} heads of queries cannot share {1} heads of keys", heads.ToString(),
                            groups.ToString());
    }
    if (heads != groups && !groups.is_constant(1)) {
      if (llvm::Error error = context.RequireMultiple(
              heads, groups, {0, 1},
              "the number of heads of the queries must be a multiple of those of the keys")) {
        return error;
      }
    }
  }
  if (context.has_input(past) && !context.input(past).is_scalar()) {
    return context.FailAt({past}, Code::kRank, "'past' must be a scalar, got {0}",
                          context.input(past).ToString());
  }
  if (!context.has_input(mask)) return llvm::Error::success();
  const Type& m = context.input(mask);
  if (m.dtype != DType::kBool) {
    if (llvm::Error error = RequireSameDType(context, 0, mask)) return error;
  }
  Shape scores = q.dims;
  scores.back() = v.dims[rank - 2];
  if (m.rank() > rank) {
    return context.FailAt({mask}, Code::kRank, "'mask' must broadcast to {0}, got {1}",
                          ShapeToString(scores), m.ToString());
  }
  for (unsigned d = 0; d < m.rank(); ++d) {
    if (m.dims[d].is_constant(1)) continue;
    if (llvm::Error error = context.RequireEqual(m.dims[d], scores[rank - m.rank() + d], {mask},
                                                 "the mask does not broadcast to the scores")) {
      return error;
    }
  }
  return llvm::Error::success();
}

namespace {

using attention::kColumns;
using attention::kRows;

struct GradientState : CallState {
  attention::Sizes4 sizes;
  int64_t row_blocks = 0, column_blocks = 0, pieces = 1, areas = 1, area_bytes = 0;
};

template <class T>
class Backward {
 public:
  using C = ComputeType<T>;

  static int64_t WorkspaceBytes(const attention::Sizes4& s) {
    const int64_t longest = std::max(s.depth, s.width);
    const int64_t elements = kRows * (s.depth + s.width) + kColumns * (2 * s.depth + s.width) +
                             2 * kRows * kColumns + kColumns * (s.depth + s.width + longest);
    return elements * static_cast<int64_t>(sizeof(C)) + 10 * 64;
  }

  Backward(const attention::Sizes4& sizes, llvm::ArrayRef<const Tensor*> inputs,
           llvm::ArrayRef<Tensor*> outputs)
      : s_(sizes),
        q_(inputs[0]->data<T>()),
        k_(inputs[1]->data<T>()),
        v_(inputs[2]->data<T>()),
        lse_(inputs[3]->data<C>()),
        dy_(inputs[4]->data<T>()),
        shift_(inputs[5]->data<C>()),
        mask_(s_.has_mask ? static_cast<const char*>(inputs[7]->raw()) : nullptr),
        past_(attention::PastOf(inputs, 6)),
        dq_(outputs[0]->data<T>()),
        dk_(outputs[1]->data<T>()),
        dv_(outputs[2]->data<T>()) {}

  // dq of rows [row, row + m) of a head, accumulated over all keys.
  void RunQueries(int64_t head, int64_t row, int64_t m, char* memory) const {
    Buffers b(s_, memory);
    LoadQueries(head, row, m, b);
    std::fill_n(b.depth_sums, m * s_.depth, C(0));
    const int64_t visible = s_.NumVisible(row + m - 1, past_), first_key = s_.FirstKey(head);
    for (int64_t column = 0; column < visible; column += kColumns) {
      const int64_t n = std::min(kColumns, visible - column);
      LoadKeys(first_key + column, n, b);
      ScoreGradients(head, row, m, column, n, b);
      loops_.load(k_ + (first_key + column) * s_.depth, n * s_.depth, b.keys);
      loops_.Multiply(m, s_.depth, n, b.ds, kColumns, 1, b.keys, s_.depth, b.part, s_.depth);
      loops_.add_scaled(b.part, m * s_.depth, C(1), b.depth_sums);
    }
    loops_.store(b.depth_sums, m * s_.depth, static_cast<C>(s_.scale),
                 dq_ + (head * s_.rows + row) * s_.depth);
  }

  // dk and dv of keys [column, column + n) of a group of heads, accumulated over all rows of these
  // heads.
  void RunKeys(int64_t group, int64_t column, int64_t n, char* memory) const {
    Buffers b(s_, memory);
    const int64_t key = group * s_.columns + column, sharing = s_.heads / s_.groups;
    LoadKeys(key, n, b);
    std::fill_n(b.depth_sums, n * s_.depth, C(0));
    std::fill_n(b.width_sums, n * s_.width, C(0));
    const int64_t first_head = group / s_.groups * s_.heads + group % s_.groups * sharing;
    for (int64_t head = first_head; head < first_head + sharing; ++head) {
      for (int64_t row = 0; row < s_.rows; row += kRows) {
        const int64_t m = std::min(kRows, s_.rows - row);
        if (s_.NumVisible(row + m - 1, past_) <= column) continue;
        LoadQueries(head, row, m, b);
        ScoreGradients(head, row, m, column, n, b);
        loops_.Multiply(n, s_.width, m, b.p, 1, kColumns, b.dy, s_.width, b.part, s_.width);
        loops_.add_scaled(b.part, n * s_.width, C(1), b.width_sums);
        loops_.Multiply(n, s_.depth, m, b.ds, 1, kColumns, b.q, s_.depth, b.part, s_.depth);
        loops_.add_scaled(b.part, n * s_.depth, C(1), b.depth_sums);
      }
    }
    loops_.store(b.depth_sums, n * s_.depth, static_cast<C>(s_.scale), dk_ + key * s_.depth);
    loops_.store(b.width_sums, n * s_.width, C(1), dv_ + key * s_.width);
  }

 private:
  struct Buffers {
    C *q, *dy, *keys_turned, *keys, *values_turned, *p, *ds, *depth_sums, *width_sums, *part;

    Buffers(const attention::Sizes4& s, char* memory) {
      q = attention::Take<C>(&memory, kRows * s.depth);
      dy = attention::Take<C>(&memory, kRows * s.width);
      keys_turned = attention::Take<C>(&memory, kColumns * s.depth);
      keys = attention::Take<C>(&memory, kColumns * s.depth);
      values_turned = attention::Take<C>(&memory, kColumns * s.width);
      p = attention::Take<C>(&memory, kRows * kColumns);
      ds = attention::Take<C>(&memory, kRows * kColumns);
      depth_sums = attention::Take<C>(&memory, kColumns * s.depth);
      width_sums = attention::Take<C>(&memory, kColumns * s.width);
      part = attention::Take<C>(&memory, kColumns * std::max(s.depth, s.width));
    }
  };

  void LoadQueries(int64_t head, int64_t row, int64_t m, const Buffers& b) const {
    const int64_t first = head * s_.rows + row;
    loops_.load(q_ + first * s_.depth, m * s_.depth, b.q);
    loops_.load(dy_ + first * s_.width, m * s_.width, b.dy);
  }
  void LoadKeys(int64_t key, int64_t n, const Buffers& b) const {
    loops_.load_turned(k_ + key * s_.depth, n, s_.depth, b.keys_turned);
    loops_.load_turned(v_ + key * s_.width, n, s_.width, b.values_turned);
  }

  // Computes the probabilities p of a block, and ds, the gradients of its scores.
  void ScoreGradients(int64_t head, int64_t row, int64_t m, int64_t column, int64_t n,
                      const Buffers& b) const {
    loops_.Multiply(m, n, s_.depth, b.q, s_.depth, 1, b.keys_turned, kColumns, b.p, kColumns);
    loops_.Multiply(m, n, s_.width, b.dy, s_.width, 1, b.values_turned, kColumns, b.ds, kColumns);
    for (int64_t i = 0; i < m; ++i) {
      C *p = b.p + i * kColumns, *ds = b.ds + i * kColumns;
      const int64_t at = head * s_.rows + row + i;
      // A row that attends to no key has no probabilities.
      const bool is_blind = lse_[at] == -std::numeric_limits<C>::infinity();
      const int64_t seen =
          is_blind ? 0 : std::clamp<int64_t>(s_.NumVisible(row + i, past_) - column, 0, n);
      const int64_t mask_at =
          s_.MaskOffset(head) + (row + i) * s_.mask_row + column * s_.mask_column;
      const char* mask =
          mask_ == nullptr ? nullptr : mask_ + mask_at * (s_.mask_is_bool ? 1 : int64_t{sizeof(T)});
      loops_.score_row(p, seen, static_cast<C>(s_.scale), mask, s_.mask_is_bool, s_.mask_column);
      loops_.exp_row(p, seen, lse_[at]);
      for (int64_t j = 0; j < seen; ++j) ds[j] = p[j] * (ds[j] - shift_[at]);
      std::fill(p + seen, p + n, C(0));
      std::fill(ds + seen, ds + n, C(0));
    }
  }

  const attention::Sizes4& s_;
  const attention::Loops<T> loops_;
  const T *q_, *k_, *v_;
  const C* lse_;
  const T* dy_;
  const C* shift_;
  const char* mask_;
  int64_t past_;
  T *dq_, *dk_, *dv_;
};

template <class Context>
class AttentionGradientOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    auto state = std::make_shared<GradientState>();
    state->sizes =
        attention::MakeSizes(inputs[0], inputs[1], inputs[2],
                             inputs.size() > 7 ? &inputs[7] : nullptr, this->attributes());
    const attention::Sizes4& s = state->sizes;
    state->row_blocks = (s.rows + kRows - 1) / kRows;
    state->column_blocks = (s.columns + kColumns - 1) / kColumns;
    const int64_t tasks =
        std::max(s.num_heads() * state->row_blocks, s.blocks * s.groups * state->column_blocks);
    state->pieces = std::clamp<int64_t>(tasks, 1, attention::kMostPieces);
    state->areas = ScratchAreas(context.device(), state->pieces);
    VisitDType(FloatTypes(), inputs[0].dtype, [&](auto tag) {
      state->area_bytes = Backward<typename decltype(tag)::type>::WorkspaceBytes(s);
    });
    Preparation preparation;
    preparation.workspace_bytes = state->areas * state->area_bytes;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const GradientState& state = *context.template state<GradientState>();
    const attention::Sizes4& s = state.sizes;
    char* workspace = static_cast<char*>(context.workspace());
    // Calls f(task, memory) for every task.
    const auto run = [&](int64_t tasks, auto f) {
      ParallelForAreas(context, state.pieces, state.areas, [&](int64_t piece, int64_t area) {
        for (int64_t task = piece; task < tasks; task += state.pieces)
          f(task, workspace + area * state.area_bytes);
      });
    };
    VisitDType(FloatTypes(), inputs[0]->dtype(), [&](auto tag) {
      const Backward<typename decltype(tag)::type> backward(s, inputs, outputs);
      run(s.num_heads() * state.row_blocks, [&](int64_t task, char* memory) {
        const int64_t row = task % state.row_blocks * kRows;
        backward.RunQueries(task / state.row_blocks, row, std::min(kRows, s.rows - row), memory);
      });
      run(s.blocks * s.groups * state.column_blocks, [&](int64_t task, char* memory) {
        const int64_t column = task % state.column_blocks * kColumns;
        backward.RunKeys(task / state.column_blocks, column, std::min(kColumns, s.columns - column),
                         memory);
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferAttentionGradient(InferenceContext& context) {
  if (llvm::Error error = CheckAttention(context, 6, 7)) return error;
  const Type& q = context.input(0);
  if (llvm::Error error = RequireSameDType(context, 0, 4)) return error;
  Shape rows(q.dims.begin(), q.dims.end() - 1), y = q.dims;
  y.back() = context.input(2).dims.back();
  const auto require = [&](unsigned input, const Shape& expected) -> llvm::Error {
    const Type& type = context.input(input);
    if (type.rank() != expected.size()) {
      return context.FailAt({input}, Code::kRank, "must have dims {0}, got {1}",
                            ShapeToString(expected), type.ToString());
    }
    for (unsigned d = 0; d < type.rank(); ++d) {
      if (llvm::Error error = context.RequireEqual(type.dims[d], expected[d], {0, input},
                                                   "the sizes must match those of the queries")) {
        return error;
      }
    }
    return llvm::Error::success();
  };
  for (const unsigned input : {3u, 5u}) {
    if (llvm::Error error = require(input, rows)) return error;
    if (context.input(input).dtype != LseDType(q.dtype)) {
      return context.FailAt({input}, Code::kOperandDType, "must be {0}, got {1}",
                            DTypeName(LseDType(q.dtype)), context.input(input).ToString());
    }
  }
  if (llvm::Error error = require(4, y)) return error;
  for (const unsigned i : {0u, 1u, 2u}) context.SetOutput(i, context.input(i));
  return llvm::Error::success();
}

std::vector<Value*> ResultsOf(GradientContext& g) {
  const auto optional = [&](unsigned i) { return g.num_inputs() > i ? g.input(i) : nullptr; };
  AttentionFormula formula(g, {g.input(0), g.input(1), g.input(2), g.input(3), g.input(4),
                               g.input(5), optional(6), optional(7)});
  return {formula.QueryGradients(), formula.KeyGradients(), formula.ValueGradients()};
}

// See LseDType.
constexpr DTypeSet kWide = DTypeSet(DType::kF32) | DTypeSet(DType::kF64);

struct AttentionGradientMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The gradients of attention(q, k, v, past, mask), which only need memory for blocks of the "
        "scores. Derivatives of higher orders need memory for the scores of all queries and keys.");
    AddInput("q", "the operand of attention").Accepts(kFloatSet);
    AddInput("k", "the operand of attention").Accepts(kFloatSet);
    AddInput("v", "the operand of attention").Accepts(kFloatSet);
    AddInput("lse", "the second result of attention").Accepts(kWide);
    AddInput("dy", "the gradient of y").Accepts(kFloatSet);
    AddInput("shift", "the sum of y * dy for each query, minus the gradient of lse; dtype as lse")
        .Accepts(kWide);
    AddInput("past", "the operand of attention").Accepts(kIndexSet).OwnDType().Optional(0);
    AddInput("mask", "the operand of attention")
        .Accepts(kFloatSet | DTypeSet(DType::kBool))
        .Optional();
    AddOutput("dq", "type as q").TypeOf("q");
    AddOutput("dk", "type as k").TypeOf("k");
    AddOutput("dv", "type as v").TypeOf("v");
    AddAttr<bool>("causal", "the attribute of attention").Default(false);
    AddAttr<double>("scale", "the attribute of attention").Optional();
    AddExample(
        "dq, dk, dv = attention_gradient([[1.0]], [[1.0]], [[2.0]], [1.0], [[3.0]], [6.0])\n"
        "d = dv  # = [[3.0]]");
    properties().reduced_precision = ReducedPrecision::kCompute;
    SetInference(InferAttentionGradient);
    SetGradient(GradientOfFormula<ResultsOf>);
  }
};

}  // namespace

void RegisterAttentionGradient(OpRegistry& registry) {
  registry.RegisterOp<AttentionGradientOp, AttentionGradientMaker>("attention_gradient");
  // The scores again, then the gradients of q, k, the values and their weights.
  DeclareOperations("attention_gradient", [](const CallSizes& call) {
    return AttendedPairs(call) * (6 * LastSize(call.inputs[0]) + 5 + 4 * LastSize(call.inputs[2]));
  });
}

}  // namespace pdl
