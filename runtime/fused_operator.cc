#include <algorithm>
#include <cstring>

#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "runtime/fused_layout.h"
#include "runtime/fusion.h"
#include "runtime/stream.h"

namespace pdl {
namespace {

/// The total size of all buffers of a tile, which stay in the first-level cache.
constexpr int64_t kScratchBytes = 32 << 10;
constexpr size_t kMaxInputs = 64;
/// Rows up to this total size are computed at a time, into a buffer on the stack.
constexpr int64_t kRowBytes = 32 << 10;
/// The minimum number of elements of a piece for another thread.
constexpr int64_t kGrain = 1 << 15;

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

/// The context for preparing the row producer or tiled producer of a group: its inputs among those
/// of the group, and its result.
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
  bool is_constant(unsigned index) const override { return group_.is_constant(indices_[index]); }
  llvm::Expected<Tensor> ConstantValue(unsigned index) const override {
    return group_.ConstantValue(indices_[index]);
  }
  llvm::Expected<std::shared_ptr<const void>> Pack(unsigned index, llvm::StringRef layout,
                                                   PackFunction pack) const override {
    return group_.Pack(indices_[index], layout, pack);
  }
  DType matmul_precision() const override { return group_.matmul_precision(); }

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
        has_rows_(operators_[0]->makes_rows()),
        has_pieces_(operators_[0]->makes_pieces()) {
    AssignBuffers();
    llvm::cantFail(Initialize(arguments, DeviceKind::kCPU));
  }

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation, head;
    AbsorbedEpilogue absorbed;
    if (has_head()) {
      llvm::Expected<Preparation> prepared =
          operators_[0]->Prepare(RowsContext(context, instructions_[0]));
      if (!prepared) return prepared.takeError();
      head = std::move(*prepared);
      preparation.matmul_precision = head.matmul_precision;
      if (has_pieces_ && head.has_register_epilogue)
        absorbed = FindAbsorbedEpilogue(instructions_, last_use_, context.inputs(),
                                        context.outputs()[0].sizes);
    }
    std::vector<bool> is_in_tiles = is_in_tiles_;
    if (absorbed.bias >= 0) {
      const auto bias = static_cast<size_t>(absorbed.bias);
      is_in_tiles[bias] = last_read_[bias] > absorbed.last;
    }
    std::shared_ptr<FusedLayout> layout =
        MakeFusedLayout(context.inputs(), is_in_tiles, context.outputs()[0]);
    layout->absorbed = absorbed;
    preparation.state = layout;
    std::vector<bool> keeps(input_dtypes_.size(), false);
    for (const unsigned index : head.packed) {
      const unsigned input = instructions_[0].operands[index].index;
      const auto reads = llvm::count_if(
          instructions_[0].operands,
          [&](const FusedInstruction::Operand& other) { return other.index == input; });
      if (!is_in_tiles_[input] && reads == 1) preparation.packed.push_back(input);
    }
    if (has_pieces_) {
      preparation.workspace_bytes = PreparePieces(head, layout.get());
      for (const FusedInstruction::Operand& operand : instructions_[0].operands)
        keeps[operand.index] = true;
      if (absorbed.bias >= 0) keeps[static_cast<size_t>(absorbed.bias)] = true;
    }
    if (has_rows_) {
      PrepareRows(head, layout.get());
      if (layout->rows_in_workspace)
        preparation.workspace_bytes = layout->total * DTypeSize(instructions_[0].dtype);
      // A row may overwrite the operand it is computed from if the producer supports it, but no
      // other operand.
      for (unsigned i = 0; i < instructions_[0].operands.size(); ++i) {
        const bool may = llvm::is_contained(head.in_place, std::pair(0u, i));
        if (!may) keeps[instructions_[0].operands[i].index] = true;
      }
    }
    // An output may reuse the memory of a dense input with the same element size, if the input's
    // last read is by the instruction that writes the output, or before.
    for (unsigned output = 0; output < context.outputs().size(); ++output) {
      const DType dtype = context.outputs()[output].dtype;
      const int64_t bytes = layout->total * DTypeSize(dtype);
      layout->exceeds_cache.push_back(ExceedsCache(bytes) || (has_rows_ && bytes > kManyRowBytes));
      // The producer's tiles are written there before all inputs are read.
      if (has_pieces_ && layout->pieces_output == static_cast<int>(output)) continue;
      const size_t writer = instruction_of_[output];
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
    const FusedLayout& layout = *context.state<FusedLayout>();
    Operands operands{inputs, outputs, 0};
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!layout.exceeds_cache[k]) continue;
      const bool in_place = llvm::any_of(
          inputs, [&](const Tensor* input) { return input->raw() == outputs[k]->raw(); });
      const bool has_tile = !has_head() || instruction_of_[k] > layout.absorbed.last;
      if (has_pieces_ && layout.pieces_output == static_cast<int>(k)) continue;
      if (!in_place && has_tile) operands.streams |= uint64_t{1} << k;
    }
    if (has_pieces_) {
      RunPiecewise(layout, operands, context);
    } else if (has_rows_) {
      char* workspace = static_cast<char*>(context.workspace());
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.row_length));
      context.ParallelFor(layout.made_rows, grain, [&](int64_t begin, int64_t end) {
        MakeRows(layout, operands, workspace, begin, end);
        if (operands.streams != 0) StreamFence();
      });
    } else if (layout.flat || layout.expands) {
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
  /// The operands of one run.
  struct Operands {
    llvm::ArrayRef<const Tensor*> inputs;
    llvm::ArrayRef<Tensor*> outputs;
    /// A bit for each output that is written with streaming stores.
    uint64_t streams;
  };
  bool has_head() const { return has_rows_ || has_pieces_; }

  /// The result of the row producer or tiled producer: its element `first` is at `data`.
  struct MadeRows {
    const char* data = nullptr;
    int64_t first = 0;
    /// The instruction whose result it is.
    size_t instruction = 0;
    /// The operand of the next rows, for prefetching, with the number of bytes per element; null if
    /// unknown.
    const char* ahead = nullptr;
    int64_t ahead_size = 0;
  };

  /// Assigns each tile instruction a buffer for its result, which is reused after its last reader.
  void AssignBuffers() {
    size_t count = instructions_.size();
    last_use_.resize(count);
    last_read_.assign(input_dtypes_.size(), 0);
    is_in_tiles_.assign(input_dtypes_.size(), false);
    for (size_t i = 0; i < count; ++i) {
      last_use_[i] = i;
      for (const FusedInstruction::Operand& operand : instructions_[i].operands) {
        (operand.external ? last_read_[operand.index] : last_use_[operand.index]) = i;
        if (operand.external && (i > 0 || !has_head())) is_in_tiles_[operand.index] = true;
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
    for (size_t i = has_head() ? 1 : 0; i < count; ++i) {
      if (free.empty()) {
        buffer_of_[i] = num_buffers++;
      } else {
        buffer_of_[i] = free.back();
        free.pop_back();
      }
      ending[last_use_[i]].push_back(buffer_of_[i]);
      // A result never shares a buffer with an operand of the same instruction.
      free.insert(free.end(), ending[i].begin(), ending[i].end());
    }
    if (num_buffers > 0) tile_ = std::min(kMaxFusedTile, kScratchBytes / 8 / num_buffers / 64 * 64);
  }

  void PrepareRows(const Preparation& rows, FusedLayout* layout) const {
    if (rows.workspace_bytes != 0)
      InternalError(operators_[0]->type() + " is a row producer with a workspace");
    layout->rows_state = rows.state;
    if (layout->total == 0) return;
    layout->made_rows = rows.rows;
    layout->row_length = layout->total / rows.rows;
    const int64_t bytes = layout->row_length * DTypeSize(instructions_[0].dtype);
    layout->rows_at_once = std::max<int64_t>(1, kRowBytes / bytes);
    layout->rows_in_workspace = instructions_[0].output < 0 && bytes > kRowBytes;
  }

  /// Chooses the memory for the result of the tiled producer, and returns the size of the
  /// workspace. It is an output that is written at the last read of that result or later, else
  /// workspace.
  int64_t PreparePieces(const Preparation& head, FusedLayout* layout) const {
    layout->rows_state = head.state;
    const size_t last = layout->absorbed.last;
    const FusedInstruction& maker = instructions_[last];
    layout->pieces_output = maker.output;
    for (size_t output = 0; output < instruction_of_.size() && layout->pieces_output < 0;
         ++output) {
      const size_t writer = instruction_of_[output];
      if (instructions_[writer].dtype == maker.dtype && last_use_[last] <= writer)
        layout->pieces_output = static_cast<int>(output);
    }
    if (layout->pieces_output >= 0) return head.workspace_bytes;
    layout->pieces_at = (head.workspace_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
    return layout->pieces_at + layout->total * DTypeSize(maker.dtype);
  }

  /// Runs the tiled producer, and the tile instructions on each of its tiles.
  void RunPiecewise(const FusedLayout& layout, const Operands& operands,
                    CPUContext& context) const {
    const FusedInstruction& maker = instructions_[0];
    llvm::SmallVector<const Tensor*, 4> inputs;
    for (const FusedInstruction::Operand& operand : maker.operands)
      inputs.push_back(operands.inputs[operand.index]);
    char* workspace = static_cast<char*>(context.workspace());
    char* to = layout.pieces_output < 0
                   ? workspace + layout.pieces_at
                   : static_cast<char*>(
                         operands.outputs[static_cast<size_t>(layout.pieces_output)]->raw());
    MadeRows made{to};
    made.instruction = layout.absorbed.last;
    RegisterEpilogue epilogue = layout.absorbed.epilogue;
    if (layout.absorbed.bias >= 0)
      epilogue.bias = operands.inputs[static_cast<size_t>(layout.absorbed.bias)]->data<float>();
    const auto then = [&](const OutputPiece& piece) {
      RunPiece(layout, operands, made, piece);
      if (operands.streams != 0) StreamFence();
    };
    const bool is_complete = made.instruction + 1 == instructions_.size();
    llvm::function_ref<void(const OutputPiece&)> rest;
    if (!is_complete) rest = then;
    operators_[0]->RunPieces(layout.rows_state.get(), workspace, inputs, to, context, epilogue,
                             rest);
  }

  void RunPiece(const FusedLayout& layout, const Operands& operands, const MadeRows& made,
                const OutputPiece& piece) const {
    const int64_t last = piece.begin + (piece.rows - 1) * piece.stride + piece.columns;
    if (piece.columns == piece.stride || piece.rows == 1)
      return RunElements(layout, operands, made, piece.begin, last);
    if (!layout.flat && layout.length == piece.stride)
      return RunRuns(layout, operands, made, piece.begin, piece.columns, last);
    for (int64_t row = 0; row < piece.rows; ++row) {
      const int64_t begin = piece.begin + row * piece.stride;
      RunElements(layout, operands, made, begin, begin + piece.columns);
    }
  }

  /// Runs the row producer for rows [begin, end), a few at a time, and the tile instructions on
  /// them.
  void MakeRows(const FusedLayout& layout, const Operands& operands, char* workspace, int64_t begin,
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

  /// Runs the tile instructions for n elements from `start` on. `in[k]` points to input k,
  /// `is_scalar[k]` is whether it is a scalar.
  void RunTile(const Operands& operands, const MadeRows& made, const char* const* in,
               const bool* is_scalar, char* scratch, int64_t start, int64_t n) const {
    const void* results[64];
    if (has_head()) {
      results[made.instruction] =
          made.data + (start - made.first) * DTypeSize(instructions_[made.instruction].dtype);
      // Meanwhile the operand of the next rows is read from memory.
      const char* ahead = made.ahead + (start - made.first) * made.ahead_size;
      for (int64_t i = 0; made.ahead != nullptr && i < n * made.ahead_size; i += kLineBytes)
        __builtin_prefetch(ahead + i, 0, 2);
    }
    for (size_t i = has_head() ? made.instruction + 1 : 0; i < instructions_.size(); ++i) {
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

  /// Applies an instruction to a buffer and streams that to an output; streams directly if nothing
  /// in the group reads the result and the tile supports it.
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
    // There is no variant for these scalars: repeat the elements.
    alignas(64) char repeated[3][kMaxFusedTile * 8];
    for (size_t j = 0; j < instruction.operands.size() && j < 3; ++j) {
      if (!(scalars >> j & 1)) continue;
      int64_t size = DTypeSize(input_dtypes_[instruction.operands[j].index]);
      Repeat(repeated[j], operands[j], size, n);
      operands[j] = repeated[j];
    }
    tile.dense(operands, to, n, tile.parameters);
  }

  /// Runs all tile instructions for elements [begin, end).
  void RunElements(const FusedLayout& layout, const Operands& operands, const MadeRows& made,
                   int64_t begin, int64_t end) const {
    if (layout.flat) {
      RunFlat(layout, operands, made, begin, end);
    } else if (layout.expands) {
      RunExpanded(layout, operands, made, begin, end);
    } else {
      RunRuns(layout, operands, made, begin, end - begin, end);
    }
  }

  void RunFlat(const FusedLayout& layout, const Operands& operands, const MadeRows& made,
               int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    for (int64_t start = begin; start < end; start += tile_) {
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        is_scalar[k] = layout.inputs[k].kind == FusedInput::Kind::kScalar;
        in[k] = static_cast<const char*>(operands.inputs[k]->raw()) +
                (is_scalar[k] ? 0 : start * layout.inputs[k].element_size);
      }
      RunTile(operands, made, in, is_scalar, scratch, start, std::min(tile_, end - start));
    }
  }

  /// Runs all tile instructions for elements [begin, end), row by row of the layout; the first and
  /// the last row may be partial. If `columns` is less than the length of a row, only that many
  /// columns of each row are processed, starting with the column of `begin`.
  void RunRuns(const FusedLayout& layout, const Operands& operands, const MadeRows& made,
               int64_t begin, int64_t columns, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    llvm::SmallVector<int64_t, 4> index(layout.outer.size());
    int64_t rest = begin / layout.length, column = begin % layout.length;
    for (size_t d = layout.outer.size(); d-- > 0;) {
      index[d] = rest % layout.outer[d];
      rest /= layout.outer[d];
    }
    const bool is_block = columns < layout.length && end - begin > columns;
    const int64_t first_column = is_block ? column : 0;
    const int64_t last_column = is_block ? column + columns : layout.length;
    while (begin < end) {
      const char* row_start[kMaxInputs];
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        const FusedInput& access = layout.inputs[k];
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d) offset += index[d] * access.outer_strides[d];
        row_start[k] =
            static_cast<const char*>(operands.inputs[k]->raw()) + offset * access.element_size;
        is_scalar[k] = access.inner_stride == 0;
      }
      const int64_t stop = std::min(last_column, column + end - begin);
      for (; column < stop; column += tile_) {
        const int64_t n = std::min(tile_, stop - column);
        for (size_t k = 0; k < layout.inputs.size(); ++k) {
          const FusedInput& access = layout.inputs[k];
          in[k] = row_start[k] + column * access.inner_stride * access.element_size;
        }
        RunTile(operands, made, in, is_scalar, scratch, begin, n);
        begin += n;
      }
      begin += layout.length - last_column + first_column;
      column = first_column;
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < layout.outer[d]) break;
        index[d] = 0;
      }
    }
  }

  /// Writes n consecutive elements of a broadcast input, from the result's element `start` on.
  static void Expand(const FusedLayout& layout, const FusedInput& access, const char* input,
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

  void RunExpanded(const FusedLayout& layout, const Operands& operands, const MadeRows& made,
                   int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    alignas(64) char expanded[kExpandedBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    // If tiles are complete rows, an input that is a single row is expanded only once.
    int64_t tile = std::min(tile_, layout.expanded_tile);
    const bool whole_rows = begin % layout.length == 0 && layout.length <= tile;
    if (whole_rows) tile = tile / layout.length * layout.length;
    for (int64_t start = begin; start < end; start += tile) {
      int64_t n = std::min(tile, end - start);
      char* buffer = expanded;
      for (size_t k = 0; k < layout.inputs.size(); ++k) {
        const FusedInput& access = layout.inputs[k];
        const char* data = static_cast<const char*>(operands.inputs[k]->raw());
        is_scalar[k] = access.kind == FusedInput::Kind::kScalar;
        in[k] = data;
        if (access.kind == FusedInput::Kind::kDense) in[k] += start * access.element_size;
        if (access.kind == FusedInput::Kind::kBroadcast) {
          if (start == begin || !whole_rows || !IsOneRow(access))
            Expand(layout, access, data, start, n, buffer);
          in[k] = buffer;
          buffer += layout.expanded_bytes;
        }
      }
      RunTile(operands, made, in, is_scalar, scratch, start, n);
    }
  }

  std::vector<FusedInstruction> instructions_;
  std::vector<DType> input_dtypes_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;
  bool has_rows_, has_pieces_;  // the first instruction is a row producer or a tiled producer
  std::vector<int> buffer_of_;
  std::vector<size_t> instruction_of_;  // index of the instruction that writes an output
  std::vector<size_t> last_use_;        // of the result of an instruction
  std::vector<size_t> last_read_;       // of an input
  std::vector<bool> is_in_tiles_;       // whether tiles read an input
  int64_t tile_ = kMaxFusedTile;
};

}  // namespace

std::unique_ptr<OperatorBase> MakeFusedOperator(
    std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
    std::vector<std::unique_ptr<OperatorBase>> operators, const OperatorArguments& arguments) {
  return std::make_unique<FusedOperator>(std::move(instructions), inputs, std::move(operators),
                                         arguments);
}

}  // namespace pdl
