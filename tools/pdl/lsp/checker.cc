#include "tools/pdl/lsp/checker.h"

#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/load.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/compiler/training.h"
#include "pdl/op/error.h"
#include "tools/pdl/lsp/standard_files.h"

namespace pdl::lsp {
namespace {

// Moves the diagnostic of a call to its position in the document: that of the call itself, or of
// the call of a layer of another file that led to it.
Diagnostic InDocument(Diagnostic diagnostic, const std::shared_ptr<const SourceFile>& file) {
  if (diagnostic.file->name() == file->name()) {
    diagnostic.file = file;
    return diagnostic;
  }
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (note.file == nullptr || note.file->name() != file->name()) continue;
    diagnostic.file = file;
    diagnostic.primary = note.range;
    break;
  }
  return diagnostic;
}

// Adds the diagnostics of an Error of a pass.
void AddError(llvm::Error error, const std::shared_ptr<const SourceFile>& file,
              Diagnostics* diagnostics) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const SourceErrors& errors) {
        for (const Diagnostic& each : errors.diagnostics().all()) diagnostics->Add(each);
      },
      [&](const UserError& e) {
        if (std::optional<Diagnostic> diagnostic = DiagnosticOf(e)) {
          diagnostics->Add(InDocument(std::move(*diagnostic), file));
        } else {
          diagnostics->Error(e.code(), file, {}, e.text());
        }
      },
      [&](const llvm::ErrorInfoBase& e) { diagnostics->Error(Code{}, file, {}, e.message()); });
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

/// A path in one of its spellings; other names stay.
static std::string WithoutDots(llvm::StringRef path) {
  llvm::SmallString<128> normal(path);
  llvm::sys::path::remove_dots(normal, /*remove_dot_dot=*/true);
  return normal.str().str();
}

CompileRequest Checker::RequestFor(const Document& document, llvm::StringSet<>* reads,
                                   const EditedSources* edited,
                                   const std::atomic<bool>* cancel) const {
  const auto edited_or = [edited](const std::shared_ptr<const SourceFile>& file) {
    const auto found = edited == nullptr ? nullptr : edited->lookup(WithoutDots(file->name()));
    return found == nullptr
               ? file
               : std::make_shared<const SourceFile>(file->name().str(), found->text().str());
  };
  CompileRequest request;
  request.file = edited_or(document.source);
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.settings = options_.settings;
  request.warn_unused = true;
  request.cancel = cancel;
  if (document.path.empty()) return request;
  request.read_file =
      [this, reads, edited_or, folder = FolderOf(document.path)](
          llvm::StringRef name) -> llvm::Expected<std::shared_ptr<const SourceFile>> {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    reads->insert(path);
    if (const DocumentPtr open = documents_.FindByPath(path)) return edited_or(open->source);
    llvm::Expected<std::shared_ptr<const SourceFile>> file = ReadImported(folder, name);
    if (!file) return file.takeError();
    return edited_or(*file);
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
  const CompileRequest request =
      RequestFor(*work.document, &checked.reads, /*edited=*/nullptr, work.cancel.get());
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

/// The properties that must stay the same when names change.
struct Checker::Outcome {
  std::vector<std::string> errors;
  bool compiles = false;
  std::vector<std::string> operators;  // of all calls, sorted
};

Checker::Outcome Checker::OutcomeOf(const Document& document, const EditedSources* edited) const {
  Outcome outcome;
  llvm::StringSet<> reads;
  const CompileRequest request = RequestFor(document, &reads, edited, /*cancel=*/nullptr);
  AnalysisResult result = SourceAnalysis::Run(request);
  Diagnostics diagnostics = std::move(result.compiled.diagnostics);
  if (result.compiled.graph) {
    outcome.compiles = true;
    for (const Op* op : result.compiled.graph->ops()) outcome.operators.push_back(op->type());
    llvm::sort(outcome.operators);
  }
  if (result.compiled.has_tests) SourceAnalysis::WithTests(result.analysis, request, &diagnostics);
  for (const Diagnostic& each : diagnostics.all()) {
    if (each.severity != Severity::kError) continue;
    const std::string place =
        each.file == nullptr
            ? ""
            : "line " + std::to_string(each.file->PositionOf(each.primary.begin).line) + ": ";
    outcome.errors.push_back(place + each.message);
  }
  return outcome;
}

/// The sources after edits, which do not overlap. An Error if the edits are of different contents.
static llvm::Expected<llvm::StringMap<std::shared_ptr<const SourceFile>>> Apply(
    llvm::ArrayRef<SourceEdit> edits) {
  std::map<std::string, std::vector<const SourceEdit*>> of_files;
  for (const SourceEdit& edit : edits) of_files[WithoutDots(edit.file->name())].push_back(&edit);
  llvm::StringMap<std::shared_ptr<const SourceFile>> edited;
  for (auto& [name, list] : of_files) {
    llvm::sort(list, [](const SourceEdit* a, const SourceEdit* b) {
      return a->range.begin > b->range.begin;
    });
    std::string contents = list.front()->file->text().str();
    for (const SourceEdit* edit : list) {
      if (edit->file->text() != list.front()->file->text())
        return MakeUserError(Code::kRedefined, "'{0}' has changed", name);
      contents.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->replacement);
    }
    edited[name] = std::make_shared<const SourceFile>(name, std::move(contents));
  }
  return edited;
}

/// The message with the name as it was before.
static std::string WithOldName(llvm::StringRef message, llvm::StringRef from, llvm::StringRef to) {
  const auto is_part = [&](size_t at) {
    return at < message.size() && (llvm::isAlnum(message[at]) || message[at] == '_');
  };
  std::string old;
  for (size_t at = 0; at < message.size();) {
    const bool is_name = message.substr(at).starts_with(to) && (at == 0 || !is_part(at - 1)) &&
                         !is_part(at + to.size());
    old += is_name ? from : message.substr(at, 1);
    at += is_name ? to.size() : 1;
  }
  return old;
}

llvm::Error Checker::TryRenaming(const Document& document, const Renaming& renaming) const {
  llvm::Expected<EditedSources> edited = Apply(renaming.edits);
  if (!edited) return edited.takeError();
  const Outcome before = OutcomeOf(document, nullptr), after = OutcomeOf(document, &*edited);
  for (const std::string& error : after.errors) {
    // An error that was there before may name it.
    const std::string old = WithOldName(error, renaming.from, renaming.to);
    if (llvm::is_contained(before.errors, old)) continue;
    return MakeUserError(Code::kRedefined, "this would cause an error: {0}", error);
  }
  if (before.compiles && after.compiles && before.operators != after.operators)
    return MakeUserError(Code::kRedefined, "other layers or operators would be called then");
  return llvm::Error::success();
}

void Checker::Finish(const DocumentStore::Work& work, Checked checked) {
  documents_.SetChecked(work.document->uri, std::make_shared<const Checked>(std::move(checked)));
  Event event;
  event.kind = Event::Kind::kChecked;
  event.uri = work.document->uri;
  events_.Push(std::move(event));
}

}  // namespace pdl::lsp
