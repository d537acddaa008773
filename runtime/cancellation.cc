#include "runtime/cancellation.h"

#include "pdl/op/error.h"

namespace pdl {
namespace {

/// Ends a kernel.
struct RunCancelled {};

thread_local const std::atomic<bool>* current = nullptr;

class CurrentScope {
 public:
  explicit CurrentScope(const std::atomic<bool>* cancel) : former_(current) { current = cancel; }
  ~CurrentScope() { current = former_; }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  const std::atomic<bool>* former_;
};

}  // namespace

llvm::Error RunCancellable(const std::atomic<bool>* cancel, llvm::function_ref<llvm::Error()> f) {
  if (cancel == nullptr) return f();
  const CurrentScope scope(cancel);
  try {
    // Empty tensors leave nothing to run that would look at the flag.
    EndIfCancelled(cancel);
    return f();
  } catch (const RunCancelled&) {
    return MakeUserError(Code::kCancelled, "the run was cancelled");
  }
}

const std::atomic<bool>* CurrentCancellation() { return current; }

void EndIfCancelled(const std::atomic<bool>* cancel) {
  if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) throw RunCancelled{};
}

}  // namespace pdl
