// The functions of the targets, which targets.cc lists.
#ifndef PDL_TEST_FUZZ_TARGETS_H_
#define PDL_TEST_FUZZ_TARGETS_H_

#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace pdl::fuzz {

void RunSource(llvm::StringRef bytes);
void RunNetwork(llvm::StringRef bytes);
void RunOnnx(llvm::StringRef bytes);
void RunCsv(llvm::StringRef bytes);
void RunNpy(llvm::StringRef bytes);
void RunNpz(llvm::StringRef bytes);
void RunSafetensors(llvm::StringRef bytes);
void RunWeightIndex(llvm::StringRef bytes);
void RunCheckpoint(llvm::StringRef bytes);
void RunLsp(llvm::StringRef bytes);
void RunDifferential(llvm::StringRef bytes);

std::vector<std::string> SourceSeeds(llvm::StringRef root);
std::vector<std::string> NetworkSeeds(llvm::StringRef root);
std::vector<std::string> OnnxSeeds(llvm::StringRef root);
std::vector<std::string> CsvSeeds(llvm::StringRef root);
std::vector<std::string> NpySeeds(llvm::StringRef root);
std::vector<std::string> NpzSeeds(llvm::StringRef root);
std::vector<std::string> SafetensorsSeeds(llvm::StringRef root);
std::vector<std::string> WeightIndexSeeds(llvm::StringRef root);
std::vector<std::string> CheckpointSeeds(llvm::StringRef root);
std::vector<std::string> LspSeeds(llvm::StringRef root);
std::vector<std::string> DifferentialSeeds(llvm::StringRef root);

std::vector<std::string> SourceWords();
std::vector<std::string> LspWords();

}  // namespace pdl::fuzz

#endif  // PDL_TEST_FUZZ_TARGETS_H_
