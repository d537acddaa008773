#ifndef PDL_FRONTEND_LAYER_LIBRARY_H_
#define PDL_FRONTEND_LAYER_LIBRARY_H_

#include <memory>
#include <vector>

#include "frontend/ast.h"
#include "pdl/compiler.h"

namespace pdl {

struct LayerLibrary::Texts {
  std::vector<std::unique_ptr<Ast>> asts;
};

}  // namespace pdl

#endif  // PDL_FRONTEND_LAYER_LIBRARY_H_
