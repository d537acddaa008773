#ifndef PDL_OP_OP_PROTO_MAKER_H_
#define PDL_OP_OP_PROTO_MAKER_H_

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pdl/op/op_def.h"

namespace pdl {

/// Maps a C++ type to its AttributeKind and its type in an AttributeValue.
template <typename T>
struct AttributeTraits;
template <AttributeKind kKind, typename Stored, bool kIsList = false>
struct AttributeTraitsBase {
  static constexpr AttributeKind kind = kKind;
  static constexpr bool is_list = kIsList;
  using stored = Stored;
};
// clang-format off
template <> struct AttributeTraits<int> : AttributeTraitsBase<AttributeKind::kInt, int64_t> {};
template <> struct AttributeTraits<int64_t> : AttributeTraitsBase<AttributeKind::kInt, int64_t> {};
template <> struct AttributeTraits<float> : AttributeTraitsBase<AttributeKind::kFloat, double> {};
template <> struct AttributeTraits<double> : AttributeTraitsBase<AttributeKind::kFloat, double> {};
template <> struct AttributeTraits<bool> : AttributeTraitsBase<AttributeKind::kBool, bool> {};
template <> struct AttributeTraits<std::string> : AttributeTraitsBase<AttributeKind::kString, std::string> {};
template <> struct AttributeTraits<DType> : AttributeTraitsBase<AttributeKind::kDType, DType> {};
template <> struct AttributeTraits<Shape> : AttributeTraitsBase<AttributeKind::kShape, Shape> {};
template <> struct AttributeTraits<Constant> : AttributeTraitsBase<AttributeKind::kTensor, Constant> {};
template <> struct AttributeTraits<BlockId> : AttributeTraitsBase<AttributeKind::kBlock, BlockId> {};
template <typename T> struct AttributeTraits<std::vector<T>>
    : AttributeTraitsBase<AttributeTraits<T>::kind, std::vector<typename AttributeTraits<T>::stored>, true> {};
// clang-format on

/// A declaration in a list that may still grow.
template <typename Decl>
class DeclRef {
 public:
  DeclRef(std::vector<Decl>* list, size_t index) : list_(list), index_(index) {}
  Decl* operator->() const { return &(*list_)[index_]; }

 private:
  std::vector<Decl>* list_;
  size_t index_;
};

/// Refines the declaration of an input: `AddInput("x", "…").Accepts(kFloats)`.
class InputBuilder {
 public:
  explicit InputBuilder(DeclRef<InputDecl> decl) : decl_(decl) {}
  InputBuilder& Accepts(DTypeSet dtypes) { return decl_->dtypes = dtypes, *this; }
  InputBuilder& Repeatable() { return decl_->repeatable = true, *this; }
  /// Repeatable, with zero or more operands; the attribute `count` holds their number. Only for
  /// operators with a Block attribute.
  InputBuilder& Counted(std::string count) {
    return decl_->count = std::move(count), decl_->repeatable = true, *this;
  }
  InputBuilder& Optional() { return decl_->optional = true, *this; }
  /// Optional; omitting it is the same as giving a scalar of that value.
  InputBuilder& Optional(int64_t stand_in) { return decl_->stand_in = stand_in, Optional(); }
  InputBuilder& OwnDType() { return decl_->own_dtype = true, *this; }
  /// Accepts up to `levels` ragged dims, as every input of an elementwise operator does.
  InputBuilder& Ragged(uint8_t levels = kMaxRaggedLevels) {
    return decl_->ragged_levels = levels, *this;
  }
  /// Accepts 1 to `levels` ragged dims, and no dense operands.
  InputBuilder& RaggedOnly(uint8_t levels = kMaxRaggedLevels) {
    return decl_->min_ragged_levels = 1, Ragged(levels);
  }
  InputBuilder& Sparse() { return decl_->accepts_sparse = true, *this; }
  /// The gradient rule sets no gradient for it. Not needed for inputs that do not accept floats.
  InputBuilder& NotDifferentiable() { return decl_->differentiable = false, *this; }
  /// An index or a condition, see InputDecl::is_selector; implies NotDifferentiable.
  InputBuilder& Selector() { return decl_->is_selector = true, NotDifferentiable(); }

 private:
  DeclRef<InputDecl> decl_;
};

/// Refines the declaration of an output: `AddOutput("indices", "…").OwnDType()`. Type inference
/// sets the type; the declarations of dtype and dims are for documentation and generated code. A
/// call of an operator outside libpdl is an error if its inferred types differ from them. Those of
/// elementwise operators (dims) and of InferSameAsFirst (both) are added automatically.
class OutputBuilder {
 public:
  explicit OutputBuilder(DeclRef<OutputDecl> decl) : decl_(decl) {}
  /// Its dtype is independent of the operands' dtypes.
  OutputBuilder& OwnDType() { return decl_->own_dtype = true, *this; }
  /// Its dtype is always this one.
  OutputBuilder& HasDType(DType dtype) { return decl_->dtype = dtype, *this; }
  /// Its dtype is that of this input, or is set by this dtype attribute.
  OutputBuilder& DTypeOf(std::string name) { return decl_->dtype_of = std::move(name), *this; }
  /// Its dims are those of this input, or are set by this shape attribute.
  OutputBuilder& DimsOf(std::string name) { return decl_->dims_of = std::move(name), *this; }
  /// Its dtype and dims are those of this input.
  OutputBuilder& TypeOf(const std::string& input) { return DTypeOf(input).DimsOf(input); }
  /// It always has this number of dims.
  OutputBuilder& Rank(unsigned rank) { return decl_->rank = rank, *this; }
  /// Its dims are those of all operands, broadcast.
  OutputBuilder& Broadcast() { return decl_->is_broadcast = true, *this; }

 private:
  DeclRef<OutputDecl> decl_;
};

/// Refines the declaration of an attribute: `AddAttr<float>("scale",
/// "…").Default(1).GreaterThan(0)`.
template <typename T>
class AttributeBuilder {
 public:
  explicit AttributeBuilder(DeclRef<AttributeDecl> decl) : decl_(decl) {}
  AttributeBuilder& Default(T value) {
    using Stored = typename AttributeTraits<T>::stored;
    if constexpr (AttributeTraits<T>::is_list) {
      decl_->default_value = Stored(value.begin(), value.end());
    } else {
      decl_->default_value = Stored(std::move(value));
    }
    return *this;
  }
  AttributeBuilder& GreaterThan(AttributeNumber bound) {
    return decl_->lower = Bound{bound, true}, *this;
  }
  AttributeBuilder& AtLeast(AttributeNumber bound) {
    return decl_->lower = Bound{bound, false}, *this;
  }
  AttributeBuilder& LessThan(AttributeNumber bound) {
    return decl_->upper = Bound{bound, true}, *this;
  }
  AttributeBuilder& AtMost(AttributeNumber bound) {
    return decl_->upper = Bound{bound, false}, *this;
  }
  AttributeBuilder& OneOf(std::vector<std::string> choices) {
    return decl_->choices = std::move(choices), *this;
  }
  AttributeBuilder& Positional() { return decl_->positional = true, *this; }
  /// Accepts `none`, which is the default.
  AttributeBuilder& Optional() { return decl_->optional = true, *this; }
  /// An axis of the first input.
  AttributeBuilder& Axis() { return decl_->is_axis = true, *this; }
  /// A shape that may contain ragged dims.
  AttributeBuilder& Ragged() { return decl_->takes_ragged = true, *this; }
  /// A float that is used as a double, see AttributeDecl::in_double.
  AttributeBuilder& InDouble() { return decl_->in_double = true, *this; }
  /// Set by the compiler, see AttributeDecl::counted.
  AttributeBuilder& Counted() { return decl_->counted = true, *this; }
  /// The attribute `name` determines the dtype of a literal.
  AttributeBuilder& DTypeFrom(std::string name) {
    return decl_->dtype_from = std::move(name), *this;
  }

 private:
  DeclRef<AttributeDecl> decl_;
};

/// Fluent builder of an operator's declaration. Derive from it, override Make, and register the
/// class:
///
///   struct CosineMaker : OpProtoMaker {
///     void Make() override {
///       AddComment("scale * cos(x), element by element.");
///       AddInput("x", "angles in radians").Accepts(kFloats);
///       AddOutput("y", "in [-scale, scale]; type as x");
///       AddAttr<float>("scale", "largest result").Default(1).GreaterThan(0);
///       properties().elementwise = true;
///       SetInference(InferSameAsFirst);
///       SetGradient(CosineGradient);
///     }
///   };
///
class PDL_API OpProtoMaker {
 public:
  virtual ~OpProtoMaker() = default;
  virtual void Make() = 0;

  /// Runs Make and checks the declaration. A UserError that names the operator if the declaration
  /// is inconsistent: two attributes with one name, a default outside its range.
  llvm::Expected<OpDef> Build(llvm::StringRef name);

 protected:
  void AddComment(std::string comment) { def_.signature.comment = std::move(comment); }
  /// Adds statements that the documentation shows and the tests run; the value after the mark is
  /// checked: `y = relu([-1.0, 2.0])  # = [0.0, 2.0]`.
  void AddExample(std::string example) { def_.signature.examples.push_back(std::move(example)); }
  /// The maximum error of f32 results in ulp, as measured by the tests.
  void SetMaxUlp(double ulp) { def_.signature.max_ulp = ulp; }
  InputBuilder AddInput(std::string name, std::string comment);
  OutputBuilder AddOutput(std::string name, std::string comment);
  template <typename T>
  AttributeBuilder<T> AddAttr(std::string name, std::string comment) {
    return AttributeBuilder<T>(AddAttribute(std::move(name), std::move(comment),
                                            AttributeTraits<T>::kind, AttributeTraits<T>::is_list));
  }
  /// Makes the last output stand for several results. Their number is given by the first of these
  /// attributes that is not none: an int >= 1, or a list with one item for each result.
  void RepeatLastOutput(std::vector<std::string> attributes) {
    def_.signature.results_from = std::move(attributes);
  }
  /// Properties for passes and the planner: `properties().elementwise = true;`.
  OpProperties& properties() { return def_.signature.properties; }
  void SetInference(InferFunction infer) { def_.infer = infer; }
  void SetBody(BodyFunction body) { def_.body = body; }
  /// `order` is OpDef::gradient_order: 1 if the rule emits calls without rules.
  void SetGradient(GradientFunction gradient, unsigned order = kMaxGradientOrder) {
    def_.gradient = gradient;
    def_.gradient_order = gradient == nullptr ? 0 : order;
  }
  void SetIndexCheck(IndexCheckFunction check) { def_.check_indices = check; }
  void SetLowering(LowerFunction lower) { def_.lower = lower; }

 private:
  DeclRef<AttributeDecl> AddAttribute(std::string name, std::string comment, AttributeKind kind,
                                      bool is_list);
  OpDef def_;
};

}  // namespace pdl

#endif  // PDL_OP_OP_PROTO_MAKER_H_
