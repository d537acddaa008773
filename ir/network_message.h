#ifndef PDL_IR_NETWORK_MESSAGE_H_
#define PDL_IR_NETWORK_MESSAGE_H_

#include "google/protobuf/arena.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "proto/pdl.pb.h"

namespace pdl {

/// Parses the bytes of a stored network as a message of `arena`. `file` is for messages. A
/// UserError if they are too long, damaged or truncated, or of a later version.
llvm::Expected<NetworkDesc*> ParseNetwork(llvm::StringRef bytes, llvm::StringRef file,
                                          google::protobuf::Arena* arena);

}  // namespace pdl

#endif  // PDL_IR_NETWORK_MESSAGE_H_
