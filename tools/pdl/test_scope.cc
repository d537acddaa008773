#include "tools/pdl/test_scope.h"

#include "llvm/ADT/STLExtras.h"
#include "pdl/op_registry.h"

namespace pdl {

llvm::Expected<std::shared_ptr<const Network>> TestScope::Part(const Graph& graph,
                                                               llvm::ArrayRef<std::string> outputs,
                                                               bool keeps_updates) const {
  Graph part = graph.Clone();
  std::vector<std::pair<std::string, std::string>> wanted;
  for (const GraphOutput& output : part.outputs()) {
    if (llvm::is_contained(outputs, output.name))
      wanted.emplace_back(output.name, output.value->name());
  }
  const std::vector<GraphUpdate> updates = part.updates().vec();
  part.ClearOutputs();
  part.ClearTrainings();
  for (const auto& [name, value] : wanted) part.AddOutput(name, part.FindValue(value));
  if (keeps_updates)
    for (const GraphUpdate& update : updates) part.AddUpdate(update.state, update.value);
  return Network::Create(std::move(part), options_, GlobalRegistry());
}

llvm::Error TestScope::Feed(const TestRun& run) {
  if (run.feeds.empty()) return llvm::Error::success();
  std::vector<std::string> outputs;
  for (const TestFeed& feed : run.feeds) outputs.push_back(feed.output);
  auto network = Part(run.graph, outputs, /*keeps_updates=*/false);
  if (!network) return network.takeError();
  Scope scope(&scope_);
  if (llvm::Error error = (*network)->Run(&scope, context_)) return error;
  for (const TestFeed& feed : run.feeds)
    Set(feed.name, *scope.FindLocal(feed.output)->Get<Tensor>());
  return llvm::Error::success();
}

const Tensor* TestScope::Find(llvm::StringRef name) const {
  const Variable* variable = scope_.Find(name);
  return variable == nullptr ? nullptr : variable->Get<Tensor>();
}

void TestScope::Keep(const TestRun& run) {
  for (const TestValue& computed : run.values) {
    const Tensor* tensor = Find(computed.output);
    TestValue value = computed;
    value.output = "#kept." + computed.name;
    value.sizes.assign(tensor->sizes().begin(), tensor->sizes().end());
    Set(value.output, *tensor);
    llvm::erase_if(values_, [&](const TestValue& old) { return old.name == value.name; });
    values_.push_back(std::move(value));
  }
}

}  // namespace pdl
