// pdl compile: stores a checked network in a form that loads without its source.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/serialize.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

namespace path = llvm::sys::path;

constexpr CommandLine::Help kHelp = {
    "pdl compile", "FILE [-o OUT.pdlc] [OPTION]...",
    R"(Checks the network in FILE (.pdl, .pdlc, .onnx, or - for standard input) and stores it
in OUT.pdlc, which programs load without its source. Weights stay in safetensors files:
OUT.pdlc refers to those in its folder or below, and all others are copied to
OUT.pdlc.safetensors. The SHA-256 of each weight is stored in OUT.pdlc.
)",
    R"(pdl compile model.pdl                      # writes model.pdlc
pdl compile model.pdl -o build/model.pdlc --set width=512
pdl compile model.pdl --weights trained.safetensors -o model.pdlc
)"};

struct CompileArguments {
  CommonOptions common;
  std::string out;
  bool no_locations = false;
};

/// Makes the weights of a network refer to files in the folder of the compiled file, and copies all
/// others to one file there.
class WeightMover {
 public:
  /// `out` is the compiled file; "-" is standard output.
  explicit WeightMover(llvm::StringRef out)
      : copy_file_((out + ".safetensors").str()), folder_(FolderOf(out)) {}

  /// The values of `given`, if not null, replace those of the parameters and states of the same
  /// names.
  llvm::Error Move(const LoadedNetwork& loaded, const GivenWeights* given) {
    const Graph& graph = loaded.graph;
    llvm::DenseMap<const Value*, const WeightMatch*> matches;
    if (given != nullptr)
      for (const WeightMatch& match : given->matches) matches[match.value] = &match;
    const std::string& from = loaded.folder;
    if (std::error_code code = llvm::sys::fs::real_path(folder_, real_folder_))
      return MakeUserError(Code::kBadFile, "cannot write to '{0}': {1}", folder_, code.message());
    llvm::SmallString<256> real_copy(real_folder_);
    path::append(real_copy, path::filename(copy_file_));

    WeightFiles files(from);
    std::vector<std::pair<Value*, WeightFiles::Found>> all;
    std::vector<NamedTensor> copies;
    for (Value* value : Variables(graph)) {
      const WeightMatch* match = matches.lookup(value);
      auto held = loaded.weights.find(value->name());
      if (held != loaded.weights.end() && match == nullptr) {
        copies.emplace_back(value->name(), Tensor::FromConstant(held->second));
        value->variable().LoadFrom(
            {path::filename(copy_file_).str(), value->name(), Sha256(held->second)});
        continue;
      }
      if (match == nullptr && !value->variable().weight) continue;
      llvm::Expected<WeightFiles::Found> found =
          match != nullptr ? FindGiven(*match, given->source) : FindWeight(*value, files);
      if (!found) return found.takeError();
      all.emplace_back(value, *found);
    }
    const bool has_copies = !copies.empty() || llvm::any_of(all, [&](const auto& item) {
      return Inside(item.second.path).empty();
    });
    for (auto& [value, found] : all) {
      const Constant constant = found.file->Read(*found.entry);
      WeightRef& weight = *value->variable().weight;
      weight.sha256 = Sha256(constant);
      const llvm::StringRef inside = Inside(found.path);
      // Copying would overwrite a weight that is stored in the file of copies.
      const bool is_overwritten = has_copies && found.path == real_copy;
      if (!inside.empty() && !is_overwritten) {
        weight.file = inside.str();
        weight.tensor = found.entry->name;
      } else {
        weight.file = path::filename(copy_file_).str();
        weight.tensor = value->name();
        copies.emplace_back(value->name(), Tensor::FromConstant(constant));
      }
    }
    return copies.empty() ? llvm::Error::success() : WriteCopies(copies);
  }

 private:
  /// `file`, relative to the folder of the compiled file; empty if it is not in that folder.
  llvm::StringRef Inside(llvm::StringRef file) const {
    if (!file.consume_front(real_folder_)) return "";
    return real_folder_ == "/" || file.consume_front("/") ? file : "";
  }

  /// The tensor that the user gave, to which the variable then refers.
  static llvm::Expected<WeightFiles::Found> FindGiven(const WeightMatch& match,
                                                      const WeightSource& source) {
    llvm::SmallString<256> file(source.folder()), real;
    path::append(file, match.entry->file);
    if (std::error_code code = llvm::sys::fs::real_path(file, real))
      return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", file, code.message());
    match.value->variable().LoadFrom(match.ToRef());
    const SafetensorsFile* tensors = source.FileOf(*match.entry);
    return WeightFiles::Found{tensors, tensors->Find(match.entry->name), real.str().str()};
  }

  llvm::Error WriteCopies(llvm::ArrayRef<NamedTensor> copies) const {
    if (copy_file_ == "-.safetensors") {
      return MakeUserError(Code::kBadFile,
                           "the weights are not in the current folder or below, so they must be "
                           "copied: give -o OUT.pdlc");
    }
    if (llvm::Error error = WriteSafetensors(copy_file_, copies)) return error;
    PrintNote("the weights are copied to " + copy_file_);
    return llvm::Error::success();
  }

  std::string copy_file_;
  std::string folder_;
  llvm::SmallString<256> real_folder_;
};

llvm::Error Compile(llvm::StringRef file, const CompileArguments& arguments) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(file, arguments.common);
  if (!loaded) return loaded.takeError();
  const Graph& graph = loaded->graph;
  std::optional<GivenWeights> given;
  if (!arguments.common.weights.empty()) {
    llvm::Expected<GivenWeights> opened = OpenGivenWeights(arguments.common, graph);
    if (!opened) return opened.takeError();
    given = std::move(*opened);
  }
  if (llvm::Error error = WeightMover(arguments.out).Move(*loaded, given ? &*given : nullptr))
    return error;

  SerializeOptions options;
  options.locations = !arguments.no_locations;
  llvm::Expected<std::string> bytes = SerializeNetwork(graph, options);
  if (!bytes) return bytes.takeError();
  return WriteResultFile(arguments.out, *bytes);
}

}  // namespace

int CompileMain(Arguments arguments) {
  CompileArguments compile;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.pdlc",
                 "the compiled file (- is standard output); default: FILE with .pdlc for .pdl; "
                 "required with --sandbox",
                 &compile.out);
  line.AddFlag("--no-locations", "omit files, lines, columns and comments", &compile.no_locations);
  AddNetworkOptions(line, &compile.common);
  AddWarningOptions(line, &compile.common);
  AddWeightsOption(line, &compile.common);
  AddMessageOptions(line);
  line.AddSandbox({"--output"});
  line.AllowReplacing(".pdlc");
  line.Require("--sandbox", "--output");
  auto file = line.ParseOneFile(arguments);
  if (!file) return Finish(file.takeError());
  if (!*file) return kSuccess;
  if (compile.out.empty()) {
    if (path::extension(**file) != ".pdl" && path::extension(**file) != ".onnx")
      return Finish(line.Wrong("no output is given: give -o OUT.pdlc"));
    llvm::SmallString<256> path_of_output(**file);
    path::replace_extension(path_of_output, ".pdlc");
    compile.out = path_of_output.str().str();
  }
  return Finish(Compile(**file, compile));
}

}  // namespace pdl
