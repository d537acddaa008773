// How threads record events for a Trace. The recording of an event takes two reads of the clock at
// most, and memory that only its thread writes.
#ifndef PDL_IR_TRACE_RECORDER_H_
#define PDL_IR_TRACE_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <ctime>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/call_description.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace pdl {

struct TraceEvent {
  enum Kind : uint32_t {
    kCall,      // a step of a run; `what` is a number of DescribeToTrace
    kBodyCall,  // a step of the body of a loop, within a call
    kPiece,     // what a thread computes of a parallel call
    kSpan,      // a TraceSpan; `what` is a number of NameToTrace
    kRun,       // a run of a plan, around its calls
    kMemory,    // a counter: `end` is the number of bytes
  };
  uint64_t begin, end;  // TraceClock()
  Kind kind;
  uint32_t what;
};

/// The events that one thread recorded in a row.
struct TraceChunk {
  static constexpr uint32_t kCapacity = 2048;
  uint32_t thread = 0;
  /// Written by the recording thread only.
  std::atomic<uint32_t> size = 0;
  TraceEvent events[kCapacity];
};

/// The number of the Trace that is recording; 0: none.
extern std::atomic<uint64_t> active_trace;
inline uint64_t ActiveTrace() { return active_trace.load(std::memory_order_relaxed); }

/// Whether the processor's time stamp counter runs at the same speed always, on all cores.
extern const bool has_steady_counter;
/// The current time in ticks of a steady clock.
inline uint64_t TraceClock() {
#if defined(__x86_64__)
  if (has_steady_counter) [[likely]]
    return __rdtsc();
#endif
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

namespace detail {
/// The chunk that this thread writes, and the Trace that it belongs to.
struct ThreadRecord {
  TraceChunk* chunk = nullptr;
  uint64_t trace = 0;
};
extern thread_local constinit ThreadRecord thread_record;
/// Makes space for an event in this thread's chunk; returns null if nothing is recording.
TraceChunk* NextChunk();
}  // namespace detail

/// Adds an event of this thread.
inline void Record(TraceEvent::Kind kind, uint32_t what, uint64_t begin, uint64_t end) {
  const detail::ThreadRecord& record = detail::thread_record;
  TraceChunk* chunk = record.chunk;
  const bool has_space = chunk != nullptr && record.trace == ActiveTrace() &&
                         chunk->size.load(std::memory_order_relaxed) < TraceChunk::kCapacity;
  if (!has_space) [[unlikely]] {
    chunk = detail::NextChunk();
    if (chunk == nullptr) return;
  }
  const uint32_t size = chunk->size.load(std::memory_order_relaxed);
  chunk->events[size] = {begin, end, kind, what};
  chunk->size.store(size + 1, std::memory_order_release);
}

/// The number of a call (from 1 on) or of a name in the active Trace; equal ones have the same
/// number. 0 if nothing is recording.
uint32_t DescribeToTrace(const CallDescription& call);
uint32_t NameToTrace(llvm::StringRef name);

/// The call that this thread runs, as its number in the Trace: pieces that other threads compute
/// belong to it. 0: none.
extern thread_local constinit uint32_t traced_call;

}  // namespace pdl

#endif  // PDL_IR_TRACE_RECORDER_H_
