#include "pdl/compiler/repl.h"

#include <algorithm>
#include <chrono>

#include "frontend/elaborate/elaborator.h"
#include "frontend/repl/repl_session.h"
#include "frontend/repl/repl_undo.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace pdl {
namespace {

std::unique_ptr<Ast> ParseText(llvm::StringRef text, Diagnostics* diagnostics) {
  return Parse(std::make_shared<SourceFile>("", text.str()), diagnostics);
}

/// Collects the names that a statement assigns, including nested blocks.
void CollectNames(const ast::Statement* statement, std::vector<std::string>* names) {
  auto add = [&](const ast::Identifier& name) {
    if (name.text != "_" && !llvm::is_contained(*names, name.text)) {
      names->push_back(name.text.str());
    }
  };
  auto add_block = [&](const ast::Block& block) {
    for (const ast::Statement* inner : block.statements) CollectNames(inner, names);
  };
  if (const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement)) {
    llvm::for_each(assign->targets, add);
  } else if (const auto* input = llvm::dyn_cast<ast::InputStatement>(statement)) {
    add(input->name);
  } else if (const auto* variable = llvm::dyn_cast<ast::VariableStatement>(statement)) {
    add(variable->name);
  } else if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) {
    add(attr->name);
  } else if (const auto* update = llvm::dyn_cast<ast::UpdateStatement>(statement)) {
    add(update->name);
  } else if (const auto* branch = llvm::dyn_cast<ast::IfStatement>(statement)) {
    for (const ast::Branch& each : branch->branches) add_block(each.block);
  } else if (const auto* loop = llvm::dyn_cast<ast::ForStatement>(statement)) {
    add_block(loop->body);
  }
}

/// The name of a declaration that may be redefined.
llvm::StringRef RedefinableName(const ast::Statement* statement) {
  if (const auto* layer = llvm::dyn_cast<ast::LayerStatement>(statement)) return layer->name.text;
  if (const auto* layer = llvm::dyn_cast<ast::LayerInstanceStatement>(statement)) {
    return layer->name.text;
  }
  if (const auto* attr = llvm::dyn_cast<ast::AttrStatement>(statement)) return attr->name.text;
  return "";
}

/// The command that a single word means in other programs; empty if none.
llvm::StringRef MeantCommand(llvm::StringRef word) {
  if (word == "exit" || word == "exit()" || word == "quit()") return ":quit";
  if (word == "?" || word == "help()") return ":help";
  for (const ReplCommand& command : ReplCommands())
    if (command.name.drop_front() == word) return command.name;
  return "";
}

}  // namespace

std::string ReplaceStatement(llvm::StringRef text, const ast::Statement& old,
                             llvm::StringRef code) {
  llvm::StringRef head = text.take_front(old.range.begin);
  // Includes the documentation of the old statement.
  while (!old.doc.empty()) {
    const llvm::StringRef above = head.rtrim(" \n");
    const size_t line = above.rfind('\n') + 1;
    if (!above.drop_front(line).ltrim().starts_with("##")) break;
    head = head.take_front(line);
  }
  return (head + code.rtrim("\n") + text.drop_front(old.range.end)).str();
}

ReplHost::~ReplHost() = default;
std::vector<std::string> ReplHost::ListFiles(llvm::StringRef, bool) { return {}; }
llvm::Expected<PackedConstant> ReplHost::Draw(const Value&, SizeOfSymbol) {
  return llvm::createStringError("there are no random values here");
}
std::optional<Diagnostic> ReplHost::DiagnosticOf(const llvm::ErrorInfoBase&) {
  return std::nullopt;
}
std::string ReplHost::Style(ReplStyle, llvm::StringRef text) { return text.str(); }

ReplSession::ReplSession(CompileRequest request, ReplHost& host)
    : impl_(std::make_unique<Impl>(std::move(request), host)) {}
ReplSession::~ReplSession() = default;

llvm::StringRef ReplSession::text() const { return impl_->text; }

std::vector<std::string> ReplSession::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : impl_->names) names.push_back(name);
  return names;
}

ReplReply ReplSession::Execute(llvm::StringRef text) {
  ReplReply reply;
  impl_->history->Execute(text, *impl_, &reply);
  return reply;
}

ReplSession::Impl::Impl(CompileRequest request_in, ReplHost& host_in)
    : request(std::move(request_in)),
      host(host_in),
      values(host_in),
      history(std::make_unique<History>()) {
  if (request.library != nullptr) standard_layers = DescribeLayers(*request.library);
}

ReplSession::Impl::~Impl() = default;

void ReportFailure(llvm::Error error, ReplHost& host, ReplReply* reply) {
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& each) {
    if (std::optional<Diagnostic> diagnostic = host.DiagnosticOf(each)) {
      reply->diagnostics.Add(std::move(*diagnostic));
    } else {
      reply->error = each.message();
    }
  });
}

// ---------------------------------------------------------------------------------------------
// Compiling

ReplSession::Impl::Tried ReplSession::Impl::CompileAll(std::string whole,
                                                       Diagnostics* diagnostics) {
  const auto start = std::chrono::steady_clock::now();
  request.file = std::make_shared<SourceFile>("repl", std::move(whole));
  Tried tried;
  tried.ast = Parse(request.file, diagnostics);
  Elaborator elaborator(request, *tried.ast, diagnostics);
  Graph made = elaborator.Run();
  if (!diagnostics->has_errors()) {
    tried.graph = std::move(made);
    tried.last_value = elaborator.last_value();
    for (const CallResult& result : elaborator.last_results()) {
      if (const Value* tensor = result.datum.tensor()) {
        tried.results.emplace_back(result.name, tensor->name());
      }
      if (tried.results.empty()) tried.constant = result.datum;
    }
    tried.names = elaborator.names();
    // In source order, as far as values determine it; constants first.
    llvm::sort(tried.names, [&](const auto& a, const auto& b) {
      auto place = [&](const auto& entry) {
        const Value* value = tried.graph->FindValue(entry.second);
        return std::pair(value == nullptr ? 0 : tried.graph->number(value) + 1, entry.first);
      };
      return place(a) < place(b);
    });
  }
  diagnostics->Sort();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  times.compile += time.count();
  return tried;
}

ReplSession::Impl::Tried ReplSession::Impl::Try(const Probe& probe, ReplReply* reply) {
  Diagnostics diagnostics;
  Tried tried = CompileAll(text + probe.code, &diagnostics);
  if (reply == nullptr || diagnostics.all().empty()) return tried;

  const std::shared_ptr<const SourceFile> compiled = request.file;
  const bool is_file = !probe.file.empty();
  auto shown = is_file ? std::make_shared<SourceFile>(probe.file, probe.typed)
                       : std::make_shared<SourceFile>("repl", text + probe.typed);
  const auto begin = static_cast<int64_t>(text.size());
  const auto end = static_cast<int64_t>(shown->text().size());
  const int64_t shift = static_cast<int64_t>(probe.typed_offset) -
                        static_cast<int64_t>(probe.code_offset) - (is_file ? begin : 0);
  const int64_t first = is_file ? 0 : begin;
  auto move = [&](std::shared_ptr<const SourceFile>* file, SourceRange* range) {
    if (*file != compiled || (is_file && range->begin < begin)) return;
    *file = shown;
    if (range->begin < begin) return;
    auto moved = [&](uint32_t offset) {
      return static_cast<uint32_t>(std::clamp(offset + shift, first, std::max(first, end)));
    };
    *range = {moved(range->begin), moved(range->end)};
  };
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    // A warning or a note about an earlier statement was shown before.
    if (diagnostic.severity != Severity::kError && diagnostic.file == compiled &&
        diagnostic.primary.begin < begin) {
      continue;
    }
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
  return tried;
}

ReplSession::Impl::Probe ReplSession::Impl::WithComments(Probe probe) const {
  probe.code = comments + probe.code;
  probe.typed = comments + probe.typed;
  probe.code_offset += comments.size();
  probe.typed_offset += comments.size();
  return probe;
}

void ReplSession::Impl::Accept(std::string whole, Tried tried) {
  text = std::move(whole);
  if (!text.empty() && !llvm::StringRef(text).ends_with("\n")) text += "\n";
  ast = std::move(tried.ast);
  graph = std::move(*tried.graph);
  llvm::StringSet<> present;
  for (const auto& [name, value] : tried.names) {
    present.insert(name);
    names[name] = value;
  }
  names.remove_if([&](const auto& entry) { return !present.contains(entry.first); });
  values.KeepOnly(graph);
  own_layers.clear();
  Diagnostics ignored;
  own_layers = DescribeLayers(ast->file, &ignored);
  for (const ast::Statement* statement : ast->statements) {
    const auto* import = llvm::dyn_cast<ast::ImportStatement>(statement);
    if (import != nullptr) llvm::append_range(own_layers, LayersOf(import));
  }
}

std::vector<LayerSignature> ReplSession::Impl::LayersOf(const ast::ImportStatement* import) const {
  std::vector<LayerSignature> layers;
  if (!request.read_file) return layers;
  llvm::Expected<std::shared_ptr<const SourceFile>> file = request.read_file(import->path.value);
  if (!file) {
    llvm::consumeError(file.takeError());
    return layers;
  }
  Diagnostics ignored;
  layers = DescribeLayers(*file, &ignored);
  if (const llvm::StringRef as = import->as.text; !as.empty()) {
    for (LayerSignature& layer : layers) layer.name = (as + "." + layer.name).str();
    layers.insert(layers.begin(), DescribeNetwork(*file, as, &ignored));
  }
  return layers;
}

const LayerSignature* ReplSession::Impl::FindLayer(llvm::StringRef name) const {
  for (const auto* layers : {&own_layers, &standard_layers}) {
    auto found =
        llvm::find_if(*layers, [&](const LayerSignature& layer) { return layer.name == name; });
    if (found != layers->end()) return &*found;
  }
  return nullptr;
}

// ---------------------------------------------------------------------------------------------
// Statements

void ReplSession::Impl::Execute(llvm::StringRef typed, ReplReply* reply) {
  const llvm::StringRef trimmed = typed.trim();
  if (trimmed.starts_with(":")) return Command(trimmed, reply);
  if (const llvm::StringRef command = MeantCommand(trimmed);
      !command.empty() && names.count(trimmed.str()) == 0) {
    reply->error =
        llvm::formatv("no value is called '{0}'; the command is '{1}'", trimmed, command);
    return;
  }
  times = Times();
  values.ClearCounts();
  Probe probe{typed.str(), typed.str()};
  if (trimmed.starts_with("|>")) {
    if (last.empty()) {
      reply->error = "there is no value yet for '|>' to continue from";
      return;
    }
    probe.code = last + " " + probe.code;
    probe.code_offset = last.size() + 1;
  }
  ExecuteAll(std::move(probe), reply);
  if (times.compile == 0) return;
  times.run = values.milliseconds();
  times.calls = values.num_calls();
  last_times = times;
}

void ReplSession::Impl::ExecuteAll(Probe probe, ReplReply* reply) {
  Diagnostics errors;
  const std::unique_ptr<Ast> parsed = ParseText(probe.code, &errors);
  if (errors.has_errors()) {
    Try(probe, reply);
    return;
  }
  if (parsed->statements.empty()) {
    if (llvm::StringRef(probe.code).trim().empty()) return;
    comments += probe.code;
    if (!llvm::StringRef(comments).ends_with("\n")) comments += "\n";
    return;
  }
  if (parsed->statements.size() == 1) {
    const ast::Statement* statement = parsed->statements[0];
    if (const auto* feed = llvm::dyn_cast<ast::FeedStatement>(statement)) {
      return ExecuteFeed(feed, probe, reply);
    }
    const auto* assign = llvm::dyn_cast<ast::AssignStatement>(statement);
    if (assign != nullptr && assign->targets.empty()) {
      return ExecuteExpression(assign, probe, reply);
    }
    if (!Redefine(statement, probe, reply)) ExecuteStatement(statement, probe, reply);
    return;
  }
  // Several statements are executed separately.
  size_t begin = 0;
  for (const ast::Statement* statement : parsed->statements) {
    const bool is_last = statement == parsed->statements.back();
    const size_t end = is_last ? probe.code.size() : statement->range.end;
    Probe part;
    part.code = llvm::StringRef(probe.code).slice(begin, end).ltrim('\n').str();
    part.typed = part.code;
    ExecuteAll(std::move(part), reply);
    if (reply->failed()) return;
    begin = end;
  }
}

void ReplSession::Impl::ExecuteExpression(const ast::AssignStatement* statement, const Probe& typed,
                                          ReplReply* reply) {
  const llvm::StringRef expression =
      llvm::StringRef(typed.code).slice(statement->value->range.begin, statement->value->range.end);
  const Tried tried = Try(WithComments(typed), reply);
  if (!tried.graph) return;
  last = ("(" + expression + ")").str();
  std::vector<Shown> shown;
  const size_t count = tried.results.size();
  for (const auto& [index, result] : llvm::enumerate(tried.results)) {
    const auto& [name, value] = result;
    // All results of a repeated output have the same name.
    const bool is_repeated = count > 1 && tried.results.front().first == tried.results.back().first;
    shown.push_back({count == 1    ? ""
                     : is_repeated ? llvm::formatv("{0} ({1} of {2})", name, index + 1, count).str()
                                   : name,
                     value});
  }
  if (shown.empty()) return ShowConstant(tried, expression, reply);
  Show(*tried.graph, shown, reply);
}

void ReplSession::Impl::ExecuteStatement(const ast::Statement* statement, const Probe& typed,
                                         ReplReply* reply) {
  Tried tried = Try(WithComments(typed), reply);
  if (!tried.graph) return;
  std::vector<std::string> given;
  CollectNames(statement, &given);
  std::vector<Shown> shown;
  const llvm::StringMap<uint64_t> before = DescribeNames();
  Accept(text + std::exchange(comments, "") + typed.code, std::move(tried));
  for (const std::string& name : given) {
    // The counter of a loop is a separate constant.
    if (names.count(name)) shown.push_back({name, names[name]});
  }
  if (const auto* output = llvm::dyn_cast<ast::OutputStatement>(statement)) {
    for (const GraphOutput& known : graph.outputs().take_back(output->bindings.size())) {
      shown.push_back({known.name, known.value->name()});
    }
  }
  if (statement->kind == ast::StatementKind::kLoad) shown = ChangedSince(before);
  // Of several results, the first is the value of the call.
  const bool is_assign = statement->kind == ast::StatementKind::kAssign;
  for (const Shown& each : shown) {
    if (names.count(each.label) && !(is_assign && &each != shown.data())) last = each.label;
  }
  Acknowledge(statement, reply);
  Show(graph, shown, reply);
}

bool ReplSession::Impl::Redefine(const ast::Statement* statement, const Probe& typed,
                                 ReplReply* reply) {
  const llvm::StringRef name = RedefinableName(statement);
  if (name.empty() || ast == nullptr) return false;
  auto old = llvm::find_if(ast->statements, [&](const ast::Statement* s) {
    return s->kind == statement->kind && RedefinableName(s) == name;
  });
  if (old == ast->statements.end()) return false;
  const std::string whole = ReplaceStatement(text, **old, comments + typed.code);
  Tried tried = CompileAll(whole, &reply->diagnostics);
  if (!tried.graph) return true;
  comments.clear();
  const llvm::StringMap<uint64_t> before = DescribeNames();
  Accept(whole, std::move(tried));
  Acknowledge(statement, reply);
  std::vector<Shown> shown = ChangedSince(before);
  if (statement->kind == ast::StatementKind::kAttr) shown.insert(shown.begin(), {name.str(), ""});
  Show(graph, shown, reply);
  return true;
}

}  // namespace pdl
