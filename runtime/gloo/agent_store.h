// A client of the key-value store of PyTorch's elastic agent.
#ifndef PDL_RUNTIME_GLOO_AGENT_STORE_H_
#define PDL_RUNTIME_GLOO_AGENT_STORE_H_

#include <gloo/common/error.h>
#include <gloo/rendezvous/store.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdl {

/// The processes cannot find each other. The message is for users.
struct RendezvousError : gloo::IoException {
  using gloo::IoException::IoException;
};

/// Owns a socket; -1 is none.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The store that torchrun keeps at MASTER_ADDR and MASTER_PORT for the processes it starts: c10d's
/// TCPStore, with the protocol of PyTorch 2.1 and later. Integers are sent in the byte order of the
/// machine, as PyTorch does. All functions throw a RendezvousError if the store does not answer in
/// time or ends the connection. Not thread-safe.
class AgentStore final : public gloo::rendezvous::Store {
 public:
  /// Connects within `timeout`. Every key is stored as `key_prefix` + key.
  AgentStore(const std::string& host, int port, std::string key_prefix,
             std::chrono::milliseconds timeout);

  /// The address by which this machine reaches the store, such as "10.0.0.7".
  std::string own_address() const;

  void set(const std::string& key, const std::vector<char>& data) override;
  /// Waits for the key first.
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

 private:
  void Send(const std::string& message);
  void Receive(void* data, size_t size, std::chrono::milliseconds timeout);

  const std::string prefix_;
  const std::chrono::milliseconds timeout_;
  Socket socket_;
};

}  // namespace pdl

#endif  // PDL_RUNTIME_GLOO_AGENT_STORE_H_
