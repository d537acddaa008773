#ifndef PDL_OP_OP_PROTO_MAKER_H_
#define PDL_OP_OP_PROTO_MAKER_H_

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pdl/op/op_def.h"

namespace pdl {

/// The AttributeKind, and the type in an AttributeValue, that a C++ type stands for.
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

/// Declares one input further: `AddInput("x", "…").Accepts(kFloats)`.
class InputBuilder {
 public:
  explicit InputBuilder(InputDecl* decl) : decl_(decl) {}
  InputBuilder& Accepts(DTypeSet dtypes) { return decl_->dtypes = dtypes, *this; }
  InputBuilder& Repeatable() { return decl_->repeatable = true, *this; }
  /// Repeatable, from no operand on: the attribute `count` says how many.
  InputBuilder& Counted(std::string count) {
    return decl_->count = std::move(count), decl_->repeatable = true, *this;
  }
  InputBuilder& Optional() { return decl_->optional = true, *this; }
  /// The same as a scalar of that value.
  InputBuilder& Optional(int64_t stand_in) { return decl_->stand_in = stand_in, Optional(); }
  InputBuilder& OwnDType() { return decl_->own_dtype = true, *this; }
  /// Takes ragged dims at up to `levels` levels; every input of an elementwise operator does.
  InputBuilder& Ragged(uint8_t levels = kMaxRaggedLevels) {
    return decl_->ragged_levels = levels, *this;
  }
  InputBuilder& Sparse() { return decl_->accepts_sparse = true, *this; }
  /// The gradient rule leaves it without a gradient. Inputs that take no floats need not say so.
  InputBuilder& NotDifferentiable() { return decl_->differentiable = false, *this; }
  /// An index or a condition, see InputDecl::is_selector; it has no gradient.
  InputBuilder& Selector() { return decl_->is_selector = true, NotDifferentiable(); }

 private:
  InputDecl* decl_;
};

/// Declares one output further: `AddOutput("indices", "…").OwnDType()`.
class OutputBuilder {
 public:
  explicit OutputBuilder(OutputDecl* decl) : decl_(decl) {}
  /// Its dtype does not follow that of the operands.
  OutputBuilder& OwnDType() { return decl_->own_dtype = true, *this; }

 private:
  OutputDecl* decl_;
};

/// Declares one attribute further: `AddAttr<float>("scale", "…").Default(1).GreaterThan(0)`.
template <typename T>
class AttributeBuilder {
 public:
  explicit AttributeBuilder(AttributeDecl* decl) : decl_(decl) {}
  AttributeBuilder& Default(T value) {
    decl_->default_value = typename AttributeTraits<T>::stored(std::move(value));
    return *this;
  }
  AttributeBuilder& GreaterThan(double bound) { return decl_->lower = Bound{bound, true}, *this; }
  AttributeBuilder& AtLeast(double bound) { return decl_->lower = Bound{bound, false}, *this; }
  AttributeBuilder& LessThan(double bound) { return decl_->upper = Bound{bound, true}, *this; }
  AttributeBuilder& AtMost(double bound) { return decl_->upper = Bound{bound, false}, *this; }
  AttributeBuilder& OneOf(std::vector<std::string> choices) {
    return decl_->choices = std::move(choices), *this;
  }
  AttributeBuilder& Positional() { return decl_->positional = true, *this; }
  /// `none` is accepted, and the default.
  AttributeBuilder& Optional() { return decl_->optional = true, *this; }
  /// Counts dims of the first input.
  AttributeBuilder& Axis() { return decl_->is_axis = true, *this; }
  /// A shape that may have ragged dims.
  AttributeBuilder& Ragged() { return decl_->takes_ragged = true, *this; }
  /// The compiler counts it.
  AttributeBuilder& Counted() { return decl_->counted = true, *this; }
  /// A literal is read as the dtype that the attribute `name` holds.
  AttributeBuilder& DTypeFrom(std::string name) {
    return decl_->dtype_from = std::move(name), *this;
  }

 private:
  AttributeDecl* decl_;
};

/// Fluent builder of an operator's declaration. Derive, override Make, and register the class:
///
///   struct CosineMaker : OpProtoMaker {
///     void Make() override {
///       AddComment("scale * cos(x), element by element.");
///       AddInput("x", "angles in radians").Accepts(kFloats);
///       AddOutput("y", "in [-scale, scale]; type as x");
///       AddAttr<float>("scale", "largest result").Default(1).GreaterThan(0);
///       properties().elementwise = true;
///       SetInference(InferUnary);
///       SetGradient(CosineGradient);
///     }
///   };
///
/// A declaration that contradicts itself (two attributes of one name, a default outside its range)
/// is an internal error when it is registered.
class PDL_API OpProtoMaker {
 public:
  virtual ~OpProtoMaker() = default;
  virtual void Make() = 0;

  /// Runs Make and checks what it declared.
  OpDef Build(llvm::StringRef name);

 protected:
  void AddComment(std::string comment) { def_.signature.comment = std::move(comment); }
  /// `y = relu([-1.0, 2.0])  # = [0.0, 2.0]`: statements that the documentation shows and the tests
  /// run, with what the assignment before the mark gives.
  void AddExample(std::string example) { def_.signature.examples.push_back(std::move(example)); }
  /// The largest error of f32 results in units of the last place, as the tests measure it.
  void SetMaxUlp(double ulp) { def_.signature.max_ulp = ulp; }
  InputBuilder AddInput(std::string name, std::string comment);
  OutputBuilder AddOutput(std::string name, std::string comment);
  template <typename T>
  AttributeBuilder<T> AddAttr(std::string name, std::string comment) {
    return AttributeBuilder<T>(AddAttribute(std::move(name), std::move(comment),
                                            AttributeTraits<T>::kind, AttributeTraits<T>::is_list));
  }
  /// The last output stands for as many results as the first of these attributes that is not none
  /// says: an int from 1 on, or a list with an item for each.
  void RepeatLastOutput(std::vector<std::string> attributes) {
    def_.signature.results_from = std::move(attributes);
  }
  /// What passes and the planner ask of the operator: `properties().elementwise = true;`.
  OpProperties& properties() { return def_.signature.properties; }
  void SetInference(InferFunction infer) { def_.infer = infer; }
  void SetBody(BodyFunction body) { def_.body = body; }
  void SetGradient(GradientFunction gradient) { def_.gradient = gradient; }
  void SetLowering(LowerFunction lower) { def_.lower = lower; }

 private:
  AttributeDecl* AddAttribute(std::string name, std::string comment, AttributeKind kind,
                              bool is_list);
  OpDef def_;
};

}  // namespace pdl

#endif  // PDL_OP_OP_PROTO_MAKER_H_
