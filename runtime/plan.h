#ifndef PDL_RUNTIME_PLAN_H_
#define PDL_RUNTIME_PLAN_H_

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/scope.h"
#include "runtime/arena_pool.h"
#include "runtime/binding.h"
#include "runtime/schedule.h"

namespace pdl {

/// A Network prepared for a device, a mode and a set of outputs: its Schedule, and Bindings to the
/// most recently used sizes. Shared by threads.
class Plan {
 public:
  Plan(std::unique_ptr<const Schedule> schedule, unsigned max_bindings);

  const Schedule& schedule() const { return *schedule_; }
  /// The sizes of the schedule's symbols: from `known`, from its inputs, or from its size inputs,
  /// some of which may be null. Checks the inputs.
  llvm::Expected<std::vector<int64_t>> SymbolSizes(
      llvm::ArrayRef<const Tensor*> inputs, const llvm::StringMap<int64_t>* known = nullptr) const;
  /// The Binding for these sizes, in the order of the schedule's symbols; -1 if unknown.
  llvm::Expected<std::shared_ptr<Binding>> Bind(llvm::ArrayRef<int64_t> sizes,
                                                DeviceContext& context, PackCache& packs);
  ArenaPool& arenas() { return arenas_; }
  /// The size of a symbol in `sizes`.
  std::optional<int64_t> SizeOf(llvm::StringRef symbol, llvm::ArrayRef<int64_t> sizes) const;

 private:
  /// Checks the sizes that no single symbol determines, and the ranges of indices.
  llvm::Error CheckInputs(llvm::ArrayRef<const Tensor*> inputs,
                          llvm::ArrayRef<int64_t> sizes) const;
  /// The name of an input, or of the one that it is a part of.
  llvm::StringRef InputOf(const Value& part) const;

  /// One dim of an input: the required size, or the symbol that it determines.
  struct InputDim {
    int symbol = -1;        // the dim is this symbol
    int64_t constant = -1;  // or has this size; both -1: another expression
  };
  std::unique_ptr<const Schedule> schedule_;
  /// The schedule's inputs, then its size inputs.
  std::vector<const Value*> inputs_;
  std::vector<llvm::SmallVector<InputDim, 4>> input_dims_;
  llvm::StringMap<unsigned> symbol_index_;
  unsigned max_bindings_;
  ArenaPool arenas_;

  std::mutex mutex_;
  struct Bound {
    std::vector<int64_t> sizes;
    int64_t threads;
    std::shared_ptr<Binding> binding;
  };
  /// The most recently used ones first.
  std::list<Bound> bindings_;
};

/// Prints the plan for `pdl dump --emit=plan`: the steps with kernels and groups, and if `binding`
/// is given, sizes, offsets and bytes. `choices` has a line for each plan_select.
std::string PlanToString(const Graph& graph, const Schedule& schedule, const Binding* binding,
                         llvm::ArrayRef<std::string> choices);

}  // namespace pdl

#endif  // PDL_RUNTIME_PLAN_H_
