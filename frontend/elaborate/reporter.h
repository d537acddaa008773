#ifndef PDL_FRONTEND_ELABORATE_REPORTER_H_
#define PDL_FRONTEND_ELABORATE_REPORTER_H_

#include "frontend/elaborate/elaboration_state.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Reports errors in the source: each once, with the layer calls that led to it and suggestions.
class Reporter {
 public:
  Reporter(Diagnostics* diagnostics, const Ast& ast, Position& at, Graph& graph, ModuleTable& files,
           ReportedErrors& reported)
      : diagnostics_(diagnostics),
        ast_(ast),
        at_(at),
        graph_(graph),
        files_(files),
        reported_(reported) {}

  /// The diagnostics so far, in the order in which they were reported.
  Diagnostics& diagnostics() { return *diagnostics_; }
  /// Reports an error in the current file; returns the diagnostic for adding notes. In source that
  /// is elaborated more than once, each message is reported once for a position, in a loop only the
  /// first one.
  Diagnostic& Error(Code code, SourceRange range, const llvm::Twine& message);
  /// The same in the file of the call that led to this frame.
  Diagnostic& CallerError(Code code, SourceRange place, const llvm::Twine& message);
  /// "… is not part of this version yet".
  void NotYet(SourceRange range, const llvm::Twine& what);
  /// Reports the error of an operator call at the operands or attributes that it names, with
  /// another note if `note` is not empty.
  void ReportCallError(llvm::Error error, const Call& call, llvm::StringRef note = "");
  /// Reports the error of a file that the source names at `range`. Throws std::bad_alloc if there
  /// was no memory to read it.
  void ReportFileError(llvm::Error error, SourceRange range);
  /// "x: f32[N, 2], from line 2".
  std::string NoteOnOperand(const Operand& operand);
  /// Notes the iterations of the open loops.
  void NoteLoops(Diagnostic* diagnostic, bool leave_out_innermost);
  /// Adds a note at the source location of a call of the graph.
  void NoteAtLocation(Diagnostic* diagnostic, LocationId id, std::string text);
  /// "; did you mean 'x'?". The next error, if it is reported at the name, has this as suggestion.
  std::string Suggest(llvm::StringRef name, llvm::StringRef instead);
  /// "; did you mean 'x'?" or nothing. Knows names of other libraries; see FindForeignName.
  std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  /// The same, or, if no name is similar, "; it takes x and axis": the parameters of the callee.
  std::string DidYouMeanOrTakes(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
    return DidYouMeanOrList(name, candidates, "takes");
  }
  /// The same for the parameters of a layer call: "; it has w and b".
  std::string DidYouMeanOrHas(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
    return DidYouMeanOrList(name, candidates, "has");
  }
  /// The line of the statement that defines a name.
  std::optional<uint32_t> LineThatDefines(llvm::StringRef name);

  /// Whether an unknown name may still be compared with so many candidates.
  bool MaySuggest(size_t candidates) const { return candidates <= reported_.suggestions; }
  /// The same; if it may, that counts as one comparison.
  bool SpendSuggestions(size_t candidates) {
    if (!MaySuggest(candidates)) return false;
    reported_.suggestions -= candidates;
    return true;
  }
  /// Whether no error was reported at this position, which is elaborated more than once. Ends
  /// reporting there, except for the caller's error.
  bool IsFirst(SourceRange place);
  /// Ends reporting after an error that ends the elaboration.
  void Stop() { reported_.stopped = true; }
  bool stopped() const { return reported_.stopped; }
  /// Calls `evaluate`; its errors go to `errors` and do not end the elaboration.
  Datum Catch(Diagnostics* errors, llvm::function_ref<Datum()> evaluate);

 private:
  /// Whether the error, in source that is elaborated more than once, was not reported before.
  bool IsNew(SourceRange place, const llvm::Twine& message);
  std::string DidYouMeanOrList(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates,
                               llvm::StringRef verb);
  /// For a call with too many inputs: one of them may be meant as an attribute.
  void NoteOnSurplus(const CallError& error, const Call& call, Diagnostic* diagnostic);

  /// Adds the last suggestion to an error at the name that it replaces.
  void AddSuggestion(Diagnostic* diagnostic);

  Diagnostics* diagnostics_;
  /// The last suggestion: a name, and its replacement.
  std::optional<std::pair<std::string, std::string>> suggested_;
  Diagnostic silent_;  // takes the notes of an error that was reported already
  const Ast& ast_;
  Position& at_;
  Graph& graph_;
  ModuleTable& files_;
  ReportedErrors& reported_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_REPORTER_H_
