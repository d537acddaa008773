#include "target.h"

#include "llvm/ADT/STLExtras.h"
#include "onnx_full.pb.h"
#include "proto/pdl.pb.h"
#include "targets.h"

namespace pdl::fuzz {

llvm::ArrayRef<Target> Targets() {
  static const Target targets[] = {
      {"source", "pdl source, as text", RunSource, SourceSeeds, 1024, SourceWords},
      {"network", "a .pdlc file, as bytes", RunNetwork, NetworkSeeds, 2048},
      {"network_message", "a .pdlc file, as a NetworkDesc", RunNetwork, NetworkSeeds, 8192, nullptr,
       &NetworkDesc::default_instance()},
      {"onnx", "an ONNX model, as bytes", RunOnnx, OnnxSeeds, 1024},
      {"onnx_message", "an ONNX model, as a ModelProto", RunOnnx, OnnxSeeds, 8192, nullptr,
       &onnx_full::ModelProto::default_instance()},
      {"csv", "a table of training data", RunCsv, CsvSeeds, 1024},
      {"npy", "an array of NumPy", RunNpy, NpySeeds, 1024},
      {"npz", "an archive of arrays, also as training data", RunNpz, NpzSeeds, 4096},
      {"safetensors", "a file of weights", RunSafetensors, SafetensorsSeeds, 2048},
      {"weight_index", "the index of weights in several files", RunWeightIndex, WeightIndexSeeds,
       1024},
      {"checkpoint", "a checkpoint that a training resumes from", RunCheckpoint, CheckpointSeeds,
       4096},
      {"lsp", "messages to the language server", RunLsp, LspSeeds, 4096, LspWords},
      {"differential", "decisions of a generator of networks, which run in different ways",
       RunDifferential, DifferentialSeeds, 1024},
  };
  return targets;
}

const Target* FindTarget(llvm::StringRef name) {
  const auto* found = llvm::find_if(Targets(), [&](const Target& t) { return name == t.name; });
  return found == Targets().end() ? nullptr : found;
}

}  // namespace pdl::fuzz
