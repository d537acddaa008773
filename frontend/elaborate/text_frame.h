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

/// Symbols that belong to one item of a repeatable input, and what they are there.
using ItemSymbols = std::vector<std::pair<llvm::StringRef, Datum>>;

/// One result of a call.
struct CallResult {
  std::string name;
  Datum datum;
  SourceRange range;
  /// Of a called file: the input that this needs and that was not given.
  std::string missing = {};
};

/// The results of a call; none where it is poison.
struct CallResults {
  llvm::SmallVector<CallResult, 1> all;
  bool is_poison() const { return all.empty(); }
};

/// Full names for the results of a call; "_" is none.
using Targets = llvm::ArrayRef<std::string>;

/// What a text or one call of a layer knows while its statements are elaborated.
struct TextFrame {
  /// What a symbol stands for, and where it was introduced.
  struct Symbol {
    Datum value;
    SourceRange range;
  };
  /// A list of a repeatable input, and what symbols are for each of its items.
  struct Repeat {
    Datum list;
    std::vector<ItemSymbols> symbols;
    std::vector<std::optional<Shape>> any_dims;
  };

  /// The name in the graph of a name of this frame.
  std::string FullName(llvm::StringRef name) const { return path + name.str(); }

  Module* module = nullptr;
  /// What names of values and parameters begin with: "encoder.0.", or nothing.
  std::string path;
  llvm::StringMap<Datum, llvm::BumpPtrAllocator> scope;
  llvm::StringMap<Symbol> symbols;
  /// What `...` stands for in the signature.
  std::optional<Shape> any_dims;
  std::vector<Repeat> repeats;
  llvm::StringMap<SourceRange> declared;  // inputs, params, states, attrs
  llvm::StringMap<SourceRange> assigned;  // the last assignment to a name
  llvm::StringMap<Value*> states;
  /// `layer NAME = …`
  llvm::StringMap<FunctionPtr> instances;
  /// Paths to parameters that are taken.
  llvm::StringSet<> taken;
  /// The paths that calls assigned to a name have taken: for `params(x)` and `over x`.
  llvm::StringMap<llvm::SmallVector<std::string, 1>> ways;

  /// Names that one side of an `if` has set, and not the other.
  llvm::StringMap<SourceRange> one_sided;

  /// The name being assigned: what names of parts are made of.
  std::string base;
  /// Where inside loops that run more than once: ".0.2".
  std::string counts;
  /// The loops that are being expanded, outermost first.
  struct OpenLoop {
    SourceRange over;
    int64_t round, rounds;
  };
  llvm::SmallVector<OpenLoop, 2> loops;
  bool in_block = false;    // of an `if` or `for`
  bool in_test = false;     // the statements of a test, not those of the file
  bool is_default = false;  // a layer's default is read ahead of the calls that read it
  bool dims_first = false;

  // Of a layer or a file that is called:
  TextFrame* caller = nullptr;
  std::shared_ptr<const SourceFile> caller_file;
  SourceRange place;  // of the call
  llvm::StringRef callee;
  LocationId origin = kUnknownLocation;
  const LayerArguments* arguments = nullptr;  // of a file: what attrs and inputs are given
  size_t next_operand = 0;
  std::string missing_input;  // one of a file's that was left out
  bool training_off = false;
  uint32_t recompute = 0;  // which call of a layer is to be computed again, or 0
  bool is_instance = false;
  std::vector<const void*> active;
  llvm::ArrayRef<std::string> result_names;
  std::vector<CallResult> results;
  bool returned = false;
  bool saw_return = false;
  /// An assert of this layer does not hold: what would follow from that is silent.
  bool refused = false;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_TEXT_FRAME_H_
