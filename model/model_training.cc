// Implements the training of a Model in pdl.h.
#include <atomic>
#include <exception>
#include <utility>

#include "model/large_stack.h"
#include "model/model.h"
#include "model/status.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/train/trainer.h"

namespace pdl {
namespace {

llvm::Expected<Dataset> ToDataset(const Arrays& data, const Graph& graph, llvm::StringRef source) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, array] : data) {
    llvm::Expected<Tensor> tensor = InputView(name, array);
    if (!tensor) return tensor.takeError();
    tensors.emplace_back(name, std::move(*tensor));
  }
  return Dataset::FromTensors(tensors, graph, source);
}

EpochResult ToResult(const EpochReport& report) {
  EpochResult result;
  result.epoch = report.epoch;
  result.step = report.step;
  result.is_best = report.is_best;
  for (const Metric& metric : report.training)
    result.training.push_back({metric.name, metric.value});
  for (const Metric& metric : report.validation)
    result.validation.push_back({metric.name, metric.value});
  return result;
}

TrainerOptions ToOptions(const TrainRequest& request, const Model::Impl& own) {
  TrainerOptions options;
  options.batch_size = request.batch_size;
  options.epochs = request.epochs;
  options.steps = request.steps;
  options.shuffle = request.shuffle;
  options.patience = request.patience;
  options.average = request.average;
  options.folder = request.folder;
  options.seed = own.options.seed;
  options.network.precision = own.options.precision;
  return options;
}

llvm::Error CheckRequest(const TrainRequest& request) {
  if (request.batch_size < 1)
    return MakeUserError(Code::kTrainingData, "a batch must have at least 1 row, got {0}",
                         request.batch_size);
  if (request.epochs < 0 || request.steps < 0 || request.patience < 0)
    return MakeUserError(Code::kTrainingData, "epochs, steps and patience must not be negative");
  if (request.epochs == 0 && request.steps == 0)
    return MakeUserError(Code::kTrainingData,
                         "training needs an end: epochs or steps must be larger than 0");
  return llvm::Error::success();
}

/// The parameters, and the states that have a value before the first run.
std::vector<const Value*> FixedVariables(const Graph& graph) {
  std::vector<const Value*> fixed;
  for (const Value* variable : Variables(graph))
    if (variable->type().has_constant_dims()) fixed.push_back(variable);
  return fixed;
}

/// The model with the trainer's current values.
llvm::Expected<Model> Learned(const Model::Impl& own, const Trainer& trainer) {
  const Graph& graph = own.network->graph();
  NetworkOptions options;
  options.seed = own.options.seed;
  options.precision = own.options.precision;
  options.weight_folder = own.options.folder;
  for (const Value* variable : FixedVariables(graph)) {
    llvm::Expected<Tensor> value = trainer.TrainedValueOf(variable->name());
    if (!value) return value.takeError();
    options.weights[variable->name()] = value->ToConstant();
  }
  llvm::Expected<std::shared_ptr<const Network>> network =
      Network::Create(graph.Clone(), std::move(options), GlobalRegistry());
  if (!network) return network.takeError();
  Model::Impl learned = own;
  learned.network = std::move(*network);
  return Model(std::make_shared<const Model::Impl>(std::move(learned)));
}

llvm::Expected<TrainedModel> TrainModel(const Model::Impl& own, const Arrays& data,
                                        const TrainRequest& request, std::exception_ptr* thrown) {
  if (llvm::Error error = CheckRequest(request)) return error;
  llvm::Expected<LoadedNetwork> loaded =
      OnLargeStack([&] { return LoadAgain(own, /*training_step=*/true); });
  if (!loaded) return loaded.takeError();
  llvm::Expected<Dataset> dataset = ToDataset(data, loaded->graph, "the data");
  if (!dataset) return dataset.takeError();
  TrainerOptions options = ToOptions(request, own);
  options.network.weight_folder = loaded->folder;
  for (const Value* variable : FixedVariables(own.network->graph())) {
    llvm::Expected<Tensor> value = own.network->InitialValue(variable->name());
    if (!value) return value.takeError();
    options.network.weights[variable->name()] = value->ToConstant();
  }
  llvm::Expected<std::unique_ptr<Trainer>> trainer = OnLargeStack([&] {
    return Trainer::Create(loaded->graph, std::move(*dataset), std::move(options),
                           own.context.get(), GlobalRegistry());
  });
  if (!trainer) return trainer.takeError();
  if (!request.validation.empty()) {
    llvm::Expected<Dataset> validation =
        ToDataset(request.validation, loaded->graph, "the validation data");
    if (!validation) return validation.takeError();
    (*trainer)->SetValidation(std::move(*validation));
  }
  std::vector<EpochResult> epochs;
  std::atomic<bool> stop = false;
  TrainingCallbacks callbacks;
  callbacks.stop = &stop;
  callbacks.on_epoch = [&](const EpochReport& report) {
    epochs.push_back(ToResult(report));
    try {
      if (request.on_epoch && !request.on_epoch(epochs.back())) stop = true;
    } catch (...) {
      *thrown = std::current_exception();
      stop = true;
    }
    return llvm::Error::success();
  };
  // Steps of other minimize statements are compiled when they are needed.
  llvm::Expected<TrainingEnd> end = OnLargeStack([&] { return (*trainer)->Train(callbacks); });
  if (!end) return end.takeError();
  if (*thrown) return llvm::createStringError("on_epoch has thrown");
  llvm::Expected<Model> model = OnLargeStack([&] { return Learned(own, **trainer); });
  if (!model) return model.takeError();
  return TrainedModel{std::move(*model), std::move(epochs)};
}

}  // namespace

Result<TrainedModel> Model::Train(const Arrays& data, const TrainRequest& request) const {
  std::exception_ptr thrown;
  Result<TrainedModel> trained =
      AsResult("training a model", [&]() -> llvm::Expected<TrainedModel> {
        if (llvm::Error error = CheckModel(impl_.get())) return error;
        return TrainModel(*impl_, data, request, &thrown);
      });
  if (thrown) std::rethrow_exception(thrown);
  return trained;
}

}  // namespace pdl
