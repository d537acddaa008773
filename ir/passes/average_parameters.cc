// Exponential moving averages of trained parameters (Polyak and Juditsky, 1992, weighted as by
// Tarvainen and Valpola, arXiv:1703.01780).
#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/passes.h"
#include "pdl/op/error.h"

namespace pdl {
namespace {

class ParameterAveraging {
 public:
  ParameterAveraging(Graph& graph, const OpRegistry& registry, double decay)
      : graph_(graph), registry_(registry), decay_(decay) {}

  void Run() {
    std::vector<GraphTraining> trainings = graph_.trainings().vec();
    graph_.ClearTrainings();
    for (GraphTraining& training : trainings) {
      std::vector<GraphUpdate> averages;
      for (const GraphUpdate& update : training.updates)
        if (update.state->kind() == ValueKind::kParameter)
          averages.push_back(Average(*update.state, update.value));
      llvm::append_range(training.updates, averages);
      graph_.AddTraining(std::move(training));
    }
  }

 private:
  GraphUpdate Average(const Value& parameter, Value* next) {
    // An average of many values needs more bits than a 16-bit parameter has.
    const bool is_double = parameter.type().dtype == DType::kF64;
    const DType dtype = is_double ? DType::kF64 : DType::kF32;
    VariableInfo info;
    info.copy_of = parameter.name();
    const std::string name = AverageName(parameter.name());
    Value* average = graph_.AddState(name, Type(dtype, parameter.type().dims), std::move(info),
                                     next->location());
    graph_.SetComment(average, "The moving average of '" + parameter.name() + "'.");
    if (next->type().dtype != dtype) next = Call("cast", next, {{"to", dtype}}, name + "_value");
    Value* difference = Call("sub", {next, average}, {}, name + "_difference");
    Value* rate = Call("constant", {},
                       {{"value", Constant::Scalar(dtype, 1 - decay_)}, {"dtype", dtype}}, "rate");
    Value* change = Call("mul", {difference, rate}, {}, name + "_change");
    return {average, Call("add", {average, change}, {}, name + "_next")};
  }

  Value* Call(llvm::StringRef op, llvm::ArrayRef<Value*> operands,
              llvm::ArrayRef<NamedAttribute> attributes, const std::string& result) {
    const OpDef* def = registry_.Find(op);
    if (def == nullptr) InternalError("there is no operator '" + op.str() + "'");
    auto call = graph_.AddOp(*def, operands, attributes, {graph_.NewName(result)}, CallOptions());
    if (!call) InternalError("averaging of parameters: " + llvm::toString(call.takeError()));
    return (*call)->result();
  }

  Graph& graph_;
  const OpRegistry& registry_;
  double decay_;
};

}  // namespace

std::string AverageName(llvm::StringRef parameter) { return parameter.str() + ".average"; }

llvm::Error AverageParameters(Graph& graph, const OpRegistry& registry, double decay) {
  for (const Value* parameter : graph.parameters()) {
    if (graph.FindValue(AverageName(parameter->name())) == nullptr) continue;
    return MakeUserError(Code::kBadMinimize,
                         "'{0}' is the name of the moving average of '{1}', and must not be used",
                         AverageName(parameter->name()), parameter->name());
  }
  ParameterAveraging(graph, registry, decay).Run();
  return llvm::Error::success();
}

}  // namespace pdl
