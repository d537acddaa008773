#include "onnx/model/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"

namespace pdl {
namespace {

/// Maximum depth of nested subgraphs.
constexpr int kMaxDepth = 16;
/// Maximum depth of messages: a graph in the attribute of a node is three messages deeper.
constexpr int kMaxMessageDepth = 4 * kMaxDepth;

/// Counts the nodes of a graph and of the graphs in its attributes.
llvm::Error CountNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int depth,
                       int64_t* count) {
  *count += nodes.size();
  if (*count > OnnxModel::kMaxNodes) {
    return MakeUserError(Code::kBadNetwork, "models of more than {0} nodes are not supported",
                         OnnxModel::kMaxNodes);
  }
  if (depth > kMaxDepth) {
    return MakeUserError(Code::kBadNetwork, "subgraphs are nested more than {0} deep", kMaxDepth);
  }
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g())
        if (llvm::Error error = CountNodes(attribute.g().node(), depth + 1, count)) return error;
      for (const onnx::GraphProto& graph : attribute.graphs())
        if (llvm::Error error = CountNodes(graph.node(), depth + 1, count)) return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error CheckOperatorSets(const onnx::ModelProto& model) {
  llvm::StringSet<> seen;
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (!seen.insert(set.domain() == "ai.onnx" ? "" : set.domain()).second)
      return MakeUserError(Code::kBadNetwork, "operator set '{0}' is imported twice", set.domain());
    if (set.version() < 1)
      return MakeUserError(Code::kBadNetwork, "operator set '{0}' has version {1}", set.domain(),
                           set.version());
  }
  if (seen.empty()) return MakeUserError(Code::kBadNetwork, "it names no operator set");
  return llvm::Error::success();
}

llvm::Error Check(const onnx::ModelProto& model) {
  if (!model.has_graph()) return MakeUserError(Code::kBadNetwork, "it has no graph");
  if (llvm::Error error = CheckOperatorSets(model)) return error;
  int64_t count = 0;
  if (llvm::Error error = CountNodes(model.graph().node(), 1, &count)) return error;
  for (const onnx::FunctionProto& function : model.functions())
    if (llvm::Error error = CountNodes(function.node(), 1, &count)) return error;
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<OnnxModel> OnnxModel::Read(llvm::StringRef path) {
  auto buffer = ReadFile(path);
  if (!buffer) return buffer.takeError();
  const llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return Parse((*buffer)->getBuffer(), path, folder.empty() ? "." : folder);
}

llvm::Expected<OnnxModel> OnnxModel::Parse(llvm::StringRef bytes, llvm::StringRef name,
                                           llvm::StringRef folder) {
  if (bytes.size() > INT32_MAX) {
    return MakeUserError(Code::kBadNetwork,
                         "'{0}' is larger than 2 GiB, the limit of ONNX files: larger weights must "
                         "be stored in separate files",
                         name);
  }
  auto proto = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(kMaxMessageDepth);
  if (!proto->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return MakeUserError(Code::kBadNetwork, "'{0}' is not an ONNX model, or is truncated", name);
  if (llvm::Error error = Check(*proto)) {
    return MakeUserError(Code::kBadNetwork, "'{0}': {1}", name, llvm::toString(std::move(error)));
  }
  OnnxModel model;
  model.proto_ = std::move(proto);
  model.name_ = name.str();
  model.folder_ = folder.str();
  return model;
}

}  // namespace pdl
