#ifndef PDL_FRONTEND_REPL_SESSION_H_
#define PDL_FRONTEND_REPL_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/repl_values.h"
#include "llvm/ADT/MapVector.h"
#include "pdl/repl.h"

namespace pdl {

/// A command of the session: ":type".
struct ReplCommand {
  llvm::StringRef name;
  llvm::StringRef argument;  // as the help calls it, or empty
  llvm::StringRef help;
};
llvm::ArrayRef<ReplCommand> ReplCommands();

struct ReplSession::Impl {
  Impl(const OpRegistry& registry_in, ReplHost& host_in, WeightLookup find_weight_in)
      : registry(registry_in),
        host(host_in),
        find_weight(std::move(find_weight_in)),
        values(host_in) {}

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
  /// Compiles it; mistakes go to the reply. A quiet one reports nothing.
  CompileResult Try(const Probe& probe, ReplReply* reply, bool quiet = false);

  // --- repl.cc: statements -------------------------------------------------------------------
  void Execute(llvm::StringRef text, ReplReply* reply);
  /// The same after the comments that wait.
  Probe WithComments(Probe probe) const;
  /// Executes the statements of a text; the first mistake ends it.
  void ExecuteAll(Probe probe, ReplReply* reply);
  void ExecuteAssign(const ast::AssignStatement* statement, const Probe& probe, ReplReply* reply);
  void ExecuteDeclaration(const ast::Statement* statement, const Probe& probe, ReplReply* reply);
  void ExecuteFeed(const ast::FeedStatement* statement, const Probe& probe, ReplReply* reply);
  /// The name that a statement without a mistake gave to `value`, or to a constant where it is
  /// empty, is shown and remembered.
  struct Shown {
    std::string label;  // empty: an expression
    std::string value;  // of the graph; empty: a constant
  };
  void Show(const CompileResult& result, llvm::ArrayRef<Shown> shown, llvm::StringRef expression,
            ReplReply* reply);
  void ShowConstant(const Shown& shown, llvm::StringRef expression, ReplReply* reply);
  /// "y: f32[2] = [0.0, 1.0]".
  void Print(llvm::StringRef label, const Type& type, const Constant* value, ReplReply* reply);
  void Accept(llvm::StringRef code, CompileResult result);
  void Remember(llvm::StringRef name, llvm::StringRef value);

  // --- repl_commands.cc ----------------------------------------------------------------------
  void Command(llvm::StringRef text, ReplReply* reply);
  void Help(llvm::StringRef name, ReplReply* reply);
  void TypeOf(llvm::StringRef expression, llvm::StringRef typed, ReplReply* reply);
  void Load(llvm::StringRef path, ReplReply* reply);
  void Reset();

  const OpRegistry& registry;
  ReplHost& host;
  WeightLookup find_weight;
  ReplValues values;
  /// What was accepted; ends with a newline where it is not empty.
  std::string text;
  uint32_t num_lines = 0;
  Graph graph;
  /// Comments that wait for their statement.
  std::string comments;
  /// The expression that a leading `|>` goes on from; empty where there is none.
  std::string last;
  /// The names that statements gave, and the Key and name of the value each has, where it is one of
  /// the graph.
  struct Named {
    std::string value, key;
  };
  llvm::MapVector<std::string, Named, llvm::StringMap<unsigned>> names;
  bool is_timed = false;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_SESSION_H_
