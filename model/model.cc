#include "model/model.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "model/large_stack.h"
#include "model/status.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/storage.h"
#include "pdl/runtime/plugin.h"
#include "pdl/version.h"

namespace pdl {
namespace {

ValueInfo InfoOf(llvm::StringRef name, const Type& type, llvm::StringRef comment) {
  ValueInfo info;
  info.name = name.str();
  info.type = type.ToString();
  info.dtype = type.dtype;
  info.is_dense = PartsOf(name, type).size() == 1;
  info.comment = comment.str();
  for (const Dim& dim : type.dims) info.sizes.push_back(dim.is_constant() ? dim.constant() : -1);
  return info;
}

std::vector<ValueInfo> InfosOf(llvm::ArrayRef<Value*> values) {
  std::vector<ValueInfo> infos;
  for (const Value* value : values)
    infos.push_back(InfoOf(value->name(), value->type(), value->comment()));
  return infos;
}

llvm::Error CheckOptions(const ModelOptions& options) {
  if (options.precision != DType::kF32 && options.precision != DType::kF16 &&
      options.precision != DType::kBF16)
    return MakeUserError(Code::kOperatorUse, "the precision must be f32, f16 or bf16");
  if (options.threads < 0)
    return MakeUserError(Code::kOperatorUse, "the number of threads must not be negative, got {0}",
                         options.threads);
  return llvm::Error::success();
}

llvm::Expected<Model> MakeHere(Model::Impl own) {
  const ModelOptions& options = own.options;
  if (llvm::Error error = CheckOptions(options)) return error;
  for (const std::string& plugin : options.plugins)
    if (llvm::Error error = LoadPlugin(plugin)) return error;
  llvm::Expected<Device> device = DeviceFromName(options.device);
  if (!device) return device.takeError();
  llvm::Expected<LoadedNetwork> loaded = LoadAgain(own, /*training_step=*/false);
  if (!loaded) return loaded.takeError();
  NetworkOptions network_options;
  network_options.seed = options.seed;
  const std::string no_effect = SetPrecision(options.precision, device->kind, &network_options);
  if (!options.weights.empty()) {
    llvm::Expected<GivenWeights> given =
        OpenGivenWeights(options.weights, options.weight_rules, loaded->graph, &loaded->warnings);
    if (!given) return given.takeError();
    if (llvm::Error error = given->AddTo(&network_options.weights)) return error;
  }
  llvm::raw_string_ostream os(own.warnings);
  loaded->warnings.Render(os);
  if (!no_effect.empty())
    os << "warning: " << no_effect << "; the network runs in f32 [" << CodeName(Code::kNoKernel)
       << "]\n";
  llvm::Expected<std::shared_ptr<const Network>> network =
      CreateNetwork(std::move(*loaded), std::move(network_options));
  if (!network) return network.takeError();
  own.network = std::move(*network);
  auto context = CreateDeviceContext(*device, options.threads);
  if (!context) return context.takeError();
  own.context = std::move(*context);
  return Model(std::make_shared<const Model::Impl>(std::move(own)));
}

llvm::Expected<Model> Make(Model::Impl own) {
  return OnLargeStack([&] { return MakeHere(std::move(own)); });
}

}  // namespace

const char* Version() { return version_string; }

llvm::Expected<LoadedNetwork> LoadAgain(const Model::Impl& own, bool training_step) {
  LoadOptions load;
  load.settings.assign(own.options.settings.begin(), own.options.settings.end());
  load.setting_place = [](llvm::StringRef name) { return ("settings[\"" + name + "\"]").str(); };
  load.folder = own.options.folder;
  load.training_step = training_step;
  load.warn_unused = true;
  if (!own.path.empty()) return LoadNetwork(own.path, load);
  InputFile file = FileInMemory(own.bytes, own.name, load.folder.empty() ? "." : load.folder);
  if (own.is_source) file.is_compiled = file.is_onnx = false;
  return LoadNetwork(file, load);
}

llvm::Expected<Tensor> ViewOf(llvm::StringRef name, const Array& array) {
  const int dtype = static_cast<int>(array.dtype);
  if (dtype < 1 || dtype >= kNumDTypes)
    return MakeUserError(Code::kInputType, "'{0}': {1} is not a dtype", name, dtype);
  llvm::Expected<int64_t> bytes = CheckedNumBytes(array.dtype, array.sizes);
  if (!bytes)
    return MakeUserError(Code::kInputType, "'{0}': {1}", name, llvm::toString(bytes.takeError()));
  if (*bytes > 0 && array.data == nullptr)
    return MakeUserError(Code::kInputType, "'{0}' has no data (a null pointer)", name);
  // Kernels take an address even for arrays without elements.
  static char nothing[64];
  Tensor tensor;
  tensor.Borrow(array.dtype, array.sizes, *bytes > 0 ? array.data : nothing, Device());
  return tensor;
}

llvm::Expected<Tensor> InputView(llvm::StringRef name, const Array& array) {
  llvm::Expected<Tensor> view = ViewOf(name, array);
  if (!view || view->dtype() != DType::kBool) return view;
  const auto* bytes = static_cast<const uint8_t*>(view->raw());
  const auto* end = bytes + view->num_elements();
  const auto* wrong = std::find_if(bytes, end, [](uint8_t byte) { return byte > 1; });
  if (wrong == end) return view;
  return MakeUserError(Code::kInputType, "'{0}': a bool is 0 or 1, and element {1} is {2}", name,
                       wrong - bytes, static_cast<int>(*wrong));
}

Array ToArray(Tensor tensor) {
  auto owner = std::make_shared<Tensor>(std::move(tensor));
  Array array;
  array.dtype = owner->dtype();
  array.sizes = owner->sizes().vec();
  array.data = owner->raw();
  array.owner = std::move(owner);
  return array;
}

Result<Model> Model::Load(const std::string& path, const ModelOptions& options) {
  return AsResult(llvm::Twine("loading \'") + path + "\'", [&]() -> llvm::Expected<Model> {
    if (path.empty()) return MakeUserError(Code::kBadFile, "the path of the model is empty");
    Impl own;
    own.options = options;
    own.path = path == "-" ? "./-" : path;  // not standard input
    return Make(std::move(own));
  });
}

Result<Model> Model::FromSource(const std::string& source, const ModelOptions& options,
                                const std::string& name) {
  return AsResult(llvm::Twine("compiling \'") + name + "\'", [&] {
    Impl own;
    own.options = options;
    own.bytes = source;
    own.name = name;
    own.is_source = true;
    return Make(std::move(own));
  });
}

Result<Model> Model::FromBytes(const void* data, size_t size, const std::string& name,
                               const ModelOptions& options) {
  return AsResult(llvm::Twine("loading \'") + name + "\'", [&]() -> llvm::Expected<Model> {
    if (data == nullptr && size > 0)
      return MakeUserError(Code::kBadFile, "'{0}' has no data (a null pointer)", name);
    if (!llvm::StringSwitch<bool>(llvm::sys::path::extension(name))
             .Cases(".pdl", ".pdlc", ".onnx", true)
             .Default(false)) {
      return MakeUserError(
          Code::kBadFile,
          "the name of a model in memory must end in .pdl, .pdlc or .onnx, which is "
          "its format; got '{0}'",
          name);
    }
    Impl own;
    own.options = options;
    own.bytes.assign(static_cast<const char*>(data), size);
    own.name = name;
    return Make(std::move(own));
  });
}

llvm::Error CheckModel(const Model::Impl* own) {
  if (own != nullptr) return llvm::Error::success();
  return MakeUserError(Code::kOperatorUse, "the model was moved from");
}

std::vector<ValueInfo> Model::inputs() const {
  if (impl_ == nullptr) return {};
  return InfosOf(impl_->network->graph().inputs());
}
std::vector<ValueInfo> Model::parameters() const {
  if (impl_ == nullptr) return {};
  return InfosOf(impl_->network->graph().parameters());
}
std::vector<ValueInfo> Model::states() const {
  if (impl_ == nullptr) return {};
  return InfosOf(impl_->network->graph().states());
}
std::vector<ValueInfo> Model::outputs() const {
  if (impl_ == nullptr) return {};
  std::vector<ValueInfo> infos;
  for (const GraphOutput& output : impl_->network->graph().outputs())
    infos.push_back(InfoOf(output.name, output.value->type(), output.comment));
  return infos;
}

const std::string& Model::warnings() const {
  static const std::string& none = *new std::string;
  return impl_ == nullptr ? none : impl_->warnings;
}

Result<Array> Model::Value(const std::string& name) const {
  return AsResult(llvm::Twine("computing \'") + name + "\'", [&]() -> llvm::Expected<Array> {
    if (llvm::Error error = CheckModel(impl_.get())) return error;
    llvm::Expected<Tensor> value = impl_->network->InitialValue(name);
    if (!value) return value.takeError();
    // Copies the value, so that the caller cannot write to the network's own.
    const Constant constant = value->ToConstant();
    return ToArray(
        Tensor::FromConstant(Constant::Copy(constant.dtype(), constant.sizes(), constant.data())));
  });
}

Result<Arrays> Model::Run(const Arrays& inputs, const RunRequest& request) const {
  return WithOutOfMemoryStatus("running a model",
                               [&] { return NewSession().Run(inputs, request); });
}

Session Model::NewSession() const { return Session(*this); }

Status Model::Save(const std::string& path) const {
  return AsStatus(llvm::Twine("saving \'") + path + "\'", [&]() -> llvm::Error {
    if (llvm::Error error = CheckModel(impl_.get())) return error;
    const Network& network = *impl_->network;
    llvm::StringMap<Tensor> states;
    for (const pdl::Value* state : network.graph().states()) {
      if (!state->type().has_constant_dims()) continue;
      llvm::Expected<Tensor> value = network.InitialValue(state->name());
      if (!value) return value.takeError();
      states[state->name()] = std::move(*value);
    }
    return OnLargeStack([&] { return SaveNetwork(network, path, states); });
  });
}

}  // namespace pdl
