// What a session answers.
#include "frontend/repl_session.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

void ReplSession::Impl::Note(const llvm::Twine& note, ReplReply* reply) {
  reply->output += host.Style(ReplStyle::kNote, ("# " + note).str()) + "\n";
}

void ReplSession::Impl::Print(llvm::StringRef label, const Type& type,
                              const ReplValues::Found& found, ReplReply* reply) {
  std::string& out = reply->output;
  if (!label.empty()) out += host.Style(ReplStyle::kName, label) + ": ";
  if (!found.value) {
    out += host.Style(ReplStyle::kType, type.ToString());
    if (!found.missing.empty()) {
      const std::string wanted = "# wants: feed " + llvm::join(found.missing, ", ");
      out += "  " + host.Style(ReplStyle::kNote, wanted);
    }
    out += "\n";
    return;
  }
  out += host.Style(ReplStyle::kType, found.value->type.ToString()) + " =";
  const std::string elements = host.Print(*found.value);
  // Rows stand below each other only where the first begins a line.
  out += llvm::StringRef(elements).contains('\n') ? "\n" : " ";
  out += elements + "\n";
}

void ReplSession::Impl::ShowConstant(const Shown& shown, llvm::StringRef expression,
                                     ReplReply* reply) {
  Probe probe;
  const llvm::StringRef value = shown.label.empty() ? expression : llvm::StringRef(shown.label);
  probe.code = ("output _shown = (" + value + "\n)\n").str();
  const Tried tried = Try(probe, /*reply=*/nullptr);
  // Not all constants can be tensors: a text, a dtype, a list of tensors.
  if (!tried.graph) {
    if (shown.label.empty()) reply->output += (expression + "\n").str();
    return;
  }
  const std::string name = tried.graph->outputs().back().value->name();
  Show(*tried.graph, Shown{shown.label, name}, expression, reply);
}

void ReplSession::Impl::Show(const Graph& of, llvm::ArrayRef<Shown> shown,
                             llvm::StringRef expression, ReplReply* reply) {
  std::vector<std::string> wanted;
  for (const Shown& each : shown) {
    if (!each.value.empty()) wanted.push_back(each.value);
  }
  auto known = values.Get(of, wanted);
  if (!known) reply->error = llvm::toString(known.takeError());
  size_t next = 0;
  for (const Shown& each : shown) {
    if (each.value.empty()) {
      ShowConstant(each, expression, reply);
      continue;
    }
    const ReplValues::Found found = known ? (*known)[next++] : ReplValues::Found();
    Print(each.label, of.FindValue(each.value)->type(), found, reply);
  }
}

void ReplSession::Impl::Acknowledge(const ast::Statement* statement, ReplReply* reply) {
  if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement)) {
    const ReplLayer* known = FindLayer(layer->name.text);
    if (known != nullptr) Note("layer " + known->Signature(), reply);
  } else if (const auto* import = llvm::dyn_cast<ast::ImportStatement>(statement)) {
    for (const ReplLayer& layer : LayersOf(import)) Note("layer " + layer.Signature(), reply);
  } else if (statement->kind == ast::StatementKind::kMinimize) {
    Note("kept; `pdl train` does it", reply);
  } else if (statement->kind == ast::StatementKind::kTest) {
    Note("kept; `pdl test` runs it", reply);
  }
}

llvm::StringMap<uint64_t> ReplSession::Impl::DescribeNames() const {
  const Fingerprints prints = values.Describe(graph);
  llvm::StringMap<uint64_t> described;
  for (const auto& [name, value] : names) {
    if (!value.empty()) described[name] = prints[graph.FindValue(value)];
  }
  return described;
}

std::vector<ReplSession::Impl::Shown> ReplSession::Impl::ChangedSince(
    const llvm::StringMap<uint64_t>& before) const {
  std::vector<Shown> changed;
  const llvm::StringMap<uint64_t> now = DescribeNames();
  for (const auto& [name, value] : names) {
    const auto known = before.find(name);
    if (value.empty() || known == before.end()) continue;
    if (now.lookup(name) != known->second) changed.push_back({name, value});
  }
  return changed;
}

}  // namespace pdl
