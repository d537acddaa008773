#include "runtime/distributed/device_ranks.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace pdl {

DeviceRanks::~DeviceRanks() = default;

llvm::Error DeviceRanks::Exchange(llvm::ArrayRef<DeviceMessage> send,
                                  llvm::ArrayRef<DeviceMessage> receive) {
  const auto without_empty = [&](llvm::ArrayRef<DeviceMessage> messages) {
    std::vector<DeviceMessage> kept;
    for (const DeviceMessage& message : messages)
      if (message.bytes > 0 && message.rank != rank_) kept.push_back(message);
    return kept;
  };
  const std::vector<DeviceMessage> sent = without_empty(send), received = without_empty(receive);
  for (const DeviceMessage& message : sent) bytes_sent_ += static_cast<int64_t>(message.bytes);
  return StartExchange(sent, received);
}

}  // namespace pdl
