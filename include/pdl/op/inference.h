#ifndef PDL_OP_INFERENCE_H_
#define PDL_OP_INFERENCE_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"
#include "pdl/op/type.h"

namespace pdl {

class Graph;
class Value;
struct Block;

/// A relation between sizes that could not be decided at compile time; it is checked once the sizes
/// are known.
struct DimCheck {
  enum class Relation : uint8_t { kEqual = 1, kAtLeast = 2, kNotEqual = 3 };
  Dim left;
  Relation relation = Relation::kEqual;
  Dim right;
  /// The message if the relation does not hold: "inner dims differ".
  std::string message;
  /// The operator that required it, if its call was rewritten to another one: "split". Else empty.
  std::string asked_by = {};

  /// The message with the sizes that violate the relation: "inner dims differ: N = 3 and M = 4".
  PDL_API std::string Describe(int64_t left_size, int64_t right_size) const;

  bool Holds(int64_t left_size, int64_t right_size) const {
    switch (relation) {
      case Relation::kEqual:
        return left_size == right_size;
      case Relation::kAtLeast:
        return left_size >= right_size;
      default:
        return left_size != right_size;
    }
  }
};

/// The interface of an operator's inference: access to one call, and functions that set its result
/// types. The dtypes, storage, ragged levels and number of the operands have been checked against
/// the signature before, and no attribute contains a ragged dim.
class PDL_API InferenceContext {
 public:
  /// `values` and `graph` are the operands and their graph; empty for a call outside a Graph.
  InferenceContext(const OpDef& def, llvm::ArrayRef<const Type*> operands,
                   llvm::ArrayRef<AttributeValue> attributes, llvm::ArrayRef<Value*> values = {},
                   const Graph* graph = nullptr);

  const AttributeReader& attributes() const { return attributes_; }
  /// Operands by flat index: each operand of a repeatable input counts.
  unsigned num_inputs() const { return static_cast<unsigned>(operands_.size()); }
  const Type& input(unsigned index) const {
    if (index >= operands_.size()) ThrowNoOperand(index);
    return *operands_[index];
  }
  bool has_input(unsigned index) const { return index < operands_.size(); }
  /// IsKnownToPlan of the operand; true for a call outside a Graph.
  bool is_known_to_plan(unsigned index) const;
  /// The Block that the attribute refers to; null for a call outside a Graph.
  const Block* FindBlock(llvm::StringRef attribute) const;
  /// Sets the type of a result; each one must be set.
  void SetOutput(unsigned index, Type type);
  void SetOutput(Type type) { SetOutput(0, std::move(type)); }

  /// Create an error about the call, about operands, or about an attribute, for the inference to
  /// return.
  template <typename... Args>
  llvm::Error Fail(Code code, const char* format, Args&&... args) const {
    return MakeCallError(code, {}, "", llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  template <typename... Args>
  llvm::Error FailAt(llvm::ArrayRef<unsigned> inputs, Code code, const char* format,
                     Args&&... args) const {
    return MakeCallError(code, inputs, "",
                         llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  template <typename... Args>
  llvm::Error FailAtAttribute(llvm::StringRef attribute, Code code, const char* format,
                              Args&&... args) const {
    return MakeCallError(code, {}, attribute,
                         llvm::formatv(format, std::forward<Args>(args)...).str());
  }

  /// Requires a == b. Succeeds if it is proved, returns an error at `inputs` ("<message>: a and b")
  /// if it is disproved, else adds a check for when sizes are known.
  [[nodiscard]] llvm::Error RequireEqual(const Dim& a, const Dim& b,
                                         llvm::ArrayRef<unsigned> inputs, llvm::StringRef message);
  /// As RequireEqual, for a % b == 0. b must not be 0.
  [[nodiscard]] llvm::Error RequireMultiple(const Dim& a, const Dim& b,
                                            llvm::ArrayRef<unsigned> inputs,
                                            llvm::StringRef message);
  /// As RequireEqual, for a >= b.
  [[nodiscard]] llvm::Error RequireAtLeast(const Dim& a, const Dim& b,
                                           llvm::ArrayRef<unsigned> inputs,
                                           llvm::StringRef message);
  /// Normalizes an axis in [-rank, rank) to [0, rank); an error at `attribute` if it is out of
  /// range.
  llvm::Expected<unsigned> NormalizeAxis(int64_t axis, unsigned rank, llvm::StringRef attribute);
  /// Normalizes a list of axes without duplicates and sorts it; none means all axes.
  llvm::Expected<llvm::SmallVector<unsigned, 4>> NormalizeAxes(llvm::StringRef attribute,
                                                               unsigned rank);
  /// If operand `input` is ragged, requires that `axis` comes after its ragged dims; an error at
  /// `attribute` otherwise.
  [[nodiscard]] llvm::Error RequireDenseAxis(unsigned input, unsigned axis,
                                             llvm::StringRef attribute) const;
  /// Creates a symbol for a data-dependent size, named `hint` with a suffix if needed. If the hint
  /// begins with '~', it is a ragged dim.
  Dim FreshSymbol(llvm::StringRef hint);

  const OpDef& def() const { return *def_; }
  llvm::ArrayRef<Type> outputs() const { return outputs_; }
  /// An Error unless the inference has set each result, and no other.
  llvm::Error CheckOutputsAreSet() const;
  std::vector<DimCheck> TakeChecks() { return std::move(checks_); }
  std::vector<Type> TakeOutputs() { return std::move(outputs_); }
  /// The names of the symbols from FreshSymbol, in order; the Graph renames them to be unique.
  llvm::ArrayRef<std::string> fresh_symbols() const { return fresh_symbols_; }

 private:
  llvm::Error MakeCallError(Code code, llvm::ArrayRef<unsigned> inputs, llvm::StringRef attribute,
                            std::string message) const;
  [[noreturn]] void ThrowNoOperand(unsigned index) const;

  const OpDef* def_;
  llvm::ArrayRef<const Type*> operands_;
  AttributeReader attributes_;
  llvm::ArrayRef<Value*> values_;
  const Graph* graph_;
  std::vector<Type> outputs_;
  /// By index, and whether a result that does not exist was set.
  llvm::SmallBitVector is_set_;
  bool sets_other_ = false;
  std::vector<DimCheck> checks_;
  std::vector<std::string> fresh_symbols_;
};

/// Checks the operands against the signature (number, dtypes, storage) and runs the inference of
/// `def`. On success, `context` has all result types, which are valid.
PDL_API llvm::Error Infer(InferenceContext& context);

/// Returns the result type of broadcasting all operands as in NumPy, except that only a literal 1
/// is broadcast, never a symbol. Where two symbols meet, their equality becomes a check. Dtypes
/// must be equal.
PDL_API llvm::Expected<Type> InferBroadcast(InferenceContext& context);

/// Inference of operators whose only result has the type of the first operand.
PDL_API llvm::Error InferSameAsFirst(InferenceContext& context);

}  // namespace pdl

#endif  // PDL_OP_INFERENCE_H_
