// Module: frontend
#ifndef PDL_COMPILER_FORMAT_H_
#define PDL_COMPILER_FORMAT_H_

#include <memory>
#include <optional>
#include <string>

#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// Returns the source formatted as by `pdl fmt`: two spaces per level, 100 columns where the
/// language allows a line break, at most one consecutive blank line. The meaning does not change:
/// every token and comment keeps its spelling. Formatting is idempotent and takes linear time.
/// Returns nullopt if the source has syntax errors, which go to `diagnostics`.
PDL_API std::optional<std::string> FormatText(const std::shared_ptr<const SourceFile>& file,
                                              Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_COMPILER_FORMAT_H_
