// ONNX models: what is imported is written as a source that checks, is stored, and run.
#include "onnx/import/import.h"
#include "onnx/import/text.h"
#include "pdl/compiler/format.h"
#include "properties.h"
#include "targets.h"

namespace pdl::fuzz {
namespace {

/// Checks that the source that `pdl import` writes compiles and is formatted.
void CheckText(const ImportedModel& model) {
  const ImportedText written = WriteImportedText(model, "fuzz.safetensors");
  WeightListing listing;
  for (const auto& [tensor, value] : written.tensors)
    listing.entries.push_back(
        {tensor, "fuzz.safetensors", value.dtype(), llvm::SmallVector<int64_t, 4>(value.sizes())});
  llvm::sort(listing.entries, [](const auto& a, const auto& b) { return a.name < b.name; });
  auto open = [&](llvm::StringRef) -> llvm::Expected<const WeightListing*> { return &listing; };
  const CompileResult result = CompileText(written.text, open);
  if (!result.graph && AreOnEmptyTensors(result.diagnostics)) return;
  if (!result.graph) {
    std::string rendered;
    llvm::raw_string_ostream os(rendered);
    result.diagnostics.Render(os);
    Fail("what import writes does not compile:\n" + rendered + written.text);
  }
  Diagnostics diagnostics;
  const std::optional<std::string> formatted =
      FormatText(std::make_shared<const SourceFile>("fuzz.pdl", written.text), &diagnostics);
  if (!formatted || *formatted != written.text)
    Fail("what import writes is not laid out as pdl fmt does:\n" + written.text);
}

}  // namespace

void RunOnnx(llvm::StringRef bytes) {
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(bytes, "fuzz.onnx", "/nonexistent");
  if (!model) return llvm::consumeError(model.takeError());
  ImportOptions options;
  options.weight_file = "fuzz.safetensors";
  llvm::Expected<ImportedModel> imported = ImportOnnx(*model, options);
  if (!imported) return llvm::consumeError(imported.takeError());
  CheckText(*imported);
  CheckRoundTrip(imported->graph);
  RunOnce(imported->graph, imported->weights);
}

std::vector<std::string> OnnxSeeds(llvm::StringRef root) {
  std::vector<std::string> seeds = ReadFiles((root + "/test").str(), {".onnx"});
  for (std::string& seed : ReadFiles((root + "/build/onnx-1.22.0/onnx/backend/test/data").str(),
                                     {"model.onnx"}, 8 << 10))
    seeds.push_back(std::move(seed));
  return seeds;
}

}  // namespace pdl::fuzz
