#ifndef PDL_RUNTIME_BODY_H_
#define PDL_RUNTIME_BODY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "pdl/op/device_context.h"
#include "pdl/op/operator.h"
#include "runtime/frame.h"
#include "runtime/idle_pool.h"
#include "runtime/schedule.h"

namespace pdl {

/// The body of a loop, prepared for a device: scheduled once, bound once for each set of sizes, and
/// run once per step. Shared by threads.
class PDL_API Body {
 public:
  /// Creates the body for the block that a call refers to. `fixed` has for each operand, in the
  /// order of the block's inputs, its tensor if it is the same in every run, else null.
  static llvm::Expected<std::shared_ptr<Body>> Make(const OperatorArguments& arguments,
                                                    llvm::ArrayRef<const Tensor*> fixed,
                                                    DeviceContext& context);
  ~Body();

  /// The symbols that it depends on. A run passes a size for each, in this order; -1 if unknown.
  llvm::ArrayRef<std::string> symbols() const { return symbols_; }
  bool HasFixed(llvm::ArrayRef<const Tensor*> fixed) const;
  const Graph& graph() const { return *graph_; }
  const Schedule& schedule() const { return *schedule_; }
  /// The Binding for these sizes of symbols().
  llvm::Expected<std::shared_ptr<Binding>> Bind(llvm::ArrayRef<int64_t> sizes,
                                                DeviceContext& context);

  /// The mutable state of one run of a loop: a Frame for each set of sizes, all sharing one arena.
  class PDL_API Lease {
   public:
    explicit Lease(Body& body) : body_(body) {}
    /// The Frame for these sizes, which are bound if they are new.
    llvm::Expected<Frame*> FrameFor(llvm::ArrayRef<int64_t> sizes, DeviceContext& context);
    /// Sets the data of an input of the block. Does nothing if the block does not read it.
    void SetInput(Frame& frame, unsigned input, const void* data) const;
    /// Sets the memory for a result. Returns true if the run writes the result there, and false if
    /// it must be copied from ResultOf.
    bool SetOutput(Frame& frame, unsigned output, void* data) const;
    const Tensor& ResultOf(Frame& frame, unsigned output) const;

   private:
    friend class Body;
    struct Entry {
      std::shared_ptr<Binding> binding;
      std::unique_ptr<Frame> frame;
    };
    Body& body_;
    std::shared_ptr<void> arena_;
    int64_t arena_bytes_ = 0;
    std::map<std::vector<int64_t>, Entry> frames_;
  };
  std::unique_ptr<Lease> Take();
  void GiveBack(std::unique_ptr<Lease> lease);

 private:
  Body() = default;

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<const Schedule> schedule_;
  std::vector<std::string> symbols_;
  std::vector<std::optional<SlotId>> inputs_;  // by input of the block
  std::vector<const void*> fixed_;
  PackCache packs_;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::shared_ptr<Binding>> bindings_;
  IdlePool<Lease> leases_;
};

/// The state of a prepared call that runs a Body.
struct PDL_API BodyState : CallState {
  std::shared_ptr<Body> body;
  std::vector<int64_t> sizes;  // of the body's symbols
};

}  // namespace pdl

#endif  // PDL_RUNTIME_BODY_H_
