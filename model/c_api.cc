// Implements pdl_c.h on top of pdl.h.
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "model/model.h"
#include "model/status.h"
#include "pdl/compiler/weights.h"
#include "pdl/op/error.h"
#include "pdl/op/out_of_memory.h"
#include "pdl/pdl.h"
#include "pdl/pdl_c.h"
#include "runtime/schedule.h"

struct pdl_status {
  pdl::Status status;
  std::string text;
};

struct pdl_options {
  pdl::ModelOptions options;
};

struct pdl_model {
  explicit pdl_model(pdl::Model model_in)
      : model(std::move(model_in)),
        values{model.inputs(), model.outputs(), model.parameters(), model.states()} {}

  pdl::Model model;
  std::vector<pdl::ValueInfo> values[4];  // indexed by pdl_values
};

struct pdl_session {
  explicit pdl_session(const pdl::Model& of) : model(of), graph(GraphOf(of)), session(of) {}

  static const pdl::Graph& GraphOf(const pdl::Model& model) {
    return pdl::ModelAccess::Of(model)->network->graph();
  }

  const pdl::Model model;
  const pdl::Graph& graph;  // of the model
  pdl::Session session;
  pdl::Arrays inputs, outputs, states, parameters;
  pdl::Arrays memory;  // of outputs, if the caller has given it
  pdl::RunRequest request;
};

namespace {

using pdl::Status;

pdl_status* ToC(Status status) {
  if (status.ok()) return nullptr;
  std::string text = status.ToString();
  return new pdl_status{std::move(status), std::move(text)};
}

pdl_status* Misuse(const std::string& what) {
  return ToC(pdl::ToStatus(pdl::MakeUserError(pdl::Code::kOperatorUse, "{0}", what)));
}

/// Created while memory is available, and never freed.
pdl_status* OutOfMemory() {
  static pdl_status* const status = ToC(pdl::ToStatus(pdl::OutOfMemory("calling the C interface")));
  return status;
}
pdl_status* const kMadeAtStart = OutOfMemory();

pdl_status* Guarded(llvm::function_ref<pdl_status*()> f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return kMadeAtStart;
  }
}

/// Makes a result empty, so that it is after an error.
template <class T>
void Clear(T* result) {
  if (result != nullptr) *result = {};
}

/// Calls `f` if none of the pointers, whose names follow, is null.
template <class F>
pdl_status* WithAll(std::initializer_list<std::pair<const void*, const char*>> pointers, F f) {
  return Guarded([&]() -> pdl_status* {
    for (const auto& [pointer, name] : pointers)
      if (pointer == nullptr) return Misuse(std::string("'") + name + "' is a null pointer");
    return f();
  });
}

pdl::ModelOptions OptionsOf(const pdl_options* options) {
  return options == nullptr ? pdl::ModelOptions() : options->options;
}

pdl_status* Give(pdl::Result<pdl::Model> loaded, pdl_model** model) {
  if (!loaded.ok()) return ToC(loaded.status());
  *model = new pdl_model(std::move(*loaded));
  return nullptr;
}

pdl_status* FromC(const char* name, const pdl_array& array, pdl::Array* result) {
  if (array.rank < 0 || (array.rank > 0 && array.sizes == nullptr))
    return Misuse(std::string("'") + name + "': an array of rank " + std::to_string(array.rank) +
                  " without sizes");
  // An invalid dtype could become a valid one when it is truncated.
  if (array.dtype < 1 || array.dtype >= pdl::kNumDTypes)
    return ToC(pdl::ToStatus(
        pdl::MakeUserError(pdl::Code::kInputType, "'{0}': {1} is not a dtype", name, array.dtype)));
  result->dtype = static_cast<pdl::DType>(array.dtype);
  if (array.rank > 0) result->sizes.assign(array.sizes, array.sizes + array.rank);
  result->data = array.data;
  return nullptr;
}

void ToC(const pdl::Array& array, pdl_array* result) {
  result->dtype = static_cast<int32_t>(array.dtype);
  result->rank = static_cast<int32_t>(array.sizes.size());
  result->sizes = array.sizes.data();
  result->data = array.data;
}

const std::vector<pdl::ValueInfo>* ValuesOf(const pdl_model* model, pdl_values which) {
  const auto index = static_cast<unsigned>(which);
  return index < std::size(model->values) ? &model->values[index] : nullptr;
}

pdl_status* NoSuchKind(pdl_values which) {
  return Misuse(std::to_string(static_cast<unsigned>(which)) + " is not one of pdl_values");
}

}  // namespace

const char* pdl_version(void) { return pdl::Version(); }
int pdl_c_api_version(void) { return PDL_C_API_VERSION; }

int64_t pdl_memory_limit(void) { return pdl::MemoryLimit(); }
void pdl_set_memory_limit(int64_t bytes) { pdl::SetMemoryLimit(bytes); }

pdl_status_kind pdl_status_kind_of(const pdl_status* status) {
  if (status == nullptr) return PDL_OK;
  switch (status->status.kind()) {
    case Status::Kind::kOk:
      return PDL_OK;
    case Status::Kind::kDeviceError:
      return PDL_DEVICE_ERROR;
    case Status::Kind::kCancelled:
      return PDL_CANCELLED;
    case Status::Kind::kError:
      break;
  }
  return PDL_ERROR;
}
const char* pdl_status_code(const pdl_status* status) {
  return status == nullptr ? "" : status->status.code().c_str();
}
const char* pdl_status_message(const pdl_status* status) {
  return status == nullptr ? "" : status->status.message().c_str();
}
const char* pdl_status_file(const pdl_status* status) {
  return status == nullptr ? "" : status->status.file().c_str();
}
int pdl_status_line(const pdl_status* status) {
  return status == nullptr ? 0 : status->status.line();
}
int pdl_status_column(const pdl_status* status) {
  return status == nullptr ? 0 : status->status.column();
}
const char* pdl_status_text(const pdl_status* status) {
  return status == nullptr ? "ok" : status->text.c_str();
}
void pdl_status_free(pdl_status* status) {
  if (status != OutOfMemory()) delete status;
}

pdl_options* pdl_options_new(void) { return new (std::nothrow) pdl_options(); }
void pdl_options_free(pdl_options* options) { delete options; }

pdl_status* pdl_options_set_device(pdl_options* options, const char* device) {
  return WithAll({{options, "options"}, {device, "device"}}, [&]() -> pdl_status* {
    options->options.device = device;
    return nullptr;
  });
}
pdl_status* pdl_options_set_threads(pdl_options* options, int threads) {
  return WithAll({{options, "options"}}, [&]() -> pdl_status* {
    options->options.threads = threads;
    return nullptr;
  });
}
pdl_status* pdl_options_set_seed(pdl_options* options, uint64_t seed) {
  return WithAll({{options, "options"}}, [&]() -> pdl_status* {
    options->options.seed = seed;
    return nullptr;
  });
}
pdl_status* pdl_options_set_weights(pdl_options* options, const char* path) {
  return WithAll({{options, "options"}, {path, "path"}}, [&]() -> pdl_status* {
    options->options.weights = path;
    return nullptr;
  });
}
pdl_status* pdl_options_set_weight_rule(pdl_options* options, const char* name, const char* value) {
  return WithAll({{options, "options"}, {name, "name"}, {value, "value"}}, [&] {
    return ToC(pdl::ToStatus(pdl::SetWeightRule(&options->options.weight_rules, name, value)));
  });
}
pdl_status* pdl_options_set_folder(pdl_options* options, const char* folder) {
  return WithAll({{options, "options"}, {folder, "folder"}}, [&]() -> pdl_status* {
    options->options.folder = folder;
    return nullptr;
  });
}
pdl_status* pdl_options_set_precision(pdl_options* options, int32_t dtype) {
  return WithAll({{options, "options"}}, [&]() -> pdl_status* {
    if (dtype != PDL_F32 && dtype != PDL_F16 && dtype != PDL_BF16)
      return Misuse("the precision must be PDL_F32, PDL_F16 or PDL_BF16");
    options->options.precision = static_cast<pdl::DType>(dtype);
    return nullptr;
  });
}
pdl_status* pdl_options_add_setting(pdl_options* options, const char* name, const char* value) {
  return WithAll({{options, "options"}, {name, "name"}, {value, "value"}}, [&]() -> pdl_status* {
    options->options.settings[name] = value;
    return nullptr;
  });
}
pdl_status* pdl_options_add_plugin(pdl_options* options, const char* path) {
  return WithAll({{options, "options"}, {path, "path"}}, [&]() -> pdl_status* {
    options->options.plugins.emplace_back(path);
    return nullptr;
  });
}

pdl_status* pdl_model_load(const char* path, const pdl_options* options, pdl_model** model) {
  Clear(model);
  return WithAll({{path, "path"}, {model, "model"}},
                 [&] { return Give(pdl::Model::Load(path, OptionsOf(options)), model); });
}
pdl_status* pdl_model_from_source(const char* source, const char* name, const pdl_options* options,
                                  pdl_model** model) {
  Clear(model);
  return WithAll({{source, "source"}, {name, "name"}, {model, "model"}}, [&] {
    return Give(pdl::Model::FromSource(source, OptionsOf(options), name), model);
  });
}
pdl_status* pdl_model_from_bytes(const void* data, size_t size, const char* name,
                                 const pdl_options* options, pdl_model** model) {
  Clear(model);
  return WithAll({{name, "name"}, {model, "model"}}, [&] {
    return Give(pdl::Model::FromBytes(data, size, name, OptionsOf(options)), model);
  });
}
void pdl_model_free(pdl_model* model) { delete model; }
const char* pdl_model_warnings(const pdl_model* model) {
  return model == nullptr ? "" : model->model.warnings().c_str();
}
pdl_status* pdl_model_save(const pdl_model* model, const char* path) {
  return WithAll({{model, "model"}, {path, "path"}}, [&] { return ToC(model->model.Save(path)); });
}

size_t pdl_model_count(const pdl_model* model, pdl_values which) {
  const std::vector<pdl::ValueInfo>* values = model == nullptr ? nullptr : ValuesOf(model, which);
  return values == nullptr ? 0 : values->size();
}
pdl_status* pdl_model_value(const pdl_model* model, pdl_values which, size_t index,
                            pdl_value* value) {
  Clear(value);
  return WithAll({{model, "model"}, {value, "value"}}, [&]() -> pdl_status* {
    if (ValuesOf(model, which) == nullptr) return NoSuchKind(which);
    const size_t count = pdl_model_count(model, which);
    if (index >= count)
      return Misuse("index " + std::to_string(index) + " of " + std::to_string(count) + " values");
    const pdl::ValueInfo& info = (*ValuesOf(model, which))[index];
    *value = {info.name.c_str(),
              info.type.c_str(),
              static_cast<int32_t>(info.dtype),
              static_cast<int32_t>(info.sizes.size()),
              info.sizes.data(),
              info.comment.c_str()};
    return nullptr;
  });
}

pdl_status* pdl_model_find(const pdl_model* model, pdl_values which, const char* name,
                           size_t* index) {
  Clear(index);
  return WithAll({{model, "model"}, {name, "name"}, {index, "index"}}, [&]() -> pdl_status* {
    const std::vector<pdl::ValueInfo>* values = ValuesOf(model, which);
    if (values == nullptr) return NoSuchKind(which);
    std::vector<llvm::StringRef> names;
    for (const pdl::ValueInfo& info : *values) names.push_back(info.name);
    const auto found = llvm::find(names, name);
    if (found == names.end())
      return ToC(pdl::ToStatus(pdl::MakeUserError(pdl::Code::kUnknownName,
                                                  "the model has no value '{0}' of this kind{1}",
                                                  name, pdl::DidYouMean(name, names))));
    *index = static_cast<size_t>(found - names.begin());
    return nullptr;
  });
}
int pdl_model_value_is_dense(const pdl_model* model, pdl_values which, size_t index) {
  const std::vector<pdl::ValueInfo>* values = model == nullptr ? nullptr : ValuesOf(model, which);
  return values != nullptr && index < values->size() && (*values)[index].is_dense ? 1 : 0;
}

pdl_status* pdl_session_new(const pdl_model* model, pdl_session** session) {
  Clear(session);
  return WithAll({{model, "model"}, {session, "session"}}, [&]() -> pdl_status* {
    *session = new pdl_session(model->model);
    return nullptr;
  });
}
void pdl_session_free(pdl_session* session) { delete session; }

/// The owner of the memory of an array, if that is a result of the last run, so that it lives as
/// long as the input.
static std::shared_ptr<const void> OwnerOf(const pdl_session& session, const pdl::Array& input) {
  const auto begin = [](const pdl::Array& array) {
    return reinterpret_cast<uintptr_t>(array.data);
  };
  for (const auto& [name, output] : session.outputs) {
    const int64_t bytes = output.num_elements() * pdl::DTypeSize(output.dtype);
    if (begin(input) - begin(output) < static_cast<uintptr_t>(bytes)) return output.owner;
  }
  return nullptr;
}

pdl_status* pdl_session_set_input(pdl_session* session, const char* name, const pdl_array* array) {
  return WithAll({{session, "session"}, {name, "name"}}, [&]() -> pdl_status* {
    pdl::Array input;
    if (array != nullptr)
      if (pdl_status* status = FromC(name, *array, &input)) return status;
    if (pdl_status* status = ToC(pdl::ToStatus(
            pdl::CheckInput(session->graph, name, array == nullptr ? nullptr : &input))))
      return status;
    if (array == nullptr) {
      session->inputs.erase(name);
    } else {
      input.owner = OwnerOf(*session, input);
      session->inputs[name] = std::move(input);
    }
    return nullptr;
  });
}
pdl_status* pdl_session_run(pdl_session* session) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    session->outputs.clear();
    if (!session->memory.empty() && !session->request.outputs.empty())
      return Misuse(
          "pdl_session_set_output and pdl_session_want cannot select outputs for the same run");
    if (!session->memory.empty()) {
      const Status status =
          session->session.RunInto(session->inputs, session->memory, session->request);
      if (status.ok()) session->outputs = session->memory;
      return ToC(status);
    }
    pdl::Result<pdl::Arrays> outputs = session->session.Run(session->inputs, session->request);
    if (!outputs.ok()) return ToC(outputs.status());
    session->outputs = std::move(*outputs);
    return nullptr;
  });
}
pdl_status* pdl_session_want(pdl_session* session, const char* name) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    if (name == nullptr) {
      session->request.outputs.clear();
      return nullptr;
    }
    if (pdl_status* status = ToC(pdl::ToStatus(pdl::CheckOutput(session->graph, name))))
      return status;
    session->request.outputs.emplace_back(name);
    return nullptr;
  });
}
pdl_status* pdl_session_set_output(pdl_session* session, const char* name, const pdl_array* array) {
  return WithAll({{session, "session"}, {name, "name"}}, [&]() -> pdl_status* {
    if (array == nullptr) {
      session->memory.erase(name);
      return nullptr;
    }
    if (llvm::Expected<std::string> of = pdl::OutputOf(session->graph, name); !of)
      return ToC(pdl::ToStatus(of.takeError()));
    pdl::Array output;
    if (pdl_status* status = FromC(name, *array, &output)) return status;
    session->memory[name] = std::move(output);
    return nullptr;
  });
}
pdl_status* pdl_session_set_checks(pdl_session* session, int finite, int indices) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    session->request.check_finite = finite != 0;
    session->request.check_indices = indices != 0;
    return nullptr;
  });
}
pdl_status* pdl_session_set_training(pdl_session* session, int training) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    session->request.training = training != 0;
    return nullptr;
  });
}
pdl_status* pdl_session_output(const pdl_session* session, const char* name, pdl_array* array) {
  Clear(array);
  return WithAll({{session, "session"}, {name, "name"}, {array, "array"}}, [&]() -> pdl_status* {
    const auto found = session->outputs.find(name);
    if (found == session->outputs.end())
      return Misuse(std::string("the last run returned no output '") + name + "'");
    ToC(found->second, array);
    return nullptr;
  });
}
pdl_status* pdl_session_parameter(pdl_session* session, const char* name, pdl_array* array) {
  Clear(array);
  return WithAll({{session, "session"}, {name, "name"}, {array, "array"}}, [&]() -> pdl_status* {
    if (llvm::none_of(session->graph.parameters(),
                      [&](const pdl::Value* value) { return value->name() == name; }))
      return ToC(pdl::ToStatus(
          pdl::MakeUserError(pdl::Code::kUnknownName, "the network has no parameter '{0}'", name)));
    pdl::Result<pdl::Array> value = session->model.Value(name);
    if (!value.ok()) return ToC(value.status());
    ToC(session->parameters[name] = std::move(*value), array);
    return nullptr;
  });
}
pdl_status* pdl_session_state(pdl_session* session, const char* name, pdl_array* array) {
  Clear(array);
  return WithAll({{session, "session"}, {name, "name"}, {array, "array"}}, [&]() -> pdl_status* {
    pdl::Result<pdl::Array> state = session->session.State(name);
    if (!state.ok()) return ToC(state.status());
    ToC(session->states[name] = std::move(*state), array);
    return nullptr;
  });
}
pdl_status* pdl_session_set_state(pdl_session* session, const char* name, const pdl_array* array) {
  return WithAll({{session, "session"}, {name, "name"}, {array, "array"}}, [&]() -> pdl_status* {
    pdl::Array value;
    if (pdl_status* status = FromC(name, *array, &value)) return status;
    return ToC(session->session.SetState(name, value));
  });
}
pdl_status* pdl_session_reset(pdl_session* session) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    session->session.Reset();
    return nullptr;
  });
}
pdl_status* pdl_session_cancel(pdl_session* session) {
  return WithAll({{session, "session"}}, [&]() -> pdl_status* {
    session->session.Cancel();
    return nullptr;
  });
}
