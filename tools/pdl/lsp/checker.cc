#include "tools/pdl/lsp/checker.h"

#include <memory>
#include <new>
#include <stdexcept>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/training.h"
#include "tools/pdl/lsp/standard_files.h"

namespace pdl::lsp {
namespace {

// The range of "FILE:LINE:COLUMN" at the beginning of a message about the file; an empty range if
// the message does not begin so.
SourceRange RangeIn(llvm::StringRef message, const SourceFile& file) {
  unsigned line = 0, column = 0;
  if (!message.consume_front(file.name()) || !message.consume_front(":") ||
      message.consumeInteger(10, line) || !message.consume_front(":") ||
      message.consumeInteger(10, column) || line == 0 || line > file.num_lines()) {
    return {};
  }
  const llvm::StringRef characters = file.Line(line);
  size_t offset = 0;
  for (unsigned at = 1; at < column && offset < characters.size(); ++at) {
    do {
      ++offset;
    } while (offset < characters.size() &&
             (static_cast<unsigned char>(characters[offset]) & 0xC0) == 0x80);
  }
  const auto begin = file.LineBegin(line) + static_cast<uint32_t>(offset);
  return {begin, begin + 1};
}

// Adds the diagnostics of an Error that has no structured position.
void AddError(llvm::Error error, const std::shared_ptr<const SourceFile>& file,
              Diagnostics* diagnostics) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const SourceErrors& errors) {
        for (const Diagnostic& each : errors.diagnostics().all()) diagnostics->Add(each);
      },
      [&](const UserError& e) {
        diagnostics->Error(e.code(), file, RangeIn(e.text(), *file), e.text());
      },
      [&](const llvm::ErrorInfoBase& e) {
        diagnostics->Error(Code{}, file, RangeIn(e.message(), *file), e.message());
      });
}

llvm::Error CheckLowering(const Graph& graph) {
  PassContext context{GlobalRegistry()};
  if (!CheckPipeline().Applies(graph, context)) return llvm::Error::success();
  Graph lowered = graph.Clone();
  return CheckPipeline().Run(lowered, context);
}

void CheckStep(CompileRequest request, Diagnostics* diagnostics) {
  request.training_step = true;
  request.warn_unused = false;
  CompileResult result = Compile(request);
  if (!result.graph) {
    for (const Diagnostic& each : result.diagnostics.all()) diagnostics->Add(each);
    return;
  }
  PassContext context{GlobalRegistry()};
  const llvm::SmallVector<unsigned, 2> all = AllTrainings(*result.graph);
  context.active = all;
  AddError(CheckStepPipeline().Run(*result.graph, context), request.file, diagnostics);
}

}  // namespace

void Checker::Run() {
  while (const auto work = documents_.WaitForWork(options_.quiet)) {
    try {
      Check(*work);
    } catch (const std::bad_alloc&) {  // the last analysis stays
    } catch (const std::length_error&) {
    }
  }
}

CompileRequest Checker::RequestFor(const DocumentStore::Work& work,
                                   llvm::StringSet<>* reads) const {
  const Document& document = *work.document;
  CompileRequest request;
  request.file = document.source;
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.settings = options_.settings;
  request.warn_unused = true;
  request.cancel = work.cancel.get();
  if (document.path.empty()) return request;
  request.read_file =
      [this, reads, folder = FolderOf(document.path)](
          llvm::StringRef name) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    reads->insert(path);
    if (const DocumentPtr open = documents_.FindByPath(path)) return open->source;
    return ReadImported(folder, name);
  };
  return request;
}

void Checker::CheckFurther(const CompileRequest& request, const AnalysisResult& result,
                           Checked* checked) {
  const Graph& graph = *result.compiled.graph;
  Diagnostics diagnostics;
  AddError(CheckLowering(graph), request.file, &diagnostics);
  if (request.is_cancelled()) return;
  if (!diagnostics.has_errors() && !graph.trainings().empty()) CheckStep(request, &diagnostics);
  if (!diagnostics.has_errors() && result.compiled.has_tests)
    checked->analysis = SourceAnalysis::WithTests(result.analysis, request, &diagnostics);
  diagnostics.Sort();
  for (const Diagnostic& each : diagnostics.all()) checked->diagnostics.push_back(each);
}

void Checker::Check(const DocumentStore::Work& work) {
  const std::string& uri = work.document->uri;
  const CheckedPtr before = documents_.LastChecked(uri, false, std::chrono::milliseconds(0));
  Checked checked;
  checked.document = work.document;
  checked.generation = work.generation;
  const CompileRequest request = RequestFor(work, &checked.reads);
  AnalysisResult result = SourceAnalysis::Run(request);
  if (request.is_cancelled()) return;
  checked.analysis = result.analysis;
  checked.diagnostics = result.compiled.diagnostics.all().vec();
  const bool is_good = !result.analysis->has_broken_statements();
  checked.last_good = is_good ? result.analysis : before == nullptr ? nullptr : before->last_good;
  const bool needs_more = result.compiled.graph && (result.compiled.has_tests ||
                                                    !result.compiled.graph->trainings().empty() ||
                                                    !result.compiled.graph->ops().empty());
  if (needs_more) CheckFurther(request, result, &checked);
  if (request.is_cancelled()) return;
  if (is_good) checked.last_good = checked.analysis;
  if (IsStandardFile(work.document->path)) checked.diagnostics.clear();
  Finish(work, std::move(checked));
}

void Checker::Finish(const DocumentStore::Work& work, Checked checked) {
  documents_.SetChecked(work.document->uri, std::make_shared<const Checked>(std::move(checked)));
  Event event;
  event.kind = Event::Kind::kChecked;
  event.uri = work.document->uri;
  events_.Push(std::move(event));
}

}  // namespace pdl::lsp
