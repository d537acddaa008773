#include "test/cc/testing/call_corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "llvm/ADT/STLExtras.h"
#include "pdl/compiler/layers.h"
#include "pdl/op/device_context.h"
#include "pdl/runtime/network.h"
#include "pdl/runtime/packed_value.h"

namespace pdl {
namespace {

namespace fs = std::filesystem;

bool HasBlock(const OpDef& def) { return def.signature.BlockAttribute() >= 0; }

/// The calls of a test's run with the values of their operands; empty if it cannot be run without
/// fed values.
std::vector<CorpusCall> EvaluateCalls(const TestRun& run) {
  if (!run.graph.inputs().empty() || !run.feeds.empty()) return {};
  Graph graph = run.graph.Clone();
  graph.ClearOutputs();
  std::map<const Value*, std::string> outputs;
  for (const Op* op : graph.ops())
    for (Value* operand : op->operands())
      if (std::string& name = outputs[operand]; name.empty())
        graph.AddOutput(name = "#" + std::to_string(outputs.size()), operand);
  // Those of the network keep their addresses and their names.
  std::vector<std::pair<const Op*, std::vector<std::pair<std::string, Type>>>> ops;
  for (const Op* op : graph.ops()) {
    if (HasBlock(op->def())) continue;
    auto& operands = ops.emplace_back(op, std::vector<std::pair<std::string, Type>>()).second;
    for (const Value* operand : op->operands())
      operands.emplace_back(outputs[operand], operand->type());
  }
  NetworkOptions options;
  options.optimize = options.fuse = false;
  auto network = Network::Create(graph.Clone(), options, GlobalRegistry());
  if (!network) return llvm::consumeError(network.takeError()), std::vector<CorpusCall>();
  CPUContext context(1);
  Scope scope;
  if (llvm::Error error = (*network)->Run(&scope, &context))
    return llvm::consumeError(std::move(error)), std::vector<CorpusCall>();
  std::vector<CorpusCall> calls;
  for (const auto& [op, operands] : ops) {
    CorpusCall call{&op->def(), op->attribute_values().vec(), {}};
    for (const auto& [name, type] : operands) {
      llvm::Expected<PackedValue> value = PackedValue::Find(scope, name, type);
      if (!value) {
        llvm::consumeError(value.takeError());
        break;
      }
      call.operands.push_back(value->ToConstant());
      call.operands.back().type.index_bound = type.index_bound;
    }
    if (call.operands.size() == operands.size()) calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace

CallCorpus::CallCorpus(std::string root) : root_(std::move(root)) {
  for (const char* folder : {"/test/layers", "/test/networks", "/test/frontend", "/test/ops"})
    for (const auto& entry : fs::directory_iterator(root_ + folder))
      if (const std::string path = entry.path().string(); entry.path().extension() == ".pdl")
        if (folder != llvm::StringRef("/test/ops") || llvm::StringRef(path).contains("scan") ||
            llvm::StringRef(path).contains("loop"))
          networks_.push_back(path);
  llvm::sort(networks_);
}

const TestSuite* CallCorpus::SuiteOf(const std::string& path) {
  const auto [at, is_new] = suites_.try_emplace(path);
  if (!is_new) return at->second.get();
  std::ifstream file(path);
  if (!file) return nullptr;
  std::ostringstream text;
  text << file.rdbuf();
  CompileRequest request;
  request.file = std::make_shared<SourceFile>(path, text.str());
  request.registry = &GlobalRegistry();
  request.library = StandardLayers();
  Diagnostics diagnostics;
  auto suite = std::make_unique<TestSuite>(std::move(request), &diagnostics);
  if (!diagnostics.has_errors() && !suite->tests().empty()) at->second = std::move(suite);
  return at->second.get();
}

const std::vector<CorpusCall>& CallCorpus::CallsOf(const std::string& path, unsigned test) {
  const auto [at, is_new] = calls_.try_emplace({path, test});
  if (!is_new) return at->second;
  const TestResult result = SuiteOf(path)->Compile(test, 0, {});
  if (result.run) at->second = EvaluateCalls(*result.run);
  return at->second;
}

std::optional<CorpusCall> CallCorpus::PickCall(const OpDef& def, RandomSource& random) {
  const std::string path = root_ + "/test/ops/" + def.name() + ".pdl";
  const TestSuite* suite = SuiteOf(path);
  if (suite == nullptr) return std::nullopt;
  const auto test = random.Below(suite->tests().size());
  std::vector<const CorpusCall*> calls;
  for (const CorpusCall& call : CallsOf(path, test))
    if (call.def == &def) calls.push_back(&call);
  if (calls.empty()) return std::nullopt;
  return *calls[random.Below(calls.size())];
}

std::optional<Graph> CallCorpus::PickNetwork(RandomSource& random) {
  const TestSuite* suite = SuiteOf(networks_[random.Below(networks_.size())]);
  if (suite == nullptr) return std::nullopt;
  TestResult result = suite->Compile(random.Below(suite->tests().size()), 0, {});
  if (!result.run) return std::nullopt;
  return std::move(result.run->graph);
}

}  // namespace pdl
