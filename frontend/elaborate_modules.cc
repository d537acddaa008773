// Files: which layers a text may call, what it imports, and `load … into`.
#include "frontend/callees.h"
#include "frontend/elaborator.h"
#include "frontend/layer_library.h"
#include "frontend/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "pdl/error.h"

namespace pdl {

Module* Elaborator::AddModule(const Ast& ast, llvm::StringRef folder, bool is_standard) {
  Module& module = modules_.emplace_back(ast);
  module.folder = folder.str();
  module.is_standard = is_standard;
  return &module;
}

void Elaborator::AddStandardLayers() {
  if (request_.library == nullptr) return;
  for (const std::unique_ptr<Ast>& ast : request_.library->texts().asts) {
    Module* module = AddModule(*ast, "", /*is_standard=*/true);
    for (const ast::Statement* statement : ast->statements) {
      const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
      if (layer == nullptr) continue;
      module->layers[layer->name.text] = layer;
      standard_layers_[layer->name.text] = module;
    }
  }
}

void Elaborator::EnterModule(Module* module) {
  const std::shared_ptr<const SourceFile> file = std::exchange(file_, module->file);
  for (const ast::Statement* statement : module->ast->statements) {
    if (const auto* broken = llvm::dyn_cast<ast::BrokenStatement>(statement)) {
      for (const ast::Identifier& name : broken->names)
        module->broken_names.try_emplace(name.text, name.range);
    }
    const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
    if (layer == nullptr) continue;
    const llvm::StringRef name = layer->name.text;
    auto [entry, is_new] = module->layers.try_emplace(name, layer);
    if (!is_new) {
      Error(Code::kRedefined, layer->name.range, "there is a layer '" + name + "' already")
          .Note("first on line " + std::to_string(file_->LineOf(entry->second->name.range.begin)));
      continue;
    }
    const bool is_layer = standard_layers_.contains(name);
    if (is_layer || FindOperator(name) != nullptr) {
      diagnostics_->Warning(Code::kHidesStandard, file_, layer->name.range,
                            "this hides the standard " +
                                std::string(is_layer ? "layer" : "operator") + " '" + name.str() +
                                "'");
    }
  }
  for (const ast::Statement* statement : module->ast->statements) {
    if (const auto* import = llvm::dyn_cast<ast::ImportStatement>(statement)) {
      ReadImport(module, import);
    }
  }
  for (const ast::Statement* statement : module->ast->statements) {
    const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
    if (layer != nullptr && module->layers.lookup(layer->name.text) == layer)
      CheckLayer(*layer, module);
  }
  file_ = file;
}

namespace {

// The first statement behind a `return` in the same block, or null.
const ast::Statement* FindUnreachable(llvm::ArrayRef<const ast::Statement*> statements) {
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i]->kind == ast::StatementKind::kReturn) {
      return i + 1 < statements.size() ? statements[i + 1] : nullptr;
    }
    if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statements[i])) {
      if (const ast::Statement* found = FindUnreachable(loop->body.statements)) return found;
    } else if (const auto* branches = llvm::dyn_cast<ast::IfStatement>(statements[i])) {
      for (const ast::Branch& branch : branches->branches)
        if (const ast::Statement* found = FindUnreachable(branch.block.statements)) return found;
    }
  }
  return nullptr;
}

}  // namespace

// Defaults of attributes that no attribute before them decides.
void Elaborator::CheckDefaults(const ast::LayerStatement& layer, Module* module) {
  TextFrame frame;
  frame.module = module;
  frame.is_default = true;  // the calls report it no second time
  TextFrame* const outer = std::exchange(frame_, &frame);
  for (const ast::Parameter& parameter : layer.parameters) {
    const ast::TypeTerm& term = parameter.type->terms.front();
    const ast::Expr* const value = parameter.default_value;
    if (parameter.type->is_tensor() || value == nullptr || MentionsNames(value)) continue;
    const Datum datum = EvaluateFor(parameter.type, value);
    if (datum.holds_poison() || term.name.text == "function" || term.name.text == "parameter")
      continue;
    const std::optional<AttributeDecl> decl =
        DeclareAttribute(parameter.name, parameter.doc, parameter.type);
    if (decl) CheckAttribute(*decl, datum, value->range, file_, layer.name.text);
  }
  frame_ = outer;
}

// What is wrong with a layer whatever it is called with.
void Elaborator::CheckLayer(const ast::LayerStatement& layer, Module* module) {
  for (size_t i = 0; i < layer.parameters.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (layer.parameters[i].name.text != layer.parameters[j].name.text) continue;
      Error(Code::kRedefined, layer.parameters[i].name.range,
            "'" + layer.parameters[i].name.text + "' stands here twice")
          .Underline(layer.parameters[j].name.range);
    }
  }
  if (const ast::Statement* statement = FindUnreachable(layer.body.statements)) {
    Error(Code::kMisplaced, {statement->range.begin, statement->range.begin + 1},
          "this is never reached: 'return' ends the layer");
  }
  CheckDefaults(layer, module);
  // Names of what it calls: one that no name could be is a mistake, even if nobody calls the layer.
  if (module->lacks_import) return;
  llvm::StringSet<> own;
  for (const ast::Parameter& parameter : layer.parameters) own.insert(parameter.name.text);
  CollectInstances(layer.body.statements, &own);
  TextFrame frame;
  frame.module = module;
  TextFrame* const outer = std::exchange(frame_, &frame);
  ForEachCallee(layer.body.statements, [&](const ast::NameExpr& name) {
    const bool is_builtin = llvm::is_contained(
        llvm::ArrayRef<llvm::StringRef>({"len", "dims", "dtype", "params", "grad", "min", "max"}),
        name.name);
    if (is_builtin || own.contains(name.name) || module->broken_names.contains(name.name)) return;
    const Callee callee = FindCallee(name.name);
    if (callee.op != nullptr || callee.is_network() || module->named.contains(name.name)) return;
    if (!reported_.insert({file_.get(), name.range.begin}).second) return;
    Error(Code::kUnknownOperator, name.range,
          "no operator or layer is called '" + name.name + "'" +
              DidYouMean(name.name, CalleeNames()));
  });
  frame_ = outer;
}

void Elaborator::ReadImport(Module* module, const ast::ImportStatement* statement) {
  const llvm::StringRef as = statement->as.text;
  if (!as.empty() && module->named.contains(as)) {
    Error(Code::kRedefined, statement->as.range, "a file is imported as '" + as + "' already");
    return;
  }
  Module* imported = ImportFile(module, statement);
  if (!as.empty()) {
    module->named[as] = imported;  // null: calls of it are silent
    return;
  }
  if (imported == nullptr) {
    // Any unknown name might have come from there.
    module->lacks_import = true;
    return;
  }
  std::vector<llvm::StringRef> names;
  for (const auto& entry : imported->layers) names.push_back(entry.first());
  llvm::sort(names);
  for (llvm::StringRef name : names) {
    auto [entry, is_new] = module->imported.try_emplace(name, imported);
    if (is_new || entry->second == imported || module->layers.contains(name)) continue;
    Error(Code::kImport, statement->path.range,
          "layer '" + name + "' comes from \"" + entry->second->file->name() + "\" already")
        .Note("import one of them under a name of its own: import \"" +
              statement->path.value.str() + "\" as …");
    module->broken_names.try_emplace(name, statement->path.range);
    module->imported.erase(name);
  }
  for (const auto& entry : imported->broken_names)
    module->broken_names.try_emplace(entry.first(), entry.second);
}

Module* Elaborator::ImportFile(Module* module, const ast::ImportStatement* statement) {
  const llvm::StringRef given = statement->path.value;
  auto fail = [&](Code code, const llvm::Twine& message) -> Module* {
    Error(code, statement->path.range, message);
    return nullptr;
  };
  if (given.empty()) return fail(Code::kImport, "an import names a file");
  llvm::SmallString<128> path(module->folder);
  path += given;
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true, llvm::sys::path::Style::posix);
  if (given.starts_with("/") || given.contains('\\') || given.contains('\0') ||
      llvm::StringRef(path) == ".." || llvm::StringRef(path).starts_with("../")) {
    return fail(Code::kPathEscapes, "\"" + given + "\" does not lie in the network's folder");
  }
  if (!given.ends_with(".pdl") && !given.ends_with(".pdlc")) {
    return fail(Code::kImport, "an import names a .pdl or .pdlc file, got \"" + given + "\"");
  }
  if (given.ends_with(".pdlc") && statement->as.text.empty()) {
    return fail(Code::kImport, "a compiled network has no layers: import it `as` a name");
  }
  const std::string key = path.str().str();
  if (llvm::is_contained(importing_, key) ||
      (importing_.empty() && key == llvm::sys::path::filename(module->file->name()))) {
    const std::string way =
        importing_.empty() ? "" : " (" + llvm::join(importing_, " → ") + " → " + key + ")";
    return fail(Code::kImport, "\"" + given + "\" imports itself" + way);
  }
  if (auto found = files_.find(key); found != files_.end()) return found->second.second;
  auto& entry = files_[key];
  if (!request_.read_file) return fail(Code::kImport, "a text without a file cannot import");
  llvm::Expected<std::shared_ptr<const SourceFile>> text = request_.read_file(key);
  if (!text) {
    Code code = Code::kImport;
    std::string message;
    llvm::handleAllErrors(
        text.takeError(),
        [&](const UserError& e) {
          if (e.code() == Code::kPathEscapes) code = e.code();
          message = e.text();
        },
        [&](const llvm::ErrorInfoBase& e) { message = e.message(); });
    return fail(code, message);
  }
  if (importing_.size() >= 64) {
    return fail(Code::kNestingTooDeep, "imports nested deeper than 64");
  }
  Diagnostics mistakes;
  entry.first = Parse(*text, &mistakes);
  for (const Diagnostic& mistake : mistakes.all()) diagnostics_->Add(mistake);
  const llvm::StringRef folder = llvm::sys::path::parent_path(key);
  Module* imported =
      AddModule(*entry.first, folder.empty() ? "" : folder.str() + "/", /*is_standard=*/false);
  files_[key].second = imported;
  importing_.push_back(key);
  EnterModule(imported);
  importing_.pop_back();
  return imported;
}

// ---------------------------------------------------------------------------------------------
// load "file" into names

void Elaborator::ElaborateLoads() {
  for (const PendingLoad& load : loads_) {
    TextFrame frame;
    frame.module = load.module;
    FrameScope scope(this, load.module->ast == &ast_ ? frame_ : &frame);
    ElaborateLoad(load.statement, load.module, load.path);
  }
}

void Elaborator::ElaborateLoad(const ast::LoadStatement* statement, Module* module,
                               llvm::StringRef path) {
  std::vector<Value*> variables;
  std::vector<std::string> prefixes = {path.str()};
  SourceRange place = statement->path.range;
  if (!statement->into.empty()) {
    place = {statement->into.front().range.begin, statement->into.back().range.end};
    std::string name;
    for (const ast::Identifier& part : statement->into)
      name += (name.empty() ? "" : ".") + part.text.str();
    prefixes = WaysOf(name);
    for (std::string& prefix : prefixes) prefix += ".";
  }
  auto prefix_of = [&](llvm::StringRef name) -> const std::string* {
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix)) return &prefix;
    return nullptr;
  };
  for (llvm::ArrayRef<Value*> all : {graph_.parameters(), graph_.states()}) {
    for (Value* value : all) {
      if (value->name() != "step" && prefix_of(value->name()) != nullptr)
        variables.push_back(value);
    }
  }
  if (variables.empty()) {
    if (diagnostics_->has_errors()) return;  // the calls that make them may have failed
    Error(Code::kUnknownName, place,
          statement->into.empty() ? llvm::Twine("there are no parameters to load")
                                  : "there are no parameters below '" + file_->Text(place) + "'");
    return;
  }
  const std::string file = module->folder + statement->path.value.str();
  std::vector<std::string> problems;
  for (Value* value : variables) {
    const std::string& prefix = *prefix_of(value->name());
    std::string tensor = value->name().substr(prefix.size());
    VariableInfo& info = value->variable();
    if (!request_.find_weight) {
      info.weight = WeightRef{file, tensor, ""};
      info.initializer.reset();
      continue;
    }
    llvm::Expected<WeightInfo> found = request_.find_weight(file, tensor);
    if (tensor != value->name()) {
      // A checkpoint of this very network has the whole name.
      llvm::Expected<WeightInfo> whole = request_.find_weight(file, value->name());
      if (whole) {
        if (!found) llvm::consumeError(found.takeError());
        tensor = value->name();
        found = std::move(whole);
      } else {
        llvm::consumeError(whole.takeError());
      }
    }
    if (!found) {
      bool is_file = false;
      llvm::handleAllErrors(
          found.takeError(),
          [&](const UserError& e) {
            is_file = e.code() != Code::kWeightMismatch;
            if (is_file) {
              Error(e.code(), statement->path.range, e.text());
            } else {
              problems.push_back("'" + tensor + "' is missing");
            }
          },
          [&](const llvm::ErrorInfoBase& e) {
            is_file = true;
            Error(Code::kBadFile, statement->path.range, e.message());
          });
      if (is_file) return;
      continue;
    }
    const Type loaded(found->dtype, Shape(found->sizes.begin(), found->sizes.end()));
    if (loaded.dtype != value->type().dtype || loaded.dims != value->type().dims) {
      problems.push_back("'" + tensor + "' is " + loaded.ToString() + " in the file, and " +
                         value->type().ToString() + " here");
      continue;
    }
    info.weight = WeightRef{file, tensor, std::move(found->sha256)};
    info.initializer.reset();
  }
  if (problems.empty()) return;
  Diagnostic& diagnostic =
      Error(Code::kWeightMismatch, statement->path.range,
            llvm::Twine(problems.size()) + " of " + llvm::Twine(variables.size()) +
                " tensors do not fit \"" + statement->path.value + "\"");
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < problems.size() && i < kShown; ++i) diagnostic.Note(problems[i]);
  if (problems.size() > kShown)
    diagnostic.Note("and " + std::to_string(problems.size() - kShown) + " more");
}

}  // namespace pdl
