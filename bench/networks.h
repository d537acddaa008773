#ifndef PDL_BENCH_NETWORKS_H_
#define PDL_BENCH_NETWORKS_H_

#include <memory>
#include <string>

#include "pdl/compiler/compiler.h"
#include "pdl/runtime/network.h"

namespace pdl::bench {

/// What call i of the chain adds.
inline double AddedBy(int i) { return 0.5 + 0.001 * i; }
/// `count` calls of `add`, each with another constant, one after the other: nothing to be folded,
/// merged or left out. From `x: f32[N]` to `y`.
std::string ChainOfAdds(int count);
/// `count` statements like "y7 = cos(y6, scale=5.0)".
std::string ChainOfCosines(int count);

/// A transformer of that many blocks, written with layers and a loop. From `ids: i64[N, T]` to `y`.
std::string Transformer(int blocks);

[[noreturn]] void Die(const std::string& message);
/// Ends the program where the text has a mistake.
Graph CompileOrDie(const std::string& text, bool training_step = false);
std::shared_ptr<const Network> MakeNetwork(const std::string& text, bool fuse = true);
/// One run; ends the program where it fails.
void RunOrDie(const Network& network, Scope* scope, DeviceContext* context,
              const RunOptions& run = {});

/// Calls of the network in NetworkFile().
inline constexpr int kFileCalls = 100'000;
/// Names the file that a process is to take as its NetworkFile().
inline constexpr char kFileVariable[] = "PDL_BENCH_FILE";
/// A `.pdlc` of ChainOfCosines(kFileCalls): the one that kFileVariable names, else made by the
/// first call and removed with the program.
const std::string& NetworkFile();

/// Numbers in [-1, 1) that look random, always the same.
Tensor Noise(llvm::ArrayRef<int64_t> sizes, uint32_t seed = 1);

/// Seconds of processor time that this process has taken.
double ProcessorSeconds();

}  // namespace pdl::bench

#endif  // PDL_BENCH_NETWORKS_H_
