#ifndef PDL_FRONTEND_ELABORATE_LAYER_LIBRARY_H_
#define PDL_FRONTEND_ELABORATE_LAYER_LIBRARY_H_

#include <memory>
#include <vector>

#include "frontend/syntax/ast.h"
#include "pdl/compiler/compiler.h"

namespace pdl {

struct LayerLibrary::Texts {
  std::vector<std::unique_ptr<Ast>> asts;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_LAYER_LIBRARY_H_
