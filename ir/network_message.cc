#include "ir/network_message.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/logging.h"
#include "ir/proto_convert.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"

namespace pdl {

llvm::Expected<NetworkDesc*> ParseNetwork(llvm::StringRef bytes, llvm::StringRef file,
                                          google::protobuf::Arena* arena) {
  if (bytes.size() > kMaxNetworkBytes)
    return MakeUserError(Code::kBadNetwork, "{0}: a network has at most {2} bytes, got {1}", file,
                         bytes.size(), kMaxNetworkBytes);
  auto* desc = google::protobuf::Arena::CreateMessage<NetworkDesc>(arena);
  google::protobuf::LogSilencer silencer;
  google::protobuf::io::CodedInputStream coded(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  // Each nested call in a dim takes two levels.
  coded.SetRecursionLimit(2 * kMaxDimDepth + 32);
  if (!desc->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage() ||
      desc->format_version() == 0)
    return MakeUserError(Code::kBadNetwork, "{0}: not a network file, or damaged", file);
  if (desc->format_version() > kFormatVersion)
    return MakeUserError(Code::kBadNetwork,
                         "{0}: format version {1}, but this version of pdl reads 1 to {2}", file,
                         desc->format_version(), kFormatVersion);
  if (!desc->whole())
    return MakeUserError(Code::kBadNetwork, "{0}: truncated: the end is missing", file);
  return desc;
}

}  // namespace pdl
