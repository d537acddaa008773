#include "tools/pdl/bench/onnx_runtime.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "ir/child_process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "runtime/io/npy.h"

namespace pdl {
namespace {

namespace fs = llvm::sys::fs;

/// Reads a line of JSON, [[NAME, SIZE], ...], and the bytes of a .npy file for each name. Answers
/// each line that follows, a number of seconds, with the times of runs in milliseconds. The first
/// line that it writes is "ok VERSION" or "error MESSAGE".
constexpr llvm::StringLiteral kScript = R"(
import io, json, sys, time
model, threads = sys.argv[1:3]
commands = sys.stdin.buffer
inputs = {name: commands.read(size) for name, size in json.loads(commands.readline())}
def answer(text):
    print(" ".join(str(text).split()), flush=True)
try:
    import numpy, onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {}
    for declared in session.get_inputs():
        if declared.name not in inputs:
            raise ValueError(f"the network has no input '{declared.name}'")
        feed[declared.name] = numpy.load(io.BytesIO(inputs[declared.name]))
    session.run(None, feed)
except Exception as error:
    answer(f"error {type(error).__name__}: {error}")
    sys.exit(1)
answer(f"ok {onnxruntime.__version__}")
for line in commands:
    end, times = time.perf_counter() + float(line), []
    while True:
        start = time.perf_counter()
        session.run(None, feed)
        now = time.perf_counter()
        times.append(1000 * (now - start))
        if now >= end:
            break
    answer(" ".join(map(repr, times)))
)";

llvm::Error Failed(const llvm::Twine& reason) {
  return MakeUserError(Code::kBadFile, "cannot run the model with ONNX Runtime: {0}", reason.str());
}

}  // namespace

llvm::Expected<std::unique_ptr<OnnxRuntime>> OnnxRuntime::Start(llvm::StringRef python,
                                                                llvm::StringRef model, int threads,
                                                                const Graph& graph,
                                                                const Scope& scope) {
  if (!fs::exists(model)) return Failed("there is no file '" + model + "'");
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(python);
  if (!program) return Failed("there is no program '" + python + "' (--python)");
  std::unique_ptr<OnnxRuntime> runtime(new OnnxRuntime());
  if (llvm::Error error = runtime->Spawn(*program, model, threads)) return error;
  if (llvm::Error error = runtime->WriteInputs(graph, scope)) return error;
  llvm::Expected<std::string> line = runtime->ReadLine();
  if (!line) return line.takeError();
  llvm::StringRef first = *line;
  if (!first.consume_front("ok ")) {
    first.consume_front("error ");
    if (first.contains("No module named"))
      return Failed(first + "; install it (pip install onnxruntime), or give --python=PROGRAM");
    return Failed(first);
  }
  runtime->version_ = first.str();
  return runtime;
}

llvm::Error OnnxRuntime::Spawn(const std::string& program, llvm::StringRef model, int threads) {
  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0) return Failed("no pipe can be made");
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    close(to_child[0]);
    close(to_child[1]);
    return Failed("no pipe can be made");
  }
  const std::string arguments[] = {program, "-c", kScript.str(), model.str(),
                                   std::to_string(threads)};
  process_ = StartProgram(arguments, {to_child[0], from_child[1]});
  close(to_child[0]);
  close(from_child[1]);
  commands_ = to_child[1];
  answers_ = fdopen(from_child[0], "r");
  if (process_ > 0) return llvm::Error::success();
  return Failed("'" + llvm::Twine(program) + "' cannot be started");
}

OnnxRuntime::~OnnxRuntime() {
  if (commands_ >= 0) close(commands_);  // ends the process
  if (answers_ != nullptr) std::fclose(answers_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void OnnxRuntime::Write(llvm::StringRef bytes) {
  // If the process has ended, the write fails, and so does reading the answer.
  std::signal(SIGPIPE, SIG_IGN);
  llvm::raw_fd_ostream os(commands_, /*shouldClose=*/false, /*unbuffered=*/true);
  os << bytes;
  os.clear_error();
}

llvm::Error OnnxRuntime::WriteInputs(const Graph& graph, const Scope& scope) {
  llvm::json::Array sizes;
  std::vector<std::pair<std::string, const Tensor*>> files;  // headers and elements
  for (const Value* input : graph.inputs()) {
    const Variable* variable = scope.Find(input->name());
    const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
    if (tensor == nullptr) continue;
    llvm::Expected<std::string> header = NpyHeader(input->name(), *tensor);
    if (!header) return header.takeError();
    sizes.push_back(llvm::json::Array{llvm::json::fixUTF8(input->name()),
                                      static_cast<int64_t>(header->size()) + tensor->num_bytes()});
    files.emplace_back(std::move(*header), tensor);
  }
  Write(llvm::formatv("{0}\n", llvm::json::Value(std::move(sizes))).str());
  for (const auto& [header, tensor] : files) {
    Write(header);
    Write({static_cast<const char*>(tensor->raw()), static_cast<size_t>(tensor->num_bytes())});
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> OnnxRuntime::ReadLine() {
  std::string line;
  for (int c = std::fgetc(answers_); c != '\n'; c = std::fgetc(answers_)) {
    if (c == EOF) return Failed("the process of Python ended");
    line.push_back(static_cast<char>(c));
  }
  return line;
}

llvm::Expected<std::vector<double>> OnnxRuntime::RunFor(double seconds) {
  Write(llvm::formatv("{0:f6}\n", seconds).str());
  llvm::Expected<std::string> line = ReadLine();
  if (!line) return line.takeError();
  std::vector<double> times;
  llvm::SmallVector<llvm::StringRef, 32> words;
  llvm::StringRef(*line).split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    double& time = times.emplace_back();
    if (word.getAsDouble(time) || !std::isfinite(time) || time <= 0)
      return Failed("'" + word + "' is not a time");
  }
  if (times.empty()) return Failed("it answered with no times");
  return times;
}

}  // namespace pdl
