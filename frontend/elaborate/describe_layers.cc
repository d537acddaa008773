#include "pdl/compiler/describe_layers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/elaborate/constant_expressions.h"
#include "frontend/elaborate/layer_library.h"
#include "frontend/elaborate/output_docs.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {
namespace {

/// Reads one layer. Only constant expressions are evaluated; others are kept as source.
class LayerReader {
 public:
  explicit LayerReader(const Ast& ast) : file_(*ast.file), comments_(ast.comments) {}

  LayerSignature Read(const ast::LayerStatement& layer) {
    body_ = layer.body.statements;
    any_dims_are_constant_ = DeclaresAnyDims(body_);
    LayerSignature signature;
    signature.name = layer.name.text.str();
    signature.comment = Flowing(layer.doc);
    for (const ast::Parameter& parameter : layer.parameters) {
      if (parameter.type->is_tensor()) {
        signature.inputs.push_back(ReadInput(parameter));
        continue;
      }
      signature.attributes.push_back(ReadAttribute(parameter));
      if (signature.attributes.back().special != LayerAttributeDecl::Special::kParameter) continue;
      std::vector<LayerAttributeDecl>& fields = parameter.name.text == "bias_attr"
                                                    ? signature.bias_attributes
                                                    : signature.parameter_attributes;
      if (fields.empty()) fields = FieldsOf(parameter.name.text);
    }
    for (LayerInputDecl& input : signature.inputs)
      if (const llvm::StringRef attribute = ParameterOfEach(input.name); !attribute.empty())
        input.parameter_attributes = FieldsOf(attribute);
    for (const ast::Expr* condition : layer.where)
      signature.constraints.push_back(TextOf(condition->range));
    ReadOutputs(&signature);
    return signature;
  }

  /// The file as a layer.
  LayerSignature ReadFile(llvm::ArrayRef<const ast::Statement*> statements, llvm::StringRef name) {
    LayerSignature signature;
    signature.name = name.str();
    for (const ast::Statement* statement : statements) {
      ast::Parameter parameter = {};
      parameter.doc = statement->doc;
      if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement)) {
        parameter.name = input->name;
        parameter.type = input->type;
        signature.inputs.push_back(ReadInput(parameter));
        for (const ast::Expr* condition : input->where)
          signature.constraints.push_back(TextOf(condition->range));
      } else if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
        parameter.name = attr->name;
        parameter.type = attr->type;
        parameter.default_value = attr->default_value;
        signature.attributes.push_back(ReadAttribute(parameter));
      } else if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement)) {
        AddOutputs(*output, &signature);
      }
    }
    return signature;
  }

 private:
  /// The source on one line, without comments.
  std::string TextOf(SourceRange range) const {
    std::string text = file_.Text(range).str();
    const auto* comment = llvm::partition_point(
        comments_, [&](const ast::Comment& c) { return c.range.begin < range.begin; });
    for (; comment != comments_.end() && comment->range.end <= range.end; ++comment) {
      const size_t begin = comment->range.begin - range.begin;
      std::fill_n(text.begin() + begin, comment->range.end - comment->range.begin, ' ');
    }
    if (!llvm::StringRef(text).contains('\n')) return text;
    std::string line;
    for (llvm::StringRef part : llvm::split(text, '\n')) {
      part = part.trim();
      if (!part.empty()) line += (line.empty() ? "" : " ") + part.str();
    }
    return line;
  }

  /// Joins the lines of a comment; a blank line separates paragraphs.
  static std::string Flowing(llvm::StringRef doc) {
    std::string text;
    bool was_blank = false;
    for (llvm::StringRef line : llvm::split(doc, '\n')) {
      line = line.trim();
      if (!text.empty() && !line.empty()) text += was_blank ? "\n\n" : " ";
      text += line;
      was_blank = line.empty();
    }
    return text;
  }

  LayerInputDecl ReadInput(const ast::Parameter& parameter) const {
    using Kind = LayerInputDecl::Kind;
    LayerInputDecl input;
    input.name = parameter.name.text.str();
    input.comment = Flowing(parameter.doc);
    input.type = TextOf(parameter.type->range);
    input.repeatable = parameter.is_repeatable;
    if (parameter.default_value != nullptr)
      input.default_text = TextOf(parameter.default_value->range);
    unsigned levels = 0;
    for (const ast::TypeTerm& term : parameter.type->terms) {
      const Kind kind = term.is_sparse
                            ? term.name.text == "bool" ? Kind::kSparseBinary : Kind::kSparse
                        : term.value_range.kind != ast::RangeKind::kNone ? Kind::kIndex
                                                                         : Kind::kDense;
      if (!llvm::is_contained(input.kinds, kind)) input.kinds.push_back(kind);
      levels |= LevelsOf(term);
    }
    for (unsigned level = 0; level <= kMaxRaggedLevels; ++level)
      if ((levels >> level & 1) != 0) input.levels.push_back(level);
    llvm::sort(input.kinds);
    return input;
  }

  /// The numbers of ragged dims that a type accepts, as bits. Ragged dims come directly after the
  /// first dim: '...' may contain them if it begins there.
  unsigned LevelsOf(const ast::TypeTerm& term) const {
    unsigned least = 0;
    bool is_open = false;
    for (const auto& [i, dim] : llvm::enumerate(term.dims)) {
      if (dim.kind == ast::DimKind::kRagged) ++least;
      // The dims before it are the first one and ragged ones only.
      if (dim.kind == ast::DimKind::kAny && !any_dims_are_constant_) is_open |= i <= least + 1;
    }
    unsigned levels = 0;
    for (unsigned level = least; level <= (is_open ? kMaxRaggedLevels : least); ++level)
      levels |= 1U << level;
    return levels;
  }

  /// Whether every call declares a parameter or a state whose sizes, which are constants, contain
  /// the `...` of the inputs.
  static bool DeclaresAnyDims(llvm::ArrayRef<const ast::Statement*> body) {
    return llvm::any_of(body, [](const ast::Statement* statement) {
      const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement);
      return variable != nullptr && variable->type != nullptr &&
             llvm::any_of(variable->type->terms.front().dims,
                          [](const ast::Dim& dim) { return dim.kind == ast::DimKind::kAny; });
    });
  }

  LayerAttributeDecl ReadAttribute(const ast::Parameter& parameter) const {
    const ast::TypeTerm& term = parameter.type->terms.front();
    LayerAttributeDecl attribute;
    AttributeDecl& decl = attribute.decl;
    decl.name = parameter.name.text.str();
    decl.comment = Flowing(parameter.doc);
    decl.is_list = term.is_list;
    decl.kind = llvm::StringSwitch<AttributeKind>(term.name.text)
                    .Case("float", AttributeKind::kFloat)
                    .Case("string", AttributeKind::kString)
                    .Case("bool", AttributeKind::kBool)
                    .Default(AttributeKind::kInt);
    attribute.special = llvm::StringSwitch<LayerAttributeDecl::Special>(term.name.text)
                            .Case("function", LayerAttributeDecl::Special::kFunction)
                            .Case("parameter", LayerAttributeDecl::Special::kParameter)
                            .Default(LayerAttributeDecl::Special::kNone);
    // `none` is the identity function.
    decl.optional = term.may_be_none || attribute.special == LayerAttributeDecl::Special::kFunction;
    attribute.type = TextOf(parameter.type->range);
    ReadRange(term.value_range, &decl);
    if (parameter.default_value == nullptr) {
      if (!term.may_be_none) decl.optional = false;
      return attribute;
    }
    attribute.default_text = TextOf(parameter.default_value->range);
    if (attribute.special == LayerAttributeDecl::Special::kNone)
      decl.default_value = ConstantOf(parameter.default_value, decl);
    return attribute;
  }

  static std::optional<AttributeNumber> ToNumber(const ast::Expr* expr) {
    const std::optional<Datum> value = EvaluateConstant(expr);
    if (!value) return std::nullopt;
    if (const auto* whole = std::get_if<int64_t>(&value->value)) return AttributeNumber(*whole);
    const std::optional<double> number = value->number();
    return number ? std::optional(AttributeNumber(*number)) : std::nullopt;
  }

  static void ReadRange(const ast::TypeRange& range, AttributeDecl* decl) {
    auto bound = [](const ast::Expr* expr, bool open) -> std::optional<Bound> {
      const std::optional<AttributeNumber> number = ToNumber(expr);
      return number ? std::optional(Bound{*number, open}) : std::nullopt;
    };
    switch (range.kind) {
      case ast::RangeKind::kNone:
        return;
      case ast::RangeKind::kGreater:
      case ast::RangeKind::kGreaterEqual:
        decl->lower = bound(range.value, range.kind == ast::RangeKind::kGreater);
        return;
      case ast::RangeKind::kLess:
      case ast::RangeKind::kLessEqual:
        decl->upper = bound(range.value, range.kind == ast::RangeKind::kLess);
        return;
      case ast::RangeKind::kIn:
        break;
    }
    if (const auto* list = llvm::dyn_cast<ast::ListExpr>(range.value)) {
      for (const ast::Argument& item : list->items)
        if (const auto* choice = llvm::dyn_cast<ast::StringExpr>(item.value))
          decl->choices.push_back(choice->value.str());
    } else if (const auto* chain = llvm::dyn_cast<ast::ChainExpr>(range.value)) {
      decl->lower = bound(chain->operands[0], false);
      decl->upper = bound(chain->operands[1], chain->operators[0].op == ast::Operator::kRange);
    }
  }

  /// The value of a constant expression that fits the declaration; otherwise none.
  static AttributeValue ConstantOf(const ast::Expr* expr, const AttributeDecl& decl) {
    const std::optional<Datum> datum = EvaluateConstant(expr);
    if (!datum) return {};
    llvm::Expected<AttributeValue> value = ToAttribute(*datum, decl, std::nullopt);
    if (!value) {
      llvm::consumeError(value.takeError());
      return {};
    }
    if (const auto* whole = std::get_if<int64_t>(&*value))
      if (decl.kind == AttributeKind::kFloat) return static_cast<double>(*whole);
    const bool fits =
        !IsNone(*value) && KindOf(*value) == decl.kind && IsList(*value) == decl.is_list;
    return fits ? std::move(*value) : AttributeValue();
  }

  /// Calls `visit` with each statement of the layer, including nested blocks.
  static void Visit(llvm::ArrayRef<const ast::Statement*> statements,
                    llvm::function_ref<void(const ast::Statement*)> visit) {
    for (const ast::Statement* statement : statements) {
      visit(statement);
      if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(statement)) {
        for (const ast::Branch& branch : branches->branches) Visit(branch.block.statements, visit);
      } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statement)) {
        Visit(loop->body.statements, visit);
      }
    }
  }

  /// The attribute NAME of a layer with `for i, x in INPUT { param … with NAME[i] … }`: each
  /// operand of the input has a parameter of its own. Empty if there is none.
  llvm::StringRef ParameterOfEach(llvm::StringRef input) const {
    llvm::StringRef attribute;
    Visit(body_, [&](const ast::Statement* statement) {
      const auto* loop = llvm::dyn_cast<ast::ForStatement>(statement);
      const auto* over = loop == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(loop->over);
      if (over == nullptr || over->name != input || loop->names.size() != 2) return;
      for (const ast::Statement* inner : loop->body.statements) {
        const auto* variable = llvm::dyn_cast<ast::VariableStatement>(inner);
        const auto* with = variable == nullptr || variable->with == nullptr
                               ? nullptr
                               : llvm::dyn_cast<ast::IndexExpr>(variable->with);
        const auto* name = with == nullptr ? nullptr : llvm::dyn_cast<ast::NameExpr>(with->base);
        if (name != nullptr) attribute = name->name;
      }
    });
    return attribute;
  }

  /// The initializer of the first parameter that is declared `with NAME` or `with NAME[i]`.
  std::string InitializerOf(llvm::StringRef name) const {
    std::string text;
    Visit(body_, [&](const ast::Statement* statement) {
      const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement);
      if (variable == nullptr || variable->with == nullptr || !text.empty()) return;
      const ast::Expr* with = variable->with;
      if (const auto* index = llvm::dyn_cast<ast::IndexExpr>(with)) with = index->base;
      const auto* used = llvm::dyn_cast<ast::NameExpr>(with);
      if (used != nullptr && used->name == name) text = TextOf(variable->initial->range);
    });
    return text;
  }

  /// The fields of a record of type `parameter`.
  std::vector<LayerAttributeDecl> FieldsOf(llvm::StringRef parameter) const {
    std::vector<LayerAttributeDecl> fields;
    auto add = [&](llvm::StringRef name, llvm::StringRef comment, AttributeKind kind,
                   llvm::StringRef type, AttributeValue value) -> AttributeDecl& {
      LayerAttributeDecl& field = fields.emplace_back();
      field.decl.name = name.str();
      field.decl.comment = comment.str();
      field.decl.kind = kind;
      field.type = type.str();
      if (!IsNone(value)) field.default_text = AttributeToString(value);
      field.decl.default_value = std::move(value);
      return field.decl;
    };
    add("init", "the operator without inputs that makes the initial value", AttributeKind::kInt,
        "function", {})
        .optional = true;
    fields.back().special = LayerAttributeDecl::Special::kFunction;
    fields.back().default_text = InitializerOf(parameter);
    constexpr AttributeKind kFloat = AttributeKind::kFloat;
    AttributeDecl& decay =
        add("weight_decay",
            "L2 penalty: this factor times the parameter is added to its gradient before the "
            "optimizer uses it",
            kFloat, "float in 0..=1", 0.0);
    decay.lower = Bound{0, false};
    decay.upper = Bound{1, false};
    add("l1",
        "L1 penalty: this factor times the sign of the parameter is added to its gradient before "
        "the "
        "optimizer uses it",
        kFloat, "float >= 0", 0.0)
        .lower = Bound{0, false};
    add("gradient_clipping",
        "each element of its gradient is clipped to [-gradient_clipping, gradient_clipping]; 0: "
        "not clipped",
        kFloat, "float >= 0", 0.0)
        .lower = Bound{0, false};
    add("lr_scale", "factor of the optimizer's step: 0.1 trains it ten times slower", kFloat,
        "float >= 0", 1.0)
        .lower = Bound{0, false};
    add("trainable", "whether training changes it; false keeps its value", AttributeKind::kBool,
        "bool", true);
    add("name", "its name; parameters with the same name are one", AttributeKind::kString, "string",
        {})
        .optional = true;
    return fields;
  }

  /// Reads the results of the first `return`, with the names that the elaborator gives them.
  void ReadOutputs(LayerSignature* signature) const {
    bool found = false;
    Visit(body_, [&](const ast::Statement* statement) {
      const auto* result = llvm::dyn_cast<ast::OutputStatement>(statement);
      if (result != nullptr && !std::exchange(found, true)) AddOutputs(*result, signature);
    });
  }

  static void AddOutputs(const ast::OutputStatement& result, LayerSignature* signature) {
    const std::vector<std::string> names = ResultNames(result);
    for (const auto& [index, name] : llvm::enumerate(names))
      signature->outputs.push_back({name, Flowing(DocOfResult(result.doc, names, index))});
  }

  const SourceFile& file_;
  llvm::ArrayRef<ast::Comment> comments_;  // in source order
  // Of the current layer.
  llvm::ArrayRef<const ast::Statement*> body_;
  bool any_dims_are_constant_ = false;
};

void DescribeAll(const Ast& ast, std::vector<LayerSignature>* signatures) {
  for (const ast::Statement* statement : ast.statements)
    if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement))
      signatures->push_back(LayerReader(ast).Read(*layer));
}

}  // namespace

std::vector<LayerSignature> DescribeLayers(const LayerLibrary& library) {
  std::vector<LayerSignature> signatures;
  for (const std::unique_ptr<Ast>& ast : library.texts().asts) DescribeAll(*ast, &signatures);
  llvm::sort(signatures,
             [](const LayerSignature& a, const LayerSignature& b) { return a.name < b.name; });
  return signatures;
}

std::vector<LayerSignature> DescribeLayers(const std::shared_ptr<const SourceFile>& file,
                                           Diagnostics* diagnostics) {
  std::vector<LayerSignature> signatures;
  DescribeAll(*Parse(file, diagnostics), &signatures);
  return signatures;
}

LayerSignature DescribeNetwork(const std::shared_ptr<const SourceFile>& file, llvm::StringRef name,
                               Diagnostics* diagnostics) {
  const std::unique_ptr<Ast> ast = Parse(file, diagnostics);
  return LayerReader(*ast).ReadFile(ast->statements, name);
}

}  // namespace pdl
