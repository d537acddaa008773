#include "frontend/elaborate/modules.h"

#include <new>

#include "frontend/elaborate/callee_table.h"
#include "frontend/elaborate/layer_checks.h"
#include "frontend/elaborate/layer_library.h"
#include "frontend/elaborate/reporter.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"

namespace pdl {

Module* Modules::AddModule(const Ast& ast, llvm::StringRef folder, bool is_standard) {
  Module& module = files_.modules.emplace_back(ast);
  module.folder = folder.str();
  module.is_standard = is_standard;
  return &module;
}

void Modules::AddStandardLayers() {
  if (request_.library == nullptr) return;
  for (const std::unique_ptr<Ast>& ast : request_.library->texts().asts) {
    Module* module = AddModule(*ast, "", /*is_standard=*/true);
    for (const ast::Statement* statement : ast->statements) {
      const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement);
      if (layer == nullptr) continue;
      module->layers[layer->name.text] = layer;
      files_.standard_layers[layer->name.text] = module;
    }
  }
}

void Modules::EnterModule(Module* module) {
  const PlaceScope place(&at_, at_.frame, module->file);
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
      report_.Error(Code::kRedefined, layer->name.range, "there is a layer '" + name + "' already")
          .Note("first on line " +
                std::to_string(at_.file->LineOf(entry->second->name.range.begin)));
      continue;
    }
    const bool is_layer = files_.standard_layers.contains(name);
    if (is_layer || callees_.FindOperator(name) != nullptr) {
      report_.diagnostics().Warning(Code::kHidesStandard, at_.file, layer->name.range,
                                    "this hides the standard " +
                                        std::string(is_layer ? "layer" : "operator") + " '" +
                                        name.str() + "'");
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
      layer_checks_.CheckLayer(*layer, module);
  }
}

void Modules::ReadImport(Module* module, const ast::ImportStatement* statement) {
  const llvm::StringRef as = statement->as.text;
  if (!as.empty() && module->named.contains(as)) {
    report_.Error(Code::kRedefined, statement->as.range,
                  "a file is imported as '" + as + "' already");
    return;
  }
  Module* imported = ImportFile(module, statement);
  if (!as.empty()) {
    module->named[as] = imported;  // null: calls of it are silent
    return;
  }
  if (imported == nullptr) {
    // It might have defined any unknown name.
    module->lacks_import = true;
    return;
  }
  std::vector<llvm::StringRef> names;
  for (const auto& entry : imported->layers) names.push_back(entry.first());
  llvm::sort(names);
  for (llvm::StringRef name : names) {
    auto [entry, is_new] = module->imported.try_emplace(name, imported);
    if (is_new || entry->second == imported || module->layers.contains(name)) continue;
    report_
        .Error(Code::kImport, statement->path.range,
               "layer '" + name + "' comes from \"" + entry->second->file->name() + "\" already")
        .Note("import one of them under a name of its own: import \"" +
              statement->path.value.str() + "\" as …");
    module->broken_names.try_emplace(name, statement->path.range);
    module->imported.erase(name);
  }
  for (const auto& entry : imported->broken_names)
    module->broken_names.try_emplace(entry.first(), entry.second);
}

void Modules::ReportUnreadable(llvm::Error error, SourceRange path) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const UserError& e) {
        const bool escapes = e.code() == Code::kPathEscapes;
        report_.Error(escapes ? e.code() : Code::kImport, path, e.text());
      },
      [](const DeviceError&) { throw std::bad_alloc(); },
      [&](const llvm::ErrorInfoBase& e) { report_.Error(Code::kImport, path, e.message()); });
}

Module* Modules::ImportFile(Module* module, const ast::ImportStatement* statement) {
  const llvm::StringRef given = statement->path.value;
  auto fail = [&](Code code, const llvm::Twine& message) -> Module* {
    report_.Error(code, statement->path.range, message);
    return nullptr;
  };
  if (given.empty()) return fail(Code::kImport, "an import names a file");
  llvm::SmallString<128> path(module->folder);
  path += given;
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true, llvm::sys::path::Style::posix);
  if (given.starts_with("/") || given.contains('\\') || given.contains('\0') ||
      llvm::StringRef(path) == ".." || llvm::StringRef(path).starts_with("../")) {
    return fail(Code::kPathEscapes, "\"" + given + "\" is not in the network's folder");
  }
  if (!given.ends_with(".pdl") && !given.ends_with(".pdlc")) {
    return fail(Code::kImport, "an import names a .pdl or .pdlc file, got \"" + given + "\"");
  }
  if (given.ends_with(".pdlc") && statement->as.text.empty()) {
    return fail(Code::kImport, "a compiled network has no layers: import it `as` a name");
  }
  const std::string key = path.str().str();
  if (llvm::is_contained(files_.importing, key) ||
      (files_.importing.empty() && key == llvm::sys::path::filename(module->file->name()))) {
    const std::string chain = files_.importing.empty()
                                  ? ""
                                  : " (" + llvm::join(files_.importing, " → ") + " → " + key + ")";
    return fail(Code::kImport, "\"" + given + "\" imports itself" + chain);
  }
  if (auto found = files_.imported.find(key); found != files_.imported.end())
    return found->second.second;
  auto& entry = files_.imported[key];
  if (!request_.read_file) return fail(Code::kImport, "source without a file cannot import");
  llvm::Expected<std::shared_ptr<const SourceFile>> text = request_.read_file(key);
  if (!text) {
    ReportUnreadable(text.takeError(), statement->path.range);
    return nullptr;
  }
  if (files_.importing.size() >= 64) {
    return fail(Code::kNestingTooDeep, "imports nested deeper than 64");
  }
  Diagnostics errors;
  entry.first = Parse(*text, &errors);
  for (const Diagnostic& error : errors.all()) report_.diagnostics().Add(error);
  const llvm::StringRef folder = llvm::sys::path::parent_path(key);
  Module* imported =
      AddModule(*entry.first, folder.empty() ? "" : folder.str() + "/", /*is_standard=*/false);
  files_.imported[key].second = imported;
  files_.importing.push_back(key);
  EnterModule(imported);
  files_.importing.pop_back();
  return imported;
}

}  // namespace pdl
