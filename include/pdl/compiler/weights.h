// Matching the tensors of a weights file to the parameters and states of a network. The compiler
// does it for `load` statements, and the loader for files that the user gives with the network.
#ifndef PDL_COMPILER_WEIGHTS_H_
#define PDL_COMPILER_WEIGHTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/dtype.h"
#include "pdl/weight_rules.h"

namespace pdl {

/// A tensor of a weights file.
struct WeightEntry {
  std::string name;
  /// The safetensors file that has it, relative to the folder of the network.
  std::string file;
  DType dtype = DType::kF32;
  llvm::SmallVector<int64_t, 4> sizes;
};

/// The tensors of one weights file, or of several that belong together.
struct PDL_API WeightListing {
  std::vector<WeightEntry> entries;  // sorted by name, no name twice
  /// Whether it is a checkpoint of `pdl train`, which has values that only training needs.
  bool is_checkpoint = false;

  /// Null if there is no such tensor.
  const WeightEntry* Find(llvm::StringRef name) const;
};

/// Lists the tensors of `file`, which is relative to the folder of the source: a safetensors file,
/// the index of one that is split, or a pattern of file names. Returns a UserError if it cannot be
/// read or is outside that folder. The listing must live as long as the compilation.
using WeightOpener = std::function<llvm::Expected<const WeightListing*>(llvm::StringRef file)>;

/// A parameter or state, and its name below `into`.
struct WeightTarget {
  Value* value;
  llvm::StringRef name;
};

/// The tensor for a parameter or state.
struct WeightMatch {
  Value* value;
  const WeightEntry* entry;
  bool cast;  // the dtypes differ
  bool transpose;

  WeightRef ToRef() const { return {entry->file, entry->name, "", cast, transpose}; }
};

/// How a file fits a network.
struct WeightMatches {
  std::vector<WeightMatch> found;
  /// Parameters that the file lacks, and tensors of another type, described.
  std::vector<std::string> problems;
  /// States that the file lacks. They keep their initial values.
  std::vector<const Value*> missing_states;
  /// Tensors for which there is no target, except those that only training needs.
  std::vector<const WeightEntry*> unused;
  /// If parameters are missing: the unused tensors, and the rule that changes names.
  std::string help;
};

/// How messages write a rule: as an argument, `transpose=["w"]`, or as an option of the command
/// line, `--weights-with transpose=w`.
enum class WeightRuleForm { kArgument, kOption };

/// Finds a tensor for each target: that of its full name or else of its name without the prefix,
/// after the rules have renamed the tensors. A parameter that has a weight already need not be in
/// the file. Returns a UserError (kWeightRule) for a rule that applies to no tensor, or that gives
/// two tensors one name.
PDL_API llvm::Expected<WeightMatches> MatchWeights(const WeightListing& listing,
                                                   const WeightRules& rules, const Graph& graph,
                                                   llvm::ArrayRef<WeightTarget> targets,
                                                   WeightRuleForm form = WeightRuleForm::kArgument);

/// Whether a name matches a pattern, in which `*` matches any characters. Takes time in
/// proportion to the product of the lengths.
PDL_API bool MatchesPattern(llvm::StringRef name, llvm::StringRef pattern);

/// Sets the rule `name` from its form on the command line: ("cast", "true"), ("rename", "from:to"),
/// ("transpose", "*.weight"). `rename` and `transpose` add to those given before. Returns a
/// UserError for an unknown name or a malformed value.
PDL_API llvm::Error SetWeightRule(WeightRules* rules, llvm::StringRef name, llvm::StringRef text);

/// A message and its notes.
struct WeightReport {
  std::string message;
  std::vector<std::string> notes;
  bool empty() const { return message.empty(); }
};
/// The problems, of which at most 20 are described. Empty if there are none.
PDL_API WeightReport DescribeProblems(const WeightMatches& matches, llvm::StringRef file);
/// The tensors of `file` that are not used: a sentence with at most 20 names, or with `partial`
/// their number only. Empty if there are none.
PDL_API WeightReport DescribeUnused(llvm::ArrayRef<const WeightEntry*> unused, size_t num_tensors,
                                    llvm::StringRef file, bool partial);
/// The states that `file` lacks. Empty if there are none.
PDL_API WeightReport DescribeMissingStates(llvm::ArrayRef<const Value*> states,
                                           llvm::StringRef file);

/// Whether the tensor of a checkpoint is a state of an optimizer, whose name begins with that of a
/// parameter of the graph, such as "w.adam.m"; or `step`, which counts steps.
PDL_API bool IsNameOfTraining(llvm::StringRef tensor, const Graph& graph);
/// The initializer in the language: `load("file", "tensor", cast=true)`.
PDL_API std::string WeightToString(const WeightRef& weight);
/// Whether a tensor of these sizes has the sizes of `type` (those that are known), in reverse order
/// if it is transposed.
PDL_API bool HasSizesOf(const Type& type, llvm::ArrayRef<int64_t> sizes, bool transpose);
/// Whether a tensor is a value for a parameter or state of `type` under the conversions of `ref`.
PDL_API bool FitsWeight(const Type& type, const WeightRef& ref, DType dtype,
                        llvm::ArrayRef<int64_t> sizes);
/// Whether a state of type `copy` can get the value of a parameter or state of type `source`: the
/// dims are the same, and so are the dtypes, or both are floating-point.
PDL_API bool IsCopyable(const Type& source, const Type& copy);

}  // namespace pdl

#endif  // PDL_COMPILER_WEIGHTS_H_
