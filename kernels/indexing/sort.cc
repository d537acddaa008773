// Operators that sort lines along an axis: sort, argsort, topk.
#include <algorithm>
#include <bit>

#include "kernels/core/element.h"
#include "kernels/core/grain.h"
#include "kernels/core/inference_helpers.h"
#include "kernels/core/scratch_areas.h"
#include "pdl/op/gradient.h"
#include "pdl/op/op_proto_maker.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"

namespace pdl {
namespace {

constexpr int64_t kSortGrain = 1 << 12;

// --- Keys ---------------------------------------------------------------------------------------

// Unsigned integers in the order of the elements: nan after all others, zeros of both signs equal.
template <class T>
auto KeyOf(T element) {
  const auto x = Element<T>::Load(element);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    using Bits = std::conditional_t<sizeof(x) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = Bits(1) << (sizeof(Bits) * 8 - 1);
    if (x != x) return ~Bits(0);
    const Bits bits = std::bit_cast<Bits>(x == 0 ? decltype(x)(0) : x);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<uint64_t>(x) ^ uint64_t { 1 } << 63;
  } else {
    return static_cast<uint32_t>(static_cast<int32_t>(x)) ^ uint32_t { 1 } << 31;
  }
}

// The key and index of an element. Ordering by both makes the sort stable.
struct WideEntry {
  uint64_t key;
  int64_t position;

  WideEntry() = default;
  WideEntry(uint64_t key_in, int64_t position_in) : key(key_in), position(position_in) {}
  bool operator<(const WideEntry& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};
// The same in a single number, for keys of 32 bits.
struct NarrowEntry {
  uint64_t bits;

  NarrowEntry() = default;
  NarrowEntry(uint32_t key, int64_t position)
      : bits(uint64_t{key} << 32 | static_cast<uint64_t>(position)) {}
  bool operator<(const NarrowEntry& other) const { return bits < other.bits; }
};
int64_t PositionOf(const WideEntry& entry) { return entry.position; }
int64_t PositionOf(const NarrowEntry& entry) {
  return static_cast<int64_t>(entry.bits & 0xffffffffu);
}

// --- The kernel ---------------------------------------------------------------------------------

// x is `outer` blocks of `size` rows of `inner` elements; the first `count` elements of each line
// along the rows are sorted. An area of workspace holds one line.
struct SortState : CallState {
  int64_t outer = 1, size = 0, inner = 1, count = 0;
  int64_t pieces = 1, areas = 1, area_bytes = 0;
};

// The outputs of a call: elements and indices, or indices only.
enum class SortOutputs { kBoth, kIndices };

template <class Context, SortOutputs kOutputs>
class SortLinesOp : public Operator<Context> {
 public:
  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    const OperandType& x = context.inputs()[0];
    const int64_t rank = static_cast<int64_t>(x.sizes.size());
    const int64_t given = this->attributes().Int("axis");
    const int64_t axis = given < 0 ? given + rank : given;
    auto state = std::make_shared<SortState>();
    for (int64_t d = 0; d < rank; ++d) {
      if (d < axis) state->outer *= x.sizes[static_cast<size_t>(d)];
      if (d > axis) state->inner *= x.sizes[static_cast<size_t>(d)];
    }
    state->size = x.sizes[static_cast<size_t>(axis)];
    state->count = context.outputs()[0].sizes[static_cast<size_t>(axis)];
    const int64_t lines = state->outer * state->inner;
    const int64_t elements = std::max<int64_t>(1, state->size);
    state->pieces = std::clamp<int64_t>(lines * elements / kSortGrain, 1, kMaxPieces);
    state->pieces = std::min(state->pieces, std::max<int64_t>(lines, 1));
    state->areas = ScratchAreas(context.device(), state->pieces);
    state->area_bytes = elements * static_cast<int64_t>(sizeof(WideEntry));
    Preparation preparation;
    preparation.workspace_bytes = state->areas * state->area_bytes;
    preparation.state = std::move(state);
    return preparation;
  }

  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  Context& context) const override {
    const SortState& s = *context.template state<SortState>();
    if (outputs[0]->num_elements() == 0) return llvm::Error::success();
    char* workspace = static_cast<char*>(context.workspace());
    VisitDType(AnyTypes(), inputs[0]->dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = static_cast<const T*>(inputs[0]->raw());
      T* y = kOutputs == SortOutputs::kBoth ? static_cast<T*>(outputs[0]->raw()) : nullptr;
      int64_t* positions = static_cast<int64_t*>(outputs.back()->raw());
      const auto sort = [&](auto entry) {
        ParallelForAreas(context, s.pieces, s.areas, [&](int64_t piece, int64_t area) {
          auto* entries = reinterpret_cast<decltype(entry)*>(workspace + area * s.area_bytes);
          for (int64_t line = piece; line < s.outer * s.inner; line += s.pieces) {
            const int64_t block = line / s.inner, column = line % s.inner;
            SortLine(s, x + block * s.size * s.inner + column, entries);
            const int64_t to = block * s.count * s.inner + column;
            for (int64_t i = 0; i < s.count; ++i) {
              const int64_t position = PositionOf(entries[i]);
              positions[to + i * s.inner] = position;
              if (y != nullptr) {
                y[to + i * s.inner] = x[(block * s.size + position) * s.inner + column];
              }
            }
          }
        });
      };
      if (sizeof(KeyOf(T())) == 4 && s.size <= int64_t{0xffffffff}) {
        sort(NarrowEntry());
      } else {
        sort(WideEntry());
      }
    });
    return llvm::Error::success();
  }

 protected:
  llvm::Error InitializeAttributes(const AttributeReader& attributes) override {
    // topk has the attribute `largest` instead.
    backwards_ =
        attributes.Has("largest") ? attributes.Bool("largest") : attributes.Bool("descending");
    return llvm::Error::success();
  }

 private:
  // Computes the first `count` entries of a line, in order.
  template <class T, class Entry>
  void SortLine(const SortState& s, const T* x, Entry* entries) const {
    for (int64_t i = 0; i < s.size; ++i) {
      const auto key = KeyOf(x[i * s.inner]);
      if constexpr (std::is_same_v<Entry, NarrowEntry>) {
        entries[i] = Entry(static_cast<uint32_t>(backwards_ ? ~key : key), i);
      } else {
        entries[i] = Entry(backwards_ ? ~key : key, i);
      }
    }
    if (s.count < s.size) std::nth_element(entries, entries + s.count, entries + s.size);
    std::sort(entries, entries + s.count);
  }

  bool backwards_ = false;
};
template <class Context>
using SortOp = SortLinesOp<Context, SortOutputs::kBoth>;
template <class Context>
using ArgsortOp = SortLinesOp<Context, SortOutputs::kIndices>;

// --- Declarations -------------------------------------------------------------------------------

// The type of indices along an axis of x, with dims `dims`.
Type IndicesType(const Type& x, unsigned axis, const Shape& dims) {
  Type type(DType::kI64, dims);
  type.index_bound = x.dims[axis];
  return type;
}

template <SortOutputs kOutputs>
llvm::Error InferSort(InferenceContext& context) {
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  if (kOutputs == SortOutputs::kBoth) context.SetOutput(0, x);
  context.SetOutput(kOutputs == SortOutputs::kBoth ? 1 : 0, IndicesType(x, *axis, x.dims));
  return llvm::Error::success();
}

llvm::Error InferTopk(InferenceContext& context) {
  if (llvm::Error error = CheckDims(context, "k")) return error;
  const Type& x = context.input(0);
  auto axis = context.NormalizeAxis(context.attributes().Int("axis"), x.rank(), "axis");
  if (!axis) return axis.takeError();
  const Shape& k = context.attributes().Dims("k");
  if (k.size() != 1) {
    return context.FailAtAttribute("k", Code::kRank, "'k' must be one size, got {0}", k.size());
  }
  const Dim& size = x.dims[*axis];
  if ((size - k[0]).ProvablyAtMost(-1)) {
    return context.FailAtAttribute("k", Code::kAxis, "axis {0} of {1} has fewer than {2} elements",
                                   *axis, x.ToString(), k[0].ToString());
  }
  if (llvm::Error error = context.RequireAtLeast(size, k[0], {0}, "k is larger than the axis")) {
    return error;
  }
  Type type = x;
  type.dims[*axis] = k[0];
  context.SetOutput(1, IndicesType(x, *axis, type.dims));
  context.SetOutput(0, std::move(type));
  return llvm::Error::success();
}

// Scatters the gradients to the indices that the elements came from.
void SortGradient(GradientContext& g) {
  const Type& x = g.input(0)->type();
  if (!IsFloat(x.dtype) || g.output_gradient() == nullptr) return;
  Value* zeros = g.Call("zeros", {}, {{"dims", x.dims}, {"dtype", x.dtype}});
  g.SetInputGradient(
      0, g.Call("scatter", {zeros, g.output(1), g.output_gradient()},
                {{"axis", g.attributes().Int("axis")}, {"reduction", std::string("add")}}));
}

constexpr const char* kOrderComment =
    " The sort is stable: equal elements keep their order. nan is larger than every number, so it "
    "comes last, or first in descending order.";

struct SortMaker : OpProtoMaker {
  void Make() override {
    AddComment(std::string("Sorts each line along an axis.") + kOrderComment);
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddOutput("y", "type as x").TypeOf("x");
    AddOutput("indices", "i64, dims as x: index in x of each element of y")
        .OwnDType()
        .HasDType(DType::kI64)
        .DimsOf("x");
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(-1);
    AddAttr<bool>("descending", "largest element first").Default(false);
    AddExample("y = sort([3, 1, 2])  # = [1, 2, 3]");
    properties().widening = IntegerWidening::kOrder;
    SetInference(InferSort<SortOutputs::kBoth>);
    SetGradient(SortGradient);
  }
};

struct ArgsortMaker : OpProtoMaker {
  void Make() override {
    AddComment(std::string("The indices that sort each line along an axis.") + kOrderComment);
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddOutput("indices", "i64, dims as x: index in x of each element of the sorted line")
        .OwnDType()
        .HasDType(DType::kI64)
        .DimsOf("x");
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(-1);
    AddAttr<bool>("descending", "largest element first").Default(false);
    AddExample("i = argsort([3, 1, 2])  # = [1, 2, 0]");
    properties().widening = IntegerWidening::kOrder;
    SetInference(InferSort<SortOutputs::kIndices>);
  }
};

struct TopkMaker : OpProtoMaker {
  void Make() override {
    AddComment(
        "The k largest or smallest elements of each line along an axis, sorted, and their indices. "
        "Equal elements keep their order. nan is larger than every number.");
    AddInput("x", "at least one dim").Accepts(kAnySet);
    AddOutput("y", "dtype as x; of size k along the axis").DTypeOf("x");
    AddOutput("indices", "i64, dims as y: index in x of each element of y")
        .OwnDType()
        .HasDType(DType::kI64);
    AddAttr<Shape>("k", "number of elements; at most the size of the axis").Positional();
    AddAttr<int64_t>("axis", "axis; a negative axis counts from the end").Default(-1);
    AddAttr<bool>("largest",
                  "the largest elements in descending order; else the smallest in ascending order")
        .Default(true);
    AddExample("y = topk([3, 1, 4, 2], 2)  # = [4, 3]");
    properties().widening = IntegerWidening::kOrder;
    SetInference(InferTopk);
    SetGradient(SortGradient);
  }
};

}  // namespace

void RegisterSortOps(OpRegistry& registry) {
  registry.BeginFamily("Sorting");
  registry.RegisterOp<SortOp, SortMaker>("sort");
  registry.RegisterOp<ArgsortOp, ArgsortMaker>("argsort");
  registry.RegisterOp<SortOp, TopkMaker>("topk");
}

}  // namespace pdl
