#include "tools/pdl/lsp/protocol.h"

#include "llvm/ADT/STLExtras.h"

namespace pdl::lsp {

using llvm::json::ObjectMapper;
using llvm::json::Path;
using llvm::json::Value;

namespace {

// The field of nested objects; null if there is none.
const Value* Find(const Value& value, std::initializer_list<llvm::StringRef> path) {
  const Value* at = &value;
  for (llvm::StringRef name : path) {
    const llvm::json::Object* object = at->getAsObject();
    at = object == nullptr ? nullptr : object->get(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool IsTrue(const Value& value, std::initializer_list<llvm::StringRef> path) {
  const Value* found = Find(value, path);
  return found != nullptr && found->getAsBoolean().value_or(false);
}

// Whether the list contains the string.
bool Lists(const Value& value, std::initializer_list<llvm::StringRef> path, llvm::StringRef item) {
  const Value* found = Find(value, path);
  const llvm::json::Array* list = found == nullptr ? nullptr : found->getAsArray();
  return list != nullptr &&
         llvm::any_of(*list, [&](const Value& each) { return each.getAsString() == item; });
}

bool MapDocument(const Value& value, DocumentParams* params, int64_t* version, Path path) {
  const llvm::json::Object* object = value.getAsObject();
  const Value* document = object == nullptr ? nullptr : object->get("textDocument");
  if (document == nullptr) {
    path.report("expected a textDocument");
    return false;
  }
  ObjectMapper mapper(*document, path.field("textDocument"));
  if (!mapper || !mapper.map("uri", params->uri)) return false;
  // A client need not number the versions.
  if (version != nullptr)
    if (const auto number = document->getAsObject()->getInteger("version")) *version = *number;
  return true;
}

}  // namespace

bool fromJSON(const Value& value, AnyParams& params, Path) {
  params.value = value;
  return true;
}

bool fromJSON(const Value& value, DocumentParams& params, Path path) {
  return MapDocument(value, &params, nullptr, path);
}

bool fromJSON(const Value& value, PositionParams& params, Path path) {
  ObjectMapper mapper(value, path);
  return MapDocument(value, &params, nullptr, path) && mapper &&
         mapper.map("position", params.position);
}

bool fromJSON(const Value& value, RangeParams& params, Path path) {
  ObjectMapper mapper(value, path);
  return MapDocument(value, &params, nullptr, path) && mapper && mapper.map("range", params.range);
}

bool fromJSON(const Value& value, ReferenceParams& params, Path path) {
  const Value* flag = Find(value, {"context", "includeDeclaration"});
  if (flag != nullptr) params.include_declaration = flag->getAsBoolean().value_or(true);
  return fromJSON(value, static_cast<PositionParams&>(params), path);
}

bool fromJSON(const Value& value, RenameParams& params, Path path) {
  ObjectMapper mapper(value, path);
  return fromJSON(value, static_cast<PositionParams&>(params), path) && mapper &&
         mapper.map("newName", params.new_name);
}

bool fromJSON(const Value& value, OpenParams& params, Path path) {
  if (!MapDocument(value, &params, &params.version, path)) return false;
  ObjectMapper mapper(*value.getAsObject()->get("textDocument"), path.field("textDocument"));
  return mapper && mapper.map("text", params.contents);
}

bool fromJSON(const Value& value, ContentChange& change, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("text", change.replacement) &&
         mapper.mapOptional("range", change.range);
}

bool fromJSON(const Value& value, ChangeParams& params, Path path) {
  ObjectMapper mapper(value, path);
  return MapDocument(value, &params, &params.version, path) && mapper &&
         mapper.map("contentChanges", params.changes);
}

bool fromJSON(const Value& value, CodeActionParams& params, Path path) {
  const Value* given = Find(value, {"context", "diagnostics"});
  if (given != nullptr && given->getAsArray() != nullptr)
    for (const Value& each : *given->getAsArray()) params.diagnostics.push_back({each});
  const Value* only = Find(value, {"context", "only"});
  const llvm::json::Array* kinds = only == nullptr ? nullptr : only->getAsArray();
  params.includes_quick_fixes =
      kinds == nullptr || llvm::any_of(*kinds, [](const Value& kind) {
        const llvm::StringRef name = kind.getAsString().value_or("");
        return name.empty() || name == "quickfix";  // "" is the kind of all others
      });
  return fromJSON(value, static_cast<RangeParams&>(params), path);
}

bool fromJSON(const Value& value, CommandParams& params, Path path) {
  ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("command", params.command)) return false;
  const llvm::json::Array* arguments = value.getAsObject()->getArray("arguments");
  for (const Value& argument : arguments == nullptr ? llvm::json::Array() : *arguments)
    params.arguments.push_back(argument.getAsString().value_or("").str());
  return true;
}

bool fromJSON(const Value& value, FileEvents& params, Path path) {
  const llvm::json::Object* object = value.getAsObject();
  const llvm::json::Array* changes = object == nullptr ? nullptr : object->getArray("changes");
  if (changes == nullptr) {
    path.report("expected changes");
    return false;
  }
  for (const Value& change : *changes) {
    const Value* uri = Find(change, {"uri"});
    if (uri != nullptr && uri->getAsString()) params.uris.push_back(uri->getAsString()->str());
  }
  return true;
}

ClientFeatures ReadFeatures(const Value& initialize) {
  ClientFeatures features;
  const Value* found = Find(initialize, {"capabilities"});
  const Value all = found == nullptr ? Value(nullptr) : *found;
  if (Lists(all, {"general", "positionEncodings"}, "utf-8")) features.encoding = Encoding::kUtf8;
  features.registers_watchers =
      IsTrue(all, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"});
  features.refreshes_hints = IsTrue(all, {"workspace", "inlayHint", "refreshSupport"});
  features.document_changes = IsTrue(all, {"workspace", "workspaceEdit", "documentChanges"});
  const Value* documents = Find(all, {"textDocument"});
  if (documents == nullptr) return features;
  features.related_information = IsTrue(*documents, {"publishDiagnostics", "relatedInformation"});
  features.hierarchical_symbols =
      IsTrue(*documents, {"documentSymbol", "hierarchicalDocumentSymbolSupport"});
  features.literal_actions =
      Find(*documents, {"codeAction", "codeActionLiteralSupport"}) != nullptr;
  features.snippets = IsTrue(*documents, {"completion", "completionItem", "snippetSupport"});
  features.plain_hover = Find(*documents, {"hover", "contentFormat"}) != nullptr &&
                         !Lists(*documents, {"hover", "contentFormat"}, "markdown");
  features.label_offsets = IsTrue(*documents, {"signatureHelp", "signatureInformation",
                                               "parameterInformation", "labelOffsetSupport"});
  return features;
}

}  // namespace pdl::lsp
