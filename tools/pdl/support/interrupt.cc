#include "tools/pdl/support/interrupt.h"

#include <csignal>

#include <chrono>

#include "llvm/Support/raw_ostream.h"

namespace pdl {
namespace {

// Interrupts a thread's read; it requires a handler, which does nothing.
constexpr int kWake = SIGUSR1;

sigset_t InterruptSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

namespace {

std::atomic<bool> stop_asked;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal's handler sets it");

constexpr int kStopSignals[] = {SIGINT, SIGTERM};

void AskToStop(int) {
  stop_asked = true;
  // The next signal ends the program, as without a handler.
  for (int each : kStopSignals) std::signal(each, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  stop_asked = false;
  struct sigaction action = {};
  action.sa_handler = AskToStop;
  action.sa_flags = SA_RESTART;
  for (int each : kStopSignals) sigaction(each, &action, nullptr);
}

StopSignals::~StopSignals() {
  for (int each : kStopSignals) std::signal(each, SIG_DFL);
}

const std::atomic<bool>& StopSignals::asked() const { return stop_asked; }

Interrupts::Interrupts() : owner_(pthread_self()) {
  struct sigaction wake = {};
  wake.sa_handler = [](int) {};
  sigaction(kWake, &wake, nullptr);
  // Threads created later inherit this mask, so only the watcher receives SIGINT.
  const sigset_t set = InterruptSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::thread([this] { Watch(); });
}

Interrupts::~Interrupts() {
  stop_ = true;
  pthread_kill(watcher_.native_handle(), SIGINT);
  watcher_.join();
  const sigset_t set = InterruptSet();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interrupts::Begin(Doing doing) {
  ++number_;
  doing_ = doing;
}

void Interrupts::BeginReading() {
  interrupted_ = false;
  Begin(Doing::kReading);
}

bool Interrupts::EndReading() {
  doing_ = Doing::kNothing;
  return interrupted_;
}

void Interrupts::BeginRunning() {
  cancelled_ = false;
  Begin(Doing::kRunning);
}

void Interrupts::EndRunning() { doing_ = Doing::kNothing; }

void Interrupts::Watch() {
  const sigset_t set = InterruptSet();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || stop_) return;
    const uint64_t number = number_;
    const Doing doing = doing_;
    if (doing == Doing::kReading) interrupted_ = true;
    if (doing == Doing::kRunning) {
      cancelled_ = true;
      llvm::errs() << "^C\n";
    }
    WaitForEndOf(doing, number);
  }
}

void Interrupts::WaitForEndOf(Doing what, uint64_t number) {
  using namespace std::chrono_literals;
  if (what == Doing::kNothing) return;
  for (auto waited = 0ms; doing_ == what && number_ == number && !stop_; waited += 5ms) {
    // libedit retries a read after the first failure.
    if (what == Doing::kReading) pthread_kill(owner_, kWake);
    if (what == Doing::kRunning && waited == 1000ms) {
      llvm::errs() << "waiting for a long call that cannot be interrupted\n";
    }
    std::this_thread::sleep_for(5ms);
  }
}

}  // namespace pdl
