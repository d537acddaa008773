#ifndef PDL_BENCH_NETWORKS_H_
#define PDL_BENCH_NETWORKS_H_

#include <memory>
#include <string>

#include "pdl/compiler/compiler.h"
#include "pdl/runtime/network.h"

namespace pdl::bench {

/// The constant that call i of the chain adds.
inline double AddedBy(int i) { return 0.5 + 0.001 * i; }
/// A chain of `count` calls of `add` with different constants, which cannot be folded, merged or
/// removed. From `x: f32[N]` to `y`.
std::string ChainOfAdds(int count);
/// `count` statements like "y7 = cos(y6, scale=5.0)".
std::string ChainOfCosines(int count);

/// A transformer of that many blocks, written with layers and a loop. From `ids: i64[N, T]` to `y`.
std::string Transformer(int blocks);

[[noreturn]] void Die(const std::string& message);
/// Exits if the source has an error.
Graph CompileOrDie(const std::string& text, bool training_step = false);
std::shared_ptr<const Network> MakeNetwork(const std::string& text, bool fuse = true);
/// Runs once; exits if the run fails.
void RunOrDie(const Network& network, Scope* scope, DeviceContext* context,
              const RunOptions& run = {});

/// The number of calls of the network in NetworkFile().
inline constexpr int kFileCalls = 100'000;
/// The environment variable with the file that a child process uses as NetworkFile().
inline constexpr char kFileVariable[] = "PDL_BENCH_FILE";
/// A `.pdlc` of ChainOfCosines(kFileCalls): the one that kFileVariable names; otherwise a temporary
/// file, created by the first call and removed at exit.
const std::string& NetworkFile();

/// Deterministic pseudorandom numbers in [-1, 1).
Tensor Noise(llvm::ArrayRef<int64_t> sizes, uint32_t seed = 1);

/// The CPU time of this process in seconds.
double ProcessorSeconds();

}  // namespace pdl::bench

#endif  // PDL_BENCH_NETWORKS_H_
