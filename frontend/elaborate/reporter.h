#ifndef PDL_FRONTEND_ELABORATE_REPORTER_H_
#define PDL_FRONTEND_ELABORATE_REPORTER_H_

#include "frontend/elaborate/elaboration_state.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pdl {

/// Reports mistakes of the text: each once, with the calls of layers that led to it, and with what
/// was probably meant.
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

  /// What was reported so far, in the order in which it was found.
  Diagnostics& diagnostics() { return *diagnostics_; }
  /// Reports a mistake in the text that is read, once for each place; returns where notes go.
  Diagnostic& Error(Code code, SourceRange range, const llvm::Twine& message);
  /// The same in the text of the call that led to this frame.
  Diagnostic& CallerError(Code code, SourceRange place, const llvm::Twine& message);
  /// "… is not part of this version yet".
  void NotYet(SourceRange range, const llvm::Twine& what);
  /// Reports what is wrong with a call of an operator at the operands or attributes that it names.
  void ReportCallError(llvm::Error error, const Call& call);
  /// "x: f32[N, 2], from line 2".
  std::string NoteOnOperand(const Operand& operand);
  /// Notes the rounds of the open loops.
  void NoteLoops(Diagnostic* diagnostic, bool leave_out_innermost);
  /// A note with the text that a call of the graph came from.
  void NoteAtLocation(Diagnostic* diagnostic, LocationId id, std::string text);
  /// "; did you mean 'x'?" or nothing.
  std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  /// The same, or, where none is near, "; it takes x and axis": what a call takes.
  std::string DidYouMeanOrTakes(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);
  /// The line of the statement that gives a name its first value.
  std::optional<uint32_t> LineThatDefines(llvm::StringRef name);

  /// Whether so many names may still be compared with an unknown one.
  bool MaySuggest(size_t candidates) const { return candidates <= reported_.suggestions; }
  /// False where a mistake at this place, which is elaborated more than once, was reported.
  bool IsFirst(SourceRange place) {
    return reported_.places.insert({at_.file.get(), place.begin}).second;
  }
  /// After an error that ends everything, what is left is silent.
  void Stop() { reported_.stopped = true; }
  bool stopped() const { return reported_.stopped; }
  /// Calls `evaluate`, whose mistakes go to `mistakes` and end nothing.
  Datum Catch(Diagnostics* mistakes, llvm::function_ref<Datum()> evaluate);

 private:
  Diagnostics* diagnostics_;
  Diagnostic silent_;  // takes the notes of a mistake that is known already
  const Ast& ast_;
  Position& at_;
  Graph& graph_;
  ModuleTable& files_;
  ReportedErrors& reported_;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_REPORTER_H_
