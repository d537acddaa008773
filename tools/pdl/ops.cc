// pdl ops: documents operators and layers from their declarations.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/describe_layers.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/error.h"
#include "pdl/op/op_docs.h"
#include "pdl/op/op_registry.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/common_options.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/support/untested.h"

namespace pdl {
namespace {

llvm::StringRef NameOf(const LayerSignature& layer) { return layer.name; }

constexpr CommandLine::Help kHelp = {
    "pdl ops", "[NAME]... [OPTION]...",
    R"(Lists the operators and the standard layers, or documents those named: what they
compute, their inputs, outputs and attributes with defaults and ranges.
)",
    R"(pdl ops
pdl ops cos fc
pdl ops --file=model.pdl
pdl ops --format=markdown > operators.md
pdl ops --plugin=./libmy_op.so my_op
pdl ops --untested=test/ops
)"};

llvm::Expected<std::vector<LayerSignature>> LayersOf(llvm::StringRef path) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  auto source = ToSource(*file);
  if (!source) return source.takeError();
  Diagnostics diagnostics;
  std::vector<LayerSignature> layers = DescribeLayers(*source, &diagnostics);
  if (diagnostics.has_errors()) return llvm::make_error<SourceErrors>(std::move(diagnostics));
  return layers;
}

llvm::Error PrintOps(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef format,
                     llvm::StringRef path, const CommonOptions& options) {
  if (llvm::Error error = LoadPlugins(options)) return error;
  OpRegistry none;
  const OpRegistry& ops = path.empty() ? GlobalRegistry() : none;
  std::vector<LayerSignature> layers;
  if (path.empty()) {
    layers = DescribeLayers(*StandardLayers());
  } else {
    auto read = LayersOf(path);
    if (!read) return read.takeError();
    layers = std::move(*read);
  }

  OpRegistry chosen_ops;
  std::vector<LayerSignature> chosen_layers;
  std::vector<std::string> texts;
  for (llvm::StringRef name : names) {
    const auto layer =
        llvm::find_if(layers, [&](const LayerSignature& known) { return known.name == name; });
    if (const OpDef* def = ops.Find(name)) {
      if (chosen_ops.Find(name) != nullptr) continue;
      chosen_ops.Add(*def);
      texts.push_back(OpDocText(*def, OutputWidth()));
    } else if (layer != layers.end()) {
      if (llvm::is_contained(llvm::map_range(chosen_layers, NameOf), name)) continue;
      chosen_layers.push_back(*layer);
      texts.push_back(LayerDocText(*layer, OutputWidth()));
    } else {
      std::vector<llvm::StringRef> candidates;
      for (const OpDef* candidate : ops.All()) candidates.push_back(candidate->name());
      for (const LayerSignature& candidate : layers) candidates.push_back(candidate.name);
      return MakeUserError(Code::kUnknownOperator, "no {0} is called '{1}'{2}",
                           path.empty() ? "operator or layer" : "layer of that file", name,
                           DidYouMean(name, candidates));
    }
  }
  const OpRegistry& shown_ops = names.empty() ? ops : chosen_ops;
  llvm::ArrayRef<LayerSignature> shown_layers = names.empty() ? layers : chosen_layers;

  llvm::raw_ostream& os = llvm::outs();
  if (format == "json") {
    os << OpProtosToJson(shown_ops, shown_layers);
  } else if (format == "markdown") {
    const bool has_ops = !shown_ops.All().empty();
    if (has_ops) os << OpDocsMarkdown(shown_ops);
    if (!shown_layers.empty()) os << (has_ops ? "\n" : "") << LayerDocsMarkdown(shown_layers);
  } else if (format == "proto") {
    os << SerializeOpProtos(shown_ops, shown_layers);
  } else if (!names.empty()) {
    os << llvm::join(texts, "\n");
  } else {
    // Lines for another program are not truncated.
    const unsigned width = llvm::outs().is_displayed() ? OutputWidth() : 1000;
    if (path.empty()) os << "Operators\n\n" << OpListText(ops, width) << "\nLayers\n\n";
    os << LayerListText(layers, width);
  }
  return llvm::Error::success();
}

/// Prints the parts of operators that the tests in a folder do not cover.
int PrintUntested(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef folder,
                  const CommonOptions& options) {
  if (llvm::Error error = LoadPlugins(options)) return Finish(std::move(error));
  std::vector<llvm::StringRef> known;
  for (const OpDef* def : GlobalRegistry().All()) known.push_back(def->name());
  for (llvm::StringRef name : names)
    if (!llvm::is_contained(known, name))
      return Finish(MakeUserError(Code::kUnknownOperator, "no operator is called '{0}'{1}", name,
                                  DidYouMean(name, known)));
  std::vector<const OpDef*> ops;
  for (const OpDef* def : GlobalRegistry().All())
    if (names.empty() || llvm::is_contained(names, def->name())) ops.push_back(def);
  auto untested = FindUntested(folder, ops, options);
  if (!untested) return Finish(untested.takeError());
  for (const std::string& line : *untested) llvm::outs() << line << '\n';
  if (untested->empty()) llvm::outs() << "all is tested\n";
  return untested->empty() ? kSuccess : kUserError;
}

}  // namespace

int OpsMain(Arguments arguments) {
  CommonOptions options;
  std::string format = "text", path, tests;
  CommandLine line(kHelp);
  line.AddChoice("--format", {"text", "json", "markdown", "proto"},
                 "json and proto are for programs: the OpProtoList of pdl.proto, as protobuf JSON "
                 "and in protobuf's wire format",
                 &format);
  line.AddString("--file", "FILE.pdl", "document only the layers of that file", &path);
  line.AddValues("--plugin", "FILE.so", "load operators from a shared library",
                 [&](llvm::StringRef file) {
                   options.plugins.push_back(file.str());
                   return llvm::Error::success();
                 });
  line.AddString("--untested", "FOLDER",
                 "list what the tests in FOLDER/NAME.pdl do not cover: dtypes, choices, "
                 "attributes, empty tensors, nan and infinities; exit with status 1 if there is "
                 "anything",
                 &tests);
  AddMessageOptions(line);
  auto names = line.Parse(arguments);
  if (!names) return Finish(names.takeError());
  if (!*names) return kSuccess;
  for (const char* option : {"--format", "--file"})
    if (!tests.empty() && line.IsGiven(option))
      return Finish(line.Wrong(llvm::Twine(option) + " cannot be combined with --untested"));
  if (!tests.empty()) return PrintUntested(**names, tests, options);
  return Finish(PrintOps(**names, format, path, options));
}

}  // namespace pdl
