#ifndef PDL_TOOLS_PDL_LSP_CHECKER_H_
#define PDL_TOOLS_PDL_LSP_CHECKER_H_

#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "pdl/compiler/analysis.h"
#include "pdl/compiler/compiler.h"
#include "tools/pdl/lsp/documents.h"
#include "tools/pdl/lsp/event_queue.h"

namespace pdl::lsp {

/// Settings that all documents share.
struct CheckOptions {
  /// Values of `attr`s; see CompileRequest::settings.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Edits closer to each other than this are analyzed together.
  std::chrono::milliseconds quiet{8};
};

/// Analyzes documents in a thread of its own, as `pdl check` does, except that no weights are read.
/// Unsaved contents of imported files count. A newer edit ends an analysis that is in progress.
class Checker {
 public:
  Checker(DocumentStore& documents, EventQueue& events, CheckOptions options)
      : documents_(documents), events_(events), options_(std::move(options)) {}

  /// Analyzes outdated documents until DocumentStore::Stop.
  void Run();

  /// A change of a name.
  struct Renaming {
    llvm::StringRef from, to;
    llvm::ArrayRef<SourceEdit> edits;
  };
  /// Whether a renaming keeps the meaning of a document: an Error says which error it would cause,
  /// or that other operators would be called. Compiles the document twice, in the calling thread.
  llvm::Error TryRenaming(const Document& document, const Renaming& renaming) const;

 private:
  /// Sources that replace those of the same name, a path without "." and "..".
  using EditedSources = llvm::StringMap<std::shared_ptr<const SourceFile>>;
  struct Outcome;

  void Check(const DocumentStore::Work& work);
  /// The request refers to `reads`, `edited` and `cancel`; the last two may be null.
  CompileRequest RequestFor(const Document& document, llvm::StringSet<>* reads,
                            const EditedSources* edited, const std::atomic<bool>* cancel) const;
  Outcome OutcomeOf(const Document& document, const EditedSources* edited) const;
  /// The checks that follow the compilation: lowering, the training step, tests.
  void CheckFurther(const CompileRequest& request, const AnalysisResult& result, Checked* checked);
  void Finish(const DocumentStore::Work& work, Checked checked);

  DocumentStore& documents_;
  EventQueue& events_;
  CheckOptions options_;
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_CHECKER_H_
