#ifndef PDL_ONNX_IMPORT_RULES_H_
#define PDL_ONNX_IMPORT_RULES_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

class Node;

/// Converts nodes of one operator to calls.
struct OnnxRule {
  llvm::StringLiteral op_type;
  void (*convert)(Node& node);
  /// The first version of the operator set that the rule supports.
  int64_t since = 1;
  llvm::StringLiteral domain = "";
};

/// The rule for an operator at a version of its set: that of a family, or the one for operators
/// with this `onnx_name`; null if there is none.
const OnnxRule* FindOnnxRule(llvm::StringRef domain, llvm::StringRef op_type, int64_t opset);

/// The rule for nodes that become one call, found by its operator's OpProperties::onnx_name.
const OnnxRule& SameNameRule();

// The families, each in a file of its own.
llvm::ArrayRef<OnnxRule> ElementwiseRules();
llvm::ArrayRef<OnnxRule> ActivationRules();
llvm::ArrayRef<OnnxRule> ReductionRules();
llvm::ArrayRef<OnnxRule> ShapeRules();
llvm::ArrayRef<OnnxRule> SliceRules();
llvm::ArrayRef<OnnxRule> ResizeRules();
llvm::ArrayRef<OnnxRule> IndexRules();
llvm::ArrayRef<OnnxRule> ConstantRules();
llvm::ArrayRef<OnnxRule> ConvolutionRules();
llvm::ArrayRef<OnnxRule> PoolingRules();
llvm::ArrayRef<OnnxRule> NormalizationRules();
llvm::ArrayRef<OnnxRule> MatrixRules();
llvm::ArrayRef<OnnxRule> ControlRules();
llvm::ArrayRef<OnnxRule> LossRules();
llvm::ArrayRef<OnnxRule> AttentionRules();
llvm::ArrayRef<OnnxRule> RecurrentRules();
llvm::ArrayRef<OnnxRule> SampleRules();
llvm::ArrayRef<OnnxRule> FourierRules();
llvm::ArrayRef<OnnxRule> NgramRules();
llvm::ArrayRef<OnnxRule> DetectionRules();

/// All families.
std::vector<llvm::ArrayRef<OnnxRule>> OnnxRuleFamilies();

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_RULES_H_
