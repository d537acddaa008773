#ifndef PDL_TEST_CC_TESTING_RANDOM_GRAPH_H_
#define PDL_TEST_CC_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/storage.h"
#include "test/cc/testing/call_corpus.h"
#include "test/cc/testing/random_source.h"

namespace pdl {

/// A network that compiles, with values for its inputs.
struct RandomGraph {
  Graph graph;
  llvm::StringMap<PackedConstant> inputs;
  /// An optimizer for a `minimize` statement over the parameters; empty: none.
  std::string optimizer;
  /// The scalar value to minimize.
  std::string loss;
};

/// A random network: calls of all operators in random dtypes and sizes, with random attributes,
/// whose operands are constants, inputs, parameters, states and results of other calls; chains of
/// elementwise calls; gradients; and, to begin with, networks of RandomNetwork and of the corpus,
/// with loops, layers, ragged and sparse values.
///
/// A call starts as one of the corpus, which is valid, and is changed as long as type inference
/// accepts it.
RandomGraph MakeRandomGraph(CallCorpus& corpus, RandomSource& random);

/// The size of a symbol of such a network.
int64_t RandomGraphSize(llvm::StringRef symbol);

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_RANDOM_GRAPH_H_
