#include "kernels/control/scan_loop.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/ScopeExit.h"
#include "pdl/op/error.h"
#include "runtime/philox.h"

namespace pdl {
namespace {

constexpr int64_t kAlignment = 256;

/// A slice at one index of an axis: the number of contiguous pieces, and the bytes of each.
struct Slices {
  int64_t outer = 1;
  int64_t bytes = 0;
};

Slices SlicesOf(const OperandType& type, unsigned axis) {
  Slices slices;
  slices.bytes = DTypeSize(type.dtype);
  for (unsigned i = 0; i < type.sizes.size(); ++i) {
    if (i < axis) slices.outer *= type.sizes[i];
    if (i > axis) slices.bytes *= type.sizes[i];
  }
  return slices;
}

/// An input sequence, or an output one.
struct Sequence {
  Slices slices;
  int64_t row_bytes = 0;  // of a slice, if it has rows
  /// Offset of the staging buffer for a slice that is not contiguous; -1: it is contiguous.
  int64_t staged = -1;
};

struct Carried {
  int64_t bytes = 0;
  int64_t row_bytes = 0;
  bool by_row = false;
  int64_t buffers[2] = {0, 0};
};

struct LoopState : BodyState {
  int rows_symbol = -1;  // index of the symbol for the number of rows of a step
  unsigned axis = 0;
  int64_t steps = 0;  // if all rows have equal lengths
  int64_t rows = 0;
  std::vector<Sequence> xs, ys;
  std::vector<Carried> carried;
  /// Offsets of i64[rows] arrays: the row order, their begins, and their lengths in that order.
  int64_t order = 0, begins = 0, lengths = 0;
};

/// The random numbers of step t differ from those of other steps, and are the same in a loop over
/// the same steps in the other direction.
RandomState RandomOfStep(RandomState random, int64_t t) {
  random.seed = random::Mix(random.seed + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(t) + 1));
  return random;
}

/// One run.
class Loop {
 public:
  Loop(const ScanCall& call, const LoopState& state, llvm::ArrayRef<const Tensor*> inputs,
       llvm::MutableArrayRef<Tensor*> outputs, DeviceContext& context, RowMover& mover)
      : call_(call),
        state_(state),
        inputs_(inputs),
        outputs_(outputs),
        context_(context),
        mover_(mover),
        workspace_(static_cast<char*>(context.workspace())),
        sizes_(state.sizes) {}

  llvm::Error Run() {
    lease_ = state_.body->Take();
    auto give_back = llvm::make_scope_exit([&] { state_.body->GiveBack(std::move(lease_)); });
    if (call_.is_conditional) return RunConditional();
    if (call_.by_row()) return RunRows();
    if (state_.steps == 0) {
      for (unsigned j = 0; j < call_.num_init; ++j)
        if (llvm::Error error = Copy(LastOf(j), InitOf(j), state_.carried[j].bytes)) return error;
      return llvm::Error::success();
    }
    for (int64_t s = 0; s < state_.steps; ++s) {
      const int64_t t = call_.reverse ? state_.steps - 1 - s : s;
      if (llvm::Error error = Step(t, state_.rows, s == 0, s + 1 == state_.steps)) return error;
    }
    return llvm::Error::success();
  }

 private:
  const void* InitOf(unsigned j) const { return inputs_[call_.first_init() + j]->raw(); }
  void* LastOf(unsigned j) const { return outputs_[call_.num_steps_results() + j]->raw(); }
  char* At(int64_t offset) const { return workspace_ + offset; }
  llvm::Error Copy(void* to, const void* from, int64_t bytes) {
    if (bytes == 0 || to == from) return llvm::Error::success();
    return mover_.CopyPieces(to, bytes, from, bytes, 1, bytes);
  }

  /// Fills order_, begins_ and lengths_, and copies them to the device.
  llvm::Error FindRows() {
    const int64_t n = state_.rows;
    const bool is_host = context_.device().kind == DeviceKind::kCPU;
    const Tensor& given = *inputs_[call_.num_given()];
    device_order_ = reinterpret_cast<int64_t*>(At(state_.order));
    device_begins_ = reinterpret_cast<int64_t*>(At(state_.begins));
    const int64_t* values = given.data<int64_t>();
    if (is_host) {
      order_ = device_order_;
      begins_ = device_begins_;
      lengths_ = reinterpret_cast<int64_t*>(At(state_.lengths));
    } else {
      host_.resize(static_cast<size_t>(3 * n));
      host_values_.resize(static_cast<size_t>(given.num_elements()));
      if (llvm::Error error =
              context_.CopyToHost(host_values_.data(), given.raw(), given.num_bytes()))
        return error;
      values = host_values_.data();
      order_ = host_.data();
      begins_ = order_ + n;
      lengths_ = begins_ + n;
    }
    // Offsets and lengths may be arbitrary computed values, so they are clamped.
    const int64_t total = call_.is_packed ? inputs_[0]->size(0) : 0;
    auto begin_of = [&](int64_t row) { return std::clamp<int64_t>(values[row], 0, total); };
    auto length_of = [&](int64_t row) {
      if (!call_.is_packed) return std::clamp<int64_t>(values[row], 0, state_.steps);
      return std::max<int64_t>(std::clamp<int64_t>(values[row + 1], 0, total) - begin_of(row), 0);
    };
    std::iota(order_, order_ + n, 0);
    std::sort(order_, order_ + n, [&](int64_t a, int64_t b) {
      const int64_t length_a = length_of(a), length_b = length_of(b);
      return length_a != length_b ? length_a > length_b : a < b;
    });
    for (int64_t i = 0; i < n; ++i) {
      lengths_[i] = length_of(order_[i]);
      begins_[i] = call_.is_packed   ? begin_of(order_[i])
                   : call_.axis == 1 ? order_[i] * state_.steps
                                     : order_[i];
    }
    if (is_host) return llvm::Error::success();
    if (llvm::Error error = context_.CopyFromHost(device_order_, order_, n * 8)) return error;
    return context_.CopyFromHost(device_begins_, begins_, n * 8);
  }

  llvm::Error RunRows() {
    const int64_t n = state_.rows;
    if (n > 0)
      if (llvm::Error error = FindRows()) return error;
    const int64_t steps = n > 0 ? lengths_[0] : 0;
    // Clears the results if some elements are padding after the end of a row or belong to no row.
    const int64_t elements = call_.is_packed ? inputs_[0]->size(0) : n * state_.steps;
    const bool has_gaps = std::accumulate(lengths_, lengths_ + n, int64_t{0}) < elements;
    for (unsigned k = 0; has_gaps && k < call_.num_steps_results(); ++k)
      if (outputs_[k]->num_bytes() > 0)
        if (llvm::Error error = mover_.Clear(outputs_[k]->raw(), outputs_[k]->num_bytes()))
          return error;
    for (unsigned j = 0; j < call_.num_init; ++j)
      if (!state_.carried[j].by_row && steps == 0)
        if (llvm::Error error = Copy(LastOf(j), InitOf(j), state_.carried[j].bytes)) return error;
    if (n == 0) return llvm::Error::success();
    // Rows without any steps return the initial carry.
    int64_t running = 0;
    while (running < n && lengths_[running] > 0) ++running;
    for (unsigned j = 0; j < call_.num_init; ++j) {
      const Carried& carried = state_.carried[j];
      if (!carried.by_row || running == n) continue;
      char* buffer = At(carried.buffers[0]);
      if (llvm::Error error = mover_.Gather(buffer, InitOf(j), device_order_ + running, 0,
                                            n - running, carried.row_bytes))
        return error;
      if (llvm::Error error = mover_.Scatter(LastOf(j), buffer, device_order_ + running, 0,
                                             n - running, carried.row_bytes))
        return error;
    }
    // The rows that are active at a step are the first ones.
    int64_t joined = 0;
    int64_t now = call_.reverse ? 0 : running;
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t t = call_.reverse ? steps - 1 - s : s;
      if (call_.reverse) {
        while (now < running && lengths_[now] > t) ++now;
      }
      if (llvm::Error error = Join(joined, now)) return error;
      if (llvm::Error error = Step(t, now, s == 0, s + 1 == steps)) return error;
      int64_t next = now;
      if (call_.reverse) {
        if (s + 1 == steps) next = 0;
      } else {
        while (next > 0 && lengths_[next - 1] <= t + 1) --next;
      }
      if (llvm::Error error = Leave(next, now)) return error;
      joined = now;
      if (!call_.reverse) joined = now = next;
    }
    return llvm::Error::success();
  }

  /// Runs steps while the first carried value is true, at most state_.steps. Results of steps that
  /// do not run are zeros.
  llvm::Error RunConditional() {
    int64_t s = 0;
    while (s < state_.steps) {
      const void* condition = s == 0 ? InitOf(0) : At(state_.carried[0].buffers[current_]);
      bool continues = false;
      if (llvm::Error error = context_.CopyToHost(&continues, condition, sizeof(continues)))
        return error;
      if (!continues) break;
      if (llvm::Error error = Step(s, state_.rows, s == 0, false)) return error;
      ++s;
    }
    for (unsigned k = 0; k < call_.num_steps_results(); ++k) {
      const int64_t begin = s * state_.ys[k].slices.bytes, end = outputs_[k]->num_bytes();
      if (begin == end) continue;
      if (llvm::Error error =
              mover_.Clear(static_cast<char*>(outputs_[k]->raw()) + begin, end - begin))
        return error;
    }
    for (unsigned j = 0; j < call_.num_init; ++j) {
      const Carried& carried = state_.carried[j];
      const void* last = s == 0 ? InitOf(j) : At(carried.buffers[current_]);
      if (llvm::Error error = Copy(LastOf(j), last, carried.bytes)) return error;
    }
    return llvm::Error::success();
  }

  llvm::Error Join(int64_t begin, int64_t end) {
    if (begin == end) return llvm::Error::success();
    for (unsigned j = 0; j < call_.num_init; ++j) {
      const Carried& carried = state_.carried[j];
      if (!carried.by_row) continue;
      if (llvm::Error error =
              mover_.Gather(At(carried.buffers[current_]) + begin * carried.row_bytes, InitOf(j),
                            device_order_ + begin, 0, end - begin, carried.row_bytes))
        return error;
    }
    return llvm::Error::success();
  }

  /// Called after a step, whose results are in the current buffers.
  llvm::Error Leave(int64_t begin, int64_t end) {
    if (begin == end) return llvm::Error::success();
    for (unsigned j = 0; j < call_.num_init; ++j) {
      const Carried& carried = state_.carried[j];
      if (!carried.by_row) continue;
      if (llvm::Error error =
              mover_.Scatter(LastOf(j), At(carried.buffers[current_]) + begin * carried.row_bytes,
                             device_order_ + begin, 0, end - begin, carried.row_bytes))
        return error;
    }
    return llvm::Error::success();
  }

  int64_t ShiftOf(int64_t t) const {
    return call_.is_packed || call_.axis == 1 ? t : t * state_.rows;
  }

  llvm::Error Step(int64_t t, int64_t rows, bool is_first, bool is_last) {
    if (rows != frame_rows_ || !frame_) {
      if (state_.rows_symbol >= 0) sizes_[static_cast<size_t>(state_.rows_symbol)] = rows;
      llvm::Expected<Frame*> frame = lease_->FrameFor(sizes_, context_);
      if (!frame) return frame.takeError();
      frame_ = *frame;
      frame_rows_ = rows;
      for (unsigned k = 0; k < call_.num_captured; ++k)
        lease_->SetInput(*frame_, call_.first_captured() + k,
                         inputs_[call_.first_captured() + k]->raw());
    }
    for (unsigned i = 0; i < call_.num_xs; ++i) {
      const Sequence& x = state_.xs[i];
      const char* from = static_cast<const char*>(inputs_[i]->raw());
      if (x.staged < 0) {
        lease_->SetInput(*frame_, i, from + t * x.slices.bytes);
        continue;
      }
      char* slice = At(x.staged);
      llvm::Error error =
          call_.by_row()
              ? mover_.Gather(slice, from, device_begins_, ShiftOf(t), rows, x.row_bytes)
              : mover_.CopyPieces(slice, x.slices.bytes, from + t * x.slices.bytes,
                                  x.slices.bytes * state_.steps, x.slices.outer, x.slices.bytes);
      if (error) return error;
      lease_->SetInput(*frame_, i, slice);
    }
    fetched_.clear();
    for (unsigned j = 0; j < call_.num_init; ++j) {
      const Carried& carried = state_.carried[j];
      const bool from_init = is_first && !carried.by_row;
      lease_->SetInput(*frame_, call_.first_init() + j,
                       from_init ? InitOf(j) : At(carried.buffers[current_]));
      void* to = is_last && !carried.by_row ? LastOf(j) : At(carried.buffers[1 - current_]);
      if (!lease_->SetOutput(*frame_, j, to)) fetched_.push_back({j, to});
    }
    for (unsigned k = 0; k < call_.num_steps_results(); ++k) {
      const Sequence& y = state_.ys[k];
      char* to =
          y.staged < 0 ? static_cast<char*>(outputs_[k]->raw()) + t * y.slices.bytes : At(y.staged);
      if (!lease_->SetOutput(*frame_, call_.num_init + k, to))
        fetched_.push_back({call_.num_init + k, to});
    }
    if (context_.is_cancelled()) return MakeUserError(Code::kCancelled, "the run was cancelled");
    frame_->context().JoinRun(context_);
    if (llvm::Error error = frame_->Run(RandomOfStep(context_.random(), t), context_.cancel()))
      return error;
    for (auto [output, to] : fetched_) {
      const Tensor& result = lease_->ResultOf(*frame_, output);
      if (llvm::Error error = Copy(to, result.raw(), result.num_bytes())) return error;
    }
    for (unsigned k = 0; k < call_.num_steps_results(); ++k) {
      const Sequence& y = state_.ys[k];
      if (y.staged < 0) continue;
      char* to = static_cast<char*>(outputs_[k]->raw());
      llvm::Error error =
          call_.by_row()
              ? mover_.Scatter(to, At(y.staged), device_begins_, ShiftOf(t), rows, y.row_bytes)
              : mover_.CopyPieces(to + t * y.slices.bytes, y.slices.bytes * state_.steps,
                                  At(y.staged), y.slices.bytes, y.slices.outer, y.slices.bytes);
      if (error) return error;
    }
    current_ = 1 - current_;
    return llvm::Error::success();
  }

  const ScanCall& call_;
  const LoopState& state_;
  llvm::ArrayRef<const Tensor*> inputs_;
  llvm::MutableArrayRef<Tensor*> outputs_;
  DeviceContext& context_;
  RowMover& mover_;
  char* workspace_;
  std::vector<int64_t> sizes_;
  std::unique_ptr<Body::Lease> lease_;
  Frame* frame_ = nullptr;
  int64_t frame_rows_ = -1;
  unsigned current_ = 0;  // index of the buffer that holds the carry
  llvm::SmallVector<std::pair<unsigned, void*>, 4> fetched_;
  std::vector<int64_t> host_, host_values_;
  int64_t* order_ = nullptr;
  int64_t* begins_ = nullptr;
  int64_t* lengths_ = nullptr;
  int64_t* device_order_ = nullptr;
  int64_t* device_begins_ = nullptr;
};

/// Sets the sizes that the body is run with, and checks them.
llvm::Error PrepareBody(const ScanCall& call, llvm::StringRef rows_symbol,
                        const PrepareContext& context, LoopState* state) {
  for (const std::string& symbol : state->body->symbols()) {
    if (symbol == rows_symbol) {
      state->rows_symbol = static_cast<int>(state->sizes.size());
      state->sizes.push_back(state->rows);
      continue;
    }
    llvm::Expected<int64_t> size = context.Evaluate(Dim::Symbol(symbol));
    // A loop inside the body has a size of its own, which is not known here.
    if (!size) llvm::consumeError(size.takeError());
    state->sizes.push_back(size ? *size : -1);
  }
  if (call.by_row() && state->rows == 0) return llvm::Error::success();
  // Makes the frame, and reports errors of the sizes before anything runs.
  std::unique_ptr<Body::Lease> lease = state->body->Take();
  llvm::Expected<Frame*> frame = lease->FrameFor(state->sizes, context.device());
  state->body->GiveBack(std::move(lease));
  return frame ? llvm::Error::success() : frame.takeError();
}

}  // namespace

ScanCall ScanCall::Of(const OperatorArguments& arguments) {
  const AttributeReader attributes(arguments.def->signature, arguments.attributes);
  ScanCall call;
  if (attributes.Find("num_xs")) call.num_xs = static_cast<unsigned>(attributes.Int("num_xs"));
  call.num_init = static_cast<unsigned>(attributes.Int("num_init"));
  call.num_captured = static_cast<unsigned>(attributes.Int("num_captured"));
  call.num_results = static_cast<unsigned>(attributes.Int("num_results"));
  call.reverse = attributes.Find("reverse") && attributes.Bool("reverse");
  call.is_conditional = attributes.Find("max_steps") != nullptr;
  call.is_packed = !attributes.Find("axis") && !call.is_conditional;
  call.has_lengths = !call.is_packed && arguments.inputs.size() > call.num_given();
  return call;
}

llvm::Error ScanLoop::Initialize(const OperatorArguments& arguments) {
  if (!arguments.body)
    return MakeUserError(Code::kOperatorUse, "'{0}' has a block and can only run in a network",
                         arguments.def->name());
  call_ = ScanCall::Of(arguments);
  const Graph& body = *arguments.body;
  if (call_.by_row()) rows_symbol_ = body.inputs()[0]->type().dims[0].symbol().str();
  for (unsigned j = 0; j < call_.num_init; ++j) {
    const Shape& dims = body.inputs()[call_.first_init() + j]->type().dims;
    carried_by_row_.push_back(call_.by_row() && !dims.empty() && dims[0].symbol() == rows_symbol_);
  }
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<Body>> ScanLoop::BodyFor(const OperatorArguments& arguments,
                                                        const PrepareContext& context) const {
  std::vector<const Tensor*> fixed(call_.num_given(), nullptr);
  std::vector<Tensor> captured(call_.num_captured);
  for (unsigned k = 0; k < call_.num_captured; ++k) {
    const unsigned index = call_.first_captured() + k;
    if (!context.is_constant(index)) continue;
    llvm::Expected<Tensor> value = context.ConstantValue(index);
    if (!value) return value.takeError();
    captured[k] = std::move(*value);
    fixed[index] = &captured[k];
  }
  std::lock_guard lock(mutex_);
  if (!body_ || !body_->HasFixed(fixed)) {
    llvm::Expected<std::shared_ptr<Body>> body = Body::Make(arguments, fixed, context.device());
    if (!body) return body.takeError();
    body_ = std::move(*body);
  }
  return body_;
}

llvm::Expected<Preparation> ScanLoop::Prepare(const OperatorArguments& arguments,
                                              const PrepareContext& context) const {
  ScanCall call = call_;
  const OperandType& first = context.inputs()[0];
  if (!call.is_packed && !call.is_conditional) {
    int64_t axis = AttributeReader(arguments.def->signature, arguments.attributes).Int("axis");
    if (axis < 0) axis += static_cast<int64_t>(first.sizes.size());
    call.axis = static_cast<unsigned>(axis);
  }
  auto state = std::make_shared<LoopState>();
  llvm::Expected<std::shared_ptr<Body>> body = BodyFor(arguments, context);
  if (!body) return body.takeError();
  state->body = std::move(*body);
  Preparation preparation;
  auto take = [&](int64_t bytes) {
    const int64_t offset = preparation.workspace_bytes;
    preparation.workspace_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  };
  if (call.is_conditional) {
    const AttributeReader attributes(arguments.def->signature, arguments.attributes);
    llvm::Expected<int64_t> steps = context.Evaluate(attributes.Dims("max_steps")[0]);
    if (!steps) return steps.takeError();
    state->steps = *steps;
  } else {
    state->steps = call.is_packed ? 0 : first.sizes[call.axis];
  }
  if (call.by_row()) {
    const OperandType& lengths = context.inputs()[call.num_given()];
    state->rows = lengths.sizes[0] - (call.is_packed ? 1 : 0);
    state->order = take(state->rows * 8);
    state->begins = take(state->rows * 8);
    state->lengths = take(state->rows * 8);
  }
  auto sequence = [&](const OperandType& type) {
    Sequence made;
    if (call.by_row()) {
      const size_t lead = call.is_packed ? 1 : 2;
      made.row_bytes = DTypeSize(type.dtype);
      for (size_t i = lead; i < type.sizes.size(); ++i) made.row_bytes *= type.sizes[i];
      made.staged = take(state->rows * made.row_bytes);
    } else {
      made.slices = SlicesOf(type, call.axis);
      if (made.slices.outer != 1) made.staged = take(made.slices.outer * made.slices.bytes);
    }
    return made;
  };
  for (unsigned i = 0; i < call.num_xs; ++i) state->xs.push_back(sequence(context.inputs()[i]));
  for (unsigned k = 0; k < call.num_steps_results(); ++k)
    state->ys.push_back(sequence(context.outputs()[k]));
  for (unsigned j = 0; j < call.num_init; ++j) {
    const OperandType& type = context.inputs()[call.first_init() + j];
    Carried carried;
    carried.by_row = carried_by_row_[j];
    carried.bytes = type.num_elements() * DTypeSize(type.dtype);
    if (carried.by_row && state->rows > 0) carried.row_bytes = carried.bytes / state->rows;
    for (int64_t& buffer : carried.buffers) buffer = take(carried.bytes);
    state->carried.push_back(carried);
  }
  if (llvm::Error error = PrepareBody(call, rows_symbol_, context, state.get())) return error;
  state->axis = call.axis;
  preparation.state = std::move(state);
  return preparation;
}

llvm::Error ScanLoop::Run(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::MutableArrayRef<Tensor*> outputs, DeviceContext& context,
                          RowMover& mover) const {
  const LoopState& state = *context.state<LoopState>();
  ScanCall call = call_;
  call.axis = state.axis;
  return Loop(call, state, inputs, outputs, context, mover).Run();
}

}  // namespace pdl
