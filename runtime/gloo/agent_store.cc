#include "runtime/gloo/agent_store.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace pdl {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// PyTorch, torch/csrc/distributed/c10d/TCPStoreBackend.hpp.
enum class Query : uint8_t { kValidate = 0, kSet = 1, kGet = 3, kWait = 6 };
constexpr uint32_t kMagicNumber = 0x3C85F7CE;
constexpr uint8_t kStopWaiting = 0;
/// Addresses of processes are the only values; anything longer is not from this protocol.
constexpr uint64_t kLongestValue = 1 << 20;

[[noreturn]] void Fail(const std::string& why) { throw RendezvousError(why); }

template <typename T>
void Append(std::string& message, T value) {
  message.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
/// Strings and lists of bytes are preceded by their length.
void AppendBytes(std::string& message, const char* bytes, size_t size) {
  Append(message, static_cast<uint64_t>(size));
  message.append(bytes, size);
}
void AppendBytes(std::string& message, const std::string& text) {
  AppendBytes(message, text.data(), text.size());
}
std::string Begin(Query query) { return std::string(1, static_cast<char>(query)); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

/// Waits until the socket is ready for `events`; false after `end`, and if poll fails.
bool WaitFor(int socket, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    pollfd ready = {socket, events, 0};
    const int count = poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

/// Connects a socket that does not block; false and errno if it cannot be connected until `end`.
bool ConnectUntil(int socket, const addrinfo& address, Clock::time_point end) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS && errno != EINTR) return false;
  if (!WaitFor(socket, POLLOUT, end)) {
    errno = ETIMEDOUT;
    return false;
  }
  int reason = 0;
  socklen_t length = sizeof(reason);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &reason, &length) != 0) return false;
  errno = reason;
  return reason == 0;
}

/// A connected socket, or none and errno. The agent may not listen yet.
Socket Connect(const addrinfo* addresses, Clock::time_point end) {
  // An address that does not answer leaves time for the others.
  constexpr std::chrono::seconds kEach(5);
  int reason = ETIMEDOUT;
  do {
    for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next) {
      Socket connection(socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                               each->ai_protocol));
      const auto until = std::min<Clock::time_point>(end, Clock::now() + kEach);
      if (connection.get() >= 0 && ConnectUntil(connection.get(), *each, until)) {
        const int flags = fcntl(connection.get(), F_GETFL);
        fcntl(connection.get(), F_SETFL, flags & ~O_NONBLOCK);
        return connection;
      }
      reason = errno;
    }
    usleep(50'000);
  } while (Clock::now() < end);
  errno = reason;
  return Socket();
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

AgentStore::AgentStore(const std::string& host, int port, std::string key_prefix,
                       milliseconds timeout)
    : prefix_(std::move(key_prefix)), timeout_(timeout) {
  const std::string place = host + ":" + std::to_string(port);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    Fail("'" + host + "' is not an address of a machine: " + gai_strerror(code));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  socket_ = Connect(found, Clock::now() + timeout);
  if (socket_.get() < 0)
    Fail("cannot connect to the agent's store at " + place + ": " + std::strerror(errno));
  std::string message = Begin(Query::kValidate);
  Append(message, kMagicNumber);
  Send(message);
}

std::string AgentStore::own_address() const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  char host[NI_MAXHOST] = "";
  if (getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), length, host, sizeof(host), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "";
  return host;
}

void AgentStore::set(const std::string& key, const std::vector<char>& data) {
  std::string message = Begin(Query::kSet);
  AppendBytes(message, prefix_ + key);
  AppendBytes(message, data.data(), data.size());
  Send(message);
}

std::vector<char> AgentStore::get(const std::string& key) {
  wait({key});
  std::string message = Begin(Query::kGet);
  AppendBytes(message, prefix_ + key);
  Send(message);
  uint64_t size = 0;
  Receive(&size, sizeof(size), timeout_);
  if (size > kLongestValue)
    Fail("the agent's store sent a value of " + std::to_string(size) + " bytes");
  std::vector<char> value(size);
  Receive(value.data(), value.size(), timeout_);
  return value;
}

void AgentStore::wait(const std::vector<std::string>& keys, const milliseconds& timeout) {
  std::string message = Begin(Query::kWait);
  Append(message, static_cast<uint64_t>(keys.size()));
  for (const std::string& key : keys) AppendBytes(message, prefix_ + key);
  Send(message);
  uint8_t answer = kStopWaiting;
  // After a timeout the answer may still arrive, so the store cannot be used any more.
  Receive(&answer, sizeof(answer), timeout);
  if (answer != kStopWaiting) Fail("the agent's store ended the wait for other processes");
}

void AgentStore::Send(const std::string& message) {
  for (size_t sent = 0; sent < message.size();) {
    const ssize_t count =
        send(socket_.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail(std::string("the agent's store: ") + std::strerror(errno));
    sent += static_cast<size_t>(count);
  }
}

void AgentStore::Receive(void* data, size_t size, milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  for (size_t received = 0; received < size;) {
    if (!WaitFor(socket_.get(), POLLIN, end)) Fail("other processes did not join in time");
    const ssize_t bytes =
        recv(socket_.get(), static_cast<char*>(data) + received, size - received, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) Fail("the agent's store ended the connection");
    received += static_cast<size_t>(bytes);
  }
}

}  // namespace pdl
