#include "pdl/repl.h"

#include <algorithm>
#include <chrono>

#include "frontend/parser.h"
#include "frontend/repl_session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

/// The name of what is compiled only to be looked at.
constexpr llvm::StringLiteral kProbe = "_shown";

std::unique_ptr<Ast> ParseText(llvm::StringRef text, Diagnostics* diagnostics) {
  return Parse(std::make_shared<SourceFile>("", text.str()), diagnostics);
}

}  // namespace

ReplHost::~ReplHost() = default;

ReplSession::ReplSession(const OpRegistry& registry, ReplHost& host, WeightLookup find_weight)
    : impl_(std::make_unique<Impl>(registry, host, std::move(find_weight))) {}
ReplSession::~ReplSession() = default;

llvm::StringRef ReplSession::text() const { return impl_->text; }

ReplReply ReplSession::Execute(llvm::StringRef text) {
  ReplReply reply;
  const auto start = std::chrono::steady_clock::now();
  const bool is_timed = impl_->is_timed;
  impl_->Execute(text, &reply);
  if (is_timed && impl_->is_timed) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    reply.output += llvm::formatv("({0:F3} ms)\n", time.count());
  }
  return reply;
}

CompileResult ReplSession::Impl::Try(const Probe& probe, ReplReply* reply, bool quiet) {
  CompileRequest request;
  request.file = std::make_shared<SourceFile>("repl", text + probe.code);
  request.registry = &registry;
  request.find_weight = find_weight;
  CompileResult result = Compile(request);
  if (quiet || result.diagnostics.all().empty()) return result;

  const bool is_file = !probe.file.empty();
  auto shown = is_file ? std::make_shared<SourceFile>(probe.file, probe.typed)
                       : std::make_shared<SourceFile>("repl", text + probe.typed);
  const auto begin = static_cast<int64_t>(text.size());
  const auto end = static_cast<int64_t>(shown->text().size());
  const int64_t shift = static_cast<int64_t>(probe.typed_offset) -
                        static_cast<int64_t>(probe.code_offset) - (is_file ? begin : 0);
  const int64_t first = is_file ? 0 : begin;
  auto move = [&](std::shared_ptr<const SourceFile>* file, SourceRange* range) {
    if (*file != request.file || (is_file && range->begin < begin)) return;
    *file = shown;
    if (range->begin < begin) return;
    auto moved = [&](uint32_t offset) {
      return static_cast<uint32_t>(std::clamp(offset + shift, first, std::max(first, end)));
    };
    *range = {moved(range->begin), moved(range->end)};
  };
  for (const Diagnostic& diagnostic : result.diagnostics.all()) {
    // A warning about an earlier statement was shown then.
    if (diagnostic.severity == Severity::kWarning && diagnostic.primary.begin < begin) continue;
    Diagnostic copy = diagnostic;
    for (SourceRange& range : copy.secondary) {
      std::shared_ptr<const SourceFile> file = diagnostic.file;
      move(&file, &range);
    }
    for (DiagnosticNote& note : copy.notes) {
      if (note.file) move(&note.file, &note.range);
    }
    if (copy.file) move(&copy.file, &copy.primary);
    reply->diagnostics.Add(std::move(copy));
  }
  return result;
}

ReplSession::Impl::Probe ReplSession::Impl::WithComments(Probe probe) const {
  probe.code = comments + probe.code;
  probe.typed = comments + probe.typed;
  probe.code_offset += comments.size();
  probe.typed_offset += comments.size();
  return probe;
}

void ReplSession::Impl::Execute(llvm::StringRef typed, ReplReply* reply) {
  const llvm::StringRef trimmed = typed.trim();
  if (trimmed.starts_with(":")) return Command(trimmed, reply);
  Probe probe{typed.str(), typed.str()};
  if (trimmed.starts_with("|>")) {
    if (last.empty()) {
      reply->error = "there is no value yet that '|>' could go on from";
      return;
    }
    probe.code = last + " " + probe.code;
    probe.code_offset = last.size() + 1;
  }
  ExecuteAll(std::move(probe), reply);
}

void ReplSession::Impl::ExecuteAll(Probe probe, ReplReply* reply) {
  Diagnostics mistakes;
  const std::unique_ptr<Ast> ast = ParseText(probe.code, &mistakes);
  if (mistakes.has_errors()) {
    Try(probe, reply);
    return;
  }
  if (ast->statements.empty()) {
    if (llvm::StringRef(probe.code).trim().empty()) return;
    comments += probe.code;
    if (!llvm::StringRef(comments).ends_with("\n")) comments += "\n";
    return;
  }
  size_t begin = 0;
  for (size_t i = 0; i < ast->statements.size(); ++i) {
    const ast::Statement* statement = ast->statements[i];
    const bool is_last = i + 1 == ast->statements.size();
    const size_t end = is_last ? probe.code.size() : statement->range.end;
    if (ast->statements.size() > 1) {
      // Several at once: each is one of its own.
      Probe part;
      part.code = llvm::StringRef(probe.code).slice(begin, end).ltrim('\n').str();
      part.typed = part.code;
      ExecuteAll(std::move(part), reply);
      if (reply->failed()) return;
    } else if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
      ExecuteAssign(assign, probe, reply);
    } else if (const auto* feed = llvm::dyn_cast<ast::FeedStatement>(statement)) {
      ExecuteFeed(feed, probe, reply);
    } else {
      ExecuteDeclaration(statement, probe, reply);
    }
    begin = end;
  }
}

void ReplSession::Impl::Accept(llvm::StringRef code, CompileResult result) {
  text += std::exchange(comments, "");
  text += code;
  if (!llvm::StringRef(text).ends_with("\n")) text += "\n";
  num_lines = static_cast<uint32_t>(llvm::StringRef(text).count('\n'));
  graph = std::move(*result.graph);
}

void ReplSession::Impl::Remember(llvm::StringRef name, llvm::StringRef value) {
  if (name.empty() || name == "_") return;
  Named& named = names[name.str()];
  named.value = value.str();
  named.key = value.empty() ? "" : ReplValues::Key(graph, graph.FindValue(value));
}

void ReplSession::Impl::ExecuteAssign(const ast::AssignStatement* statement, const Probe& typed,
                                      ReplReply* reply) {
  const llvm::StringRef expression =
      llvm::StringRef(typed.code).slice(statement->value->range.begin, statement->value->range.end);
  CompileResult result = Try(WithComments(typed), reply);
  if (!result.graph) return;
  std::vector<Shown> shown;
  if (statement->targets.empty()) {
    last = ("(" + expression + ")").str();
    shown.push_back({"", result.last_value});
    return Show(result, shown, expression, reply);
  }
  const std::string first = result.last_value;
  Accept(typed.code, std::move(result));
  const Value* value = first.empty() ? nullptr : graph.FindValue(first);
  for (auto [index, target] : llvm::enumerate(statement->targets)) {
    if (statement->targets.size() > 1) {
      value = graph.FindValue(first)->producer()->result(static_cast<unsigned>(index));
      if (target.text == "_") continue;
    }
    shown.push_back({target.text.str(), value == nullptr ? "" : value->name()});
    Remember(target.text, shown.back().value);
  }
  last = statement->targets[0].text == "_" ? ("(" + expression + ")").str()
                                           : statement->targets[0].text.str();
  CompileResult accepted;
  accepted.graph = graph.Clone();
  Show(accepted, shown, expression, reply);
}

void ReplSession::Impl::ExecuteDeclaration(const ast::Statement* statement, const Probe& typed,
                                           ReplReply* reply) {
  CompileResult result = Try(WithComments(typed), reply);
  if (!result.graph) return;
  std::vector<Shown> shown;
  auto add = [&](llvm::StringRef name, const Value* value) {
    shown.push_back({name.str(), value == nullptr ? "" : value->name()});
    last = name.str();
  };
  Accept(typed.code, std::move(result));
  if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement)) {
    add(input->name.text, graph.FindValue(input->name.text));
  } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement)) {
    add(variable->name.text, graph.FindValue(variable->name.text));
  } else if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
    add(attr->name.text, nullptr);
  } else if (const auto* update = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
    for (const GraphUpdate& known : graph.updates()) {
      if (known.state->name() == update->name.text) add(update->name.text, known.value);
    }
  } else if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement)) {
    for (const GraphOutput& known : graph.outputs().take_back(output->bindings.size())) {
      add(known.name, known.value);
    }
  }
  for (const Shown& each : shown) Remember(each.label, each.value);
  CompileResult accepted;
  accepted.graph = graph.Clone();
  Show(accepted, shown, "", reply);
}

void ReplSession::Impl::Print(llvm::StringRef label, const Type& type, const Constant* value,
                              ReplReply* reply) {
  std::string line = label.empty() ? "" : (label + ": ").str();
  if (value == nullptr) {
    reply->output += line + type.ToString() + "\n";
    return;
  }
  const llvm::SmallVector<Dim, 4> sizes(value->sizes().begin(), value->sizes().end());
  line += Type(value->dtype(), sizes).ToString() + " =";
  const std::string elements = host.Print(*value);
  // Rows stand below each other only where the first begins a line.
  line += llvm::StringRef(elements).contains('\n') ? "\n" : " ";
  reply->output += line + elements + "\n";
}

void ReplSession::Impl::ShowConstant(const Shown& shown, llvm::StringRef expression,
                                     ReplReply* reply) {
  Probe probe;
  const llvm::StringRef value = shown.label.empty() ? expression : llvm::StringRef(shown.label);
  probe.code = ("output " + kProbe + " = (" + value + "\n)\n").str();
  CompileResult result = Try(probe, reply, /*quiet=*/true);
  // Not all constants can be tensors: a text, a dtype, a list of tensors.
  if (!result.graph) {
    if (shown.label.empty()) reply->output += (expression + "\n").str();
    return;
  }
  const std::string name = result.graph->outputs().back().value->name();
  Show(result, Shown{shown.label, name}, expression, reply);
}

void ReplSession::Impl::Show(const CompileResult& result, llvm::ArrayRef<Shown> shown,
                             llvm::StringRef expression, ReplReply* reply) {
  std::vector<std::string> wanted;
  for (const Shown& each : shown) {
    if (!each.value.empty()) wanted.push_back(each.value);
  }
  auto known = values.Get(*result.graph, num_lines, wanted);
  if (!known) reply->error = llvm::toString(known.takeError());
  size_t next = 0;
  for (const Shown& each : shown) {
    if (each.value.empty()) {
      ShowConstant(each, expression, reply);
      continue;
    }
    const Constant* value = nullptr;
    if (known && (*known)[next]) value = &*(*known)[next];
    ++next;
    Print(each.label, result.graph->FindValue(each.value)->type(), value, reply);
  }
}

void ReplSession::Impl::ExecuteFeed(const ast::FeedStatement* statement, const Probe& typed,
                                    ReplReply* reply) {
  const SourceRange path{statement->path.front().range.begin, statement->path.back().range.end};
  const std::string name = llvm::StringRef(typed.code).slice(path.begin, path.end).str();
  auto complain = [&](Code code, SourceRange range, std::string message) {
    const auto base = static_cast<uint32_t>(text.size());
    auto file = std::make_shared<SourceFile>("repl", text + typed.code);
    reply->diagnostics.Error(code, file, {range.begin + base, range.end + base},
                             std::move(message));
  };
  const Value* fed = graph.FindValue(name);
  if (fed == nullptr || fed->kind() == ValueKind::kResult) {
    std::vector<llvm::StringRef> candidates;
    for (auto list : {graph.inputs(), graph.parameters(), graph.states()}) {
      for (const Value* value : list) candidates.push_back(value->name());
    }
    const llvm::StringRef near = NearestName(name, candidates);
    return complain(Code::kUnknownName, path,
                    "no input, parameter or state is called '" + name + "'" +
                        (near.empty() ? "" : "; did you mean '" + near.str() + "'?"));
  }
  const SourceRange range = statement->value->range;
  const llvm::StringRef expression = llvm::StringRef(typed.code).slice(range.begin, range.end);
  auto compile = [&](llvm::StringRef before) {
    Probe probe = typed;
    probe.code = (before + expression + "\n").str();
    probe.code_offset = before.size();
    probe.typed_offset = range.begin;
    return Try(probe, reply);
  };
  if (!fed->type().is_plain()) {
    return complain(Code::kNotSupported, range,
                    "'" + name + "' is " + fed->type().ToString() +
                        ": running such values is not part of this version yet");
  }
  CompileResult result = compile("");
  if (!result.graph) return;
  if (result.last_value.empty()) {
    // A constant has sizes, but no dtype of its own: it takes the one that is wanted.
    result = compile(("output " + kProbe + " = ").str());
    if (!result.graph) return;
    Type type = result.graph->outputs().back().value->type();
    type.dtype = fed->type().dtype;
    result = compile((kProbe + ": " + type.ToString() + " = ").str());
    if (!result.graph) return;
  }
  auto got = values.Get(*result.graph, num_lines, result.last_value);
  if (!got) {
    reply->error = llvm::toString(got.takeError());
    return;
  }
  if (!got->front()) {
    return complain(Code::kMissingInput, range, "this depends on an input that was not fed");
  }
  const Constant& value = *got->front();
  const Type& type = fed->type();
  bool fits = value.dtype() == type.dtype && value.sizes().size() == type.dims.size();
  for (size_t i = 0; fits && i < type.dims.size(); ++i) {
    fits = !type.dims[i].is_constant() || type.dims[i].is_constant(value.sizes()[i]);
  }
  if (!fits) {
    const llvm::SmallVector<Dim, 4> sizes(value.sizes().begin(), value.sizes().end());
    return complain(Code::kInputType, range,
                    "'" + name + "' is declared " + type.ToString() + ", got " +
                        Type(value.dtype(), sizes).ToString());
  }
  const llvm::StringSet<> changed = values.Feed(graph, fed, value);
  std::vector<Shown> shown{{name, name}};
  for (const auto& [each, named] : names) {
    if (each == name || named.value.empty() || !changed.contains(named.value)) continue;
    const Value* now = graph.FindValue(named.value);
    if (now == nullptr || ReplValues::Key(graph, now) != named.key) continue;
    shown.push_back({each, named.value});
  }
  CompileResult accepted;
  accepted.graph = graph.Clone();
  Show(accepted, shown, "", reply);
}

}  // namespace pdl
