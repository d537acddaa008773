// Exponential moving averages of trained parameters (Polyak and Juditsky, 1992, weighted as by
// Tarvainen and Valpola, arXiv:1703.01780).
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

class ParameterAveraging {
 public:
  ParameterAveraging(Graph& step, const OpRegistry& registry, double decay)
      : graph_(step), registry_(registry), decay_(decay) {}

  void Average(Value* parameter) {
    Value* next = parameter;  // this step may not change it
    for (const GraphUpdate& update : graph_.updates())
      if (update.state == parameter) next = update.value;
    // An average of many values needs more bits than a 16-bit parameter has.
    const bool is_double = parameter->type().dtype == DType::kF64;
    const DType dtype = is_double ? DType::kF64 : DType::kF32;
    VariableInfo info;
    info.copy_of = parameter->name();
    const std::string name = AverageName(parameter->name());
    Value* average = graph_.AddState(name, Type(dtype, parameter->type().dims), std::move(info));
    graph_.SetComment(average, "The moving average of '" + parameter->name() + "'.");
    location_ = next->location();
    // Separates the rows of a table that a step changes from its average, all of which change.
    next = Call("stop_gradient", next, {}, name + "_value");
    if (next->type().dtype != dtype) next = Call("cast", next, {{"to", dtype}}, name + "_cast");
    Value* difference = Call("sub", {next, average}, {}, name + "_difference");
    Value* rate = Call("constant", {},
                       {{"value", Constant::Scalar(dtype, 1 - decay_)}, {"dtype", dtype}}, "rate");
    Value* change = Call("mul", {difference, rate}, {}, name + "_change");
    graph_.AddUpdate(average, Call("add", {average, change}, {}, name + "_next"));
  }

 private:
  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes, const std::string& result) {
    const OpDef* def = registry_.Find(op);
    if (def == nullptr) InternalError("there is no operator '" + op.str() + "'");
    CallOptions options;
    options.location = location_;
    auto call =
        graph_.AddOp(*def, operands, attributes, {graph_.NewName(result)}, std::move(options));
    if (!call) InternalError("averaging of parameters: " + llvm::toString(call.takeError()));
    return (*call)->result();
  }

  Graph& graph_;
  const OpRegistry& registry_;
  double decay_;
  LocationId location_ = kUnknownLocation;
};

}  // namespace

std::string AverageName(llvm::StringRef parameter) { return parameter.str() + ".average"; }

std::vector<std::string> TrainedParameters(const Graph& network) {
  std::vector<std::string> names;
  for (const GraphTraining& training : network.trainings())
    for (const Value* parameter : training.parameters) names.push_back(parameter->name());
  return names;
}

llvm::Error AverageParameters(Graph& step, const OpRegistry& registry,
                              const ParameterAverages& averages) {
  for (const std::string& parameter : averages.parameters) {
    if (step.FindValue(AverageName(parameter)) == nullptr) continue;
    return MakeUserError(Code::kBadMinimize,
                         "'{0}' is the name of the moving average of '{1}', and must not be used",
                         AverageName(parameter), parameter);
  }
  ParameterAveraging averaging(step, registry, averages.decay);
  for (const std::string& parameter : averages.parameters)
    if (Value* value = step.FindValue(parameter)) averaging.Average(value);
  return llvm::Error::success();
}

}  // namespace pdl
