// What may stand at the cursor. Looks at the text as it is, complete or not, by its brackets alone.
#include "frontend/repl_session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op_docs.h"

namespace pdl {
namespace {

bool IsWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

llvm::StringRef LastWord(llvm::StringRef text) {
  return text.take_back(text.size() - (text.find_last_not_of("abcdefghijklmnopqrstuvwxyz"
                                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                             "0123456789_") +
                                       1));
}

/// Where the cursor stands, as far as the text before it tells.
struct Context {
  bool in_string = false;
  bool in_comment = false;
  /// The callee of the innermost call whose bracket is open, or empty.
  llvm::StringRef callee;
  /// The text of that call's arguments so far.
  llvm::StringRef arguments;
  /// The word begins an argument: an attribute may stand here.
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
  context.callee = LastWord(before.take_front(open.back()).rtrim());
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

void AddArgumentNames(const OpSignature& signature, llvm::StringRef arguments, Completer* add) {
  for (const AttributeDecl& attribute : signature.attributes) {
    if (IsGiven(arguments, attribute.name)) continue;
    add->Add(attribute.name + "=", attribute.name + "=  " + attribute.ToString());
  }
  for (const InputDecl& input : signature.inputs) {
    // By position they need no name: offered where the word is begun.
    if (IsGiven(arguments, input.name) || input.repeatable || LastWord(arguments).empty()) continue;
    add->Add(input.name + "=", input.name + "=  input");
  }
}

void AddAttributeValues(const AttributeDecl& attribute, Completer* add) {
  if (attribute.kind == AttributeKind::kBool) {
    add->Add("true");
    add->Add("false");
  } else if (attribute.kind == AttributeKind::kDType) {
    for (int i = 1; i < kNumDTypes; ++i) add->Add(DTypeName(static_cast<DType>(i)));
  }
}

}  // namespace

std::vector<ReplCompletion> ReplSession::Complete(llvm::StringRef text, size_t cursor,
                                                  size_t* begin) const {
  const llvm::StringRef before = text.take_front(cursor);
  llvm::StringRef word = LastWord(before);
  const OpRegistry& registry = impl_->registry;
  const std::vector<const OpDef*> operators = registry.All();

  // A command and what it takes.
  if (before.ltrim().starts_with(":")) {
    const llvm::StringRef command = before.ltrim();
    if (!command.contains(' ')) {
      *begin = before.size() - command.size();
      Completer add(command);
      for (const ReplCommand& known : ReplCommands()) {
        add.Add(known.name + (known.argument.empty() ? "" : " "),
                known.name + " " + known.argument);
      }
      return add.Take();
    }
    *begin = before.size() - word.size();
    if (command.starts_with(":help ")) {
      Completer add(word);
      for (const OpDef* def : operators) add.Add(def->name());
      return add.Take();
    }
    if (command.starts_with(":device ")) {
      Completer add(word);
      for (const char* device : {"cpu", "cuda"}) add.Add(device);
      return add.Take();
    }
    if (!command.starts_with(":type ")) return {};
  }

  const Context context = Look(before);
  *begin = before.size() - word.size();
  const OpDef* callee = context.callee.empty() ? nullptr : registry.Find(context.callee);
  const int index = callee == nullptr ? -1 : callee->signature.FindAttribute(context.attribute);
  const AttributeDecl* attribute = index < 0 ? nullptr : &callee->signature.attributes[index];
  if (context.in_comment) return {};
  if (context.in_string) {
    // A choice of the attribute, which begins after the quote.
    const size_t quote = before.rfind('"');
    const llvm::StringRef left = before.take_front(quote).rtrim();
    if (callee == nullptr || !left.ends_with("=")) return {};
    const int string = callee->signature.FindAttribute(LastWord(left.drop_back().rtrim()));
    if (string < 0) return {};
    *begin = quote + 1;
    Completer add(before.drop_front(quote + 1));
    for (const std::string& choice : callee->signature.attributes[string].choices) {
      add.Add(choice + "\"", choice);
    }
    return add.Take();
  }
  // A number is not the beginning of a name.
  if (!word.empty() && llvm::isDigit(word[0])) return {};

  Completer add(word);
  if (attribute != nullptr) {
    for (const std::string& choice : attribute->choices) add.Add("\"" + choice + "\"");
    AddAttributeValues(*attribute, &add);
    if (word.empty()) return add.Take();
  }
  if (callee != nullptr && context.at_argument) {
    AddArgumentNames(callee->signature, context.arguments, &add);
  }
  for (const auto& [name, named] : impl_->names) {
    const Value* value = named.value.empty() ? nullptr : impl_->graph.FindValue(named.value);
    add.Add(name, value == nullptr ? name : name + ": " + value->type().ToString());
  }
  // After `input x:` and the like stands a type; a begun word may be one anywhere.
  if (!word.empty() || before.rtrim().ends_with(":")) {
    for (int i = 1; i < kNumDTypes; ++i) add.Add(DTypeName(static_cast<DType>(i)));
  }
  if (context.at_statement && !word.empty()) {
    for (const char* keyword :
         {"assert", "attr", "feed", "input", "output", "param", "state", "update"}) {
      add.Add(llvm::Twine(keyword) + " ");
    }
  }
  // Where an argument begins they would hide its attributes.
  if (!word.empty() || callee == nullptr || !context.at_argument) {
    for (const OpDef* def : operators) add.Add(def->name() + "(", OpCallToString(def->signature));
  }
  return add.Take();
}

}  // namespace pdl
