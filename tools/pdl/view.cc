// pdl view: shows a network as an HTML page.
#include "pdl/compiler/view.h"

#include "llvm/Support/Path.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/hash_weights.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/view/facts.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl view", "[OLD] FILE -o OUT.html [OPTION]...",
    R"(Shows the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) as a page in a
web browser. Layers and the bodies of loops are boxes that open and close; edges have
types, and boxes have the sizes of their parameters. A click on a box shows its source,
and a click on a line of the source its boxes. The page is one file, which loads nothing
else. docs/view.md says how to read it.

With a second network, the page marks what differs from OLD, as pdl diff reports it, and
with --values also which values differ, as pdl compare does.

Boxes are arranged by the program dot of Graphviz. Where it is not installed, they are
nested lists.
)",
    R"(pdl view model.pdl -o model.html
pdl view model.pdl -o model.html --profile=20 --input x=random --size N=8
pdl view model.pdl -o model.html --values x=x.npy
pdl view model.pdl -o model.html --memory --size N=32
pdl view old.pdl new.pdl -o changes.html
)"};

struct ViewArguments {
  FactsRequest request;
  std::string out;
};

void AddOptions(CommandLine& line, ViewArguments* arguments) {
  FactsRequest* request = &arguments->request;
  line.AddString("-o, --output", "OUT.html", "the page to write; - for standard output",
                 &arguments->out);
  line.Section("What the page shows");
  line.AddValue("--profile", "RUNS", "run the network RUNS times, and color boxes by their time",
                [request](llvm::StringRef text) -> llvm::Error {
                  constexpr int64_t kMostRuns = 1'000'000;
                  auto runs = ParseInt(text, 1, kMostRuns);
                  if (!runs) return runs.takeError();
                  request->profiled_runs = *runs;
                  return llvm::Error::success();
                });
  line.AddFlag("--memory",
               "color boxes by the bytes of the values that are live while they run; requires the "
               "sizes of all symbols, from --size or the inputs",
               &request->memory);
  line.AddValues(
      "--values", "NAME=VALUE",
      "feed an input as --input does, run the network once, and show statistics and a "
      "histogram of every value; nan and inf are red. The word random samples all inputs "
      "that are not given",
      [request](llvm::StringRef text) -> llvm::Error {
        request->values = true;
        if (text != "random") return request->inputs.Add(text);
        request->inputs.SampleOthers();
        return llvm::Error::success();
      });
  line.Section("Inputs");
  line.AddValues("-i, --input", "NAME=VALUE", "feed an input, as for pdl run",
                 [request](llvm::StringRef text) { return request->inputs.Add(text); });
  AddSizeOption(line, "the size of a symbol: --size N=32", &request->common);
  line.Section("The network");
  AddNetworkOptions(line, &request->common);
  AddWeightsOption(line, &request->common);
  line.Section("The run");
  AddRunOptions(line, &request->common);
  AddTrainingOption(line, &request->common);
  AddMessageOptions(line);
  line.AddSandbox({"--output"});
}

llvm::Error View(llvm::ArrayRef<llvm::StringRef> files, ViewArguments& arguments) {
  FactsRequest& request = arguments.request;
  const llvm::StringRef path = files.back();
  if (llvm::Error error = LoadPlugins(request.common)) return error;
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  request.common.without_weights = !request.runs();
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(*file, request.common);
  if (!loaded) return loaded.takeError();

  ViewOptions options;
  options.title = path == "-" ? "standard input" : llvm::sys::path::filename(path).str();
  if (file->is_source()) {
    auto source = ToSource(*file);
    if (!source) return source.takeError();
    options.sources =
        FindViewSources(loaded->graph, *source, file->folder,
                        [&](llvm::StringRef name) { return ReadImported(file->folder, name); });
  }
  if (llvm::Error error = MeasureFacts(*loaded, request, &options.facts)) return error;
  if (files.size() > 1) {
    HashWeights(*loaded);
    if (llvm::Error error = CompareFacts(files[0], path, loaded->graph, request, &options.facts))
      return error;
  }
  return WriteResultFile(arguments.out, RenderPage(loaded->graph, options));
}

}  // namespace

int ViewMain(Arguments arguments) {
  ViewArguments view;
  CommandLine line(kHelp);
  AddOptions(line, &view);
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  if ((*files)->empty() || (*files)->size() > 2)
    return Finish(line.Wrong("expected one or two networks"));
  if (view.out.empty()) return Finish(line.Wrong("no output is given: give -o OUT.html"));
  if ((*files)->size() == 2 && llvm::is_contained(**files, "-"))
    return Finish(line.Wrong("two networks are read from files"));
  const bool is_measured = view.request.runs() || view.request.memory;
  for (const char* option : {"--input", "--size"})
    if (!is_measured && line.IsGiven(option))
      return Finish(line.Wrong(llvm::Twine(option) + " needs --profile, --memory or --values"));
  for (const char* option :
       {"--weights", "--device", "--threads", "--seed", "--memory-limit", "--training"})
    if (!view.request.runs() && line.IsGiven(option))
      return Finish(line.Wrong(llvm::Twine(option) + " needs --profile or --values"));
  return Finish(View(**files, view));
}

}  // namespace pdl
