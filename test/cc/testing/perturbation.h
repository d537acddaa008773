#ifndef PDL_TEST_CC_TESTING_PERTURBATION_H_
#define PDL_TEST_CC_TESTING_PERTURBATION_H_

#include <cstdint>
#include <functional>
#include <random>

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/constant.h"
#include "pdl/runtime/run_observer.h"
#include "test/cc/testing/random_graph.h"

namespace pdl {

/// The largest finite magnitude of the elements.
double LargestOf(const Constant& values);
bool IsFinite(const Constant& values);
/// Whether products of finite elements may overflow. `in_onnx`: where f16 is computed in f16.
bool MayOverflow(const Constant& values, bool in_onnx = false);
/// The literal that is a constant or the initial value of a variable; null if there is none.
const Constant* LiteralOf(const Graph& graph, const Value* value);

/// Perturbs the results of calls in place, as rounding errors would, and overflow within a call.
class Perturbation final : public RunObserver {
 public:
  /// Errors are relative to the largest element, and to `at_least`.
  Perturbation(uint64_t seed, const RandomGraph& network,
               std::function<double(llvm::StringRef)> rounding, double at_least);

  llvm::Error See(const Result& result) override;

 private:
  void NoteOperand(llvm::StringRef name, const Constant& values);

  /// The largest term of the sums of which the result consists; 0 if it does not.
  double LargestTerm(const Result& result) const;

  /// The product of the largest elements of the first two operands.
  double LargestProduct(const Op& op) const;

  /// ONNX computes the angles of rotary_embedding in f32, pdl in double precision.
  double AngleError(const Result& result, double largest) const;

  template <typename T>
  void Perturb(const Result& result, const Constant& before, double error);

  std::mt19937_64 random_;
  std::function<double(llvm::StringRef)> rounding_;
  double at_least_;
  /// Whether there has been a huge element.
  bool may_overflow_ = false;
  llvm::StringMap<const Op*> ops_;
  /// The largest finite magnitudes of values.
  llvm::StringMap<double> largest_;
};

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_PERTURBATION_H_
