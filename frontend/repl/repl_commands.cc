// The commands of a session, which begin with ':'.
#include "frontend/repl/repl_session.h"
#include "frontend/repl/repl_undo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/op/op_docs.h"

namespace pdl {

llvm::ArrayRef<ReplCommand> ReplCommands() {
  static constexpr ReplCommand kCommands[] = {
      {":help", "[NAME]", true, "this help, or that of the operator, layer or value NAME"},
      {":ops", "", false, "all operators and layers, one per line"},
      {":type", "EXPRESSION", false, "the type of an expression, which is not run"},
      {":list", "", false, "the statements accepted so far, with their line numbers"},
      {":save", "FILE.pdl", false, "writes them as a file that `pdl run` takes"},
      {":load", "FILE.pdl", false, "adds a file's statements; file names in it are relative to it"},
      {":device", "[NAME]", true, "the device in use; with NAME, runs on cpu, cuda or cuda:1"},
      {":time", "", false, "how long the last statement took, and how many calls it ran"},
      {":undo", "", false, "takes back the last input that changed the session"},
      {":reset", "", false, "forgets all statements and values"},
      {":quit", "", false, "leaves; so does Ctrl-D"},
  };
  return kCommands;
}

namespace {

std::string GeneralHelp() {
  std::string help =
      "Type a statement; the names it defines are shown with their types and values:\n"
      "\n"
      "  x = [0.0, 1.0]\n"
      "  y = cos(x, scale=5.0)\n"
      "  y |> exp()\n"
      "  |> sum()                    continues from the last value\n"
      "  input image: f32[N, 784]    shows types until it is fed:\n"
      "  feed image = ones([2, 784])\n"
      "\n"
      "A statement continues on the next line while a bracket or block is open. One that does\n"
      "not compile changes nothing; `:undo` takes back one whose values cannot be computed. A\n"
      "layer or attr may be redefined. Only values that a statement adds or changes are\n"
      "computed; random numbers stay the same throughout the session.\n"
      "\n"
      "The session is one run: an `update` applies to later statements. Feeding a name again "
      "begins\n"
      "the next run, in which states start from their updated values; values that depend on\n"
      "either are computed again. `feed` also takes parameters, states and `training`. A value\n"
      "may be `random`; for a ragged or sparse input, nested lists, `[[1, 2], [3]]`, or a dense\n"
      "tensor.\n"
      "\n"
      "Tab completes names, attributes (with range and default) and files. Ctrl-C clears the\n"
      "input, or ends a run.\n"
      "\n";
  for (const ReplCommand& command : ReplCommands()) {
    help += llvm::formatv("  {0,-20} {1}\n", (command.name + " " + command.argument).str(),
                          command.help);
  }
  help +=
      "\nIf standard input is not a terminal, there are no prompts, every statement is executed,\n"
      "and the exit status is 1 if one of them had an error.\n";
  return help;
}

}  // namespace

void ReplSession::Impl::Command(llvm::StringRef typed, ReplReply* reply) {
  const llvm::StringRef name = typed.take_until([](char c) { return llvm::isSpace(c); });
  const llvm::StringRef argument = typed.drop_front(name.size()).trim();
  const ReplCommand* command =
      llvm::find_if(ReplCommands(), [&](const ReplCommand& c) { return c.name == name; });
  if (command == ReplCommands().end()) {
    std::vector<llvm::StringRef> candidates;
    for (const ReplCommand& known : ReplCommands()) candidates.push_back(known.name);
    const llvm::StringRef near = NearestName(name, candidates);
    reply->error =
        llvm::formatv("no command is called '{0}'{1}", name,
                      near.empty() ? "; see ':help'" : "; did you mean '" + near.str() + "'?");
    return;
  }
  if (!command->argument.empty() && !command->is_optional && argument.empty()) {
    reply->error = llvm::formatv("expected {0} {1}", name, command->argument);
    return;
  }
  if (command->argument.empty() && !argument.empty()) {
    reply->error = llvm::formatv("{0} takes no argument", name);
    return;
  }
  auto report = [&](llvm::Error error) {
    if (error) reply->error = llvm::toString(std::move(error));
  };
  if (name == ":help") return Help(argument, reply);
  if (name == ":type") return TypeOf(argument, typed, reply);
  // A path may be quoted, as it is in statements.
  const llvm::StringRef path =
      argument.size() > 1 && argument.starts_with("\"") && argument.ends_with("\"")
          ? argument.drop_front().drop_back()
          : argument;
  if (name == ":load") return Load(path, reply);
  if (name == ":save") return Save(path, reply);
  if (name == ":device") {
    if (argument.empty()) reply->output = host.DeviceName() + "\n";
    return argument.empty() ? void() : report(host.SetDevice(argument));
  }
  if (name == ":reset") return Reset();
  if (name == ":undo") return history->Undo(*this, reply);
  if (name == ":ops") {
    std::vector<LayerSignature> layers = own_layers;
    llvm::append_range(layers, standard_layers);
    reply->output = OpListText(*request.registry, host.Width());
    if (!layers.empty()) reply->output += "\nLayers\n\n" + LayerListText(layers, host.Width());
  } else if (name == ":list") {
    llvm::SmallVector<llvm::StringRef, 16> lines;
    llvm::StringRef(text).split(lines, '\n');
    for (auto [index, line] : llvm::enumerate(llvm::ArrayRef(lines).drop_back())) {
      reply->output += llvm::formatv("{0,4} | {1}\n", index + 1, line);
    }
  } else if (name == ":time") {
    reply->output =
        llvm::formatv("compiled in {0:F2} ms; {1} call{2} run in {3:F2} ms\n", last_times.compile,
                      last_times.calls, last_times.calls == 1 ? "" : "s", last_times.run);
  } else {
    reply->quit = true;
  }
}

void ReplSession::Impl::Help(llvm::StringRef name, ReplReply* reply) {
  if (name.empty()) {
    reply->output = GeneralHelp();
    return;
  }
  for (const ReplCommand& command : ReplCommands()) {
    if (command.name != name && command.name.drop_front() != name) continue;
    reply->output = (command.name + " " + command.argument).str();
    reply->output = llvm::StringRef(reply->output).rtrim().str() + ": " + command.help.str() + "\n";
    return;
  }
  // As in a call: own layers, standard ones, operators.
  if (const LayerSignature* layer = FindLayer(name)) {
    reply->output = LayerDocText(*layer, host.Width());
    return;
  }
  if (const OpDef* def = request.registry->Find(name)) {
    reply->output = OpDocText(*def, host.Width());
    return;
  }
  auto value = names.find(name.str());
  if (value != names.end() && !value->second.empty()) {
    const Value* known = graph.FindValue(value->second);
    reply->output = (name + ": " + known->type().ToString() + "\n").str();
    if (!known->comment().empty()) reply->output += known->comment() + "\n";
    return;
  }
  std::vector<llvm::StringRef> candidates;
  const std::vector<const OpDef*> all = request.registry->All();
  for (const OpDef* def : all) candidates.push_back(def->name());
  for (const auto* layers : {&own_layers, &standard_layers}) {
    for (const LayerSignature& layer : *layers) candidates.push_back(layer.name);
  }
  const llvm::StringRef near = NearestName(name, candidates);
  reply->error =
      llvm::formatv("no operator, layer or value is called '{0}'{1}", name,
                    near.empty() ? "; see ':ops'" : "; did you mean '" + near.str() + "'?");
}

std::string ReplSession::Impl::TextToSave() const {
  std::string saved = text + comments;
  // A file without outputs would not run anything.
  if (graph.outputs().empty()) {
    for (const auto& [name, value] : llvm::reverse(names)) {
      const Value* known = value.empty() ? nullptr : graph.FindValue(value);
      if (known == nullptr || known->kind() != ValueKind::kResult) continue;
      saved += "output " + name + "\n";
      break;
    }
  }
  if (!feeds.empty()) saved += "\n# Fed values:\n";
  for (const auto& [name, expression] : feeds) {
    std::string line = "feed " + name + " = " + expression;
    for (size_t at = 0; (at = line.find('\n', at)) != std::string::npos; ++at) {
      line.replace(at, 1, "\n# ");
    }
    saved += "# " + line + "\n";
  }
  return saved;
}

void ReplSession::Impl::TypeOf(llvm::StringRef expression, llvm::StringRef typed,
                               ReplReply* reply) {
  Probe probe;
  probe.code = "output _shown = (";
  probe.code_offset = probe.code.size();
  probe.code += (expression + "\n)\n").str();
  probe.typed = typed.str();
  probe.typed_offset = static_cast<size_t>(expression.data() - typed.data());
  const Tried tried = Try(probe, reply);
  if (!tried.graph) return;
  const std::string type = tried.graph->outputs().back().value->type().ToString();
  reply->output = host.Style(ReplStyle::kType, type) + "\n";
}

void ReplSession::Impl::Save(llvm::StringRef path, ReplReply* reply) {
  // The first attempt to replace a file that the session does not know fails.
  if (own_files.insert(path).second && host.HasFile(path)) {
    reply->error = llvm::formatv("'{0}' exists; the same command again replaces it", path);
    return;
  }
  if (llvm::Error error = host.WriteFile(path, TextToSave())) {
    reply->error = llvm::toString(std::move(error));
    return;
  }
  Note("saved in " + path, reply);
}

void ReplSession::Impl::Load(llvm::StringRef path, ReplReply* reply) {
  llvm::Expected<std::string> content = host.ReadFile(path);
  if (!content) {
    reply->error = llvm::toString(content.takeError());
    return;
  }
  if (text.size() + content->size() >= SourceFile::kMaxSize) {
    reply->error = llvm::formatv("{0} is too long", path);
    return;
  }
  const std::string former = host.UseFolderOf(path);
  Probe probe;
  probe.code = *content;
  probe.typed = *content;
  probe.file = path.str();
  Tried tried = Try(probe, reply);
  if (!tried.graph) {
    host.UseFolderOf(former);
    const bool clashes = llvm::any_of(reply->diagnostics.all(), [](const Diagnostic& diagnostic) {
      return diagnostic.code == Code::kRedefined;
    });
    if (clashes) Note("`:reset` forgets what the session has", reply);
    return;
  }
  file = path.str();
  own_files.insert(path);
  const size_t old_outputs = graph.outputs().size();
  const size_t old_inputs = graph.inputs().size();
  Accept(text + *content, std::move(tried));
  std::vector<Shown> shown;
  for (const Value* input : graph.inputs().drop_front(old_inputs)) {
    shown.push_back({input->name(), input->name()});
  }
  for (const GraphOutput& output : graph.outputs().drop_front(old_outputs)) {
    shown.push_back({output.name, output.value->name()});
  }
  // An output is only a value of the file if it has the name of one.
  for (const Shown& each : shown) {
    if (names.count(each.label)) last = each.label;
  }
  Show(graph, shown, reply);
}

void ReplSession::Impl::Reset() {
  values.Clear();
  text.clear();
  ast.reset();
  comments.clear();
  last.clear();
  names.clear();
  feeds.clear();
  fed_in_run.clear();
  own_layers.clear();
  graph = Graph();
}

}  // namespace pdl
