// All unary and binary elementwise operators on CUDA compared with the CPU. Iterates over the
// registry, so new operators are included.
#include <map>

#include "cuda_ops_fixture.h"

namespace pdl::testing {
namespace {

using Attributes = std::vector<NamedAttribute>;

/// A valid value of an attribute other than its default; nullopt if this test knows none.
std::optional<AttributeValue> OtherValue(const AttributeDecl& decl) {
  if (decl.is_list) return std::nullopt;
  switch (decl.kind) {
    case AttributeKind::kBool: {
      const bool* otherwise = std::get_if<bool>(&decl.default_value);
      return AttributeValue(otherwise == nullptr || !*otherwise);
    }
    case AttributeKind::kFloat: {
      const double* otherwise = std::get_if<double>(&decl.default_value);
      const double base = otherwise == nullptr ? 0 : *otherwise;
      for (const double value : {base * 1.5 + 0.25, base * 0.5, base + 2, base - 2})
        if (value != base && decl.Admits(value)) return AttributeValue(value);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// The defaults, and for each attribute a call with another value. Empty if a call must specify an
/// attribute.
std::vector<Attributes> ChoicesOf(const OpSignature& signature) {
  std::vector<Attributes> choices = {{}};
  for (const AttributeDecl& decl : signature.attributes) {
    if (decl.required()) return {};
    if (std::optional<AttributeValue> value = OtherValue(decl))
      choices.push_back({{decl.name, *value}});
  }
  return choices;
}

/// The elementwise operators with exactly so many operands.
std::vector<const OpDef*> Elementwise(unsigned operands) {
  std::vector<const OpDef*> ops;
  for (const OpDef* def : GlobalRegistry().All()) {
    const OpSignature& signature = def->signature;
    if (def->properties().elementwise && def->kernel(DeviceKind::kCPU) != nullptr &&
        signature.MinOperands() == operands && signature.MaxOperands() == operands) {
      ops.push_back(def);
    }
  }
  return ops;
}

/// The tolerance, if the default of the comparison is too strict: functions that both devices
/// compute in several rounded steps.
double ToleranceOf(const std::string& op) {
  static const std::map<std::string, double> tolerances = {{"pow", 1e-5}, {"kl_div", 1e-5}};
  auto found = tolerances.find(op);
  return found == tolerances.end() ? 0 : found->second;
}

TEST_F(CudaOps, ElementwiseOfOneOperand) {
  unsigned num_ops = 0;
  for (const OpDef* def : Elementwise(1)) {
    const std::string op = def->name();
    const std::vector<Attributes> choices = ChoicesOf(def->signature);
    num_ops += !choices.empty();
    for (const Attributes& attributes : choices) {
      for (DType dtype : DTypesOf(op)) {
        for (const Sizes& sizes :
             SizesList{{}, {0}, {1}, {7}, {8}, {1000}, {3, 0, 2}, {257, 129}, {200001}}) {
          // The large sizes take too long on an emulated GPU.
          if (sizes == Sizes{200001} && dtype != DType::kF32) continue;
          TestCall call{op, {RandomTensor(dtype, sizes, 1)}, attributes};
          PutSpecialValues(call.inputs[0]);
          Compare(call, ToleranceOf(op));
          if (sizes.size() != 1 || sizes[0] > 2000) continue;
          Compare(call, ToleranceOf(op), {.misalignment = 1});
          Compare(call, ToleranceOf(op), {.in_place = 0});
        }
      }
    }
  }
  EXPECT_GT(num_ops, 55u);
}

TEST_F(CudaOps, ElementwiseOfTwoOperands) {
  unsigned num_ops = 0;
  for (const OpDef* def : Elementwise(2)) {
    const std::string op = def->name();
    const std::vector<Attributes> choices = ChoicesOf(def->signature);
    num_ops += !choices.empty();
    for (const Attributes& attributes : choices) {
      for (DType dtype : DTypesOf(op)) {
        if (!def->signature.inputs[1].dtypes.Contains(dtype)) continue;
        for (const auto& [left, right] : kPairs) {
          TestCall call{op, {RandomTensor(dtype, left, 1), RandomTensor(dtype, right, 2)}, {}};
          call.attributes = attributes;
          if (left == Sizes{1000}) PutSpecialValues(call.inputs[0]);
          if (right == Sizes{1001} || right == Sizes{7}) PutSpecialValues(call.inputs[1]);
          if (call.inputs[0].num_elements() > 10000 && dtype != DType::kF32) continue;
          Compare(call, ToleranceOf(op));
          if (call.inputs[0].num_elements() > 10000) continue;
          Compare(call, ToleranceOf(op), {.misalignment = 1});
          Compare(call, ToleranceOf(op), {.in_place = 0});
          Compare(call, ToleranceOf(op), {.in_place = 1});
        }
      }
    }
  }
  EXPECT_GT(num_ops, 25u);
}

TEST_F(CudaOps, Clip) {
  for (DType dtype : DTypesOf("clip")) {
    TestCall call{"clip", {RandomTensor(dtype, {1000}, 1)}, {{"low", -1.5}, {"high", 2.0}}};
    PutSpecialValues(call.inputs[0]);
    Compare(call);
    Compare(call, 0, {.misalignment = 1, .in_place = 0});
  }
}

TEST_F(CudaOps, LargeAngles) {
  for (const char* op : {"cos", "sin", "tan"})
    Compare({op, {RandomTensor(DType::kF32, {10000}, 1, -1e6, 1e6)}, {}});
}

}  // namespace
}  // namespace pdl::testing
