// pdl dump: prints a network at one of the stages between text and numbers.
#include "pdl/emit.h"
#include "pdl/serialize.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/console.h"
#include "tools/pdl/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl dump", "--emit=STAGE FILE [OPTION]...",
    R"(Prints the network in FILE (.pdl, .pdlc, or - for standard input) at one stage
of its way from text to numbers.

  ast    the tree that the text was read as
  ir     calls and values with their types, every default filled in (default)
  opt    the same after the passes: what runs
  plan   the prepared run: kernels and fused groups; where the sizes of all
         symbols are given (--size), arena offsets and peak bytes too
  proto  the stored form (.pdlc), as protobuf text
  dot    a graph for Graphviz
  pdl    flat text that compiles to the same network again
)",
    R"(pdl dump --emit=ir model.pdl
pdl dump --emit=plan --size N=32 model.pdl
pdl dump --emit=dot model.pdl | dot -Tsvg > model.svg
pdl dump --emit=pdl model.pdlc
)"};

struct DumpArguments {
  CommonOptions common;
  std::string stage = "ir";
  bool no_locations = false;
};

llvm::Expected<std::string> DumpAst(llvm::StringRef path) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  auto source = ToSource(*file);
  if (!source) return source.takeError();
  Diagnostics diagnostics;
  std::string text = EmitAst(*source, &diagnostics);
  if (diagnostics.has_errors()) return llvm::make_error<TextErrors>(std::move(diagnostics));
  return text;
}

llvm::Expected<std::string> DumpPlan(LoadedNetwork loaded, const CommonOptions& options) {
  auto context = OpenDevice(options);
  if (!context) return context.takeError();
  auto network = CreateNetwork(std::move(loaded), options);
  if (!network) return network.takeError();
  RunOptions run;
  run.training = options.training;
  return (*network)->DescribePlan(context->get(), run, options.sizes);
}

llvm::Expected<std::string> Dump(llvm::StringRef path, const DumpArguments& arguments) {
  const llvm::StringRef stage = arguments.stage;
  if (stage == "ast") return DumpAst(path);
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(path, arguments.common);
  if (!loaded) return loaded.takeError();
  if (stage == "plan") return DumpPlan(std::move(*loaded), arguments.common);
  if (stage == "opt") {
    auto network = CreateNetwork(std::move(*loaded), arguments.common);
    if (!network) return network.takeError();
    return EmitIr((*network)->optimized_graph());
  }
  SerializeOptions options;
  options.locations = !arguments.no_locations;
  if (stage == "proto") return NetworkToText(loaded->graph, options);
  if (stage == "dot") return EmitDot(loaded->graph);
  if (stage == "pdl") return EmitPdl(loaded->graph);
  return EmitIr(loaded->graph);
}

}  // namespace

int DumpMain(Arguments arguments) {
  DumpArguments dump;
  CommandLine line(kHelp);
  line.AddChoice("--emit", {"ast", "ir", "opt", "plan", "proto", "dot", "pdl"}, "the stage",
                 &dump.stage);
  line.AddFlag("--no-locations", "proto: without files, lines, columns and comments",
               &dump.no_locations);
  AddSizeOption(line, "plan: what a symbol stands for: --size N=32", &dump.common);
  line.Section("The network");
  AddNetworkOptions(line, &dump.common);
  AddWeightsOption(line, &dump.common);
  line.Section("The plan");
  AddRunOptions(line, &dump.common);
  AddMessageOptions(line);
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kWell;
  llvm::Expected<std::string> text = Dump(**file, dump);
  if (!text) return Finish(text.takeError());
  llvm::outs() << *text;
  return kWell;
}

}  // namespace pdl
