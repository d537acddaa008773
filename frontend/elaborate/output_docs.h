#ifndef PDL_FRONTEND_ELABORATE_OUTPUT_DOCS_H_
#define PDL_FRONTEND_ELABORATE_OUTPUT_DOCS_H_

#include <string>
#include <vector>

#include "frontend/syntax/ast.h"

namespace pdl {

/// The names of the results of an `output` or a `return`: the given name, the name of the value, or
/// "y" for the first and "y_2", "y_3", … for the others.
std::vector<std::string> ResultNames(const ast::OutputStatement& statement);

/// The part of a statement's `##` comment that describes the result `names[index]`. A line
/// `NAME: text` begins the description of the result of that name; what is before the first such
/// line describes all results:
///
///   ## y: the state after each step, [N, T, size].
///   ## last: the state after the last step, [N, size].
///   return y, last
std::string DocOfResult(llvm::StringRef doc, llvm::ArrayRef<std::string> names, size_t index);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_OUTPUT_DOCS_H_
