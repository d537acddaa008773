#ifndef PDL_COMPILER_SERIALIZE_H_
#define PDL_COMPILER_SERIALIZE_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/layer_def.h"

namespace pdl {

/// The newest format version. Networks without its fields are written as version 1. This library
/// reads all versions up to this one.
inline constexpr int kFormatVersion = 2;

/// Options of SerializeNetwork and NetworkToText.
struct SerializeOptions {
  /// False omits the location table, file names and comments of calls.
  bool locations = true;
};

/// Serializes an elaborated graph as a NetworkDesc. Deterministic: equal graphs give equal bytes.
PDL_API llvm::Expected<std::string> SerializeNetwork(const Graph& graph,
                                                     const SerializeOptions& options = {});

/// Parses a NetworkDesc and checks it as strictly as source: every call is looked up, its
/// attributes are checked, and its types are inferred again and compared with the stored ones.
/// `file` is for messages. Errors name the file and the call. Stored sizes and counts are never
/// trusted.
PDL_API llvm::Expected<Graph> DeserializeNetwork(llvm::StringRef bytes, llvm::StringRef file,
                                                 const OpRegistry& registry);

/// Returns the source of a stored network that is `incomplete` and calls layers, which only the
/// compiler can complete (LoadNetwork does); empty for any other network. `file` is for messages.
PDL_API llvm::Expected<std::string> SourceOfIncomplete(llvm::StringRef bytes, llvm::StringRef file,
                                                       const OpRegistry& registry);

/// Returns the NetworkDesc in protobuf's textproto format.
PDL_API llvm::Expected<std::string> NetworkToText(const Graph& graph,
                                                  const SerializeOptions& options = {});

/// Exports the OpProtos of all operators and the LayerDefs of `layers`, as a serialized OpProtoList
/// or as JSON.
PDL_API std::string SerializeOpProtos(const OpRegistry& registry,
                                      llvm::ArrayRef<LayerSignature> layers = {});
PDL_API std::string OpProtosToJson(const OpRegistry& registry,
                                   llvm::ArrayRef<LayerSignature> layers = {});

}  // namespace pdl

#endif  // PDL_COMPILER_SERIALIZE_H_
