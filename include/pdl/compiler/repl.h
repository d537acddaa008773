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

/// The parts of an answer that a terminal may tell apart.
enum class ReplStyle : uint8_t { kName, kType, kNote };

/// What a session asks of the program around it.
class PDL_API ReplHost {
 public:
  virtual ~ReplHost();
  /// Runs `graph` once, with those inputs under their names: one value for each of its outputs, in
  /// their order. The same graph gives the same random numbers each time.
  virtual llvm::Expected<std::vector<PackedConstant>> Run(
      Graph graph, const llvm::StringMap<PackedConstant>& inputs, bool training) = 0;
  /// The elements of a value, as people read them.
  virtual std::string Print(const PackedConstant& value) = 0;
  /// A value drawn for the input, parameter or state `variable`, each time another one; `size`
  /// tells how large a symbol is. An Error where the host draws none.
  using SizeOfSymbol = llvm::function_ref<std::optional<int64_t>(llvm::StringRef)>;
  virtual llvm::Expected<PackedConstant> Draw(const Value& variable, SizeOfSymbol size);
  virtual llvm::Expected<std::string> ReadFile(llvm::StringRef path) = 0;
  virtual llvm::Error WriteFile(llvm::StringRef path, llvm::StringRef text) = 0;
  /// From here on, the files that statements name lie in the folder of `path`. Returns a path for
  /// which this would bring the former folder back.
  virtual std::string UseFolderOf(llvm::StringRef path) { return path.str(); }
  /// Files and folders ('/' behind these) whose paths begin with `typed`: as statements name them,
  /// or as the program does.
  virtual std::vector<std::string> ListFiles(llvm::StringRef typed, bool of_statement);
  /// From here on, Run uses that device.
  virtual llvm::Error SetDevice(llvm::StringRef name) = 0;
  /// The device in use.
  virtual std::string DeviceName() = 0;
  /// How a part of an answer is written.
  virtual std::string Style(ReplStyle style, llvm::StringRef text);
  /// Columns for help texts.
  virtual unsigned Width() { return 80; }
};

/// What a session says to one statement or command.
struct ReplReply {
  /// Results; lines with their ends.
  std::string output;
  /// Mistakes and warnings in what was typed, at their places.
  Diagnostics diagnostics;
  /// What else went wrong: a run that failed, a file that cannot be read. A message without end.
  std::string error;
  /// The user asked to leave.
  bool quit = false;

  bool failed() const { return diagnostics.has_errors() || !error.empty(); }
};

/// One way to go on at the cursor.
struct ReplCompletion {
  /// The whole word that would stand there: "scale=".
  std::string text;
  /// How a list shows it: "scale=  float > 0 = 1.0".
  std::string display;
};

/// A dialogue in the language: a network that grows by a statement at a time. A statement with a
/// mistake changes nothing. Values are kept for as long as what they are computed from stays the
/// same, so that a statement runs only what it adds or changes. Knows no terminal; for use by one
/// thread.
class PDL_API ReplSession {
 public:
  /// Statements are compiled as `request` says, whose `file` is not used. The host and what the
  /// request points to must outlive the session.
  ReplSession(CompileRequest request, ReplHost& host);
  ~ReplSession();

  /// Takes whole statements, or one command that begins with ':'.
  ReplReply Execute(llvm::StringRef text);
  /// What may stand at the byte `cursor` of `text`, which holds what was typed of the statement so
  /// far; `*begin` is where the word starts that each would replace.
  std::vector<ReplCompletion> Complete(llvm::StringRef text, size_t cursor, size_t* begin) const;
  /// The statements accepted so far: a network that compiles.
  llvm::StringRef text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pdl

#endif  // PDL_COMPILER_REPL_H_
