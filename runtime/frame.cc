#include "runtime/frame.h"

#include <chrono>

#include "ir/operator_code.h"
#include "ir/trace/recorder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"
#include "pdl/op/error.h"
#include "pdl/runtime/run_profile.h"
#include "runtime/call_error.h"
#include "runtime/cancellation.h"
#include "runtime/check_finite.h"
#include "runtime/check_indices.h"
#include "runtime/describe_steps.h"
#include "runtime/prepare_call.h"
#include "runtime/step_observer.h"

namespace pdl {

llvm::Expected<std::unique_ptr<Frame>> Frame::Make(const Binding& binding, DeviceContext& context,
                                                   std::shared_ptr<void> arena) {
  std::unique_ptr<Frame> frame(new Frame(binding));
  frame->context_ = context.Fork();
  if (!arena) {
    llvm::Expected<std::shared_ptr<void>> own =
        frame->context_->Allocate(std::max<int64_t>(binding.arena_bytes, 1));
    if (!own) return own.takeError();
    arena = std::move(*own);
  }
  frame->arena_ = std::move(arena);
  char* base = static_cast<char*>(frame->arena_.get());

  const Schedule& schedule = binding.schedule;
  frame->tensors_.resize(schedule.slots.size());
  for (SlotId slot = 0; slot < schedule.slots.size(); ++slot) {
    const Placement& placement = binding.placements[slot];
    const OperandType& type = binding.types[slot];
    void* data = nullptr;
    if (placement.kind == Placement::Kind::kArena) data = base + placement.offset;
    if (placement.kind == Placement::Kind::kFixed)
      data = const_cast<void*>(binding.FixedData(placement.root));
    frame->tensors_[slot].Borrow(type.dtype, type.sizes, data, schedule.device);
    if (placement.root != slot) frame->sharers_.push_back({placement.root, slot});
  }
  llvm::sort(frame->sharers_);

  for (uint32_t s = 0; s < schedule.steps.size(); ++s) {
    const Binding::Call& bound = binding.calls[s];
    if (s == schedule.first_storing_step) frame->first_storing_ = frame->calls_.size();
    if (bound.skip) continue;
    const Step& step = schedule.steps[s];
    Call call;
    call.op = bound.op;
    call.state = bound.state.get();
    call.workspace = base + bound.workspace_offset;
    call.step = s;
    call.first_input = static_cast<uint32_t>(frame->inputs_.size());
    call.num_inputs = static_cast<uint32_t>(step.inputs.size());
    call.first_output = static_cast<uint32_t>(frame->outputs_.size());
    call.num_outputs = static_cast<uint32_t>(step.outputs.size());
    for (SlotId slot : step.inputs) frame->inputs_.push_back(&frame->tensors_[slot]);
    for (SlotId slot : step.outputs) frame->outputs_.push_back(&frame->tensors_[slot]);
    frame->calls_.push_back(call);
  }
  if (schedule.first_storing_step == schedule.steps.size())
    frame->first_storing_ = frame->calls_.size();
  return frame;
}

llvm::Expected<std::unique_ptr<Frame>> Frame::Make(const Binding& binding, DeviceContext& context,
                                                   ArenaPool& arenas) {
  if (context.device().kind != DeviceKind::kCPU) return Make(binding, context);
  llvm::Expected<std::shared_ptr<SharedArena>> arena = arenas.Take(binding.arena_bytes, context);
  if (!arena) return arena.takeError();
  auto give_back = llvm::make_scope_exit([&] { (*arena)->GiveBack(); });
  llvm::Expected<std::unique_ptr<Frame>> frame = Make(binding, context, (*arena)->memory());
  if (!frame) return frame.takeError();
  give_back.release();
  (*frame)->shared_ = std::move(*arena);
  (*frame)->has_arena_ = true;
  return frame;
}

Frame::~Frame() { GiveBackArena(); }

void Frame::GiveBackArena() {
  if (has_arena_) shared_->GiveBack();
  has_arena_ = false;
}

void Frame::SetData(SlotId slot, void* data) {
  tensors_[slot].SetData(data);
  auto sharer = llvm::lower_bound(sharers_, std::pair<SlotId, SlotId>(slot, 0));
  for (; sharer != sharers_.end() && sharer->first == slot; ++sharer)
    tensors_[sharer->second].SetData(data);
}

inline llvm::Error Frame::RunCall(const Call& call, const std::atomic<bool>* cancel) {
  if (cancel && cancel->load(std::memory_order_relaxed))
    return MakeUserError(Code::kCancelled, "the run was cancelled");
  if (context_->checks_indices() && call.op->def().check_indices)
    if (llvm::Error error = CheckIndices(*call.op, InputsOf(call), OutputsOf(call), *context_))
      return error;
  context_->SetCall(call.state, call.workspace);
  llvm::Error error = ConvertExceptions(
      [&] { return call.op->RunPrepared(InputsOf(call), OutputsOf(call), *context_); },
      KernelThrew);
  if (error) [[unlikely]]
    return AboutCall(call.op->arguments(), std::move(error));
  return llvm::Error::success();
}

llvm::Error Frame::Run(RandomState random, const std::atomic<bool>* cancel, RunProfile* profile,
                       llvm::function_ref<llvm::Error(unsigned)> see) {
  context_->SetRandom(random);
  context_->SetCancel(cancel);
  auto rest = llvm::ArrayRef(calls_).take_front(first_storing_);
  // The body of a loop belongs to the run around it.
  if (!cancel) EndIfCancelled(CurrentCancellation());
  if (!see) return RunCancellable(cancel, [&] { return RunCalls(rest, cancel, profile); });
  if (complete_.empty()) FindCompleteOutputs();
  return RunCancellable(cancel, [&]() -> llvm::Error {
    for (const auto& [step, output] : complete_) {
      const auto next =
          rest.take_while([last = step](const Call& call) { return call.step <= last; });
      rest = rest.drop_front(next.size());
      if (llvm::Error error = RunCalls(next, cancel, profile)) return error;
      if (llvm::Error error = see(output)) return error;
    }
    return RunCalls(rest, cancel, profile);
  });
}

bool Frame::IsInPlace(unsigned output) const {
  const Placement& of = placement(binding_.schedule.outputs[output].slot);
  return of.kind == Placement::Kind::kOutput && of.offset == int64_t{output} &&
         context_->device().kind == DeviceKind::kCPU;
}

void Frame::FindCompleteOutputs() {
  const Schedule& schedule = binding_.schedule;
  const bool is_on_cpu = context_->device().kind == DeviceKind::kCPU;
  llvm::DenseMap<SlotId, uint32_t> last_steps;  // by root
  for (uint32_t step = 0; step < schedule.first_storing_step; ++step)
    for (const SlotId slot : schedule.steps[step].outputs) last_steps[placement(slot).root] = step;
  for (unsigned i = 0; i < schedule.outputs.size(); ++i)
    if (!is_on_cpu || IsInPlace(i))
      complete_.push_back({last_steps.lookup(placement(schedule.outputs[i].slot).root), i});
  llvm::stable_sort(complete_, [](const auto& a, const auto& b) { return a.step < b.step; });
}

inline llvm::Error Frame::RunCalls(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel,
                                   RunProfile* profile) {
  if (profile) return RunProfiled(calls, cancel, *profile);
  if (ActiveTrace() != 0) return RunTraced(calls, cancel);
  for (const Call& call : calls)
    if (llvm::Error error = RunCall(call, cancel)) return error;
  return llvm::Error::success();
}

llvm::Error Frame::RunStoring(RunProfile* profile) {
  return RunCalls(llvm::ArrayRef(calls_).drop_front(first_storing_), nullptr, profile);
}

llvm::Error Frame::RunTraced(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel) {
  if (const uint64_t trace = ActiveTrace(); described_trace_ != trace) {
    trace_numbers_.clear();
    for (const CallDescription& step : DescribeSteps(binding_))
      trace_numbers_.push_back(DescribeToTrace(step));
    described_trace_ = trace;
  }
  const auto kind = binding_.schedule.is_body ? TraceEvent::kBodyCall : TraceEvent::kCall;
  const llvm::SaveAndRestore outer(traced_call);
  uint64_t begin = TraceClock();
  for (const Call& call : calls) {
    const uint32_t number = traced_call = trace_numbers_[call.step];
    if (llvm::Error error = RunCall(call, cancel)) return error;
    const uint64_t end = TraceClock();
    Record(kind, number, begin, end);
    begin = end;
  }
  return llvm::Error::success();
}

llvm::Error Frame::RunProfiled(llvm::ArrayRef<Call> calls, const std::atomic<bool>* cancel,
                               RunProfile& profile) {
  using Clock = std::chrono::steady_clock;
  if (descriptions_.empty()) descriptions_ = DescribeSteps(binding_);
  for (const Call& call : calls) {
    if (llvm::Error error = context_->Synchronize()) return error;
    const Clock::time_point start = Clock::now();
    if (llvm::Error error = RunCall(call, cancel)) return error;
    if (llvm::Error error = context_->Synchronize()) return error;
    profile.Add(descriptions_[call.step],
                std::chrono::duration<double>(Clock::now() - start).count());
  }
  return llvm::Error::success();
}

llvm::Error Frame::RunObserved(RandomState random, const RunOptions& run) {
  return RunCancellable(run.cancel, [&] { return RunEachObserved(random, run); });
}

llvm::Error Frame::RunEachObserved(RandomState random, const RunOptions& run) {
  context_->SetRandom(random);
  context_->SetCancel(run.cancel);
  const Schedule& schedule = binding_.schedule;
  llvm::SmallVector<std::unique_ptr<StepObserver>, 2> observers;
  if (run.check_finite)
    observers.push_back(std::make_unique<FiniteCheck>(schedule, tensors_, *context_, run.observer));
  if (run.observer)
    observers.push_back(
        std::make_unique<ResultObserver>(schedule, tensors_, *context_, *run.observer));
  for (const auto& observer : observers)
    if (llvm::Error error = observer->Start()) return error;
  const Call* next = calls_.data();
  for (uint32_t step = 0; step < schedule.steps.size(); ++step) {
    if (next != calls_.data() + calls_.size() && next->step == step)
      if (llvm::Error error = RunCall(*next++, run.cancel)) return error;
    for (const auto& observer : observers)
      if (llvm::Error error = observer->AfterStep(step)) return error;
  }
  return llvm::Error::success();
}

}  // namespace pdl
