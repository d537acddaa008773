// Completions at the cursor. Looks at the source as it is, complete or not, only by its brackets.
#include <optional>

#include "frontend/repl/repl_session.h"
#include "frontend/syntax/keywords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/op_docs.h"

namespace pdl {
namespace {

bool IsWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

llvm::StringRef LastWord(llvm::StringRef text) {
  return text.take_back(text.size() - (text.find_last_not_of("abcdefghijklmnopqrstuvwxyz"
                                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                             "0123456789_") +
                                       1));
}

/// The last word with its path: "net.block".
llvm::StringRef LastPath(llvm::StringRef text) {
  size_t size = LastWord(text).size();
  while (text.drop_back(size).ends_with(".")) {
    const size_t before = LastWord(text.drop_back(size + 1)).size();
    if (before == 0) break;
    size += 1 + before;
  }
  return text.take_back(size);
}

/// The callee of the call that ends before the final ".", as in `lstm(x, size=3).la`; empty if no
/// call does.
llvm::StringRef CalleeBeforeDot(llvm::StringRef before) {
  llvm::StringRef call = before.drop_back(LastWord(before).size());
  if (!call.consume_back(".") || !call.consume_back(")")) return "";
  std::vector<size_t> open;
  bool in_string = false;
  for (size_t i = 0; i < call.size(); ++i) {
    if (in_string && call[i] == '\\') {
      ++i;
    } else if (call[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (call[i] == '(' || call[i] == '[' || call[i] == '{')) {
      open.push_back(i);
    } else if (!in_string && (call[i] == ')' || call[i] == ']' || call[i] == '}')) {
      if (!open.empty()) open.pop_back();
    }
  }
  if (in_string || open.empty() || call[open.back()] != '(') return "";
  return LastPath(call.take_front(open.back()).rtrim());
}

/// For `layer h = lstm(size=3)`, "lstm" of "h"; another name is returned as it is.
llvm::StringRef CalleeOf(llvm::StringRef name, const Ast* ast) {
  if (ast == nullptr) return name;
  for (const ast::Statement* statement : ast->statements) {
    const auto* instance = llvm::dyn_cast<ast::LayerInstanceStatement>(statement);
    if (instance == nullptr || instance->name.text != name) continue;
    const auto* call = llvm::dyn_cast<ast::CallExpr>(instance->value);
    return ast->file->Text((call != nullptr ? call->callee : instance->value)->range);
  }
  return name;
}

/// The position of the cursor, as far as the source before it determines it.
struct Context {
  bool in_string = false;
  bool in_comment = false;
  /// The callee of the innermost call whose bracket is open, or empty.
  llvm::StringRef callee;
  /// The source of that call's arguments so far.
  llvm::StringRef arguments;
  /// The word begins an argument: an attribute is possible here.
  bool at_argument = false;
  /// The attribute whose value begins here, or empty.
  llvm::StringRef attribute;
  bool at_statement = false;
};

Context Look(llvm::StringRef before) {
  Context context;
  std::vector<size_t> open;
  for (size_t i = 0; i < before.size(); ++i) {
    const char c = before[i];
    if (context.in_comment) {
      context.in_comment = c != '\n';
    } else if (context.in_string) {
      if (c == '\\') {
        ++i;
      } else {
        context.in_string = c != '"';
      }
    } else if (c == '"') {
      context.in_string = true;
    } else if (c == '#') {
      context.in_comment = true;
    } else if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    } else if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
  }
  const llvm::StringRef left = before.drop_back(LastWord(before).size()).rtrim();
  context.at_statement = open.empty() && (left.empty() || before.rtrim(" \t").ends_with("\n"));
  if (open.empty() || before[open.back()] != '(') return context;
  context.callee = LastPath(before.take_front(open.back()).rtrim());
  context.arguments = before.drop_front(open.back() + 1);
  context.at_argument = left.ends_with("(") || left.ends_with(",");
  if (left.ends_with("=")) context.attribute = LastWord(left.drop_back().rtrim());
  return context;
}

class Completer {
 public:
  explicit Completer(llvm::StringRef word) : word_(word) {}

  void Add(const llvm::Twine& text, const llvm::Twine& display) {
    std::string whole = text.str();
    if (!llvm::StringRef(whole).starts_with(word_)) return;
    if (llvm::any_of(found_, [&](const ReplCompletion& c) { return c.text == whole; })) return;
    found_.push_back({std::move(whole), display.str()});
  }
  void Add(const llvm::Twine& text) { Add(text, text); }

  bool empty() const { return found_.empty(); }
  std::vector<ReplCompletion> Take() { return std::move(found_); }

 private:
  llvm::StringRef word_;
  std::vector<ReplCompletion> found_;
};

bool IsGiven(llvm::StringRef arguments, llvm::StringRef name) {
  for (size_t at = arguments.find(name); at != llvm::StringRef::npos;
       at = arguments.find(name, at + 1)) {
    const llvm::StringRef after = arguments.drop_front(at + name.size()).ltrim();
    const bool is_word = at == 0 || !IsWordCharacter(arguments[at - 1]);
    if (is_word && after.starts_with("=") && !after.starts_with("==")) return true;
  }
  return false;
}

/// An attribute or input of the callee.
struct Argument {
  std::string name;
  std::string hint;  // "float > 0 = 1.0"
  bool is_input = false;
  std::vector<std::string> choices{};  // as written in the language
};

std::vector<Argument> ArgumentsOf(const OpSignature& signature) {
  std::vector<Argument> arguments;
  for (const AttributeDecl& attribute : signature.attributes) {
    if (attribute.counted) continue;
    Argument argument{attribute.name, attribute.ToString()};
    for (const std::string& choice : attribute.choices) {
      argument.choices.push_back("\"" + choice + "\"");
    }
    if (attribute.kind == AttributeKind::kBool) argument.choices = {"true", "false"};
    for (int i = 1; i < kNumDTypes && attribute.kind == AttributeKind::kDType; ++i) {
      argument.choices.push_back(DTypeName(static_cast<DType>(i)).str());
    }
    arguments.push_back(std::move(argument));
  }
  for (const InputDecl& input : signature.inputs) {
    if (!input.repeatable || signature.has_counts())
      arguments.push_back({input.name, "input", /*is_input=*/true});
  }
  return arguments;
}

std::vector<Argument> ArgumentsOf(const LayerSignature& layer) {
  std::vector<Argument> arguments;
  for (const LayerInputDecl& input : layer.inputs)
    arguments.push_back({input.name, input.type, /*is_input=*/true});
  for (const LayerAttributeDecl& attribute : layer.attributes) {
    const std::string& value = attribute.default_text;
    Argument argument{attribute.decl.name, attribute.type + (value.empty() ? "" : " = " + value)};
    for (const std::string& choice : attribute.decl.choices)
      argument.choices.push_back("\"" + choice + "\"");
    const bool is_plain = attribute.special == LayerAttributeDecl::Special::kNone;
    if (is_plain && attribute.decl.kind == AttributeKind::kBool)
      argument.choices = {"true", "false"};
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

void AddArgumentNames(llvm::ArrayRef<Argument> arguments, llvm::StringRef given, Completer* add) {
  for (const Argument& argument : arguments) {
    if (IsGiven(given, argument.name)) continue;
    // Inputs may be given by position: only offered once a word is begun.
    if (argument.is_input && LastWord(given).empty()) continue;
    add->Add(argument.name + "=", argument.name + "=  " + argument.hint);
  }
}

/// Completes the path after the quote of a statement.
std::vector<ReplCompletion> CompletePath(ReplHost& host, llvm::StringRef typed,
                                         llvm::ArrayRef<llvm::StringRef> endings,
                                         bool of_statement) {
  Completer add(typed);
  for (const std::string& path : host.ListFiles(typed, of_statement)) {
    const bool is_folder = llvm::StringRef(path).ends_with("/");
    const bool fits = is_folder || endings.empty() || llvm::any_of(endings, [&](auto ending) {
                        return llvm::StringRef(path).ends_with(ending);
                      });
    // Only the part that differs is displayed.
    const size_t name = llvm::StringRef(path).drop_back().rfind('/') + 1;
    if (fits) add.Add(path + (of_statement && !is_folder ? "\"" : ""), path.substr(name));
  }
  return add.Take();
}

/// The extensions of the files that the statement or call before the quote reads; nullopt if none.
std::optional<std::vector<llvm::StringRef>> FileKinds(llvm::StringRef before_quote) {
  const llvm::StringRef left = before_quote.rtrim();
  const llvm::StringRef word = LastWord(left.ends_with("(") ? left.drop_back().rtrim() : left);
  if (word == "import") return {{".pdl", ".pdlc"}};
  if (word == "load") return {{".safetensors"}};
  return std::nullopt;
}

/// The keywords that can begin a statement of a session, which excludes tests, and statements only
/// allowed in tests or layers.
std::vector<llvm::StringRef> StatementWords() {
  std::vector<llvm::StringRef> words;
  for (const Keyword& keyword : Keywords()) {
    const bool is_elsewhere =
        keyword.spelling == "expect" || keyword.spelling == "return" || keyword.spelling == "test";
    if (StartsStatement(keyword.token) && !is_elsewhere) words.push_back(keyword.spelling);
  }
  llvm::sort(words);
  return words;
}

/// The names that the session knows.
struct Known {
  const Graph& graph;
  const llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>>& names;
  llvm::ArrayRef<LayerSignature> own_layers, standard_layers;
  const OpRegistry& registry;
  ReplHost& host;
};

/// Finds completions at the end of the source; `begin` is the offset from which they replace it.
class Finder {
 public:
  Finder(const Known& known, llvm::StringRef before, size_t* begin)
      : known_(known), before_(before), word_(LastWord(before)), begin_(begin) {
    *begin_ = before.size() - word_.size();
  }

  std::vector<ReplCompletion> Find(const LayerSignature* callee_layer, const Context& context);
  /// The results of a call of this layer or operator, for the name after its ".".
  std::vector<ReplCompletion> FindResults(const LayerSignature* layer, const OpDef* op);
  /// A command and its argument; nullopt if an expression follows.
  std::optional<std::vector<ReplCompletion>> FindInCommand(llvm::StringRef command);

 private:
  std::vector<ReplCompletion> FindCommands(llvm::StringRef command);
  /// A file, or a choice of an attribute, after the quote.
  std::vector<ReplCompletion> FindInString();
  /// `hidden.w`, `net.block`: values with a path.
  std::vector<ReplCompletion> FindPaths(llvm::StringRef path);
  std::vector<ReplCompletion> FindFed();
  std::vector<ReplCompletion> FindWords(const Context& context);
  const Argument* FindArgument(llvm::StringRef name) const {
    auto found = llvm::find_if(arguments_, [&](const Argument& a) { return a.name == name; });
    return found == arguments_.end() ? nullptr : &*found;
  }

  const Known& known_;
  llvm::StringRef before_, word_;
  size_t* begin_;
  std::vector<Argument> arguments_;  // of the callee
};

std::vector<ReplCompletion> Finder::FindCommands(llvm::StringRef command) {
  *begin_ = before_.size() - command.size();
  Completer add(command);
  for (const ReplCommand& known : ReplCommands()) {
    add.Add(known.name + (known.argument.empty() ? "" : " "), known.name + " " + known.argument);
  }
  return add.Take();
}

std::optional<std::vector<ReplCompletion>> Finder::FindInCommand(llvm::StringRef command) {
  if (!command.contains(' ')) return FindCommands(command);
  Completer add(word_);
  if (command.starts_with(":help ")) {
    for (llvm::ArrayRef<LayerSignature> layers : {known_.own_layers, known_.standard_layers}) {
      for (const LayerSignature& layer : layers) add.Add(layer.name);
    }
    for (const OpDef* def : known_.registry.All()) add.Add(def->name());
    return add.Take();
  }
  if (command.starts_with(":device ")) {
    for (const char* device : {"cpu", "cuda"}) add.Add(device);
    return add.Take();
  }
  for (llvm::StringRef name : {":load ", ":save "}) {
    if (!command.starts_with(name)) continue;
    const llvm::StringRef typed = command.drop_front(name.size()).ltrim(" \"");
    *begin_ = before_.size() - typed.size();
    return CompletePath(known_.host, typed, {".pdl"}, /*of_statement=*/false);
  }
  if (command.starts_with(":type ")) return std::nullopt;
  return std::vector<ReplCompletion>();
}

std::vector<ReplCompletion> Finder::FindInString() {
  const size_t quote = before_.rfind('"');
  *begin_ = quote + 1;
  const llvm::StringRef typed = before_.drop_front(quote + 1);
  if (const auto kinds = FileKinds(before_.take_front(quote))) {
    return CompletePath(known_.host, typed, *kinds, /*of_statement=*/true);
  }
  const llvm::StringRef left = before_.take_front(quote).rtrim();
  if (!left.ends_with("=")) return {};
  const Argument* string = FindArgument(LastWord(left.drop_back().rtrim()));
  if (string == nullptr) return {};
  Completer add(typed);
  for (const std::string& choice : string->choices) {
    if (llvm::StringRef(choice).starts_with("\"")) {
      add.Add(choice.substr(1), llvm::StringRef(choice).trim('"'));
    }
  }
  return add.Take();
}

std::vector<ReplCompletion> Finder::FindPaths(llvm::StringRef path) {
  *begin_ = before_.size() - path.size();
  Completer add(path);
  for (llvm::ArrayRef<Value*> list : {known_.graph.parameters(), known_.graph.states()}) {
    for (const Value* value : list) {
      add.Add(value->name(), value->name() + ": " + value->type().ToString());
    }
  }
  for (const LayerSignature& layer : known_.own_layers) add.Add(layer.name + "(", CallOf(layer));
  return add.Take();
}

std::vector<ReplCompletion> Finder::FindResults(const LayerSignature* layer, const OpDef* op) {
  Completer add(word_);
  auto add_all = [&](llvm::ArrayRef<OutputDecl> outputs) {
    for (const OutputDecl& output : outputs) {
      const std::string comment = llvm::StringRef(output.comment).split('\n').first.str();
      add.Add(output.name, output.name + (comment.empty() ? "" : ": " + comment));
    }
  };
  if (layer != nullptr) {
    add_all(layer->outputs);
  } else if (op != nullptr) {
    add_all(op->signature.outputs);
  }
  return add.Take();
}

std::vector<ReplCompletion> Finder::FindFed() {
  Completer add(word_);
  const Graph& graph = known_.graph;
  for (llvm::ArrayRef<Value*> list : {graph.inputs(), graph.parameters(), graph.states()}) {
    for (const Value* value : list) {
      add.Add(value->name() + " = ", value->name() + ": " + value->type().ToString());
    }
  }
  add.Add("training = ");
  return add.Take();
}

std::vector<ReplCompletion> Finder::FindWords(const Context& context) {
  Completer add(word_);
  if (const Argument* argument = FindArgument(context.attribute)) {
    for (const std::string& choice : argument->choices) add.Add(choice);
    if (word_.empty() && argument->choices.empty()) {
      // Nothing to choose from: only the hint.
      return {{"", argument->name + ": " + argument->hint}};
    }
    if (word_.empty()) return add.Take();
  }
  if (context.at_argument) AddArgumentNames(arguments_, context.arguments, &add);
  const bool has_argument = !add.empty();
  for (const auto& [name, value] : known_.names) {
    const Value* known = value.empty() ? nullptr : known_.graph.FindValue(value);
    add.Add(name, known == nullptr ? name : name + ": " + known->type().ToString());
  }
  // After `input x:` and the like comes a type; a begun word may be a type anywhere.
  if (!word_.empty() || before_.rtrim().ends_with(":")) {
    for (int i = 1; i < kNumDTypes; ++i) add.Add(DTypeName(static_cast<DType>(i)));
  }
  if (context.at_statement && !word_.empty()) {
    for (llvm::StringRef keyword : StatementWords()) add.Add(keyword + " ");
  }
  // Where an attribute is possible, these would hide it.
  if (!context.at_argument || arguments_.empty() || (!word_.empty() && !has_argument)) {
    for (llvm::ArrayRef<LayerSignature> layers : {known_.own_layers, known_.standard_layers}) {
      for (const LayerSignature& layer : layers) add.Add(layer.name + "(", CallOf(layer));
    }
    for (const OpDef* def : known_.registry.All())
      add.Add(def->name() + "(", OpCallToString(def->signature));
  }
  return add.Take();
}

std::vector<ReplCompletion> Finder::Find(const LayerSignature* callee_layer,
                                         const Context& context) {
  if (context.in_comment) return {};
  if (callee_layer != nullptr) {
    arguments_ = ArgumentsOf(*callee_layer);
  } else if (const OpDef* callee = known_.registry.Find(context.callee)) {
    arguments_ = ArgumentsOf(callee->signature);
  }
  if (context.in_string) return FindInString();
  // A number is not the beginning of a name.
  if (!word_.empty() && llvm::isDigit(word_[0])) return {};
  if (const llvm::StringRef path = LastPath(before_); path.contains('.')) return FindPaths(path);
  // Another value has no members; ".." is a range or a spread.
  const llvm::StringRef left = before_.drop_back(word_.size());
  if (left.ends_with(".") && !left.ends_with("..")) return {};
  if (before_.ltrim().starts_with("feed ") && !before_.contains('=')) return FindFed();
  return FindWords(context);
}

}  // namespace

std::vector<ReplCompletion> ReplSession::Complete(llvm::StringRef text, size_t cursor,
                                                  size_t* begin) const {
  const llvm::StringRef before = text.take_front(cursor);
  const Known known{impl_->graph,
                    impl_->names,
                    impl_->own_layers,
                    impl_->standard_layers,
                    *impl_->request.registry,
                    impl_->host};
  Finder finder(known, before, begin);
  if (const llvm::StringRef command = before.ltrim(); command.starts_with(":")) {
    if (auto found = finder.FindInCommand(command)) return *std::move(found);
  }
  const Context context = Look(before);
  if (const llvm::StringRef callee = CalleeBeforeDot(before);
      !callee.empty() && !context.in_string && !context.in_comment) {
    const llvm::StringRef name = CalleeOf(callee, impl_->ast.get());
    return finder.FindResults(impl_->FindLayer(name), impl_->request.registry->Find(name));
  }
  return finder.Find(impl_->FindLayer(context.callee), context);
}

}  // namespace pdl
