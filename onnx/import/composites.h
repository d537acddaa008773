#ifndef PDL_ONNX_IMPORT_COMPOSITES_H_
#define PDL_ONNX_IMPORT_COMPOSITES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pdl/compiler/graph.h"

namespace pdl {

/// One operator that calls of a graph spell out.
struct Composite {
  std::string op;
  std::vector<const Value*> operands;
  std::vector<NamedAttribute> attributes;
  /// How operand 1 is transposed before; empty: not at all.
  std::vector<int64_t> transpose;
};

/// The operator (gelu, attention, standardize) that the calls up to `op` spell out: models write it
/// out where their operator set lacks it. nullopt where there is none.
std::optional<Composite> FindComposite(const Op& op);

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_COMPOSITES_H_
