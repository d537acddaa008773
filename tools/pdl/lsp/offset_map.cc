#include "tools/pdl/lsp/offset_map.h"

#include <algorithm>

namespace pdl::lsp {

OffsetMap::OffsetMap(llvm::StringRef from, llvm::StringRef to)
    : from_size_(static_cast<uint32_t>(from.size())), to_size_(static_cast<uint32_t>(to.size())) {
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(from.size(), to.size()));
  const auto first = std::mismatch(from.begin(), from.begin() + shorter, to.begin()).first;
  prefix_ = static_cast<uint32_t>(first - from.begin());
  const auto rest = shorter - static_cast<std::ptrdiff_t>(prefix_);
  const auto last = std::mismatch(std::make_reverse_iterator(from.end()),
                                  std::make_reverse_iterator(from.end() - rest),
                                  std::make_reverse_iterator(to.end()))
                        .first;
  suffix_ = static_cast<uint32_t>(last - std::make_reverse_iterator(from.end()));
}

std::optional<uint32_t> OffsetMap::Map(uint32_t offset) const {
  if (offset <= prefix_) return offset;
  if (offset < from_size_ - suffix_) return std::nullopt;
  return std::min(offset, from_size_) - from_size_ + to_size_;
}

}  // namespace pdl::lsp
