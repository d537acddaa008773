// A random network, whose decisions are the input: all ways to run it give the same results.
#include "pdl/op/device_context.h"
#include "properties.h"
#include "targets.h"
#include "test/cc/testing/differential.h"

namespace pdl::fuzz {

void RunDifferential(llvm::StringRef bytes) {
  // Other targets set a low one, which not all ways to run a network would reach.
  SetMemoryLimit(int64_t{1} << 32);
  static CallCorpus corpus(PDL_ROOT);
  RandomSource random(bytes);
  const RandomGraph network = MakeRandomGraph(corpus, random);
  Differential differential;
  for (const std::string& difference : differential.Compare(network))
    Fail(difference + "\n" + EmitPdl(network.graph));
}

std::vector<std::string> DifferentialSeeds(llvm::StringRef) {
  std::vector<std::string> seeds;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomSource random(seed);
    std::string& bytes = seeds.emplace_back();
    for (unsigned i = 40 + random.Below(200); i > 0; --i)
      bytes.push_back(static_cast<char>(random.Below(256)));
  }
  return seeds;
}

}  // namespace pdl::fuzz
