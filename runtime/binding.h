#ifndef PDL_RUNTIME_BINDING_H_
#define PDL_RUNTIME_BINDING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "runtime/idle_pool.h"
#include "runtime/schedule.h"

namespace pdl {

class Frame;

/// Packed forms of weights, created once for each device and owned by the Network.
class PackCache {
 public:
  /// `value` returns the tensor of the weight, which has that type; it is called only to pack it.
  llvm::Expected<std::shared_ptr<const void>> Get(
      const FixedValue& weight, const OperandType& type, llvm::StringRef layout,
      llvm::function_ref<llvm::Expected<Tensor>()> value, PrepareContext::PackFunction pack);

 private:
  std::mutex mutex_;
  llvm::StringMap<std::shared_ptr<const void>> packed_;
};

/// The location of a slot's bytes while a Frame runs.
struct Placement {
  enum class Kind : uint8_t {
    kArena,   // at `offset` in the Frame's arena
    kGiven,   // set for each run: input, parameter, state
    kFixed,   // a constant of the schedule
    kOutput,  // the memory of output `offset`, set for each run
    kUpdate,  // the memory of update `offset`, set for each run
    kNone,    // never in memory
  };
  Kind kind = Kind::kNone;
  int64_t offset = 0;
  /// The slot whose memory this slot shares; the slot itself if it has its own.
  SlotId root = 0;
  /// kArena: the slot that it overwrites in place.
  std::optional<SlotId> overwrites = std::nullopt;
};

/// The size-dependent half of a Plan: prepared states, and the offset of each value in the arena.
/// Immutable except for its pool of Frames; shared by threads.
class Binding {
 public:
  /// Evaluates all sizes (`lookup` gives those of symbols), runs the deferred checks, prepares all
  /// steps and lays out the arena.
  static llvm::Expected<std::shared_ptr<Binding>> Make(
      const Schedule& schedule, DeviceContext& context, PackCache& packs,
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup);
  ~Binding();

  /// The memory of a slot with Placement::Kind::kFixed; null if no call reads it.
  const void* FixedData(SlotId slot) const;

  /// Returns null if there is no frame whose arena is free.
  std::unique_ptr<Frame> TakeFrame();
  void GiveBack(std::unique_ptr<Frame> frame);

  struct Call {
    const OperatorBase* op;
    std::shared_ptr<const CallState> state;
    int64_t workspace_offset;
    int64_t workspace_bytes;
    bool skip;  // all outputs are aliases or empty
    DType matmul_precision = DType::kF32;
  };

  const Schedule& schedule;
  std::vector<OperandType> types;  // by slot
  /// By update: whether the new value may overwrite the state.
  std::vector<bool> overwrites;
  std::vector<Placement> placements;
  /// The deferred constants that calls read.
  std::map<SlotId, Tensor> kept;
  std::vector<Call> calls;  // by step
  int64_t arena_bytes = 0;
  /// The maximum number of live bytes in the arena at one time.
  int64_t live_bytes = 0;
  /// The same for the values only, without workspaces and without rounding up to the alignment.
  int64_t value_bytes = 0;
  /// The bytes that all results would need without sharing memory.
  int64_t unshared_bytes = 0;
  /// The bytes of outputs, which are outside the arena.
  int64_t output_bytes = 0;

 private:
  explicit Binding(const Schedule& schedule_in);
  IdlePool<Frame> frames_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_BINDING_H_
