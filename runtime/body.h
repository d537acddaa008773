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
#include "runtime/schedule.h"

namespace pdl {

/// The body of a loop, made ready for a device: scheduled once, bound once for each set of sizes,
/// run as often as the loop says. Shared by threads.
class PDL_API Body {
 public:
  /// Of the block that a call names. `fixed`: for each operand, in the order of the block's inputs,
  /// its tensor where it is the same in every run, else null.
  static llvm::Expected<std::shared_ptr<Body>> Make(const OperatorArguments& arguments,
                                                    llvm::ArrayRef<const Tensor*> fixed,
                                                    DeviceContext& context);
  ~Body();

  /// The sizes that it depends on. A run gives one for each, in this order; -1 is unknown.
  llvm::ArrayRef<std::string> symbols() const { return symbols_; }
  bool HasFixed(llvm::ArrayRef<const Tensor*> fixed) const;

  /// What one run of a loop writes: a Frame for each set of sizes, all over one arena.
  class PDL_API Lease {
   public:
    explicit Lease(Body& body) : body_(body) {}
    /// The Frame for these sizes, bound where they are new.
    llvm::Expected<Frame*> FrameFor(llvm::ArrayRef<int64_t> sizes, DeviceContext& context);
    /// Where the block finds its input. Nothing where it does not read it.
    void SetInput(Frame& frame, unsigned input, const void* data) const;
    /// Where a result is wanted; true where the run writes it there, and false where it has to be
    /// fetched with ResultOf.
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
  llvm::Expected<std::shared_ptr<Binding>> Bind(llvm::ArrayRef<int64_t> sizes,
                                                DeviceContext& context);

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<const Schedule> schedule_;
  std::vector<std::string> symbols_;
  std::vector<std::optional<SlotId>> inputs_;  // by input of the block
  std::vector<const void*> fixed_;
  PackCache packs_;
  std::mutex mutex_;
  std::map<std::vector<int64_t>, std::shared_ptr<Binding>> bindings_;
  std::vector<std::unique_ptr<Lease>> leases_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_BODY_H_
