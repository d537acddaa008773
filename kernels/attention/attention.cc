// attention: softmax(q k^T) v, computed in blocks.
#include "kernels/attention/attention_blocks.h"
#include "kernels/attention/attention_cost.h"
#include "kernels/attention/attention_formula.h"
#include "kernels/attention/attention_inference.h"
#include "kernels/attention/attention_panel.h"
#include "kernels/core/cpu_isa.h"
#include "kernels/core/rounding.h"
#include "kernels/core/scratch_areas.h"
#include "kernels/indexing/index_range.h"
#include "kernels/linear/panel_words.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"

namespace pdl {
namespace {

using attention::kColumns;
using attention::kMostLanes;
using attention::PanelStep;

constexpr double kLn2 = 0.69314718055994530942, kLog2E = 1.4426950408889634074;

// The number of rows of queries that are computed together: each block of them iterates over all
// keys, kKeys of them at a time.
constexpr int64_t kRows = 64;
constexpr int64_t kKeys = 128;
// Fewer rows are computed one by one.
constexpr int64_t kFewRows = 4;

struct AttentionState : CallState {
  attention::Sizes4 sizes;
  int64_t row_blocks = 0, pieces = 1, areas = 1, area_bytes = 0;
  WordKind words = WordKind::kFloat;
};

// The online softmax of Milakov and Gimelshein (arXiv:1805.02867), over blocks of keys: a row keeps
// the maximum score so far, and its sums are rescaled when a larger one occurs.
template <class T>
class Forward {
 public:
  using C = ComputeType<T>;

  static int64_t WorkspaceBytes(const attention::Sizes4& s) {
    const int64_t rows = BlockRows(s), keys = BlockKeys(s);
    const int64_t of_panels = (rows + keys) * (s.depth + s.width) +
                              kMostLanes * std::max(s.depth, s.width) + 2 * rows +
                              3 * keys * kMostLanes;
    const int64_t of_few = kFewRows * (s.depth + 2 * s.width + kColumns) + kColumns * s.width;
    return std::max(of_panels, of_few) * static_cast<int64_t>(sizeof(C)) + 12 * 64;
  }

  Forward(const attention::Sizes4& sizes, WordKind words, llvm::ArrayRef<const Tensor*> inputs,
          llvm::ArrayRef<Tensor*> outputs)
      : s_(sizes),
        makes_pairs_(words == WordKind::kBf16Pairs),
        panels_(ChoosePanels(words)),
        q_(inputs[0]->data<T>()),
        k_(inputs[1]->data<T>()),
        v_(inputs[2]->data<T>()),
        mask_(s_.has_mask ? static_cast<const char*>(inputs[4]->raw()) : nullptr),
        past_(attention::PastOf(inputs, 3)),
        y_(outputs[0]->data<T>()),
        lse_(outputs[1]->data<C>()) {}

  // Computes rows [begin, begin + rows) of a head.
  void Run(int64_t head, int64_t begin, int64_t rows, char* memory) const {
    if (rows < kFewRows && !makes_pairs_) {
      RunFew(head, begin, rows, memory);
    } else {
      RunPanels(head, begin, rows, memory);
    }
  }

 private:
  // The most queries, in complete panels, and keys that are computed together.
  static int64_t BlockRows(const attention::Sizes4& s) {
    return std::min(kRows, RoundUp(s.rows, kMostLanes));
  }
  static int64_t BlockKeys(const attention::Sizes4& s) { return std::min(kKeys, s.columns); }

  struct Buffers {
    C *queries, *keys, *values, *scores, *mask_rows, *mask, *sums, *row_major, *largest, *total;

    Buffers(const attention::Sizes4& s, char* memory) {
      const int64_t rows = BlockRows(s), key_count = BlockKeys(s);
      queries = attention::Take<C>(&memory, rows * s.depth);
      keys = attention::Take<C>(&memory, key_count * s.depth);
      values = attention::Take<C>(&memory, key_count * s.width);
      scores = attention::Take<C>(&memory, key_count * kMostLanes);
      mask_rows = attention::Take<C>(&memory, key_count * kMostLanes);
      mask = attention::Take<C>(&memory, key_count * kMostLanes);
      sums = attention::Take<C>(&memory, rows * s.width);
      row_major = attention::Take<C>(&memory, kMostLanes * std::max(s.depth, s.width));
      largest = attention::Take<C>(&memory, rows);
      total = attention::Take<C>(&memory, rows);
    }
  };

  // n elements in the compute type: in place, or converted into `memory`.
  const C* AsNumbers(const T* from, int64_t n, C* memory) const {
    if constexpr (std::is_same_v<T, C>) {
      return from;
    } else {
      loops_.load(from, n, memory);
      return memory;
    }
  }

  void RunPanels(int64_t head, int64_t begin, int64_t rows, char* memory) const {
    const Buffers b(s_, memory);
    // Scores are not scaled before their maximum is known, so their factor must be positive.
    const C factor = static_cast<C>(s_.scale * kLog2E);
    const C sign = factor > 0 ? C(1) : factor < 0 ? C(-1) : C(0);
    PanelStep<C> step;
    step.depth = makes_pairs_ ? WordsOf(WordKind::kBf16Pairs, s_.depth) : s_.depth;
    step.width = s_.width;
    step.scale = sign == 0 ? C(1) : sign * factor;
    step.mask_is_added = s_.has_mask && !s_.mask_is_bool;
    step.scores = b.scores;
    RequestRows(head * s_.rows + begin, rows);
    const int64_t visible = s_.NumVisible(begin + rows - 1, past_);
    for (int64_t column = 0; column == 0 || column < visible; column += kKeys) {
      const int64_t n = std::min(kKeys, visible - column), key = s_.FirstKey(head) + column;
      SetKeys(key, n, b, step);
      step.is_first = column == 0;
      for (int64_t at = 0; at < rows; at += panels_.most_lanes) {
        const int64_t queries = std::min(panels_.most_lanes, rows - at);
        EnterPanel(b, at, queries, step);
        if (step.is_first) LoadQueries(head, begin + at, queries, sign, b, step);
        step.queries = b.queries + at * s_.depth;
        step.num_keys = std::min(n, s_.NumVisible(begin + at + queries - 1, past_) - column);
        if (step.num_keys <= 0) {
          if (step.is_first) ClearPanel(step);
          continue;
        }
        step.last_key = s_.causal ? std::min(past_, s_.columns) + begin + at - column : n;
        LoadMask(head, begin + at, column, queries, b, step);
        panels_.step(step);
      }
    }
    for (int64_t at = 0; at < rows; at += panels_.most_lanes) {
      const int64_t queries = std::min(panels_.most_lanes, rows - at);
      EnterPanel(b, at, queries, step);
      StorePanel(head, begin + at, queries, b, step);
    }
  }

  // Loads memory that is needed later into the cache.
  static void Request(const void* from, int64_t bytes) {
    const char* line = static_cast<const char*>(from);
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(line + i);
  }

  // The results of these rows, and the queries after them, which are probably computed next.
  void RequestRows(int64_t first, int64_t rows) const {
    constexpr int64_t kSize = sizeof(T);
    Request(y_ + first * s_.width, rows * s_.width * kSize);
    const int64_t after = std::min(rows, s_.num_heads() * s_.rows - first - rows);
    Request(q_ + (first + rows) * s_.depth, after * s_.depth * kSize);
  }

  // Sets the keys and values of a step, of which the first is `key`.
  void SetKeys(int64_t key, int64_t n, const Buffers& b, PanelStep<C>& step) const {
    step.keys = AsNumbers(k_ + key * s_.depth, n * s_.depth, b.keys);
    step.values = AsNumbers(v_ + key * s_.width, n * s_.width, b.values);
    if constexpr (std::is_same_v<C, float>) {
      if (!makes_pairs_) return;
      if (s_.depth % 2 == 0) {
        ToBf16Pairs(step.keys, n * s_.depth, b.keys);
      } else {  // words must not contain elements of two keys
        for (int64_t i = 0; i < n; ++i)
          ToBf16Pairs(step.keys + i * s_.depth, s_.depth, b.keys + i * step.depth);
      }
      step.keys = b.keys;
      panels_.pair_rows(step.values, n, s_.width, b.values);
      step.values = b.values;
    }
  }

  // Sets the arrays of the panel that begins with row `at` of the block.
  void EnterPanel(const Buffers& b, int64_t at, int64_t queries, PanelStep<C>& step) const {
    step.lanes = panels_.LanesFor(queries);
    step.sums = b.sums + at * s_.width;
    step.largest = b.largest + at;
    step.total = b.total + at;
  }

  void LoadQueries(int64_t head, int64_t row, int64_t queries, C sign, const Buffers& b,
                   const PanelStep<C>& step) const {
    const int64_t at = step.largest - b.largest;
    const C* from =
        AsNumbers(q_ + (head * s_.rows + row) * s_.depth, queries * s_.depth, b.row_major);
    C* const to = b.queries + at * s_.depth;
    panels_.turn(from, s_.depth, queries, s_.depth, sign, to, step.lanes);
    if (makes_pairs_) panels_.pair_rows(to, s_.depth, step.lanes, to);
  }

  // The sums of queries that attend to no key.
  static void ClearPanel(const PanelStep<C>& step) {
    std::fill_n(step.sums, step.lanes * step.width, C(0));
    std::fill_n(step.largest, step.lanes, -std::numeric_limits<C>::infinity());
    std::fill_n(step.total, step.lanes, C(0));
  }

  void LoadMask(int64_t head, int64_t row, int64_t column, int64_t queries, const Buffers& b,
                PanelStep<C>& step) const {
    if (mask_ == nullptr) return;
    const int64_t size = s_.mask_is_bool ? 1 : int64_t{sizeof(T)}, n = step.num_keys;
    const char* from =
        mask_ + (s_.MaskOffset(head) + row * s_.mask_row + column * s_.mask_column) * size;
    const auto load = [&](int64_t query, C* to) {
      loops_.load_mask(from + query * s_.mask_row * size, s_.mask_is_bool, s_.mask_column, n, to);
    };
    step.mask = b.mask;
    step.mask_of_keys = s_.mask_row == 0;
    if (step.mask_of_keys) return load(0, b.mask);
    const int64_t next = std::clamp<int64_t>(s_.columns - column - n, 0, kKeys);
    for (int64_t i = 0; i < queries && s_.mask_column == 1; ++i) {
      Request(from + (i * s_.mask_row + n) * size, next * size);
    }
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.mask_is_bool && s_.mask_column == 1) {
        const T* added = reinterpret_cast<const T*>(from);
        return panels_.turn(added, s_.mask_row, queries, n, C(1), b.mask, step.lanes);
      }
    }
    for (int64_t i = 0; i < queries; ++i) load(i, b.mask_rows + i * n);
    panels_.turn(b.mask_rows, n, queries, n, C(1), b.mask, step.lanes);
  }

  void StorePanel(int64_t head, int64_t row, int64_t queries, const Buffers& b,
                  const PanelStep<C>& step) const {
    const int64_t first = head * s_.rows + row;
    T* y = y_ + first * s_.width;
    if constexpr (std::is_same_v<T, C>) {
      panels_.finish(step, queries, y);
    } else {
      panels_.finish(step, queries, b.row_major);
      loops_.store(b.row_major, queries * s_.width, C(1), y);
    }
    const C scale = step.mask_is_added ? C(1) : step.scale;
    for (int64_t i = 0; i < queries; ++i) {
      // Probabilities are relative to the rounded product.
      const C largest = step.largest[i] * scale;
      StoreLse(first + i, static_cast<double>(largest) * kLn2, step.total[i]);
    }
  }

  void StoreLse(int64_t row, double largest, C total) const {
    lse_[row] = largest == std::numeric_limits<double>::infinity()
                    ? static_cast<C>(largest)
                    : static_cast<C>(largest + static_cast<double>(std::log(total)));
  }

  void RunFew(int64_t head, int64_t begin, int64_t rows, char* memory) const {
    C* q = attention::Take<C>(&memory, kFewRows * s_.depth);
    C* v = attention::Take<C>(&memory, kColumns * s_.width);
    C* scores = attention::Take<C>(&memory, kFewRows * kColumns);
    C* sums = attention::Take<C>(&memory, kFewRows * s_.width);
    C* part = attention::Take<C>(&memory, kFewRows * s_.width);
    C largest[kFewRows], total[kFewRows];
    std::fill_n(sums, rows * s_.width, C(0));
    std::fill_n(largest, rows, -std::numeric_limits<C>::infinity());
    std::fill_n(total, rows, C(0));
    const int64_t first_row = head * s_.rows + begin, first_key = s_.FirstKey(head);
    const C* queries = AsNumbers(q_ + first_row * s_.depth, rows * s_.depth, q);

    const int64_t visible = s_.NumVisible(begin + rows - 1, past_);
    for (int64_t column = 0; column < visible; column += kColumns) {
      const int64_t n = std::min(kColumns, visible - column);
      const T* keys = k_ + (first_key + column) * s_.depth;
      for (int64_t i = 0; i < rows; ++i) {
        loops_.dots(queries + i * s_.depth, keys, n, s_.depth, scores + i * kColumns);
        ScaleRow(head, begin + i, column, n, scores + i * kColumns, sums + i * s_.width,
                 largest + i, total + i);
      }
      const C* values = AsNumbers(v_ + (first_key + column) * s_.width, n * s_.width, v);
      loops_.Multiply(rows, s_.width, n, scores, kColumns, 1, values, s_.width, part, s_.width);
      loops_.add_scaled(part, rows * s_.width, C(1), sums);
    }
    for (int64_t i = 0; i < rows; ++i) {
      // A row that attends to no key is 0.
      const C factor = total[i] == 0 ? C(0) : C(1) / total[i];
      loops_.store(sums + i * s_.width, s_.width, factor, y_ + (first_row + i) * s_.width);
      StoreLse(first_row + i, static_cast<double>(largest[i]), total[i]);
    }
  }

  // Exponentiates a row's scores of a block, and rescales the sums that it has accumulated so far.
  void ScaleRow(int64_t head, int64_t row, int64_t column, int64_t n, C* scores, C* sums,
                C* largest, C* total) const {
    const int64_t seen = std::clamp<int64_t>(s_.NumVisible(row, past_) - column, 0, n);
    std::fill(scores + seen, scores + n, C(0));
    const int64_t at = s_.MaskOffset(head) + row * s_.mask_row + column * s_.mask_column;
    const char* mask =
        mask_ == nullptr ? nullptr : mask_ + at * (s_.mask_is_bool ? 1 : int64_t{sizeof(T)});
    const C most = loops_.score_row(scores, seen, static_cast<C>(s_.scale), mask, s_.mask_is_bool,
                                    s_.mask_column);
    const C next = most > *largest || most != most ? most : *largest;
    if (next == -std::numeric_limits<C>::infinity()) {
      std::fill_n(scores, seen, C(0));
      return;
    }
    const C factor = math::Exp(*largest - next);
    *total = *total * factor + loops_.exp_row(scores, seen, next);
    *largest = next;
    if (factor != 1) {
      for (int64_t e = 0; e < s_.width; ++e) sums[e] *= factor;
    }
  }

  static attention::PanelLoops<C> ChoosePanels(WordKind words) {
    if constexpr (std::is_same_v<C, float>) {
      if (words == WordKind::kBf16Pairs) return attention::ChooseBf16PanelLoops();
    }
    return attention::ChoosePanelLoops<C>();
  }

  const attention::Sizes4& s_;
  const bool makes_pairs_;
  const attention::Loops<T> loops_;
  const attention::PanelLoops<C> panels_;
  const T *q_, *k_, *v_;
  const char* mask_;
  int64_t past_;
  T* y_;
  C* lse_;
};

template <class Context>
class AttentionOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const auto inputs = context.inputs();
    auto state = std::make_shared<AttentionState>();
    state->sizes =
        attention::MakeSizes(inputs[0], inputs[1], inputs[2],
                             inputs.size() > 4 ? &inputs[4] : nullptr, this->attributes());
    state->row_blocks = (state->sizes.rows + kRows - 1) / kRows;
    const int64_t tasks = state->sizes.num_heads() * state->row_blocks;
    state->pieces = std::clamp<int64_t>(tasks, 1, attention::kMostPieces);
    state->areas = ScratchAreas(context.device(), state->pieces);
    VisitDType(FloatTypes(), inputs[0].dtype, [&](auto tag) {
      state->area_bytes = Forward<typename decltype(tag)::type>::WorkspaceBytes(state->sizes);
    });
    // Only for networks of f32: those of bf16 do not round probabilities.
    const bool may_round =
        inputs[0].dtype == DType::kF32 && context.matmul_precision() == DType::kBF16;
    if (may_round && HasFastBf16Products() && state->sizes.rows >= kFewRows)
      state->words = WordKind::kBf16Pairs;
    Preparation preparation;
    preparation.matmul_precision = PrecisionOf(state->words);
    preparation.workspace_bytes = state->areas * state->area_bytes;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const AttentionState& state = *context.template state<AttentionState>();
    const attention::Sizes4& s = state.sizes;
    if (outputs[1]->num_elements() == 0) return llvm::Error::success();
    char* workspace = static_cast<char*>(context.workspace());
    const int64_t tasks = s.num_heads() * state.row_blocks;
    VisitDType(FloatTypes(), inputs[0]->dtype(), [&](auto tag) {
      const Forward<typename decltype(tag)::type> forward(s, state.words, inputs, outputs);
      ParallelForAreas(context, state.pieces, state.areas, [&](int64_t piece, int64_t area) {
        char* memory = workspace + area * state.area_bytes;
        // Adjacent tasks share keys and values.
        const int64_t last = tasks * (piece + 1) / state.pieces;
        for (int64_t task = tasks * piece / state.pieces; task < last; ++task) {
          const int64_t row = task % state.row_blocks * kRows;
          forward.Run(task / state.row_blocks, row, std::min(kRows, s.rows - row), memory);
        }
      });
    });
    return llvm::Error::success();
  }
};

llvm::Error InferAttention(InferenceContext& context) {
  if (llvm::Error error = CheckAttention(context, 3, 4)) return error;
  Type y = context.input(0);
  y.dims.back() = context.input(2).dims.back();
  Shape rows(y.dims.begin(), y.dims.end() - 1);
  context.SetOutput(1, Type(LseDType(y.dtype), rows));
  context.SetOutput(0, std::move(y));
  return llvm::Error::success();
}

std::vector<NamedAttribute> SameAttributes(GradientContext& g) {
  std::vector<NamedAttribute> attributes = {{"causal", g.attributes().Bool("causal")}};
  if (g.attributes().Has("scale")) attributes.push_back({"scale", g.attributes().Float("scale")});
  return attributes;
}

// The shift of each row in the gradient of the scores: the sum over y dy, minus the gradient of
// lse.
Value* RowShift(GradientContext& g, Value* dy) {
  const DType wide = LseDType(dy->type().dtype);
  const auto widen = [&](Value* v) { return g.Call("cast", {v}, {{"to", wide}}); };
  Value* shift =
      g.Call("sum", {g.Mul(widen(g.output()), widen(dy))}, {{"axes", std::vector<int64_t>{-1}}});
  return g.output_gradient(1) == nullptr ? shift : g.Sub(shift, g.output_gradient(1));
}

void AttentionGradient(GradientContext& g) {
  const Type& q = g.input(0)->type();
  Value* dy = g.output_gradient();
  if (dy == nullptr) {
    dy = g.Call("zeros", {}, {{"dims", g.output()->type().dims}, {"dtype", q.dtype}});
  }
  if (dy == nullptr) return;
  Value* shift = RowShift(g, dy);
  llvm::SmallVector<Value*, 8> operands = {g.input(0),  g.input(1), g.input(2),
                                           g.output(1), dy,         shift};
  for (unsigned i = 3; i < g.num_inputs(); ++i) operands.push_back(g.input(i));
  Value* dq = g.Call("attention_gradient", operands, SameAttributes(g));
  if (dq == nullptr) return;
  for (unsigned i = 0; i < 3; ++i) g.SetInputGradient(i, dq->producer()->result(i));
  if (g.num_inputs() <= 4 || !IsFloat(g.input(4)->type().dtype)) return;
  // The gradient of an additive mask may be as large as the scores.
  const AttentionFormula formula(
      g, {g.input(0), g.input(1), g.input(2), g.output(1), dy, shift, g.input(3), g.input(4)});
  Value* ds = g.Call("cast", {formula.ScoreGradients()}, {{"to", q.dtype}});
  g.SetInputGradient(4, g.SumTo(ds, g.input(4)));
}

struct AttentionMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "Scaled dot product attention (Vaswani et al., arXiv:1706.03762): softmax(scale * q k^T + "
        "mask) v, which only needs memory for blocks of the scores. Each row of q is a query that "
        "attends to the rows of k and v, its keys and values. With `causal`, query i attends to "
        "the keys up to `past` + i. If k and v have fewer heads than q, consecutive heads of q "
        "share a head of them (grouped-query attention, arXiv:2305.13245). A query that attends to "
        "no key gives 0.");
    AddInput("q", "[..., H, T, D]: T queries for each of H heads; or [T, D]").Accepts(kFloatSet);
    AddInput("k", "[..., G, S, D]: S keys; G divides H").Accepts(kFloatSet);
    AddInput("v", "[..., G, S, E]: the values of the keys").Accepts(kFloatSet);
    AddInput("past", "with `causal`, the number of keys before that of the first query; default: 0")
        .Accepts(kIndexSet)
        .OwnDType()
        .Optional(0);
    AddInput("mask",
             "broadcasts to [..., H, T, S]: bool, true where a query attends to a key; or q's "
             "dtype, added to the scaled scores")
        .Accepts(kFloatSet | DTypeSet(DType::kBool))
        .Optional();
    AddOutput("y", "[..., H, T, E]; dtype as q").DTypeOf("q");
    AddOutput("lse",
              "[..., H, T]: the log-sum-exp of the scores of each query; f64 if q is f64, else f32")
        .OwnDType();
    AddAttr<bool>("causal", "queries do not attend to later keys").Default(false);
    AddAttr<double>("scale", "the factor of the scores; default: 1 / sqrt(D)").Optional();
    AddExample(
        "y = attention([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0], [3.0]], "
        "causal=true, scale=0.0)  # = [[1.0], [2.0]]");
    properties().reduced_precision = ReducedPrecision::kCompute;
    SetInference(InferAttention);
    SetGradient(AttentionGradient);
  }
};

}  // namespace

void RegisterAttentionOps(OpRegistry& registry) {
  registry.BeginFamily("Attention");
  registry.RegisterOp<AttentionOp, AttentionMaker>("attention");
  // The scores, their softmax, and the weighted sum of the values.
  DeclareOperations("attention", [](const CallSizes& call) {
    return AttendedPairs(call) * (2 * LastSize(call.inputs[0]) + 5 + 2 * LastSize(call.inputs[2]));
  });
  RegisterAttentionGradient(registry);
}

}  // namespace pdl
