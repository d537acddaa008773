// Module: frontend
#ifndef PDL_COMPILER_COMPILER_H_
#define PDL_COMPILER_COMPILER_H_

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
#include "pdl/op/dtype.h"
#include "pdl/op/op_registry.h"

namespace pdl {

/// What is known of a tensor in a weights file before it is read.
struct WeightInfo {
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  /// In hex; may be empty.
  std::string sha256;
};

/// Looks up the tensor `name` in the weights file `file`, which is as the text has it: relative to
/// the text's folder. An Error (a UserError) where the file must not or cannot be read, or has no
/// such tensor.
using WeightLookup =
    std::function<llvm::Expected<WeightInfo>(llvm::StringRef file, llvm::StringRef name)>;

/// Texts, parsed once, whose layers every text may call: the standard layers. Immutable; safe to
/// share between threads.
class PDL_API LayerLibrary {
 public:
  /// Parses the texts; an Error shows their syntax errors.
  static llvm::Expected<std::shared_ptr<const LayerLibrary>> Parse(
      llvm::ArrayRef<std::shared_ptr<const SourceFile>> files);
  ~LayerLibrary();

  /// For the front end.
  struct Texts;
  const Texts& texts() const { return *texts_; }

 private:
  explicit LayerLibrary(std::unique_ptr<Texts> texts);
  std::unique_ptr<Texts> texts_;
};

/// Reads an imported text, whose path is relative to the folder of the text being compiled, without
/// ".."; of a .pdlc the flat text that makes it again (EmitPdl). An Error (a UserError) where it
/// must not or cannot be read.
using FileReader =
    std::function<llvm::Expected<std::shared_ptr<const SourceFile>>(llvm::StringRef path)>;

/// Bounds on what a text may expand to, so that a text of a few lines cannot take all of the time
/// and the memory that there is. No model comes near them: what stands in the text once does not
/// count, only what loops and calls of layers repeat. What goes beyond one is a single error
/// (kTextTooLong), and nothing is compiled behind it. A loop that has an eighth of a bound and, by
/// the rounds that are left, will take twice of it is not followed to its end.
struct CompileLimits {
  /// Statements and parts of expressions that are repeated, items of lists that are copied, and the
  /// like; each call allows for some more.
  uint64_t steps = 10'000'000;
  /// Calls of operators that are repeated.
  uint64_t calls = 1'000'000;
  /// Calls of layers.
  uint64_t layer_calls = 400'000;
  /// Items of all lists that exist at one time.
  uint64_t list_items = 5'000'000;
  /// Layers inside layers.
  unsigned layer_depth = 64;
  /// Blocks and expressions inside each other, through all layers.
  unsigned nesting = 1'000;
};

/// One text to compile.
struct CompileRequest {
  std::shared_ptr<const SourceFile> file;
  const OpRegistry* registry = nullptr;
  /// The standard layers; without it there are none.
  std::shared_ptr<const LayerLibrary> library;
  /// Reads what `import` names; where it is empty, a text cannot import.
  FileReader read_file;
  /// Values of `attr`s that replace their defaults, written as in the language (the quotes of a
  /// text may be left out): ("width", "512").
  std::vector<std::pair<std::string, std::string>> settings;
  /// What messages call the place where the setting of that name is given; where it is empty, the
  /// program's --set.
  std::function<std::string(llvm::StringRef name)> setting_place;
  /// Elaborates what a step of training computes too: gradients, and the next values of parameters
  /// and optimizers' states, into GraphTraining::updates. MakeTrainingStep makes a network of it.
  bool training_step = false;
  CompileLimits limits;
  /// Checks what `load` names; where it is empty, nothing is checked until the weights are read.
  WeightLookup find_weight;
};

struct CompileResult {
  /// The elaborated graph; absent where there are errors.
  std::optional<Graph> graph;
  /// In the order of the text.
  Diagnostics diagnostics;
  /// What the last statement computed, where it is an expression alone or an assignment: the name
  /// of a value of the graph; empty where it is a constant or no value.
  std::string last_value;
  /// Whether the text has `test` blocks, which TestSuite compiles.
  bool has_tests = false;
};

/// Text to graph: parses, resolves names, checks every call, infers all types. Reports all mistakes
/// of the text in one pass, one message each. Reads nothing but its request, keeps nothing between
/// calls; safe to call from several threads.
PDL_API CompileResult Compile(const CompileRequest& request);

/// The tree that the user wrote, a node a line (`--emit=ast`); syntax errors go to `diagnostics`.
PDL_API std::string EmitAst(const std::shared_ptr<const SourceFile>& file,
                            Diagnostics* diagnostics);

struct EmitPdlOptions {
  /// Without trainings, comments replace `minimize` statements: their optimizers may be layers of the
  /// source that the graph was compiled from.
  bool trainings = true;
  /// Without loads, a variable that is loaded from a file is initialized with `zeros()`.
  bool loads = true;
  /// Inputs that are left out; nothing in the graph may use them.
  llvm::ArrayRef<std::string> without_inputs = {};
};

/// Prints a graph as flat source, one call per statement (`--emit=pdl`). With the default options it
/// compiles to the same graph again, except for locations.
PDL_API std::string EmitPdl(const Graph& graph, const EmitPdlOptions& options = {});

/// True where `text` breaks off inside a bracket or a block, so that a terminal should go on
/// reading.
PDL_API bool WantsMoreLines(llvm::StringRef text);

}  // namespace pdl

#endif  // PDL_COMPILER_COMPILER_H_
