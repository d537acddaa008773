#ifndef PDL_FRONTEND_ELABORATE_FOREIGN_NAMES_H_
#define PDL_FRONTEND_ELABORATE_FOREIGN_NAMES_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pdl {

/// A name of PyTorch, Keras, NumPy or ONNX, and its counterpart here.
struct ForeignName {
  llvm::StringRef name;
  /// An operator, a layer, or a name of an argument or result.
  llvm::StringRef here;
  /// A replacement to suggest instead of `here`: `pad="same"`; may be empty.
  llvm::StringRef text = "";
};

/// The counterpart of a name among `candidates`, without regard to case; null if there is none.
const ForeignName* FindForeignName(llvm::StringRef name,
                                   llvm::ArrayRef<llvm::StringRef> candidates);

/// The replacement of `x.name` or `x.name(…)`, a member of tensors in these libraries:
/// "dims(x)" for "shape"; empty for a name that is no member there, or has no counterpart.
std::string WithoutMember(llvm::StringRef tensor, llvm::StringRef name);

}  // namespace pdl

#endif  // PDL_FRONTEND_ELABORATE_FOREIGN_NAMES_H_
