#ifndef PDL_TOOLS_PDL_LSP_OFFSET_MAP_H_
#define PDL_TOOLS_PDL_LSP_OFFSET_MAP_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/StringRef.h"

namespace pdl::lsp {

/// Maps offsets of one version of a source to another one: those before the first difference and
/// after the last one stay at their characters.
class OffsetMap {
 public:
  OffsetMap(llvm::StringRef from, llvm::StringRef to);

  /// Nullopt for an offset in the part that differs.
  std::optional<uint32_t> Map(uint32_t offset) const;
  /// The same, but the beginning of the part that differs for offsets in it.
  uint32_t Nearest(uint32_t offset) const { return Map(offset).value_or(prefix_); }

 private:
  uint32_t from_size_, to_size_;
  uint32_t prefix_ = 0;  // the number of equal bytes at the beginning
  uint32_t suffix_ = 0;  // and at the end
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_OFFSET_MAP_H_
