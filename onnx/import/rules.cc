#include "onnx/import/rules.h"

#include <map>

#include "llvm/ADT/StringMap.h"
#include "pdl/op/op_registry.h"

namespace pdl {

static std::string Key(llvm::StringRef domain, llvm::StringRef op_type) {
  return domain.str() + "/" + op_type.str();
}

std::vector<llvm::ArrayRef<OnnxRule>> OnnxRuleFamilies() {
  return {ElementwiseRules(), ActivationRules(),    ReductionRules(), ShapeRules(),
          SliceRules(),       IndexRules(),         ConstantRules(),  ConvolutionRules(),
          PoolingRules(),     NormalizationRules(), MatrixRules(),    ControlRules(),
          LossRules(),        AttentionRules(),     RecurrentRules(), SampleRules(),
          FourierRules(),     ResizeRules(),        NgramRules(),     DetectionRules()};
}

const OnnxRule* FindOnnxRule(llvm::StringRef domain, llvm::StringRef op_type, int64_t opset) {
  static const auto* const kTable = [] {
    auto* table = new llvm::StringMap<std::map<int64_t, const OnnxRule*>>();
    for (llvm::ArrayRef<OnnxRule> family : OnnxRuleFamilies()) {
      for (const OnnxRule& rule : family)
        (*table)[Key(rule.domain, rule.op_type)][rule.since] = &rule;
    }
    return table;
  }();
  auto found = kTable->find(Key(domain, op_type));
  if (found == kTable->end()) {
    const bool is_named = domain.empty() && GlobalRegistry().FindByOnnxName(op_type) != nullptr;
    return is_named ? &SameNameRule() : nullptr;
  }
  auto next = found->second.upper_bound(opset);
  return next == found->second.begin() ? nullptr : std::prev(next)->second;
}

}  // namespace pdl
