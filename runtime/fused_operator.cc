#include <algorithm>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "pdl/error.h"
#include "runtime/fusion.h"
#include "runtime/stream.h"

namespace pdl {
namespace {

/// The most elements of one tile, and the bytes that all buffers of a tile take together: they stay
/// in the first-level cache.
constexpr int64_t kMaxTile = 1024;
constexpr int64_t kScratchBytes = 32 << 10;
/// Shorter rows are not walked one by one: inputs that are broadcast along them are first expanded,
/// a tile of this length at a time.
constexpr int64_t kShortRow = 256;
constexpr size_t kMaxInputs = 64;
/// Rows that take no more together are made at once, into a buffer on the stack.
constexpr int64_t kRowBytes = 32 << 10;
constexpr int64_t kLineBytes = 64;
/// Elements that are worth a piece of their own for another thread.
constexpr int64_t kGrain = 1 << 15;

/// How one input is read. The result's dims, merged where every input allows, are `rows` ×
/// `length`; rows are counted by an odometer over `Layout::outer`.
struct InputAccess {
  enum class Kind : uint8_t { kDense, kScalar, kBroadcast } kind = Kind::kDense;
  int64_t element_size = 0;
  /// Elements from one row to the next for each outer dim, and from one element to the next: 0
  /// or 1.
  llvm::SmallVector<int64_t, 4> outer_strides;
  int64_t inner_stride = 1;
};

struct Layout : CallState {
  int64_t total = 0;
  /// All inputs are dense or scalar: the rows are one run.
  bool flat = true;
  int64_t rows = 1, length = 0;
  llvm::SmallVector<int64_t, 4> outer;
  llvm::SmallVector<InputAccess, 4> inputs;
  llvm::SmallVector<bool, 2> exceeds_cache;  // of each output

  /// Where the group begins with a call that makes rows: its state, its rows and their elements,
  /// and how many are made before the tiles go over them.
  std::shared_ptr<const CallState> rows_state;
  int64_t made_rows = 0, row_length = 1, rows_at_once = 1;
  /// The rows are long, and needed by the group alone.
  bool rows_in_workspace = false;
};

/// Strides of an input in the result's dims, in elements; 0 where it is broadcast.
llvm::SmallVector<int64_t, 6> BroadcastStrides(const Sizes& input, const Sizes& result) {
  llvm::SmallVector<int64_t, 6> strides(result.size(), 0);
  size_t offset = result.size() - input.size();
  int64_t stride = 1;
  for (size_t axis = input.size(); axis-- > 0;) {
    if (input[axis] != 1) strides[offset + axis] = stride;
    stride *= input[axis];
  }
  return strides;
}

/// `is_in_tiles[k]`: input k is read by tiles, so it has the result's dims or is broadcast to them.
std::shared_ptr<Layout> MakeLayout(llvm::ArrayRef<OperandType> inputs,
                                   const std::vector<bool>& is_in_tiles,
                                   const OperandType& result) {
  auto layout = std::make_shared<Layout>();
  layout->total = result.num_elements();
  llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4> strides;
  for (size_t i = 0; i < inputs.size(); ++i) {
    strides.push_back(is_in_tiles[i] ? BroadcastStrides(inputs[i].sizes, result.sizes)
                                     : llvm::SmallVector<int64_t, 6>(result.sizes.size(), 0));
  }

  // Merge neighbouring dims that every input walks as one; drop dims of size 1.
  llvm::SmallVector<int64_t, 6> dims;
  llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4> merged(inputs.size());
  for (size_t axis = 0; axis < result.sizes.size(); ++axis) {
    int64_t size = result.sizes[axis];
    if (size == 1) continue;
    bool merges = !dims.empty();
    for (size_t i = 0; i < inputs.size() && merges; ++i)
      merges = merged[i].back() == strides[i][axis] * size;
    if (merges) {
      dims.back() *= size;
      for (size_t i = 0; i < inputs.size(); ++i) merged[i].back() = strides[i][axis];
    } else {
      dims.push_back(size);
      for (size_t i = 0; i < inputs.size(); ++i) merged[i].push_back(strides[i][axis]);
    }
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (auto& m : merged) m.push_back(0);
  }
  layout->length = dims.back();
  layout->outer.assign(dims.begin(), dims.end() - 1);
  for (int64_t size : layout->outer) layout->rows *= size;
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputAccess access;
    access.element_size = DTypeSize(inputs[i].dtype);
    access.inner_stride = merged[i].back();
    access.outer_strides.assign(merged[i].begin(), merged[i].end() - 1);
    if (layout->total == 1) {
      access.kind = InputAccess::Kind::kDense;
    } else if (inputs[i].num_elements() == 1 || !is_in_tiles[i]) {
      access.kind = InputAccess::Kind::kScalar;
    } else if (inputs[i].num_elements() == layout->total) {
      access.kind = InputAccess::Kind::kDense;
    } else {
      access.kind = InputAccess::Kind::kBroadcast;
      layout->flat = false;
    }
    layout->inputs.push_back(std::move(access));
  }
  if (layout->flat) {
    layout->length = layout->total;
    layout->rows = 1;
    layout->outer.clear();
  }
  return layout;
}

void Repeat(void* to, const void* element, int64_t element_size, int64_t n) {
  auto fill = [&]<typename T>(T value) { std::fill_n(static_cast<T*>(to), n, value); };
  switch (element_size) {
    case 1:
      return fill(*static_cast<const uint8_t*>(element));
    case 2: {
      uint16_t value;
      std::memcpy(&value, element, sizeof value);
      return fill(value);
    }
    case 4: {
      uint32_t value;
      std::memcpy(&value, element, sizeof value);
      return fill(value);
    }
    default: {
      uint64_t value;
      std::memcpy(&value, element, sizeof value);
      return fill(value);
    }
  }
}

/// What the call that makes rows learns when its sizes become known: its part of the group's
/// inputs, and its result.
class RowsContext final : public PrepareContext {
 public:
  RowsContext(const PrepareContext& group, const FusedInstruction& instruction) : group_(group) {
    for (const FusedInstruction::Operand& operand : instruction.operands) {
      indices_.push_back(operand.index);
      inputs_.push_back(group.inputs()[operand.index]);
    }
    outputs_.push_back({instruction.dtype, group.outputs()[0].sizes});
  }
  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return outputs_; }
  DeviceContext& device() const override { return group_.device(); }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override { return group_.Evaluate(dim); }
  const Tensor* constant_input(unsigned index) const override {
    return group_.constant_input(indices_[index]);
  }
  llvm::Expected<std::shared_ptr<const void>> Pack(
      unsigned index, llvm::StringRef layout,
      llvm::function_ref<llvm::Expected<std::shared_ptr<const void>>()> pack) const override {
    return group_.Pack(indices_[index], layout, pack);
  }

 private:
  const PrepareContext& group_;
  llvm::SmallVector<unsigned, 4> indices_;
  std::vector<OperandType> inputs_, outputs_;
};

class FusedOperator final : public Operator<CPUContext> {
 public:
  FusedOperator(std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
                std::vector<std::unique_ptr<OperatorBase>> operators,
                const OperatorArguments& arguments)
      : instructions_(std::move(instructions)),
        input_dtypes_(inputs.begin(), inputs.end()),
        operators_(std::move(operators)),
        has_rows_(instructions_[0].tile.dense == nullptr) {
    AssignBuffers();
    llvm::cantFail(Initialize(arguments, DeviceKind::kCPU));
  }

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    std::shared_ptr<Layout> layout =
        MakeLayout(context.inputs(), is_in_tiles_, context.outputs()[0]);
    preparation.state = layout;
    std::vector<bool> keeps(input_dtypes_.size(), false);
    if (has_rows_) {
      const RowsContext rows_context(context, instructions_[0]);
      llvm::Expected<Preparation> rows = operators_[0]->Prepare(rows_context);
      if (!rows) return rows.takeError();
      PrepareRows(*rows, layout.get());
      if (layout->rows_in_workspace)
        preparation.workspace_bytes = layout->total * DTypeSize(instructions_[0].dtype);
      // A row may be written over where it was read from, but over nothing else that it needs.
      for (unsigned i = 0; i < instructions_[0].operands.size(); ++i) {
        const bool may = llvm::is_contained(rows->in_place, std::pair(0u, i));
        if (!may) keeps[instructions_[0].operands[i].index] = true;
      }
    }
    // An output may take the place of a dense input of its element size, which is read for the last
    // time by the instruction that writes the output, or before.
    for (unsigned output = 0; output < context.outputs().size(); ++output) {
      const DType dtype = context.outputs()[output].dtype;
      const int64_t bytes = layout->total * DTypeSize(dtype);
      layout->exceeds_cache.push_back(ExceedsCache(bytes) || (has_rows_ && bytes > kManyRowBytes));
      size_t writer = 0;
      while (instructions_[writer].output != static_cast<int>(output)) ++writer;
      for (unsigned input = 0; input < input_dtypes_.size(); ++input) {
        if (context.inputs()[input].num_elements() != layout->total ||
            DTypeSize(input_dtypes_[input]) != DTypeSize(dtype) || last_read_[input] > writer ||
            keeps[input])
          continue;
        preparation.in_place.push_back({output, input});
      }
    }
    return preparation;
  }

  using OperatorBase::Run;
  llvm::Error Run(llvm::ArrayRef<const Tensor*> inputs, llvm::MutableArrayRef<Tensor*> outputs,
                  CPUContext& context) const override {
    const Layout& layout = *context.state<Layout>();
    Operands operands{inputs, outputs, 0};
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!layout.exceeds_cache[k]) continue;
      const bool in_place = llvm::any_of(
          inputs, [&](const Tensor* input) { return input->raw() == outputs[k]->raw(); });
      const bool has_tile = !has_rows_ || instruction_of_[k] > 0;
      if (!in_place && has_tile) operands.streams |= uint64_t{1} << k;
    }
    if (has_rows_) {
      char* workspace = static_cast<char*>(context.workspace());
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.row_length));
      context.ParallelFor(layout.made_rows, grain, [&](int64_t begin, int64_t end) {
        MakeRows(layout, operands, workspace, begin, end);
        if (operands.streams != 0) StreamFence();
      });
    } else if (layout.flat || layout.length < kShortRow) {
      context.ParallelFor(layout.total, kGrain, [&](int64_t begin, int64_t end) {
        RunElements(layout, operands, {}, begin, end);
        if (operands.streams != 0) StreamFence();
      });
    } else {
      int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.length));
      context.ParallelFor(
          layout.total == 0 ? 0 : layout.rows, grain, [&](int64_t begin, int64_t end) {
            RunElements(layout, operands, {}, begin * layout.length, end * layout.length);
            if (operands.streams != 0) StreamFence();
          });
    }
    return llvm::Error::success();
  }

 private:
  /// Of one run.
  struct Operands {
    llvm::ArrayRef<const Tensor*> inputs;
    llvm::ArrayRef<Tensor*> outputs;
    /// A bit for each output that is written past the cache.
    uint64_t streams;
  };
  /// Where the result of the call that makes rows lies: its element `first` is at `data`.
  struct MadeRows {
    const char* data = nullptr;
    int64_t first = 0;
    /// What the next rows are made from begins here, with so many bytes for each element; null
    /// where that is not known.
    const char* ahead = nullptr;
    int64_t ahead_size = 0;
  };

  /// Gives each tile instruction a buffer for its result, used again after its last reader.
  void AssignBuffers() {
    size_t count = instructions_.size();
    last_use_.resize(count);
    last_read_.assign(input_dtypes_.size(), 0);
    is_in_tiles_.assign(input_dtypes_.size(), false);
    for (size_t i = 0; i < count; ++i) {
      last_use_[i] = i;
      for (const FusedInstruction::Operand& operand : instructions_[i].operands) {
        (operand.external ? last_read_[operand.index] : last_use_[operand.index]) = i;
        if (operand.external && (i > 0 || !has_rows_)) is_in_tiles_[operand.index] = true;
      }
      if (instructions_[i].output < 0) continue;
      const auto output = static_cast<size_t>(instructions_[i].output);
      if (instruction_of_.size() <= output) instruction_of_.resize(output + 1);
      instruction_of_[output] = i;
    }
    buffer_of_.assign(count, -1);
    int num_buffers = 0;
    std::vector<int> free;
    std::vector<std::vector<int>> ending(count);
    for (size_t i = has_rows_ ? 1 : 0; i < count; ++i) {
      if (free.empty()) {
        buffer_of_[i] = num_buffers++;
      } else {
        buffer_of_[i] = free.back();
        free.pop_back();
      }
      ending[last_use_[i]].push_back(buffer_of_[i]);
      // A result never shares a buffer with an operand of its own instruction.
      free.insert(free.end(), ending[i].begin(), ending[i].end());
    }
    if (num_buffers > 0) tile_ = std::min(kMaxTile, kScratchBytes / 8 / num_buffers / 64 * 64);
  }

  void PrepareRows(const Preparation& rows, Layout* layout) const {
    if (rows.workspace_bytes != 0)
      InternalError(operators_[0]->type() + " makes rows in workspace");
    layout->rows_state = rows.state;
    if (layout->total == 0) return;
    layout->made_rows = rows.rows;
    layout->row_length = layout->total / rows.rows;
    const int64_t bytes = layout->row_length * DTypeSize(instructions_[0].dtype);
    layout->rows_at_once = std::max<int64_t>(1, kRowBytes / bytes);
    layout->rows_in_workspace = instructions_[0].output < 0 && bytes > kRowBytes;
  }

  /// Rows [begin, end) of the call that makes them, some at a time, and what is behind them.
  void MakeRows(const Layout& layout, const Operands& operands, char* workspace, int64_t begin,
                int64_t end) const {
    alignas(64) char buffer[kRowBytes];
    const FusedInstruction& maker = instructions_[0];
    const int64_t row_bytes = layout.row_length * DTypeSize(maker.dtype);
    llvm::SmallVector<const Tensor*, 4> inputs;
    for (const FusedInstruction::Operand& operand : maker.operands)
      inputs.push_back(operands.inputs[operand.index]);
    for (int64_t row = begin; row < end; row += layout.rows_at_once) {
      const int64_t last = std::min(end, row + layout.rows_at_once);
      char* to = buffer;
      if (maker.output >= 0) {
        to = static_cast<char*>(operands.outputs[static_cast<size_t>(maker.output)]->raw()) +
             row * row_bytes;
      } else if (layout.rows_in_workspace) {
        to = workspace + row * row_bytes;
      }
      operators_[0]->RunRows(layout.rows_state.get(), inputs, row, last, to);
      MadeRows made{to, row * layout.row_length};
      if (inputs[0]->num_elements() == layout.total && last < end) {
        made.ahead_size = DTypeSize(inputs[0]->dtype());
        made.ahead =
            static_cast<const char*>(inputs[0]->raw()) + last * layout.row_length * made.ahead_size;
      }
      RunElements(layout, operands, made, row * layout.row_length, last * layout.row_length);
    }
  }

  /// Runs the tile instructions over n elements from `start` on. `in[k]` is where input k starts,
  /// `is_scalar[k]` whether it is one element.
  void RunTile(const Operands& operands, const MadeRows& made, const char* const* in,
               const bool* is_scalar, char* scratch, int64_t start, int64_t n) const {
    const void* results[64];
    if (has_rows_) {
      results[0] = made.data + (start - made.first) * DTypeSize(instructions_[0].dtype);
      // The next rows come from memory meanwhile.
      const char* ahead = made.ahead + (start - made.first) * made.ahead_size;
      for (int64_t i = 0; made.ahead != nullptr && i < n * made.ahead_size; i += kLineBytes)
        __builtin_prefetch(ahead + i, 0, 2);
    }
    for (size_t i = has_rows_ ? 1 : 0; i < instructions_.size(); ++i) {
      const FusedInstruction& instruction = instructions_[i];
      const void* operand_data[4];
      unsigned scalars = 0;
      for (size_t j = 0; j < instruction.operands.size(); ++j) {
        const FusedInstruction::Operand& operand = instruction.operands[j];
        operand_data[j] = operand.external ? in[operand.index] : results[operand.index];
        if (operand.external && is_scalar[operand.index]) scalars |= 1u << j;
      }
      char* to = scratch + buffer_of_[i] * tile_ * 8;
      if (instruction.output >= 0) {
        const auto output = static_cast<size_t>(instruction.output);
        const int64_t size = DTypeSize(instruction.dtype);
        char* out = static_cast<char*>(operands.outputs[output]->raw()) + start * size;
        if ((operands.streams >> output & 1) != 0) {
          ApplyAndStream(instruction, operand_data, scalars, to, last_use_[i] == i, out, n);
          results[i] = to;
          continue;
        }
        to = out;
      }
      Apply(instruction, operand_data, scalars, to, n);
      results[i] = to;
    }
  }

  /// Applies an instruction to a buffer, and that to an output past the cache; where nothing in the
  /// group reads the result, at once if it can.
  void ApplyAndStream(const FusedInstruction& instruction, const void** operands, unsigned scalars,
                      void* buffer, bool is_last_use, void* out, int64_t n) const {
    const Tile& tile = instruction.tile;
    if (is_last_use && scalars == 0 && tile.stream && reinterpret_cast<uintptr_t>(out) % 64 == 0) {
      tile.stream(operands, out, n, tile.parameters);
      return;
    }
    Apply(instruction, operands, scalars, buffer, n);
    StreamCopy(out, buffer, n * DTypeSize(instruction.dtype));
  }

  void Apply(const FusedInstruction& instruction, const void** operands, unsigned scalars, void* to,
             int64_t n) const {
    const Tile& tile = instruction.tile;
    if (scalars == 0) return tile.dense(operands, to, n, tile.parameters);
    if (scalars == 1 && tile.scalar[0]) return tile.scalar[0](operands, to, n, tile.parameters);
    if (scalars == 2 && tile.scalar[1]) return tile.scalar[1](operands, to, n, tile.parameters);
    if (scalars == 4 && tile.scalar[2]) return tile.scalar[2](operands, to, n, tile.parameters);
    // No such form: repeat the elements.
    alignas(64) char repeated[3][kMaxTile * 8];
    for (size_t j = 0; j < instruction.operands.size() && j < 3; ++j) {
      if (!(scalars >> j & 1)) continue;
      int64_t size = DTypeSize(input_dtypes_[instruction.operands[j].index]);
      Repeat(repeated[j], operands[j], size, n);
      operands[j] = repeated[j];
    }
    tile.dense(operands, to, n, tile.parameters);
  }

  /// Elements [begin, end) of all tile instructions.
  void RunElements(const Layout& layout, const Operands& operands, const MadeRows& made,
                   int64_t begin, int64_t end) const {
    if (layout.flat) {
      RunFlat(layout, operands, made, begin, end);
    } else if (layout.length < kShortRow) {
      RunExpanded(layout, operands, made, begin, end);
    } else {
      RunRuns(layout, operands, made, begin, end);
    }
  }

  void RunFlat(const Layout& layout, const Operands& operands, const MadeRows& made, int64_t begin,
               int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    for (int64_t start = begin; start < end; start += tile_) {
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        is_scalar[k] = layout.inputs[k].kind == InputAccess::Kind::kScalar;
        in[k] = static_cast<const char*>(operands.inputs[k]->raw()) +
                (is_scalar[k] ? 0 : start * layout.inputs[k].element_size);
      }
      RunTile(operands, made, in, is_scalar, scratch, start, std::min(tile_, end - start));
    }
  }

  /// Along the rows of the layout; the first and the last may be cut.
  void RunRuns(const Layout& layout, const Operands& operands, const MadeRows& made, int64_t begin,
               int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    llvm::SmallVector<int64_t, 4> index(layout.outer.size());
    int64_t rest = begin / layout.length, column = begin % layout.length;
    for (size_t d = layout.outer.size(); d-- > 0;) {
      index[d] = rest % layout.outer[d];
      rest /= layout.outer[d];
    }
    while (begin < end) {
      const char* row_start[kMaxInputs];
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        const InputAccess& access = layout.inputs[k];
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d) offset += index[d] * access.outer_strides[d];
        row_start[k] =
            static_cast<const char*>(operands.inputs[k]->raw()) + offset * access.element_size;
        is_scalar[k] = access.inner_stride == 0;
      }
      const int64_t stop = std::min(layout.length, column + end - begin);
      for (; column < stop; column += tile_) {
        const int64_t n = std::min(tile_, stop - column);
        for (size_t k = 0; k < layout.inputs.size(); ++k) {
          const InputAccess& access = layout.inputs[k];
          in[k] = row_start[k] + column * access.inner_stride * access.element_size;
        }
        RunTile(operands, made, in, is_scalar, scratch, begin, n);
        begin += n;
      }
      column = 0;
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < layout.outer[d]) break;
        index[d] = 0;
      }
    }
  }

  /// n elements of a broadcast input from the result's element `start` on, one after the other.
  static void Expand(const Layout& layout, const InputAccess& access, const char* input,
                     int64_t start, int64_t n, char* to) {
    llvm::SmallVector<int64_t, 4> index(layout.outer.size());
    int64_t column = start % layout.length, rest = start / layout.length, offset = 0;
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = rest % layout.outer[d];
      rest /= layout.outer[d];
      offset += index[d] * access.outer_strides[d];
    }
    while (n > 0) {
      int64_t run = std::min(n, layout.length - column);
      const char* from = input + (offset + column * access.inner_stride) * access.element_size;
      if (access.inner_stride == 0) {
        Repeat(to, from, access.element_size, run);
      } else {
        std::memcpy(to, from, static_cast<size_t>(run * access.element_size));
      }
      to += run * access.element_size;
      n -= run;
      column = 0;
      for (size_t d = index.size(); d-- > 0;) {
        offset += access.outer_strides[d];
        if (++index[d] < layout.outer[d]) break;
        offset -= layout.outer[d] * access.outer_strides[d];
        index[d] = 0;
      }
    }
  }

  void RunExpanded(const Layout& layout, const Operands& operands, const MadeRows& made,
                   int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    alignas(64) char expanded[kMaxInputs / 2][kShortRow * 8];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    int64_t tile = std::min(tile_, kShortRow);
    for (int64_t start = begin; start < end; start += tile) {
      int64_t n = std::min(tile, end - start);
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        const InputAccess& access = layout.inputs[k];
        const char* data = static_cast<const char*>(operands.inputs[k]->raw());
        is_scalar[k] = access.kind == InputAccess::Kind::kScalar;
        in[k] = data;
        if (access.kind == InputAccess::Kind::kDense) in[k] += start * access.element_size;
        if (access.kind == InputAccess::Kind::kBroadcast) {
          Expand(layout, access, data, start, n, expanded[k]);
          in[k] = expanded[k];
        }
      }
      RunTile(operands, made, in, is_scalar, scratch, start, n);
    }
  }

  std::vector<FusedInstruction> instructions_;
  std::vector<DType> input_dtypes_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;
  bool has_rows_;
  std::vector<int> buffer_of_;
  std::vector<size_t> instruction_of_;  // that writes an output
  std::vector<size_t> last_use_;        // of an instruction's result
  std::vector<size_t> last_read_;       // of an input
  std::vector<bool> is_in_tiles_;       // of an input: a tile reads it
  int64_t tile_ = kMaxTile;
};

}  // namespace

std::unique_ptr<OperatorBase> MakeFusedOperator(
    std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
    std::vector<std::unique_ptr<OperatorBase>> operators, const OperatorArguments& arguments) {
  return std::make_unique<FusedOperator>(std::move(instructions), inputs, std::move(operators),
                                         arguments);
}

}  // namespace pdl
