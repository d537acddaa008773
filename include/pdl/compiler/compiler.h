// Module: frontend
#ifndef PDL_COMPILER_COMPILER_H_
#define PDL_COMPILER_COMPILER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/dtype.h"
#include "pdl/op/op_registry.h"

namespace pdl {

/// A library of parsed sources whose layers every program may call, such as the standard layers.
/// Immutable; safe to share between threads.
class PDL_API LayerLibrary {
 public:
  /// Parses the files. The Error lists their syntax errors.
  static llvm::Expected<std::shared_ptr<const LayerLibrary>> Parse(
      llvm::ArrayRef<std::shared_ptr<const SourceFile>> files);
  ~LayerLibrary();

  /// The parsed files; defined and used by the front end only.
  struct Texts;
  const Texts& texts() const { return *texts_; }

 private:
  explicit LayerLibrary(std::unique_ptr<Texts> texts);
  std::unique_ptr<Texts> texts_;
};

/// Reads an imported file. `path` is relative to the folder of the importing source and contains no
/// "..". For a .pdlc, returns the flat source that compiles to the same graph (EmitPdl). Returns a
/// UserError if the file must not or cannot be read.
using FileReader =
    std::function<llvm::Expected<std::shared_ptr<const SourceFile>>(llvm::StringRef path)>;

/// Limits on the expansion of a source, so that a few lines cannot take unbounded time and memory.
/// Only repetition by loops and by calls of layers counts, so no realistic model comes near them.
/// Exceeding a limit is a single error (kTextTooLong), and nothing after it is compiled. A loop
/// that has used an eighth of a limit and, judging by its remaining iterations, will use twice the
/// limit is rejected early.
struct CompileLimits {
  /// Repeated statements and subexpressions, copied list items, and the like; each call adds to
  /// this budget.
  uint64_t steps = 10'000'000;
  /// Repeated calls of operators.
  uint64_t calls = 1'000'000;
  /// Calls of layers.
  uint64_t layer_calls = 400'000;
  /// Items of all lists that are alive at the same time.
  uint64_t list_items = 5'000'000;
  /// Nesting depth of layer calls.
  unsigned layer_depth = 64;
  /// Nesting depth of blocks and expressions, summed over all layers on the call stack.
  unsigned nesting = 1'000;
};

/// One source to compile, and its environment.
struct CompileRequest {
  std::shared_ptr<const SourceFile> file;
  const OpRegistry* registry = nullptr;
  /// The standard layers; null: none are available.
  std::shared_ptr<const LayerLibrary> library;
  /// Reads imported files; empty: `import` is an error.
  FileReader read_file;
  /// Values of `attr`s that override their defaults, written as in the language; the quotes of a
  /// string may be omitted: ("width", "512").
  std::vector<std::pair<std::string, std::string>> settings;
  /// Describes in messages where the setting of that name was given; empty: as the command-line
  /// flag --set.
  std::function<std::string(llvm::StringRef name)> setting_place;
  /// Also elaborates the computation of a training step: the gradients, and the new values of
  /// parameters and optimizer states, which go to GraphTraining::updates. MakeTrainingStep turns
  /// the result into a network.
  bool training_step = false;
  /// Also warns of inputs, parameters, states and values of the file that nothing uses
  /// (kUnusedName), unless their names begin with '_'. Not of those of imported files.
  bool warn_unused = false;
  CompileLimits limits;
  /// Checks the tensors that `load` refers to; empty: they are not checked until weights are read.
  WeightOpener open_weights;
  /// If not null and true, the compilation ends before the next statement: there is no graph, and
  /// the diagnostics are incomplete. Other threads may set it.
  const std::atomic<bool>* cancel = nullptr;

  bool is_cancelled() const { return cancel != nullptr && *cancel; }
};

/// The result of Compile.
struct CompileResult {
  /// The elaborated graph; nullopt if there are errors, or if the request was cancelled.
  std::optional<Graph> graph;
  /// In source order.
  Diagnostics diagnostics;
  /// The name of the graph's value that the last statement computed, if that statement is an
  /// expression or an assignment; empty if its result is a compile-time constant or not a value.
  std::string last_value;
  /// Whether the source has `test` blocks, which TestSuite compiles.
  bool has_tests = false;
};

/// Compiles source to a graph: parses it, resolves names, checks every call and infers all types.
/// Reports all errors of the source in one pass, one diagnostic each. Reads only `request` and
/// keeps no state between calls; safe to call from several threads.
PDL_API CompileResult Compile(const CompileRequest& request);

/// Returns the syntax tree, one node per line (`--emit=ast`). Syntax errors go to `diagnostics`.
PDL_API std::string EmitAst(const std::shared_ptr<const SourceFile>& file,
                            Diagnostics* diagnostics);

struct EmitPdlOptions {
  /// Without trainings, comments replace `minimize` statements: their optimizers may be layers of
  /// the source that the graph was compiled from.
  bool trainings = true;
  /// Without loads, a variable that is loaded from a file is initialized with `zeros()`.
  bool loads = true;
  /// Inputs that are left out; nothing in the graph may use them.
  llvm::ArrayRef<std::string> without_inputs = {};
};

/// Prints a graph as flat source, one call per statement (`--emit=pdl`). With the default options
/// it compiles to the same graph again, except for locations.
PDL_API std::string EmitPdl(const Graph& graph, const EmitPdlOptions& options = {});

/// Returns true if `text` ends inside a bracket or a block, so that an interactive program should
/// read another line.
PDL_API bool NeedsMoreLines(llvm::StringRef text);

}  // namespace pdl

#endif  // PDL_COMPILER_COMPILER_H_
