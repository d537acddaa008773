#include "onnx/export/export.h"

#include "onnx/export/exporter.h"
#include "pdl/compiler/pipeline.h"
#include "pdl/op/error.h"
#include "pdl/op/op_registry.h"
#include "pdl/op/operator.h"
#include "pdl/runtime/scope.h"
#include "pdl/version.h"

namespace pdl {
namespace {

/// Evaluates calls whose result is one bool: the conditions of plan_select.
llvm::Expected<std::optional<std::vector<Constant>>> EvaluateCondition(
    const Op& op, llvm::ArrayRef<Constant> operands) {
  const Type& type = op.result()->type();
  if (op.results().size() != 1 || type.dtype != DType::kBool || !type.is_scalar())
    return std::nullopt;
  OperatorArguments arguments;
  arguments.def = &op.def();
  arguments.attributes = op.attribute_values().vec();
  Scope scope;
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments.inputs.push_back("operand" + std::to_string(i));
    scope.Create(arguments.inputs.back())->Set(Tensor::FromConstant(operands[i]));
  }
  arguments.outputs = {"result"};
  llvm::Expected<std::unique_ptr<OperatorBase>> made = CreateOperator(arguments, DeviceKind::kCPU);
  if (!made) {
    llvm::consumeError(made.takeError());
    return std::nullopt;
  }
  CPUContext context(1);
  if (llvm::Error error = (*made)->Run(&scope, &context)) return error;
  return std::vector<Constant>{scope.Find("result")->Get<Tensor>()->ToConstant()};
}

/// Replaces `training` by false, and folds the calls that depend on it.
llvm::Error FixMode(Graph& graph, const OpRegistry& registry) {
  const OpDef* constant = registry.Find("constant");
  if (!constant) InternalError("there is no operator 'constant'");
  for (Op* op : graph.ops()) {
    if (!op->def().properties().is_training_flag) continue;
    llvm::Expected<std::vector<AttributeValue>> values =
        CompleteAttributes(constant->signature,
                           {{"value", Constant::Scalar(DType::kBool, 0)}, {"dtype", DType::kBool}});
    if (!values) return values.takeError();
    graph.RewriteOp(op, *constant, {}, std::move(*values));
  }
  PassContext context{registry};
  context.evaluate = EvaluateCondition;
  return ExportPipeline().Run(graph, context);
}

}  // namespace

llvm::Expected<onnx::ModelProto> ExportOnnx(const Graph& network, const OpRegistry& registry,
                                            const OnnxExportOptions& options) {
  if (network.outputs().empty())
    return MakeUserError(Code::kNotSupported,
                         "the network has no output, and an ONNX model must have one");
  Graph graph = network.Clone();
  graph.ClearTrainings();
  if (llvm::Error error = FixMode(graph, registry)) return error;
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.set_producer_name("pdl");
  model.set_producer_version(version_string);
  onnx::OperatorSetIdProto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOnnxOpset);
  model.mutable_graph()->set_name(options.name);
  Exporter exporter(graph, options);
  if (llvm::Error error = exporter.Run(model.mutable_graph())) return error;
  return model;
}

}  // namespace pdl
