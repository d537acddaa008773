// Errors about positions in a source.
#ifndef PDL_IR_LOCATED_ERROR_H_
#define PDL_IR_LOCATED_ERROR_H_

#include <memory>
#include <string>
#include <utility>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/error.h"

namespace pdl {

/// The contents of the files of a position, by their names.
using SourceTexts = llvm::StringMap<std::shared_ptr<const std::string>>;

/// A UserError or DeviceError about a position in a source, with which its message begins.
template <class Base>
class Located : public llvm::ErrorInfo<Located<Base>, Base> {
 public:
  static inline char ID = 0;
  /// `rest` are the arguments of Base.
  template <class... Rest>
  explicit Located(std::string position, Rest&&... rest)
      : llvm::ErrorInfo<Located<Base>, Base>(std::forward<Rest>(rest)...),
        position_(std::move(position)) {}
  /// As returned by Graph::PathToString.
  const std::string& position() const { return position_; }
  /// The message without the position.
  llvm::StringRef rest() const {
    return llvm::StringRef(this->text()).drop_front(position_.size() + 2);
  }
  /// Of the files of the position whose contents are known.
  const SourceTexts& texts() const { return texts_; }
  void AddText(llvm::StringRef file, std::shared_ptr<const std::string> text) {
    texts_[file] = std::move(text);
  }
  void SetTexts(SourceTexts texts) { texts_ = std::move(texts); }

 private:
  std::string position_;
  SourceTexts texts_;
};

/// Adds the contents of the files that the errors refer to, as far as the graph has them.
PDL_API llvm::Error WithTexts(const Graph& graph, llvm::Error error);
template <class T>
llvm::Expected<T> WithTexts(const Graph& graph, llvm::Expected<T> result) {
  if (result) return result;
  return WithTexts(graph, result.takeError());
}

/// A Located UserError with the message "position: message"; a plain one if `position` is
/// empty.
PDL_API llvm::Error UserErrorAt(const std::string& position, Code code, const std::string& message);
/// The same at the position of a location; a plain UserError if it is unknown.
inline llvm::Error UserErrorAt(const Graph& graph, LocationId location, Code code,
                               const std::string& message) {
  return UserErrorAt(graph.PathToString(location), code, message);
}

/// Changes the messages of UserErrors, without their positions, and preserves the rest of them.
PDL_API llvm::Error MapMessage(llvm::Error error,
                               llvm::function_ref<std::string(Code, llvm::StringRef)> map);

}  // namespace pdl

#endif  // PDL_IR_LOCATED_ERROR_H_
