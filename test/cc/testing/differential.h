#ifndef PDL_TEST_CC_TESTING_DIFFERENTIAL_H_
#define PDL_TEST_CC_TESTING_DIFFERENTIAL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/op/storage.h"
#include "pdl/runtime/network.h"
#include "test/cc/testing/random_graph.h"

namespace pdl {

/// The dense parts of the outputs and states after some runs, by name.
using RunResults = std::map<std::string, Constant>;

/// Compares the ways in which a network can be run: passes and fusion on and off, 1 and 3 threads,
/// stored and loaded, printed as source and compiled, exported to ONNX and imported.
///
/// Two results must have the same bits (any nan equals any nan), unless one of the calls is of an
/// operator whose rounding may differ between the two ways (RoundingOf). Then elements may differ
/// by a multiple of how much they change when such calls' results are perturbed by their rounding
/// errors.
class Differential {
 public:
  /// The differences, one message for each way; empty if there are none. With `special`, nan and
  /// infinities must stay the same in ONNX, too.
  std::vector<std::string> Compare(const RandomGraph& random, bool special = false);

  /// The results with all passes, on one thread; empty if the run fails. For comparisons between
  /// processes.
  static RunResults Reference(const RandomGraph& random);
  /// The difference between results of `random` with two instruction sets; empty if there is none.
  static std::string CompareIsas(const RandomGraph& random, const RunResults& expected,
                                 const RunResults& got);

  /// The network as an ONNX model, serialized; empty if it has no counterpart in ONNX.
  std::string Export(const RandomGraph& random);
  /// The difference between the results of `random` and those of an engine that has run `model`,
  /// its export; empty if there is none. With `special`, nan and infinities must be the same, too.
  static std::string CompareOnnx(const RandomGraph& random, llvm::StringRef model,
                                 const RunResults& expected, const RunResults& got,
                                 bool special = false);

  /// Whether ONNX Runtime may have other results for one of the reasons in docs/onnx.md: a nan in a
  /// comparison of elements, as in `sort` or `max`, or a convolution of no channels.
  static bool MayDifferInOnnxRuntime(const RandomGraph& random);

  /// How often networks ran, and how often a run failed, for each way.
  struct Count {
    unsigned ran = 0, failed = 0;
  };
  const std::map<std::string, Count>& counts() const { return counts_; }
  /// The features of the networks that ran: "conv2d", "conv2d f16", "conv2d.pad".
  const std::set<std::string>& covered() const { return covered_; }

 private:
  void CompareTraining(const RandomGraph& random, std::vector<std::string>* differences);
  void CompareStored(const RandomGraph& random, const RunResults& expected,
                     std::vector<std::string>* differences);
  void CompareImport(const RandomGraph& random, const RunResults& expected, bool special,
                     std::vector<std::string>* differences);
  void Cover(const Graph& graph);

  std::map<std::string, Count> counts_;
  std::set<std::string> covered_;
};

/// The features of the operators that Differential should cover: each operator, each of its
/// attributes with a value other than its default.
std::set<std::string> FeaturesToCover();

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_DIFFERENTIAL_H_
