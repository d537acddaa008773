// Completion of a word, and the signature of the call around a position.
#include <algorithm>

#include "frontend/editor/analysis_data.h"
#include "frontend/editor/cursor.h"
#include "frontend/syntax/keywords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/op_docs.h"

namespace pdl {
namespace {

using Item = CompletionItem;

std::string FirstSentence(llvm::StringRef comment) {
  const size_t end = comment.find(". ");
  return (end == llvm::StringRef::npos ? comment : comment.take_front(end + 1)).str();
}

/// An attribute or input of a callee.
struct Parameter {
  std::string name;
  std::string type;  // "float > 0 = 1.0"
  std::string comment;
  bool is_input = false;
  bool is_repeatable = false;
  std::vector<std::string> choices = {};  // as written in the language
  bool is_optional = false;               // of inputs
};

/// The declaration of a callee: an operator or a layer.
struct Declaration {
  std::string label;
  std::string comment;
  std::vector<Parameter> parameters;
  std::vector<OutputDecl> outputs;
  /// Attributes that all layers have.
  std::vector<Parameter> common = {};
};

std::vector<std::string> ChoicesOf(const AttributeDecl& attribute) {
  std::vector<std::string> choices;
  for (const std::string& choice : attribute.choices) choices.push_back("\"" + choice + "\"");
  if (attribute.kind == AttributeKind::kBool) choices = {"true", "false"};
  for (int i = 1; i < kNumDTypes && attribute.kind == AttributeKind::kDType; ++i)
    choices.push_back(DTypeName(static_cast<DType>(i)).str());
  return choices;
}

Declaration Describe(const OpSignature& signature) {
  Declaration declaration{OpCallToString(signature), signature.comment, {}, signature.outputs};
  for (const InputDecl& input : signature.inputs)
    declaration.parameters.push_back(
        {input.name, "", input.comment, /*is_input=*/true, input.repeatable});
  for (const AttributeDecl& attribute : signature.attributes) {
    if (attribute.counted) continue;
    declaration.parameters.push_back({attribute.name, attribute.ToString(), attribute.comment,
                                      false, false, ChoicesOf(attribute)});
  }
  return declaration;
}

Declaration Describe(const LayerSignature& layer) {
  Declaration declaration{LayerCallToString(layer), layer.comment, {}, layer.outputs};
  for (const LayerInputDecl& input : layer.inputs)
    declaration.parameters.push_back(
        {input.name,
         input.type + (input.default_text.empty() ? "" : " = " + input.default_text),
         input.comment,
         /*is_input=*/true,
         input.repeatable,
         {},
         !input.default_text.empty()});
  for (const LayerAttributeDecl& attribute : layer.attributes) {
    const std::string& value = attribute.default_text;
    Parameter parameter{attribute.decl.name, attribute.type + (value.empty() ? "" : " = " + value),
                        attribute.decl.comment};
    if (attribute.special == LayerAttributeDecl::Special::kNone)
      parameter.choices = ChoicesOf(attribute.decl);
    declaration.parameters.push_back(std::move(parameter));
  }
  const std::vector<std::string> choices = {"true", "false"};
  declaration.common = {
      {"recompute", "bool = false", "compute the layer again in the backward pass", false, false,
       choices},
      {"training", "bool", "the value of `training` in the layer", false, false, choices}};
  return declaration;
}

/// Attributes of all optimizers in `minimize … with`.
std::vector<Parameter> OptimizerParameters() {
  return {{"clip_norm", "float", "the largest norm of all gradients together"},
          {"lazy",
           "bool = false",
           "update only the rows of a table that were used",
           false,
           false,
           {"true", "false"}}};
}

/// Finds completions in one context.
class Finder {
 public:
  Finder(const SourceAnalysis::Data& data, llvm::StringRef source, const CursorContext& context,
         uint32_t analyzed)
      : data_(data),
        table_(data.symbols),
        context_(context),
        word_(source.slice(context.word.begin, context.word.end)),
        analyzed_(analyzed),
        scope_(data.symbols.ScopeAt(analyzed)) {}

  std::vector<Item> Find();
  /// The declaration of a callee with its path; nullopt if it is unknown.
  std::optional<Declaration> FindDeclaration(llvm::StringRef callee) const;

 private:
  void Add(Item item);
  void AddString();
  void AddMembers();
  void AddArguments(const CursorContext::Call& call);
  void AddNames();
  void AddCallables();
  void AddKeywords();
  void AddTypes();
  const LayerSignature* SignatureOf(uint32_t symbol) const;
  /// The type of a name at its last definition before the cursor, or its declaration.
  std::string TypeOf(const Symbol& symbol) const;
  bool IsDefinedBefore(const Symbol& symbol) const;

  const SourceAnalysis::Data& data_;
  const SymbolTable& table_;
  const CursorContext& context_;
  llvm::StringRef word_;
  uint32_t analyzed_;
  uint32_t scope_;
  std::vector<Item> items_;
  llvm::StringSet<> known_;
};

void Finder::Add(Item item) {
  if (!llvm::StringRef(item.label).starts_with_insensitive(word_)) return;
  if (!known_.insert(item.label).second) return;
  if (item.insert.empty()) item.insert = item.label;
  items_.push_back(std::move(item));
}

const LayerSignature* Finder::SignatureOf(uint32_t symbol) const {
  const Symbol& layer = table_.symbols[symbol];
  if (layer.is_standard) return data_.signatures->FindStandard(layer.name);
  for (uint32_t index : layer.occurrences) {
    const Occurrence& occurrence = table_.occurrences[index];
    if (occurrence.is_definition)
      return data_.signatures->Find(table_.files[occurrence.file], layer.name);
  }
  return nullptr;
}

std::optional<Declaration> Finder::FindDeclaration(llvm::StringRef callee) const {
  const FileNames& names = table_.file_names.front();
  // An instance has the declaration of its layer.
  for (uint32_t scope = scope_; scope != Symbol::kNone; scope = table_.scopes[scope].parent) {
    const auto found = table_.scopes[scope].instances.find(callee);
    if (found == table_.scopes[scope].instances.end()) continue;
    const llvm::StringRef made = table_.symbols[found->second].declaration;
    const llvm::StringRef layer = made.take_until([](char c) { return c == '('; });
    return layer == callee ? std::nullopt : FindDeclaration(layer.trim());
  }
  const auto [base, member] = callee.split('.');
  if (!member.empty()) {
    for (const Symbol& symbol : table_.symbols) {
      if (symbol.kind != SymbolKind::kLayer || symbol.name != member) continue;
      const auto index = static_cast<uint32_t>(&symbol - table_.symbols.data());
      if (const LayerSignature* layer = SignatureOf(index)) return Describe(*layer);
    }
    return std::nullopt;
  }
  if (const auto own = names.layers.find(callee); own != names.layers.end())
    if (const LayerSignature* layer = SignatureOf(own->second)) return Describe(*layer);
  if (const LayerSignature* layer = data_.signatures->FindStandard(callee)) return Describe(*layer);
  if (const OpDef* op = data_.registry->Find(callee)) return Describe(op->signature);
  return std::nullopt;
}

bool Finder::IsDefinedBefore(const Symbol& symbol) const {
  return llvm::any_of(symbol.occurrences, [&](uint32_t index) {
    const Occurrence& occurrence = table_.occurrences[index];
    return occurrence.is_definition && occurrence.effective <= analyzed_;
  });
}

std::string Finder::TypeOf(const Symbol& symbol) const {
  std::string type = symbol.declaration;
  uint32_t last = 0;
  for (uint32_t index : symbol.occurrences) {
    const Occurrence& occurrence = table_.occurrences[index];
    if (!occurrence.is_definition || occurrence.effective > analyzed_ ||
        occurrence.effective < last)
      continue;
    const NameFact* fact = data_.FactOf(occurrence);
    if (fact == nullptr || fact->types.empty()) continue;
    type = JoinTypes(*fact);
    last = occurrence.effective;
  }
  return type;
}

void Finder::AddNames() {
  for (uint32_t scope = scope_; scope != Symbol::kNone; scope = table_.scopes[scope].parent) {
    const NameScope& names = table_.scopes[scope];
    for (const auto* map : {&names.values, &names.sizes}) {
      for (const auto& entry : *map) {
        const Symbol& symbol = table_.symbols[entry.second];
        if (!IsDefinedBefore(symbol) || entry.first().starts_with("~")) continue;
        Add({Item::Kind::kValue, symbol.name, "", false, TypeOf(symbol), symbol.doc, 1});
      }
    }
  }
  for (const std::string& name : context_.names)
    if (name != word_) Add({Item::Kind::kValue, name, "", false, "", "", 2});
}

void Finder::AddCallables() {
  auto add = [&](Item::Kind kind, llvm::StringRef name, std::string label, llvm::StringRef comment,
                 unsigned rank) {
    Add({kind, name.str(), name.str() + "($0)", true, std::move(label), FirstSentence(comment),
         rank});
  };
  for (uint32_t scope = scope_; scope != Symbol::kNone; scope = table_.scopes[scope].parent)
    for (const auto& entry : table_.scopes[scope].instances)
      add(Item::Kind::kLayer, entry.first(), table_.symbols[entry.second].declaration, "", 1);
  for (const auto& entry : table_.file_names.front().layers) {
    if (table_.symbols[entry.second].is_standard) continue;
    const LayerSignature* layer = SignatureOf(entry.second);
    add(Item::Kind::kLayer, entry.first(), layer == nullptr ? "" : LayerCallToString(*layer),
        table_.symbols[entry.second].doc, 3);
  }
  for (const auto& entry : table_.file_names.front().files)
    Add({Item::Kind::kFile, entry.first().str(), "", false,
         table_.symbols[entry.second].declaration, "", 3});
  for (const LayerSignature& layer : data_.signatures->Standard())
    add(Item::Kind::kLayer, layer.name, LayerCallToString(layer), layer.comment, 4);
  for (const OpDef* def : data_.registry->All())
    add(Item::Kind::kOperator, def->name(), OpCallToString(def->signature), def->signature.comment,
        4);
}

void Finder::AddKeywords() {
  for (const Keyword& keyword : Keywords()) {
    const bool starts = StartsStatement(keyword.token);
    if (starts && !context_.at_statement) continue;
    Add({Item::Kind::kKeyword, keyword.spelling.str(), "", false, "", "", starts ? 2u : 5u});
  }
}

void Finder::AddTypes() {
  for (int i = 1; i < kNumDTypes; ++i)
    Add({Item::Kind::kType, DTypeName(static_cast<DType>(i)).str(), ""});
  if (!context_.at_type) return;
  for (const char* type : {"int", "float", "string", "bool", "function", "parameter"})
    Add({Item::Kind::kType, type, ""});
}

void Finder::AddMembers() {
  if (context_.base_is_call) {
    const std::optional<Declaration> declaration = FindDeclaration(context_.base);
    if (!declaration) return;
    for (const OutputDecl& output : declaration->outputs)
      Add({Item::Kind::kValue, output.name, "", false, "", output.comment});
    return;
  }
  // The layers of an imported file, or the parameters of a layer's call.
  const FileNames& names = table_.file_names.front();
  if (const auto file = names.files.find(context_.base); file != names.files.end()) {
    for (uint32_t index = 0; index < table_.symbols.size(); ++index) {
      const Symbol& symbol = table_.symbols[index];
      if (symbol.kind != SymbolKind::kLayer || symbol.is_standard) continue;
      const LayerSignature* layer = SignatureOf(index);
      const bool is_own = llvm::any_of(symbol.occurrences, [&](uint32_t each) {
        return table_.occurrences[each].is_definition && table_.occurrences[each].file == 0;
      });
      if (layer != nullptr && !is_own)
        Add({Item::Kind::kLayer, symbol.name, symbol.name + "($0)", true, LayerCallToString(*layer),
             FirstSentence(symbol.doc)});
    }
    return;
  }
  for (const auto& [name, type] : data_.variables) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(context_.base) || !rest.consume_front(".")) continue;
    const auto [first, more] = rest.split('.');
    Add({Item::Kind::kValue, first.str(), "", false, more.empty() ? type : "", ""});
  }
}

void Finder::AddArguments(const CursorContext::Call& call) {
  const std::optional<Declaration> declaration = FindDeclaration(call.callee);
  if (!declaration) return;
  std::vector<Parameter> parameters = declaration->parameters;
  llvm::append_range(parameters, call.is_optimizer ? OptimizerParameters() : declaration->common);
  for (const Parameter& parameter : parameters) {
    if (!call.argument.empty()) {
      if (parameter.name != call.argument) continue;
      for (const std::string& choice : parameter.choices)
        Add({Item::Kind::kChoice, choice, "", false, parameter.name});
      continue;
    }
    if (!call.at_argument || llvm::is_contained(call.given, parameter.name)) continue;
    // Inputs are mostly given by position. Those of an optimizer without a default are given by
    // `minimize`.
    if (parameter.is_input && !parameter.is_optional && (word_.empty() || call.is_optimizer))
      continue;
    Add({Item::Kind::kAttribute, parameter.name + "=", "", false, parameter.type,
         parameter.comment});
  }
}

void Finder::AddString() {
  if (!context_.call || context_.call->argument.empty()) return;
  const std::optional<Declaration> declaration = FindDeclaration(context_.call->callee);
  if (!declaration) return;
  for (const Parameter& parameter : declaration->parameters) {
    if (parameter.name != context_.call->argument) continue;
    for (const std::string& choice : parameter.choices)
      if (llvm::StringRef(choice).starts_with("\""))
        Add({Item::Kind::kChoice, llvm::StringRef(choice).trim('"').str(), "", false,
             parameter.name});
  }
}

std::vector<Item> Finder::Find() {
  if (context_.in_comment) return {};
  // A number is not the beginning of a name.
  if (!context_.in_string && !word_.empty() && llvm::isDigit(word_.front())) return {};
  if (context_.in_string) {
    AddString();
  } else if (context_.after_dot) {
    AddMembers();
  } else {
    if (context_.call) AddArguments(*context_.call);
    if (context_.at_type) {
      AddTypes();
    } else {
      AddNames();
      AddCallables();
      AddKeywords();
      if (!word_.empty()) AddTypes();
    }
  }
  llvm::stable_sort(items_, [](const Item& a, const Item& b) {
    return std::tie(a.rank, a.label) < std::tie(b.rank, b.label);
  });
  return std::move(items_);
}

}  // namespace

CompletionResult SourceAnalysis::Complete(const std::shared_ptr<const SourceFile>& current,
                                          uint32_t offset, uint32_t analyzed) const {
  const CursorContext context = LookAt(current->text(), offset);
  Finder finder(*data_, current->text(), context, analyzed);
  CompletionResult result{context.word, finder.Find()};
  if (!context.in_string) return result;
  if (context.before_string == "import") result.file_endings = {".pdl", ".pdlc"};
  const bool is_load_call =
      context.call && context.call->callee == "load" && context.call->index == 0;
  if (context.before_string == "load" || is_load_call) result.file_endings = {".safetensors"};
  return result;
}

std::optional<CallSignature> SourceAnalysis::SignatureAt(
    const std::shared_ptr<const SourceFile>& current, uint32_t offset, uint32_t analyzed) const {
  const CursorContext context = LookAt(current->text(), offset);
  if (!context.call || context.in_comment) return std::nullopt;
  Finder finder(*data_, current->text(), context, analyzed);
  const std::optional<Declaration> declaration = finder.FindDeclaration(context.call->callee);
  if (!declaration) return std::nullopt;
  CallSignature signature{declaration->label, FirstSentence(declaration->comment), {}, {}};
  // The parameters in the label, in their order.
  size_t at = signature.label.find('(');
  bool is_repeating = false;
  for (const Parameter& parameter : declaration->parameters) {
    size_t begin = at;
    while (true) {
      begin = signature.label.find(parameter.name, begin + 1);
      if (begin == std::string::npos) break;
      const SourceRange word = WordAt(signature.label, static_cast<uint32_t>(begin));
      if (word.begin == begin && word.end - begin == parameter.name.size()) break;
    }
    if (begin == std::string::npos) continue;
    at = begin;
    const auto first = static_cast<uint32_t>(begin);
    signature.parameters.push_back(
        {{first, first + static_cast<uint32_t>(parameter.name.size())},
         parameter.name,
         parameter.comment + (parameter.type.empty() ? "" : "\n\n`" + parameter.type + "`")});
    const auto index = static_cast<unsigned>(signature.parameters.size() - 1);
    const CursorContext::Call& call = *context.call;
    // All further operands belong to a repeatable input.
    bool is_active = parameter.name == call.argument;
    if (call.argument.empty())
      is_active = !is_repeating && (index == call.num_positional ||
                                    (parameter.is_repeatable && index < call.num_positional));
    is_repeating |= is_active && parameter.is_repeatable;
    if (is_active) signature.active = index;
  }
  return signature;
}

}  // namespace pdl
