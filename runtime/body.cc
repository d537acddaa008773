#include "runtime/body.h"

#include <algorithm>
#include <new>

#include "llvm/ADT/StringSet.h"
#include "pdl/op/error.h"
#include "runtime/context_threads.h"
#include "runtime/evaluator.h"

namespace pdl {
namespace {

/// The maximum number of cached bindings and frames of a body; beyond it all are dropped.
constexpr size_t kMaxBindings = 1024;

/// The symbols of all sizes that calls of a body, and of nested blocks, depend on.
std::vector<std::string> SymbolsOf(const Graph& graph) {
  std::vector<std::string> symbols;
  llvm::StringSet<> seen;
  auto add = [&](const Dim& dim) {
    dim.ForEachSymbol([&](llvm::StringRef name) {
      if (seen.insert(name).second) symbols.push_back(name.str());
    });
  };
  for (uint32_t i = 0; i < graph.num_blocks(); ++i) {
    for (const Value* input : graph.block({i}).inputs) llvm::for_each(input->type().dims, add);
    for (const Op* op : graph.block({i}).ops) {
      for (const Value* result : op->results()) llvm::for_each(result->type().dims, add);
      for (const AttributeValue& value : op->attribute_values()) {
        if (const auto* shape = std::get_if<Shape>(&value)) llvm::for_each(*shape, add);
        if (const auto* shapes = std::get_if<std::vector<Shape>>(&value))
          for (const Shape& shape : *shapes) llvm::for_each(shape, add);
      }
      for (const DimCheck& check : op->checks()) {
        add(check.left);
        add(check.right);
      }
    }
  }
  return symbols;
}

}  // namespace

Body::~Body() = default;

llvm::Expected<std::shared_ptr<Body>> Body::Make(const OperatorArguments& arguments,
                                                 llvm::ArrayRef<const Tensor*> fixed,
                                                 DeviceContext& context) {
  std::shared_ptr<Body> body(new Body());
  body->graph_ = arguments.body;
  const Graph& graph = *body->graph_;
  body->symbols_ = SymbolsOf(graph);
  for (const Tensor* tensor : fixed) body->fixed_.push_back(tensor ? tensor->raw() : nullptr);
  ScheduleRequest request;
  request.graph = &graph;
  request.fuse = arguments.fuse;
  request.training = arguments.training;
  request.matmul_precision = arguments.matmul_precision;
  request.is_body = true;
  request.context = &context;
  auto parameter = [](const Value&) -> llvm::Expected<Tensor> {
    InternalError("a block has a parameter");
  };
  auto fixed_input = [&](const Value& value) -> const Tensor* {
    const auto found = llvm::find(graph.inputs(), &value);
    return fixed[static_cast<size_t>(found - graph.inputs().begin())];
  };
  request.parameter = parameter;
  request.evaluate = std::make_shared<const ConstantCalls::Evaluate>(
      [&](const Op& op, llvm::ArrayRef<Tensor> operands, DeviceContext& device) {
        return EvaluateConstantCall(graph, op, operands, arguments.training, RandomState{}, device);
      });
  request.fixed_input = fixed_input;
  llvm::Expected<std::unique_ptr<const Schedule>> schedule = MakeSchedule(request);
  if (!schedule) return schedule.takeError();
  body->schedule_ = std::move(*schedule);
  body->inputs_.resize(graph.inputs().size());
  for (const SlotId slot : body->schedule_->inputs) {
    const auto found = llvm::find(graph.inputs(), body->schedule_->slots[slot].value);
    body->inputs_[static_cast<size_t>(found - graph.inputs().begin())] = slot;
  }
  return body;
}

bool Body::HasFixed(llvm::ArrayRef<const Tensor*> fixed) const {
  return llvm::equal(fixed, fixed_, [](const Tensor* tensor, const void* data) {
    return (tensor ? tensor->raw() : nullptr) == data;
  });
}

/// Bindings and frames depend on the sizes and on the number of threads.
static std::vector<int64_t> KeyOf(llvm::ArrayRef<int64_t> sizes, const DeviceContext& context) {
  std::vector<int64_t> key = sizes.vec();
  key.push_back(ThreadsOf(context));
  return key;
}

llvm::Expected<std::shared_ptr<Binding>> Body::Bind(llvm::ArrayRef<int64_t> sizes,
                                                    DeviceContext& context) {
  const std::vector<int64_t> key = KeyOf(sizes, context);
  {
    std::lock_guard lock(mutex_);
    if (auto found = bindings_.find(key); found != bindings_.end()) return found->second;
  }
  auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
    const auto found = llvm::find(symbols_, name);
    if (found == symbols_.end()) return std::nullopt;
    const int64_t size = sizes[static_cast<size_t>(found - symbols_.begin())];
    return size < 0 ? std::nullopt : std::optional(size);
  };
  llvm::Expected<std::shared_ptr<Binding>> binding =
      Binding::Make(*schedule_, context, packs_, lookup);
  if (!binding) return binding.takeError();
  std::lock_guard lock(mutex_);
  if (bindings_.size() >= kMaxBindings) bindings_.clear();
  bindings_[key] = *binding;
  return *binding;
}

llvm::Expected<Frame*> Body::Lease::FrameFor(llvm::ArrayRef<int64_t> sizes,
                                             DeviceContext& context) {
  std::vector<int64_t> key = KeyOf(sizes, context);
  if (auto found = frames_.find(key); found != frames_.end()) return found->second.frame.get();
  llvm::Expected<std::shared_ptr<Binding>> binding = body_.Bind(sizes, context);
  if (!binding) return binding.takeError();
  if (frames_.size() >= kMaxBindings) frames_.clear();
  if (!arena_ || arena_bytes_ < (*binding)->arena_bytes) {
    // Frames created before keep their arena.
    const int64_t bytes = std::max<int64_t>((*binding)->arena_bytes, 1);
    llvm::Expected<std::shared_ptr<void>> arena = context.Allocate(bytes);
    if (!arena) return arena.takeError();
    arena_ = std::move(*arena);
    arena_bytes_ = bytes;
  }
  llvm::Expected<std::unique_ptr<Frame>> frame = Frame::Make(**binding, context, arena_);
  if (!frame) return frame.takeError();
  Frame* made = frame->get();
  frames_[std::move(key)] = {std::move(*binding), std::move(*frame)};
  return made;
}

void Body::Lease::SetInput(Frame& frame, unsigned input, const void* data) const {
  if (body_.inputs_[input]) frame.SetData(*body_.inputs_[input], const_cast<void*>(data));
}

bool Body::Lease::SetOutput(Frame& frame, unsigned output, void* data) const {
  const SlotId slot = body_.schedule_->outputs[output].slot;
  const Placement& placement = frame.placement(slot);
  if (placement.kind != Placement::Kind::kOutput || placement.offset != int64_t{output})
    return false;
  frame.SetData(placement.root, data);
  return true;
}

const Tensor& Body::Lease::ResultOf(Frame& frame, unsigned output) const {
  return frame.tensor(body_.schedule_->outputs[output].slot);
}

std::unique_ptr<Body::Lease> Body::Take() {
  std::unique_ptr<Lease> lease = leases_.Take();
  return lease ? std::move(lease) : std::make_unique<Lease>(*this);
}

void Body::GiveBack(std::unique_ptr<Lease> lease) { leases_.GiveBack(std::move(lease)); }

}  // namespace pdl
