#ifndef PDL_RUNTIME_IDLE_POOL_H_
#define PDL_RUNTIME_IDLE_POOL_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Objects of finished runs, for later runs to reuse. Keeps as many as runs need at the same time:
/// those that none of the last runs has taken are destroyed, so a rare peak does not occupy memory
/// for ever. Shared by threads.
template <class T>
class IdlePool {
 public:
  /// The object that was returned last among those for which `may_take` returns true, which is
  /// called under a lock; null if there is none.
  std::unique_ptr<T> Take(llvm::function_ref<bool(T&)> may_take = [](T&) { return true; }) {
    std::lock_guard lock(mutex_);
    for (size_t i = idle_.size(); i-- > 0;) {
      if (!may_take(*idle_[i])) continue;
      std::unique_ptr<T> object = std::move(idle_[i]);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      num_unused_ = std::min(num_unused_, i);
      return object;
    }
    return nullptr;
  }

  /// Destroys the object if there is no memory to keep it.
  void GiveBack(std::unique_ptr<T> object) {
    std::vector<std::unique_ptr<T>> unused;  // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(object));
      if (++num_returns_ < kWindow) return;
      num_returns_ = 0;
      const auto end = idle_.begin() + static_cast<std::ptrdiff_t>(num_unused_);
      unused.assign(std::make_move_iterator(idle_.begin()), std::make_move_iterator(end));
      idle_.erase(idle_.begin(), end);
    } catch (const std::bad_alloc&) {
      return;
    }
    num_unused_ = idle_.size();
  }

 private:
  /// Objects that were not taken during this number of returns are not needed.
  static constexpr unsigned kWindow = 64;

  std::mutex mutex_;
  /// The one that was returned last is at the end.
  std::vector<std::unique_ptr<T>> idle_;
  /// The number of objects at the begin that were not taken since the window began.
  size_t num_unused_ = 0;
  unsigned num_returns_ = 0;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_IDLE_POOL_H_
