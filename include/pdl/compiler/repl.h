// Module: frontend
#ifndef PDL_COMPILER_REPL_H_
#define PDL_COMPILER_REPL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/storage.h"

namespace pdl {

/// Parts of a reply that a terminal may format differently.
enum class ReplStyle : uint8_t { kName, kType, kNote };

/// Services that a session requires from the program around it.
class PDL_API ReplHost {
 public:
  virtual ~ReplHost();
  /// Runs `graph` once with the given inputs and returns one value for each output, in order. The
  /// same graph must produce the same random numbers each time.
  virtual llvm::Expected<std::vector<PackedConstant>> Run(
      Graph graph, const llvm::StringMap<PackedConstant>& inputs, bool training) = 0;
  /// Formats the elements of a value for people.
  virtual std::string Print(const PackedConstant& value) = 0;
  /// Samples a value for the input, parameter or state `variable`, a new one in each call; `size`
  /// returns the size of a symbol. Returns an Error if the host does not support sampling.
  using SizeOfSymbol = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;
  virtual llvm::Expected<PackedConstant> Draw(const Value& variable, SizeOfSymbol size);
  virtual llvm::Expected<std::string> ReadFile(llvm::StringRef path) = 0;
  virtual llvm::Error WriteFile(llvm::StringRef path, llvm::StringRef text) = 0;
  /// Whether WriteFile would replace a file, which a user at a terminal has to confirm.
  virtual bool HasFile(llvm::StringRef) { return false; }
  /// Makes subsequent statements resolve file names relative to the folder of `path`. Returns a
  /// path that restores the previous folder.
  virtual std::string UseFolderOf(llvm::StringRef path) { return path.str(); }
  /// Returns the files and folders (with a trailing '/') whose paths begin with `typed`, resolved
  /// as in statements or as on the command line.
  virtual std::vector<std::string> ListFiles(llvm::StringRef typed, bool of_statement);
  /// Makes subsequent Runs use that device.
  virtual llvm::Error SetDevice(llvm::StringRef name) = 0;
  /// The name of the current device.
  virtual std::string DeviceName() = 0;
  /// The diagnostic for an Error of Run that is about a position in the source; nullopt for others.
  virtual std::optional<Diagnostic> DiagnosticOf(const llvm::ErrorInfoBase& error);
  /// Formats a part of a reply.
  virtual std::string Style(ReplStyle style, llvm::StringRef text);
  /// The width of help output in columns.
  virtual unsigned Width() { return 80; }
};

/// The reply to one statement or command.
struct ReplReply {
  /// Results: complete lines, with line ends.
  std::string output;
  /// The values in `output`, in their order.
  struct ShownValue {
    /// The name; empty for an expression.
    std::string label;
    PackedConstant value;
    /// Its part of `output`.
    size_t begin, end;
  };
  std::vector<ShownValue> values;
  /// Errors and warnings in the input, with positions.
  Diagnostics diagnostics;
  /// Any other error: a run that failed, a file that cannot be read. A message without a line end.
  std::string error;
  /// The user asked to leave.
  bool quit = false;

  bool failed() const { return diagnostics.has_errors() || !error.empty(); }
};

/// One possible completion at the cursor.
struct ReplCompletion {
  /// The complete replacement word: "scale=".
  std::string text;
  /// The entry in a list of completions: "scale=  float > 0 = 1.0".
  std::string display;
};

/// An interactive session: a network that grows statement by statement. A statement with an error
/// changes nothing. Values are cached until something that they depend on changes, so a statement
/// only computes what it adds or changes. Independent of any terminal. Not thread-safe.
class PDL_API ReplSession {
 public:
  /// Statements are compiled according to `request`, whose `file` is ignored. The host and
  /// everything that the request points to must outlive the session.
  ReplSession(CompileRequest request, ReplHost& host);
  ~ReplSession();

  /// Executes complete statements, or one command that begins with ':'.
  ReplReply Execute(llvm::StringRef text);
  /// Gives the input, parameter or state `name` a dense value from outside the session. A name that
  /// does not exist becomes an input with the type of `value`, and an input of another type is
  /// declared anew, so statements that read it are checked again. The reply has no output. An error
  /// if the name is not valid or is that of anything else, or if a statement does not fit the type;
  /// then nothing changes.
  ReplReply Share(llvm::StringRef name, PackedConstant value);
  /// Returns the completions at byte offset `cursor` of `text`, the statement typed so far. Sets
  /// `*begin` to the start of the word that a completion replaces.
  std::vector<ReplCompletion> Complete(llvm::StringRef text, size_t cursor, size_t* begin) const;
  /// The source of all accepted statements: a network that compiles.
  llvm::StringRef text() const;
  /// The names that the accepted statements define, except layers.
  std::vector<std::string> names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_REPL_H_
