#ifndef PDL_FRONTEND_DATUM_H_
#define PDL_FRONTEND_DATUM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/attribute.h"
#include "pdl/constant.h"
#include "pdl/dim.h"
#include "pdl/dtype.h"
#include "pdl/graph.h"

namespace pdl {

struct Function;
struct ParameterRecord;

/// What an expression stands for while compiling: a tensor of the graph, a constant without a dtype
/// of its own, a function, a record of parameter attributes, or a list of such.
struct Datum {
  /// The value of a mistake that was reported: whatever uses it is silent.
  struct Poison {};
  struct None {};
  /// A real number, and its spelling where it was written as one: an f32 is read from that, so that
  /// it is rounded once.
  struct Real {
    double value;
    const ast::NumberExpr* literal = nullptr;
  };
  using List = std::shared_ptr<const std::vector<Datum>>;
  using FunctionValue = std::shared_ptr<const Function>;
  using Record = std::shared_ptr<const ParameterRecord>;

  /// A Dim is never constant here: that is an int64_t.
  std::variant<Poison, None, int64_t, Real, bool, llvm::StringRef, DType, Dim, Value*, List,
               FunctionValue, Record>
      value;

  Datum() = default;  // poison
  Datum(int64_t v) : value(v) {}
  Datum(bool v) : value(v) {}
  Datum(Value* v) : value(v) {}
  Datum(DType v) : value(v) {}
  Datum(llvm::StringRef v) : value(v) {}
  Datum(Real v) : value(v) {}
  Datum(FunctionValue v) : value(std::move(v)) {}
  Datum(Record v) : value(std::move(v)) {}
  Datum(std::vector<Datum> items)
      : value(std::make_shared<const std::vector<Datum>>(std::move(items))) {}
  Datum(Dim dim) {
    if (dim.is_valid() && dim.is_constant()) {
      value = dim.constant();
    } else {
      value = std::move(dim);
    }
  }
  static Datum NoneValue() {
    Datum datum;
    datum.value = None{};
    return datum;
  }

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(value);
  }
  bool is_poison() const { return is<Poison>(); }
  Value* tensor() const { return is<Value*>() ? std::get<Value*>(value) : nullptr; }
  const std::vector<Datum>* list() const {
    return is<List>() ? std::get<List>(value).get() : nullptr;
  }
  /// An int or an expression of symbols.
  std::optional<Dim> dim() const;
  /// An int or a real.
  std::optional<double> number() const;
  /// A number, a bool, or a (nested) list of such: what can become a tensor.
  bool is_literal() const;
  /// A tensor, or a list that holds one.
  bool holds_tensor() const;
  /// A list that holds poison, or poison itself.
  bool holds_poison() const;

  /// "the int 3", "a tensor", "the text "relu"": what a message calls it.
  std::string Phrase() const;
};

/// Whether two constants are the same, as far as that shows: no tensor is compared by its elements.
bool IsSame(const Datum& a, const Datum& b);

/// The value of an attribute as a Datum; a tensor attribute has none.
Datum FromAttribute(const AttributeValue& value);

/// The attribute that a constant stands for where `decl` is wanted, in its natural type:
/// CompleteAttributes checks it. An Error (plain text, without the attribute's name) where it is no
/// attribute at all. `dtype` is how a tensor attribute's literal is read.
llvm::Expected<AttributeValue> ToAttribute(const Datum& datum, const AttributeDecl& decl,
                                           std::optional<DType> dtype);

/// The dtype that a literal has where none stands beside it: bool, i64, or f32 where a number in it
/// is real. Requires is_literal().
DType NaturalDType(const Datum& literal);

/// The tensor that a literal stands for. An Error (plain text) where its lists are ragged, or a
/// number in it does not fit the dtype. Requires is_literal().
llvm::Expected<Constant> ToConstant(const Datum& literal, DType dtype);

}  // namespace pdl

#endif  // PDL_FRONTEND_DATUM_H_
