// A compiled text, or a stored network: what networks and trainings are made of.
#ifndef PYTHON_SRC_PROGRAM_H_
#define PYTHON_SRC_PROGRAM_H_

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/graph.h"
#include "pdl/runtime/network.h"

namespace pdl::python {

/// An elaborated graph. Immutable; shared by what is made of it.
struct Program {
  std::shared_ptr<const Graph> graph;
  /// The folder that its weight files are relative to.
  std::string folder = ".";
  /// The text that it was compiled from, empty where it was stored; what it is called; and the
  /// values of its attrs.
  std::string source, name;
  std::map<std::string, std::string> settings;
  /// Texts that it may import by these paths, before what lies in the folder.
  std::map<std::string, std::string> files;
  /// Values of parameters that it brings with it.
  llvm::StringMap<Constant> weights;
  /// What the compiler warned of, as text; empty where it did not.
  std::string warnings;
  /// See CompileResult.
  std::string last_value;
};

/// The options of a network of this program: weights that `weights` gives, a dict of arrays, the
/// path of a safetensors file, or None. Throws where one does not belong to the network.
NetworkOptions OptionsFor(const Program& program, nanobind::handle weights, uint64_t seed);

/// Of each value that needs one of these inputs, one of them that it needs.
llvm::DenseMap<const Value*, const Value*> NeedsOf(const Graph& graph,
                                                   llvm::ArrayRef<std::string> inputs);

void BindProgram(nanobind::module_& module);

}  // namespace pdl::python

#endif  // PYTHON_SRC_PROGRAM_H_
