// The commands of a session, which begin with ':'.
#include "frontend/repl_session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "pdl/op_docs.h"

namespace pdl {

llvm::ArrayRef<ReplCommand> ReplCommands() {
  static constexpr ReplCommand kCommands[] = {
      {":help", "[NAME]", "this text, or all about the operator NAME"},
      {":ops", "", "all operators, a line each"},
      {":type", "EXPRESSION", "the type of an expression, which is not run"},
      {":list", "", "the statements accepted so far, with their line numbers"},
      {":save", "FILE.pdl", "writes them as a file that `pdl run` takes"},
      {":load", "FILE.pdl", "adds the statements of a file; weights are looked up beside it"},
      {":device", "NAME", "runs on cpu, cuda or cuda:1 from here on"},
      {":time", "", "shows how long each statement takes, or stops doing so"},
      {":reset", "", "forgets all statements and values"},
      {":quit", "", "leaves; so does Ctrl-D"},
  };
  return kCommands;
}

namespace {

std::string GeneralHelp() {
  std::string help =
      "Type a statement, and what it defines is shown with its type and value:\n"
      "\n"
      "  x = [0.0, 1.0]\n"
      "  y = cos(x, scale=5.0)\n"
      "  y |> exp()\n"
      "  |> sum()                    goes on from the last value\n"
      "  input image: f32[N, 784]    a value is fed, and what depends on it is run anew:\n"
      "  feed image = ones([2, 784])\n"
      "\n"
      "A statement goes on to the next line while a bracket is open. One with a mistake changes\n"
      "nothing. Random numbers stay the same for the whole session. Tab completes names of\n"
      "operators, attributes and values. Ctrl-C clears what is being typed, or ends a run.\n"
      "\n";
  for (const ReplCommand& command : ReplCommands()) {
    help += llvm::formatv("  {0,-20} {1}\n", (command.name + " " + command.argument).str(),
                          command.help);
  }
  help +=
      "\nWhere standard input is no terminal there are no prompts, every statement is executed,\n"
      "and the exit status is 1 if one of them had a mistake.\n";
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
  const bool wants_argument = !command->argument.empty() && name != ":help";
  if (wants_argument && argument.empty()) {
    reply->error = llvm::formatv("wanted {0} {1}", name, command->argument);
    return;
  }
  if (command->argument.empty() && !argument.empty()) {
    reply->error = llvm::formatv("{0} takes nothing after it", name);
    return;
  }
  auto report = [&](llvm::Error error) {
    if (error) reply->error = llvm::toString(std::move(error));
  };
  if (name == ":help") return Help(argument, reply);
  if (name == ":type") return TypeOf(argument, typed, reply);
  if (name == ":load") return Load(argument, reply);
  if (name == ":save") return report(host.WriteFile(argument, text));
  if (name == ":device") return report(host.SetDevice(argument));
  if (name == ":reset") return Reset();
  if (name == ":ops") {
    reply->output = OpListText(registry, host.Width());
  } else if (name == ":list") {
    llvm::SmallVector<llvm::StringRef, 16> lines;
    llvm::StringRef(text).split(lines, '\n');
    for (auto [index, line] : llvm::enumerate(llvm::ArrayRef(lines).drop_back())) {
      reply->output += llvm::formatv("{0,4} | {1}\n", index + 1, line);
    }
  } else if (name == ":time") {
    is_timed = !is_timed;
    reply->output = is_timed ? "times are shown\n" : "times are not shown any more\n";
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
  if (const OpDef* def = registry.Find(name)) {
    reply->output = OpDocText(*def, host.Width());
    return;
  }
  std::vector<llvm::StringRef> candidates;
  const std::vector<const OpDef*> all = registry.All();
  for (const OpDef* def : all) candidates.push_back(def->name());
  const llvm::StringRef near = NearestName(name, candidates);
  reply->error =
      llvm::formatv("no operator is called '{0}'{1}", name,
                    near.empty() ? "; see ':ops'" : "; did you mean '" + near.str() + "'?");
}

void ReplSession::Impl::TypeOf(llvm::StringRef expression, llvm::StringRef typed,
                               ReplReply* reply) {
  Probe probe;
  probe.code = "output _shown = (";
  probe.code_offset = probe.code.size();
  probe.code += (expression + "\n)\n").str();
  probe.typed = typed.str();
  probe.typed_offset = static_cast<size_t>(expression.data() - typed.data());
  const CompileResult result = Try(probe, reply);
  if (!result.graph) return;
  reply->output = result.graph->outputs().back().value->type().ToString() + "\n";
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
  Probe probe;
  probe.code = *content;
  probe.typed = *content;
  probe.file = path.str();
  CompileResult result = Try(probe, reply);
  if (!result.graph) return;
  const size_t old_outputs = graph.outputs().size();
  const size_t old_inputs = graph.inputs().size();
  Accept(*content, std::move(result));
  std::vector<Shown> shown;
  for (const Value* input : graph.inputs().drop_front(old_inputs)) {
    shown.push_back({input->name(), input->name()});
  }
  for (const GraphOutput& output : graph.outputs().drop_front(old_outputs)) {
    shown.push_back({output.name, output.value->name()});
  }
  for (const Shown& each : shown) Remember(each.label, each.value);
  if (!shown.empty()) last = shown.back().label;
  CompileResult accepted;
  accepted.graph = graph.Clone();
  Show(accepted, shown, "", reply);
}

void ReplSession::Impl::Reset() {
  values.Clear();
  text.clear();
  comments.clear();
  last.clear();
  names.clear();
  num_lines = 0;
  graph = Graph();
}

}  // namespace pdl
