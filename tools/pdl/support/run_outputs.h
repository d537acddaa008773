#ifndef PDL_TOOLS_PDL_SUPPORT_RUN_OUTPUTS_H_
#define PDL_TOOLS_PDL_SUPPORT_RUN_OUTPUTS_H_

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {

/// The values of --output: which outputs are computed, and where each one goes.
class RunOutputs {
 public:
  /// Adds a value of --output: "NAME" or "NAME=FILE". Several outputs may go to one archive.
  /// Returns a UsageError for anything else, and if the file would be written twice.
  llvm::Error Add(llvm::StringRef argument);
  /// If no output was requested, requests all of the network, which are then printed.
  void AddAll(const Graph& graph);

  /// The names, in the order of the command line.
  std::vector<std::string> names() const;
  /// Whether an output goes to this file.
  bool WritesTo(llvm::StringRef path) const;

  /// Prints the outputs that have no file, then writes the files. `values` are those of names().
  llvm::Error Show(llvm::ArrayRef<PackedValue> values) const;

 private:
  struct Requested {
    std::string name;
    /// As it was given; empty: the output is printed.
    std::string file;
    /// The path of `file`, without links and "..".
    std::string path;
  };

  llvm::Error Write(const Requested& first, llvm::ArrayRef<PackedValue> values) const;

  std::vector<Requested> requested_;
};

}  // namespace pdl

#endif  // PDL_TOOLS_PDL_SUPPORT_RUN_OUTPUTS_H_
