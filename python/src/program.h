// A compiled program or a stored network, from which networks and training runs are created.
#ifndef PYTHON_SRC_PROGRAM_H_
#define PYTHON_SRC_PROGRAM_H_

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>

#include "errors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/network.h"

namespace pdl::python {

/// An elaborated graph. Immutable.
struct Program {
  std::shared_ptr<const Graph> graph;
  /// The folder of its weight files.
  std::string folder = ".";
  /// Its source (empty for stored networks), its file name, and the values of its attrs.
  std::string source, name;
  std::map<std::string, std::string> settings;
  /// Sources that it may import, by path; they take precedence over files.
  std::map<std::string, std::string> files;
  /// Values of parameters that were loaded with the graph.
  llvm::StringMap<Constant> weights;
  /// The rendered warnings of the compiler.
  std::string warnings;
  /// See CompileResult.
  std::string last_value;
  /// Of errors of its runs.
  Positions positions = Positions::kShown;
};

/// The options of a network of this program. `weights` is a dict of arrays, the path of a weights
/// file, a tuple that describes weights and how to load them (see GiveDescribedWeights), or None.
/// Throws if they do not fit the network.
NetworkOptions OptionsFor(const Program& program, nanobind::handle weights, uint64_t seed);

/// Maps each value that depends on one of these inputs to one such input.
llvm::DenseMap<const Value*, const Value*> NeedsOf(const Graph& graph,
                                                   llvm::ArrayRef<std::string> inputs);

void BindProgram(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_PROGRAM_H_
