#include "test/cc/testing/random_call.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/inference.h"
#include "test/cc/testing/random_constant.h"

namespace pdl {
namespace {

constexpr DType kAllDTypes[] = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                                DType::kI64, DType::kI32, DType::kI8,  DType::kU8,   DType::kBool,
                                DType::kI16, DType::kU16, DType::kU32, DType::kU64};

bool AreBothFloats(DType a, DType b) { return kFloats.Contains(a) && kFloats.Contains(b); }
bool AreBothIntegers(DType a, DType b) { return kIntegers.Contains(a) && kIntegers.Contains(b); }

/// The operand in another dtype: values are converted.
void ConvertOperand(DType dtype, WantedOperand* operand) {
  if (operand->value) {
    Constant& values = operand->value->values;
    if (!operand->type.is_sparse() || operand->type.dtype != DType::kBool)
      values =
          MakeConstant(dtype, values.sizes(), [&](int64_t i) { return values.ElementAsDouble(i); });
    operand->value->type.dtype = dtype;
  }
  operand->type.dtype = dtype;
}

void ChangeDType(WantedCall* call, RandomSource& random) {
  if (call->operands.empty()) return;
  const DType from = call->operands[random.Below(call->operands.size())].type.dtype;
  const DType to = random.Pick(llvm::ArrayRef(kAllDTypes));
  if (from == to) return;
  const bool all = random.Chance(85);
  for (WantedOperand& operand : call->operands) {
    if (operand.type.dtype != from || (!all && random.Chance(50))) continue;
    if (operand.type.is_sparse() && (from == DType::kBool || to == DType::kBool)) return;
    ConvertOperand(to, &operand);
    if (!AreBothFloats(from, to) && !AreBothIntegers(from, to) && operand.type.is_plain())
      operand.value.reset();
  }
  for (AttributeValue& value : call->attributes) {
    auto* dtype = std::get_if<DType>(&value);
    if (dtype != nullptr && *dtype == from && random.Chance(80)) *dtype = to;
    // A literal has the dtype of another attribute.
    auto* tensor = std::get_if<Constant>(&value);
    if (tensor != nullptr && tensor->dtype() == from)
      value = MakeConstant(to, tensor->sizes(),
                           [old = *tensor](int64_t i) { return old.ElementAsDouble(i); });
  }
}

int64_t RandomSize(RandomSource& random) {
  constexpr int64_t kSizes[] = {0,  1,  1,  2,  3,  4,  5,  6,  7,  8,   9,
                                12, 15, 16, 17, 31, 33, 48, 64, 65, 130, 257};
  return random.Pick(llvm::ArrayRef(kSizes));
}

/// Replaces one size wherever it occurs.
void ChangeSize(WantedCall* call, RandomSource& random) {
  std::vector<int64_t> sizes;
  for (const WantedOperand& operand : call->operands)
    for (const Dim& dim : operand.type.dims)
      if (dim.is_constant()) sizes.push_back(dim.constant());
  if (sizes.empty()) return;
  const int64_t from = sizes[random.Below(sizes.size())], to = RandomSize(random);
  const bool all = random.Chance(70);
  for (WantedOperand& operand : call->operands) {
    if (!operand.type.is_plain() || (!all && random.Chance(50))) continue;
    for (Dim& dim : operand.type.dims) {
      if (!dim.is_constant() || dim.constant() != from || (!all && random.Chance(50))) continue;
      dim = Dim(to);
      operand.value.reset();
    }
  }
  for (AttributeValue& value : call->attributes) {
    if (random.Chance(50)) continue;
    if (auto* shape = std::get_if<Shape>(&value))
      for (Dim& dim : *shape)
        if (dim.is_constant() && dim.constant() == from) dim = Dim(to);
  }
}

void ChangeRank(WantedCall* call, RandomSource& random) {
  const int64_t size = RandomSize(random);
  const bool all = random.Chance(60), is_removed = random.Chance(30);
  for (WantedOperand& operand : call->operands) {
    if (!operand.type.is_plain() || (!all && random.Chance(50))) continue;
    if (is_removed && !operand.type.dims.empty()) {
      operand.type.dims.erase(operand.type.dims.begin());
    } else {
      operand.type.dims.insert(operand.type.dims.begin(), Dim(size));
    }
    operand.value.reset();
  }
}

void ChangeAttribute(WantedCall* call, RandomSource& random) {
  const auto& decls = call->def->signature.attributes;
  if (decls.empty()) return;
  const auto index = random.Below(decls.size());
  if (decls[index].counted || decls[index].kind == AttributeKind::kBlock) return;
  call->attributes[index] = RandomAttribute(decls[index], random);
}

/// Makes some sizes symbolic, each of them everywhere.
void UseSymbols(WantedCall* call, RandomSource& random) {
  llvm::DenseMap<int64_t, Dim> symbols;
  for (WantedOperand& operand : call->operands) {
    for (Dim& dim : operand.type.dims) {
      if (!dim.is_constant()) continue;
      const auto [at, is_new] = symbols.try_emplace(dim.constant(), dim);
      if (is_new && random.Chance(50)) at->second = SymbolOfSize(dim.constant(), random);
      if (random.Chance(90)) dim = at->second;
    }
  }
}

bool IsAccepted(const WantedCall& call) {
  std::vector<NamedAttribute> given;
  for (size_t i = 0; i < call.attributes.size(); ++i)
    if (!IsNone(call.attributes[i]))
      given.push_back({call.def->signature.attributes[i].name, call.attributes[i]});
  auto complete = CompleteAttributes(call.def->signature, given);
  if (!complete) return llvm::consumeError(complete.takeError()), false;
  llvm::SmallVector<const Type*, 4> types;
  for (const WantedOperand& operand : call.operands) {
    int64_t elements = 1;
    for (const Dim& dim : operand.type.dims) elements *= dim.is_constant() ? dim.constant() : 4;
    if (elements > kMaxElements || !operand.type.Fault().empty()) return false;
    types.push_back(&operand.type);
  }
  InferenceContext context(*call.def, types, *complete);
  if (llvm::Error error = Infer(context)) return llvm::consumeError(std::move(error)), false;
  for (const Type& type : context.outputs()) {
    int64_t elements = 1;
    for (const Dim& dim : type.dims) {
      elements *= dim.is_constant() ? dim.constant() : 4;
      if (elements > 8 * kMaxElements) return false;
    }
  }
  return true;
}

double RandomFloat(RandomSource& random) {
  constexpr double kFloats[] = {0, 1, -1, 0.5, 2, 1e-3, 0.1, 0.25, 3, -0.5, 1e-5, 7.5, 100};
  return random.Pick(llvm::ArrayRef(kFloats));
}

}  // namespace

Dim SymbolOfSize(int64_t size, RandomSource& random) {
  return Dim::Symbol((random.Chance(70) ? "N" : "M") + std::to_string(size));
}

AttributeValue RandomAttribute(const AttributeDecl& decl, RandomSource& random) {
  if (decl.optional && random.Chance(20)) return {};
  const unsigned count = random.Below(4);
  const auto integer = [&] { return static_cast<int64_t>(random.Below(8)) - 2; };
  switch (decl.kind) {
    case AttributeKind::kInt: {
      if (!decl.is_list) return integer();
      std::vector<int64_t> list;
      for (unsigned i = 0; i < count; ++i) list.push_back(integer());
      return list;
    }
    case AttributeKind::kFloat: {
      if (!decl.is_list) return RandomFloat(random);
      std::vector<double> list;
      for (unsigned i = 0; i < count; ++i) list.push_back(RandomFloat(random));
      return list;
    }
    case AttributeKind::kString:
      if (decl.choices.empty() || decl.is_list) return decl.default_value;
      return decl.choices[random.Below(decl.choices.size())];
    case AttributeKind::kBool:
      if (decl.is_list) return decl.default_value;
      return random.Chance(50);
    case AttributeKind::kDType:
      if (decl.is_list) return decl.default_value;
      return random.Pick(llvm::ArrayRef(kAllDTypes));
    case AttributeKind::kShape: {
      if (decl.is_list) return decl.default_value;
      Shape shape;
      for (unsigned i = 0; i < count; ++i) shape.push_back(Dim(random.Below(5)));
      return shape;
    }
    default:
      return decl.default_value;
  }
}

WantedCall ChangeCall(const CorpusCall& call, RandomSource& random) {
  WantedCall wanted{call.def, call.attributes, {}};
  for (const PackedConstant& operand : call.operands)
    wanted.operands.push_back({operand.type, operand});
  constexpr void (*kChanges[])(WantedCall*, RandomSource&) = {
      ChangeDType,     ChangeDType,     ChangeSize, ChangeSize,
      ChangeAttribute, ChangeAttribute, ChangeRank};
  for (unsigned i = random.Below(12); i > 0; --i) {
    WantedCall changed = wanted;
    kChanges[random.Below(std::size(kChanges))](&changed, random);
    if (IsAccepted(changed)) wanted = std::move(changed);
  }
  if (random.Chance(30)) {
    WantedCall changed = wanted;
    UseSymbols(&changed, random);
    if (IsAccepted(changed)) wanted = std::move(changed);
  }
  // Values of floats are arbitrary more often than not; some operators need special ones.
  for (WantedOperand& operand : wanted.operands)
    if (operand.type.is_plain() && kFloats.Contains(operand.type.dtype) && random.Chance(40))
      operand.value.reset();
  return wanted;
}

}  // namespace pdl
