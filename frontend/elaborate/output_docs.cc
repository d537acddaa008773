#include "frontend/elaborate/output_docs.h"

#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace pdl {

std::vector<std::string> ResultNames(const ast::OutputStatement& statement) {
  std::vector<std::string> names;
  for (const auto& [index, binding] : llvm::enumerate(statement.bindings)) {
    const auto* name = llvm::dyn_cast<ast::NameExpr>(binding.value);
    names.push_back(binding.is_named() ? binding.name.text.str()
                    : name != nullptr  ? name->name.str()
                    : index == 0       ? "y"
                                       : "y_" + std::to_string(index + 1));
  }
  return names;
}

std::string DocOfResult(llvm::StringRef doc, llvm::ArrayRef<std::string> names, size_t index) {
  if (doc.empty()) return "";
  llvm::SmallVector<llvm::StringRef, 8> lines;
  bool is_mine = true;
  for (llvm::StringRef line : llvm::split(doc, '\n')) {
    for (const auto& [i, name] : llvm::enumerate(names)) {
      llvm::StringRef rest = line.ltrim();
      if (!rest.consume_front(name) || !rest.consume_front(":")) continue;
      is_mine = i == index;
      line = rest.ltrim();
      break;
    }
    if (is_mine) lines.push_back(line);
  }
  return llvm::join(lines, "\n");
}

}  // namespace pdl
