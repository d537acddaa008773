// `feed` in a session.
#include "frontend/elaborate/packed_literal.h"
#include "frontend/repl/repl_session.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

/// The statement that declares the input; null if there is none.
const ast::Statement* FindInput(const Ast& ast, llvm::StringRef name) {
  for (const ast::Statement* statement : ast.statements) {
    const auto* input = llvm::dyn_cast<ast::InputStatement>(statement);
    if (input != nullptr && input->name.text == name) return statement;
  }
  return nullptr;
}

}  // namespace

void ReplSession::Impl::ReportError(Code code, SourceRange place, std::string message,
                                    const Probe& typed, ReplReply* reply) {
  const auto base = static_cast<uint32_t>(text.size());
  auto file = std::make_shared<SourceFile>("repl", text + typed.code);
  reply->diagnostics.Error(code, file, {place.begin + base, place.end + base}, std::move(message));
}

void ReplSession::Impl::FeedTraining(llvm::StringRef expression, SourceRange range,
                                     const Probe& typed, ReplReply* reply) {
  if (expression != "true" && expression != "false") {
    return ReportError(Code::kInputType, range, "'training' is true or false", typed, reply);
  }
  const llvm::StringMap<uint64_t> before = DescribeNames();
  values.SetTraining(expression == "true");
  feeds["training"] = expression.str();
  Note("training = " + expression, reply);
  Show(graph, ChangedSince(before), reply);
}

std::optional<PackedConstant> ReplSession::Impl::FedValue(const Value& fed, SourceRange range,
                                                          const Probe& typed, ReplReply* reply) {
  const Type& type = fed.type();
  const llvm::StringRef expression = llvm::StringRef(typed.code).slice(range.begin, range.end);
  auto report = [&](Code code, std::string message) -> std::optional<PackedConstant> {
    ReportError(code, range, std::move(message), typed, reply);
    return std::nullopt;
  };
  if (expression == "random" && names.count("random") == 0) {
    const llvm::StringMap<int64_t> sizes = values.KnownSizes(graph, fed);
    auto size = [&](llvm::StringRef symbol) -> std::optional<int64_t> {
      const auto known = sizes.find(symbol);
      return known == sizes.end() ? std::nullopt : std::optional(known->second);
    };
    llvm::Expected<PackedConstant> sampled = host.Draw(fed, size);
    if (!sampled) return report(Code::kInputType, llvm::toString(sampled.takeError()));
    return std::move(*sampled);
  }
  Probe probe = typed;
  probe.code = (expression + "\n").str();
  probe.code_offset = 0;
  probe.typed_offset = range.begin;
  const Tried tried = Try(probe, reply);
  if (!tried.graph) return std::nullopt;
  if (tried.last_value.empty()) {
    // A constant without a dtype takes the required one.
    const Datum& constant = tried.constant;
    if (!constant.is_literal()) {
      return report(Code::kOperandKind,
                    "'" + fed.name() + "' is fed a tensor, got " + constant.Phrase());
    }
    llvm::Expected<PackedConstant> read = [&]() -> llvm::Expected<PackedConstant> {
      if (!type.is_plain()) return ToPacked(constant, type);
      llvm::Expected<Constant> dense = ToConstant(constant, type.dtype);
      if (!dense) return dense.takeError();
      return PackedConstant(std::move(*dense));
    }();
    if (!read) {
      return report(Code::kLiteral, "'" + fed.name() + "': " + llvm::toString(read.takeError()));
    }
    return std::move(*read);
  }
  auto got = values.Get(*tried.graph, tried.last_value);
  if (!got) {
    ReportFailure(got.takeError(), host, reply);
    return std::nullopt;
  }
  if (!got->front().value) {
    return report(Code::kMissingInput,
                  "this depends on '" + got->front().missing.front() + "', which was not fed");
  }
  PackedConstant& value = *got->front().value;
  if (type.is_plain() || !value.type.is_plain()) return std::move(value);
  llvm::Expected<PackedConstant> packed = Pack(value.values, type);
  if (packed) return std::move(*packed);
  return report(Code::kInputType, "'" + fed.name() + "': " + llvm::toString(packed.takeError()));
}

void ReplSession::Impl::ExecuteFeed(const ast::FeedStatement* statement, const Probe& typed,
                                    ReplReply* reply) {
  const SourceRange path{statement->path.front().range.begin, statement->path.back().range.end};
  const std::string name = llvm::StringRef(typed.code).slice(path.begin, path.end).str();
  const SourceRange range = statement->value->range;
  const llvm::StringRef expression = llvm::StringRef(typed.code).slice(range.begin, range.end);
  const Value* fed = graph.FindValue(name);
  if (fed != nullptr && fed->kind() == ValueKind::kResult) fed = nullptr;
  if (fed == nullptr && name == "training") return FeedTraining(expression, range, typed, reply);
  if (fed == nullptr) {
    std::vector<llvm::StringRef> candidates;
    for (auto list : {graph.inputs(), graph.parameters(), graph.states()}) {
      for (const Value* value : list) candidates.push_back(value->name());
    }
    const llvm::StringRef near = NearestName(name, candidates);
    return ReportError(Code::kUnknownName, path,
                       "no input, parameter or state is called '" + name + "'" +
                           (near.empty() ? "" : "; did you mean '" + near.str() + "'?"),
                       typed, reply);
  }
  std::optional<PackedConstant> value = FedValue(*fed, range, typed, reply);
  if (!value) return;
  if (std::string misfit = ReplValues::Misfit(name, fed->type(), *value); !misfit.empty()) {
    return ReportError(Code::kInputType, range, std::move(misfit), typed, reply);
  }
  const llvm::StringMap<uint64_t> before = DescribeNames();
  const ReplValues::Givens givens = values.givens();
  const bool is_next_run = fed_in_run.contains(name);
  if (is_next_run) {
    // Feeding a name again begins the next run.
    if (llvm::Error error = values.Advance(graph)) {
      ReportFailure(std::move(error), host, reply);
      return;
    }
  }
  values.Feed(fed, std::move(*value));
  std::vector<Shown> shown = ChangedSince(before);
  llvm::erase_if(shown, [&](const Shown& each) { return each.value == name; });
  shown.insert(shown.begin(), {name, name});
  Show(graph, shown, reply);
  if (reply->failed()) {
    // A failed run changes nothing.
    reply->output.clear();
    reply->values.clear();
    values.Restore(givens);
    return;
  }
  if (is_next_run) fed_in_run.clear();
  fed_in_run.insert(name);
  feeds[name] = expression.str();
  values.KeepOnly(graph);
}

ReplReply ReplSession::Share(llvm::StringRef name, PackedConstant value) {
  ReplReply reply;
  Impl& session = *impl_;
  const Value* given = session.graph.FindValue(name);
  const bool is_fed = given != nullptr && given->kind() != ValueKind::kResult;
  const std::string misfit = is_fed ? ReplValues::Misfit(name, given->type(), value) : "";
  if (is_fed && given->kind() != ValueKind::kInput && !misfit.empty()) {
    reply.error = misfit;
    return reply;
  }
  if (!is_fed || !misfit.empty()) {
    const std::string code = ("input " + name + ": " + value.type.ToString() + "\n").str();
    const ast::Statement* old = is_fed ? FindInput(*session.ast, name) : nullptr;
    std::string whole =
        old == nullptr ? session.text + code : ReplaceStatement(session.text, *old, code);
    Impl::Tried tried = session.CompileAll(whole, &reply.diagnostics);
    if (!tried.graph) return reply;
    // Warnings were shown when the statements were accepted.
    reply.diagnostics = Diagnostics();
    session.Accept(std::move(whole), std::move(tried));
  }
  session.values.Feed(session.graph.FindValue(name), std::move(value));
  return reply;
}

}  // namespace pdl
