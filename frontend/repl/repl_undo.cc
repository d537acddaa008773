#include "frontend/repl/repl_undo.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"

namespace pdl {
namespace {

constexpr size_t kMaxStates = 100;

}  // namespace

void ReplSession::Impl::History::Execute(llvm::StringRef typed, Impl& session, ReplReply* reply) {
  State before;
  before.text = session.text;
  before.comments = session.comments;
  before.last = session.last;
  before.file = session.file;
  before.feeds = session.feeds;
  before.fed_in_run = session.fed_in_run;
  before.givens = session.values.givens();
  before.training = session.values.training();
  before.input = typed.trim().str();
  const size_t num_states = states_.size();
  session.Execute(typed, reply);
  const bool was_undo = states_.size() < num_states;
  if (was_undo || Equal(before, session)) return;
  states_.push_back(std::move(before));
  if (states_.size() > kMaxStates) states_.pop_front();
}

bool ReplSession::Impl::History::Equal(const State& state, const Impl& session) {
  const ReplValues::Givens& givens = session.values.givens();
  const bool has_same_givens =
      givens.size() == state.givens.size() && llvm::all_of(givens, [&](const auto& given) {
        const auto former = state.givens.find(given.first());
        return former != state.givens.end() && former->second.version == given.second.version;
      });
  return has_same_givens && session.text == state.text && session.comments == state.comments &&
         session.file == state.file && session.values.training() == state.training;
}

void ReplSession::Impl::History::Undo(Impl& session, ReplReply* reply) {
  if (states_.empty()) {
    reply->error = "nothing is left to undo";
    return;
  }
  State& state = states_.back();
  session.host.UseFolderOf(state.file);
  Tried tried = session.CompileAll(state.text, &reply->diagnostics);
  if (!tried.graph) {
    session.host.UseFolderOf(session.file);
    return;
  }
  // Warnings were shown when the statements were accepted.
  reply->diagnostics = Diagnostics();
  const llvm::StringMap<uint64_t> before = session.DescribeNames();
  session.values.Restore(std::move(state.givens));
  session.values.SetTraining(state.training);
  session.Accept(std::move(state.text), std::move(tried));
  session.comments = std::move(state.comments);
  session.last = std::move(state.last);
  session.file = std::move(state.file);
  session.feeds = std::move(state.feeds);
  session.fed_in_run = std::move(state.fed_in_run);
  const auto [first, rest] = llvm::StringRef(state.input).split('\n');
  session.Note("undone: " + first.rtrim() + (rest.empty() ? "" : " …"), reply);
  states_.pop_back();
  session.Show(session.graph, session.ChangedSince(before), reply);
}

}  // namespace pdl
