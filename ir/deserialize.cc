// Deserialization: from bytes to a Graph.
#include "ir/complete_network.h"
#include "ir/network_message.h"
#include "ir/network_reader.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/out_of_memory.h"

namespace pdl {
namespace {

llvm::Expected<Graph> Deserialize(llvm::StringRef bytes, llvm::StringRef file,
                                  const OpRegistry& registry) {
  google::protobuf::Arena arena;
  llvm::Expected<NetworkDesc*> desc = ParseNetwork(bytes, file, &arena);
  if (!desc) return desc.takeError();
  if ((*desc)->incomplete()) AddResultVariables(*desc);
  return NetworkReader(**desc, bytes.size(), file, registry).Read();
}

}  // namespace

llvm::Expected<Graph> DeserializeNetwork(llvm::StringRef bytes, llvm::StringRef file,
                                         const OpRegistry& registry) {
  return WithOutOfMemory("loading the network '" + file.str() + "'",
                         [&] { return Deserialize(bytes, file, registry); });
}

}  // namespace pdl
