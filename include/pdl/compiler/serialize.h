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

/// The version of the stored format that this library writes; it reads every one up to this.
inline constexpr int kFormatVersion = 1;

struct SerializeOptions {
  /// Leave out the location table, file names and comments of calls.
  bool locations = true;
};

/// The bytes of the NetworkDesc of an elaborated graph. Deterministic: equal graphs give equal
/// bytes.
PDL_API llvm::Expected<std::string> SerializeNetwork(const Graph& graph,
                                                     const SerializeOptions& options = {});

/// The graph that `bytes` describe, checked as text would be: every call is looked up, its
/// attributes checked, its types inferred again and compared with the stored ones. `file` is for
/// messages. Errors name the file and the call. Never trusts a stored size or count.
PDL_API llvm::Expected<Graph> DeserializeNetwork(llvm::StringRef bytes, llvm::StringRef file,
                                                 const OpRegistry& registry);

/// The NetworkDesc in protobuf's text format.
PDL_API llvm::Expected<std::string> NetworkToText(const Graph& graph,
                                                  const SerializeOptions& options = {});

/// The OpProtos of all operators and the LayerDefs of layers: serialized as one OpProtoList, or as
/// JSON.
PDL_API std::string SerializeOpProtos(const OpRegistry& registry,
                                      llvm::ArrayRef<LayerSignature> layers = {});
PDL_API std::string OpProtosToJson(const OpRegistry& registry,
                                   llvm::ArrayRef<LayerSignature> layers = {});

}  // namespace pdl

#endif  // PDL_COMPILER_SERIALIZE_H_
