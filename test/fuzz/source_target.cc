// pdl source: what compiles is stored, printed, formatted and run.
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/compiler.h"
#include "pdl/compiler/format.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/op_registry.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {
namespace {

std::string Serialized(const Graph& graph) {
  llvm::Expected<std::string> bytes = SerializeNetwork(graph, {.locations = false});
  if (!bytes) RequireSuccess(bytes.takeError(), "a checked network is not stored");
  return std::move(*bytes);
}

/// Checks that the formatted source is the same network, and that formatting it again changes
/// nothing.
void CheckFormat(const std::shared_ptr<const SourceFile>& file, const CompileResult& result) {
  Diagnostics diagnostics;
  const std::optional<std::string> formatted = FormatText(file, &diagnostics);
  if (!formatted) {
    if (result.graph) Fail("a source that compiles is not formatted");
    return;
  }
  Diagnostics none;
  const std::optional<std::string> again =
      FormatText(std::make_shared<const SourceFile>("fuzz.pdl", *formatted), &none);
  if (!again) Fail("a formatted source has syntax errors:\n" + *formatted);
  if (*again != *formatted)
    Fail("formatting twice gives another source:\n" + *formatted + "\n---\n" + *again);
  if (!result.graph) return;
  const CompileResult compiled = CompileText(*formatted);
  if (!compiled.graph) Fail("a formatted source does not compile:\n" + *formatted);
  if (Serialized(*compiled.graph) != Serialized(*result.graph))
    Fail("a formatted source is another network:\n" + *formatted);
}

/// The fenced blocks of a Markdown page.
void AddBlocks(llvm::StringRef page, std::vector<std::string>* blocks) {
  llvm::SmallVector<llvm::StringRef> parts;
  page.split(parts, "\n```");
  for (size_t i = 1; i < parts.size(); i += 2) blocks->push_back(parts[i].split('\n').second.str());
}

}  // namespace

void RunSource(llvm::StringRef bytes) {
  const CompileResult result = CompileText(bytes);
  const auto file = std::make_shared<const SourceFile>("fuzz.pdl", bytes.str());
  CheckFormat(file, result);
  if (!result.graph) return;
  CheckRoundTrip(*result.graph);
  RunOnce(*result.graph);
}

std::vector<std::string> SourceSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds;
  for (const char* folder : {"/examples", "/test", "/layers"})
    for (std::string& seed : ReadFiles((root + folder).str(), {".pdl", ".test"}))
      seeds.push_back(std::move(seed));
  for (const std::string& page : ReadFiles((root + "/docs").str(), {".md"}, 1 << 20))
    AddBlocks(page, &seeds);
  return seeds;
}

std::vector<std::string> SourceWords() {
  std::vector<std::string> words = {"input ",
                                    "output ",
                                    "param ",
                                    "state ",
                                    "update ",
                                    "layer ",
                                    "minimize ",
                                    "import ",
                                    "attr ",
                                    "test ",
                                    "if ",
                                    "else ",
                                    "for ",
                                    " in ",
                                    "return ",
                                    "assert ",
                                    "where ",
                                    "load ",
                                    " into ",
                                    "f32[N]",
                                    "f16[",
                                    "bf16[",
                                    "f64[]",
                                    "i64[N] in 0..4",
                                    "bool[",
                                    "sparse f32[N, D]",
                                    "f32[N, ~T, 2]",
                                    "none",
                                    "true",
                                    "false",
                                    "training",
                                    "function",
                                    "..",
                                    "...",
                                    "|>",
                                    "//",
                                    "**",
                                    "@",
                                    "grad(",
                                    "scan(",
                                    "dims(x)",
                                    "len(",
                                    "dtype(x)",
                                    "[::-1]",
                                    "[:, none]",
                                    "9223372036854775807",
                                    "1e308",
                                    "inf",
                                    "nan",
                                    "0.5"};
  for (const OpDef* op : GlobalRegistry().All()) words.push_back(op->name() + "(x");
  for (const auto& layer : StandardLayerTexts())
    words.push_back("= " + layer->name().rsplit('/').second.split('.').first.str() + "(x, ");
  return words;
}

}  // namespace pdl::fuzz
