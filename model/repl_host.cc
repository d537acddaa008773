#include "pdl/compiler/repl_host.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"
#include "runtime/random_value.h"

namespace pdl {

NetworkReplHost::NetworkReplHost(Options options, std::unique_ptr<DeviceContext> context)
    : options_(options), context_(std::move(context)), weights_(folder_) {}

CompileRequest NetworkReplHost::Request() {
  CompileRequest request;
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  request.open_weights = weights_.Opener();
  request.read_file = [this](llvm::StringRef path) { return ReadImported(folder_, path); };
  return request;
}

llvm::Expected<std::vector<PackedConstant>> NetworkReplHost::Run(
    Graph graph, const llvm::StringMap<PackedConstant>& inputs, bool training) {
  llvm::Expected<std::vector<PackedConstant>> values =
      RunUntilCancelled(std::move(graph), inputs, training);
  if (values) return values;
  return llvm::handleErrors(
      values.takeError(), [](std::unique_ptr<UserError> error) -> llvm::Error {
        if (error->code() != Code::kCancelled) return llvm::Error(std::move(error));
        return llvm::createStringError("interrupted; values are computed when they are needed");
      });
}

llvm::Expected<std::vector<PackedConstant>> NetworkReplHost::RunUntilCancelled(
    Graph graph, const llvm::StringMap<PackedConstant>& inputs, bool training) {
  std::vector<std::pair<std::string, Type>> outputs;
  for (const GraphOutput& output : graph.outputs())
    outputs.emplace_back(output.name, output.value->type());
  NetworkOptions how;
  how.seed = options_.seed;
  how.weight_folder = folder_;
  auto network = Network::Create(std::move(graph), std::move(how), GlobalRegistry());
  if (!network) return network.takeError();
  Scope scope;
  for (const auto& entry : inputs)
    PackedValue::FromConstant(entry.second).Put(&scope, entry.first());
  RunOptions run;
  run.training = training || options_.training;
  run.cancel = cancelled_;
  if (llvm::Error error = (*network)->Run(&scope, context_.get(), run)) return error;
  std::vector<PackedConstant> values;
  for (const auto& [name, type] : outputs) {
    llvm::Expected<PackedValue> value = PackedValue::Find(scope, name, type);
    if (!value) return value.takeError();
    values.push_back(value->ToConstant());
  }
  return values;
}

std::string NetworkReplHost::Print(const PackedConstant& value) {
  PrintOptions options;
  options.line_width = Width();
  return PackedToString(PackedValue::FromConstant(value), options);
}

llvm::Expected<PackedConstant> NetworkReplHost::Draw(const Value& variable, SizeOfSymbol size) {
  // A size that is not known is a small one.
  auto known_or_small = [&](llvm::StringRef symbol) { return size(symbol).value_or(4); };
  llvm::Expected<PackedValue> value =
      DrawValue(variable.name(), variable.type(), options_.seed + ++num_sampled_, known_or_small);
  if (!value) return value.takeError();
  PackedConstant sampled = value->ToConstant();
  // The number of columns of sparse rows is the sampled one.
  if (sampled.type.is_sparse())
    sampled.type.dims.back() = llvm::cantFail(variable.type().dims.back().Evaluate(known_or_small));
  return sampled;
}

llvm::Expected<std::string> NetworkReplHost::ReadFile(llvm::StringRef path) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  llvm::Expected<std::shared_ptr<const SourceFile>> source = ToSource(*file);
  if (!source) return source.takeError();
  return (*source)->text().str();
}

llvm::Error NetworkReplHost::WriteFile(llvm::StringRef path, llvm::StringRef text) {
  return WriteFileAtomically(path, text);
}

std::string NetworkReplHost::UseFolderOf(llvm::StringRef path) {
  const std::string former = folder_ + "/file";
  folder_ = FolderOf(path);
  weights_ = WeightFiles(folder_);
  return former;
}

std::vector<std::string> NetworkReplHost::ListFiles(llvm::StringRef typed, bool of_statement) {
  const llvm::StringRef begun = typed.drop_front(typed.rfind('/') + 1);
  const llvm::StringRef folder = typed.drop_back(begun.size());
  llvm::SmallString<128> place(of_statement ? folder_ : ".");
  llvm::sys::path::append(place, folder);
  if (llvm::sys::path::is_absolute(folder)) place = folder;
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(place, error), end; file != end && !error;
       file.increment(error)) {
    std::string name = llvm::sys::path::filename(file->path()).str();
    if (!llvm::StringRef(name).starts_with(begun)) continue;
    // Hidden files are listed only if the typed name begins with a dot.
    if (begun.empty() && name[0] == '.') continue;
    if (llvm::sys::fs::is_directory(file->path())) name += '/';
    found.push_back(folder.str() + name);
  }
  llvm::sort(found);
  return found;
}

std::optional<Diagnostic> NetworkReplHost::DiagnosticOf(const llvm::ErrorInfoBase& error) {
  return pdl::DiagnosticOf(error);
}

llvm::Error NetworkReplHost::SetDevice(llvm::StringRef name) {
  llvm::Expected<Device> device = DeviceFromName(name);
  if (!device) return device.takeError();
  llvm::Expected<std::unique_ptr<DeviceContext>> context =
      CreateDeviceContext(*device, options_.threads);
  if (!context) return context.takeError();
  context_ = std::move(*context);
  return llvm::Error::success();
}

std::string NetworkReplHost::DeviceName() { return DeviceToString(context_->device()); }

}  // namespace pdl
