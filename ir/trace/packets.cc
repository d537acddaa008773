#include "ir/trace/packets.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/file_position.h"
#include "proto/trace.pb.h"

namespace pdl {
namespace {

namespace pf = perfetto;

/// Needs nine bytes as a varint, as all times that are written.
constexpr uint64_t kTimePlaceholder = uint64_t{1} << 62;
constexpr size_t kTimeBytes = 9;
constexpr uint32_t kSequence = 1;

/// The numbers of tracks: of the process, then for each thread its own and those of its counters.
constexpr uint64_t kProcessTrack = 1, kMemoryTrack = 2;
constexpr uint64_t kTracksPerThread = 4;
uint64_t TrackOf(uint32_t thread) { return 16 + kTracksPerThread * thread; }

std::string Varint(uint64_t number, size_t bytes) {
  std::string varint;
  for (size_t i = 0; i < bytes; ++i, number >>= 7)
    varint.push_back(static_cast<char>((number & 0x7f) | (i + 1 < bytes ? 0x80 : 0)));
  return varint;
}

std::string Bytes(double number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

/// Appends a packet to a file, which is a Trace with many of them.
void AppendPacket(const pf::TracePacket& packet, std::string* to) {
  pf::Trace trace;
  *trace.add_packet() = packet;
  trace.AppendToString(to);
}

}  // namespace

double PacketTemplate::Placeholder(unsigned index) {
  // Numbers that nothing else in a packet contains.
  return -1.2345678912345e+300 * (1 + index);
}

void PacketTemplate::Add(pf::TracePacket packet) {
  packet.set_timestamp(kTimePlaceholder);
  std::string bytes;
  AppendPacket(packet, &bytes);
  times_.push_back(bytes_.size() + bytes.find(Varint(kTimePlaceholder, kTimeBytes)));
  for (unsigned i = 0; i < 8; ++i)
    if (const size_t found = bytes.find(Bytes(Placeholder(i))); found != std::string::npos)
      numbers_.emplace_back(bytes_.size() + found, i);
  bytes_ += bytes;
}

void PacketTemplate::Append(uint64_t time, llvm::ArrayRef<double> numbers, std::string* to) const {
  const size_t begin = to->size();
  to->append(bytes_);
  char* data = to->data() + begin;
  for (const size_t position : times_) {
    uint64_t rest = time;
    for (size_t i = 0; i < kTimeBytes; ++i, rest >>= 7)
      data[position + i] = static_cast<char>((rest & 0x7f) | (i + 1 < kTimeBytes ? 0x80 : 0));
  }
  for (const auto& [position, index] : numbers_)
    std::memcpy(data + position, &numbers[index], sizeof(double));
}

TracePackets::TracePackets(const TraceOptions& options) : options_(options) {
  using Clock = std::chrono::steady_clock;
  const auto nanoseconds = [] {
    return static_cast<double>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
  };
  first_tick_ = TraceClock();
  first_nanoseconds_ = nanoseconds();
  if (!has_steady_counter) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double passed = nanoseconds() - first_nanoseconds_;
  tick_ = passed / static_cast<double>(TraceClock() - first_tick_);
}

double TracePackets::Nanoseconds(uint64_t ticks) const {
  return static_cast<double>(static_cast<int64_t>(ticks - first_tick_)) * tick_;
}

pf::TracePacket TracePackets::MakePacket() const {
  pf::TracePacket packet;
  packet.set_trusted_packet_sequence_id(kSequence);
  packet.set_sequence_flags(pf::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  return packet;
}

void TracePackets::Begin(std::string* to) {
  pf::TracePacket packet = MakePacket();
  packet.set_sequence_flags(pf::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
  pf::TrackDescriptor& process = *packet.mutable_track_descriptor();
  process.set_uuid(kProcessTrack);
  process.mutable_process()->set_pid(getpid());
  process.mutable_process()->set_process_name("pdl");
  AppendPacket(packet, to);
  DescribeTrack(kMemoryTrack, kProcessTrack, "tensors and arenas", true, "", to);
  pf::TracePacket memory = MakePacket();
  memory.mutable_track_event()->set_type(pf::TrackEvent::TYPE_COUNTER);
  memory.mutable_track_event()->set_track_uuid(kMemoryTrack);
  memory.mutable_track_event()->set_double_counter_value(PacketTemplate::Placeholder(0));
  memory_.Add(memory);
}

void TracePackets::DescribeTrack(uint64_t track, uint64_t parent, llvm::StringRef name,
                                 bool is_bytes, llvm::StringRef unit, std::string* to) {
  pf::TracePacket packet = MakePacket();
  pf::TrackDescriptor& descriptor = *packet.mutable_track_descriptor();
  descriptor.set_uuid(track);
  descriptor.set_parent_uuid(parent);
  descriptor.set_name(name.str());
  if (is_bytes) descriptor.mutable_counter()->set_unit(pf::CounterDescriptor::UNIT_SIZE_BYTES);
  descriptor.mutable_counter()->set_unit_name(unit.str());
  AppendPacket(packet, to);
}

void TracePackets::AddThread(uint32_t thread, int64_t id, llvm::StringRef name, std::string* to) {
  const uint64_t track = TrackOf(thread);
  pf::TracePacket packet = MakePacket();
  pf::TrackDescriptor& descriptor = *packet.mutable_track_descriptor();
  descriptor.set_uuid(track);
  descriptor.set_parent_uuid(kProcessTrack);
  descriptor.mutable_thread()->set_pid(getpid());
  descriptor.mutable_thread()->set_tid(id);
  descriptor.mutable_thread()->set_thread_name(name.str());
  AppendPacket(packet, to);
  DescribeTrack(track + 1, track, "arithmetic", false, "FLOP/s", to);
  DescribeTrack(track + 2, track, "memory traffic", false, "B/s", to);
  DescribeTrack(track + 3, track, "arena", true, "", to);
  rates_.resize(std::max<size_t>(rates_.size(), thread + 1));
  for (unsigned i = 0; i < 2; ++i) {
    pf::TracePacket rate = MakePacket();
    rate.mutable_track_event()->set_type(pf::TrackEvent::TYPE_COUNTER);
    rate.mutable_track_event()->set_track_uuid(track + 1 + i);
    rate.mutable_track_event()->set_double_counter_value(PacketTemplate::Placeholder(i));
    rates_[thread].Add(rate);
  }
}

template <class Message>
uint64_t TracePackets::Intern(Interned* interned, llvm::StringRef text,
                              Message* (pf::InternedData::*add)(), pf::InternedData* data) {
  const auto [entry, is_new] = interned->try_emplace(text, interned->size() + 1);
  if (is_new) {
    Message& message = *(data->*add)();
    message.set_iid(entry->second);
    if constexpr (requires { message.set_str(text.str()); }) {
      message.set_str(text.str());
    } else {
      message.set_name(text.str());
    }
  }
  return entry->second;
}

/// `place` is "model.pdl:3:5"; without numbers, it is all of the file's name.
uint64_t TracePackets::InternPlace(llvm::StringRef place, llvm::StringRef layer,
                                   pf::InternedData* data) {
  const auto [entry, is_new] =
      places_.try_emplace((place + "\n" + layer).str(), places_.size() + 1);
  if (!is_new) return entry->second;
  const llvm::SmallVector<FilePosition, 4> positions = FilePositionsOf(place);
  const FilePosition innermost = positions.empty() ? FilePosition{} : positions.back();
  pf::SourceLocation& location = *data->add_source_locations();
  location.set_iid(entry->second);
  location.set_file_name(innermost.file.str());
  location.set_function_name(layer.str());
  location.set_line_number(std::max(innermost.line, 1u));
  return entry->second;
}

/// The arithmetic operations per second that the device can reach for a call; 0: unknown.
static double PeakOf(const CallDescription& call, const TraceOptions& options) {
  const bool has_bf16_peak =
      call.matmul_precision == DType::kBF16 && options.peak_bf16_operations > 0;
  return has_bf16_peak ? options.peak_bf16_operations : options.peak_operations;
}

/// Makes the template of a slice, and appends the strings that it refers to.
TracePackets::Slice TracePackets::MakeSlice(uint32_t thread, const TraceEvent& event, FindCall call,
                                            FindName name, std::string* to) {
  const bool is_call = event.kind == TraceEvent::kCall || event.kind == TraceEvent::kBodyCall;
  const bool has_call = is_call || event.kind == TraceEvent::kPiece;
  const CallDescription of = has_call ? call(event.what) : CallDescription{};
  pf::TracePacket interning = MakePacket();
  pf::InternedData& data = *interning.mutable_interned_data();
  pf::TracePacket begin = MakePacket();
  pf::TrackEvent& slice = *begin.mutable_track_event();
  slice.set_type(pf::TrackEvent::TYPE_SLICE_BEGIN);
  slice.set_track_uuid(TrackOf(thread));
  slice.set_name_iid(Intern(&names_, has_call ? of.calls : name(event.what),
                            &pf::InternedData::add_event_names, &data));
  slice.add_category_iids(Intern(&categories_,
                                 is_call    ? "call"
                                 : has_call ? "piece"
                                            : "stage",
                                 &pf::InternedData::add_event_categories, &data));
  slice.set_source_location_iid(
      InternPlace(of.place.empty() ? options_.source : of.place, of.layer, &data));
  const auto annotate = [&](llvm::StringRef key) {
    pf::DebugAnnotation* annotation = slice.add_debug_annotations();
    annotation->set_name_iid(
        Intern(&keys_, key, &pf::InternedData::add_debug_annotation_names, &data));
    return annotation;
  };
  const auto annotate_text = [&](llvm::StringRef key, llvm::StringRef text) {
    if (text.empty()) return;
    annotate(key)->set_string_value_iid(
        Intern(&strings_, text, &pf::InternedData::add_debug_annotation_string_values, &data));
  };
  annotate_text("source", of.place.empty() ? options_.source : of.place);
  if (is_call) {
    annotate_text("layer", of.layer);
    annotate_text("result", of.result);
    annotate_text("operands", of.operands);
    annotate("operations")->set_double_value(of.cost.operations);
    annotate("bytes")->set_double_value(of.cost.bytes);
    annotate("GFLOP/s")->set_double_value(PacketTemplate::Placeholder(0));
    annotate("GB/s")->set_double_value(PacketTemplate::Placeholder(1));
    if (options_.peak_operations > 0)
      annotate("share of the peak")->set_double_value(PacketTemplate::Placeholder(2));
  }
  Slice made{{}, {}, of.cost, PeakOf(of, options_)};
  made.begin.Add(begin);
  if (event.kind == TraceEvent::kCall) {
    pf::TracePacket arena = MakePacket();
    arena.mutable_track_event()->set_type(pf::TrackEvent::TYPE_COUNTER);
    arena.mutable_track_event()->set_track_uuid(TrackOf(thread) + 3);
    arena.mutable_track_event()->set_counter_value(of.live_bytes);
    made.begin.Add(arena);
  }
  pf::TracePacket end = MakePacket();
  end.mutable_track_event()->set_type(pf::TrackEvent::TYPE_SLICE_END);
  end.mutable_track_event()->set_track_uuid(TrackOf(thread));
  made.end.Add(end);
  AppendPacket(interning, to);
  return made;
}

void TracePackets::Add(uint32_t thread, const TraceEvent& event, FindCall call, FindName name,
                       std::string* to) {
  const double since = std::max(0.0, Nanoseconds(event.begin));
  const auto begin = static_cast<uint64_t>(first_nanoseconds_ + since);
  if (event.kind == TraceEvent::kMemory)
    return memory_.Append(begin, {static_cast<double>(event.end)}, to);
  const double duration = static_cast<double>(event.end - event.begin) * tick_;
  const auto end = static_cast<uint64_t>(first_nanoseconds_ + since + duration);
  const std::pair<uint64_t, uint64_t> key{uint64_t{event.kind} << 32 | thread, event.what};
  auto found = slices_.find(key);
  if (found == slices_.end())
    found = slices_.try_emplace(key, MakeSlice(thread, event, call, name, to)).first;
  const Slice& slice = found->second;
  const double seconds = std::max(duration, 1.0) * 1e-9;
  const double operations = slice.cost.operations / seconds, bytes = slice.cost.bytes / seconds;
  double share = 0;
  if (slice.peak_operations > 0) share = operations / slice.peak_operations;
  if (options_.peak_bytes > 0) share = std::max(share, bytes / options_.peak_bytes);
  slice.begin.Append(begin, {operations * 1e-9, bytes * 1e-9, share}, to);
  if (event.kind == TraceEvent::kCall) rates_[thread].Append(begin, {operations, bytes}, to);
  slice.end.Append(end, {}, to);
  if (event.kind == TraceEvent::kRun) rates_[thread].Append(end, {0, 0}, to);
}

}  // namespace pdl
