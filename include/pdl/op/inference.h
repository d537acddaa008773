#ifndef PDL_OP_INFERENCE_H_
#define PDL_OP_INFERENCE_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "pdl/op/attribute_reader.h"
#include "pdl/op/error.h"
#include "pdl/op/type.h"

namespace pdl {

class Graph;
class Value;
struct Block;

/// An equation between sizes that could not be decided while compiling: checked when sizes are
/// known.
struct DimCheck {
  enum class Relation : uint8_t { kEqual = 1, kAtLeast = 2, kNotEqual = 3 };
  Dim left;
  Relation relation = Relation::kEqual;
  Dim right;
  /// What is wrong where it does not hold: "inner dims differ".
  std::string message;
  /// The operator that asks for it, where its call became others: "split". Else empty.
  std::string asked_by = {};

  /// The message and the sizes for which it does not hold: "inner dims differ: N = 3 and M = 4".
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

/// What an operator's inference sees of one call, and where it puts its results. The dtypes, the
/// storage, the ragged levels and the count of the operands have been checked against the signature
/// before, and no attribute holds a ragged dim.
class PDL_API InferenceContext {
 public:
  /// `values` and `graph`: the operands themselves and where they are, where they are of a Graph.
  InferenceContext(const OpDef& def, llvm::ArrayRef<const Type*> operands,
                   llvm::ArrayRef<AttributeValue> attributes, llvm::ArrayRef<Value*> values = {},
                   const Graph* graph = nullptr);

  const AttributeReader& attributes() const { return attributes_; }
  /// Operands by flat index: a repeatable input counts once for each value that it was given.
  unsigned num_inputs() const { return static_cast<unsigned>(operands_.size()); }
  const Type& input(unsigned index) const { return *operands_[index]; }
  bool has_input(unsigned index) const { return index < operands_.size(); }
  /// IsKnownToPlan of the operand; true for a call outside a Graph.
  bool is_known_to_plan(unsigned index) const;
  /// The Block that the attribute names; null for a call outside a Graph.
  const Block* FindBlock(llvm::StringRef attribute) const;
  void SetOutput(unsigned index, Type type);
  void SetOutput(Type type) { SetOutput(0, std::move(type)); }

  /// A complaint about the call as a whole, about operands, or about an attribute: return it.
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

  /// Requires a == b: nothing where it is proved, a complaint at `inputs` ("<message>: a and b")
  /// where it is disproved, else a check for when sizes are known.
  [[nodiscard]] llvm::Error RequireEqual(const Dim& a, const Dim& b,
                                         llvm::ArrayRef<unsigned> inputs, llvm::StringRef message);
  /// Requires a to be a multiple of b, which is not 0, in the same way.
  [[nodiscard]] llvm::Error RequireMultiple(const Dim& a, const Dim& b,
                                            llvm::ArrayRef<unsigned> inputs,
                                            llvm::StringRef message);
  /// Requires a >= b, in the same way.
  [[nodiscard]] llvm::Error RequireAtLeast(const Dim& a, const Dim& b,
                                           llvm::ArrayRef<unsigned> inputs,
                                           llvm::StringRef message);
  /// Turns an axis in [-rank, rank) into one in [0, rank); a complaint at `attribute` otherwise.
  llvm::Expected<unsigned> NormalizeAxis(int64_t axis, unsigned rank, llvm::StringRef attribute);
  /// The same for a list, which may not name an axis twice; none means all axes. Sorted.
  llvm::Expected<llvm::SmallVector<unsigned, 4>> NormalizeAxes(llvm::StringRef attribute,
                                                               unsigned rank);
  /// Where operand `input` is ragged, requires `axis` to lie behind its ragged dims; a complaint at
  /// `attribute` otherwise.
  [[nodiscard]] llvm::Error RequireDenseAxis(unsigned input, unsigned axis,
                                             llvm::StringRef attribute) const;
  /// A size that only the data will decide; prints as `hint`, made unique. A ragged dim where the
  /// hint begins with '~'.
  Dim FreshSymbol(llvm::StringRef hint);

  const OpDef& def() const { return *def_; }
  llvm::ArrayRef<Type> outputs() const { return outputs_; }
  std::vector<DimCheck> TakeChecks() { return std::move(checks_); }
  std::vector<Type> TakeOutputs() { return std::move(outputs_); }
  /// Names of fresh symbols asked for, in order; the Graph makes them unique by renaming.
  llvm::ArrayRef<std::string> fresh_symbols() const { return fresh_symbols_; }

 private:
  llvm::Error MakeCallError(Code code, llvm::ArrayRef<unsigned> inputs, llvm::StringRef attribute,
                            std::string message) const;

  const OpDef* def_;
  llvm::ArrayRef<const Type*> operands_;
  AttributeReader attributes_;
  llvm::ArrayRef<Value*> values_;
  const Graph* graph_;
  std::vector<Type> outputs_;
  std::vector<DimCheck> checks_;
  std::vector<std::string> fresh_symbols_;
};

/// Checks the operands against the signature (count, dtypes, storage) and runs the inference of
/// `def`. On success `context` holds the result types, each one valid.
PDL_API llvm::Error Infer(InferenceContext& context);

/// Result type of operands broadcast together as NumPy does over literal ones: a symbol is never
/// taken for 1. Where two symbols meet, equality becomes a check. dtypes must agree.
PDL_API llvm::Expected<Type> InferBroadcast(InferenceContext& context);

/// Inference of an operator whose one result has the type of its first operand.
PDL_API llvm::Error InferSameAsFirst(InferenceContext& context);

}  // namespace pdl

#endif  // PDL_OP_INFERENCE_H_
