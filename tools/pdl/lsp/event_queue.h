#ifndef PDL_TOOLS_PDL_LSP_EVENT_QUEUE_H_
#define PDL_TOOLS_PDL_LSP_EVENT_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "llvm/Support/JSON.h"

namespace pdl::lsp {

/// Something that the server reacts to.
struct Event {
  enum class Kind : uint8_t {
    kMessage,    // of the client
    kMalformed,  // input that is not JSON
    kChecked,    // the analysis of a document ended
    kNotify,     // a message for the user is ready
    kEnd,        // of the input
  };
  Kind kind = Kind::kMessage;
  llvm::json::Value message = nullptr;
  /// The client does not need the reply any more.
  bool is_cancelled = false;
  std::string uri = {};    // of the document, if kChecked
  std::string error = {};  // if kMalformed
};

/// The events in their order. Thread-safe.
class EventQueue {
 public:
  /// Adds an event. Waits while there are too many messages, so that a fast client cannot fill the
  /// memory.
  void Push(Event event);
  /// Waits for the next event.
  Event Pop();
  /// Marks the request with that id as cancelled if it was not taken yet.
  void Cancel(const llvm::json::Value& id);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  size_t num_messages_ = 0;
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_EVENT_QUEUE_H_
