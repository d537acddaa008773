// Taking back inputs of a session: `:undo`.
#ifndef PDL_FRONTEND_REPL_REPL_UNDO_H_
#define PDL_FRONTEND_REPL_REPL_UNDO_H_

#include <deque>
#include <string>

#include "frontend/repl/repl_session.h"

namespace pdl {

/// The states of a session before each of its last inputs, apart from inputs that changed nothing.
class ReplSession::Impl::History {
 public:
  /// Executes an input and remembers the state before it.
  void Execute(llvm::StringRef typed, Impl& session, ReplReply* reply);
  /// Restores the state before the last input that changed the session. Changes nothing if its
  /// source no longer compiles, since an imported file has changed.
  void Undo(Impl& session, ReplReply* reply);

 private:
  /// A state: the source and the fed values. Everything else follows from them.
  struct State {
    std::string text, comments, last, file;
    llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> feeds;
    llvm::StringSet<> fed_in_run;
    ReplValues::Givens givens;
    bool training;
    /// The input that was executed next.
    std::string input;
  };
  static bool Equal(const State& state, const Impl& session);

  /// The latest is the last.
  std::deque<State> states_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_REPL_UNDO_H_
