#include "tools/pdl/lsp/event_queue.h"

namespace pdl::lsp {

static bool IsInput(const Event& event) {
  return event.kind == Event::Kind::kMessage || event.kind == Event::Kind::kMalformed;
}

void EventQueue::Push(Event event) {
  constexpr size_t kMaxMessages = 4096;
  const bool is_message = IsInput(event);
  {
    std::unique_lock lock(mutex_);
    if (is_message) {
      changed_.wait(lock, [&] { return num_messages_ < kMaxMessages; });
      ++num_messages_;
    }
    events_.push_back(std::move(event));
  }
  changed_.notify_all();
}

Event EventQueue::Pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !events_.empty(); });
  Event event = std::move(events_.front());
  events_.pop_front();
  if (IsInput(event)) --num_messages_;
  lock.unlock();
  changed_.notify_all();
  return event;
}

void EventQueue::Cancel(const llvm::json::Value& id) {
  const std::lock_guard lock(mutex_);
  for (Event& event : events_) {
    const llvm::json::Object* message = event.message.getAsObject();
    const llvm::json::Value* own = message == nullptr ? nullptr : message->get("id");
    if (own != nullptr && message->get("method") != nullptr && *own == id)
      event.is_cancelled = true;
  }
}

}  // namespace pdl::lsp
