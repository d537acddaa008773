// The arguments that an operator is created from.
// Module: ir
#ifndef PDL_OP_OPERATOR_ARGUMENTS_H_
#define PDL_OP_OPERATOR_ARGUMENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "pdl/op/attribute.h"
#include "pdl/op/dtype.h"

namespace pdl {

class Graph;
struct OpDef;

/// One call, from which its operator is created. The arguments only have to live until then.
struct OperatorArguments {
  const OpDef* def = nullptr;
  /// Complete and in declaration order.
  std::vector<AttributeValue> attributes;
  /// Names of the Variables that are read and written.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// "model.pdl:3:5", for messages; may be empty.
  std::string location;
  /// Dtypes of the inputs and outputs if known, as they always are in a Plan; else empty.
  std::vector<DType> input_dtypes;
  std::vector<DType> output_dtypes;
  /// The Block that an attribute refers to, as a network; null if there is none.
  std::shared_ptr<const Graph> body;
  /// From the Plan: whether the body runs for training, whether it may have fused groups, and its
  /// PrepareContext::matmul_precision.
  bool training = false;
  bool fuse = true;
  DType matmul_precision = DType::kF32;
};

}  // namespace pdl

#endif  // PDL_OP_OPERATOR_ARGUMENTS_H_
