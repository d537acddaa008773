// Runs the ONNX project's backend test data: imports each model, runs it, and compares the outputs.
//
//   `onnx_conformance DATA [--kind=KIND] [--case=NAME] [--text] [--cuda]`
//
// DATA is onnx/backend/test/data. Prints a JSON object for each case, one per line: kind, case,
// status ("passed", "failed", "unsupported"), reason, and the inputs that were constants at import.
// Each case runs in a separate process, so that a crash does not affect the others; on CUDA, where
// that would take too long, all run in one. The exit status is 77 if CUDA cannot be used.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "onnx/import/import.h"
#include "pdl/op/host_copy.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/tensor.h"
#include "pdl/runtime/network.h"
#include "test/cc/testing/sanitizers.h"
#include "test/conformance/onnx/written.h"
#include "test/cuda/cuda_testing.h"

namespace pdl {
namespace {

namespace path = llvm::sys::path;

constexpr int kSeconds = kIsSanitized ? 300 : 60;
constexpr int kSkipped = 77;
constexpr rlim_t kMemory = rlim_t{8} << 30;

/// Whether each network is emitted as source, and the source compiled and run, which must give the
/// same bits.
bool g_as_text = false;
/// The device on which networks run.
DeviceContext* g_context = nullptr;

struct Case {
  std::string kind, name;
  std::string model;
  /// Folders with input_0.pb and so on. Empty: inputs are generated, as for the light models.
  std::vector<std::string> data_sets;
  std::string light_output;
  double rtol = 1e-3, atol = 1e-7;
};

struct Outcome {
  std::string status = "passed", reason;
  std::vector<std::string> fixed;
  /// The number of lines of the emitted source; see g_as_text.
  int64_t lines = 0;
};

Outcome Failed(std::string reason) { return {"failed", std::move(reason), {}, 0}; }
Outcome Unsupported(std::string reason) { return {"unsupported", std::move(reason), {}, 0}; }

std::string InFolder(llvm::StringRef folder, const llvm::Twine& name) {
  llvm::SmallString<256> text(folder);
  path::append(text, name);
  return text.str().str();
}

llvm::Expected<std::string> ReadWhole(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, false, false);
  if (!buffer) return llvm::errorCodeToError(buffer.getError());
  return (*buffer)->getBuffer().str();
}

/// A tensor of the test data, read like an initializer of a model.
llvm::Expected<Constant> ReadTensor(llvm::StringRef file, const OnnxModel& model) {
  llvm::Expected<std::string> bytes = ReadWhole(file);
  if (!bytes) return bytes.takeError();
  onnx::TensorProto proto;
  if (!proto.ParseFromString(*bytes)) return llvm::createStringError("'" + file + "' is no tensor");
  llvm::Expected<Constant> constant = model.ReadTensor(proto);
  if (!constant) return constant.takeError();
  // A copy, since its memory belongs to the message.
  return Constant::Copy(constant->dtype(), constant->sizes(), constant->data());
}

/// For a list of tensors, a SequenceProto of onnx-data.proto, whose field 3 has the tensors.
llvm::Expected<std::vector<Constant>> ReadTensors(llvm::StringRef file, const OnnxModel& model,
                                                  bool is_list) {
  std::vector<Constant> tensors;
  if (!is_list) {
    llvm::Expected<Constant> tensor = ReadTensor(file, model);
    if (!tensor) return tensor.takeError();
    tensors.push_back(std::move(*tensor));
    return tensors;
  }
  llvm::Expected<std::string> bytes = ReadWhole(file);
  if (!bytes) return bytes.takeError();
  namespace io = google::protobuf::io;
  using Wire = google::protobuf::internal::WireFormatLite;
  io::ArrayInputStream array(bytes->data(), static_cast<int>(bytes->size()));
  io::CodedInputStream stream(&array);
  while (const uint32_t tag = stream.ReadTag()) {
    if (Wire::GetTagFieldNumber(tag) != 3) {
      if (!Wire::SkipField(&stream, tag)) return llvm::createStringError("a broken list");
      continue;
    }
    uint32_t length = 0;
    std::string part;
    onnx::TensorProto proto;
    if (!stream.ReadVarint32(&length) || !stream.ReadString(&part, static_cast<int>(length)) ||
        !proto.ParseFromString(part))
      return llvm::createStringError("a broken list");
    llvm::Expected<Constant> tensor = model.ReadTensor(proto);
    if (!tensor) return tensor.takeError();
    tensors.push_back(Constant::Copy(tensor->dtype(), tensor->sizes(), tensor->data()));
  }
  return tensors;
}

/// Compares like numpy.testing.assert_allclose. Returns "" if equal.
std::string Compare(const Tensor& got, const Constant& wanted, const Case& c) {
  if (got.dtype() != wanted.dtype())
    return ("dtype " + DTypeName(got.dtype()) + ", not " + DTypeName(wanted.dtype())).str();
  if (got.sizes() != wanted.sizes()) {
    return got.TypeString() + ", not " + TensorTypeToString(wanted.dtype(), wanted.sizes());
  }
  const Constant have = got.ToConstant();
  for (int64_t i = 0; i < wanted.num_elements(); ++i) {
    const double a = have.ElementAsDouble(i), b = wanted.ElementAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= c.atol + c.rtol * std::abs(b)) continue;
    return llvm::formatv("element {0} is {1}, not {2}", i, FloatToString(a), FloatToString(b))
        .str();
  }
  return "";
}

Constant MadeUpInput(const Type& type) {
  Sizes sizes;
  for (const Dim& dim : type.dims) sizes.push_back(dim.is_constant() ? dim.constant() : 1);
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(count)));
  return Constant::Copy(DType::kF32, sizes, values.data());
}

/// The code distinguishes unsupported features from errors in the model.
Outcome OfError(llvm::Error error) {
  Outcome outcome;
  llvm::handleAllErrors(
      std::move(error),
      [&](const UserError& e) {
        outcome = e.code() == Code::kNotSupported ? Unsupported(e.text()) : Failed(e.text());
      },
      [&](const llvm::ErrorInfoBase& e) { outcome = Failed(e.message()); });
  return outcome;
}

/// The inputs of the model other than initializers, in order.
std::vector<std::string> FedInputs(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) {
    const bool has_value = llvm::any_of(
        graph.initializer(), [&](const auto& tensor) { return tensor.name() == input.name(); });
    if (!has_value) names.push_back(input.name());
  }
  return names;
}

struct DataSet {
  std::vector<std::pair<std::string, Constant>> inputs;
  /// The elements of a list, concatenated like the importer does.
  std::vector<Constant> outputs;
  bool has_empty_list = false;
};

llvm::Expected<DataSet> ReadDataSet(const Case& c, llvm::StringRef folder, const OnnxModel& model) {
  DataSet data;
  const std::vector<std::string> names = FedInputs(model.proto().graph());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string file = InFolder(folder, "input_" + llvm::Twine(i) + ".pb");
    if (!llvm::sys::fs::exists(file)) continue;
    llvm::Expected<Constant> value = ReadTensor(file, model);
    if (!value) return value.takeError();
    data.inputs.emplace_back(names[i], std::move(*value));
  }
  for (size_t i = 0;; ++i) {
    const std::string file = c.light_output.empty()
                                 ? InFolder(folder, "output_" + llvm::Twine(i) + ".pb")
                                 : (i == 0 ? c.light_output : "");
    if (file.empty() || !llvm::sys::fs::exists(file)) break;
    const auto& outputs = model.proto().graph().output();
    const bool is_list = static_cast<int>(i) < outputs.size() &&
                         outputs[static_cast<int>(i)].type().has_sequence_type();
    llvm::Expected<std::vector<Constant>> values = ReadTensors(file, model, is_list);
    if (!values) return values.takeError();
    data.outputs.insert(data.outputs.end(), values->begin(), values->end());
    if (is_list && values->empty()) data.has_empty_list = true;
  }
  return data;
}

/// Imports with inputs that determine sizes as constants.
llvm::Expected<ImportedModel> Import(const OnnxModel& model, const DataSet& data,
                                     std::vector<std::string>* fixed) {
  ImportOptions options;
  options.weight_file = "weights.safetensors";
  for (;;) {
    llvm::Expected<ImportedModel> imported = ImportOnnx(model, options);
    if (imported) return imported;
    std::vector<std::string> wanted;
    llvm::Error rest = llvm::handleErrors(
        imported.takeError(), [&](std::unique_ptr<UnknownInputs> unknown) -> llvm::Error {
          for (const std::string& name : unknown->names()) {
            for (const auto& [input, value] : data.inputs)
              if (input == name && !options.fixed_inputs.contains(name)) {
                options.fixed_inputs[name] = value;
                wanted.push_back(name);
              }
          }
          if (wanted.empty()) return llvm::Error(std::move(unknown));
          return llvm::Error::success();
        });
    if (rest) return rest;
    fixed->insert(fixed->end(), wanted.begin(), wanted.end());
  }
}

/// Replaces the network by the one compiled from its emitted source, if that gives the same bits
/// for these inputs.
llvm::Error MakeOfText(ImportedModel* model, const llvm::StringMap<Constant>& feeds,
                       int64_t* lines) {
  if (llvm::Error error = testing::CheckEmitted(model->graph)) return error;
  llvm::Expected<testing::WrittenNetwork> written = testing::WriteAndCompile(*model);
  if (!written) return written.takeError();
  *lines = written->lines;
  auto wanted = testing::RunOnce(model->graph.Clone(), model->weights, feeds);
  if (!wanted) return wanted.takeError();
  auto got = testing::RunOnce(written->graph.Clone(), written->weights, feeds);
  if (!got) return got.takeError();
  const std::string difference = testing::BitDifference(*wanted, *got);
  if (!difference.empty())
    return llvm::createStringError("the text computes other bits: " + difference);
  model->graph = std::move(written->graph);
  model->weights = std::move(written->weights);
  return llvm::Error::success();
}

Outcome RunDataSet(const Case& c, llvm::StringRef folder, const OnnxModel& model) {
  llvm::Expected<DataSet> data = ReadDataSet(c, folder, model);
  // If inputs are not supported, the error of the importer explains why.
  if (!data) {
    llvm::Error error = data.takeError();
    llvm::Expected<ImportedModel> imported = ImportOnnx(model);
    if (!imported) {
      llvm::consumeError(std::move(error));
      return OfError(imported.takeError());
    }
    return OfError(std::move(error));
  }
  Outcome outcome;
  llvm::Expected<ImportedModel> imported = Import(model, *data, &outcome.fixed);
  if (!imported) return OfError(imported.takeError());

  llvm::StringMap<Constant> feeds;
  for (const auto& [name, value_name] : imported->inputs) {
    auto found = llvm::find_if(data->inputs, [&](const auto& item) { return item.first == name; });
    if (found != data->inputs.end()) {
      feeds[value_name] = found->second;
    } else if (!c.light_output.empty()) {
      feeds[value_name] = MadeUpInput(imported->graph.FindValue(value_name)->type());
    } else {
      return Failed("there is no data for input '" + name + "'");
    }
  }
  if (g_as_text)
    if (llvm::Error error = MakeOfText(&*imported, feeds, &outcome.lines))
      return OfError(std::move(error));
  Scope scope;
  for (const auto& feed : feeds)
    scope.Create(feed.getKey())->Set(Tensor::FromConstant(feed.second));
  NetworkOptions options;
  for (auto& entry : imported->weights) options.weights[entry.getKey()] = entry.second;
  auto network = Network::Create(std::move(imported->graph), std::move(options), GlobalRegistry());
  if (!network) return Failed("no network: " + llvm::toString(network.takeError()));
  if (llvm::Error error = (*network)->Run(&scope, g_context))
    return Failed("run: " + llvm::toString(std::move(error)));
  if (data->outputs.empty() && !data->has_empty_list)
    return Failed("there is nothing to compare with");
  if (data->outputs.size() > imported->outputs.size() ||
      (data->has_empty_list && data->outputs.size() != imported->outputs.size()))
    return Failed("it gives " + std::to_string(imported->outputs.size()) + " outputs, not " +
                  std::to_string(data->outputs.size()));
  for (size_t i = 0; i < data->outputs.size(); ++i) {
    const auto& [name, value_name] = imported->outputs[i];
    llvm::Expected<Tensor> got = OnHost(*scope.Find(value_name)->Get<Tensor>(), *g_context);
    if (!got) return Failed(llvm::toString(got.takeError()));
    const std::string difference = Compare(*got, data->outputs[i], c);
    if (!difference.empty()) return Failed("output '" + name + "': " + difference);
  }
  return outcome;
}

Outcome RunCase(const Case& c) {
  llvm::Expected<OnnxModel> model = OnnxModel::Read(c.model);
  if (!model) return OfError(model.takeError());
  if (!c.light_output.empty()) return RunDataSet(c, "", *model);
  Outcome outcome = Failed("it has no data");
  for (const std::string& folder : c.data_sets) {
    outcome = RunDataSet(c, folder, *model);
    if (outcome.status != "passed") break;
  }
  return outcome;
}

void Print(const Case& c, const Outcome& outcome) {
  // Removes the path of the model.
  llvm::StringRef reason = outcome.reason;
  reason.consume_front(c.model + ": ");
  llvm::json::Object line{{"kind", c.kind}, {"case", c.name}, {"status", outcome.status}};
  if (!reason.empty()) line["reason"] = llvm::json::fixUTF8(reason);
  if (!outcome.fixed.empty()) line["fixed"] = llvm::json::Array(outcome.fixed);
  if (outcome.lines != 0) line["lines"] = outcome.lines;
  llvm::outs() << llvm::json::Value(std::move(line)) << '\n';
  llvm::outs().flush();
}

/// Runs a case in a child process, which prints the outcome; prints one if the child crashes.
void RunApart(const Case& c) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    const rlimit limit = {kMemory, kMemory};
    if (!kIsSanitized) ::setrlimit(RLIMIT_AS, &limit);
    Print(c, RunCase(c));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return Print(c, Failed("it takes longer than " + std::to_string(kSeconds) + " s"));
  Print(c, Failed("it crashes, with status " + std::to_string(status)));
}

std::vector<std::string> Entries(const std::string& folder, llvm::StringRef prefix) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(folder, code), end; at != end && !code;
       at.increment(code)) {
    const llvm::StringRef name = path::filename(at->path());
    if (name.starts_with(prefix)) names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

/// The tolerance of the case.
void ReadTolerance(const std::string& folder, Case* c) {
  llvm::Expected<std::string> text = ReadWhole(InFolder(folder, "data.json"));
  if (!text) return llvm::consumeError(text.takeError());
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(*text);
  if (!json) return llvm::consumeError(json.takeError());
  if (const llvm::json::Object* object = json->getAsObject()) {
    c->rtol = object->getNumber("rtol").value_or(c->rtol);
    c->atol = object->getNumber("atol").value_or(c->atol);
  }
}

std::vector<Case> FindCases(const std::string& data, const std::string& kind) {
  std::vector<Case> cases;
  const std::string folder = InFolder(data, kind);
  if (kind == "light") {
    for (const std::string& name : Entries(folder, "light_")) {
      if (path::extension(name) != ".onnx") continue;
      Case c;
      c.kind = kind;
      c.name = "test_" + path::stem(name).drop_front(6).str();
      c.model = InFolder(folder, name);
      c.light_output = InFolder(folder, path::stem(name) + "_output_0.pb");
      ReadTolerance(InFolder(InFolder(data, "real"), c.name), &c);
      cases.push_back(std::move(c));
    }
    return cases;
  }
  for (const std::string& name : Entries(folder, "test_")) {
    Case c;
    c.kind = kind;
    c.name = name;
    const std::string at = InFolder(folder, name);
    c.model = InFolder(at, "model.onnx");
    if (!llvm::sys::fs::exists(c.model)) continue;
    for (const std::string& set : Entries(at, "test_data_set_"))
      c.data_sets.push_back(InFolder(at, set));
    ReadTolerance(at, &c);
    cases.push_back(std::move(c));
  }
  return cases;
}

int Main(llvm::ArrayRef<llvm::StringRef> arguments) {
  std::vector<std::string> kinds = {"node", "simple", "light", "pytorch-operator",
                                    "pytorch-converted"};
  std::string data;
  llvm::StringRef pattern;
  bool on_cuda = false;
  for (llvm::StringRef argument : arguments) {
    if (argument.consume_front("--kind=")) {
      kinds = {argument.str()};
    } else if (argument.consume_front("--case=")) {
      pattern = argument;
    } else if (argument == "--text") {
      g_as_text = true;
    } else if (argument == "--cuda") {
      on_cuda = true;
    } else {
      data = argument.str();
    }
  }
  if (data.empty()) {
    llvm::errs()
        << "usage: onnx_conformance DATA [--kind=KIND] [--case=PART OF A NAME] [--text] [--cuda]\n";
    return 2;
  }
  GlobalRegistry().All();
  std::unique_ptr<DeviceContext> cuda;
  CPUContext cpu;
  g_context = &cpu;
  if (on_cuda) {
    llvm::Expected<std::unique_ptr<DeviceContext>> created = testing::CreateCudaContext();
    if (!created) {
      llvm::errs() << llvm::toString(created.takeError()) << '\n';
      return kSkipped;
    }
    cuda = std::move(*created);
    g_context = cuda.get();
  }
  for (const std::string& kind : kinds) {
    for (const Case& c : FindCases(data, kind)) {
      if (!llvm::StringRef(c.name).contains(pattern)) continue;
      if (on_cuda) {
        Print(c, RunCase(c));
      } else {
        RunApart(c);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace pdl

int main(int argc, char** argv) {
  const std::vector<llvm::StringRef> arguments(argv + 1, argv + argc);
  return pdl::Main(arguments);
}
