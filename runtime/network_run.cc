#include "runtime/network_run.h"

#include <cstring>

#include "ir/passes/segments.h"
#include "ir/trace/recorder.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/runtime/run_observer.h"
#include "runtime/find_inputs.h"
#include "runtime/memory.h"

namespace pdl {
namespace {

bool Crosses(llvm::StringRef output) { return output.starts_with(kCrossing); }

/// Records the lifetime of this object for the active Trace, and the memory in use at both ends.
class TracedRun {
 public:
  explicit TracedRun(llvm::StringRef name) : name_(name) {
    if (ActiveTrace() != 0) begin_ = Mark();
  }
  ~TracedRun() {
    if (begin_ != 0) Record(TraceEvent::kRun, NameToTrace(name_), begin_, Mark());
  }
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

 private:
  static uint64_t Mark() {
    const uint64_t now = TraceClock();
    Record(TraceEvent::kMemory, 0, now, static_cast<uint64_t>(HostMemoryInUse()));
    return now;
  }
  llvm::StringRef name_;
  uint64_t begin_ = 0;
};

}  // namespace

NetworkRun::NetworkRun(ChosenPlan chosen, Scope& scope, SegmentData* data, DeviceContext& context,
                       WeightStore& weights, const PackedInputs& packed)
    : chosen_(std::move(chosen)),
      plan_(*chosen_.made->plan),
      schedule_(plan_.schedule()),
      scope_(scope),
      data_(data),
      context_(context),
      weights_(weights),
      packed_(packed) {}

NetworkRun::~NetworkRun() {
  if (frame_) binding_->GiveBack(std::move(frame_));
  if (is_stored_) return;
  for (Variable* state : new_states_) state->Clear();
  for (llvm::StringRef output : new_outputs_) scope_.Erase(output);
}

llvm::Error NetworkRun::Compute(PackCache& packs, uint64_t seed, const RunOptions& run) {
  if (!schedule_.steps.empty())
    if (llvm::Error error = schedule_.steps[0].op->CheckContext(&context_)) return error;
  const Scope& sources = data_ ? data_->values : scope_;
  if (llvm::Error error = FindInputs(schedule_, packed_, sources, context_.device(), &inputs_))
    return error;
  llvm::Expected<std::vector<int64_t>> sizes =
      plan_.SymbolSizes(inputs_, data_ ? &data_->sizes : nullptr);
  if (!sizes) return sizes.takeError();
  sizes_ = std::move(*sizes);
  if (llvm::Error error = CheckChoice()) return error;
  if (llvm::Error error = FindStates()) return error;
  llvm::Expected<std::shared_ptr<Binding>> binding = plan_.Bind(sizes_, context_, packs);
  if (!binding) return binding.takeError();
  binding_ = std::move(*binding);
  frame_ = binding_->TakeFrame();
  if (!frame_) {
    llvm::Expected<std::unique_ptr<Frame>> made = Frame::Make(*binding_, context_, plan_.arenas());
    if (!made) return made.takeError();
    frame_ = std::move(*made);
  }
  if (llvm::Error error = RunFrame(seed, run)) return error;
  if (data_) PassOn();
  return llvm::Error::success();
}

/// Checks that the sizes that selected the Plan are those of the run: an input that the run does
/// not need may have had other sizes.
llvm::Error NetworkRun::CheckChoice() {
  for (size_t i = 0; i < chosen_.sizes.size(); ++i) {
    std::optional<int64_t> size = plan_.SizeOf(chosen_.symbols[i], sizes_);
    if (size && chosen_.sizes[i] >= 0 && *size != chosen_.sizes[i])
      return MakeUserError(Code::kSymbolConflict,
                           "'{0}' is {1} by the inputs of the run, but {2} by another given input",
                           chosen_.symbols[i], *size, chosen_.sizes[i]);
  }
  return llvm::Error::success();
}

/// States are Tensors of the Scope on the run's device. Missing ones are created with their initial
/// values.
llvm::Error NetworkRun::FindStates() {
  auto lookup = [&](llvm::StringRef symbol) { return plan_.SizeOf(symbol, sizes_); };
  for (SlotId slot : schedule_.states) {
    const Value& value = *schedule_.slots[slot].value;
    Variable* variable = scope_.Create(value.name());
    if (variable->empty()) {
      llvm::Expected<Tensor> initial = InitialOf(value, lookup);
      if (!initial) return initial.takeError();
      variable->Set(std::move(*initial));
      new_states_.push_back(variable);
    }
    Tensor* tensor = variable->GetMutable<Tensor>();
    if (!tensor)
      return MakeUserError(Code::kInputType, "state '{0}' holds no tensor", value.name());
    if (tensor->device() != context_.device()) {
      llvm::Expected<Tensor> moved = MoveToDevice(*tensor, context_);
      if (!moved) return moved.takeError();
      tensor = variable->Set(std::move(*moved));
    }
    if (llvm::Error error = CheckVariable(value, *tensor, "state", lookup)) return error;
    states_.push_back(variable);
  }
  for (const auto& [state, initial] : schedule_.fixed_states) {
    Variable* variable = scope_.Create(state->name());
    if (!variable->empty()) continue;
    variable->Set(initial);
    new_states_.push_back(variable);
  }
  return llvm::Error::success();
}

/// The first value of a state in this Scope. A copy gets the value that its source has in the
/// Scope; later changes of either do not affect the other.
llvm::Expected<Tensor> NetworkRun::InitialOf(const Value& state, SymbolLookup lookup) {
  const Value* source = weights_.SourceOf(state);
  const Variable* variable = source == nullptr ? nullptr : scope_.Find(source->name());
  const Tensor* tensor = variable == nullptr ? nullptr : variable->Get<Tensor>();
  if (tensor == nullptr) return weights_.Initial(state, lookup);
  if (llvm::Error error = CheckVariable(*source, *tensor, "the source of a copy,", lookup))
    return error;
  llvm::Expected<Tensor> copy = OnHost(*tensor, context_);
  if (!copy) return copy;
  copy = ConvertTo(state.type().dtype, *copy);
  // The program may write to the memory of a tensor that it has set.
  if (!copy || copy->raw() != tensor->raw()) return copy;
  llvm::Expected<Tensor> own = Tensor::AllocateUninitialized(tensor->dtype(), tensor->sizes());
  if (own && tensor->num_bytes() > 0)
    std::memcpy(own->raw(), tensor->raw(), static_cast<size_t>(tensor->num_bytes()));
  return own;
}

llvm::Error NetworkRun::CheckVariable(const Value& value, const Tensor& tensor, const char* what,
                                      SymbolLookup lookup) {
  const Type& type = value.type();
  const bool fits_type = tensor.dtype() == type.dtype && tensor.rank() == type.rank();
  bool fits = fits_type;
  for (unsigned axis = 0; fits && axis < type.rank(); ++axis) {
    llvm::Expected<int64_t> size = type.dims[axis].Evaluate(lookup);
    if (!size)
      return MakeUserError(Code::kInputType, "{0} '{1}': {2}", what, value.name(),
                           llvm::toString(size.takeError()));
    fits = *size == tensor.size(axis);
  }
  if (fits) return llvm::Error::success();
  const bool has_other_sizes =
      fits_type && value.kind() == ValueKind::kState && !type.has_constant_dims();
  return MakeUserError(Code::kInputType, "{0} '{1}' is declared {2}, but the scope holds {3}{4}",
                       what, value.name(), type.ToString(), tensor.TypeString(),
                       has_other_sizes ? "; reset it to run with other sizes" : "");
}

llvm::Error NetworkRun::RunFrame(uint64_t seed, const RunOptions& run) {
  const TracedRun traced("run");
  if (llvm::Error error = GiveSources()) return error;
  if (llvm::Error error = GiveOutputs(run)) return error;
  if (llvm::Error error = GiveUpdates(run)) return error;
  RandomState random{seed, 0};
  profile_ = run.profile;
  frame_->context().SetChecksIndices(run.check_indices);
  if (schedule_.has_random) random.run_count = run_count_ = Network::RunCount(scope_);
  if (llvm::Error error = RunCalls(random, run)) {
    // The frame, and its record of failed checks, must not be in use by launched work.
    llvm::consumeError(frame_->context().Synchronize());
    return error;
  }
  if (llvm::Error error = CollectOutputs()) return error;
  if (llvm::Error error = CollectUpdates()) return error;
  return frame_->context().Synchronize();
}

llvm::Error NetworkRun::ShowRemainingOutputs(const RunOptions& run) const {
  if (run.output_observer == nullptr) return llvm::Error::success();
  for (unsigned i = 0; i < outputs_.size(); ++i)
    if (run.is_observed() || !(frame_->IsInPlace(i) || stays_on_device_[i]))
      if (llvm::Error error = ShowOutput(i, *run.output_observer)) return error;
  return llvm::Error::success();
}

llvm::Error NetworkRun::RunCalls(RandomState random, const RunOptions& run) {
  if (run.is_observed()) return frame_->RunObserved(random, run);
  if (run.output_observer == nullptr) return frame_->Run(random, run.cancel, run.profile);
  return frame_->Run(random, run.cancel, run.profile, [&](unsigned output) {
    return frame_->IsInPlace(output) || stays_on_device_[output]
               ? ShowOutput(output, *run.output_observer)
               : llvm::Error::success();
  });
}

llvm::Error NetworkRun::ShowOutput(unsigned output, OutputObserver& observer) const {
  const llvm::StringRef name = schedule_.outputs[output].name;
  if (Crosses(name)) return llvm::Error::success();
  return observer.SeeOutput(name, stays_on_device_[output]
                                      ? frame_->tensor(schedule_.outputs[output].slot)
                                      : outputs_[output]);
}

llvm::Error NetworkRun::RunStoringSteps() {
  if (!runs_storing_steps_ || schedule_.first_storing_step == schedule_.steps.size())
    return llvm::Error::success();
  const TracedRun traced("update states");
  if (llvm::Error error = frame_->RunStoring(profile_)) return error;
  return frame_->context().Synchronize();
}

void NetworkRun::PrepareToStore() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const llvm::StringRef name = schedule_.outputs[i].name;
    if (Crosses(name) || stays_on_device_[i] || is_given_[i]) continue;
    new_outputs_.reserve(new_outputs_.size() + 1);
    const bool is_new = scope_.FindLocal(name) == nullptr;
    Variable* variable = scope_.Create(name);
    if (is_new) new_outputs_.push_back(name);
    stored_outputs_.emplace_back(variable, std::move(outputs_[i]));
  }
  for (size_t i = 0; i < updates_.size(); ++i)
    stored_updates_.emplace_back(scope_.Create(schedule_.updates[i].state->name()),
                                 std::move(updates_[i]));
  if (schedule_.has_random) Network::SetRunCount(&scope_, run_count_);
}

void NetworkRun::StoreOutputs() noexcept {
  is_stored_ = true;
  for (Stored& output : stored_outputs_) *output.to = std::move(output.value);
}

void NetworkRun::StoreUpdates() noexcept {
  for (Stored& update : stored_updates_) *update.to = std::move(update.value);
  if (schedule_.has_random) Network::SetRunCount(&scope_, run_count_ + 1);
}

/// Passes computed values and known sizes to later segments.
void NetworkRun::PassOn() {
  for (size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i] >= 0) data_->sizes[schedule_.symbols[i]] = sizes_[i];
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (llvm::StringRef name = schedule_.outputs[i].name; name.consume_front(kCrossing))
      data_->values.Create(name)->Set(std::move(outputs_[i]));
}

llvm::Error NetworkRun::GiveSources() {
  for (size_t i = 0; i < schedule_.inputs.size(); ++i) {
    SlotId slot = schedule_.inputs[i];
    const Tensor& tensor = *inputs_[i];
    if (binding_->placements[slot].kind == Placement::Kind::kGiven) {
      frame_->SetData(slot, const_cast<void*>(tensor.raw()));
      continue;
    }
    void* to = frame_->tensor(slot).raw();
    llvm::Error error = tensor.device().kind == DeviceKind::kCPU
                            ? frame_->context().CopyFromHost(to, tensor.raw(), tensor.num_bytes())
                            : frame_->context().CopyWithin(to, tensor.raw(), tensor.num_bytes());
    if (error) return error;
  }
  for (size_t i = 0; i < states_.size(); ++i)
    frame_->SetData(schedule_.states[i], states_[i]->GetMutable<Tensor>()->raw());
  auto lookup = [&](llvm::StringRef symbol) { return plan_.SizeOf(symbol, sizes_); };
  for (SlotId slot : schedule_.parameters) {
    if (binding_->placements[slot].kind != Placement::Kind::kGiven) continue;
    const Value& value = *schedule_.slots[slot].value;
    const Variable* variable = scope_.Find(value.name());
    const Tensor* own = variable ? variable->Get<Tensor>() : nullptr;
    if (variable && !own)
      return MakeUserError(Code::kInputType, "parameter '{0}' holds no tensor", value.name());
    llvm::Expected<Tensor> tensor =
        own ? MoveToDevice(*own, context_) : weights_.OnDevice(value, context_);
    if (!tensor) return tensor.takeError();
    if (llvm::Error error = CheckVariable(value, *tensor, "parameter", lookup)) return error;
    frame_->SetData(slot, tensor->raw());
    kept_.push_back(std::move(*tensor));
  }
  return llvm::Error::success();
}

/// Provides a tensor for each output; steps write directly to it.
llvm::Error NetworkRun::GiveOutputs(const RunOptions& run) {
  const bool is_on_cpu = context_.device().kind == DeviceKind::kCPU;
  for (size_t i = 0; i < schedule_.outputs.size(); ++i) {
    const std::string& name = schedule_.outputs[i].name;
    const OperandType& type = binding_->types[schedule_.outputs[i].slot];
    const Tensor* given = nullptr;
    if (run.output_memory != nullptr)
      if (auto found = run.output_memory->find(name); found != run.output_memory->end())
        given = &found->second;
    is_given_.push_back(given != nullptr);
    stays_on_device_.push_back(!is_on_cpu && !Crosses(name) && run.output_observer != nullptr &&
                               run.output_observer->TakesOnDevice(name));
    if (stays_on_device_.back()) {
      outputs_.emplace_back();
      continue;
    }
    llvm::Expected<Tensor> output = TakeOutput(name, type, given);
    if (!output) return output.takeError();
    outputs_.push_back(std::move(*output));
    const Placement& placement = binding_->placements[schedule_.outputs[i].slot];
    if (placement.kind == Placement::Kind::kOutput && placement.offset == static_cast<int64_t>(i))
      frame_->SetData(placement.root, outputs_[i].raw());
  }
  return llvm::Error::success();
}

/// The caller's memory if it is given. Else that of the last run's result if nothing else refers to
/// it, or new memory.
llvm::Expected<Tensor> NetworkRun::TakeOutput(const std::string& name, const OperandType& type,
                                              const Tensor* given) {
  auto fits = [&](const Tensor& tensor) {
    return tensor.dtype() == type.dtype && tensor.sizes() == llvm::ArrayRef<int64_t>(type.sizes);
  };
  if (given != nullptr) {
    if (fits(*given)) return *given;
    return MakeUserError(Code::kInputType, "output '{0}' is {1}, but the array for it is {2}", name,
                         TensorTypeToString(type.dtype, type.sizes), given->TypeString());
  }
  const bool crosses = Crosses(name);
  Variable* variable = crosses ? nullptr : scope_.FindLocal(name);
  Tensor* last = variable ? variable->GetMutable<Tensor>() : nullptr;
  if (last == nullptr || !last->is_recyclable() || !fits(*last) || !MayReuse(name, *last))
    return MakeOutput(type, crosses);
  Tensor output = std::move(*last);
  variable->Clear();
  return output;
}

/// Outputs are on the CPU; values for other segments stay on the device.
llvm::Expected<Tensor> NetworkRun::MakeOutput(const OperandType& type, bool crosses) {
  if (!crosses || context_.device().kind == DeviceKind::kCPU)
    return Tensor::AllocateUninitialized(type.dtype, type.sizes);
  int64_t bytes = static_cast<int64_t>(DTypeSize(type.dtype));
  for (const int64_t size : type.sizes) bytes *= size;
  llvm::Expected<std::shared_ptr<void>> memory = context_.Allocate(bytes);
  if (!memory) return memory.takeError();
  return Tensor(type.dtype, type.sizes, std::move(*memory), context_.device());
}

/// Whether the memory may be reused: another segment may read a value with the name of an output.
bool NetworkRun::MayReuse(const std::string& name, const Tensor& last) const {
  if (IsRead(&last)) return false;
  const Value* value = data_ ? data_->graph.FindValue(name) : nullptr;
  return !value || value->kind() == ValueKind::kResult;
}

/// Whether this run reads the tensor: an output may have the name of an input.
bool NetworkRun::IsRead(const Tensor* tensor) const {
  if (llvm::is_contained(inputs_, tensor)) return true;
  for (const Tensor& kept : kept_)
    if (kept.raw() == tensor->raw()) return true;
  return llvm::any_of(states_, [&](Variable* state) { return state->Get<Tensor>() == tensor; });
}

llvm::Error NetworkRun::CollectOutputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (stays_on_device_[i]) continue;
    SlotId slot = schedule_.outputs[i].slot;
    const Tensor& computed = frame_->tensor(slot);
    if (computed.raw() == outputs_[i].raw()) continue;
    const auto bytes = outputs_[i].num_bytes();
    if (llvm::Error error =
            outputs_[i].device().kind == DeviceKind::kCPU
                ? frame_->context().CopyToHost(outputs_[i].raw(), computed.raw(), bytes)
                : frame_->context().CopyWithin(outputs_[i].raw(), computed.raw(), bytes))
      return error;
  }
  return llvm::Error::success();
}

/// Provides a tensor for each in-place state update: the state's own if nothing else refers to it,
/// else a new one. An observed run changes no state before it is complete, and a segment does not
/// know the updates of others, which may read the state.
llvm::Error NetworkRun::GiveUpdates(const RunOptions& run) {
  runs_storing_steps_ = !run.is_observed();
  for (size_t i = 0; i < schedule_.updates.size(); ++i) {
    const Schedule::Update& update = schedule_.updates[i];
    Tensor& next = updates_.emplace_back();
    if (binding_->placements[update.slot].kind != Placement::Kind::kUpdate) continue;
    const Tensor& state = *StateOf(*update.state)->Get<Tensor>();
    if (binding_->overwrites[i] && runs_storing_steps_ && data_ == nullptr &&
        state.is_recyclable()) {
      next = state;
    } else {
      llvm::Expected<Tensor> fresh = MakeOutput(binding_->types[update.slot], true);
      if (!fresh) return fresh.takeError();
      next = std::move(*fresh);
    }
    frame_->SetData(update.slot, next.raw());
  }
  return llvm::Error::success();
}

Variable* NetworkRun::StateOf(const Value& state) const {
  for (size_t i = 0; i < states_.size(); ++i)
    if (schedule_.slots[schedule_.states[i]].value == &state) return states_[i];
  InternalError("an update of '" + state.name() + "', which is unknown to the run");
}

/// Copies the other new values, since the memory of the frame is reused.
llvm::Error NetworkRun::CollectUpdates() {
  for (size_t i = 0; i < schedule_.updates.size(); ++i) {
    const SlotId slot = schedule_.updates[i].slot;
    if (binding_->placements[slot].kind == Placement::Kind::kUpdate) continue;
    llvm::Expected<Tensor> copy = MakeOutput(binding_->types[slot], true);
    if (!copy) return copy.takeError();
    if (llvm::Error error = frame_->context().CopyWithin(copy->raw(), frame_->tensor(slot).raw(),
                                                         copy->num_bytes()))
      return error;
    updates_[i] = std::move(*copy);
  }
  return llvm::Error::success();
}

}  // namespace pdl
