#include "pdl/compiler/analysis.h"

#include <new>
#include <stdexcept>

#include "frontend/editor/analysis_data.h"
#include "frontend/elaborate/elaborator.h"
#include "frontend/elaborate/test_blocks.h"
#include "frontend/syntax/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/describe_layers.h"

namespace pdl {

llvm::StringRef SymbolKindName(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kAttr:
      return "attr";
    case SymbolKind::kInput:
      return "input";
    case SymbolKind::kParameter:
      return "parameter";
    case SymbolKind::kState:
      return "state";
    case SymbolKind::kValue:
      return "value";
    case SymbolKind::kLoopName:
      return "loop variable";
    case SymbolKind::kSize:
      return "size";
    case SymbolKind::kResult:
      return "result";
    case SymbolKind::kLayer:
      return "layer";
    case SymbolKind::kLayerInput:
      return "input of a layer";
    case SymbolKind::kLayerAttr:
      return "attribute of a layer";
    case SymbolKind::kInstance:
      return "layer instance";
    case SymbolKind::kFile:
      return "imported file";
    case SymbolKind::kOperator:
      return "operator";
    case SymbolKind::kArgument:
      return "argument of an operator";
    case SymbolKind::kTest:
      return "test";
  }
  llvm_unreachable("a kind");
}

// -------------------------------------------------------------------------------------------------

const LayerSignature* LayerSignatures::Find(const std::shared_ptr<const SourceFile>& file,
                                            llvm::StringRef name) {
  const std::lock_guard lock(mutex_);
  auto [entry, is_new] = of_files_.try_emplace(file.get());
  if (is_new) {
    Diagnostics errors;
    entry->second = DescribeLayers(file, &errors);
  }
  const auto found =
      llvm::find_if(entry->second, [&](const LayerSignature& each) { return each.name == name; });
  return found == entry->second.end() ? nullptr : &*found;
}

// The signatures of the library that was last asked for: mostly, there is only one.
static std::shared_ptr<const std::vector<LayerSignature>> SignaturesOf(
    const std::shared_ptr<const LayerLibrary>& library) {
  static std::mutex mutex;
  static auto& last = *new std::weak_ptr<const LayerLibrary>;
  static auto& signatures = *new std::shared_ptr<const std::vector<LayerSignature>>;
  const std::lock_guard lock(mutex);
  if (last.lock() != library) {
    signatures = std::make_shared<const std::vector<LayerSignature>>(DescribeLayers(*library));
    last = library;
  }
  return signatures;
}

llvm::ArrayRef<LayerSignature> LayerSignatures::Standard() {
  if (library_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (standard_ == nullptr) standard_ = SignaturesOf(library_);
  return *standard_;
}

const LayerSignature* LayerSignatures::FindStandard(llvm::StringRef name) {
  const llvm::ArrayRef<LayerSignature> all = Standard();
  const auto found =
      llvm::find_if(all, [&](const LayerSignature& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// -------------------------------------------------------------------------------------------------

namespace {

void KeepLocations(const Graph& graph, const ModuleTable& modules, SourceAnalysis::Data* data) {
  data->locations = graph.locations().vec();
  for (const Module& module : modules.modules)
    if (module.file_index != UINT32_MAX) data->location_files[module.file_index] = module.file;
}

void KeepVariables(const Graph& graph, SourceAnalysis::Data* data) {
  // Completion of longer lists is of no use.
  constexpr size_t kMaxKept = 10'000;
  for (llvm::ArrayRef<Value*> list : {graph.parameters(), graph.states()}) {
    for (const Value* value : list) {
      if (data->variables.size() == kMaxKept) return;
      if (llvm::StringRef(value->name()).contains('.'))
        data->variables.emplace_back(value->name(), value->type().ToString());
    }
  }
}

CompileResult Elaborate(const CompileRequest& request, SourceAnalysis::Data* data) {
  CompileResult result;
  const std::unique_ptr<Ast> ast = Parse(request.file, &result.diagnostics);
  result.has_tests = llvm::any_of(ast->statements, [](const ast::Statement* statement) {
    return statement->kind == ast::StatementKind::kTest;
  });
  Elaborator elaborator(request, *ast, &result.diagnostics, &data->facts);
  Graph graph = elaborator.Run();
  result.diagnostics.Sort();
  if (request.is_cancelled()) return result;
  KeepLocations(graph, elaborator.files(), data);
  KeepVariables(graph, data);
  for (const ast::Statement* statement : ast->statements)
    if (statement->kind == ast::StatementKind::kBroken) data->broken.push_back(statement->range);
  data->symbols = ResolveSymbols(elaborator.files(), *request.registry, data->facts);
  if (!result.diagnostics.has_errors()) result.graph = std::move(graph);
  return result;
}

CompileResult OutOfMemory(const SourceFile& file) {
  CompileResult result;
  result.diagnostics.Error(Code{}, nullptr, {},
                           ("out of memory in the analysis of '" + file.name() + "'").str());
  return result;
}

/// A key that equal diagnostics share.
std::string KeyOf(const Diagnostic& diagnostic) {
  const llvm::StringRef file = diagnostic.file == nullptr ? "" : diagnostic.file->name();
  return (file + ":" + llvm::Twine(diagnostic.primary.begin) + ":" + diagnostic.message).str();
}

}  // namespace

SourceAnalysis::SourceAnalysis(std::unique_ptr<const Data> data) : data_(std::move(data)) {}
SourceAnalysis::~SourceAnalysis() = default;

const std::shared_ptr<const SourceFile>& SourceAnalysis::file() const { return data_->file; }

AnalysisResult SourceAnalysis::Run(const CompileRequest& request) {
  auto data = std::make_unique<Data>();
  data->file = request.file;
  data->registry = request.registry;
  data->library = request.library;
  data->signatures = std::make_shared<LayerSignatures>(request.library);
  AnalysisResult result;
  try {
    result.compiled = Elaborate(request, data.get());
  } catch (const std::bad_alloc&) {
    result.compiled = OutOfMemory(*request.file);
  } catch (const std::length_error&) {
    result.compiled = OutOfMemory(*request.file);
  }
  if (data->symbols.files.empty()) {
    data->symbols.files.push_back(request.file);
    data->symbols.file_names.emplace_back();
    data->symbols.scopes.push_back({0, Symbol::kNone, {}});
  }
  result.analysis = std::make_shared<const SourceAnalysis>(std::move(data));
  return result;
}

std::shared_ptr<const SourceAnalysis> SourceAnalysis::WithTests(
    const std::shared_ptr<const SourceAnalysis>& analysis, const CompileRequest& request,
    Diagnostics* diagnostics) {
  Facts facts(/*tests_only=*/true);
  Diagnostics syntax;
  const std::unique_ptr<Ast> ast = Parse(request.file, &syntax);
  llvm::StringSet<> known;
  for (const ast::Statement* statement : ast->statements) {
    const auto* test = llvm::dyn_cast<ast::TestStatement>(statement);
    if (test == nullptr) continue;
    const auto runs = static_cast<unsigned>(RunsOf(*test).size());
    for (unsigned run = 0; run < runs; ++run) {
      Diagnostics errors;
      Elaborator elaborator(request, *ast, &errors, &facts);
      elaborator.RunTest(*test, run, {});
      if (request.is_cancelled()) return analysis;
      if (!errors.has_errors()) continue;
      errors.Sort();
      for (const Diagnostic& error : errors.all())
        if (known.insert(KeyOf(error)).second) diagnostics->Add(error);
    }
  }
  auto data = std::make_unique<Data>(*analysis->data_);
  data->facts.Add(facts);
  return std::make_shared<const SourceAnalysis>(std::move(data));
}

// -------------------------------------------------------------------------------------------------

std::optional<FileRange> SourceAnalysis::Data::DefinitionAt(LocationId location) const {
  if (location >= locations.size()) return std::nullopt;
  const Location& at = locations[location];
  const std::shared_ptr<const SourceFile> source = location_files.lookup(at.file);
  if (source == nullptr || at.line == 0 || at.line > source->num_lines()) return std::nullopt;
  // Columns count characters.
  const llvm::StringRef line = source->Line(at.line);
  size_t offset = 0;
  for (uint32_t column = 1; column < at.column && offset < line.size(); ++column) {
    do {
      ++offset;
    } while (offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0) == 0x80);
  }
  const auto begin = source->LineBegin(at.line) + static_cast<uint32_t>(offset);
  // The name follows the keyword.
  const llvm::StringRef statement = line.drop_front(offset);
  const size_t keyword = statement.take_while(llvm::isAlpha).size();
  const size_t spaces = statement.drop_front(keyword).take_while(llvm::isSpace).size();
  const auto name = begin + static_cast<uint32_t>(keyword + spaces);
  return FileRange{source, WordAt(source->text(), name)};
}

SourceRange WordAt(llvm::StringRef source, uint32_t offset) {
  auto is_word = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  size_t begin = std::min<size_t>(offset, source.size());
  size_t end = begin;
  while (begin > 0 && is_word(source[begin - 1])) --begin;
  while (end < source.size() && is_word(source[end])) ++end;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

std::string JoinTypes(const NameFact& fact) {
  std::vector<std::string> types;
  for (const Type& type : fact.types) {
    std::string written = type.ToString();
    if (!llvm::is_contained(types, written)) types.push_back(std::move(written));
  }
  if (fact.has_more) types.push_back("…");
  return llvm::join(types, " | ");
}

std::shared_ptr<const SourceFile> SourceAnalysis::FindFile(llvm::StringRef name) const {
  for (const auto& known : data_->symbols.files)
    if (known->name() == name) return known;
  return nullptr;
}

bool SourceAnalysis::has_broken_statements() const { return !data_->broken.empty(); }

bool SourceAnalysis::IsBroken(uint32_t offset) const {
  return llvm::any_of(data_->broken, [&](SourceRange range) {
    return range.begin <= offset && offset <= range.end;
  });
}

std::vector<TypeHint> SourceAnalysis::TypeHints(SourceRange range) const {
  std::vector<TypeHint> hints;
  for (const Occurrence& occurrence : data_->symbols.occurrences) {
    if (occurrence.file != 0 || occurrence.range.begin > range.end) break;
    if (occurrence.range.end < range.begin || occurrence.has_type) continue;
    const SymbolKind kind = data_->symbols.symbols[occurrence.symbol].kind;
    const bool is_target =
        occurrence.is_definition && (kind == SymbolKind::kValue || kind == SymbolKind::kResult);
    if (!is_target && !occurrence.is_return) continue;
    const NameFact* fact = data_->FactOf(occurrence);
    const std::string types = fact == nullptr ? "" : JoinTypes(*fact);
    if (!types.empty()) hints.push_back({occurrence.range.end, ": " + types});
  }
  return hints;
}

std::vector<FileRange> SourceAnalysis::Definitions(uint32_t offset) const {
  std::vector<FileRange> found;
  const Occurrence* use = data_->symbols.Find(0, offset);
  if (use != nullptr) {
    for (const Occurrence* definition : data_->symbols.DefinitionsOf(*use))
      found.push_back(data_->RangeOf(*definition));
    const Symbol& symbol = data_->symbols.symbols[use->symbol];
    if (found.empty() && symbol.origin_file != Symbol::kNone)
      found.push_back({data_->symbols.files[symbol.origin_file], symbol.origin});
    if (!found.empty()) return found;
  }
  // A path to a parameter, such as `hidden.w`.
  const NameFact* fact = data_->facts.FindName(*data_->file, WordAt(data_->file->text(), offset));
  if (fact == nullptr) return found;
  if (const std::optional<FileRange> definition = data_->DefinitionAt(fact->location))
    found.push_back(*definition);
  return found;
}

std::vector<NameUse> SourceAnalysis::Uses(const SourceFile& in, uint32_t offset) const {
  std::vector<NameUse> uses;
  const uint32_t file = data_->symbols.IndexOf(in);
  const Occurrence* at = file == Symbol::kNone ? nullptr : data_->symbols.Find(file, offset);
  if (at == nullptr) return uses;
  for (uint32_t index : data_->symbols.symbols[at->symbol].occurrences) {
    const Occurrence& occurrence = data_->symbols.occurrences[index];
    uses.push_back({data_->RangeOf(occurrence), occurrence.is_definition});
  }
  return uses;
}

}  // namespace pdl
