#include "pdl/compiler/file_position.h"

namespace pdl {

static FilePosition ParseFilePosition(llvm::StringRef text) {
  const auto [position, column] = text.rsplit(':');
  const auto [file, line] = position.rsplit(':');
  FilePosition parsed{file};
  if (line.getAsInteger(10, parsed.line) || column.getAsInteger(10, parsed.column)) return {text};
  return parsed;
}

llvm::SmallVector<FilePosition, 4> FilePositionsOf(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  if (!path.empty()) path.split(parts, " > ");
  llvm::SmallVector<FilePosition, 4> positions;
  for (const llvm::StringRef part : parts) positions.push_back(ParseFilePosition(part));
  return positions;
}

std::string FilePositionToString(const FilePosition& position) {
  if (position.line == 0) return position.file.str();
  return position.file.str() + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column);
}

}  // namespace pdl
