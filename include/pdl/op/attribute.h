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

/// The kinds of attribute values; all elements of a list have one kind.
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

/// The name for messages and documentation: "int", "float", ….
PDL_API llvm::StringRef AttributeKindName(AttributeKind kind);

/// Index of a Block in its Graph; the value of an attribute of kind kBlock.
struct BlockId {
  uint32_t index = 0;
  friend bool operator==(BlockId, BlockId) = default;
};

/// The value of an attribute in memory; the message `Attribute` is its serialized form. Monostate
/// is `none`, an optional attribute that was not given. An empty list keeps its kind.
using AttributeValue =
    std::variant<std::monostate, int64_t, double, std::string, bool, DType, Shape, Constant,
                 BlockId, std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<bool>, std::vector<DType>, std::vector<Shape>, std::vector<Constant>>;

/// The kind of a value, or of the elements of a list. Requires a value other than none.
PDL_API AttributeKind KindOf(const AttributeValue& value);
/// Whether the value is `none`.
PDL_API bool IsNone(const AttributeValue& value);
/// Whether the value is a list of any kind.
PDL_API bool IsList(const AttributeValue& value);
/// Bitwise equality: NaN equals itself, -0.0 differs from 0.0.
PDL_API bool Identical(const AttributeValue& a, const AttributeValue& b);
/// A hash that is consistent with Identical.
PDL_API size_t HashAttribute(const AttributeValue& value);
/// Formats a value as in the language: `5.0`, `"relu"`, `[N, 3]`, `f32`. Floats have the shortest
/// form that parses to the same bits.
PDL_API std::string AttributeToString(const AttributeValue& value);
/// The shortest decimal that parses to the same number, always with a point or an exponent: `5.0`,
/// `1e-08`, `inf`, `nan`.
PDL_API std::string FloatToString(double value);
PDL_API std::string FloatToString(float value);

/// An attribute of a call, by name.
struct NamedAttribute {
  std::string name;
  AttributeValue value;
};

}  // namespace pdl

#endif  // PDL_OP_ATTRIBUTE_H_
