// Facts about sources for editors: inferred types, definitions and uses of names, documentation,
// completion. A SourceAnalysis is made from one elaboration; everything else is answered from it.
// Module: frontend
#ifndef PDL_COMPILER_ANALYSIS_H_
#define PDL_COMPILER_ANALYSIS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/Support/Error.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/diagnostic.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// The meanings of names.
enum class SymbolKind : uint8_t {
  kAttr,
  kInput,
  kParameter,
  kState,
  kValue,
  kLoopName,
  kSize,
  kResult,
  kLayer,
  kLayerInput,
  kLayerAttr,
  kInstance,
  kFile,      // `import … as NAME`
  kOperator,  // also the built-in functions, such as `dims`
  kArgument,  // an attribute or input of an operator
  kTest,
};
/// "parameter", "layer", …, for people.
PDL_API llvm::StringRef SymbolKindName(SymbolKind kind);

/// A range of one of the files.
struct FileRange {
  std::shared_ptr<const SourceFile> file;
  SourceRange range;
};

/// A position where a name is written.
struct NameUse : FileRange {
  bool is_definition = false;
};

/// A replacement of a part of a file.
struct SourceEdit : FileRange {
  std::string replacement;
};

/// A type to show after a name that is written without one.
struct TypeHint {
  uint32_t offset;
  std::string label;  // ": f32[N, 8]"
};

/// Documentation of the name at a position, as Markdown.
struct HoverContent {
  SourceRange range;
  std::string markdown;
};

/// A statement that defines something, or a test, with those in it.
struct OutlineItem {
  std::string name;
  std::string detail;
  SymbolKind kind;
  SourceRange range;
  SourceRange name_range;
  std::vector<OutlineItem> children = {};
};

/// Lines that can be folded.
struct FoldingRange {
  enum class Kind : uint8_t { kBlock, kComment, kImports };
  Kind kind;
  SourceRange range;
};

/// A word and how to highlight it.
struct SemanticToken {
  enum class Kind : uint8_t {
    kKeyword,
    kComment,
    kString,
    kNumber,
    kSign,
    kType,
    kOperator,
    kLayer,
    kFile,
    kAttribute,
    kInput,
    kParameter,
    kState,
    kValue,
    kSize,
    kResult,
  };
  Kind kind;
  SourceRange range;
  bool is_definition = false;
  bool is_documentation = false;
  bool is_standard = false;
};

/// One way to complete a word.
struct CompletionItem {
  enum class Kind : uint8_t {
    kKeyword,
    kOperator,
    kLayer,
    kAttribute,
    kValue,
    kFile,
    kType,
    kChoice
  };
  Kind kind;
  std::string label;
  /// The completed word; with `is_snippet` "$0" is the position of the cursor after it.
  std::string insert;
  bool is_snippet = false;
  /// A type or a declaration, in one line.
  std::string detail = {};
  /// Markdown.
  std::string documentation = {};
  /// Items with a lower rank come first.
  unsigned rank = 0;
};
struct CompletionResult {
  /// The part of the word before the cursor, which the items replace.
  SourceRange replaced;
  std::vector<CompletionItem> items;
  /// If not empty, the path of a file with one of these endings is being written.
  std::vector<std::string> file_endings = {};
};

/// The declaration of the callee of a call.
struct CallSignature {
  std::string label;
  std::string documentation;  // Markdown
  struct Parameter {
    SourceRange range;  // in `label`
    std::string name;
    std::string documentation;
  };
  std::vector<Parameter> parameters;
  /// The index of the parameter at the cursor; nullopt if there is none.
  std::optional<unsigned> active;
};

struct AnalysisResult;

/// The facts about one source and its imports, as they were when it was elaborated. Immutable; safe
/// to share between threads. Offsets are in the analyzed source; an offset without a name has no
/// results.
class PDL_API SourceAnalysis {
 public:
  /// Compiles the source and records facts about it, also if it has errors. The facts are
  /// incomplete if the request is cancelled.
  static AnalysisResult Run(const CompileRequest& request);
  /// The same analysis, with the facts about its tests, which are compiled for this. Their errors
  /// are added to `diagnostics`, each once.
  static std::shared_ptr<const SourceAnalysis> WithTests(
      const std::shared_ptr<const SourceAnalysis>& analysis, const CompileRequest& request,
      Diagnostics* diagnostics);
  ~SourceAnalysis();

  const std::shared_ptr<const SourceFile>& file() const;
  /// The file with that name that the analysis knows; null if there is none.
  std::shared_ptr<const SourceFile> FindFile(llvm::StringRef name) const;

  /// Whether a statement with a syntax error contains the offset: nothing is known about it.
  bool IsBroken(uint32_t offset) const;
  bool has_broken_statements() const;

  /// The types of assigned names and of results of layers in the range. If a layer is called with
  /// different types, all of them.
  std::vector<TypeHint> TypeHints(SourceRange range) const;
  std::optional<HoverContent> Hover(uint32_t offset) const;
  /// The definitions that the name at the offset may refer to.
  std::vector<FileRange> Definitions(uint32_t offset) const;
  /// All positions of the name in the file and its imports, definitions first. `in` is one of these
  /// files.
  std::vector<NameUse> Uses(const SourceFile& in, uint32_t offset) const;
  /// The range of the name at the offset if it can be renamed; else an Error that says why not.
  llvm::Expected<SourceRange> PrepareRename(const SourceFile& in, uint32_t offset) const;
  /// The edits that give the name at the offset of a file another name, in all files. An Error if
  /// the new name is not valid or is taken. Names of outputs and results do not change.
  llvm::Expected<std::vector<SourceEdit>> Rename(const SourceFile& in, uint32_t offset,
                                                 llvm::StringRef name) const;

  /// Completions of a word in the current source, which may have changed since the analysis;
  /// `analyzed` is the offset of the analyzed source that corresponds to `offset`.
  CompletionResult Complete(const std::shared_ptr<const SourceFile>& current, uint32_t offset,
                            uint32_t analyzed) const;
  /// The declaration of the innermost call around the offset of the current source.
  std::optional<CallSignature> SignatureAt(const std::shared_ptr<const SourceFile>& current,
                                           uint32_t offset, uint32_t analyzed) const;

  struct Data;
  explicit SourceAnalysis(std::unique_ptr<const Data> data);

 private:
  std::unique_ptr<const Data> data_;
};

/// The result of SourceAnalysis::Run.
struct AnalysisResult {
  std::shared_ptr<const SourceAnalysis> analysis;
  CompileResult compiled;
};

/// The statements of a source for an outline, in their order.
PDL_API std::vector<OutlineItem> OutlineOf(const std::shared_ptr<const SourceFile>& file);
/// Blocks, comments of several lines, and imports.
PDL_API std::vector<FoldingRange> FoldingRangesOf(const std::shared_ptr<const SourceFile>& file);
/// The words of a source, in their order.
PDL_API std::vector<SemanticToken> SemanticTokensOf(const std::shared_ptr<const SourceFile>& file,
                                                    const OpRegistry& registry,
                                                    const LayerLibrary* library);

}  // namespace pdl

#endif  // PDL_COMPILER_ANALYSIS_H_
