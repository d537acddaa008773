#include "runtime/memory_analysis.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/error.h"
#include "runtime/body.h"

namespace pdl {
namespace {

/// The number of attempts to find sizes for which a network can be planned.
constexpr unsigned kAttempts = 7;

struct DimHash {
  size_t operator()(const Dim& dim) const { return dim.Hash(); }
};

Dim BytesOf(const Type& type) {
  return Dim(static_cast<int64_t>(DTypeSize(type.dtype))) * NumElements(type.dims);
}

/// The Dims of a set none of which is provably at most another one, with their steps. Sizes of 0 do
/// not count: their values need no memory, so that constants would remain as terms.
class Maximum {
 public:
  struct Entry {
    Dim bytes;
    uint32_t step;
  };

  void Add(const Dim& bytes, uint32_t step) {
    if (!seen_.insert(bytes).second) return;
    for (const Entry& entry : entries_)
      if (IsAtLeast(entry.bytes, bytes)) return;
    llvm::erase_if(entries_, [&](const Entry& entry) { return IsAtLeast(bytes, entry.bytes); });
    entries_.push_back({bytes, step});
  }
  llvm::ArrayRef<Entry> entries() const { return entries_; }

 private:
  /// Whether a >= b for all sizes of symbols from 1 on.
  static bool IsAtLeast(const Dim& a, const Dim& b) {
    // Bounds are known for symbols from 0 on.
    const Dim difference = (a - b).Substitute(
        [](llvm::StringRef symbol) { return std::optional(Dim::Symbol(symbol) + 1); });
    return difference.is_valid() && difference.ProvablyAtLeast(0);
  }

  std::unordered_set<Dim, DimHash> seen_;
  std::vector<Entry> entries_;
};

/// The buffers of the arena and their lifetimes. A value that overwrites another one in place is in
/// the same buffer.
class Buffers {
 public:
  Buffers(const Schedule& schedule, const Binding& binding)
      : schedule_(schedule), binding_(binding), steps_(schedule.steps.size()) {
    const size_t count = schedule.slots.size();
    last_.assign(count, 0);
    buffer_of_.resize(count);
    for (SlotId slot = 0; slot < count; ++slot) buffer_of_[slot] = slot;
    for (const Step& step : schedule.steps)
      for (SlotId slot : step.outputs)
        if (auto victim = binding.placements[slot].overwrites)
          buffer_of_[slot] = buffer_of_[*victim];
    for (SlotId slot = 0; slot < count; ++slot) {
      const Slot& used = schedule.slots[slot];
      const SlotId buffer = buffer_of_[binding.placements[slot].root];
      const auto last = used.needed_at_end ? static_cast<uint32_t>(steps_.size()) : used.last_step;
      last_[buffer] = std::max(last_[buffer], last);
    }
    for (SlotId slot = 0; slot < count; ++slot) {
      if (!IsInArena(slot) || buffer_of_[slot] != slot || steps_.empty()) continue;
      steps_[FirstStepOf(slot)].begin.push_back(slot);
      if (last_[slot] < steps_.size()) steps_[last_[slot]].end.push_back(slot);
    }
  }

  /// Whether the values that share a buffer have equal bytes for all sizes.
  bool ShareForAllSizes() const {
    for (SlotId slot = 0; slot < buffer_of_.size(); ++slot) {
      const SlotId buffer = buffer_of_[binding_.placements[slot].root];
      if (buffer != slot && BytesOf(slot) != BytesOf(buffer)) return false;
    }
    return true;
  }

  /// The steps with the most bytes.
  Maximum Peaks() const {
    Maximum peaks;
    Dim live = 0;
    for (uint32_t s = 0; s < steps_.size(); ++s) {
      for (SlotId slot : steps_[s].begin) live = live + BytesOf(slot);
      peaks.Add(live, s);
      for (SlotId slot : steps_[s].end) live = live - BytesOf(slot);
    }
    return peaks;
  }

  /// The values in the arena during a step, in order of their slots.
  std::vector<SlotId> LiveAt(uint32_t step) const {
    std::vector<SlotId> live;
    llvm::DenseMap<SlotId, size_t> index;  // by buffer
    for (SlotId slot = 0; slot < buffer_of_.size(); ++slot) {
      const SlotId buffer = buffer_of_[slot];
      if (!IsInArena(slot) || FirstStepOf(slot) > step || last_[buffer] < step) continue;
      auto [entry, is_new] = index.try_emplace(buffer, live.size());
      if (is_new) {
        live.push_back(slot);
      } else if (FirstStepOf(live[entry->second]) < FirstStepOf(slot)) {
        live[entry->second] = slot;
      }
    }
    llvm::sort(live);
    return live;
  }

  Dim BytesOf(SlotId slot) const { return pdl::BytesOf(schedule_.slots[slot].value->type()); }

 private:
  struct StepBuffers {
    llvm::SmallVector<SlotId, 2> begin, end;
  };

  bool IsInArena(SlotId slot) const {
    const Placement& placement = binding_.placements[slot];
    return placement.kind == Placement::Kind::kArena && placement.root == slot;
  }
  /// An input that is copied to the arena of a device is there from the beginning.
  uint32_t FirstStepOf(SlotId slot) const {
    const Slot& value = schedule_.slots[slot];
    return value.kind == SlotKind::kResult ? value.first_step : 0;
  }

  const Schedule& schedule_;
  const Binding& binding_;
  std::vector<SlotId> buffer_of_;  // by slot: the first value in the buffer
  std::vector<uint32_t> last_;     // by buffer; the number of steps: until the end
  std::vector<StepBuffers> steps_;
};

/// Whether all sizes that are not constants are greater than 1.
bool AreGeneric(const Schedule& schedule, SymbolLookup lookup) {
  return llvm::all_of(schedule.dims, [&](const Dim& dim) {
    if (dim.is_constant()) return true;
    llvm::Expected<int64_t> size = dim.Evaluate(lookup);
    if (size) return *size > 1;
    llvm::consumeError(size.takeError());
    return false;
  });
}

std::string CallsOf(const Step& step) {
  std::string calls;
  for (const Op* op : step.calls) calls += (calls.empty() ? "" : ", ") + op->type();
  return calls;
}

MemoryPeak PeakOf(const Graph& graph, const Schedule& schedule, const Buffers& buffers,
                  const Maximum::Entry& entry) {
  const Step& step = schedule.steps[entry.step];
  MemoryPeak peak{entry.bytes,
                  entry.step,
                  CallsOf(step),
                  graph.LocationToString(step.calls.front()->location()),
                  {}};
  for (SlotId slot : buffers.LiveAt(entry.step)) {
    const Value& value = *schedule.slots[slot].value;
    LiveValue live{value.name(), value.type().ToString(), "input", "", buffers.BytesOf(slot)};
    if (const Op* producer = value.producer()) {
      live.call = producer->type();
      live.location = graph.LocationToString(producer->location());
    }
    peak.values.push_back(std::move(live));
  }
  return peak;
}

/// The body of a loop that a step runs, or null.
const BodyState* BodyOf(const Binding::Call& call) {
  return dynamic_cast<const BodyState*>(call.state.get());
}

/// Analyzes a Schedule for generic sizes, and adds its part and those of the bodies in it.
class Analysis {
 public:
  explicit Analysis(DeviceContext& context) : context_(context) {}

  /// Returns false if values share memory that do not share it for all sizes.
  llvm::Expected<bool> Add(const Graph& graph, const Schedule& schedule, const Binding& binding,
                           std::string title) {
    const Buffers buffers(schedule, binding);
    if (!buffers.ShareForAllSizes()) return false;
    MemoryPart part;
    part.title = std::move(title);
    const Maximum peaks = buffers.Peaks();
    for (const Maximum::Entry& entry : peaks.entries()) {
      if (!entry.bytes.is_valid())
        return MakeUserError(Code::kMemoryLimit,
                             "the bytes of live values exceed the range of 64-bit integers");
      part.peaks.push_back(PeakOf(graph, schedule, buffers, entry));
    }
    if (!schedule.is_body) {
      for (const Schedule::Output& output : schedule.outputs)
        part.outputs = part.outputs + buffers.BytesOf(output.slot);
      for (size_t i = 0; i < schedule.updates.size(); ++i)
        if (!binding.overwrites[i])
          part.new_states = part.new_states + buffers.BytesOf(schedule.updates[i].slot);
    }
    parts.push_back(std::move(part));
    schedules_.push_back(&schedule);
    for (size_t s = 0; s < schedule.steps.size(); ++s) {
      const BodyState* state = BodyOf(binding.calls[s]);
      if (state == nullptr) continue;
      llvm::Expected<bool> added = AddBody(*schedule.steps[s].calls.front(), *state);
      if (!added || !*added) return added;
    }
    return true;
  }

  /// Describes the plan for the given sizes of a Schedule that was added, and of the bodies in it.
  llvm::Error AddPlanned(const Schedule& schedule, const Binding& binding) {
    const auto index = llvm::find(schedules_, &schedule) - schedules_.begin();
    PlannedMemory& planned = parts[static_cast<size_t>(index)].planned.emplace();
    planned = {binding.value_bytes, binding.live_bytes, binding.arena_bytes, 0};
    for (const Binding::Call& call : binding.calls) {
      planned.workspace = std::max(planned.workspace, call.workspace_bytes);
      const BodyState* state = BodyOf(call);
      if (state == nullptr) continue;
      llvm::Expected<std::shared_ptr<Binding>> body = state->body->Bind(state->sizes, context_);
      if (!body) return body.takeError();
      if (llvm::Error error = AddPlanned(state->body->schedule(), **body)) return error;
    }
    return llvm::Error::success();
  }

  std::vector<MemoryPart> parts;

 private:
  llvm::Expected<bool> AddBody(const Op& loop, const BodyState& state) {
    llvm::Expected<std::shared_ptr<Binding>> binding = state.body->Bind(state.sizes, context_);
    if (!binding) return binding.takeError();
    return Add(state.body->graph(), state.body->schedule(), **binding,
               "body of " + loop.type() + " '" + loop.result()->name() + "'");
  }

  DeviceContext& context_;
  std::vector<const Schedule*> schedules_;  // by part
};

llvm::Expected<std::shared_ptr<Binding>> BindSizes(const Schedule& schedule, DeviceContext& context,
                                                   PackCache& packs,
                                                   const llvm::StringMap<int64_t>& sizes) {
  return Binding::Make(schedule, context, packs, [&](llvm::StringRef symbol) {
    auto found = sizes.find(symbol);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  });
}

/// Sets the sizes of symbols that a check requires to be a constant.
void SetRequiredSizes(const Schedule& schedule, llvm::StringMap<int64_t>* sizes) {
  for (const Schedule::Check& each : schedule.checks) {
    const DimCheck& check = *each.check;
    if (check.relation == DimCheck::Relation::kEqual && !check.left.symbol().empty() &&
        check.right.is_constant())
      (*sizes)[check.left.symbol()] = check.right.constant();
  }
}

/// Adds the parts for the first generic sizes for which the network can be planned. `given` sizes
/// are used only if the network cannot be planned without.
llvm::Error AnalyzeGeneric(const Graph& graph, const Schedule& schedule, PackCache& packs,
                           const llvm::StringMap<int64_t>& given, DeviceContext& context,
                           std::optional<Analysis>* result) {
  std::string reason;
  for (unsigned attempt = 0; attempt < (given.empty() ? 1 : 2) * kAttempts; ++attempt) {
    llvm::StringMap<int64_t> sizes = GenericSizes(schedule.symbols, attempt % kAttempts);
    if (attempt >= kAttempts)
      for (const auto& entry : given) sizes[entry.first()] = entry.second;
    SetRequiredSizes(schedule, &sizes);
    auto lookup = [&](llvm::StringRef symbol) { return std::optional(sizes.lookup(symbol)); };
    if (!AreGeneric(schedule, lookup)) continue;
    llvm::Expected<std::shared_ptr<Binding>> binding = BindSizes(schedule, context, packs, sizes);
    if (!binding) {
      reason = ": " + llvm::toString(binding.takeError());
      continue;
    }
    Analysis analysis(context);
    llvm::Expected<bool> added = analysis.Add(graph, schedule, **binding, "");
    if (!added) return added.takeError();
    if (!*added) continue;
    result->emplace(std::move(analysis));
    return llvm::Error::success();
  }
  return MakeUserError(Code::kSizeCheck,
                       "found no sizes of {0} for which the network can be planned; give some that "
                       "are greater than 1: --size {1}=...{2}",
                       llvm::join(schedule.symbols, ", "),
                       schedule.symbols.empty() ? "N" : schedule.symbols.front(), reason);
}

}  // namespace

llvm::StringMap<int64_t> GenericSizes(llvm::ArrayRef<std::string> symbols, unsigned attempt) {
  constexpr std::array kPrimes = {7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
  llvm::StringMap<int64_t> sizes;
  for (size_t i = 0; i < symbols.size(); ++i) {
    // With more symbols than primes, the further sizes have two prime factors.
    int64_t size = kPrimes[i % kPrimes.size()];
    for (size_t rest = i / kPrimes.size(); rest > 0; rest /= kPrimes.size())
      size *= kPrimes[rest % kPrimes.size()];
    sizes[symbols[i]] = size << attempt;
  }
  return sizes;
}

Dim BytesOfSlots(const Schedule& schedule, llvm::ArrayRef<SlotKind> kinds) {
  Dim bytes = 0;
  for (const Slot& slot : schedule.slots)
    if (llvm::is_contained(kinds, slot.kind)) bytes = bytes + BytesOf(slot.value->type());
  return bytes;
}

llvm::Expected<std::vector<MemoryPart>> AnalyzeMemory(const Graph& graph, const Schedule& schedule,
                                                      DeviceContext& context, PackCache& packs,
                                                      const llvm::StringMap<int64_t>& given) {
  std::optional<Analysis> analysis;
  if (llvm::Error error = AnalyzeGeneric(graph, schedule, packs, given, context, &analysis))
    return error;
  const bool has_sizes = llvm::all_of(
      schedule.symbols, [&](const std::string& symbol) { return given.contains(symbol); });
  if (!has_sizes) return std::move(analysis->parts);
  llvm::Expected<std::shared_ptr<Binding>> binding = BindSizes(schedule, context, packs, given);
  if (!binding) return binding.takeError();
  if (llvm::Error error = analysis->AddPlanned(schedule, **binding)) return error;
  return std::move(analysis->parts);
}

}  // namespace pdl
