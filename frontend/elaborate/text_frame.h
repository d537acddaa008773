#ifndef PDL_FRONTEND_ELABORATE_TEXT_FRAME_H_
#define PDL_FRONTEND_ELABORATE_TEXT_FRAME_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/elaborate/datum.h"
#include "frontend/elaborate/function.h"
#include "frontend/elaborate/module.h"
#include "frontend/syntax/ast.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace pdl {

/// Symbols that belong to one item of a repeatable input, and their values for it.
using ItemSymbols = std::vector<std::pair<llvm::StringRef, Datum>>;

/// One result of a call.
struct CallResult {
  std::string name;
  Datum datum;
  SourceRange range;
  /// For a called file: the input that this depends on and that was not given.
  std::string missing = {};
};

/// The layer that a name of `layer NAME = …` refers to.
struct LayerName {
  /// Null after an error, and if `differs`.
  FunctionPtr layer;
  /// Set after an `if` that is decided by each Plan, in whose branches the name refers to other
  /// layers.
  struct Difference {
    SourceRange place;      // of the condition
    bool is_in_one_branch;  // and has no layer in the other
  };
  std::optional<Difference> differs = {};

  bool is_broken() const { return layer == nullptr && !differs; }
};

/// The results of a call; none if it is poison.
struct CallResults {
  llvm::SmallVector<CallResult, 1> all;
  bool is_poison() const { return all.empty(); }
};

/// Full names for the results of a call; "_" omits a name.
using Targets = llvm::ArrayRef<std::string>;

struct TextFrame;

/// The values that replace the parameters of one layer call; see GivenParameters.
struct ParameterValues {
  const GivenValues* given = nullptr;
  llvm::StringRef callee;
  std::string prefix;          // of the names of the parameters: "net."
  TextFrame* frame = nullptr;  // that of the call
  /// The values of an enclosing call.
  ParameterValues* outer = nullptr;
  /// The index of the value of each parameter.
  llvm::StringMap<size_t> indices;
  /// Earlier calls have created the parameters. Otherwise the order of declaration counts.
  bool is_by_name = false;
  bool has_error = false;
};

/// The names and the state of a file or of one layer call while its statements are elaborated.
struct TextFrame {
  /// The value of a symbol, and where it was introduced.
  struct Symbol {
    Datum value;
    SourceRange range;
  };
  /// A list of a repeatable input, and the values of symbols for each of its items.
  struct Repeat {
    Datum list;
    std::vector<ItemSymbols> symbols;
    std::vector<std::optional<Shape>> any_dims;
  };

  /// The full name in the graph of a name of this frame.
  std::string FullName(llvm::StringRef name) const { return path + name.str(); }

  Module* module = nullptr;
  /// The prefix of the names of values and parameters: "encoder.0.", or empty.
  std::string path;
  llvm::StringMap<Datum, llvm::BumpPtrAllocator> scope;
  llvm::StringMap<Symbol> symbols;
  /// The dims of `...` in the signature.
  std::optional<Shape> any_dims;
  std::vector<Repeat> repeats;
  llvm::StringMap<SourceRange> declared;  // inputs, params, states, attrs
  llvm::StringMap<SourceRange> assigned;  // the last assignment to a name
  llvm::StringMap<Value*> states;
  /// LayerName::layer.
  llvm::StringMap<FunctionPtr> instances;
  /// Paths to parameters that are taken.
  llvm::StringSet<> taken;
  /// The paths of calls assigned to a name: for `params(x)` and `over x`.
  llvm::StringMap<llvm::SmallVector<std::string, 1>> call_paths;

  /// The call whose first result is the value of a name, if it has more than one.
  struct Results {
    llvm::StringRef callee;
    std::vector<std::string> names;
  };
  llvm::StringMap<Results> results_of;

  /// Names set in only one branch of an `if`.
  llvm::StringMap<SourceRange> one_sided;
  /// LayerName::differs, for names of which `instances` has null.
  llvm::StringMap<LayerName::Difference> different_layers;

  /// The name being assigned, from which names of intermediate values are derived.
  std::string base;
  /// The indices of the open loop iterations: ".0.2".
  std::string counts;
  /// The loops that are being expanded, outermost first.
  struct OpenLoop {
    SourceRange over;
    int64_t round, rounds;
  };
  llvm::SmallVector<OpenLoop, 2> loops;
  bool in_block = false;    // of an `if` or `for`
  bool in_test = false;     // the statements of a test, not those of the file
  bool is_default = false;  // checking a layer's default before any call
  bool dims_first = false;

  // For a called layer or file:
  TextFrame* caller = nullptr;
  std::shared_ptr<const SourceFile> caller_file;
  SourceRange place;  // of the call
  llvm::StringRef callee;
  LocationId origin = kUnknownLocation;
  const LayerArguments* arguments = nullptr;  // of a file: values of attrs and inputs
  size_t next_operand = 0;
  std::string missing_input;  // an input of a file that was left out
  bool training_off = false;
  uint32_t recompute = 0;  // number of the layer call to recompute, or 0
  bool is_instance = false;
  /// The values that replace parameters; null if there are none.
  ParameterValues* given_parameters = nullptr;
  std::vector<const void*> active;
  llvm::ArrayRef<std::string> result_names;
  std::vector<CallResult> results;
  bool returned = false;
  bool saw_return = false;
  /// An assert of this layer failed: errors that follow from it are silent.
  bool assert_failed = false;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TEXT_FRAME_H_
