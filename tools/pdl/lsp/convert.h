#ifndef PDL_TOOLS_PDL_LSP_CONVERT_H_
#define PDL_TOOLS_PDL_LSP_CONVERT_H_

#include <map>
#include <memory>
#include <string>

#include "llvm/Support/JSON.h"
#include "pdl/compiler/diagnostic.h"
#include "tools/pdl/lsp/documents.h"
#include "tools/pdl/lsp/offset_map.h"
#include "tools/pdl/lsp/protocol.h"

// Conversion between the data of the compiler and those of the protocol.

namespace pdl::lsp {

/// The URIs and line tables of the files that an answer refers to.
class FileTable {
 public:
  /// `main` is the document that the answer is about. It may have changed since its analysis, which
  /// was of `analyzed`.
  FileTable(const DocumentStore& documents, Encoding encoding, DocumentPtr main,
            std::shared_ptr<const SourceFile> analyzed)
      : documents_(documents),
        encoding_(encoding),
        main_(std::move(main)),
        analyzed_(std::move(analyzed)),
        to_main_(analyzed_->text(), main_->source->text()) {}

  /// The URI of a source: that of an open document, or else of its path.
  std::string UriOf(const SourceFile& file) const;
  /// A range of a source, in the current contents if it is the document.
  Range RangeOf(const SourceFile& file, SourceRange range);

 private:
  const DocumentStore& documents_;
  Encoding encoding_;
  DocumentPtr main_;
  std::shared_ptr<const SourceFile> analyzed_;
  OffsetMap to_main_;
  std::map<const SourceFile*, LineTable> tables_;
};

inline LineColumn ToLineColumn(Position position) { return {position.line, position.character}; }
inline Position ToPosition(LineColumn position) {
  return Position(static_cast<int>(position.line), static_cast<int>(position.column));
}
Range ToRange(const LineTable& lines, SourceRange range);
SourceRange FromRange(const LineTable& lines, Range range);

/// The document after a change.
DocumentPtr ApplyChange(const Document& document, const ContentChange& change, int64_t version,
                        Encoding encoding);

/// {"uri", "range"}
llvm::json::Value ToJson(const FileRange& location, FileTable& files);
llvm::json::Value ToJson(const Diagnostic& diagnostic, FileTable& files,
                         const ClientFeatures& client);

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_CONVERT_H_
