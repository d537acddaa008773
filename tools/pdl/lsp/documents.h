#ifndef PDL_TOOLS_PDL_LSP_DOCUMENTS_H_
#define PDL_TOOLS_PDL_LSP_DOCUMENTS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/analysis.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/source.h"
#include "tools/pdl/lsp/line_table.h"

namespace pdl::lsp {

/// The contents of an open document after an edit. Immutable.
struct Document {
  Document(std::string uri_in, int64_t version_in, std::string contents, Encoding encoding);

  std::string uri;
  /// The absolute path; empty if the document is not a file.
  std::string path;
  /// The version number of the client.
  int64_t version;
  /// Its name is the path, or else the URI.
  std::shared_ptr<const SourceFile> source;
  bool has_byte_order_mark;
  LineTable lines;
};
using DocumentPtr = std::shared_ptr<const Document>;

/// The last analysis of a document.
struct Checked {
  DocumentPtr document;  // as it was analyzed
  uint64_t generation = 0;
  std::vector<Diagnostic> diagnostics;
  std::shared_ptr<const SourceAnalysis> analysis;
  /// The last analysis without syntax errors; null if there was none.
  std::shared_ptr<const SourceAnalysis> last_good;
  /// Paths of the files that imports read, or failed to read.
  llvm::StringSet<> reads;
};
using CheckedPtr = std::shared_ptr<const Checked>;

/// The open documents. Each has a generation number, which an edit of the document or of a file
/// that it imports increases; a result for an older generation is outdated. Thread-safe.
class DocumentStore {
 public:
  /// Opens a document, or replaces its contents.
  void Set(DocumentPtr document);
  /// Returns false if the document is not open.
  bool Close(llvm::StringRef uri);
  /// Requests an analysis of all documents that read the file.
  void FileChanged(llvm::StringRef path);
  /// Ends WaitForWork.
  void Stop();

  /// The current contents; null if the document is not open.
  DocumentPtr Find(llvm::StringRef uri) const;
  /// The open document of a file, or null.
  DocumentPtr FindByPath(llvm::StringRef path) const;
  std::vector<DocumentPtr> All() const;

  /// A document to analyze.
  struct Work {
    DocumentPtr document;
    uint64_t generation;
    /// Set when the result becomes unnecessary: by an edit, Close or Stop.
    std::shared_ptr<const std::atomic<bool>> cancel;
  };
  /// Waits for a document whose analysis is outdated and that was not edited for `quiet`, the last
  /// edited one first. Returns nullopt after Stop.
  std::optional<Work> WaitForWork(std::chrono::milliseconds quiet);
  /// Whether the document was not edited since.
  bool IsCurrent(llvm::StringRef uri, uint64_t generation) const;
  void SetChecked(llvm::StringRef uri, CheckedPtr checked);
  /// The last analysis. If there is none, or if `current` is set and it is outdated, waits for one,
  /// but not longer than `limit`; null if there is none then.
  CheckedPtr LastChecked(llvm::StringRef uri, bool current, std::chrono::milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    DocumentPtr document;
    CheckedPtr checked;
    uint64_t generation = 0;
    uint64_t started = 0;  // the generation whose analysis has begun
    /// Work::cancel of that analysis.
    std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);
    Clock::time_point edited;
  };

  void Touch(Entry* entry);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  llvm::StringMap<Entry> entries_;  // by URI
  uint64_t last_generation_ = 0;
  bool stopped_ = false;
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_DOCUMENTS_H_
