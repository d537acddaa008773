#include "pdl/compiler/describe_layers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "frontend/elaborate/layer_library.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace pdl {
namespace {

/// Reads one layer. Expressions other than literals are kept as source; nothing is evaluated.
class LayerReader {
 public:
  explicit LayerReader(const Ast& ast) : file_(*ast.file), comments_(ast.comments) {}

  LayerSignature Read(const ast::LayerStatement& layer) {
    body_ = layer.body.statements;
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
    for (const ast::TypeTerm& term : parameter.type->terms) {
      const Kind kind = term.is_sparse
                            ? term.name.text == "bool" ? Kind::kSparseBinary : Kind::kSparse
                        : term.value_range.kind != ast::RangeKind::kNone ? Kind::kIndex
                                                                         : Kind::kDense;
      if (!llvm::is_contained(input.kinds, kind)) input.kinds.push_back(kind);
      uint8_t levels = 0;
      // Ragged dims come directly after the first dim: '...' contains them if it begins there.
      size_t next = 1;
      for (const auto& [i, dim] : llvm::enumerate(term.dims)) {
        if (dim.kind == ast::DimKind::kAny && i <= next) levels = 2;
        if (dim.kind != ast::DimKind::kRagged) continue;
        ++levels;
        next = i + 1;
      }
      input.sequence_levels = std::max(input.sequence_levels, std::min<uint8_t>(levels, 2));
    }
    llvm::sort(input.kinds);
    return input;
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
      decl.default_value = Literal(parameter.default_value, decl);
    return attribute;
  }

  static std::optional<double> Number(const ast::Expr* expr) {
    if (const auto* number = llvm::dyn_cast<ast::NumberExpr>(expr))
      return number->is_int ? static_cast<double>(number->int_value) : number->float_value;
    return std::nullopt;
  }

  static void ReadRange(const ast::TypeRange& range, AttributeDecl* decl) {
    auto bound = [](const ast::Expr* expr, bool open) -> std::optional<Bound> {
      const std::optional<double> number = Number(expr);
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

  /// The value of a literal that fits the declaration; otherwise none.
  static AttributeValue Literal(const ast::Expr* expr, const AttributeDecl& decl) {
    if (!decl.is_list) return Item(expr, decl.kind);
    const auto* list = llvm::dyn_cast<ast::ListExpr>(expr);
    if (list == nullptr) return {};
    switch (decl.kind) {
      case AttributeKind::kInt:
        return Items<int64_t>(*list, decl.kind);
      case AttributeKind::kFloat:
        return Items<double>(*list, decl.kind);
      case AttributeKind::kString:
        return Items<std::string>(*list, decl.kind);
      default:
        return Items<bool>(*list, decl.kind);
    }
  }

  template <typename T>
  static AttributeValue Items(const ast::ListExpr& list, AttributeKind kind) {
    std::vector<T> items;
    for (const ast::Argument& argument : list.items) {
      const AttributeValue item = Item(argument.value, kind);
      const T* value = std::get_if<T>(&item);
      if (value == nullptr || argument.is_spread) return {};
      items.push_back(*value);
    }
    return items;
  }

  static AttributeValue Item(const ast::Expr* expr, AttributeKind kind) {
    if (kind == AttributeKind::kFloat) {
      const std::optional<double> number = Number(expr);
      return number ? AttributeValue(*number) : AttributeValue();
    }
    const auto* number = llvm::dyn_cast<ast::NumberExpr>(expr);
    if (kind == AttributeKind::kInt && number != nullptr && number->is_int)
      return number->int_value;
    const auto* text = llvm::dyn_cast<ast::StringExpr>(expr);
    if (kind == AttributeKind::kString && text != nullptr) return text->value.str();
    const auto* word = llvm::dyn_cast<ast::WordExpr>(expr);
    if (kind == AttributeKind::kBool && word != nullptr && word->word != ast::Word::kNone)
      return word->word == ast::Word::kTrue;
    return {};
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
    add("init", "makes the initial value", AttributeKind::kInt, "function", {}).optional = true;
    fields.back().special = LayerAttributeDecl::Special::kFunction;
    fields.back().default_text = InitializerOf(parameter);
    constexpr AttributeKind kFloat = AttributeKind::kFloat;
    AttributeDecl& decay = add("weight_decay", "fraction of itself that each step subtracts",
                               kFloat, "float in 0..=1", 0.0);
    decay.lower = Bound{0, false};
    decay.upper = Bound{1, false};
    add("gradient_clipping", "largest magnitude of its gradient; 0 is unlimited", kFloat,
        "float >= 0", 0.0)
        .lower = Bound{0, false};
    add("lr_scale", "factor of the learning rate", kFloat, "float >= 0", 1.0).lower =
        Bound{0, false};
    add("trainable", "whether training changes it", AttributeKind::kBool, "bool", true);
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
    for (const auto& [index, binding] : llvm::enumerate(result.bindings)) {
      const auto* name = llvm::dyn_cast<ast::NameExpr>(binding.value);
      signature->outputs.push_back({binding.is_named() ? binding.name.text.str()
                                    : name != nullptr  ? name->name.str()
                                    : index == 0       ? "y"
                                                       : "y_" + std::to_string(index + 1),
                                    Flowing(result.doc)});
    }
  }

  const SourceFile& file_;
  llvm::ArrayRef<ast::Comment> comments_;       // in source order
  llvm::ArrayRef<const ast::Statement*> body_;  // of the current layer
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
