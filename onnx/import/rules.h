#ifndef PDL_ONNX_IMPORT_RULES_H_
#define PDL_ONNX_IMPORT_RULES_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

class Node;

/// How nodes of one operator become calls.
struct OnnxRule {
  llvm::StringLiteral op_type;
  void (*convert)(Node& node);
  /// The first version of the operator set that it is good for.
  int64_t since = 1;
  llvm::StringLiteral domain = "";
};

/// The rule for an operator at a version of its set, that of an operator with this `onnx_name`
/// where no family has one; null where there is none.
const OnnxRule* FindOnnxRule(llvm::StringRef domain, llvm::StringRef op_type, int64_t opset);

/// Nodes that one call computes, by its operator's OpProperties::onnx_name.
const OnnxRule& SameNameRule();

// The families, each with a file of its own.
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

/// All of them.
std::vector<llvm::ArrayRef<OnnxRule>> OnnxRuleFamilies();

}  // namespace pdl

#endif  // PDL_ONNX_IMPORT_RULES_H_
