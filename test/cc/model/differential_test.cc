// Random networks give the same results in all ways in which they can be run.
//
// PDL_RANDOM_BEGIN and PDL_RANDOM_COUNT select the seeds, PDL_RANDOM_VERBOSE prints what is covered.
// PDL_RANDOM_RECORD names a file that results are written to, and PDL_RANDOM_COMPARE one that they
// are compared with: of a process with another PDL_MAX_CPU_ISA.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/compiler/compiler.h"
#include "test/cc/testing/differential.h"

namespace pdl {
namespace {

uint64_t NumberOf(const char* variable, uint64_t fallback) {
  const char* given = std::getenv(variable);
  return given == nullptr ? fallback : std::strtoull(given, nullptr, 10);
}

TEST(Differential, RandomNetworks) {
  const uint64_t begin = NumberOf("PDL_RANDOM_BEGIN", 0);
  const uint64_t count = NumberOf("PDL_RANDOM_COUNT", 200);
  CallCorpus corpus("..");
  Differential differential;
  for (uint64_t seed = begin; seed < begin + count; ++seed) {
    RandomSource random(seed);
    const RandomGraph network = MakeRandomGraph(corpus, random);
    if (std::getenv("PDL_RANDOM_TRACE") != nullptr)
      llvm::errs() << "seed " << seed << "\n" << EmitPdl(network.graph);
    for (const std::string& difference : differential.Compare(network))
      ADD_FAILURE() << "seed " << seed << ": " << difference << "\n" << EmitPdl(network.graph);
  }
  const Differential::Count& plain = differential.counts().at("plain");
  EXPECT_GE(plain.ran, plain.failed * 5);
  if (std::getenv("PDL_RANDOM_VERBOSE") == nullptr) return;
  for (const auto& [name, counted] : differential.counts())
    llvm::outs() << name << ": " << counted.ran << " ran, " << counted.failed << " failed\n";
  unsigned covered = 0;
  const std::set<std::string> features = FeaturesToCover();
  for (const std::string& feature : features) {
    if (differential.covered().count(feature) != 0) {
      ++covered;
    } else {
      llvm::outs() << "not covered: " << feature << "\n";
    }
  }
  llvm::outs() << "covered: " << covered << " of " << features.size() << "\n";
}

}  // namespace
}  // namespace pdl
