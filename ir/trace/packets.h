// Turns recorded events into the packets of Perfetto's format.
#ifndef PDL_IR_TRACE_PACKETS_H_
#define PDL_IR_TRACE_PACKETS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/trace/recorder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/trace.h"

namespace pdl::perfetto {
class InternedData;
class TracePacket;
}  // namespace pdl::perfetto

namespace pdl {

/// Packets that differ only in a time and some doubles, as bytes in which those have fixed
/// positions.
class PacketTemplate {
 public:
  /// Appends a packet whose timestamp, and the doubles equal to Placeholder(0), …, are replaced.
  void Add(perfetto::TracePacket packet);
  /// Appends the packets to `to`, with a time in nanoseconds and these doubles.
  void Append(uint64_t time, llvm::ArrayRef<double> numbers, std::string* to) const;
  static double Placeholder(unsigned index);

 private:
  std::string bytes_;
  std::vector<size_t> times_;
  std::vector<std::pair<size_t, unsigned>> numbers_;  // position and index
};

/// Writes the packets of one trace. Not thread-safe.
class TracePackets {
 public:
  using FindCall = llvm::function_ref<CallDescription(uint32_t)>;
  using FindName = llvm::function_ref<std::string(uint32_t)>;
  explicit TracePackets(const TraceOptions& options);

  /// Appends what a file begins with.
  void Begin(std::string* to);
  /// Appends the description of a thread, before its first event.
  void AddThread(uint32_t thread, int64_t id, llvm::StringRef name, std::string* to);
  /// Appends the packets of one event. `call` and `name` describe its number.
  void Add(uint32_t thread, const TraceEvent& event, FindCall call, FindName name, std::string* to);

 private:
  struct Slice {
    PacketTemplate begin, end;
    CallCost cost;
    double peak_operations = 0;  // 0: unknown
  };
  /// A kind of interned strings, and their numbers.
  using Interned = llvm::StringMap<uint64_t>;

  double Nanoseconds(uint64_t ticks) const;
  Slice MakeSlice(uint32_t thread, const TraceEvent& event, FindCall call, FindName name,
                  std::string* to);
  void AddRates(uint32_t thread, uint64_t time, double operations, double bytes, std::string* to);
  perfetto::TracePacket MakePacket() const;
  /// Returns the number of `text`, and adds it to `data` if it is new.
  template <class Message>
  uint64_t Intern(Interned* interned, llvm::StringRef text,
                  Message* (perfetto::InternedData::*add)(), perfetto::InternedData* data);
  uint64_t InternPlace(llvm::StringRef place, llvm::StringRef layer, perfetto::InternedData* data);
  void DescribeTrack(uint64_t track, uint64_t parent, llvm::StringRef name, bool is_bytes,
                     llvm::StringRef unit, std::string* to);

  const TraceOptions options_;
  /// The clock when the trace began, and the nanoseconds of a tick.
  uint64_t first_tick_ = 0;
  double first_nanoseconds_ = 0, tick_ = 1;
  Interned names_, categories_, keys_, strings_, places_;
  /// By thread, kind and number.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, Slice> slices_;
  /// By thread: FLOP/s, bytes/s; and the arena's bytes.
  std::vector<PacketTemplate> rates_;
  PacketTemplate memory_;
};

}  // namespace pdl

#endif  // PDL_IR_TRACE_PACKETS_H_
