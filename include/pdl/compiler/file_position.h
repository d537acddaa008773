#ifndef PDL_COMPILER_FILE_POSITION_H_
#define PDL_COMPILER_FILE_POSITION_H_

#include <cstdint>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "pdl/compiler/export.h"

namespace pdl {

/// A position of a path that Graph::PathToString returns. Refers to the path.
struct FilePosition {
  llvm::StringRef file;
  /// From 1 on, the column in characters; 0 if only the file is known, which is the name of a node
  /// for ONNX models.
  uint32_t line = 0, column = 0;
};

/// The positions of a path such as "model.pdl:9:1 > layers.pdl:3:5", outermost first: of the calls
/// of layers that led to a call, and of the call. The file of positions that are left out is "...".
/// An empty path has none.
PDL_API llvm::SmallVector<FilePosition, 4> FilePositionsOf(llvm::StringRef path);
/// "model.pdl:9:1".
PDL_API std::string FilePositionToString(const FilePosition& position);

}  // namespace pdl

#endif  // PDL_COMPILER_FILE_POSITION_H_
