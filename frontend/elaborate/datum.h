#ifndef PDL_FRONTEND_ELABORATE_DATUM_H_
#define PDL_FRONTEND_ELABORATE_DATUM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/syntax/ast.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/attribute.h"
#include "pdl/op/constant.h"
#include "pdl/op/dim.h"
#include "pdl/op/dtype.h"

namespace pdl {

struct DatumList;
struct Function;
struct ParameterRecord;

/// The value of an expression at compile time: a tensor of the graph, a constant without a dtype of
/// its own, a function, a record of parameter attributes, or a list of these.
struct Datum {
  /// The value after a reported error: any use of it is silent. A name that was reported as
  /// undefined is poison too, but may still be defined.
  struct Poison {
    Poison() : is_undefined(false) {}
    explicit Poison(bool undefined) : is_undefined(undefined) {}
    bool is_undefined;
  };
  struct None {};
  /// A real number, and its spelling if it was written as a literal: an f32 is parsed from the
  /// spelling, so that it is rounded once.
  struct Real {
    double value;
    const ast::NumberExpr* literal = nullptr;
  };
  using List = std::shared_ptr<const DatumList>;
  using FunctionValue = std::shared_ptr<const Function>;
  using Record = std::shared_ptr<const ParameterRecord>;

  /// A Dim is never constant here: a constant size is an int64_t.
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
  Datum(List v) : value(std::move(v)) {}
  Datum(std::vector<Datum> items);
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
  static Datum Undefined() {
    Datum datum;
    datum.value = Poison(true);
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
  bool is_undefined() const { return is_poison() && std::get<Poison>(value).is_undefined; }
  Value* tensor() const { return is<Value*>() ? std::get<Value*>(value) : nullptr; }
  inline const std::vector<Datum>* list() const;
  /// The number of data: 1, plus those of all items for a list.
  inline uint64_t extent() const;
  /// The depth of nested lists, and of functions passed to functions.
  unsigned depth() const;
  /// An int or an expression of symbols.
  std::optional<Dim> dim() const;
  /// An int or a real.
  std::optional<double> number() const;
  /// A number, a bool, or a (nested) list of these: anything that can become a tensor.
  bool is_literal() const;
  /// A tensor, or a list that contains one.
  bool holds_tensor() const;
  /// Poison, or a list that contains poison.
  bool holds_poison() const;

  /// A description for messages: "the int 3", "a tensor", "the string "relu"".
  std::string Phrase() const;
};

/// The items of a list, and properties of all its items at any depth. Lists share lists, so a list
/// that is small in memory may be too large to traverse.
struct DatumList {
  /// `live`, if given, counts the items of all lists that exist.
  explicit DatumList(std::vector<Datum> items_in, std::shared_ptr<uint64_t> live = nullptr);
  ~DatumList();
  DatumList(const DatumList&) = delete;
  DatumList& operator=(const DatumList&) = delete;

  const std::vector<Datum> items;
  uint64_t extent = 1;  // at most UINT64_MAX
  unsigned depth = 1;
  // Of the leaves, at any depth.
  bool all_literal = true, any_tensor = false, any_poison = false, any_real = false,
       any_bool = false, any_leaf = false;

 private:
  std::shared_ptr<uint64_t> live_;
};

const std::vector<Datum>* Datum::list() const {
  const auto* list = get<List>();
  return list == nullptr ? nullptr : &(*list)->items;
}
uint64_t Datum::extent() const { return is<List>() ? std::get<List>(value)->extent : 1; }

/// Whether two constants are known to be the same; tensors are not compared by their elements.
bool IsSame(const Datum& a, const Datum& b);

/// The value of an attribute as a Datum; a tensor attribute has none.
Datum FromAttribute(const AttributeValue& value);

/// Converts a constant to the natural type for the attribute `decl`; CompleteAttributes checks it.
/// Returns an Error (a plain message, without the attribute's name) if it cannot be an attribute at
/// all. `dtype` is the dtype for the literal of a tensor attribute.
llvm::Expected<AttributeValue> ToAttribute(const Datum& datum, const AttributeDecl& decl,
                                           std::optional<DType> dtype);

/// The dtype of a literal without context: bool, i64, or f32 if it contains a real number. Requires
/// is_literal().
DType NaturalDType(const Datum& literal);

/// Converts a literal to a tensor. Returns an Error (a plain message) if its lists are ragged or a
/// number does not fit the dtype. Requires is_literal().
llvm::Expected<Constant> ToConstant(const Datum& literal, DType dtype);

/// An error of a computation with constants, without code and location: `DatumError("{0} / 0
/// divides by zero", a)`.
template <typename... Args>
llvm::Error DatumError(const char* format, Args&&... args) {
  return llvm::createStringError(llvm::formatv(format, std::forward<Args>(args)...).str());
}

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_DATUM_H_
