#ifndef PDL_TOOLS_PDL_SUPPORT_INTERRUPT_H_
#define PDL_TOOLS_PDL_SUPPORT_INTERRUPT_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace pdl {

/// While an object exists, Ctrl-C ends the current read or run instead of the program. Create it
/// before other threads start, and use it only from the thread that created it. There can be only
/// one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// In between, Ctrl-C makes a read from the terminal fail; EndReading returns whether it did.
  void BeginReading();
  bool EndReading();
  /// In between, Ctrl-C sets cancelled().
  void BeginRunning();
  void EndRunning();
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  enum class Doing { kNothing, kReading, kRunning };
  void Begin(Doing doing);
  void Watch();
  /// Waits until the `number`th read or run ends.
  void WaitForEndOf(Doing doing, uint64_t number);

  std::atomic<Doing> doing_ = Doing::kNothing;
  std::atomic<uint64_t> number_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> stop_ = false;
  pthread_t owner_;
  std::thread watcher_;
};

/// While an object exists, the first Ctrl-C (or SIGTERM) only sets asked(), and the second one ends
/// the program. Only one at a time, and not together with Interrupts.
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
