#ifndef PDL_ONNX_IMPORT_COMPOSITES_H_
#define PDL_ONNX_IMPORT_COMPOSITES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/graph.h"

namespace pdl {

/// An operator that is equivalent to several calls of a graph.
struct Composite {
  std::string op;
  std::vector<const Value*> operands;
  std::vector<NamedAttribute> attributes;
  /// The permutation that operand 1 is transposed by first; empty: none.
  std::vector<int64_t> transpose;
};

/// The operator (gelu, attention, standardize) that the calls ending in `op` compute: models
/// contain such calls if their operator set lacks the operator. nullopt if there is none.
std::optional<Composite> FindComposite(const Op& op);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_COMPOSITES_H_
