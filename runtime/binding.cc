#include "runtime/binding.h"

#include <algorithm>
#include <map>
#include <new>

#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/trace.h"
#include "pdl/op/error.h"
#include "runtime/arena.h"
#include "runtime/call_error.h"
#include "runtime/evaluator.h"
#include "runtime/frame.h"
#include "runtime/io/file.h"
#include "runtime/memory.h"
#include "runtime/prepare_call.h"
#include "runtime/saturating.h"

namespace pdl {
namespace {

/// An upper bound for the size of a tensor in any process.
constexpr int64_t kAddressSpace = int64_t{1} << 47;

/// Returns the tensor of a slot that is the same in every run.
using FixedValueOf = llvm::function_ref<llvm::Expected<Tensor>(SlotId)>;

class StepPrepareContext final : public PrepareContext {
 public:
  StepPrepareContext(const Schedule& schedule, const Step& step,
                     llvm::ArrayRef<OperandType> all_types, DeviceContext& device, PackCache& packs,
                     SymbolLookup lookup, FixedValueOf fixed_value)
      : schedule_(schedule),
        step_(step),
        device_(device),
        packs_(packs),
        lookup_(lookup),
        fixed_value_(fixed_value) {
    for (SlotId slot : step.inputs) inputs_.push_back(all_types[slot]);
    for (SlotId slot : step.outputs) outputs_.push_back(all_types[slot]);
  }

  llvm::ArrayRef<OperandType> inputs() const override { return inputs_; }
  llvm::ArrayRef<OperandType> outputs() const override { return outputs_; }
  DeviceContext& device() const override { return device_; }
  llvm::Expected<int64_t> Evaluate(const Dim& dim) const override { return dim.Evaluate(lookup_); }
  bool is_constant(unsigned index) const override {
    const Slot& slot = schedule_.slots[step_.inputs[index]];
    return slot.kind == SlotKind::kConstant ||
           (slot.kind == SlotKind::kParameter && slot.fixed.tensor.raw() != nullptr);
  }
  llvm::Expected<Tensor> ConstantValue(unsigned index) const override {
    return fixed_value_(step_.inputs[index]);
  }
  llvm::Expected<std::shared_ptr<const void>> Pack(unsigned index, llvm::StringRef layout,
                                                   PackFunction pack) const override {
    const SlotId slot = step_.inputs[index];
    auto value = [&] { return fixed_value_(slot); };
    return packs_.Get(schedule_.slots[slot].fixed, inputs_[index], layout, value, pack);
  }
  DType matmul_precision() const override { return schedule_.matmul_precision; }

 private:
  const Schedule& schedule_;
  const Step& step_;
  DeviceContext& device_;
  PackCache& packs_;
  SymbolLookup lookup_;
  FixedValueOf fixed_value_;
  llvm::SmallVector<OperandType, 4> inputs_;
  llvm::SmallVector<OperandType, 2> outputs_;
};

/// Computes one Binding.
class Binder {
 public:
  Binder(const Schedule& schedule, Binding& binding, DeviceContext& context, PackCache& packs,
         SymbolLookup lookup)
      : schedule_(schedule), binding_(binding), context_(context), packs_(packs), lookup_(lookup) {}

  llvm::Error Bind() {
    // The checks explain why a size would be negative.
    if (llvm::Error error = CheckSizes()) return error;
    if (llvm::Error error = EvaluateSizes()) return error;
    if (llvm::Error error = CheckTensors()) return error;
    if (llvm::Error error = PrepareSteps()) return error;
    Place();
    return CheckMemory();
  }

 private:
  llvm::Error EvaluateSizes() {
    std::vector<int64_t> sizes;
    sizes.reserve(schedule_.dims.size());
    std::map<uint32_t, std::string> failed;  // messages, by dim
    for (const Dim& dim : schedule_.dims) {
      llvm::Expected<int64_t> size = dim.Evaluate(lookup_);
      if (!size) failed[static_cast<uint32_t>(sizes.size())] = llvm::toString(size.takeError());
      sizes.push_back(size ? *size : 0);
    }
    binding_.types.reserve(schedule_.slots.size());
    for (const Slot& slot : schedule_.slots) {
      OperandType& type = binding_.types.emplace_back();
      type.dtype = slot.dtype;
      for (uint32_t dim : slot.dims) type.sizes.push_back(sizes[dim]);
      llvm::Expected<int64_t> bytes = CheckedNumBytes(type.dtype, type.sizes);
      for (uint32_t dim : slot.dims)
        if (const auto found = failed.find(dim); bytes && found != failed.end())
          bytes = MakeUserError(Code::kSizeCheck, "{0}", found->second);
      if (!bytes && slot.kind == SlotKind::kResult)
        return AboutCall(schedule_.steps[slot.first_step].op->arguments(), bytes.takeError());
      if (!bytes)
        return MakeUserError(Code::kSizeCheck, "'{0}': {1}", slot.value->name(),
                             llvm::toString(bytes.takeError()));
      bytes_.push_back(*bytes);
    }
    return llvm::Error::success();
  }

  llvm::Error CheckSizes() {
    for (const Schedule::Check& check : schedule_.checks)
      if (llvm::Error error = CheckSize(check, lookup_)) return error;
    return llvm::Error::success();
  }

  /// Runs before steps are prepared, because preparing a step for impossible sizes may take much
  /// time and memory.
  llvm::Error CheckTensors() const {
    if (schedule_.device.kind != DeviceKind::kCPU) return llvm::Error::success();
    // Inputs may be mapped files, which the limit does not include.
    const int64_t limit = std::min(MemoryLimit(), kAddressSpace);
    for (SlotId slot = 0; slot < bytes_.size(); ++slot)
      if (schedule_.slots[slot].kind != SlotKind::kResult && bytes_[slot] > kAddressSpace)
        return TooLarge("at least ", bytes_[slot]);
    for (const Step& step : schedule_.steps) {
      for (SlotId slot : step.outputs) {
        if (bytes_[slot] <= limit) continue;
        // A result that aliases an operand is counted at most once.
        const bool may_alias =
            llvm::any_of(step.inputs, [&](SlotId input) { return bytes_[input] >= bytes_[slot]; });
        if (!may_alias) return TooLarge("at least ", bytes_[slot]);
      }
    }
    return llvm::Error::success();
  }

  llvm::Error PrepareSteps() {
    preparations_.resize(schedule_.steps.size());
    binding_.calls.reserve(schedule_.steps.size());
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      const Step& step = schedule_.steps[s];
      Binding::Call call{step.op.get(), nullptr, 0, 0, false};
      // Skips steps without elements, so kernels need not handle empty results.
      call.skip = !step.op->def().properties().has_side_effect && !step.outputs.empty() &&
                  llvm::all_of(step.outputs, [&](SlotId slot) { return bytes_[slot] == 0; });
      if (!call.skip) {
        auto fixed_value = [&](SlotId slot) { return FixedValueOfSlot(slot); };
        StepPrepareContext context(schedule_, step, binding_.types, context_, packs_, lookup_,
                                   fixed_value);
        llvm::Expected<Preparation> preparation = PrepareCall(*step.op, context);
        if (!preparation) return AboutCall(step.op->arguments(), preparation.takeError());
        for (unsigned i = 0; i < step.inputs.size(); ++i)
          if (!llvm::is_contained(preparation->packed, i))
            if (llvm::Error error = KeepDeferred(step.inputs[i])) return error;
        computed_.clear();
        call.state = preparation->state;
        call.workspace_bytes = preparation->workspace_bytes;
        call.skip = preparation->aliases.size() == step.outputs.size();
        call.matmul_precision = preparation->matmul_precision;
        preparations_[s] = std::move(*preparation);
      }
      binding_.calls.push_back(std::move(call));
    }
    for (SlotId slot = 0; slot < schedule_.slots.size(); ++slot)
      if (schedule_.slots[slot].needed_at_end)
        if (llvm::Error error = KeepDeferred(slot)) return error;
    return llvm::Error::success();
  }

  /// The tensor of a slot that is the same in every run. A deferred one is kept until the end of a
  /// step's preparation.
  llvm::Expected<Tensor> FixedValueOfSlot(SlotId slot) {
    const FixedValue& fixed = schedule_.slots[slot].fixed;
    if (!fixed.deferred) return fixed.tensor;
    if (const auto found = computed_.find(slot); found != computed_.end()) return found->second;
    llvm::Expected<Tensor> tensor = fixed.deferred->Get(context_);
    if (!tensor) return tensor;
    return computed_[slot] = std::move(*tensor);
  }

  /// Keeps the value of a slot, if it is deferred, since a run reads it.
  llvm::Error KeepDeferred(SlotId slot) {
    const FixedValue& fixed = schedule_.slots[slot].fixed;
    if (!fixed.deferred || binding_.kept.count(slot) > 0) return llvm::Error::success();
    llvm::Expected<Tensor> tensor = FixedValueOfSlot(slot);
    if (!tensor) return tensor.takeError();
    binding_.kept[slot] = fixed.deferred->Keep(std::move(*tensor));
    return llvm::Error::success();
  }

  void Place() {
    size_t count = schedule_.slots.size();
    binding_.placements.resize(count);
    for (SlotId slot = 0; slot < count; ++slot) binding_.placements[slot].root = slot;
    // Outputs that alias inputs share their memory, through any number of aliases.
    for (size_t s = 0; s < schedule_.steps.size(); ++s)
      for (auto [output, input] : preparations_[s].aliases)
        binding_.placements[schedule_.steps[s].outputs[output]].root =
            binding_.placements[schedule_.steps[s].inputs[input]].root;
    last_use_.assign(count, 0);
    at_end_.assign(count, false);
    for (SlotId slot = 0; slot < count; ++slot) {
      SlotId root = binding_.placements[slot].root;
      last_use_[root] = std::max(last_use_[root], schedule_.slots[slot].last_step);
      at_end_[root] = at_end_[root] || schedule_.slots[slot].needed_at_end;
    }
    PlaceSources();
    if (schedule_.device.kind == DeviceKind::kCPU || schedule_.is_body) PlaceOutputs();
    PlaceUpdates();
    for (uint32_t s = 0; s < schedule_.steps.size(); ++s) PlaceStep(s);
    SetOffsets();
    binding_.arena_bytes = arena_.size();
    binding_.live_bytes = arena_.peak();
    for (SlotId slot = 0; slot < count; ++slot) {
      Placement& placement = binding_.placements[slot];
      if (placement.root != slot) {
        SlotId root = placement.root;
        placement = binding_.placements[root];
        placement.root = root;
      }
    }
  }

  /// Replaces the indices of buffers by their offsets.
  void SetOffsets() {
    arena_.Finish();
    auto offset_of = [&](int64_t buffer) { return arena_.OffsetOf(static_cast<size_t>(buffer)); };
    for (SlotId slot = 0; slot < binding_.placements.size(); ++slot) {
      Placement& placement = binding_.placements[slot];
      if (placement.kind == Placement::Kind::kArena && placement.root == slot)
        placement.offset = offset_of(placement.offset);
    }
    for (Binding::Call& call : binding_.calls)
      if (call.workspace_bytes > 0) call.workspace_offset = offset_of(call.workspace_offset);
  }

  void PlaceSources() {
    for (SlotId slot = 0; slot < schedule_.slots.size(); ++slot) {
      Placement& placement = binding_.placements[slot];
      const Slot& source = schedule_.slots[slot];
      switch (source.kind) {
        case SlotKind::kConstant:
          placement.kind = Placement::Kind::kFixed;
          break;
        case SlotKind::kParameter:
          placement.kind =
              source.fixed.tensor.raw() ? Placement::Kind::kFixed : Placement::Kind::kGiven;
          break;
        case SlotKind::kInput:
          // For other devices an input is copied to a buffer in the arena.
          placement.kind = schedule_.device.kind == DeviceKind::kCPU || schedule_.is_body
                               ? Placement::Kind::kGiven
                               : Placement::Kind::kArena;
          if (placement.kind == Placement::Kind::kArena) Take(slot);
          break;
        case SlotKind::kState:
          placement.kind = Placement::Kind::kGiven;
          break;
        case SlotKind::kResult:
          break;
      }
    }
  }

  /// Steps write outputs of a run directly to the caller's tensors.
  void PlaceOutputs() {
    for (size_t i = 0; i < schedule_.outputs.size(); ++i) {
      SlotId slot = schedule_.outputs[i].slot;
      Placement& root = binding_.placements[binding_.placements[slot].root];
      binding_.output_bytes = SaturatingSum({binding_.output_bytes, bytes_[slot]});
      if (schedule_.slots[root.root].kind != SlotKind::kResult ||
          root.kind == Placement::Kind::kOutput)
        continue;
      root.kind = Placement::Kind::kOutput;
      root.offset = static_cast<int64_t>(i);
    }
  }

  /// In-place updates write directly to the new tensor of the state.
  void PlaceUpdates() {
    binding_.overwrites.assign(schedule_.updates.size(), false);
    for (size_t i = 0; i < schedule_.updates.size(); ++i) {
      const Schedule::Update& update = schedule_.updates[i];
      Placement& placement = binding_.placements[update.slot];
      if (!update.storing_step || placement.root != update.slot) continue;
      placement.kind = Placement::Kind::kUpdate;
      placement.offset = static_cast<int64_t>(i);
      binding_.overwrites[i] = MayOverwrite(update);
    }
  }

  /// Whether the step may overwrite the state that it reads: no other in-place update may read it.
  bool MayOverwrite(const Schedule::Update& update) const {
    const Step& step = schedule_.steps[*update.storing_step];
    auto root_of = [&](SlotId slot) { return binding_.placements[slot].root; };
    auto is_state = [&](SlotId slot) {
      return schedule_.slots[root_of(slot)].value == update.state;
    };
    for (size_t s = schedule_.first_storing_step; s < schedule_.steps.size(); ++s) {
      const auto reads = llvm::count_if(schedule_.steps[s].inputs, is_state);
      if (reads != (s == *update.storing_step ? 1 : 0)) return false;
    }
    const auto output =
        static_cast<unsigned>(llvm::find(step.outputs, update.slot) - step.outputs.begin());
    return llvm::any_of(preparations_[*update.storing_step].in_place, [&](auto pair) {
      return pair.first == output && is_state(step.inputs[pair.second]);
    });
  }

  void PlaceStep(uint32_t s) {
    const Step& step = schedule_.steps[s];
    const Preparation& preparation = preparations_[s];
    llvm::SmallVector<SlotId, 2> reused;
    for (unsigned i = 0; i < step.outputs.size(); ++i) {
      SlotId slot = step.outputs[i];
      Placement& placement = binding_.placements[slot];
      if (placement.root != slot) continue;
      binding_.unshared_bytes = SaturatingSum({binding_.unshared_bytes, bytes_[slot]});
      if (placement.kind == Placement::Kind::kOutput || placement.kind == Placement::Kind::kUpdate)
        continue;
      placement.kind = Placement::Kind::kArena;
      std::optional<SlotId> victim = InPlaceVictim(step, preparation, s, i, reused);
      if (victim) {
        placement.offset = binding_.placements[*victim].offset;
        placement.overwrites = victim;
        reused.push_back(*victim);
      } else {
        Take(slot);
      }
    }
    if (preparation.workspace_bytes > 0) {
      const size_t buffer = arena_.Take(preparation.workspace_bytes);
      binding_.calls[s].workspace_offset = static_cast<int64_t>(buffer);
      arena_.GiveBack(buffer);
    }
    // Free buffers after their last use; those of unused results, too.
    llvm::SmallVector<SlotId, 8> touched(step.inputs.begin(), step.inputs.end());
    touched.append(step.outputs.begin(), step.outputs.end());
    for (SlotId& slot : touched) slot = binding_.placements[slot].root;
    llvm::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (SlotId root : touched)
      if (Dies(root, s) && !llvm::is_contained(reused, root)) GiveBack(root);
  }

  /// The offset of a placement is the index of its buffer until SetOffsets.
  void Take(SlotId slot) {
    binding_.placements[slot].offset = static_cast<int64_t>(arena_.Take(bytes_[slot]));
    value_bytes_ = SaturatingSum({value_bytes_, bytes_[slot]});
    binding_.value_bytes = std::max(binding_.value_bytes, value_bytes_);
  }

  void GiveBack(SlotId root) {
    arena_.GiveBack(static_cast<size_t>(binding_.placements[root].offset));
    value_bytes_ -= bytes_[root];
  }

  bool Dies(SlotId root, uint32_t step) const {
    return binding_.placements[root].kind == Placement::Kind::kArena && last_use_[root] == step &&
           !at_end_[root];
  }

  std::optional<SlotId> InPlaceVictim(const Step& step, const Preparation& preparation, uint32_t s,
                                      unsigned output, llvm::ArrayRef<SlotId> reused) const {
    for (auto [candidate, input] : preparation.in_place) {
      if (candidate != output) continue;
      SlotId root = binding_.placements[step.inputs[input]].root;
      auto reads = llvm::count_if(
          step.inputs, [&](SlotId other) { return binding_.placements[other].root == root; });
      if (reads == 1 && Dies(root, s) && !llvm::is_contained(reused, root) &&
          bytes_[root] == bytes_[step.outputs[output]])
        return root;
    }
    return std::nullopt;
  }

  llvm::Error CheckMemory() {
    if (schedule_.device.kind != DeviceKind::kCPU) return llvm::Error::success();
    const int64_t needed = SaturatingSum({binding_.arena_bytes, binding_.output_bytes});
    return needed <= MemoryLimit() ? llvm::Error::success() : TooLarge("", needed);
  }

  llvm::Error TooLarge(const char* at_least, int64_t needed) const {
    SlotId largest = 0;
    for (SlotId slot = 0; slot < bytes_.size(); ++slot)
      if (bytes_[slot] > bytes_[largest]) largest = slot;
    const OperandType& type = binding_.types[largest];
    return MakeUserError(Code::kMemoryLimit,
                         "a run with these sizes needs {0}{1}, but the limit is {2}; the largest "
                         "tensor is '{3}': {4}",
                         at_least, BytesToString(needed), BytesToString(MemoryLimit()),
                         schedule_.slots[largest].value->name(),
                         TensorTypeToString(type.dtype, type.sizes));
  }

  const Schedule& schedule_;
  Binding& binding_;
  DeviceContext& context_;
  PackCache& packs_;
  SymbolLookup lookup_;
  ArenaLayout arena_;
  int64_t value_bytes_ = 0;     // of the live values in the arena
  std::vector<int64_t> bytes_;  // by slot
  std::vector<Preparation> preparations_;
  std::map<SlotId, Tensor> computed_;  // deferred constants that the current step has asked for
  std::vector<uint32_t> last_use_;     // by root
  std::vector<bool> at_end_;           // by root
};

}  // namespace

llvm::Expected<std::shared_ptr<const void>> PackCache::Get(
    const FixedValue& weight, const OperandType& type, llvm::StringRef layout,
    llvm::function_ref<llvm::Expected<Tensor>()> value, PrepareContext::PackFunction pack) {
  std::string key = weight.key ? llvm::formatv("result {0}: ", *weight.key).str()
                               : llvm::formatv("memory {0}: ", weight.tensor.raw()).str();
  // Weights of several types may share memory, such as the parts of a larger weight.
  key += TensorTypeToString(type.dtype, type.sizes) + " " + layout.str();
  std::lock_guard lock(mutex_);
  if (auto found = packed_.find(key); found != packed_.end()) return found->second;
  llvm::Expected<Tensor> tensor = value();
  if (!tensor) return tensor.takeError();
  llvm::Expected<std::shared_ptr<const void>> packed = pack(*tensor);
  if (!packed) return packed.takeError();
  packed_[key] = *packed;
  // Most kernels read nothing but the packed form.
  ReleaseFilePages(*tensor);
  return *packed;
}

llvm::Expected<std::shared_ptr<Binding>> Binding::Make(const Schedule& schedule,
                                                       DeviceContext& context, PackCache& packs,
                                                       SymbolLookup lookup) {
  const TraceSpan span("bind sizes");
  std::shared_ptr<Binding> binding(new Binding(schedule));
  if (llvm::Error error = Binder(schedule, *binding, context, packs, lookup).Bind()) return error;
  return binding;
}

Binding::Binding(const Schedule& schedule_in) : schedule(schedule_in) {}
Binding::~Binding() = default;

const void* Binding::FixedData(SlotId slot) const {
  const FixedValue& fixed = schedule.slots[slot].fixed;
  if (!fixed.deferred) return fixed.tensor.raw();
  const auto found = kept.find(slot);
  return found == kept.end() ? nullptr : found->second.raw();
}

std::unique_ptr<Frame> Binding::TakeFrame() {
  return frames_.Take([](Frame& frame) { return frame.TakeArena(); });
}

void Binding::GiveBack(std::unique_ptr<Frame> frame) {
  frame->GiveBackArena();
  frames_.GiveBack(std::move(frame));
}

}  // namespace pdl
