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
  llvm::StringRef argument;  // its name in the help, or empty
  bool is_optional;          // the argument
  llvm::StringRef help;
};
llvm::ArrayRef<ReplCommand> ReplCommands();

/// "fc(xs...: F[..., D], size: int > 0) -> y".
std::string CallOf(const LayerSignature& layer);

/// The source with `code` instead of one of its statements and that statement's documentation.
std::string ReplaceStatement(llvm::StringRef text, const ast::Statement& old, llvm::StringRef code);

/// Reports that a run has failed.
void ReportFailure(llvm::Error error, ReplHost& host, ReplReply* reply);

struct ReplSession::Impl {
  Impl(CompileRequest request_in, ReplHost& host_in);
  ~Impl();

  /// Source that is compiled after the accepted source; the user may see something else.
  struct Probe {
    std::string code;
    /// The user's input, and the offset in it that corresponds to `code_offset` in the code.
    std::string typed;
    size_t code_offset = 0;
    size_t typed_offset = 0;
    /// The name of the source in messages, if it is a file of its own.
    std::string file{};
  };
  /// The result of compiling a source.
  struct Tried {
    std::optional<Graph> graph;  // absent if there are errors
    std::string last_value;      // as in CompileResult
    /// The results of the last statement if it is an expression: tensors by name, and the first
    /// result if that is a constant.
    std::vector<std::pair<std::string, std::string>> results;
    Datum constant;
    std::vector<std::pair<std::string, std::string>> names;
    std::unique_ptr<Ast> ast;  // referred to by `constant`
  };
  /// Compiles the accepted source and the probe; errors go to the reply, unless that is null.
  Tried Try(const Probe& probe, ReplReply* reply);
  Tried CompileAll(std::string whole, Diagnostics* diagnostics);

  // --- repl.cc: statements -------------------------------------------------------------------
  void Execute(llvm::StringRef text, ReplReply* reply);
  /// The probe after the pending comments.
  Probe WithComments(Probe probe) const;
  /// Executes the statements of a source up to the first error.
  void ExecuteAll(Probe probe, ReplReply* reply);
  void ExecuteExpression(const ast::AssignStatement* statement, const Probe& probe,
                         ReplReply* reply);
  void ExecuteStatement(const ast::Statement* statement, const Probe& probe, ReplReply* reply);
  void ExecuteFeed(const ast::FeedStatement* statement, const Probe& probe, ReplReply* reply);
  void FeedTraining(llvm::StringRef expression, SourceRange range, const Probe& probe,
                    ReplReply* reply);
  /// The value of a `feed`; nullopt if an error was reported.
  std::optional<PackedConstant> FedValue(const Value& fed, SourceRange range, const Probe& probe,
                                         ReplReply* reply);
  /// Reports an error at a range of the typed source.
  void ReportError(Code code, SourceRange place, std::string message, const Probe& probe,
                   ReplReply* reply);
  /// Replaces the accepted layer or attr with the same name. Returns false if there is none.
  bool Redefine(const ast::Statement* statement, const Probe& probe, ReplReply* reply);
  /// Makes this the accepted source.
  void Accept(std::string whole, Tried tried);
  /// The layers that an import makes visible; none if it cannot be read.
  std::vector<LayerSignature> LayersOf(const ast::ImportStatement* import) const;

  // --- repl_show.cc: answers -----------------------------------------------------------------
  /// A name to show, assigned by a statement without errors, with its value.
  struct Shown {
    std::string label;  // empty: an expression
    std::string value;  // of the graph; empty: a constant
  };
  void Show(const Graph& graph, llvm::ArrayRef<Shown> shown, ReplReply* reply);
  /// Shows a value that is not a tensor: as a tensor if it can be one, else as it is written.
  void ShowConstant(const Tried& tried, llvm::StringRef expression, ReplReply* reply);
  /// Shows the constant with this name.
  void ShowNamed(llvm::StringRef name, ReplReply* reply);
  /// "y: f32[2] = [0.0, 1.0]".
  void Print(llvm::StringRef label, const Type& type, const ReplValues::Found& found,
             ReplReply* reply);
  /// Confirms a statement that assigns no name.
  void Acknowledge(const ast::Statement* statement, ReplReply* reply);
  void Note(const llvm::Twine& text, ReplReply* reply);
  /// The hash of the computation of each name's current value.
  llvm::StringMap<uint64_t> DescribeNames() const;
  /// The names whose values have changed since then.
  std::vector<Shown> ChangedSince(const llvm::StringMap<uint64_t>& before) const;

  // --- repl_commands.cc ----------------------------------------------------------------------
  void Command(llvm::StringRef text, ReplReply* reply);
  void Help(llvm::StringRef name, ReplReply* reply);
  void TypeOf(llvm::StringRef expression, llvm::StringRef typed, ReplReply* reply);
  void Load(llvm::StringRef path, ReplReply* reply);
  void Save(llvm::StringRef path, ReplReply* reply);
  /// The accepted source as a file of its own.
  std::string TextToSave() const;
  void Reset();

  CompileRequest request;
  ReplHost& host;
  ReplValues values;
  /// The accepted source; ends with a newline unless it is empty.
  std::string text;
  std::unique_ptr<Ast> ast;
  Graph graph;
  /// Comments that precede the next statement.
  std::string comments;
  /// The expression that a leading `|>` continues from; empty if there is none.
  std::string last;
  /// The names defined in the source, and the graph's value for each, or an empty name.
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> names;
  /// The file that paths in statements are relative to.
  std::string file = "repl";
  /// Earlier states of the session; see repl_undo.h.
  class History;
  std::unique_ptr<History> history;
  /// Fed values as written; and those fed since this run began.
  llvm::MapVector<std::string, std::string, llvm::StringMap<unsigned>> feeds;
  llvm::StringSet<> fed_in_run;
  /// The paths of files that commands have loaded or saved, or that :save did not replace yet.
  llvm::StringSet<> own_files;
  /// Standard layers, and those of the source and its imports.
  std::vector<LayerSignature> standard_layers, own_layers;
  const LayerSignature* FindLayer(llvm::StringRef name) const;
  /// Of the previous statement.
  struct Times {
    double compile = 0, run = 0;
    size_t calls = 0;
  };
  Times times, last_times;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_REPL_SESSION_H_
