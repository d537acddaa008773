#include "fake_nccl.h"

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The ranks that were given one id, and the bytes that have been sent but not received.
struct World {
  int size = 0, joined = 0;
  std::map<std::pair<int, int>, std::deque<std::string>> messages;  // by sender and receiver
};

struct Operation {
  void* data;
  size_t bytes;
  int peer;
  bool is_send;
};

std::mutex mutex;
std::map<std::string, std::shared_ptr<World>> worlds;
std::map<int, std::string> calls;
int num_ids = 0;

thread_local std::map<std::string, ncclResult_t> failures;
thread_local std::vector<std::pair<ncclComm_t, Operation>> group;

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
  /// The operations that have not ended yet.
  std::deque<Operation> receives;
  ncclResult_t error = ncclSuccess;
  std::string details;
};

namespace {

/// Whether this call is to fail.
bool Fails(const char* function, ncclResult_t* result) {
  const auto found = failures.find(function);
  if (found == failures.end()) return false;
  *result = found->second;
  failures.erase(found);
  return true;
}

void Record(int rank, const std::string& call) { calls[rank] += call + "\n"; }

ncclResult_t Call(ncclComm_t comm, const char* function) {
  const std::lock_guard lock(mutex);
  Record(comm->rank, function);
  ncclResult_t result = ncclSuccess;
  if (Fails(function, &result)) comm->details = "injected";
  return result;
}

/// Receives what has arrived. The mutex must be held.
void Progress(ncclComm& comm) {
  while (!comm.receives.empty() && comm.error == ncclSuccess) {
    const Operation& next = comm.receives.front();
    std::deque<std::string>& arrived = comm.world->messages[{next.peer, comm.rank}];
    if (arrived.empty()) return;
    if (arrived.front().size() != next.bytes) {
      comm.error = ncclInvalidUsage;
      comm.details = "the sizes of a message differ";
      return;
    }
    std::memcpy(next.data, arrived.front().data(), next.bytes);
    arrived.pop_front();
    comm.receives.pop_front();
  }
}

ncclResult_t Add(ncclComm_t comm, const char* function, const Operation& operation,
                 ncclDataType_t type) {
  const std::lock_guard lock(mutex);
  Record(comm->rank, std::string(function) + " " + std::to_string(operation.bytes) + " bytes " +
                         (operation.is_send ? "to " : "from ") + std::to_string(operation.peer));
  ncclResult_t result = ncclSuccess;
  if (Fails(function, &result)) {
    comm->details = "injected";
    return result;
  }
  if (type != ncclUint8) return ncclInvalidArgument;
  group.emplace_back(comm, operation);
  return ncclSuccess;
}

}  // namespace

extern "C" {

const char* FakeNcclCalls(int rank) {
  static thread_local std::string copy;
  const std::lock_guard lock(mutex);
  copy = calls[rank];
  return copy.c_str();
}

void FakeNcclReset() {
  const std::lock_guard lock(mutex);
  calls.clear();
}

void FakeNcclFail(const char* function, ncclResult_t result) { failures[function] = result; }

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::lock_guard lock(mutex);
  ncclResult_t result = ncclSuccess;
  if (Fails("ncclGetUniqueId", &result)) return result;
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id->internal, &++num_ids, sizeof(num_ids));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const std::lock_guard lock(mutex);
  Record(rank, "ncclCommInitRankConfig");
  ncclResult_t result = ncclSuccess;
  if (Fails("ncclCommInitRankConfig", &result)) return result;
  if (config->blocking != 0) return ncclInvalidArgument;
  std::shared_ptr<World>& world = worlds[std::string(id.internal, sizeof(id.internal))];
  if (!world) world = std::make_shared<World>();
  world->size = size;
  ++world->joined;
  *comm = new ncclComm;
  (*comm)->world = world;
  (*comm)->rank = rank;
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  const std::lock_guard lock(mutex);
  ncclResult_t result = ncclSuccess;
  if (Fails("ncclCommGetAsyncError", &result)) {
    comm->error = result;
    comm->details = "injected";
  }
  Progress(*comm);
  const bool is_complete = comm->world->joined == comm->world->size && comm->receives.empty();
  *state = comm->error != ncclSuccess ? comm->error : is_complete ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return Call(comm, "ncclCommFinalize"); }
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const ncclResult_t result = Call(comm, "ncclCommDestroy");
  delete comm;
  return result;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const ncclResult_t result = Call(comm, "ncclCommAbort");
  delete comm;
  return result;
}

ncclResult_t ncclGroupStart() {
  ncclResult_t result = ncclSuccess;
  if (Fails("ncclGroupStart", &result)) return result;
  group.clear();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const std::lock_guard lock(mutex);
  ncclResult_t result = ncclSuccess;
  if (Fails("ncclGroupEnd", &result)) return result;
  for (auto& [comm, operation] : group) {
    if (operation.is_send) {
      comm->world->messages[{comm->rank, operation.peer}].emplace_back(
          static_cast<const char*>(operation.data), operation.bytes);
    } else {
      comm->receives.push_back(operation);
    }
  }
  group.clear();
  return ncclInProgress;
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t) {
  return Add(comm, "ncclSend", {const_cast<void*>(data), count, peer, true}, type);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t) {
  return Add(comm, "ncclRecv", {data, count, peer, false}, type);
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSystemError:
      return "system error";
    case ncclRemoteError:
      return "remote error";
    case ncclInvalidUsage:
      return "invalid usage";
    default:
      return "other error";
  }
}

const char* ncclGetLastError(ncclComm_t comm) { return comm ? comm->details.c_str() : ""; }

}  // extern "C"
