#ifndef PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_
#define PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/packed_value.h"
#include "pdl/runtime/scope.h"
#include "tools/pdl/support/common_options.h"

namespace pdl {

/// The values of --input: files, literals, random values.
class RunInputs {
 public:
  /// Adds a value of --input: "NAME=VALUE", or an archive. Returns a UsageError for anything else.
  llvm::Error Add(llvm::StringRef argument);

  /// Feed samples the inputs that are not given, as for the word random.
  void SampleOthers() { samples_others_ = true; }
  bool is_empty() const { return values_.empty() && archives_.empty(); }
  /// The sizes of symbols, from --size and the inputs that were fed.
  const llvm::StringMap<int64_t>& sizes() const { return sizes_; }

  /// Reads the files and puts a Tensor for each given input into `scope`. Reports names that are
  /// not inputs of the network, files that cannot be read, and dtypes that differ.
  llvm::Error Feed(const Graph& graph, const CommonOptions& options, Scope* scope);

 private:
  /// Feeds a ragged or sparse input.
  llvm::Error FeedPacked(const Value& input, llvm::StringRef text, Scope* scope);
  /// `knows_sizes`: whether the sizes of a value without rows are known, rather than assumed.
  llvm::Error PutPacked(const Value& input, const PackedValue& value, llvm::StringRef source,
                        Scope* scope, bool knows_sizes = true);
  llvm::Error FeedOne(const Value& input, llvm::StringRef text, Scope* scope);
  llvm::Error FeedArchives(const Graph& graph, Scope* scope);
  /// Feeds the ragged inputs whose literals have no rows, from which the run would take the sizes
  /// of their other dims; those are the sizes that are known.
  llvm::Error FeedWithoutRows(const CommonOptions& options, Scope* scope);
  /// Checks the numbers of columns of sparse inputs, which their parts do not state, against the
  /// sizes of the other inputs, and records those that are new.
  llvm::Error CheckColumns();
  llvm::Error FeedRandom(const Value& input, const CommonOptions& options, Scope* scope);
  /// Puts the tensor into the scope, and records the symbols that its sizes determine.
  llvm::Error Put(const Value& input, Tensor tensor, llvm::StringRef source, Scope* scope);
  /// Records the symbol that a size determines.
  void Record(const Dim& dim, int64_t size);
  /// The same for all known sizes of a ragged or sparse value in the scope except the number of
  /// columns, and its lengths.
  void RecordPacked(const Value& input, const PackedValue& value, const Scope& scope,
                    bool knows_sizes);
  /// The size of a symbol in the inputs that were fed, or else that of --size.
  std::optional<int64_t> SizeOf(llvm::StringRef symbol, const CommonOptions& options) const;

  bool samples_others_ = false;
  std::map<std::string, std::string> values_;
  std::vector<std::string> archives_;
  llvm::StringMap<int64_t> sizes_;
  /// The offsets of ragged dims, such as "~T", in the inputs that were fed.
  llvm::StringMap<Tensor> lengths_;
  /// The ragged inputs whose literals have no rows.
  std::vector<std::pair<const Value*, PackedValue>> without_rows_;
  /// The sparse inputs that were fed, with their numbers of columns if those are known.
  std::vector<std::pair<const Value*, Dim>> columns_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_
