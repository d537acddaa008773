#include "target.h"

#include "llvm/ADT/STLExtras.h"
#include "onnx_full.pb.h"
#include "proto/pdl.pb.h"
#include "targets.h"

namespace pdl::fuzz {

llvm::ArrayRef<Target> Targets() {
  static const Target targets[] = {
      {"source", "pdl source, as text", RunSource, SourceSeeds, SourceWords},
      {"network", "a .pdlc file, as bytes", RunNetwork, NetworkSeeds},
      {"network_message", "a .pdlc file, as a NetworkDesc", RunNetwork, NetworkSeeds, nullptr,
       &NetworkDesc::default_instance()},
      {"onnx", "an ONNX model, as bytes", RunOnnx, OnnxSeeds},
      {"onnx_message", "an ONNX model, as a ModelProto", RunOnnx, OnnxSeeds, nullptr,
       &onnx_full::ModelProto::default_instance()},
      {"csv", "a table of training data", RunCsv, CsvSeeds},
      {"npy", "an array of NumPy", RunNpy, NpySeeds},
      {"npz", "an archive of arrays, also as training data", RunNpz, NpzSeeds},
      {"safetensors", "a file of weights", RunSafetensors, SafetensorsSeeds},
      {"checkpoint", "a checkpoint that a training resumes from", RunCheckpoint, CheckpointSeeds},
  };
  return targets;
}

const Target* FindTarget(llvm::StringRef name) {
  const auto* found = llvm::find_if(Targets(), [&](const Target& t) { return name == t.name; });
  return found == Targets().end() ? nullptr : found;
}

}  // namespace pdl::fuzz
