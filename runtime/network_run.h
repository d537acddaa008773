#ifndef PDL_RUNTIME_NETWORK_RUN_H_
#define PDL_RUNTIME_NETWORK_RUN_H_

#include <memory>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/runtime/scope.h"
#include "runtime/frame.h"
#include "runtime/packed_inputs.h"
#include "runtime/plan_cache.h"

namespace pdl {

/// Values that the segments of a run pass to each other; see Segments.
struct SegmentData {
  explicit SegmentData(const Graph& graph_in, const Scope& scope)
      : graph(graph_in), values(&scope) {}

  /// The complete network.
  const Graph& graph;
  /// The computed values under their names; its parent is the caller's Scope.
  Scope values;
  llvm::StringMap<int64_t> sizes;
};

/// One run of a Plan: reads tensors from a Scope and writes results to it.
class NetworkRun {
 public:
  /// `data` is null unless this is the run of a segment.
  NetworkRun(ChosenPlan chosen, Scope& scope, SegmentData* data, DeviceContext& context,
             WeightStore& weights, const PackedInputs& packed);
  /// Removes states and outputs that it created, unless they were stored.
  ~NetworkRun();

  /// Does everything except storing. Values that later segments need are added to the SegmentData.
  llvm::Error Compute(PackCache& packs, uint64_t seed, const RunOptions& run);
  /// Shows the outputs that were not shown while they were computed. Must be called after all
  /// segments have been computed, and before PrepareToStore.
  llvm::Error ShowRemainingOutputs(const RunOptions& run) const;
  /// Allocates what storing needs, so that it cannot fail: either all outputs and states are stored
  /// or none. Must be called after all segments have been computed.
  void PrepareToStore();
  /// Runs the in-place state updates. They read tensors of the Scope, so nothing may be stored
  /// before. Fails only if the device does.
  llvm::Error RunStoringSteps();
  /// Must be called before StoreUpdates: an output may have the name of a state.
  void StoreOutputs() noexcept;
  void StoreUpdates() noexcept;

 private:
  /// A tensor that is to be stored in a Variable of the Scope.
  struct Stored {
    Stored(Variable* to_in, Tensor tensor) : to(to_in) { value.Set(std::move(tensor)); }

    Variable* to;
    Variable value;
  };

  llvm::Error CheckChoice();
  llvm::Error FindStates();
  llvm::Expected<Tensor> InitialOf(const Value& state, SymbolLookup lookup);
  llvm::Error CheckVariable(const Value& value, const Tensor& tensor, const char* what,
                            SymbolLookup lookup);
  llvm::Error RunFrame(uint64_t seed, const RunOptions& run);
  llvm::Error GiveSources();
  llvm::Error GiveOutputs(const RunOptions& run);
  llvm::Expected<Tensor> TakeOutput(const std::string& name, const OperandType& type,
                                    const Tensor* given);
  bool MayReuse(const std::string& name, const Tensor& last) const;
  llvm::Expected<Tensor> MakeOutput(const OperandType& type, bool crosses);
  bool IsRead(const Tensor* tensor) const;
  llvm::Error RunCalls(RandomState random, const RunOptions& run);
  llvm::Error ShowOutput(unsigned output, OutputObserver& observer) const;
  llvm::Error CollectOutputs();
  llvm::Error GiveUpdates(const RunOptions& run);
  llvm::Error CollectUpdates();
  Variable* StateOf(const Value& state) const;
  void PassOn();

  const ChosenPlan chosen_;
  Plan& plan_;
  const Schedule& schedule_;
  Scope& scope_;
  SegmentData* data_;
  DeviceContext& context_;
  WeightStore& weights_;
  const PackedInputs& packed_;
  std::vector<int64_t> sizes_;
  std::shared_ptr<Binding> binding_;
  std::unique_ptr<Frame> frame_;
  uint64_t run_count_ = 0;
  bool is_stored_ = false;
  bool runs_storing_steps_ = false;
  RunProfile* profile_ = nullptr;               // of this run; may be null
  llvm::SmallVector<const Tensor*, 4> inputs_;  // as returned by FindInputs
  llvm::SmallVector<Variable*, 4> states_;
  llvm::SmallVector<Variable*, 4> new_states_;  // created by this run
  llvm::SmallVector<Tensor, 2> kept_;
  llvm::SmallVector<Tensor, 2> outputs_;
  /// By output: whether only the observer gets it, on the device.
  llvm::SmallVector<bool, 2> stays_on_device_;
  /// By output: whether it is in the caller's memory (RunOptions::output_memory).
  llvm::SmallVector<bool, 2> is_given_;
  llvm::SmallVector<Tensor, 2> updates_;
  llvm::SmallVector<Stored, 2> stored_outputs_, stored_updates_;
  llvm::SmallVector<llvm::StringRef, 2> new_outputs_;  // whose Variables PrepareToStore created
};

}  // namespace pdl

#endif  // PDL_RUNTIME_NETWORK_RUN_H_
