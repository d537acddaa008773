#ifndef PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_
#define PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_

#include <map>
#include <string>

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
  /// Adds a value of --input: "NAME=VALUE" or "FILE.npz". Returns a UsageError for anything else.
  llvm::Error Add(llvm::StringRef argument);

  /// Whether a value for the input is given, other than in an archive.
  bool Has(llvm::StringRef name) const { return values_.count(name.str()) != 0; }
  bool has_archives() const { return !archives_.empty(); }
  bool is_empty() const { return values_.empty() && archives_.empty(); }
  /// The sizes of symbols, from --size and the inputs that were fed.
  const llvm::StringMap<int64_t>& sizes() const { return sizes_; }

  /// Reads the files and puts a Tensor for each given input into `scope`. Reports names that are
  /// not inputs of the network, files that cannot be read, and dtypes that differ.
  llvm::Error Feed(const Graph& graph, const CommonOptions& options, Scope* scope);

 private:
  /// Feeds a ragged or sparse input.
  llvm::Error FeedPacked(const Value& input, llvm::StringRef text, Scope* scope);
  llvm::Error PutPacked(const Value& input, const PackedValue& value, llvm::StringRef source,
                        Scope* scope);
  llvm::Error FeedOne(const Value& input, llvm::StringRef text, Scope* scope);
  llvm::Error FeedArchives(const Graph& graph, Scope* scope);
  /// Checks the numbers of columns of sparse inputs, which their parts do not state, against the
  /// sizes of the other inputs.
  llvm::Error CheckColumns() const;
  llvm::Error FeedRandom(const Value& input, const CommonOptions& options, Scope* scope);
  /// Puts the tensor into the scope, and records the symbols that its sizes determine.
  llvm::Error Put(const Value& input, Tensor tensor, llvm::StringRef source, Scope* scope);

  std::map<std::string, std::string> values_;
  std::vector<std::string> archives_;
  llvm::StringMap<int64_t> sizes_;
  /// The sparse inputs that were fed, with their numbers of columns if those are known.
  std::vector<std::pair<const Value*, Dim>> columns_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_RUN_INPUTS_H_
