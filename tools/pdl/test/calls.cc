#include "tools/pdl/test/calls.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "pdl/compiler/graph_walk.h"
#include "pdl/op/symbols.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/load_network.h"
#include "tools/pdl/test/scope.h"
#include "tools/pdl/test/without_tests.h"

namespace pdl {
namespace {

// The tensor for an operand: for a ragged or sparse one, its stored elements.
llvm::Expected<Tensor> OperandOf(const TestScope& scope, llvm::StringRef name, const Type& type) {
  auto value = scope.FindPacked(name, type);
  if (!value) return value.takeError();
  const bool has_values = !type.is_sparse() || type.dtype != DType::kBool;
  return has_values ? value->values : Tensor::FromValues<bool>(DType::kBool, {0}, {});
}

// The calls that the outputs of these names, the updates, and assertions depend on.
std::vector<Op*> CallsFor(const Graph& graph, llvm::ArrayRef<std::string> outputs) {
  ValueSet useful(graph);
  for (const GraphOutput& output : graph.outputs())
    if (llvm::is_contained(outputs, output.name)) useful.insert(output.value);
  for (const GraphUpdate& update : graph.updates()) useful.insert(update.value);
  std::vector<Op*> calls;
  PropagateBackward(
      graph.ops(), useful, [](const Op& op) { return op.results().empty(); },
      [&](Op& op) {
        useful.InsertAll(op.operands());
        calls.push_back(&op);
      });
  std::reverse(calls.begin(), calls.end());
  return calls;
}

// Adds the sizes that the symbols of a value's type have in a run.
void AddSizes(const Type& type, const Tensor& value, llvm::StringMap<Dim>* sizes) {
  if (!type.is_plain()) return;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (const llvm::StringRef symbol = type.dims[i].symbol(); !symbol.empty())
      sizes->try_emplace(symbol, value.sizes()[i]);
}

// Adds the calls of one run, whose operands are already computed. Symbols of attributes and results
// are replaced by their sizes in the run.
llvm::Error AddCalls(const Graph& graph, llvm::ArrayRef<Op*> ops, const TestScope& scope,
                     const llvm::DenseMap<const Value*, std::string>& outputs,
                     std::vector<TestCall>* calls) {
  const size_t first = calls->size();
  llvm::StringMap<Dim> of_symbols;
  for (const Op* op : ops) {
    TestCall& call = calls->emplace_back();
    call.def = &op->def();
    for (const Value* operand : op->operands()) {
      auto tensor = OperandOf(scope, outputs.lookup(operand), operand->type());
      if (!tensor) return tensor.takeError();
      AddSizes(operand->type(), *tensor, &of_symbols);
      call.operands.push_back(*tensor);
      call.is_dense &= operand->type().is_plain();
    }
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const Op& op = *ops[i];
    TestCall& call = (*calls)[first + i];
    call.attributes = op.attribute_values().vec();
    for (AttributeValue& value : call.attributes) {
      Substitute(&value, of_symbols);
      if (const auto* block = std::get_if<BlockId>(&value))
        call.body = std::make_shared<const Graph>(graph.ExtractBlock(*block));
    }
    call.place = graph.PathToString(op.location());
    for (const Value* result : op.results()) {
      Sizes& sizes = call.results.emplace_back();
      for (const Dim& dim : result->type().dims) {
        const Dim size = Substitute(dim, of_symbols);
        if (!size.is_constant()) {
          sizes.clear();
          break;
        }
        sizes.push_back(size.constant());
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error RunTest(const TestSuite& suite, unsigned test, const NetworkOptions& options,
                    DeviceContext* context, std::vector<TestCall>* calls) {
  TestScope scope(options, context);
  for (unsigned i = 0; i < suite.tests()[test].num_runs; ++i) {
    TestResult result = suite.Compile(test, i, scope.values());
    if (!result.run) return llvm::make_error<SourceErrors>(std::move(result.diagnostics));
    TestRun& run = *result.run;
    if (llvm::Error error = scope.Feed(run)) return error;
    std::vector<std::string> needed = OutputsOf(run);
    const std::vector<Op*> ops = CallsFor(run.graph, needed);
    llvm::DenseMap<const Value*, std::string> outputs;
    const auto add = [&](Value* value) {
      std::string& name = outputs[value];
      if (!name.empty()) return;
      name = "#operand." + std::to_string(outputs.size());
      run.graph.AddOutput(name, value);
      needed.push_back(name);
    };
    for (const Op* op : ops) llvm::for_each(op->operands(), add);
    auto network = scope.Part(run.graph, needed, /*keeps_updates=*/true);
    if (!network) return network.takeError();
    RunOptions run_options;
    run_options.training = run.training;
    if (llvm::Error error = scope.Run(**network, run_options)) return error;
    if (llvm::Error error = scope.Keep(run)) return error;
    if (llvm::Error error = AddCalls(run.graph, ops, scope, outputs, calls)) return error;
  }
  return llvm::Error::success();
}

}  // namespace

std::string TestCall::ToString() const {
  std::vector<std::string> parts;
  for (const Tensor& operand : operands) parts.push_back(operand.TypeString());
  for (size_t i = 0; i < attributes.size(); ++i) {
    const AttributeDecl& decl = def->signature.attributes[i];
    if (!(attributes[i] == decl.default_value))
      parts.push_back(decl.name + "=" + AttributeToString(attributes[i]));
  }
  return def->name() + "(" + llvm::join(parts, ", ") + ")";
}

llvm::Expected<std::vector<TestCall>> CallsOfTests(llvm::StringRef path,
                                                   const CommonOptions& options) {
  llvm::Expected<InputFile> file = ReadInputFile(path);
  if (!file) return file.takeError();
  auto source = ToSource(*file);
  if (!source) return source.takeError();
  Diagnostics diagnostics;
  WeightFiles weights(file->folder);
  const TestSuite suite(MakeCompileRequest(*file, *source, ToLoadOptions(options), &weights),
                        &diagnostics);
  if (diagnostics.has_errors()) return llvm::make_error<SourceErrors>(std::move(diagnostics));
  if (suite.tests().empty())
    if (llvm::Error error = CheckWithoutTests(*file, options)) return error;
  NetworkOptions network;
  network.weight_folder = file->folder;
  network.optimize = network.fuse = false;
  CPUContext context;
  std::vector<TestCall> calls;
  for (unsigned i = 0; i < suite.tests().size(); ++i) {
    if (llvm::Error error = RunTest(suite, i, network, &context, &calls)) return error;
  }
  return calls;
}

}  // namespace pdl
