#ifndef PDL_FRONTEND_REPL_REPL_SESSION_H_
#define PDL_FRONTEND_REPL_REPL_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/repl/repl_values.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/repl.h"

namespace pdl {

/// A command of the session: ":type".
struct ReplCommand {
  llvm::StringRef name;
  llvm::StringRef argument;  // as the help calls it, or empty
  bool is_optional;          // the argument
  llvm::StringRef help;
};
llvm::ArrayRef<ReplCommand> ReplCommands();

/// "fc(xs...: F[..., D], size: int > 0) -> y".
std::string CallOf(const LayerSignature& layer);

struct ReplSession::Impl {
  Impl(CompileRequest request_in, ReplHost& host_in);

  /// Text that is compiled after the accepted one, in place of what the user sees of it.
  struct Probe {
    std::string code;
    /// What was typed, and the byte of it that stands at byte `code_offset` of the code.
    std::string typed;
    size_t code_offset = 0;
    size_t typed_offset = 0;
    /// What messages call the text, where it is a file of its own.
    std::string file{};
  };
  /// What came of a text.
  struct Tried {
    std::optional<Graph> graph;  // absent where there are mistakes
    std::string last_value;      // as in CompileResult
    /// Of the last statement, where it is an expression: tensors by name, and where the first
    /// result is a constant, that.
    std::vector<std::pair<std::string, std::string>> results;
    Datum constant;
    std::vector<std::pair<std::string, std::string>> names;
    std::unique_ptr<Ast> ast;  // which a constant refers to
  };
  /// Compiles the accepted text and the probe; mistakes go to the reply, if there is one.
  Tried Try(const Probe& probe, ReplReply* reply);
  Tried CompileAll(std::string whole, Diagnostics* diagnostics);

  // --- repl.cc: statements -------------------------------------------------------------------
  void Execute(llvm::StringRef text, ReplReply* reply);
  /// The same after the comments that wait.
  Probe WithComments(Probe probe) const;
  /// Executes the statements of a text; the first mistake ends it.
  void ExecuteAll(Probe probe, ReplReply* reply);
  void ExecuteExpression(const ast::AssignStatement* statement, const Probe& probe,
                         ReplReply* reply);
  void ExecuteStatement(const ast::Statement* statement, const Probe& probe, ReplReply* reply);
  void ExecuteFeed(const ast::FeedStatement* statement, const Probe& probe, ReplReply* reply);
  void FeedTraining(llvm::StringRef expression, SourceRange range, const Probe& probe,
                    ReplReply* reply);
  /// What a `feed` gives; nullopt where a mistake was reported.
  std::optional<PackedConstant> FedValue(const Value& fed, SourceRange range, const Probe& probe,
                                         ReplReply* reply);
  /// Reports a mistake at a place of what was typed.
  void Complain(Code code, SourceRange place, std::string message, const Probe& probe,
                ReplReply* reply);
  /// Puts a layer or attr in the place of the accepted one of that name; false where there is none.
  bool Redefine(const ast::Statement* statement, const Probe& probe, ReplReply* reply);
  /// From here on, that is the text.
  void Accept(std::string whole, Tried tried);
  /// The layers that an import makes visible; none where it cannot be read.
  std::vector<LayerSignature> LayersOf(const ast::ImportStatement* import) const;

  // --- repl_show.cc: answers -----------------------------------------------------------------
  /// The name that a statement without a mistake gave to `value`, or to a constant where it is
  /// empty, is shown.
  struct Shown {
    std::string label;  // empty: an expression
    std::string value;  // of the graph; empty: a constant
  };
  void Show(const Graph& graph, llvm::ArrayRef<Shown> shown, ReplReply* reply);
  /// A value that is no tensor: as one where it can be, else as it is written.
  void ShowConstant(const Tried& tried, llvm::StringRef expression, ReplReply* reply);
  /// The constant that a name stands for.
  void ShowNamed(llvm::StringRef name, ReplReply* reply);
  /// "y: f32[2] = [0.0, 1.0]".
  void Print(llvm::StringRef label, const Type& type, const ReplValues::Found& found,
             ReplReply* reply);
  /// What a statement says that gives no name a value.
  void Acknowledge(const ast::Statement* statement, ReplReply* reply);
  void Note(const llvm::Twine& text, ReplReply* reply);
  /// What the values of all names are computed from now.
  llvm::StringMap<uint64_t> DescribeNames() const;
  /// The names whose values are others than they were then.
  std::vector<Shown> ChangedSince(const llvm::StringMap<uint64_t>& before) const;

  // --- repl_commands.cc ----------------------------------------------------------------------
  void Command(llvm::StringRef text, ReplReply* reply);
  void Help(llvm::StringRef name, ReplReply* reply);
  /// The layers, a line each.
  std::string LayerList() const;
  void TypeOf(llvm::StringRef expression, llvm::StringRef typed, ReplReply* reply);
  void Load(llvm::StringRef path, ReplReply* reply);
  /// The text as a file of its own.
  std::string TextToSave() const;
  void Reset();

  CompileRequest request;
  ReplHost& host;
  ReplValues values;
  /// What was accepted; ends with a newline where it is not empty.
  std::string text;
  std::unique_ptr<Ast> ast;
  Graph graph;
  /// Comments that wait for their statement.
  std::string comments;
  /// The expression that a leading `|>` goes on from; empty where there is none.
  std::string last;
  /// The names that the text gives, and the graph's value that each stands for; empty: none.
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> names;
  /// What was fed, as it was written; and what since this run began.
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> feeds;
  llvm::StringSet<> fed_in_run;
  /// Standard layers, and those of the text and its imports.
  std::vector<LayerSignature> standard_layers, own_layers;
  const LayerSignature* FindLayer(llvm::StringRef name) const;
  /// Of the statement before this one.
  struct Times {
    double compile = 0, run = 0;
    size_t calls = 0;
  };
  Times times, last_times;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_REPL_SESSION_H_
