#include "frontend/repl_layers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {
namespace {

/// On one line, without the comments in between.
std::string Squeeze(llvm::StringRef text) {
  std::string squeezed;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    in_string ^= text[i] == '"';
    if (text[i] == '#' && !in_string) i = std::min(text.find('\n', i), text.size() - 1);
    if (!llvm::isSpace(text[i]) || in_string) {
      squeezed += text[i];
    } else if (!squeezed.empty() && squeezed.back() != ' ') {
      squeezed += ' ';
    }
  }
  return llvm::StringRef(squeezed).trim().str();
}

ReplLayer::Parameter Describe(const SourceFile& file, const ast::Identifier& name,
                              SourceRange range, const ast::Type* type, llvm::StringRef doc) {
  ReplLayer::Parameter parameter;
  parameter.name = name.text.str();
  parameter.text = Squeeze(file.Text(range));
  parameter.doc = doc.str();
  for (const ast::TypeTerm& term : type->terms) {
    parameter.is_input |= term.has_dims;
    if (term.name.text == "bool" && !term.has_dims) parameter.choices = {"true", "false"};
    const auto* list = term.value_range.kind == ast::RangeKind::kIn
                           ? llvm::dyn_cast<ast::ListExpr>(term.value_range.value)
                           : nullptr;
    if (list == nullptr) continue;
    for (const ast::Argument& item : list->items) {
      parameter.choices.push_back(file.Text(item.value->range).str());
    }
  }
  return parameter;
}

void AddResults(const SourceFile& file, llvm::ArrayRef<const ast::Statement*> statements,
                std::vector<std::string>* results) {
  for (const ast::Statement* statement : statements) {
    if (const auto* branch = llvm::dyn_cast<ast::IfStatement>(statement)) {
      if (results->empty()) AddResults(file, branch->branches[0].block.statements, results);
    }
    const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement);
    if (output == nullptr) continue;
    if (output->kind == ast::StatementKind::kReturn) results->clear();
    for (const ast::Argument& binding : output->bindings) {
      const bool is_name = binding.is_named() || llvm::isa<ast::NameExpr>(binding.value);
      const SourceRange range = binding.is_named() ? binding.name.range : binding.value->range;
      results->push_back(is_name ? file.Text(range).str() : "y");
    }
  }
}

}  // namespace

const ReplLayer::Parameter* ReplLayer::Find(llvm::StringRef parameter) const {
  auto found = llvm::find_if(parameters, [&](const Parameter& p) { return p.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

std::string ReplLayer::Signature() const {
  std::vector<std::string> texts;
  for (const Parameter& parameter : parameters) texts.push_back(parameter.text);
  return name + "(" + llvm::join(texts, ", ") + ")" +
         (results.empty() ? "" : " -> " + llvm::join(results, ", "));
}

std::string ReplLayer::Document(unsigned width) const {
  std::string text = Signature() + "\n";
  if (text.size() > width) {
    text = name + "(";
    for (const Parameter& parameter : parameters) {
      if (&parameter != &parameters.front()) text += ",\n" + std::string(name.size() + 1, ' ');
      text += parameter.text;
    }
    text += ")" + (results.empty() ? "" : " -> " + llvm::join(results, ", ")) + "\n";
  }
  if (!doc.empty()) text += "\n" + doc + "\n";
  for (const bool inputs : {true, false}) {
    bool is_first = true;
    for (const Parameter& parameter : parameters) {
      if (parameter.is_input != inputs || parameter.doc.empty()) continue;
      if (std::exchange(is_first, false)) text += inputs ? "\nInputs\n" : "\nAttributes\n";
      text += "  " + parameter.name + ": " + parameter.doc + "\n";
    }
  }
  return text;
}

void AddLayers(const Ast& ast, llvm::StringRef prefix, std::vector<ReplLayer>* layers) {
  for (const ast::Statement* statement : ast.statements) {
    const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
    if (layer == nullptr) continue;
    ReplLayer described;
    described.name = (prefix + layer->name.text).str();
    described.doc = layer->doc.str();
    for (const ast::Parameter& parameter : layer->parameters) {
      described.parameters.push_back(
          Describe(*ast.file, parameter.name, parameter.range, parameter.type, parameter.doc));
    }
    AddResults(*ast.file, layer->body.statements, &described.results);
    layers->push_back(std::move(described));
  }
}

ReplLayer DescribeNetwork(const Ast& ast, llvm::StringRef name) {
  ReplLayer network;
  network.name = name.str();
  auto add = [&](const ast::Identifier& declared, const ast::Statement* statement,
                 const ast::Type* type) {
    network.parameters.push_back(Describe(
        *ast.file, declared, Span(declared.range, statement->range), type, statement->doc));
  };
  for (const ast::Statement* statement : ast.statements) {
    if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement)) {
      add(input->name, input, input->type);
    }
  }
  for (const ast::Statement* statement : ast.statements) {
    if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
      add(attr->name, attr, attr->type);
    }
  }
  AddResults(*ast.file, ast.statements, &network.results);
  return network;
}

}  // namespace pdl
