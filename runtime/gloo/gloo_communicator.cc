// A communicator over Gloo (https://github.com/pytorch/gloo), for processes that no MPI launcher
// has started. Transport is TCP.
#include <fcntl.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/version.h"
#include "runtime/distributed/transport_library.h"
#include "runtime/gloo/agent_store.h"

namespace pdl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Context = std::shared_ptr<gloo::rendezvous::Context>;

milliseconds Milliseconds(double seconds) {
  return milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

class GlooCommunicator final : public Communicator {
 public:
  explicit GlooCommunicator(Context context)
      : Communicator(context->rank, context->size), context_(std::move(context)) {}

  /// The others are not ended, they find the connection closed. Until then they have time to find
  /// the rank that this one has found, so that they name the same one.
  [[noreturn]] void Abort(int status) override {
    usleep(500'000);
    _exit(status);
  }

 private:
  struct Message {
    int peer;
    bool is_sent;
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  };

  class Messages final : public StartedExchange {
   public:
    Messages(std::vector<Message> messages, GlooCommunicator& communicator)
        : messages_(std::move(messages)), communicator_(communicator) {}
    ~Messages() override {
      // A buffer that is deleted waits for its message, which may take forever after a failure.
      std::move(messages_.begin(), messages_.end(), std::back_inserter(communicator_.unfinished_));
    }

    llvm::Error Wait(double timeout, std::vector<int>* missing) override {
      const Clock::time_point end = Clock::now() + Milliseconds(timeout);
      for (Message& message : messages_)
        if (llvm::Error error = WaitFor(message, end, missing)) return error;
      if (missing->empty()) messages_.clear();
      return llvm::Error::success();
    }

   private:
    std::vector<Message> messages_;
    GlooCommunicator& communicator_;
  };

  llvm::Expected<std::unique_ptr<StartedExchange>> StartTransfer(
      llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) override {
    // A number of its own for each transfer, so that messages of two are not confused.
    const uint64_t slot = next_slot_++;
    std::vector<Message> messages;
    // Messages to the others are started even if one rank has ended, so that they find that, too.
    std::optional<int> ended;
    const auto start = [&](int peer, bool is_sent, char* data, size_t bytes) {
      if (peer == rank() || bytes == 0) return;
      try {
        auto buffer = context_->createUnboundBuffer(data, bytes);
        is_sent ? buffer->send(peer, slot) : buffer->recv(peer, slot);
        messages.push_back({peer, is_sent, std::move(buffer)});
      } catch (const std::exception&) {
        if (!ended) ended = peer;
      }
    };
    for (const auto [peer, bytes] : llvm::enumerate(receive))
      start(static_cast<int>(peer), false, bytes.data(), bytes.size());
    for (const auto [peer, bytes] : llvm::enumerate(send))
      start(static_cast<int>(peer), true, const_cast<char*>(bytes.data()), bytes.size());
    auto started = std::make_unique<Messages>(std::move(messages), *this);
    if (ended) return HasEnded(*ended);
    return started;
  }

  static llvm::Error HasEnded(int peer) {
    return llvm::make_error<RankError>("rank " + std::to_string(peer) +
                                       " has ended, or cannot be reached any more");
  }

  static llvm::Error WaitFor(Message& message, Clock::time_point end, std::vector<int>* missing) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    const milliseconds limit = std::max(left, milliseconds(1));
    try {
      message.is_sent ? message.buffer->waitSend(limit) : message.buffer->waitRecv(limit);
      return llvm::Error::success();
    } catch (const std::exception&) {
      // The message of the exception does not distinguish a timeout from a closed connection.
      if (Clock::now() < end) return HasEnded(message.peer);
    }
    // Gloo closes all connections after a timeout, so no other rank can be asked.
    if (missing->empty()) missing->push_back(message.peer);
    return llvm::Error::success();
  }

  Context context_;
  uint64_t next_slot_ = 0;
  /// Messages of exchanges that have failed, which may still be under way.
  std::vector<Message> unfinished_;
};

/// Whether the name of a host is an address of this machine, which sockets can have. Names of
/// machines are often unknown, or belong to a network that a container does not have.
bool IsOwnAddress(const char* host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host, nullptr, &hints, &found) != 0) return false;
  bool is_own = false;
  for (const addrinfo* each = found; each != nullptr && !is_own; each = each->ai_next) {
    const int tried = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol);
    is_own = tried >= 0 && bind(tried, each->ai_addr, each->ai_addrlen) == 0;
    if (tried >= 0) close(tried);
  }
  freeaddrinfo(found);
  return is_own;
}

/// Connects all processes. `address` is this machine's, or empty if it is unknown.
Context Connect(const Rendezvous& rendezvous, gloo::rendezvous::Store& store,
                const std::string& address) {
  gloo::transport::tcp::attr attributes;
  char host[256] = "";
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    attributes.iface = interface;
  } else if (!address.empty()) {
    attributes.hostname = address;
  } else if (gethostname(host, sizeof(host) - 1) == 0 && IsOwnAddress(host)) {
    attributes.hostname = host;
  } else {
    attributes.hostname = "127.0.0.1";
  }
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(rendezvous.rank, rendezvous.size);
  context->setTimeout(Milliseconds(rendezvous.timeout));
  context->connectFullMesh(store, device);
  return context;
}

/// Creates the file of a rank, which exists already in the folder of another run.
void ClaimRank(const std::filesystem::path& folder, int rank) {
  const std::string file = folder / ("rank-" + std::to_string(rank));
  const int created = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (created >= 0) {
    close(created);
  } else if (errno == EEXIST) {
    throw RendezvousError("'" + folder.string() + "' has the file of another process with rank " +
                          std::to_string(rank) +
                          ": each run needs a folder of its own; a run that ended while it was "
                          "starting leaves this folder, which may then be removed");
  } else {
    throw RendezvousError("cannot write '" + file + "': " + std::strerror(errno));
  }
}

/// Files in a folder. Gloo's own store waits for a key for 30 seconds, whatever the context's
/// timeout.
class FolderStore final : public gloo::rendezvous::Store {
 public:
  FolderStore(const std::filesystem::path& folder, milliseconds timeout)
      : files_(folder), timeout_(timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    files_.set(key, data);
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    return files_.get(key);
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    files_.wait(keys, timeout);
  }

 private:
  gloo::rendezvous::FileStore files_;
  const milliseconds timeout_;
};

/// The processes find each other by files in a folder, which are removed when all have joined.
std::unique_ptr<Communicator> JoinByFolder(const Rendezvous& rendezvous) {
  const auto folder = std::filesystem::path(rendezvous.folder) / ".pdl-rendezvous";
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    throw RendezvousError("cannot write '" + std::string(rendezvous.folder) +
                          "': " + code.message());
  ClaimRank(folder, rendezvous.rank);
  FolderStore store(folder, Milliseconds(rendezvous.timeout));
  auto communicator = std::make_unique<GlooCommunicator>(Connect(rendezvous, store, ""));
  communicator->set_timeout(rendezvous.timeout);
  if (llvm::Error error = communicator->Barrier())
    throw RendezvousError(llvm::toString(std::move(error)));
  if (rendezvous.rank == 0) std::filesystem::remove_all(folder, code);
  return communicator;
}

std::unique_ptr<Communicator> Join(const Rendezvous& rendezvous) {
  if (rendezvous.folder != nullptr) return JoinByFolder(rendezvous);
  AgentStore store(rendezvous.host, rendezvous.port, rendezvous.key_prefix,
                   Milliseconds(rendezvous.timeout));
  return std::make_unique<GlooCommunicator>(Connect(rendezvous, store, store.own_address()));
}

}  // namespace
}  // namespace pdl

const char* pdl_transport_version() { return PDL_PLUGIN_VERSION; }

pdl::Communicator* pdl_transport_create(const pdl::Rendezvous* rendezvous, char** error) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::string why;
  try {
    return pdl::Join(*rendezvous).release();
  } catch (const pdl::RendezvousError& e) {
    why = e.what();
  } catch (const std::exception& e) {
    // "[file:line] text"
    const std::string text = e.what();
    const size_t begin = text.rfind("] ");
    if (Clock::now() - start < std::chrono::duration<double>(rendezvous->timeout)) {
      why = "Gloo: " + text.substr(begin == std::string::npos ? 0 : begin + 2);
    } else {
      why = llvm::formatv("not all of them have joined within {0} s", rendezvous->timeout);
    }
  }
  *error = strdup(why.c_str());
  return nullptr;
}
