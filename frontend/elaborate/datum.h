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
#include "pdl/compiler/graph.h"
#include "pdl/op/attribute.h"
#include "pdl/op/constant.h"
#include "pdl/op/dim.h"
#include "pdl/op/dtype.h"

namespace pdl {

struct DatumList;
struct Function;
struct ParameterRecord;

/// What an expression stands for while compiling: a tensor of the graph, a constant without a dtype
/// of its own, a function, a record of parameter attributes, or a list of such.
struct Datum {
  /// The value after an error that was reported: whatever uses it is silent. A name that nothing
  /// has defined yet is poison too, once that was reported, and stays free.
  struct Poison {
    Poison() : is_undefined(false) {}
    explicit Poison(bool undefined) : is_undefined(undefined) {}
    bool is_undefined;
  };
  struct None {};
  /// A real number, and its spelling where it was written as one: an f32 is read from that, so that
  /// it is rounded once.
  struct Real {
    double value;
    const ast::NumberExpr* literal = nullptr;
  };
  using List = std::shared_ptr<const DatumList>;
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
  /// How many data this is, written out: 1, and of a list those of its items besides.
  inline uint64_t extent() const;
  /// Lists inside lists, and functions that are given functions.
  unsigned depth() const;
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

/// The items of a list, and what is known of all that stands in it: lists share lists, so that what
/// is a few items in memory may be more than anybody can walk.
struct DatumList {
  /// `live`, where it is given, counts the items of all lists that exist.
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

#endif  // PDL_FRONTEND_ELABORATE_DATUM_H_
