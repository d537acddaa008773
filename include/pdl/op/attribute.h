#ifndef PDL_OP_ATTRIBUTE_H_
#define PDL_OP_ATTRIBUTE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"
#include "pdl/op/constant.h"
#include "pdl/op/dim.h"
#include "pdl/op/dtype.h"

namespace pdl {

/// The kinds of attribute values; a list is of one of these.
enum class AttributeKind : uint8_t {
  kInt = 1,
  kFloat = 2,
  kString = 3,
  kBool = 4,
  kDType = 5,
  kShape = 6,
  kTensor = 7,
  kBlock = 8,
};

/// "int", "float", … as messages and documentation name them.
PDL_API llvm::StringRef AttributeKindName(AttributeKind kind);

/// Index of a Block in its Graph, as an attribute's value.
struct BlockId {
  uint32_t index = 0;
  friend bool operator==(BlockId, BlockId) = default;
};

/// The value of an attribute in memory; the message `Attribute` is its stored form. Monostate means
/// `none`: an optional attribute that was not given. A list keeps its kind when it is empty.
using AttributeValue =
    std::variant<std::monostate, int64_t, double, std::string, bool, DType, Shape, Constant,
                 BlockId, std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<bool>, std::vector<DType>, std::vector<Shape>, std::vector<Constant>>;

/// The kind of a value (of a list, that of its elements). Requires that it is not none.
PDL_API AttributeKind KindOf(const AttributeValue& value);
PDL_API bool IsNone(const AttributeValue& value);
PDL_API bool IsList(const AttributeValue& value);
/// Equal bit for bit: NaN equals itself, -0.0 differs from 0.0.
PDL_API bool Identical(const AttributeValue& a, const AttributeValue& b);
PDL_API size_t HashAttribute(const AttributeValue& value);
/// As the language writes it: `5.0`, `"relu"`, `[N, 3]`, `f32`; floats in the shortest form that
/// reads back to the same bits.
PDL_API std::string AttributeToString(const AttributeValue& value);
/// The shortest decimal that reads back to the same double, always with a point or an exponent:
/// `5.0`, `1e-08`, `inf`, `nan`.
PDL_API std::string FloatToString(double value);
PDL_API std::string FloatToString(float value);

/// A value under its name, as a caller gives it.
struct NamedAttribute {
  std::string name;
  AttributeValue value;
};

}  // namespace pdl

#endif  // PDL_OP_ATTRIBUTE_H_
