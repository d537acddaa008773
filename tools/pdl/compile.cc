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

/// The file of --weights.
struct GivenWeights {
  SafetensorsFile file;
  /// After following symbolic links.
  std::string path;
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
    const std::string& from = loaded.folder;
    if (std::error_code code = llvm::sys::fs::real_path(folder_, real_folder_))
      return MakeUserError(Code::kBadFile, "cannot write to '{0}': {1}", folder_, code.message());
    llvm::SmallString<256> real_copy(real_folder_);
    path::append(real_copy, path::filename(copy_file_));

    WeightFiles files(from);
    std::vector<std::pair<Value*, WeightFiles::Found>> all;
    std::vector<NamedTensor> copies;
    for (Value* value : Variables(graph)) {
      const bool is_given = given != nullptr && given->file.Find(value->name()) != nullptr;
      auto held = loaded.weights.find(value->name());
      if (held != loaded.weights.end() && !is_given) {
        copies.emplace_back(value->name(), Tensor::FromConstant(held->second));
        value->variable().weight =
            WeightRef{path::filename(copy_file_).str(), value->name(), Sha256(held->second)};
        continue;
      }
      llvm::Expected<std::optional<WeightFiles::Found>> found = Find(value, files, given);
      if (!found) return found.takeError();
      if (*found) all.emplace_back(value, **found);
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

  static llvm::Expected<std::optional<WeightFiles::Found>> Find(Value* value, WeightFiles& files,
                                                                const GivenWeights* given) {
    VariableInfo& info = value->variable();
    if (given != nullptr) {
      if (const SafetensorsFile::Entry* entry = given->file.Find(value->name())) {
        if (llvm::Error error = CheckWeightType(*value, *entry, given->path)) return error;
        info.weight.emplace();
        info.initializer.reset();
        return WeightFiles::Found{&given->file, entry, given->path};
      }
    }
    if (!info.weight) return std::nullopt;
    llvm::Expected<WeightFiles::Found> found = FindWeight(*value, files);
    if (!found) return found.takeError();
    return *found;
  }

  llvm::Error WriteCopies(llvm::ArrayRef<NamedTensor> copies) const {
    if (copy_file_ == "-.safetensors") {
      return MakeUserError(Code::kBadFile,
                           "the weights are not in the current folder or below, so they must be "
                           "copied: give -o OUT.pdlc");
    }
    if (llvm::Error error = WriteSafetensors(copy_file_, copies)) return error;
    llvm::errs() << "the weights are copied to " << copy_file_ << '\n';
    return llvm::Error::success();
  }

  std::string copy_file_;
  std::string folder_;
  llvm::SmallString<256> real_folder_;
};

llvm::Expected<std::optional<GivenWeights>> OpenGiven(llvm::StringRef file, const Graph& graph) {
  if (file.empty()) return std::nullopt;
  llvm::Expected<SafetensorsFile> weights = OpenGivenWeights(file, graph);
  if (!weights) return weights.takeError();
  llvm::SmallString<256> real;
  if (std::error_code code = llvm::sys::fs::real_path(file, real))
    return MakeUserError(Code::kBadFile, "cannot read '{0}': {1}", file, code.message());
  return GivenWeights{std::move(*weights), real.str().str()};
}

llvm::Error Compile(llvm::StringRef file, const CompileArguments& arguments) {
  llvm::Expected<LoadedNetwork> loaded = LoadNetwork(file, arguments.common);
  if (!loaded) return loaded.takeError();
  const Graph& graph = loaded->graph;
  llvm::Expected<std::optional<GivenWeights>> given = OpenGiven(arguments.common.weights, graph);
  if (!given) return given.takeError();
  if (llvm::Error error = WeightMover(arguments.out).Move(*loaded, *given ? &**given : nullptr))
    return error;

  SerializeOptions options;
  options.locations = !arguments.no_locations;
  llvm::Expected<std::string> bytes = SerializeNetwork(graph, options);
  if (!bytes) return bytes.takeError();
  if (arguments.out != "-") return WriteFileAtomically(arguments.out, *bytes);
  llvm::outs() << *bytes;
  return llvm::Error::success();
}

}  // namespace

int CompileMain(Arguments arguments) {
  CompileArguments compile;
  CommandLine line(kHelp);
  line.AddString("-o, --output", "OUT.pdlc",
                 "the compiled file (- is standard output); default: FILE with .pdlc for .pdl",
                 &compile.out);
  line.AddFlag("--no-locations", "omit files, lines, columns and comments", &compile.no_locations);
  AddNetworkOptions(line, &compile.common);
  AddWeightsOption(line, &compile.common);
  AddMessageOptions(line);
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
