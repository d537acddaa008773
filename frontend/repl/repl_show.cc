// The replies of a session.
#include "frontend/repl/repl_session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/op/attribute.h"

namespace pdl {
namespace {

/// A constant as written in the language.
std::string TextOf(const Datum& datum) {
  if (const auto* v = datum.get<int64_t>()) return std::to_string(*v);
  if (const auto* v = datum.get<Datum::Real>()) return FloatToString(v->value);
  if (const auto* v = datum.get<bool>()) return *v ? "true" : "false";
  if (const auto* v = datum.get<llvm::StringRef>()) return ("\"" + *v + "\"").str();
  if (const auto* v = datum.get<DType>()) return DTypeName(*v).str();
  if (const auto* v = datum.get<Dim>()) return v->ToString();
  if (datum.is<Datum::None>()) return "none";
  if (datum.is<Datum::FunctionValue>()) return "# a function";
  if (datum.tensor() != nullptr) return datum.tensor()->name();
  const std::vector<Datum>* items = datum.list();
  if (items == nullptr) return "";
  std::vector<std::string> texts;
  for (const Datum& item : *items) texts.push_back(TextOf(item));
  return "[" + llvm::join(texts, ", ") + "]";
}

bool AreTensors(const Datum& datum) {
  const std::vector<Datum>* items = datum.list();
  return items != nullptr && !items->empty() &&
         llvm::all_of(*items, [](const Datum& item) { return item.tensor() != nullptr; });
}

}  // namespace

std::string CallOf(const LayerSignature& layer) {
  std::vector<std::string> arguments;
  auto add = [&](const std::string& name, const std::string& type, const std::string& value) {
    arguments.push_back(name + ": " + type + (value.empty() ? "" : " = " + value));
  };
  for (const LayerInputDecl& input : layer.inputs)
    add(input.name + (input.repeatable ? "..." : ""), input.type, input.default_text);
  for (const LayerAttributeDecl& attribute : layer.attributes)
    add(attribute.decl.name, attribute.type, attribute.default_text);
  std::vector<std::string> results;
  for (const OutputDecl& output : layer.outputs) results.push_back(output.name);
  return layer.name + "(" + llvm::join(arguments, ", ") + ")" +
         (results.empty() ? "" : " -> " + llvm::join(results, ", "));
}

void ReplSession::Impl::Note(const llvm::Twine& note, ReplReply* reply) {
  reply->output += host.Style(ReplStyle::kNote, ("# " + note).str()) + "\n";
}

void ReplSession::Impl::Print(llvm::StringRef label, const Type& type,
                              const ReplValues::Found& found, ReplReply* reply) {
  std::string& out = reply->output;
  const size_t begin = out.size();
  if (!label.empty()) out += host.Style(ReplStyle::kName, label) + ": ";
  if (!found.value) {
    out += host.Style(ReplStyle::kType, type.ToString());
    if (!found.missing.empty()) {
      const std::string requested = "# requires: feed " + llvm::join(found.missing, ", ");
      out += "  " + host.Style(ReplStyle::kNote, requested);
    }
    out += "\n";
    return;
  }
  out += host.Style(ReplStyle::kType, found.value->type.ToString()) + " =";
  const std::string elements = host.Print(*found.value);
  // A value of several rows begins on a line of its own.
  out += llvm::StringRef(elements).contains('\n') ? "\n" : " ";
  out += elements + "\n";
  reply->values.push_back({label.str(), *found.value, begin, out.size()});
}

void ReplSession::Impl::ShowNamed(llvm::StringRef name, ReplReply* reply) {
  Probe probe;
  probe.code = (name + "\n").str();
  const Tried tried = Try(probe, /*reply=*/nullptr);
  if (!tried.graph) return;
  ReplReply shown;
  ShowConstant(tried, name, &shown);
  const size_t line = reply->output.size();
  // The values of a list are shown with their own names.
  if (!shown.output.empty() && !AreTensors(tried.constant))
    reply->output += host.Style(ReplStyle::kName, name) + ": ";
  const size_t begin = reply->output.size();
  reply->output += shown.output;
  for (ReplReply::ShownValue& value : shown.values) {
    value.begin = value.label.empty() ? line : value.begin + begin;
    if (value.label.empty()) value.label = name.str();
    value.end += begin;
    reply->values.push_back(std::move(value));
  }
}

void ReplSession::Impl::ShowConstant(const Tried& tried, llvm::StringRef expression,
                                     ReplReply* reply) {
  const Datum& constant = tried.constant;
  if (AreTensors(constant)) {
    // The values of a list are shown individually, parameters by their names.
    const bool is_name =
        llvm::all_of(expression, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    std::vector<Shown> shown;
    for (const auto& [index, item] : llvm::enumerate(*constant.list())) {
      const Value* value = item.tensor();
      const std::string label =
          (is_name ? expression : llvm::StringRef()).str() + "[" + std::to_string(index) + "]";
      shown.push_back(
          {value->kind() == ValueKind::kParameter ? value->name() : label, value->name()});
    }
    return Show(*tried.graph, shown, reply);
  }
  Probe probe;
  probe.code = ("output _shown = (" + expression + "\n)\n").str();
  const Tried as_tensor = Try(probe, /*reply=*/nullptr);
  if (as_tensor.graph) {
    Show(*as_tensor.graph, Shown{"", as_tensor.graph->outputs().back().value->name()}, reply);
    return;
  }
  // Not all constants can be tensors: a string, a dtype, the sizes of a ragged value.
  const std::string text = TextOf(constant);
  if (!text.empty()) reply->output += text + "\n";
}

void ReplSession::Impl::Show(const Graph& of, llvm::ArrayRef<Shown> shown, ReplReply* reply) {
  std::vector<std::string> requested;
  for (const Shown& each : shown) {
    if (!each.value.empty()) requested.push_back(each.value);
  }
  auto known = values.Get(of, requested);
  if (!known) ReportFailure(known.takeError(), host, reply);
  size_t next = 0;
  for (const Shown& each : shown) {
    if (each.value.empty()) {
      ShowNamed(each.label, reply);
      continue;
    }
    const ReplValues::Found found = known ? (*known)[next++] : ReplValues::Found();
    Print(each.label, of.FindValue(each.value)->type(), found, reply);
  }
}

void ReplSession::Impl::Acknowledge(const ast::Statement* statement, ReplReply* reply) {
  if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement)) {
    const LayerSignature* known = FindLayer(layer->name.text);
    if (known != nullptr) Note("layer " + CallOf(*known), reply);
  } else if (const auto* import = llvm::dyn_cast<ast::ImportStatement>(statement)) {
    for (const LayerSignature& layer : LayersOf(import)) Note("layer " + CallOf(layer), reply);
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
