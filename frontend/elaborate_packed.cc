// Ragged and sparse values in `test` blocks: literals of them, and comparisons.
#include "frontend/elaborator.h"
#include "frontend/packed_literal.h"
#include "frontend/sugar.h"

namespace pdl {

std::string Elaborator::EmitParts(const Datum& literal, const Type& type, SourceRange range) {
  if (literal.holds_poison() || !SpendExtent(literal, range)) return "";
  if (!literal.is_literal()) {
    Error(Code::kOperandKind, range,
          "a value of " + type.ToString() + " is written as lists, got " + literal.Phrase());
    return "";
  }
  auto packed = ToPacked(literal, type);
  if (!packed) {
    Error(Code::kLiteral, range, llvm::toString(packed.takeError()));
    return "";
  }
  const std::string name = "#" + std::to_string(graph_.outputs().size());
  for (const PartType& each : PartsOf(name, type)) {
    Value* value = EmitConstant(packed->part(each.part), range, {});
    if (value == nullptr) return "";
    graph_.AddOutput(PartName(name, each.part), value);
  }
  return name;
}

Value* Elaborator::EmitRagged(const Datum& literal, DType dtype, SourceRange range,
                              Targets targets) {
  const Type type = RaggedType(literal, dtype);
  if (type.ragged_levels() > 2) {
    Error(Code::kLiteral, range,
          "lists may differ in length at two depths, and these do at depth " +
              llvm::Twine(type.ragged_levels()) + ", too");
    return nullptr;
  }
  auto packed = ToPacked(literal, type);
  if (!packed) {
    Error(Code::kLiteral, range, llvm::toString(packed.takeError()));
    return nullptr;
  }
  Value* value = EmitConstant(std::move(packed->values), range, {});
  for (unsigned level = type.ragged_levels(); value != nullptr && level-- > 0;) {
    const Constant& offsets = packed->offsets[level];
    const auto* begins = static_cast<const int64_t*>(offsets.data());
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i + 1 < offsets.num_elements(); ++i)
      lengths.push_back(begins[i + 1] - begins[i]);
    Value* rows = EmitConstant(
        Constant::Copy(DType::kI64, {static_cast<int64_t>(lengths.size())}, lengths.data()), range,
        {});
    Call call;
    call.def = FindOperator(sugar::kRagged);
    call.place = range;
    call.operands = {{Datum(value), range}, {Datum(rows), range}};
    Op* op = Emit(call, level == 0 ? targets : Targets());
    value = op == nullptr ? nullptr : op->result();
  }
  return value;
}

std::string Elaborator::FeedPacked(const Value& input, const Datum& datum, SourceRange range,
                                   Type* given) {
  const Type& type = input.type();
  *given = type;
  Value* tensor = datum.tensor();
  if (tensor == nullptr) return EmitParts(datum, type, range);
  *given = tensor->type();
  const bool is_packed =
      given->is_sparse() == type.is_sparse() && given->ragged_levels() == type.ragged_levels();
  if (given->dtype != type.dtype || given->rank() != type.rank() ||
      !(is_packed || given->is_plain())) {
    Error(given->dtype != type.dtype ? Code::kDTypeMismatch : Code::kRank, range,
          "'" + input.name() + "' is " + type.ToString() + ", fed " + given->ToString());
    return "";
  }
  return TestOutput(tensor);
}

void Elaborator::ExpectParts(TestExpect expect, const Datum& left, const Datum& right,
                             const ast::ExpectStatement* statement) {
  Value* a = left.tensor();
  Value* b = right.tensor();
  const SourceRange right_range = statement->near->range;
  expect.type = (a != nullptr ? a : b)->type();
  if (expect.type.is_sparse()) {
    Error(Code::kStorage, statement->range, "a sparse matrix is not compared");
    return;
  }
  const bool is_scalar = b == nullptr && right.list() == nullptr;
  auto output = [&](const Datum& datum, SourceRange range) {
    Value* tensor = datum.tensor();
    return tensor != nullptr ? TestOutput(tensor) : EmitParts(datum, expect.type, range);
  };
  if (a != nullptr && b != nullptr &&
      (a->type().dtype != b->type().dtype ||
       (b->type().rank() != 0 && (a->type().rank() != b->type().rank() ||
                                  a->type().ragged_levels() != b->type().ragged_levels())))) {
    Error(Code::kRank, right_range,
          "the two sides are " + a->type().ToString() + " and " + b->type().ToString());
    return;
  }
  expect.left = output(left, statement->value->range);
  if (is_scalar) {
    Value* scalar = AsTensor(right, right_range, expect.type.dtype, {});
    if (scalar != nullptr) expect.right = TestOutput(scalar);
  } else {
    expect.right = output(right, right_range);
  }
  expect.right_is_scalar = is_scalar || (b != nullptr && b->type().is_scalar());
  if (!expect.left.empty() && !expect.right.empty()) test_->expects.push_back(std::move(expect));
}

}  // namespace pdl
