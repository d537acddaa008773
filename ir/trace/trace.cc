#include "pdl/compiler/trace.h"

#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ir/trace/packets.h"
#include "ir/trace/recorder.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

/// As many chunks may wait for the file before the threads that record wait for it.
constexpr size_t kMaxWaiting = 256;
/// The file is written in parts of about this size.
constexpr size_t kPart = 1 << 18;

bool HasSteadyCounter() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx >> 8 & 1);
#else
  return false;
#endif
}

}  // namespace

std::atomic<uint64_t> active_trace = 0;
const bool has_steady_counter = HasSteadyCounter();
thread_local constinit detail::ThreadRecord detail::thread_record;
thread_local constinit uint32_t traced_call = 0;

/// The events that threads record, until another thread has written them to the file.
class TraceSession {
 public:
  TraceSession(uint64_t number, std::string path, int file, const TraceOptions& options)
      : number_(number),
        path_(std::move(path)),
        file_(file),
        max_bytes_(options.max_bytes),
        packets_(options) {
    packets_.Begin(&text_);
    writer_ = std::thread([this] { WriteChunks(); });
  }

  uint64_t number() const { return number_; }
  bool is_truncated() const { return is_truncated_; }
  int64_t num_events() const { return num_events_; }

  /// Takes this thread's full chunk, if it has one, and returns an empty one.
  TraceChunk* Exchange(TraceChunk* full) {
    std::unique_lock lock(mutex_);
    has_space_.wait(lock, [&] { return waiting_.size() < kMaxWaiting || is_finished_; });
    if (is_finished_) return nullptr;
    const uint32_t thread = full ? full->thread : AddThread();
    if (full) Pass(full);
    auto chunk = std::make_unique<TraceChunk>();
    chunk->thread = thread;
    return open_.emplace_back(std::move(chunk)).get();
  }

  /// Takes the chunk of a thread that ends.
  void Retire(TraceChunk* chunk) {
    std::lock_guard lock(mutex_);
    if (!is_finished_) Pass(chunk);
  }

  uint32_t Describe(const CallDescription& call) {
    std::string key;
    for (const std::string* part : {&call.calls, &call.result, &call.operands, &call.place})
      (key += *part) += '\n';
    std::lock_guard lock(mutex_);
    const auto [entry, is_new] = call_numbers_.try_emplace(key, calls_.size() + 1);
    if (is_new) calls_.push_back(call);
    return entry->second;
  }
  uint32_t Name(llvm::StringRef name) {
    std::lock_guard lock(mutex_);
    const auto [entry, is_new] = name_numbers_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name.str());
    return entry->second;
  }

  llvm::Error Finish() {
    if (!writer_.joinable()) return llvm::Error::success();
    {
      std::lock_guard lock(mutex_);
      is_finished_ = true;
      while (!open_.empty()) Pass(open_.front().get());
    }
    has_chunks_.notify_all();
    has_space_.notify_all();
    writer_.join();
    if (close(file_) != 0 && failure_ == 0) failure_ = errno;
    if (failure_ == 0) return llvm::Error::success();
    return MakeUserError(Code::kBadFile, "cannot write '{0}': {1}", path_,
                         std::generic_category().message(failure_));
  }

 private:
  struct Thread {
    int64_t id;
    std::string name;
  };
  struct Full {
    std::unique_ptr<TraceChunk> chunk;
    uint32_t size;
    /// Its thread may still add events, after Finish; they are not read.
    bool is_in_use;
  };

  /// The mutex must be held.
  uint32_t AddThread() {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    threads_.push_back({gettid(), name});
    return static_cast<uint32_t>(threads_.size() - 1);
  }

  /// Passes a chunk to the writer. The mutex must be held.
  void Pass(TraceChunk* chunk) {
    const auto found = llvm::find_if(open_, [&](const auto& open) { return open.get() == chunk; });
    if (found == open_.end()) return;
    waiting_.push_back(
        {std::move(*found), chunk->size.load(std::memory_order_acquire), is_finished_});
    open_.erase(found);
    has_chunks_.notify_one();
  }

  void WriteChunks() {
    pthread_setname_np(pthread_self(), "pdl-trace");
    for (;;) {
      Full full;
      {
        std::unique_lock lock(mutex_);
        has_chunks_.wait(lock, [&] { return !waiting_.empty() || is_finished_; });
        if (waiting_.empty()) break;
        full = std::move(waiting_.front());
        waiting_.pop_front();
      }
      has_space_.notify_all();
      WriteEvents(llvm::ArrayRef(full.chunk->events, full.size), full.chunk->thread);
      if (full.is_in_use) kept_.push_back(std::move(full.chunk));
      Flush();
    }
    Flush();
  }

  void WriteEvents(llvm::ArrayRef<TraceEvent> events, uint32_t thread) {
    if (failure_ != 0 || is_truncated_) return;
    for (; described_ <= thread; ++described_) {
      Thread added;
      {
        std::lock_guard lock(mutex_);
        added = threads_[described_];
      }
      packets_.AddThread(described_, added.id, added.name, &text_);
    }
    const auto call = [&](uint32_t number) {
      std::lock_guard lock(mutex_);
      // A run that began in an earlier trace has that one's numbers.
      return number <= calls_.size() ? calls_[number - 1] : CallDescription{};
    };
    const auto name = [&](uint32_t number) {
      std::lock_guard lock(mutex_);
      return number < names_.size() ? names_[number] : std::string();
    };
    for (const TraceEvent& event : events) {
      if (written_ + static_cast<int64_t>(text_.size()) >= max_bytes_) return Stop(true);
      packets_.Add(thread, event, call, name, &text_);
      ++num_events_;
      if (text_.size() >= kPart) Flush();
    }
  }

  void Flush() {
    const char* data = text_.data();
    size_t rest = failure_ == 0 ? text_.size() : 0;
    while (rest > 0) {
      const ssize_t count = write(file_, data, rest);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        failure_ = errno;
        return Stop(false);
      }
      data += count;
      rest -= static_cast<size_t>(count);
      written_ += count;
    }
    text_.clear();
  }

  /// Nothing more is recorded.
  void Stop(bool is_truncated) {
    is_truncated_ |= is_truncated;
    uint64_t number = number_;
    active_trace.compare_exchange_strong(number, 0);
  }

  const uint64_t number_;
  const std::string path_;
  const int file_;
  const int64_t max_bytes_;

  std::mutex mutex_;
  std::condition_variable has_chunks_, has_space_;
  bool is_finished_ = false;
  std::vector<std::unique_ptr<TraceChunk>> open_;
  std::deque<Full> waiting_;
  std::vector<Thread> threads_;
  std::deque<CallDescription> calls_;
  llvm::StringMap<uint32_t> call_numbers_;
  std::vector<std::string> names_;
  llvm::StringMap<uint32_t> name_numbers_;

  // --- Of the writer -----------------------------------------------------------------------
  TracePackets packets_;
  std::string text_;
  uint32_t described_ = 0;
  int64_t written_ = 0, num_events_ = 0;
  bool is_truncated_ = false;
  int failure_ = 0;
  std::vector<std::unique_ptr<TraceChunk>> kept_;
  std::thread writer_;
};

namespace {

/// The session of the active Trace, for threads that need a chunk.
struct CurrentSession {
  std::mutex mutex;
  std::shared_ptr<TraceSession> session;
  uint64_t last_number = 0;

  CurrentSession() {
    // The thread that writes the file does not exist in a forked child.
    pthread_atfork(nullptr, nullptr, [] { active_trace = 0; });
  }
  std::shared_ptr<TraceSession> Get() {
    std::lock_guard lock(mutex);
    return ActiveTrace() == 0 ? nullptr : session;
  }
};

CurrentSession& Current() {
  // Never deleted: threads may still use it while the process exits.
  static auto* current = new CurrentSession;
  return *current;
}

/// Passes on the events of a thread when the thread ends.
struct ThreadEnd {
  std::shared_ptr<TraceSession> session;
  ~ThreadEnd() {
    detail::ThreadRecord& record = detail::thread_record;
    // Not in a forked child, in which the session's lock may be held forever.
    if (session && record.chunk && ActiveTrace() == session->number())
      session->Retire(record.chunk);
    record = {};
  }
};
thread_local ThreadEnd thread_end;

}  // namespace

TraceChunk* detail::NextChunk() {
  ThreadRecord& record = thread_record;
  std::shared_ptr<TraceSession> session = Current().Get();
  if (!session) return nullptr;
  const bool is_same = thread_end.session == session && record.trace == session->number();
  record.chunk = session->Exchange(is_same ? record.chunk : nullptr);
  record.trace = record.chunk ? session->number() : 0;
  thread_end.session = std::move(session);
  return record.chunk;
}

uint32_t DescribeToTrace(const CallDescription& call) {
  const std::shared_ptr<TraceSession> session = Current().Get();
  return session ? session->Describe(call) : 0;
}

uint32_t NameToTrace(llvm::StringRef name) {
  const std::shared_ptr<TraceSession> session = Current().Get();
  return session ? session->Name(name) : 0;
}

llvm::Expected<std::unique_ptr<Trace>> Trace::Start(llvm::StringRef path, TraceOptions options) {
  CurrentSession& current = Current();
  std::lock_guard lock(current.mutex);
  if (current.session)
    return MakeUserError(Code::kOperatorUse, "a trace is being recorded already");
  const int file = open(path.str().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return MakeUserError(Code::kBadFile, "cannot write '{0}': {1}", path,
                         std::generic_category().message(errno));
  if (options.source.empty()) options.source = "pdl";
  current.session =
      std::make_shared<TraceSession>(++current.last_number, path.str(), file, options);
  active_trace = current.last_number;
  return std::unique_ptr<Trace>(new Trace(current.session));
}

Trace::Trace(std::shared_ptr<TraceSession> session) : session_(std::move(session)) {}
Trace::~Trace() { llvm::consumeError(Finish()); }

llvm::Error Trace::Finish() {
  {
    CurrentSession& current = Current();
    std::lock_guard lock(current.mutex);
    if (current.session == session_) {
      active_trace = 0;
      current.session = nullptr;
    }
  }
  return session_->Finish();
}

bool Trace::is_truncated() const { return session_->is_truncated(); }
int64_t Trace::num_events() const { return session_->num_events(); }

TraceSpan::TraceSpan(llvm::StringRef name)
    : name_(name), begin_(ActiveTrace() != 0 ? TraceClock() : 0) {}

TraceSpan::~TraceSpan() {
  if (begin_ == 0 || ActiveTrace() == 0) return;
  const uint64_t end = TraceClock();
  Record(TraceEvent::kSpan, NameToTrace(name_), begin_, end);
}

}  // namespace pdl
