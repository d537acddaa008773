#ifndef PDL_TOOLS_PDL_SUPPORT_INTERRUPT_H_
#define PDL_TOOLS_PDL_SUPPORT_INTERRUPT_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace pdl {

/// Gives Ctrl-C a meaning of its own while it lives: what is done at that moment ends, not the
/// program. Make it before other threads start, and use it from the thread that made it. One at a
/// time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Between these Ctrl-C makes a read from the terminal fail; EndReading tells whether it did.
  void BeginReading();
  bool EndReading();
  /// Between these Ctrl-C sets cancelled().
  void BeginRunning();
  void EndRunning();
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  enum class Doing { kNothing, kReading, kRunning };
  void Begin(Doing doing);
  void Watch();
  /// Waits for the end of the `number`th thing that is done.
  void WaitForEndOf(Doing doing, uint64_t number);

  std::atomic<Doing> doing_ = Doing::kNothing;
  std::atomic<uint64_t> number_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> stop_ = false;
  pthread_t owner_;
  std::thread watcher_;
};

/// While it lives, the first Ctrl-C (or SIGTERM) only asks for an end, and the second one ends the
/// program. One at a time; not together with Interrupts.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Becomes true with the first signal.
  const std::atomic<bool>& asked() const;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_INTERRUPT_H_
