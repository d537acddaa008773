#ifndef PDL_FRONTEND_REPL_LAYERS_H_
#define PDL_FRONTEND_REPL_LAYERS_H_

#include <string>
#include <vector>

#include "frontend/ast.h"

namespace pdl {

/// What a session tells of a layer, or of a file that is called as one.
struct ReplLayer {
  struct Parameter {
    std::string name;
    /// As it is declared: "size: int > 0".
    std::string text;
    std::string doc;
    bool is_input = false;
    /// Values that it may have, as the language writes them, where there are few.
    std::vector<std::string> choices;
  };
  std::string name;  // "net.block" where it is of a file imported under a name
  std::string doc;
  std::vector<Parameter> parameters;
  std::vector<std::string> results;

  const Parameter* Find(llvm::StringRef parameter) const;
  /// "fc(xs...: F[..., D], size: int > 0) -> y".
  std::string Signature() const;
  /// All about it, for a terminal of `width` columns.
  std::string Document(unsigned width) const;
};

/// The layers of a file, their names after `prefix`.
void AddLayers(const Ast& ast, llvm::StringRef prefix, std::vector<ReplLayer>* layers);
/// A file as a layer: its attrs, inputs and outputs.
ReplLayer DescribeNetwork(const Ast& ast, llvm::StringRef name);

}  // namespace pdl

#endif  // PDL_FRONTEND_REPL_LAYERS_H_
