#ifndef PDL_TOOLS_PDL_LSP_CHECKER_H_
#define PDL_TOOLS_PDL_LSP_CHECKER_H_

#include <chrono>
#include <string>
#include <utility>
#include <vector>

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

 private:
  void Check(const DocumentStore::Work& work);
  /// `work` must outlive the request.
  CompileRequest RequestFor(const DocumentStore::Work& work, llvm::StringSet<>* reads) const;
  /// The checks that follow the compilation: lowering, the training step, tests.
  void CheckFurther(const CompileRequest& request, const AnalysisResult& result, Checked* checked);
  void Finish(const DocumentStore::Work& work, Checked checked);

  DocumentStore& documents_;
  EventQueue& events_;
  CheckOptions options_;
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_CHECKER_H_
