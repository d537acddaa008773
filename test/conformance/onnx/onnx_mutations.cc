// Mutated models of the ONNX project: reading, importing, compiling and running each ends with an
// Error or a result, and the emitted source compiles and computes the same bits.
//
//   onnx_mutations DATA [--count=N] [--first=N] [--seed=N] [-v]
//
// DATA is onnx/backend/test/data. Case i depends only on the seed and i: --first=i --count=1
// repeats it, and prints the mutations. Cases run in child processes, whose crashes are detected.
// The exit status is 1 if there is an error, 77 if there is no DATA.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/import/import.h"
#include "pdl/op/device_context.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "test/cc/testing/sanitizers.h"
#include "test/conformance/onnx/mutate.h"
#include "test/conformance/onnx/written.h"

namespace pdl {
namespace {

constexpr int kSeconds = kIsSanitized ? 50 : 10;
constexpr int kSkipped = 77;
constexpr rlim_t kMemory = rlim_t{6} << 30;
constexpr int64_t kTensorMemory = int64_t{256} << 20;
constexpr int64_t kMaxFed = 1 << 20;
constexpr size_t kMaxModel = 200'000;

enum Stage : int { kMutating, kImporting, kWriting, kEmitting, kRunning, kRunningText, kStages };
constexpr const char* kStageNames[] = {"mutating",      "importing", "writing its text",
                                       "--emit=pdl of", "running",   "running the text of"};

/// The progress of children, in shared memory.
struct Progress {
  int64_t current = 0;
  int stage = 0;
  int64_t refused = 0, unsupported = 0, imported = 0, ran = 0, wrong = 0;
};

struct Model {
  std::string name, folder;
  onnx_full::ModelProto proto;
};

struct Options {
  int64_t count = 1000, first = 0;
  uint64_t seed = 1;
  bool is_verbose = false;
};

std::vector<Model> ReadModels(const std::string& data) {
  namespace path = llvm::sys::path;
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator at(data, code), end; at != end && !code;
       at.increment(code))
    if (path::extension(at->path()) == ".onnx") files.push_back(at->path());
  llvm::sort(files);
  std::vector<Model> models;
  for (const std::string& file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
    if (!buffer || (*buffer)->getBufferSize() > kMaxModel) continue;
    Model model;
    model.name = llvm::StringRef(file).drop_front(data.size()).ltrim('/').str();
    model.folder = path::parent_path(file).str();
    if (model.proto.ParseFromString((*buffer)->getBuffer().str()))
      models.push_back(std::move(model));
  }
  return models;
}

/// Distinct elements, small enough to be indices and sizes.
Constant Numbers(DType dtype, llvm::ArrayRef<int64_t> sizes, std::mt19937_64& random) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const auto width = static_cast<size_t>(DTypeSize(dtype));
  constexpr int64_t kDifferent = 4096;
  std::vector<char> bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    char* const at = bytes.data() + static_cast<size_t>(i) * width;
    if (i >= kDifferent) {
      std::memcpy(at, at - kDifferent * static_cast<int64_t>(width), width);
      continue;
    }
    const double number = IsFloat(dtype)          ? static_cast<double>(random() % 4001) / 1000 - 2
                          : dtype == DType::kBool ? static_cast<double>(random() % 2)
                                                  : static_cast<double>(random() % 4);
    std::memcpy(at, Constant::Scalar(dtype, number).data(), width);
  }
  return Constant::Copy(dtype, sizes, bytes.data());
}

/// Imports, with generated values for inputs that must be constants.
llvm::Expected<ImportedModel> Import(const OnnxModel& model, std::mt19937_64& random) {
  ImportOptions options;
  options.weight_file = "weights.safetensors";
  for (int round = 0;; ++round) {
    llvm::Expected<ImportedModel> imported = ImportOnnx(model, options);
    if (imported || round == 4) return imported;
    bool is_more = false;
    llvm::Error rest = llvm::handleErrors(
        imported.takeError(), [&](std::unique_ptr<UnknownInputs> unknown) -> llvm::Error {
          for (const std::string& name : unknown->names()) {
            for (const auto& input : model.proto().graph().input()) {
              if (input.name() != name || options.fixed_inputs.contains(name)) continue;
              const auto& type = input.type().tensor_type();
              llvm::Expected<DType> dtype = DTypeFromOnnx(type.elem_type());
              if (!dtype) return dtype.takeError();
              Sizes sizes;
              int64_t count = 1;
              for (const auto& dim : type.shape().dim()) {
                sizes.push_back(dim.has_dim_value() ? dim.dim_value() : 2);
                if (sizes.back() < 0 || sizes.back() > 64 || (count *= sizes.back()) > 4096)
                  return llvm::Error(std::move(unknown));
              }
              options.fixed_inputs[name] = Numbers(*dtype, sizes, random);
              is_more = true;
            }
          }
          if (!is_more) return llvm::Error(std::move(unknown));
          return llvm::Error::success();
        });
    if (rest) return rest;
  }
}

/// Inputs with small sizes for symbols; nullopt if they would be large.
std::optional<llvm::StringMap<Constant>> Feeds(const Graph& graph, std::mt19937_64& random) {
  std::map<std::string, int64_t> symbols;
  llvm::StringMap<Constant> feeds;
  int64_t total = 0;
  for (const Value* input : graph.inputs()) {
    Sizes sizes;
    Dim count = 1;
    for (const Dim& dim : input->type().dims) {
      int64_t size = 0;
      if (dim.is_constant()) {
        size = dim.constant();
      } else {
        static constexpr int64_t kSizes[] = {1, 2, 3, 5, 4, 0};
        auto [entry, is_new] = symbols.try_emplace(dim.symbol().str());
        if (is_new) entry->second = kSizes[random() % (random() % 4 == 0 ? 6 : 4)];
        size = entry->second;
      }
      sizes.push_back(size);
      count = count * Dim(size);
    }
    if (!count.is_valid() || count.constant() > kMaxFed) return std::nullopt;
    total += count.constant();
    if (total > kMaxFed) return std::nullopt;
    feeds[input->name()] = Numbers(input->type().dtype, sizes, random);
  }
  return feeds;
}

class Runner {
 public:
  Runner(llvm::ArrayRef<Model> models, const Options& options, Progress* progress)
      : models_(models), options_(options), progress_(*progress) {}

  void Run(int64_t index);

 private:
  void Begin(Stage stage) { progress_.stage = stage; }
  void Wrong(const llvm::Twine& what) {
    ++progress_.wrong;
    llvm::outs() << "case " << progress_.current << " (" << name_ << ": " << done_ << "): " << what
                 << '\n';
    llvm::outs().flush();
  }
  void Compare(ImportedModel model, std::mt19937_64& random);

  llvm::ArrayRef<Model> models_;
  const Options& options_;
  Progress& progress_;
  std::string name_, done_;
};

void Runner::Run(int64_t index) {
  progress_.current = index;
  Begin(kMutating);
  std::seed_seq seed = {options_.seed, static_cast<uint64_t>(index)};
  std::mt19937_64 random(seed);
  const Model& source = models_[random() % models_.size()];
  const Model& other = models_[random() % models_.size()];
  name_ = source.name;
  onnx_full::ModelProto proto = source.proto;
  done_ = testing::Mutate(&proto, other.proto, random);
  if (done_.size() > 500) done_.resize(500);
  if (options_.is_verbose) {
    llvm::outs() << "case " << index << ": " << name_ << ": " << done_ << '\n';
    if (options_.count == 1) llvm::outs() << proto.DebugString().substr(0, 20000);
    llvm::outs().flush();
  }
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) return;
  Begin(kImporting);
  llvm::Expected<OnnxModel> model = OnnxModel::Parse(bytes, "m.onnx", source.folder);
  if (!model) {
    ++progress_.refused;
    return llvm::consumeError(model.takeError());
  }
  llvm::Expected<ImportedModel> imported = Import(*model, random);
  if (!imported) {
    const std::string said = llvm::toString(imported.takeError());
    if (options_.is_verbose) llvm::outs() << "  " << said << '\n';
    if (!llvm::StringRef(said).contains("m.onnx")) Wrong("says '" + said + "'");
    ++(llvm::StringRef(said).contains("PDL0901") ? progress_.unsupported : progress_.refused);
    return;
  }
  ++progress_.imported;
  Compare(std::move(*imported), random);
}

void Runner::Compare(ImportedModel model, std::mt19937_64& random) {
  Begin(kWriting);
  llvm::Expected<testing::WrittenNetwork> written = testing::WriteAndCompile(model);
  if (!written) return Wrong(llvm::toString(written.takeError()));
  Begin(kEmitting);
  if (llvm::Error error = testing::CheckEmitted(model.graph))
    return Wrong(llvm::toString(std::move(error)));
  const auto feeds = Feeds(model.graph, random);
  if (!feeds) return;
  Begin(kRunning);
  auto wanted = testing::RunOnce(std::move(model.graph), std::move(model.weights), *feeds);
  Begin(kRunningText);
  auto got = testing::RunOnce(std::move(written->graph), std::move(written->weights), *feeds);
  if (wanted && got) {
    ++progress_.ran;
    const std::string difference = testing::BitDifference(*wanted, *got);
    if (!difference.empty()) Wrong("the text computes other bits: " + difference);
    return;
  }
  // Only one of them may run out of memory.
  const bool is_same = !wanted == !got;
  std::string said;
  for (auto* result : {&wanted, &got})
    said += *result ? "it runs; " : llvm::toString(result->takeError()) + "; ";
  if (options_.is_verbose) llvm::outs() << "  " << said << '\n';
  if (!is_same && !llvm::StringRef(said).contains("memory"))
    Wrong("the model and its text do not end alike: " + said);
}

void Child(llvm::ArrayRef<Model> models, const Options& options, int64_t first,
           Progress* progress) {
  const rlimit limit = {kMemory, kMemory};
  if (!kIsSanitized) ::setrlimit(RLIMIT_AS, &limit);
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  SetMemoryLimit(kTensorMemory);
  Runner runner(models, options, progress);
  for (int64_t i = first; i < options.first + options.count; ++i) {
    ::alarm(kSeconds);
    runner.Run(i);
  }
  llvm::outs().flush();
  ::_exit(0);
}

int Main(llvm::ArrayRef<llvm::StringRef> arguments) {
  Options options;
  std::string data;
  for (llvm::StringRef argument : arguments) {
    if (argument.consume_front("--count=")) {
      argument.getAsInteger(10, options.count);
    } else if (argument.consume_front("--first=")) {
      argument.getAsInteger(10, options.first);
    } else if (argument.consume_front("--seed=")) {
      argument.getAsInteger(10, options.seed);
    } else if (argument == "-v") {
      options.is_verbose = true;
    } else {
      data = argument.str();
    }
  }
  const std::vector<Model> models = ReadModels(data);
  if (models.empty()) {
    llvm::errs() << "there are no models in '" << data << "'\n";
    return kSkipped;
  }
  GlobalRegistry().All();
  void* shared =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto* progress = new (shared) Progress;
  int64_t slow = 0;
  for (int64_t next = options.first; next < options.first + options.count;) {
    llvm::outs().flush();
    const pid_t child = ::fork();
    if (child == 0) Child(models, options, next, progress);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    const bool is_slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    // A loop may have many iterations at run time.
    if (is_slow && progress->stage >= kRunning) {
      ++slow;
    } else {
      ++progress->wrong;
      llvm::outs() << "case " << progress->current << ": "
                   << (is_slow ? "takes too long: "
                               : "ends with status " + std::to_string(status) + ": ")
                   << kStageNames[progress->stage] << '\n';
    }
    next = progress->current + 1;
  }
  llvm::outs() << options.count << " models: " << progress->refused << " broken, "
               << progress->unsupported << " unsupported, " << progress->imported << " imported, "
               << progress->ran << " run, " << slow << " slow; " << progress->wrong << " wrong\n";
  return progress->wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace pdl

int main(int argc, char** argv) {
  const std::vector<llvm::StringRef> arguments(argv + 1, argv + argc);
  return pdl::Main(arguments);
}
