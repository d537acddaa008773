#ifndef PDL_FRONTEND_EDITOR_ANALYSIS_DATA_H_
#define PDL_FRONTEND_EDITOR_ANALYSIS_DATA_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "frontend/editor/facts.h"
#include "frontend/editor/symbols.h"
#include "llvm/ADT/DenseMap.h"
#include "pdl/compiler/analysis.h"
#include "pdl/compiler/layer_def.h"

namespace pdl {

/// The signatures of layers, described when they are first needed. Thread-safe.
class LayerSignatures {
 public:
  explicit LayerSignatures(std::shared_ptr<const LayerLibrary> library)
      : library_(std::move(library)) {}

  /// The layer of a file; null if there is none.
  const LayerSignature* Find(const std::shared_ptr<const SourceFile>& file, llvm::StringRef name);
  /// The standard layer with that name, or null.
  const LayerSignature* FindStandard(llvm::StringRef name);
  llvm::ArrayRef<LayerSignature> Standard();

 private:
  std::shared_ptr<const LayerLibrary> library_;
  std::mutex mutex_;
  std::shared_ptr<const std::vector<LayerSignature>> standard_;
  std::map<const SourceFile*, std::vector<LayerSignature>> of_files_;
};

struct SourceAnalysis::Data {
  std::shared_ptr<const SourceFile> file;
  const OpRegistry* registry = nullptr;
  std::shared_ptr<const LayerLibrary> library;
  Facts facts;
  SymbolTable symbols;
  /// Where the variables of the graph are defined, by the location of a NameFact.
  std::vector<Location> locations;
  llvm::DenseMap<uint32_t, std::shared_ptr<const SourceFile>> location_files;
  std::shared_ptr<LayerSignatures> signatures;
  /// The full names and types of parameters and states of layers: "hidden.w".
  std::vector<std::pair<std::string, std::string>> variables;
  /// Statements with syntax errors.
  std::vector<SourceRange> broken;

  /// The position of a location: the statement there.
  std::optional<FileRange> DefinitionAt(LocationId location) const;
  const NameFact* FactOf(const Occurrence& occurrence) const {
    return facts.FindName(*symbols.files[occurrence.file], occurrence.range);
  }
  FileRange RangeOf(const Occurrence& occurrence) const {
    return {symbols.files[occurrence.file], occurrence.range};
  }
};

/// The identifier around an offset; empty if there is none.
SourceRange WordAt(llvm::StringRef source, uint32_t offset);
/// The types of a fact, as written: "f32[N, 8] | f32[N, 3]"; empty if there are none.
std::string JoinTypes(const NameFact& fact);
/// Documentation of a symbol at one of its occurrences.
std::string DescribeSymbol(const SourceAnalysis::Data& data, const Occurrence& occurrence);

}  // namespace pdl

#endif  // PDL_FRONTEND_EDITOR_ANALYSIS_DATA_H_
