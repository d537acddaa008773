// Ragged and sparse values in `test` blocks: literals of them, and comparisons.
#include "frontend/elaborator.h"
#include "frontend/packed_literal.h"

namespace pdl {

std::optional<Type> Elaborator::EmitParts(const Datum& literal, const Type& type, SourceRange range,
                                          llvm::function_ref<void(Part part, Value* value)> take) {
  if (literal.holds_poison()) return std::nullopt;
  if (!literal.is_literal()) {
    Error(Code::kOperandKind, range,
          "a value of " + type.ToString() + " is written as lists, got " + literal.Phrase());
    return std::nullopt;
  }
  auto parts = ToParts(literal, type);
  if (!parts) {
    Error(Code::kLiteral, range, llvm::toString(parts.takeError()));
    return std::nullopt;
  }
  Type given;
  for (auto& [part, constant] : *parts) {
    Value* value = EmitConstant(std::move(constant), range, {});
    if (value == nullptr) return std::nullopt;
    if (part == Part::kValues) given = value->type();
    take(part, value);
  }
  return given;
}

void Elaborator::FeedParts(const Value& input, const Datum& datum, SourceRange range) {
  const Type& type = input.type();
  std::vector<TestFeed> feeds;
  const std::optional<Type> given = EmitParts(datum, type, range, [&](Part part, Value* value) {
    feeds.push_back({PartName(input.name(), part), input.kind(), TestOutput(value)});
  });
  if (!given) return;
  if (!type.is_sparse()) {
    const Shape packed = PackedDims(type.dims);
    if (given->rank() != packed.size()) {
      Error(Code::kRank, range,
            "'" + input.name() + "' is " + type.ToString() + ", fed lists " +
                std::to_string(given->rank() + type.ragged_levels()) + " deep");
      return;
    }
    for (unsigned i = 1; i < given->rank(); ++i) {
      if (!packed[i].is_constant() || packed[i] == given->dims[i]) continue;
      Error(Code::kShapeMismatch, range,
            "'" + input.name() + "' is " + type.ToString() + ", fed rows of " +
                Type(given->dtype, llvm::ArrayRef(given->dims).drop_front()).ToString());
      return;
    }
  }
  test_->feeds.insert(test_->feeds.end(), feeds.begin(), feeds.end());
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
  auto output = [&](const Datum& datum, SourceRange range) -> std::string {
    if (Value* tensor = datum.tensor()) return TestOutput(tensor);
    const std::string name = "#" + std::to_string(graph_.outputs().size());
    const auto given = EmitParts(datum, expect.type, range, [&](Part part, Value* value) {
      graph_.AddOutput(PartName(name, part), value);
    });
    return given ? name : "";
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
