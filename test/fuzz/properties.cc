#include "properties.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "pdl/compiler/layers.h"
#include "pdl/compiler/serialize.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"
#include "runtime/random_value.h"

namespace pdl::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMemoryLimit = 1 << 20;

/// How often "[PDL" with four digits and "]" is in a message.
unsigned CountCodes(llvm::StringRef message) {
  unsigned count = 0;
  for (size_t at = message.find("[PDL"); at != llvm::StringRef::npos;
       at = message.find("[PDL", at + 1)) {
    const llvm::StringRef rest = message.substr(at + 4);
    if (rest.size() >= 5 && llvm::all_of(rest.take_front(4), llvm::isDigit) && rest[4] == ']')
      ++count;
  }
  return count;
}

std::string Serialize(const Graph& graph, const char* what) {
  llvm::Expected<std::string> bytes = SerializeNetwork(graph, {.locations = false});
  if (!bytes) RequireSuccess(bytes.takeError(), what);
  return std::move(*bytes);
}

/// A small size that depends on the symbol's name.
int64_t SizeOf(llvm::StringRef symbol) {
  unsigned sum = 0;
  for (const char c : symbol) sum += static_cast<unsigned char>(c);
  return 1 + sum % 3;
}

llvm::Error Feed(const Graph& graph, Scope* scope) {
  for (const Value* input : graph.inputs()) {
    llvm::Expected<PackedValue> value =
        DrawValue(input->name(), input->type(), /*seed=*/1,
                  [](llvm::StringRef symbol) -> std::optional<int64_t> { return SizeOf(symbol); });
    if (!value) return value.takeError();
    value->Put(scope, input->name());
  }
  return llvm::Error::success();
}

}  // namespace

void Fail(const std::string& message) {
  std::fprintf(stderr, "property violated: %s\n", message.c_str());
  std::abort();
}

void RequireSuccess(llvm::Error error, const std::string& what) {
  if (error) Fail(what + ": " + llvm::toString(std::move(error)));
}

CompileResult CompileText(llvm::StringRef text, const WeightOpener& open_weights) {
  CompileRequest request;
  request.file = std::make_shared<const SourceFile>("fuzz.pdl", text.str());
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.open_weights = open_weights;
  // Lower than the default limits, which reject the same inputs later; still lower while fuzzing,
  // where the few inputs that reach them would take most of the time.
  request.limits = {.steps = 100'000, .calls = 10'000, .layer_calls = 4'000, .list_items = 50'000};
  if (samples_expensive_checks)
    request.limits = {.steps = 20'000, .calls = 2'000, .layer_calls = 1'000, .list_items = 10'000};
  CompileResult result = Compile(request);
  if (!result.graph && !result.diagnostics.has_errors()) Fail("no graph and no diagnostic");
  std::string rendered;
  llvm::raw_string_ostream os(rendered);
  result.diagnostics.Render(os);
  const uint64_t sample = samples_expensive_checks ? llvm::xxHash64(text) : 0;
  if (sample % 8 == 0) result.diagnostics.RenderJson(os);
  // It lists all codes with their explanations, which takes as long as compiling a small source.
  if (sample % 64 == 0) RenderSarif(result.diagnostics.all(), os);
  // A source may quote a code itself.
  if (!text.contains("[PDL")) {
    for (const Diagnostic& diagnostic : result.diagnostics.all())
      if (CountCodes(diagnostic.message) != 0) Fail("a code in a message: " + diagnostic.message);
  }
  return result;
}

bool AreOnEmptyTensors(const Diagnostics& diagnostics) {
  return llvm::all_of(diagnostics.all(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity != Severity::kError ||
           llvm::any_of(diagnostic.notes, [](const DiagnosticNote& note) {
             return llvm::StringRef(note.text).contains("no sizes of at least 1 satisfy this");
           });
  });
}

void CheckRoundTrip(const Graph& graph) {
  const std::string bytes = Serialize(graph, "a checked network is not stored");
  llvm::Expected<Graph> loaded = DeserializeNetwork(bytes, "fuzz.pdlc", GlobalRegistry());
  if (!loaded) RequireSuccess(loaded.takeError(), "a stored network does not load");
  if (Serialize(*loaded, "a loaded network is not stored") != bytes)
    Fail("a stored network loads as another one");
  std::string text = EmitPdl(graph);
  CompileResult again = CompileText(text);
  if (!again.graph && !graph.trainings().empty()) {
    // An optimizer may be a layer of the source that the network was compiled from.
    text = EmitPdl(graph, {.trainings = false});
    again = CompileText(text);
  }
  if (!again.graph && !AreOnEmptyTensors(again.diagnostics)) {
    std::string rendered;
    llvm::raw_string_ostream os(rendered);
    again.diagnostics.Render(os);
    Fail("the source of a network does not compile:\n" + rendered + text);
  }
}

void RunOnce(const Graph& graph, const llvm::StringMap<Constant>& weights) {
  SetMemoryLimit(kMemoryLimit);
  NetworkOptions options;
  options.weight_folder = "/nonexistent";
  options.weights = weights;
  options.max_bindings = 1;
  llvm::Expected<std::shared_ptr<const Network>> network =
      Network::Create(graph.Clone(), std::move(options), GlobalRegistry());
  if (!network) return llvm::consumeError(network.takeError());
  Scope scope;
  if (llvm::Error error = Feed(graph, &scope)) return llvm::consumeError(std::move(error));
  CPUContext context(/*threads=*/1);
  llvm::consumeError((*network)->Run(&scope, &context));
}

std::vector<std::string> ReadFiles(llvm::StringRef folder,
                                   llvm::ArrayRef<llvm::StringRef> extensions, uint64_t max_bytes) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder.str(), error), end; entry != end && !error;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!entry->is_regular_file() || entry->file_size() > max_bytes ||
        llvm::none_of(extensions,
                      [&](llvm::StringRef e) { return llvm::StringRef(path).ends_with(e); }))
      continue;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    files.push_back(bytes.str());
  }
  return files;
}

std::string WriteInput(llvm::StringRef name, llvm::StringRef bytes) {
  /// A folder of this process, removed when it exits.
  struct Folder {
    Folder() {
      const fs::path parent = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
      std::string pattern = (parent / "pdl-fuzz-XXXXXX").string();
      if (mkdtemp(pattern.data()) == nullptr) Fail("cannot make a folder like " + pattern);
      path = pattern;
    }
    ~Folder() {
      std::error_code error;
      fs::remove_all(path, error);
    }
    fs::path path;
  };
  static const Folder folder;
  const std::string path = (folder.path / name.str()).string();
  // A new file each time: readers map the old one.
  fs::remove(path);
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace pdl::fuzz
