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

/// The text laid out as `pdl fmt` does: two spaces a level, 100 columns where the language lets a
/// line break, at most one blank line in a row. It means the same: every word, number, text,
/// bracket and comment is kept as it is spelled. Formatting the result gives the result. Nullopt
/// where the text has syntax errors, which go to `diagnostics`. Takes time linear in the text.
PDL_API std::optional<std::string> FormatText(const std::shared_ptr<const SourceFile>& file,
                                              Diagnostics* diagnostics);

}  // namespace pdl

#endif  // PDL_COMPILER_FORMAT_H_
