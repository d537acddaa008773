#include "runtime/plan.h"

#include "pdl/op/error.h"
#include "runtime/context_threads.h"
#include "runtime/index_range.h"
#include "runtime/packed_inputs.h"

namespace pdl {
namespace {

llvm::Error CheckIndexRange(const Value& input, const Tensor& tensor, int64_t bound) {
  if (tensor.device().kind != DeviceKind::kCPU || FindOutside(tensor, bound) < 0)
    return llvm::Error::success();
  Type type = input.type();
  type.index_bound = Dim(bound);
  return CheckDeclaredRange(type, tensor, "input '" + input.name() + "'");
}

}  // namespace

/// How many bindings are kept, see NetworkOptions.
static unsigned NumBindings(size_t num_steps, unsigned max_bindings) {
  if (max_bindings > 0) return max_bindings;
  constexpr size_t kSteps = 1 << 14, kAtLeast = 32, kAtMost = 256;
  return static_cast<unsigned>(
      std::clamp(kSteps / std::max<size_t>(1, num_steps), kAtLeast, kAtMost));
}

Plan::Plan(std::unique_ptr<const Schedule> schedule, unsigned max_bindings)
    : schedule_(std::move(schedule)),
      max_bindings_(NumBindings(schedule_->steps.size(), max_bindings)) {
  for (unsigned i = 0; i < schedule_->symbols.size(); ++i) symbol_index_[schedule_->symbols[i]] = i;
  for (SlotId slot : schedule_->inputs) inputs_.push_back(schedule_->slots[slot].value);
  inputs_.insert(inputs_.end(), schedule_->size_inputs.begin(), schedule_->size_inputs.end());
  for (const Value* value : inputs_) {
    auto& dims = input_dims_.emplace_back();
    for (const Dim& dim : value->type().dims) {
      InputDim input;
      if (dim.is_constant()) {
        input.constant = dim.constant();
      } else if (!dim.symbol().empty()) {
        input.symbol = static_cast<int>(symbol_index_.lookup(dim.symbol()));
      }
      dims.push_back(input);
    }
  }
}

llvm::StringRef Plan::InputOf(const Value& part) const {
  return schedule_->packed ? schedule_->packed->InputOf(part.name()) : llvm::StringRef(part.name());
}

std::optional<int64_t> Plan::SizeOf(llvm::StringRef symbol, llvm::ArrayRef<int64_t> sizes) const {
  auto found = symbol_index_.find(symbol);
  if (found == symbol_index_.end() || sizes[found->second] < 0) return std::nullopt;
  return sizes[found->second];
}

llvm::Error Plan::CheckInputs(llvm::ArrayRef<const Tensor*> inputs,
                              llvm::ArrayRef<int64_t> sizes) const {
  auto lookup = [&](llvm::StringRef symbol) { return SizeOf(symbol, sizes); };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const bool is_read = i < schedule_->inputs.size();
    if (inputs[i] == nullptr) continue;
    const Value& value = *inputs_[i];
    for (unsigned axis = 0; axis < inputs[i]->rank(); ++axis) {
      if (input_dims_[i][axis].symbol >= 0 || input_dims_[i][axis].constant >= 0) continue;
      llvm::Expected<int64_t> size = value.type().dims[axis].Evaluate(lookup);
      if (!size && !is_read) {
        // The run needs no symbol of this size.
        llvm::consumeError(size.takeError());
        continue;
      }
      if (!size)
        return MakeUserError(Code::kInputType, "input '{0}': {1}", value.name(),
                             llvm::toString(size.takeError()));
      if (*size != inputs[i]->size(axis))
        return MakeUserError(Code::kInputType, "input '{0}' is declared {1}, got {2}: {3} is {4}",
                             value.name(), value.type().ToString(), inputs[i]->TypeString(),
                             value.type().dims[axis].ToString(), *size);
    }
    if (!is_read || !value.type().index_bound) continue;
    llvm::Expected<int64_t> bound = value.type().index_bound->Evaluate(lookup);
    if (!bound)
      return MakeUserError(Code::kInputType, "input '{0}': {1}", value.name(),
                           llvm::toString(bound.takeError()));
    if (llvm::Error error = CheckIndexRange(value, *inputs[i], *bound)) return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<int64_t>> Plan::SymbolSizes(
    llvm::ArrayRef<const Tensor*> inputs, const llvm::StringMap<int64_t>* known) const {
  const Schedule& schedule = *schedule_;
  std::vector<int64_t> sizes(schedule.symbols.size(), -1);
  llvm::SmallVector<const Value*, 4> source(sizes.size(), nullptr);
  for (size_t i = 0; known && i < sizes.size(); ++i)
    if (auto found = known->find(schedule.symbols[i]); found != known->end())
      sizes[i] = found->second;
  auto conflict = [&](int symbol, const Value& value, int64_t size) {
    if (!source[symbol])
      return MakeUserError(Code::kSymbolConflict, "'{0}' is {1} in this run and {2} by input '{3}'",
                           schedule.symbols[symbol], sizes[symbol], size, InputOf(value));
    llvm::StringRef first = InputOf(*source[symbol]), second = InputOf(value);
    if (first == second) {
      first = source[symbol]->name();
      second = value.name();
    }
    return MakeUserError(Code::kSymbolConflict,
                         "'{0}' is {1} by input '{2}' and {3} by input '{4}'",
                         schedule.symbols[symbol], sizes[symbol], first, size, second);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const Value& value = *inputs_[i];
    const Tensor& tensor = *inputs[i];
    auto misfit = [&] {
      return MakeUserError(Code::kInputType, "input '{0}' is declared {1}, got {2}", value.name(),
                           value.type().ToString(), tensor.TypeString());
    };
    if (tensor.dtype() != value.type().dtype || tensor.rank() != value.type().rank())
      return misfit();
    for (unsigned axis = 0; axis < tensor.rank(); ++axis) {
      const InputDim& dim = input_dims_[i][axis];
      int64_t size = tensor.size(axis);
      int symbol = dim.symbol;
      int64_t symbol_size = size;
      if (symbol < 0) {
        if (dim.constant >= 0) {
          if (size != dim.constant) return misfit();
          continue;
        }
        llvm::Expected<std::optional<std::pair<std::string, int64_t>>> solved =
            value.type().dims[axis].Solve(size);
        if (!solved)
          return MakeUserError(Code::kInputType, "input '{0}' is declared {1}, got {2}: {3}",
                               value.name(), value.type().ToString(), tensor.TypeString(),
                               llvm::toString(solved.takeError()));
        if (!*solved) continue;  // checked below, when all symbols are known
        symbol = static_cast<int>(symbol_index_.lookup((*solved)->first));
        symbol_size = (*solved)->second;
      }
      if (sizes[symbol] >= 0 && sizes[symbol] != symbol_size)
        return conflict(symbol, value, symbol_size);
      sizes[symbol] = symbol_size;
      source[symbol] = &value;
    }
  }
  if (llvm::Error error = CheckInputs(inputs, sizes)) return error;
  return sizes;
}

llvm::Expected<std::shared_ptr<Binding>> Plan::Bind(llvm::ArrayRef<int64_t> sizes,
                                                    DeviceContext& context, PackCache& packs) {
  const int64_t threads = ThreadsOf(context);
  {
    std::lock_guard lock(mutex_);
    for (auto entry = bindings_.begin(); entry != bindings_.end(); ++entry) {
      if (llvm::ArrayRef<int64_t>(entry->sizes) != sizes || entry->threads != threads) continue;
      if (entry != bindings_.begin()) bindings_.splice(bindings_.begin(), bindings_, entry);
      return bindings_.front().binding;
    }
  }
  // Created outside the lock: two threads may create the same one, and one of them is dropped.
  auto lookup = [&](llvm::StringRef symbol) { return SizeOf(symbol, sizes); };
  llvm::Expected<std::shared_ptr<Binding>> binding =
      Binding::Make(*schedule_, context, packs, lookup);
  if (!binding) return binding.takeError();
  std::lock_guard lock(mutex_);
  bindings_.push_front({sizes.vec(), threads, *binding});
  if (bindings_.size() > max_bindings_) bindings_.pop_back();
  return binding;
}

}  // namespace pdl
