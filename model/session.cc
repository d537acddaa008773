// Implements runs of a Model in pdl.h.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "model/model.h"
#include "model/status.h"
#include "pdl/op/error.h"
#include "pdl/op/host_copy.h"
#include "pdl/op/storage.h"
#include "pdl/runtime/run_observer.h"
#include "pdl/runtime/scope.h"
#include "runtime/index_range.h"
#include "runtime/schedule.h"

namespace pdl {
namespace {

/// Arrays for the outputs of a run. They are allocated before the run, so that running out of
/// memory changes no state.
struct OutputArrays {
  OutputArrays(const Graph& graph, const RunRequest& request);

  Arrays arrays;
  /// The owners of the arrays' memory, in the order of the arrays.
  std::vector<std::shared_ptr<Tensor>> tensors;
};

OutputArrays::OutputArrays(const Graph& graph, const RunRequest& request) {
  for (const GraphOutput& output : graph.outputs()) {
    if (!request.outputs.empty() && !llvm::is_contained(request.outputs, output.name)) continue;
    for (const PartType& part : PartsOf(output.name, output.value->type()))
      arrays[PartName(output.name, part.part)].sizes.resize(part.type.dims.size());
  }
  for (auto& [name, array] : arrays) {
    auto tensor = std::make_shared<Tensor>();
    tensor->Borrow(DType::kF32, array.sizes, nullptr, Device());
    array.owner = tensor;
    tensors.push_back(std::move(tensor));
  }
}

/// Copies outputs whose variable in the Scope is a state, which the caller may change.
class StateOutputs final : public OutputObserver {
 public:
  StateOutputs() = default;
  explicit StateOutputs(const Graph& graph) {
    for (const Value* state : graph.states())
      if (llvm::any_of(graph.outputs(),
                       [&](const GraphOutput& output) { return output.name == state->name(); }))
        copies_[state->name()];
  }
  bool empty() const { return copies_.empty(); }

  bool TakesOnDevice(llvm::StringRef) const override { return false; }
  llvm::Error SeeOutput(llvm::StringRef name, const Tensor& tensor) override {
    const auto found = copies_.find(name);
    if (found == copies_.end()) return llvm::Error::success();
    llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(tensor.dtype(), tensor.sizes());
    if (!copy) return copy.takeError();
    std::memcpy(copy->raw(), tensor.raw(), static_cast<size_t>(tensor.num_bytes()));
    found->second = std::move(*copy);
    return llvm::Error::success();
  }
  /// The copy of an output of the last run; null if it is not a state.
  const Tensor* Find(llvm::StringRef name) const {
    const auto found = copies_.find(name);
    return found == copies_.end() ? nullptr : &found->second;
  }

 private:
  llvm::StringMap<Tensor> copies_;
};

}  // namespace

struct Session::Impl {
  explicit Impl(Model model_in) : model(std::move(model_in)) {
    if (model.impl_ != nullptr) state_outputs = StateOutputs(graph());
  }

  const Model::Impl& shared() const { return *model.impl_; }
  const Graph& graph() const { return shared().network->graph(); }

  /// An Error if there is nothing to run, because the session or its model was moved from.
  static llvm::Error Check(const Impl* session);

  llvm::Error PutInputs(const Arrays& inputs);
  void End();
  /// `memory` as in RunOptions::output_memory.
  llvm::Error Run(const Arrays& inputs, const RunRequest& request,
                  const llvm::StringMap<Tensor>* memory = nullptr);
  llvm::Error RunInto(const Arrays& inputs, const Arrays& outputs, RunRequest request);
  llvm::Error Fill(OutputArrays* outputs) const;
  llvm::Expected<const Value*> FindState(llvm::StringRef name) const;

  const Model model;
  Scope scope;
  /// The variables that hold views of the caller's arrays during a run.
  llvm::SmallVector<Variable*, 8> fed;
  StateOutputs state_outputs;
  std::atomic<bool> cancel = false;
};

llvm::Error Session::Impl::Check(const Impl* session) {
  if (session == nullptr) return MakeUserError(Code::kOperatorUse, "the session was moved from");
  return CheckModel(session->model.impl_.get());
}

llvm::Expected<std::string> OutputOf(const Graph& graph, llvm::StringRef name) {
  for (const GraphOutput& output : graph.outputs())
    for (const PartType& part : PartsOf(output.name, output.value->type()))
      if (PartName(output.name, part.part) == name) return output.name;
  if (llvm::Error error = CheckOutput(graph, name)) return error;
  InternalError("the output '" + name.str() + "' has no array of its name");
}

namespace {

/// Whether `name` is that of an array of an input; ragged and sparse inputs have several.
bool IsPartOfInput(const Graph& graph, llvm::StringRef name) {
  for (const Value* input : graph.inputs())
    for (const PartType& part : PartsOf(input->name(), input->type()))
      if (PartName(input->name(), part.part) == name) return true;
  return false;
}

llvm::Error UnknownInput(const Graph& graph, llvm::StringRef name) {
  std::vector<std::string> parts;
  for (const Value* input : graph.inputs())
    for (const PartType& part : PartsOf(input->name(), input->type()))
      parts.push_back(PartName(input->name(), part.part));
  const llvm::SmallVector<llvm::StringRef, 8> names(parts.begin(), parts.end());
  return MakeUserError(Code::kSurplusInput, "the network has no input '{0}'{1}", name,
                       DidYouMean(name, names));
}

/// The memory of an array.
struct Range {
  Range(llvm::StringRef name_in, const Array& array)
      : begin(reinterpret_cast<uintptr_t>(array.data)),
        end(begin + static_cast<uintptr_t>(array.num_elements() * DTypeSize(array.dtype))),
        name(name_in) {}
  bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }

  uintptr_t begin, end;
  llvm::StringRef name;
};

/// The memory of the arrays, by address.
llvm::Expected<std::vector<Range>> RangesOf(const Arrays& outputs) {
  std::vector<Range> ranges;
  for (const auto& [name, array] : outputs)
    if (const Range range(name, array); range.begin != range.end) ranges.push_back(range);
  llvm::sort(ranges, [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (!ranges[i].Overlaps(ranges[i - 1])) continue;
    const auto [first, second] = std::minmax(ranges[i - 1].name, ranges[i].name);
    return MakeUserError(Code::kInputType, "the arrays of the outputs '{0}' and '{1}' overlap",
                         first, second);
  }
  return ranges;
}

/// Copies those inputs that a run would overwrite while it reads them.
llvm::Expected<Arrays> WithoutOverlap(Arrays inputs, llvm::ArrayRef<Range> outputs) {
  for (auto& [name, array] : inputs) {
    llvm::Expected<Tensor> view = ViewOf(name, array);
    if (!view) return view.takeError();
    const Range range(name, array);
    if (llvm::none_of(outputs, [&](const Range& output) { return output.Overlaps(range); }))
      continue;
    llvm::Expected<Tensor> copy = Tensor::AllocateUninitialized(view->dtype(), view->sizes());
    if (!copy) return copy.takeError();
    std::memcpy(copy->raw(), view->raw(), static_cast<size_t>(view->num_bytes()));
    array = ToArray(std::move(*copy));
  }
  return inputs;
}

}  // namespace

llvm::Error CheckInput(const Graph& graph, llvm::StringRef name, const Array* array) {
  if (!IsPartOfInput(graph, name)) return UnknownInput(graph, name);
  return array == nullptr ? llvm::Error::success() : InputView(name, *array).takeError();
}

/// Puts views of the caller's arrays into the Scope, after all of them have been checked.
llvm::Error Session::Impl::PutInputs(const Arrays& inputs) {
  std::vector<std::pair<llvm::StringRef, Tensor>> tensors;
  for (const auto& [name, array] : inputs) {
    if (!IsPartOfInput(graph(), name)) return UnknownInput(graph(), name);
    llvm::Expected<Tensor> tensor = InputView(name, array);
    if (!tensor) return tensor.takeError();
    tensors.emplace_back(name, std::move(*tensor));
  }
  fed.reserve(tensors.size());
  for (auto& [name, tensor] : tensors) {
    fed.push_back(scope.Create(name));
    fed.back()->Set(std::move(tensor));
  }
  return llvm::Error::success();
}

/// Removes all views and the request to cancel after a run, whether it succeeded or not.
void Session::Impl::End() {
  for (Variable* variable : fed) variable->Clear();
  fed.clear();
  cancel = false;
}

llvm::Error Session::Impl::Run(const Arrays& inputs, const RunRequest& request,
                               const llvm::StringMap<Tensor>* memory) {
  // The parts of an output are requested together.
  for (const std::string& name : request.outputs)
    if (llvm::Error error = CheckOutput(graph(), name)) return error;
  if (llvm::Error error = PutInputs(inputs)) return error;
  RunOptions options;
  options.outputs = request.outputs;
  options.training = request.training;
  options.check_finite = request.check_finite;
  options.check_indices = request.check_indices;
  options.cancel = &cancel;
  options.output_memory = memory;
  if (memory == nullptr && !state_outputs.empty()) options.output_observer = &state_outputs;
  return shared().network->Run(&scope, shared().context.get(), options);
}

llvm::Error Session::Impl::RunInto(const Arrays& inputs, const Arrays& outputs,
                                   RunRequest request) {
  if (!request.outputs.empty())
    return MakeUserError(
        Code::kOperatorUse,
        "RunInto computes the outputs that it has arrays for: the request must not name any");
  llvm::StringMap<Tensor> memory;
  for (const auto& [name, array] : outputs) {
    llvm::Expected<std::string> output = OutputOf(graph(), name);
    if (!output) return output.takeError();
    if (!llvm::is_contained(request.outputs, *output)) request.outputs.push_back(*output);
    llvm::Expected<Tensor> view = ViewOf(name, array);
    if (!view) return view.takeError();
    memory[name] = std::move(*view);
  }
  llvm::Expected<std::vector<Range>> ranges = RangesOf(outputs);
  if (!ranges) return ranges.takeError();
  llvm::Expected<Arrays> separate = WithoutOverlap(inputs, *ranges);
  if (!separate) return separate.takeError();
  return Run(*separate, request, &memory);
}

/// Copies references to the outputs of the last run from the Scope. Allocates nothing.
llvm::Error Session::Impl::Fill(OutputArrays* outputs) const {
  auto owner = outputs->tensors.begin();
  for (auto& [name, array] : outputs->arrays) {
    const Variable* variable = scope.Find(name);
    const Tensor* tensor = state_outputs.Find(name);
    if (tensor == nullptr && variable != nullptr) tensor = variable->Get<Tensor>();
    if (tensor == nullptr) return MakeUserError(Code::kNoResult, "the run returned no '{0}'", name);
    array.dtype = tensor->dtype();
    array.sizes.assign(tensor->sizes().begin(), tensor->sizes().end());
    **owner = *tensor;
    array.data = (*owner++)->raw();
  }
  return llvm::Error::success();
}

llvm::Expected<const Value*> Session::Impl::FindState(llvm::StringRef name) const {
  for (const Value* state : graph().states())
    if (state->name() == name) return state;
  return MakeUserError(Code::kUnknownName, "the network has no state '{0}'", name);
}

Session::Session(Model model) : impl_(std::make_unique<Impl>(std::move(model))) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Arrays> Session::Run(const Arrays& inputs, const RunRequest& request) {
  return AsResult("running a model", [&]() -> llvm::Expected<Arrays> {
    if (llvm::Error error = Impl::Check(impl_.get())) return error;
    const auto end = llvm::make_scope_exit([&] { impl_->End(); });
    OutputArrays outputs(impl_->graph(), request);
    if (llvm::Error error = impl_->Run(inputs, request)) return error;
    if (llvm::Error error = impl_->Fill(&outputs)) return error;
    return std::move(outputs.arrays);
  });
}

Status Session::RunInto(const Arrays& inputs, const Arrays& outputs, const RunRequest& request) {
  return AsStatus("running a model", [&]() -> llvm::Error {
    if (llvm::Error error = Impl::Check(impl_.get())) return error;
    const auto end = llvm::make_scope_exit([&] { impl_->End(); });
    return impl_->RunInto(inputs, outputs, request);
  });
}

Result<Array> Session::State(const std::string& name) const {
  return AsResult("reading a state", [&]() -> llvm::Expected<Array> {
    if (llvm::Error error = Impl::Check(impl_.get())) return error;
    llvm::Expected<const Value*> state = impl_->FindState(name);
    if (!state) return state.takeError();
    const Variable* variable = impl_->scope.Find(name);
    const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
    for (const Dim& dim : (*state)->type().dims)
      if (!tensor && !dim.is_constant())
        return MakeUserError(Code::kOperatorUse,
                             "state '{0}' is declared {1}, and has no value before the first run, "
                             "whose inputs determine {2}",
                             name, (*state)->type().ToString(), dim.ToString());
    llvm::Expected<Tensor> value = tensor ? OnHost(*tensor, *impl_->shared().context)
                                          : impl_->shared().network->InitialValue(name);
    if (!value) return value.takeError();
    // Copies the value: the next run may update the state in place.
    const Constant constant = value->ToConstant();
    return ToArray(
        Tensor::FromConstant(Constant::Copy(constant.dtype(), constant.sizes(), constant.data())));
  });
}

Status Session::SetState(const std::string& name, const Array& value) {
  return AsStatus("setting a state", [&]() -> llvm::Error {
    if (llvm::Error error = Impl::Check(impl_.get())) return error;
    llvm::Expected<const Value*> state = impl_->FindState(name);
    if (!state) return state.takeError();
    llvm::Expected<Tensor> view = InputView(name, value);
    if (!view) return view.takeError();
    const Type& type = (*state)->type();
    bool fits = view->dtype() == type.dtype && view->rank() == type.rank();
    for (unsigned axis = 0; fits && axis < type.rank(); ++axis)
      fits = !type.dims[axis].is_constant() || type.dims[axis].constant() == view->size(axis);
    if (!fits)
      return MakeUserError(Code::kInputType, "state '{0}' is {1}, got {2}", name, type.ToString(),
                           view->TypeString());
    if (llvm::Error error = CheckDeclaredRange(type, *view, "state '" + name + "'")) return error;
    impl_->scope.Create(name)->Set(
        Tensor::FromConstant(Constant::Copy(view->dtype(), view->sizes(), view->raw())));
    return llvm::Error::success();
  });
}

void Session::Reset() {
  if (llvm::Error error = Impl::Check(impl_.get())) return llvm::consumeError(std::move(error));
  for (const Value* state : impl_->graph().states()) impl_->scope.Erase(state->name());
}

void Session::Cancel() {
  if (impl_ != nullptr) impl_->cancel = true;
}

}  // namespace pdl
