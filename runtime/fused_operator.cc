#include <algorithm>
#include <cstring>

#include "runtime/fusion.h"

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

std::shared_ptr<Layout> MakeLayout(llvm::ArrayRef<OperandType> inputs, const OperandType& result) {
  auto layout = std::make_shared<Layout>();
  layout->total = result.num_elements();
  llvm::SmallVector<llvm::SmallVector<int64_t, 6>, 4> strides;
  for (const OperandType& input : inputs)
    strides.push_back(BroadcastStrides(input.sizes, result.sizes));

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
    } else if (inputs[i].num_elements() == 1) {
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

class FusedOperator final : public Operator<CPUContext> {
 public:
  FusedOperator(std::vector<FusedInstruction> instructions, llvm::ArrayRef<DType> inputs,
                std::vector<std::unique_ptr<OperatorBase>> operators,
                const OperatorArguments& arguments)
      : instructions_(std::move(instructions)),
        input_dtypes_(inputs.begin(), inputs.end()),
        operators_(std::move(operators)) {
    AssignBuffers();
    llvm::cantFail(Initialize(arguments, DeviceKind::kCPU));
  }

  llvm::Expected<Preparation> Prepare(const PrepareContext& context) const override {
    Preparation preparation;
    preparation.state = MakeLayout(context.inputs(), context.outputs()[0]);
    const auto& layout = static_cast<const Layout&>(*preparation.state);
    // An output may take the place of a dense input of its element size, which is read for the last
    // time by the instruction that writes the output, or before.
    for (unsigned output = 0; output < context.outputs().size(); ++output) {
      size_t writer = 0;
      while (instructions_[writer].output != static_cast<int>(output)) ++writer;
      for (unsigned input = 0; input < input_dtypes_.size(); ++input) {
        if (context.inputs()[input].num_elements() != layout.total ||
            DTypeSize(input_dtypes_[input]) != DTypeSize(instructions_[writer].dtype) ||
            last_read_[input] > writer)
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
    if (layout.flat) {
      context.ParallelFor(layout.total, kGrain, [&](int64_t begin, int64_t end) {
        RunFlat(layout, inputs, outputs, begin, end);
      });
    } else if (layout.length < kShortRow) {
      context.ParallelFor(layout.total, kGrain, [&](int64_t begin, int64_t end) {
        RunExpanded(layout, inputs, outputs, begin, end);
      });
    } else {
      int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.length));
      context.ParallelFor(
          layout.total == 0 ? 0 : layout.rows, grain,
          [&](int64_t begin, int64_t end) { RunRows(layout, inputs, outputs, begin, end); });
    }
    return llvm::Error::success();
  }

 private:
  /// Gives each instruction whose result stays inside a buffer, reused after its last reader.
  void AssignBuffers() {
    size_t count = instructions_.size();
    std::vector<size_t> last(count);
    last_read_.assign(input_dtypes_.size(), 0);
    for (size_t i = 0; i < count; ++i) {
      last[i] = i;
      for (const FusedInstruction::Operand& operand : instructions_[i].operands)
        (operand.external ? last_read_[operand.index] : last[operand.index]) = i;
    }
    buffer_of_.assign(count, -1);
    int num_buffers = 0;
    std::vector<int> free;
    std::vector<std::vector<int>> ending(count);
    for (size_t i = 0; i < count; ++i) {
      if (instructions_[i].output < 0) {
        if (free.empty()) {
          buffer_of_[i] = num_buffers++;
        } else {
          buffer_of_[i] = free.back();
          free.pop_back();
        }
        ending[last[i]].push_back(buffer_of_[i]);
      }
      // A result never shares a buffer with an operand of its own instruction.
      free.insert(free.end(), ending[i].begin(), ending[i].end());
    }
    if (num_buffers > 0) tile_ = std::min(kMaxTile, kScratchBytes / 8 / num_buffers / 64 * 64);
  }

  /// Runs all instructions over one tile of n elements. `in[k]` is where input k starts, `splat[k]`
  /// whether it is one element; `out[k]` where output k goes.
  void RunTile(const char* const* in, const bool* is_scalar, char* const* out, char* scratch,
               int64_t n) const {
    const void* results[64];
    for (size_t i = 0; i < instructions_.size(); ++i) {
      const FusedInstruction& instruction = instructions_[i];
      void* to = instruction.output >= 0 ? static_cast<void*>(out[instruction.output])
                                         : scratch + buffer_of_[i] * tile_ * 8;
      const void* operands[4];
      unsigned scalars = 0;
      for (size_t j = 0; j < instruction.operands.size(); ++j) {
        const FusedInstruction::Operand& operand = instruction.operands[j];
        operands[j] = operand.external ? in[operand.index] : results[operand.index];
        if (operand.external && is_scalar[operand.index]) scalars |= 1u << j;
      }
      Apply(instruction, operands, scalars, to, n);
      results[i] = to;
    }
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

  void RunFlat(const Layout& layout, llvm::ArrayRef<const Tensor*> inputs,
               llvm::ArrayRef<Tensor*> outputs, int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    char* out[kMaxInputs];
    for (int64_t start = begin; start < end; start += tile_) {
      for (size_t k = 0; k < inputs.size(); ++k) {
        is_scalar[k] = layout.inputs[k].kind == InputAccess::Kind::kScalar;
        in[k] = static_cast<const char*>(inputs[k]->raw()) +
                (is_scalar[k] ? 0 : start * layout.inputs[k].element_size);
      }
      for (size_t k = 0; k < outputs.size(); ++k)
        out[k] = static_cast<char*>(outputs[k]->raw()) + start * DTypeSize(outputs[k]->dtype());
      RunTile(in, is_scalar, out, scratch, std::min(tile_, end - start));
    }
  }

  void RunRows(const Layout& layout, llvm::ArrayRef<const Tensor*> inputs,
               llvm::ArrayRef<Tensor*> outputs, int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    char* out[kMaxInputs];
    llvm::SmallVector<int64_t, 4> index(layout.outer.size());
    int64_t rest = begin;
    for (size_t d = layout.outer.size(); d-- > 0;) {
      index[d] = rest % layout.outer[d];
      rest /= layout.outer[d];
    }
    for (int64_t row = begin; row < end; ++row) {
      const char* row_start[kMaxInputs];
      for (size_t k = 0; k < inputs.size(); ++k) {
        const InputAccess& access = layout.inputs[k];
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d) offset += index[d] * access.outer_strides[d];
        row_start[k] = static_cast<const char*>(inputs[k]->raw()) + offset * access.element_size;
        is_scalar[k] = access.inner_stride == 0;
      }
      for (int64_t start = 0; start < layout.length; start += tile_) {
        for (size_t k = 0; k < inputs.size(); ++k) {
          const InputAccess& access = layout.inputs[k];
          in[k] = row_start[k] + start * access.inner_stride * access.element_size;
        }
        for (size_t k = 0; k < outputs.size(); ++k)
          out[k] = static_cast<char*>(outputs[k]->raw()) +
                   (row * layout.length + start) * DTypeSize(outputs[k]->dtype());
        RunTile(in, is_scalar, out, scratch, std::min(tile_, layout.length - start));
      }
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

  void RunExpanded(const Layout& layout, llvm::ArrayRef<const Tensor*> inputs,
                   llvm::ArrayRef<Tensor*> outputs, int64_t begin, int64_t end) const {
    alignas(64) char scratch[kScratchBytes];
    alignas(64) char expanded[kMaxInputs / 2][kShortRow * 8];
    const char* in[kMaxInputs];
    bool is_scalar[kMaxInputs];
    char* out[kMaxInputs];
    int64_t tile = std::min(tile_, kShortRow);
    for (int64_t start = begin; start < end; start += tile) {
      int64_t n = std::min(tile, end - start);
      for (size_t k = 0; k < inputs.size(); ++k) {
        const InputAccess& access = layout.inputs[k];
        const char* data = static_cast<const char*>(inputs[k]->raw());
        is_scalar[k] = access.kind == InputAccess::Kind::kScalar;
        in[k] = data;
        if (access.kind == InputAccess::Kind::kDense) in[k] += start * access.element_size;
        if (access.kind == InputAccess::Kind::kBroadcast) {
          Expand(layout, access, data, start, n, expanded[k]);
          in[k] = expanded[k];
        }
      }
      for (size_t k = 0; k < outputs.size(); ++k)
        out[k] = static_cast<char*>(outputs[k]->raw()) + start * DTypeSize(outputs[k]->dtype());
      RunTile(in, is_scalar, out, scratch, n);
    }
  }

  std::vector<FusedInstruction> instructions_;
  std::vector<DType> input_dtypes_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;
  std::vector<int> buffer_of_;
  std::vector<size_t> last_read_;
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
